/**
 * Runs files of tests in a few processes that take them from one queue. A process that ends within a file, or that is
 * ended because a file takes too long, fails that file by name, and another process goes on with the rest.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Queue, type Result } from './queue.ts'
import { Report, type ReportEvent } from './report.ts'

const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url))
/** How often it is looked whether a file takes too long. */
const WATCH_MS = 500

export interface RunOptions {
  /** Processes at once. */
  readonly workers: number
  /** Longest time for one test. */
  readonly testMsMax: number
  /** Longest time for one file. */
  readonly fileMsMax: number
  /** Ends the processes at once. */
  readonly signal?: AbortSignal
  readonly write: (text: string) => void
}

export interface Ran {
  readonly isPassed: boolean
  readonly results: ReadonlyMap<string, Result>
}

export async function runFiles(files: readonly string[], options: RunOptions): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-tests-'))
  try {
    const queue = Queue.create(folder, files)
    const report = new Report(options.write)
    let count = 0
    const lane = async (): Promise<void> => {
      while (options.signal?.aborted !== true && queue.isWaiting())
        await runWorker({ queue, folder, report, worker: `worker-${++count}` }, options)
    }
    await Promise.all(Array.from({ length: Math.min(options.workers, files.length) }, lane))
    return { isPassed: await report.end(), results: queue.results() }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

interface Work {
  readonly queue: Queue
  readonly folder: string
  readonly report: Report
  readonly worker: string
}

/** Runs one process until it ends, and answers for what it has claimed. */
async function runWorker({ queue, folder, report, worker }: Work, options: RunOptions): Promise<void> {
  const { testMsMax, fileMsMax } = options
  const late = new AbortController()
  const watch = setInterval(() => {
    const began = queue.claimsOf(worker).find(({ isFinished }) => !isFinished)?.beganMs ?? Infinity
    if (Date.now() - began > fileMsMax) late.abort()
  }, WATCH_MS)
  const signal = AbortSignal.any([late.signal, ...(options.signal === undefined ? [] : [options.signal])])
  /** Files are told of as a whole, so that two processes do not interrupt each other. */
  const held: ReportEvent[] = []
  let hasEndedBadly = false
  let hasFailed = false
  try {
    const stream = run({ files: [WORKER], argv: [folder, worker], timeout: testMsMax, signal })
    for await (const event of stream as AsyncIterable<ReportEvent>) {
      const isFailure = event.type === 'test:fail'
      if (event.data.name === WORKER) {
        hasEndedBadly ||= isFailure
        continue
      }
      hasFailed ||= isFailure
      held.push(event)
      if (event.data.nesting === 0 && (isFailure || event.type === 'test:pass')) report.take(held.splice(0))
    }
  } finally {
    clearInterval(watch)
  }

  if (options.signal?.aborted === true) return
  const claims = queue.claimsOf(worker)
  const last = claims.at(-1)
  if (last === undefined && queue.isWaiting()) throw new Error('A process for tests ended before it took a file.')
  // A process that is killed takes with it what it had not told yet.
  const untold = claims.filter(({ file, isFinished }) => isFinished && !report.hasTold(file))
  for (const { file } of untold) if (!queue.giveBack(file)) report.fail(file, 'Its results were lost twice.')
  const unfinished = claims.find(({ isFinished }) => !isFinished)
  if (unfinished !== undefined) {
    // A process that never comes to its event loop does not notice a signal that it wants to handle itself.
    if (late.signal.aborted) kill(unfinished.pid)
    queue.finish(unfinished.file, { cpuMs: 0, wallMs: Date.now() - unfinished.beganMs })
    report.fail(
      unfinished.file,
      late.signal.aborted ? `The file takes longer than ${fileMsMax / 1000} s.` : 'The file ends its process.',
      held,
    )
  } else if (hasEndedBadly && !hasFailed && untold.length === 0 && last !== undefined) {
    report.fail(last.file, `After ${last.file}, its process failed.`, held)
  }
}
