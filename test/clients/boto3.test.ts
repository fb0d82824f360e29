/** boto3 as it comes. What it does is in python/objects.py and python/configuration.py. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startProduct } from '../support/product.ts'
import { reasonUnlessWhole, runnerFor } from './programs.ts'
import { askPython, PYTHON_MS, pythonWith, runChecks } from './python-checks.ts'

const environment = pythonWith('python')
const version = askPython('import boto3; print(boto3.__version__)', environment)
const skip =
  reasonUnlessWhole('test/clients/tools.test.ts') ||
  (version === undefined ? 'boto3 is not installed for python3 (.ci/clients does it)' : false)

test(`boto3 (${version ?? 'none'})`, { skip, timeout: PYTHON_MS + 20_000 }, async (context) => {
  const home = await mkdtemp(join(tmpdir(), 'holdfast-boto3-'))
  const product = await startProduct({ environment: { HOLDFAST_WORKERS: '2' } })
  try {
    const checks = await runChecks(context, runnerFor(product, home), ['objects', 'configuration'], {
      ...environment,
      ENDPOINT: product.s3Http ?? '',
      ENDPOINT_TLS: product.s3 ?? '',
    })
    assert.ok(checks > 20)
  } finally {
    await product.stop()
    await rm(home, { recursive: true, force: true })
  }
})
