import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure, failure, type FailureName } from './failure.ts'
import type { FailureEntry } from './failures/entry.ts'
import { errno } from './failures/errno.ts'
import { failureTable } from './failures/index.ts'

const entries = Object.entries(failureTable) as [FailureName, FailureEntry][]

test('a failure has the kind, code, message and target of its row, with the parameters filled in', () => {
  const taken = failure('namedRecordTaken', { noun: 'widget', name: 'one' })
  assert.ok(taken instanceof Failure)
  assert.deepEqual([taken.kind, taken.code, taken.target, taken.errno], ['conflict', 1, 'name', errno.duplicate])
  assert.equal(taken.message, 'A widget named "one" exists already (duplicate entry). Choose another name.')
  assert.equal(taken.entryName, 'namedRecordTaken')
})

test('what the caller says of a failure comes before its row', () => {
  const cause = new Error('why')
  const missing = failure('recordNotFound', { noun: 'widget' }, { target: 'uuid', cause, retryAfterSeconds: 7 })
  assert.deepEqual([missing.target, missing.cause, missing.retryAfterSeconds], ['uuid', cause, 7])
  assert.deepEqual(missing.givens, ['uuid'])
  assert.equal(failure('stopping').retryAfterSeconds, 1)
})

test('changing parts of a message are given in their order', () => {
  const { givens, message } = failure('fieldInvalid', { field: 'size', problem: 'It is empty.' })
  assert.deepEqual(givens, ['size', 'It is empty.'])
  assert.equal(message, 'Invalid value for field "size": It is empty.')
})

test('parameters are text, whatever stands in them', () => {
  const { message } = failure('fieldInvalid', { field: '$&', problem: '{field} $1' })
  assert.equal(message, 'Invalid value for field "$&": {field} $1')
})

test('echoed input is truncated where the row says so', () => {
  const { message } = failure('apiNotFound', { path: 'x'.repeat(1000) })
  assert.ok(message.length < 200, message)
  assert.ok(message.includes('x…'), message)
})

test('a failure that is told again has the errno of its kind', () => {
  assert.equal(new Failure('denied', 6, 'No.').errno, errno.privilege)
})

test('messages and corrective actions are sentences', () => {
  for (const [name, { message, action }] of entries) {
    assert.match(action, /^[A-Z].*\.$/, name)
    assert.match(message, /[.}]$/, name)
  }
})

test('codes are digits as on the wire', () => {
  for (const [name, { code }] of entries) assert.match(code, /^[1-9][0-9]*$/, name)
})
