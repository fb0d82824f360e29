/** The Python library netapp-ontap as it comes. What it does is in python/management.py. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startProduct } from '../support/product.ts'
import { reasonWithoutTime, runnerFor } from './programs.ts'
import { askPython, PYTHON_MS, pythonWith, runChecks } from './python-checks.ts'

const environment = pythonWith('netapp-ontap')
const version = askPython(
  'import importlib.metadata, netapp_ontap; print(importlib.metadata.version("netapp-ontap"))',
  environment,
)
const missing = version === undefined ? 'netapp-ontap is not installed for python3 (.ci/clients does it)' : false
const skip = reasonWithoutTime('python3', 'test/clients/ansible.test.ts') || missing

test(`netapp-ontap (${version ?? 'none'})`, { skip, timeout: PYTHON_MS + 20_000 }, async (context) => {
  const home = await mkdtemp(join(tmpdir(), 'holdfast-netapp-ontap-'))
  const product = await startProduct()
  try {
    const checks = await runChecks(context, runnerFor(product, home), ['management'], {
      ...environment,
      MANAGEMENT: product.management,
      ADMIN: product.user,
      ADMIN_PASSWORD: product.password,
    })
    assert.ok(checks > 10)
  } finally {
    await product.stop()
    await rm(home, { recursive: true, force: true })
  }
})
