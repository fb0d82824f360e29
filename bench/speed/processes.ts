/** What processes cost, as the kernel counts it. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/** Seconds that all threads of these processes were on a processor, in programs and in the kernel. */
export function cpuSeconds(pids: readonly number[]): number {
  let ticks = 0
  for (const pid of pids) {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // "123 (some name) S 45 …": what follows the last parenthesis is safe to split. User and system time are 14 and 15.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    ticks += Number(fields[11]) + Number(fields[12])
  }
  return ticks / ticksPerSecond
}

/** Memory in MB: pages that several processes share count for each with its share. */
export function proportionalMegabytes(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  return Number(/^Pss: +(\d+) kB$/m.exec(text)?.[1] ?? Number.NaN) / 1024
}
