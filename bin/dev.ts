/** What developers run: the tests, the checks, the benchmark. */
import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
process.chdir(root)
const [command, ...rest] = process.argv.slice(2)

/** Test files that run at once: on two cores, as many of them wait for something that one more finds the time to run. */
const FILES_AT_ONCE = 3
/** Longest time for one test. */
const TEST_MS_MAX = 180_000

const tool = (name: string) => join('node_modules', '.bin', name)

switch (command) {
  case 'test':
    process.exitCode = await test(rest.length > 0 ? rest : ['src/**/*.test.ts', 'test/**/*.test.ts'])
    break
  case 'check':
    process.exitCode =
      (await run(tool('tsc'), [])) ||
      (await run(tool('oxlint'), ['--type-aware', '--deny-warnings'])) ||
      (await run(tool('oxfmt'), ['--check']))
    break
  case 'bench':
    process.exitCode = await run(process.execPath, ['bench/run.ts', ...rest])
    break
  case undefined:
  default:
    process.stderr.write('Usage: npm test [-- files], npm run check, npm run bench\n')
    process.exitCode = 2
}

async function test(patterns: readonly string[]): Promise<number> {
  const files = patterns.flatMap((pattern) => globSync(pattern)).toSorted()
  if (files.length === 0) {
    // Without a file, Node would run every test that it finds.
    process.stderr.write(`No test file matches ${patterns.join(' ')}.\n`)
    return 2
  }
  // The tests start hundreds of processes: what one has compiled, the others need not compile again.
  const compiled = mkdtempSync(join(tmpdir(), 'holdfast-compiled-'))
  process.env['NODE_COMPILE_CACHE'] = compiled
  const runner = ['--test', `--test-concurrency=${FILES_AT_ONCE}`, `--test-timeout=${TEST_MS_MAX}`]
  try {
    return await run(process.execPath, [...runner, ...files])
  } finally {
    rmSync(compiled, { recursive: true, force: true, maxRetries: 5 })
  }
}

function run(program: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, NODE_NO_WARNINGS: '1' } })
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill(signal))
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
