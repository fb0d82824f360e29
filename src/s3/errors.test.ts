import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as sdk from '@aws-sdk/client-s3'
import { s3ErrorTable } from './errors.ts'

/** Name and status of each error of Amazon's model, from the schemas that the SDK reads answers by. */
function modelErrors(): Map<string, number> {
  const found = new Map<string, number>()
  for (const schema of Object.values(sdk) as unknown[]) {
    if (!Array.isArray(schema) || schema[0] !== -3) continue
    const [, , name, traits] = schema as [number, string, string, { httpError?: number } | 0]
    if (traits !== 0 && traits.httpError !== undefined) found.set(name, traits.httpError)
  }
  return found
}

/** Those of operations that are refused by name: they cannot come to pass. */
const neverAnswered = [
  'AnnotationLimitExceeded',
  'AnnotationNameTooLong',
  'EncryptionTypeMismatch',
  'IdempotencyParameterMismatch',
  'InvalidAnnotationName',
  'InvalidPrefix',
  'InvalidWriteOffset',
  'NoSuchAnnotation',
  'ObjectAlreadyInActiveTierError',
  'ObjectNotInActiveTierError',
  'UnsupportedMediaType',
]

test('errors of the SDK’s model have its names and statuses', () => {
  const model = modelErrors()
  assert.ok(model.size > 10, `${model.size} errors`)
  const table: Readonly<Record<string, readonly [status: number, message: string]>> = s3ErrorTable
  const unknown = [...model.keys()].filter((name) => table[name] === undefined)
  assert.deepEqual(unknown.toSorted(), neverAnswered)
  for (const [name, status] of model) {
    if (table[name] !== undefined) assert.equal(table[name][0], status, name)
  }
})

test('every error has a status of an error, and says something', () => {
  for (const [code, [status, message]] of Object.entries(s3ErrorTable)) {
    assert.match(code, /^[A-Z][A-Za-z0-9]+$/)
    assert.ok(status >= 300 && status < 600, code)
    assert.ok(message.length > 5, code)
  }
})
