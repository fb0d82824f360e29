/** What the processes of a product have in memory while something happens, and how much that was at most. */
import { readFileSync } from 'node:fs'
import { descendants } from '../clients/processes.ts'

export interface MemorySample {
  /** Proportional set size: pages that several processes share count for each with its share. */
  readonly totalMib: number
  readonly parts: Readonly<Record<string, number>>
}

const EVERY_MS = 100

/** Summed over all processes of the product, and by what they are. */
export function memoryOf(mainPid: number): MemorySample {
  const parts: Record<string, number> = {}
  let totalMib = 0
  for (const { pid, part } of [{ pid: mainPid, part: 'main' }, ...descendants(mainPid)]) {
    const mib = proportionalMib(pid)
    parts[part] = (parts[part] ?? 0) + mib
    totalMib += mib
  }
  return { totalMib, parts }
}

/** Looks at the memory of a product until it is told to stop, and keeps the look that saw most. */
export class MemoryWatch {
  readonly #pid: number
  readonly #timer: NodeJS.Timeout
  #most: MemorySample

  constructor(mainPid: number) {
    this.#pid = mainPid
    this.#most = memoryOf(mainPid)
    this.#timer = setInterval(() => this.#look(), EVERY_MS)
  }

  stop(): MemorySample {
    clearInterval(this.#timer)
    this.#look()
    return this.#most
  }

  #look(): void {
    const now = memoryOf(this.#pid)
    if (now.totalMib > this.#most.totalMib) this.#most = now
  }
}

function proportionalMib(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    return Number(/^Pss: +(\d+) kB$/m.exec(text)?.[1] ?? 0) / 1024
  } catch {
    // It ended.
    return 0
  }
}
