import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { seedOf } from '../../../test/support/seed.ts'
import { realSystem } from '../../engines/system.ts'
import type { Json } from '../../model/value.ts'
import { printJson } from './print.ts'

test('an answer is printed as JSON.stringify prints it, and a line feed', async (context) => {
  const body = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true })
  await fc.assert(
    fc.asyncProperty(body, async (given) => {
      const pieces = await printJson(realSystem, given as Record<string, Json>)
      assert.equal(Buffer.concat(pieces).toString(), `${JSON.stringify(given)}\n`)
    }),
    { seed: seedOf(context), numRuns: 200 },
  )
})

test('a long answer is printed in pieces', async () => {
  const records = Array.from({ length: 2000 }, (_, n) => ({ name: `ä€😀${n}`, text: 'x'.repeat(100) }))
  const body = { records, num_records: 2000 }
  const pieces = await printJson(realSystem, body)
  assert.ok(pieces.length > 2)
  assert.ok(pieces.every(({ length }) => length < 128 * 1024))
  assert.equal(Buffer.concat(pieces).toString(), `${JSON.stringify(body)}\n`)
})
