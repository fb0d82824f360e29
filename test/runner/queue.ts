/**
 * The files that wait to be tested, as a folder that several processes take from: a claim is a file that only one of
 * them can create. Whoever dies leaves a claim without a result, which names the file that it died in.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Claim {
  readonly file: string
  readonly beganMs: number
  /** The process that has it. */
  readonly pid: number
  readonly isFinished: boolean
}

export interface Result {
  /** Processor time of the file, child processes that have ended included. */
  readonly cpuMs: number
  readonly wallMs: number
}

export class Queue {
  readonly files: readonly string[]
  readonly #folder: string
  readonly #givenBack = new Set<string>()
  #next = 0

  private constructor(folder: string, files: readonly string[]) {
    this.#folder = folder
    this.files = files
  }

  static create(folder: string, files: readonly string[]): Queue {
    writeFileSync(join(folder, 'files.json'), JSON.stringify(files))
    return new Queue(folder, files)
  }

  static open(folder: string): Queue {
    return new Queue(folder, JSON.parse(readFileSync(join(folder, 'files.json'), 'utf8')) as string[])
  }

  /** Takes the next file that nobody has. */
  claim(worker: string): string | undefined {
    for (; this.#next < this.files.length; this.#next++) {
      try {
        const text = JSON.stringify({ worker, beganMs: Date.now(), pid: process.pid })
        writeFileSync(this.#path(this.#next, 'claim'), text, { flag: 'wx' })
        return this.files[this.#next++]
      } catch (failure) {
        if ((failure as NodeJS.ErrnoException).code !== 'EEXIST') throw failure
      }
    }
    return undefined
  }

  finish(file: string, result: Result): void {
    writeFileSync(this.#path(this.files.indexOf(file), 'result'), JSON.stringify(result))
  }

  /** Whether there is a file that nobody has claimed. */
  isWaiting(): boolean {
    return this.files.some((_, at) => !existsSync(this.#path(at, 'claim')))
  }

  /** What this worker has claimed, in its order. */
  claimsOf(worker: string): readonly Claim[] {
    const claims: Claim[] = []
    for (const [at, file] of this.files.entries()) {
      if (!existsSync(this.#path(at, 'claim'))) continue
      const text = readFileSync(this.#path(at, 'claim'), 'utf8')
      // A claim is created empty and written then.
      const claim = JSON.parse(text || '{}') as { worker?: string; beganMs: number; pid: number }
      if (claim.worker !== worker) continue
      claims.push({ file, beganMs: claim.beganMs, pid: claim.pid, isFinished: existsSync(this.#path(at, 'result')) })
    }
    return claims
  }

  /** Lets another worker have a file, once. Tells whether it may. */
  giveBack(file: string): boolean {
    if (this.#givenBack.has(file)) return false
    this.#givenBack.add(file)
    const at = this.files.indexOf(file)
    rmSync(this.#path(at, 'result'), { force: true })
    rmSync(this.#path(at, 'claim'), { force: true })
    return true
  }

  results(): ReadonlyMap<string, Result> {
    const found = new Map<string, Result>()
    for (const [at, file] of this.files.entries()) {
      const path = this.#path(at, 'result')
      if (existsSync(path)) found.set(file, JSON.parse(readFileSync(path, 'utf8')) as Result)
    }
    return found
  }

  #path(at: number, what: 'claim' | 'result'): string {
    return join(this.#folder, `${at}.${what}`)
  }
}
