/** Asks the probes in the main process and the workers how long their event loops were held. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { pidsOf } from '../test/clients/processes.ts'
import type { Product } from '../test/support/product.ts'
import type { Held } from './loop-probe.ts'

const ANSWER_MS = 5000

export class Loops {
  readonly #folder: string
  #product: Product | undefined

  constructor(folder: string) {
    this.#folder = join(folder, 'loops')
    mkdirSync(this.#folder, { recursive: true })
  }

  /** What the product is to be started with. */
  get environment(): Readonly<Record<string, string>> {
    const probe = pathToFileURL(join(import.meta.dirname, 'loop-probe.ts')).href
    return { NODE_OPTIONS: `--import ${probe}`, BENCH_LOOP_FOLDER: this.#folder }
  }

  watch(product: Product): void {
    this.#product = product
  }

  /** The worst of all since the last call. */
  async held(): Promise<Held | undefined> {
    if (this.#product === undefined) return undefined
    let [p99Ms, maxMs] = [0, 0]
    for (const pid of [this.#product.pid, ...pidsOf(this.#product, 'worker')]) {
      const file = join(this.#folder, String(pid))
      rmSync(file, { force: true })
      process.kill(pid, 'SIGUSR2')
      const held = await read(file)
      p99Ms = Math.max(p99Ms, held.p99Ms)
      maxMs = Math.max(maxMs, held.maxMs)
    }
    return { p99Ms, maxMs }
  }
}

async function read(file: string): Promise<Held> {
  for (const fromMs = performance.now(); ; await wait(5)) {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Held
    } catch (failure) {
      if (performance.now() - fromMs > ANSWER_MS)
        throw new Error('A process does not answer its probe.', { cause: failure })
    }
  }
}
