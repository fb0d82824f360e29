/**
 * `npm test`: runs the files that match the patterns, or all.
 *
 *   --profile       the processor seconds of each file, in the order of their cost
 *   --repeat <n>    so many times, until one fails
 *   --beside-load   while as many processes as there are processors do nothing but keep them busy
 *   --file-seconds <n>  the longest time for one file
 */
import { spawn, spawnSync } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { longestFirst } from './order.ts'
import { runFiles, type Ran } from './run-files.ts'

/** Files that run at once: where one waits, another finds the time to run. */
const WORKERS = availableParallelism() + 1
/** Longest time for one test: far above what any takes on a busy machine. */
const TEST_MS_MAX = 180_000
/** As bin/launch.mjs names it. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/holdfast', import.meta.url))
const WHOLE = process.env['HOLDFAST_TEST_WHOLE'] === '1'
const ALL = ['src/**/*.test.ts', 'test/**/*.test.ts']

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    profile: { type: 'boolean', default: false },
    repeat: { type: 'string', default: '1' },
    'beside-load': { type: 'boolean', default: false },
    'file-seconds': { type: 'string', default: WHOLE ? '1800' : '600' },
  },
})

const stopped = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort())

process.exitCode = await main()

async function main(): Promise<number> {
  const patterns = positionals.length > 0 ? positionals : ALL
  const files = longestFirst([...new Set(patterns.flatMap(filesOf))].toSorted())
  if (files.length === 0) {
    process.stderr.write(`No test file matches ${patterns.join(' ')}.\n`)
    return 2
  }
  const stopLoad = values['beside-load'] ? load() : () => undefined
  // The tests start hundreds of processes: what one has compiled, the others need not compile again, nor the next run.
  process.env['NODE_COMPILE_CACHE'] ??= COMPILED
  try {
    const programs = spawnSync(process.execPath, ['bin/bundle.mjs'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    if (programs.status !== 0) {
      process.stderr.write('The programs of the product cannot be made of the sources; why is above.\n')
      return 2
    }
    process.env['HOLDFAST_TEST_PROGRAMS'] = programs.stdout.trim()
    for (let round = 1; round <= Number(values.repeat); round++) {
      if (values.repeat !== '1') process.stdout.write(`\nRun ${round} of ${values.repeat}\n`)
      const ran = await runFiles(files, {
        workers: WORKERS,
        testMsMax: TEST_MS_MAX,
        fileMsMax: Number(values['file-seconds']) * 1000,
        signal: stopped.signal,
        write: (text) => void process.stdout.write(text),
      })
      if (values.profile) tellProfile(ran)
      if (stopped.signal.aborted || !ran.isPassed) return 1
    }
    return 0
  } finally {
    stopLoad()
  }
}

/** The files that a pattern means; a folder means all tests in it. */
function filesOf(pattern: string): string[] {
  const isFolder = statSync(pattern, { throwIfNoEntry: false })?.isDirectory() === true
  return globSync(isFolder ? join(pattern, '**/*.test.ts') : pattern)
}

function tellProfile({ results }: Ran): void {
  const seconds = (ms: number) => (ms / 1000).toFixed(2).padStart(9)
  const rows = [...results].toSorted(([, a], [, b]) => b.cpuMs - a.cpuMs)
  let wholeMs = 0
  process.stdout.write(`\n${'CPU s'.padStart(9)}${'wall s'.padStart(9)}\n`)
  for (const [file, { cpuMs, wallMs }] of rows) {
    wholeMs += cpuMs
    process.stdout.write(`${seconds(cpuMs)}${seconds(wallMs)}  ${file}\n`)
  }
  process.stdout.write(`${seconds(wholeMs)}${' '.repeat(9)}  in all\n`)
}

/** Keeps every processor busy until the function that it gives is called. */
function load(): () => void {
  const children = Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  )
  const stop = () => {
    for (const child of children) child.kill('SIGKILL')
  }
  process.once('exit', stop)
  return stop
}
