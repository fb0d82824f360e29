/** What developers run: the tests, the checks, the benchmark. */
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
process.chdir(root)
const [command, ...rest] = process.argv.slice(2)

const tool = (name: string) => join('node_modules', '.bin', name)

switch (command) {
  case 'test':
    process.exitCode = await run(process.execPath, ['test/runner/main.ts', ...rest])
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

function run(program: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, NODE_NO_WARNINGS: '1' } })
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill(signal))
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
