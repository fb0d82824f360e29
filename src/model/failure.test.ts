import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeOf, Failure, failure } from './failure.ts'
import { errno } from './failures/errno.ts'
import { inUse } from './failures/forms.ts'
import { ownFailures } from './failures/index.ts'

test('a failure has the kind, code, message and target of its row, with the parameters filled in', () => {
  const taken = failure('namedRecordTaken', { noun: 'widget', name: 'one' })
  assert.ok(taken instanceof Failure)
  assert.deepEqual([taken.kind, taken.code, taken.target, taken.errno], ['conflict', 1, 'name', errno.duplicate])
  assert.equal(taken.message, 'A widget named "one" exists already (duplicate entry). Choose another name.')
  assert.equal(taken.row?.name, 'namedRecordTaken')
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

test('a failure that a resource declares for itself is thrown by its row', () => {
  const failures = ownFailures({
    kettleBusy: inUse('state', 'The kettle "{name}" is boiling.', 'Wait.', { code: '777', errno: errno.volumeOffline }),
    kettleEmpty: inUse(undefined, 'The kettle is empty.', 'Fill the kettle.'),
  })
  const busy = failure(failures.kettleBusy, { name: 'one' })
  assert.equal(busy.message, 'The kettle "one" is boiling.')
  assert.deepEqual([busy.kind, busy.code, busy.target, busy.errno], ['conflict', 777, 'state', errno.volumeOffline])
  assert.equal(busy.row?.name, 'kettleBusy')
  assert.ok(busy.is(failures.kettleBusy) && !busy.is(failures.kettleEmpty))
  assert.equal(codeOf(failures.kettleEmpty), 8)
  // @ts-expect-error The message has no such parameter.
  failure(failures.kettleBusy, { nane: 'one' })
  // @ts-expect-error The message needs one.
  failure(failures.kettleBusy)
  // @ts-expect-error The message takes none.
  failure(failures.kettleEmpty, { name: 'one' })
})
