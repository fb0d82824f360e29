/**
 * The OpenAPI document in the hands of independent programs: a validator, and schemathesis, which makes requests of it at
 * random and compares the answers with it. `npm test` has src/faces/openapi/document.test.ts and
 * test/conformance/openapi-examples.test.ts for the same.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startProduct } from '../support/product.ts'
import { seedOf } from '../support/seed.ts'
import { reasonWithoutTime, runnerFor } from './programs.ts'
import { askPython, pythonWith } from './python-checks.ts'

/** Time for requests; schemathesis ends after it with what it found. */
const RUN_SECONDS = 300
const TEST_MS = (RUN_SECONDS + 180) * 1000

const environment = pythonWith('schemathesis')
const version = askPython(
  'import importlib.metadata, schemathesis; print(importlib.metadata.version("schemathesis"))',
  environment,
)
const missing = version === undefined ? 'schemathesis is not installed for python3 (.ci/clients does it)' : false
const skip = reasonWithoutTime('python3', 'test/conformance/openapi-examples.test.ts') || missing

const VALIDATE = `
import json, ssl, sys, urllib.request
from openapi_spec_validator import validate
context = ssl._create_unverified_context()
validate(json.load(urllib.request.urlopen(sys.argv[1], context=context)))
print("valid")
`

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
]

test(
  `schemathesis (${version ?? 'none'}) finds no undocumented answer and no 5xx`,
  { skip, timeout: TEST_MS },
  async (context) => {
    const home = await mkdtemp(join(tmpdir(), 'holdfast-openapi-'))
    const product = await startProduct()
    try {
      const run = runnerFor(product, home, environment)
      const location = `${product.management}/docs/api/openapi.json`
      assert.equal((await run('python3', ['-c', VALIDATE, location])).stdout.trim(), 'valid')
      const seed = seedOf(context)
      const given = ['--tls-verify', 'false', '--auth', `${product.user}:${product.password}`, '--no-color']
      // A fault has the cluster answer whatever it says; an aggregate may be made in any folder of this machine.
      const left = ['--exclude-path', '/private/faults', '--exclude-path-regex', '^/storage/aggregates$']
      const bounds = [
        '--max-time',
        String(RUN_SECONDS),
        '--seed',
        String(seed),
        '--continue-on-failure',
        '--warnings',
        'off',
      ]
      const args = ['-m', 'schemathesis.cli', 'run', location, ...given, ...left, ...bounds, '--checks', CHECKS.join()]
      const { stdout } = await run('python3', [...args, '--phases', 'examples,coverage,fuzzing'], {
        timeoutMs: TEST_MS,
        folder: home,
      }).catch((failure: Error & { stdout?: string }) => assert.fail(failure.stdout ?? failure.message))
      const [, generated = '0'] = /(\d+) generated/.exec(stdout) ?? []
      context.diagnostic(`${generated} requests`)
      assert.ok(Number(generated) > 1000, stdout)
    } finally {
      await product.stop()
      await rm(home, { recursive: true, force: true })
    }
  },
)
