/** boto3 as it comes. What it does is in python/, where each check's docstring is its name. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startProduct } from '../support/product.ts'
import { clientsFolder, runnerFor } from './programs.ts'

const PROGRAM = fileURLToPath(new URL('python/run.py', import.meta.url))
const RUN_MS = 150_000
/** `.ci/clients` installs boto3 there if Python has none. */
const environment = {
  PYTHONPATH: join(clientsFolder, 'python'),
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONWARNINGS: 'ignore',
}

interface Check {
  readonly name: string
  readonly seconds: number
  readonly failure: string | null
}

test(`boto3 (${versionOf() ?? 'none'})`, { skip: reason(), timeout: RUN_MS + 20_000 }, async (context) => {
  const home = await mkdtemp(join(tmpdir(), 'holdfast-boto3-'))
  const product = await startProduct({ environment: { HOLDFAST_WORKERS: '2' } })
  try {
    const { stdout } = await runnerFor(product, home)('python3', [PROGRAM], {
      timeoutMs: RUN_MS,
      environment: { ...environment, ENDPOINT: product.s3Http ?? '', ENDPOINT_TLS: product.s3 ?? '' },
    })
    const [announced = '', ...lines] = stdout.trim().split('\n')
    const checks = lines.map((line) => JSON.parse(line) as Check)
    for (const check of checks) {
      await context.test(check.name, (inner) => {
        inner.diagnostic(`${check.seconds.toFixed(2)} s in Python`)
        assert.ok(check.failure === null, check.failure ?? '')
      })
    }
    assert.equal(checks.length, (JSON.parse(announced) as { checks: number }).checks, 'every check was made')
    assert.ok(checks.length > 20)
  } finally {
    await product.stop()
    await rm(home, { recursive: true, force: true })
  }
})

function versionOf(): string | undefined {
  const asked = spawnSync('python3', ['-c', 'import boto3; print(boto3.__version__)'], {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
  })
  return asked.status === 0 ? asked.stdout.trim() : undefined
}

function reason(): string | false {
  return versionOf() === undefined ? 'boto3 is not installed for python3 (.ci/clients does it)' : false
}
