/**
 * Loaded into the product's processes by the benchmark alone (`node --import`): measures how long the event loops of the
 * main process and of the data-plane workers are held. On SIGUSR2 it writes what it saw since the last time, and begins anew.
 *
 * Between two runs of a timer of one millisecond lies one turn of the loop. What counts is the processor time that the
 * thread took in it, not how late the timer came: other work of the machine makes timers late, but holds no loop. Where
 * nothing holds it, a turn has at most about the millisecond of the timer.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createHistogram } from 'node:perf_hooks'

/** What the file of a process has. */
export interface Held {
  readonly p99Ms: number
  readonly maxMs: number
}

const TIMER_MS = 1

const folder = process.env['BENCH_LOOP_FOLDER']
const isServing = /[/\\](?:holdfast|worker)\.ts$/.test(process.argv[1] ?? '')
if (folder !== undefined && isServing) {
  const turns = createHistogram()
  const used = () => {
    const { user, system } = process.threadCpuUsage()
    return user + system
  }
  let before = used()
  setInterval(() => {
    const now = used()
    turns.record(Math.max(1, now - before))
    before = now
  }, TIMER_MS).unref()
  process.on('SIGUSR2', () => {
    const held: Held = { p99Ms: turns.percentile(99) / 1000, maxMs: turns.max / 1000 }
    turns.reset()
    const file = join(folder, String(process.pid))
    writeFileSync(`${file}.new`, JSON.stringify(held))
    renameSync(`${file}.new`, file)
    before = used()
  })
}
