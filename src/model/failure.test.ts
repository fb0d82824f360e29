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

/** Codes that several rows share, and the one thing that each means to clients. All others belong to one row. */
const SHARED: Readonly<Record<string, string>> = {
  1: 'It exists already.',
  3: 'The interface has no such path or method.',
  4: 'It does not exist.',
  6: 'The role does not allow it.',
  8: 'It is in use, or is not in the state for it.',
  65552: 'Not served now: try again.',
  262145: 'It failed for a cause within.',
  262160: 'Too much at once: try again later.',
  262179: 'An argument or field is unknown.',
  262185: 'The value of an argument does not do.',
  262186: 'A value is understood and does not do.',
  262197: 'The value of a field does not do.',
  262199: 'The request cannot be read.',
  262212: 'Something that is required is missing.',
  262286: 'Braces of "fields" do not match.',
  458776: 'The job is not running.',
  459758: 'The schedule is in use.',
  459760: 'The schedule does not make sense.',
  524479: 'The volume is offline.',
  524486: 'The volume is busy or in use.',
  524487: 'There is no such snapshot.',
  525062: 'The volume has as many snapshots as it can have.',
  786435: 'The aggregate has volumes.',
  787140: 'There is no aggregate to use.',
  917525: 'There is no such volume.',
  917526: 'A volume has this name.',
  917534: 'The size is too small.',
  918242: 'The aggregate of the volume cannot be chosen so.',
  983095: 'The rules of an event filter are not numbered so.',
  1245212: 'There is no room for it.',
  1638413: 'There is no such schedule.',
  1638461: 'Only replication changes the volume.',
  1638515: 'No snapshot is named.',
  1638555: 'The snapshot cannot go yet.',
  1703954: 'There is no such export policy.',
  1704039: 'The address of a client is malformed.',
  2621462: 'There is no such SVM.',
  2621525: 'The SVM is not empty.',
  2621706: 'Two names are of different things, or of none.',
  3735713: 'The subject of a certificate is malformed.',
  7077920: 'The password is too easy to guess.',
  8454260: 'The limits of a QoS policy contradict each other.',
  9764946: 'An FPolicy event is incomplete.',
  53411853: 'The volumes of a consistency group cannot be so.',
  53411864: 'A consistency group lacks volumes.',
  53411921: 'A snapshot has this name.',
  92405853: 'An object store server is there already.',
  92405861: 'The SVM has no object store server.',
  92405894: 'The statements of a policy are too many.',
  92406014: 'Versioning cannot change so.',
}

test('no code has two meanings', () => {
  const rows = Map.groupBy(entries, ([, { code }]) => code)
  const shared = [...rows].filter(([, of]) => of.length > 1).map(([code]) => code)
  assert.deepEqual(
    shared.toSorted(),
    Object.keys(SHARED).toSorted(),
    'Say in SHARED what a code means to all its rows.',
  )
})
