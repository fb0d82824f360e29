/** Checks in Python, in python/: the docstring of each is its name. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { clientsFolder, type Run } from './programs.ts'

const PROGRAM = fileURLToPath(new URL('python/run.py', import.meta.url))
export const PYTHON_MS = 150_000

interface Check {
  readonly name: string
  readonly seconds: number
  readonly failure: string | null
}

/** What Python needs to find a library that `.ci/clients` installed in this folder, if it has none itself. */
export function pythonWith(folder: string): Readonly<Record<string, string>> {
  return {
    PYTHONPATH: join(clientsFolder, folder),
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONWARNINGS: 'ignore',
  }
}

/** What a line of Python prints; undefined when it fails, as it does without what it imports. */
export function askPython(line: string, environment: Readonly<Record<string, string>>): string | undefined {
  const asked = spawnSync('python3', ['-c', line], { encoding: 'utf8', env: { ...process.env, ...environment } })
  return asked.status === 0 ? asked.stdout.trim() : undefined
}

/** Runs the checks of modules of python/, each as a test within this one. Gives how many there are. */
export async function runChecks(
  context: TestContext,
  run: Run,
  modules: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<number> {
  const { stdout } = await run('python3', [PROGRAM, ...modules], { timeoutMs: PYTHON_MS, environment })
  const [announced = '', ...lines] = stdout.trim().split('\n')
  const checks = lines.map((line) => JSON.parse(line) as Check)
  for (const check of checks) {
    await context.test(check.name, (inner) => {
      inner.diagnostic(`${check.seconds.toFixed(2)} s in Python`)
      assert.ok(check.failure === null, check.failure ?? '')
    })
  }
  assert.equal(checks.length, (JSON.parse(announced) as { checks: number }).checks, 'every check was made')
  return checks.length
}
