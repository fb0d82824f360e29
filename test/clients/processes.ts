/** The processes of a started product, as the kernel shows them: the main process, the catalog writer, the workers. */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { startProduct, type Product } from '../support/product.ts'

export interface Child {
  readonly pid: number
  readonly part: 'writer' | 'worker' | 'other'
}

/** Only a test that fails waits so long: machines that test are busy. */
const UNTIL_MS_MAX = 120_000

/** Where there is no /proc the tests that kill processes cannot find them. */
export const canSeeProcesses = process.platform === 'linux'

/** Children of a process and their children. */
export function descendants(pid: number): Child[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const parent = parentOf(Number(name))
    if (parent !== undefined) parents.set(Number(name), parent)
  }
  const found: Child[] = []
  const search = (of: number) => {
    for (const [child, parent] of parents) {
      if (parent !== of) continue
      found.push({ pid: child, part: partOf(child) })
      search(child)
    }
  }
  search(pid)
  return found
}

export function pidsOf(product: Product, part: Child['part']): number[] {
  return descendants(product.pid)
    .filter((child) => child.part === part)
    .map((child) => child.pid)
}

/** As a power cut would: every process at once, without a last word. The data stays. */
export async function killEverything(product: Product): Promise<void> {
  const pids = [product.pid, ...descendants(product.pid).map((child) => child.pid)]
  for (const pid of pids) kill(pid)
  await product.stop({ signal: 'SIGKILL', keepFolder: true })
  await until('every process is gone', () => pids.every((pid) => !isAlive(pid)))
}

/** Starts the product again over what it left. */
export function startAgain(product: Product, environment: Readonly<Record<string, string>> = {}): Promise<Product> {
  return startProduct({ folder: product.folder, environment })
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It is gone already.
  }
}

export function isAlive(pid: number): boolean {
  return parentOf(pid) !== undefined
}

/** Waits for what a test expects. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = performance.now() + UNTIL_MS_MAX
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`Not within ${UNTIL_MS_MAX} ms: ${what}.`)
    await wait(25)
  }
}

/** The parent of a process that runs. */
function parentOf(pid: number): number | undefined {
  try {
    // "123 (some name) S 45 …": what follows the last parenthesis is safe to split.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, parent] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' || state === 'X' ? undefined : Number(parent)
  } catch {
    return undefined
  }
}

function partOf(pid: number): Child['part'] {
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return line.includes('writer-process') ? 'writer' : /\bworker\.[jt]s/.test(line) ? 'worker' : 'other'
  } catch {
    return 'other'
  }
}
