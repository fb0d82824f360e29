/** What processes cost, as the kernel counts it. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { sum } from './results.ts'

export const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/** Seconds that all threads of these processes were on a processor, in programs and in the kernel. */
export function cpuSeconds(pids: readonly number[]): number {
  return sum(pids.map((pid) => secondsIn(pid, OWN_TIMES)))
}

/** With those of its children that have ended. */
export function cpuSecondsWithEnded(pid: number): number {
  try {
    return secondsIn(pid, [...OWN_TIMES, ...TIMES_OF_ENDED])
  } catch {
    // It has ended, so it counts for its parent.
    return 0
  }
}

/** Fields of `/proc/<pid>/stat` behind the name, from 0: user and system time. */
const OWN_TIMES = [11, 12]
const TIMES_OF_ENDED = [13, 14]

function secondsIn(pid: number, fields: readonly number[]): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // "123 (some name) S 45 …": what follows the last parenthesis is safe to split.
  const values = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return sum(fields.map((field) => Number(values[field]))) / ticksPerSecond
}

/** The same of the processes of each part. */
export function cpuSecondsOf(
  processes: readonly { readonly pid: number; readonly part: string }[],
): Record<string, number> {
  const parts: Record<string, number> = {}
  for (const { pid, part } of processes) parts[part] = (parts[part] ?? 0) + cpuSeconds([pid])
  return parts
}

/** Memory in MB: pages that several processes share count for each with its share. */
export function proportionalMegabytes(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  return Number(/^Pss: +(\d+) kB$/m.exec(text)?.[1] ?? Number.NaN) / 1024
}
