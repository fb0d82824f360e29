import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openTrace } from '../../bin/trace.ts'
import type { Log } from '../../src/core/cluster.ts'
import type { Trace } from '../../src/faces/rest/trace.ts'
import { until } from './processes.ts'

const entry = { method: 'GET', target: '/api/cluster' } as unknown as Parameters<Trace>[0]
const LINE_BYTES = JSON.stringify(entry).length + 1

function logInto(errors: string[]): Log {
  const ignored = () => undefined
  return { debug: ignored, info: ignored, warn: ignored, error: (message) => errors.push(message) }
}

test('a full trace is put aside, and requests go on where it cannot be', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-trace-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const errors: string[] = []
  const file = join(folder, 'trace.jsonl')
  const trace = openTrace(file, logInto(errors), 2 * LINE_BYTES)
  for (let n = 0; n < 2; n++) trace.trace(entry)
  await until('both are written', () => readFileSync(file).length === 2 * LINE_BYTES)
  trace.trace(entry)
  await trace.close()
  assert.deepEqual([readFileSync(`${file}.1`).length, readFileSync(file).length], [2 * LINE_BYTES, LINE_BYTES])

  rmSync(`${file}.1`)
  mkdirSync(`${file}.1`)
  writeFileSync(join(`${file}.1`, 'in-the-way'), '')
  const next = openTrace(file, logInto(errors), 2 * LINE_BYTES)
  for (let n = 0; n < 2; n++) next.trace(entry)
  await next.close()
  assert.equal(readFileSync(file).length, 3 * LINE_BYTES)
  assert.deepEqual(errors, ['The full trace cannot be renamed, and goes on.'])
})
