/** What holds of all failures and events: rows of the common tables, and those that resources declare for themselves. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listEvents, listFailures } from '../src/core/tables.ts'
import { behaviours } from '../src/resources/index.ts'

const failures = listFailures(behaviours)
const events = listEvents(behaviours)

/** What is there more than once. */
function repeated<Of>(values: readonly Of[]): Of[] {
  return values.filter((value, at) => values.indexOf(value) !== at)
}

test('rows of resources are among them', () => {
  for (const { resource, ...acts } of behaviours) {
    for (const name of Object.keys(acts.failures ?? {}))
      assert.ok(
        failures.some(([one]) => one === name),
        name,
      )
    for (const name of Object.keys(acts.events ?? {}))
      assert.ok(
        events.some(([one]) => one === name),
        resource.type,
      )
  }
  assert.ok(behaviours.some((behaviour) => behaviour.failures !== undefined))
  assert.ok(behaviours.some((behaviour) => behaviour.events !== undefined))
})

test('no two failures and no two events have the same name', () => {
  assert.deepEqual(repeated(failures.map(([name]) => name)), [])
  assert.deepEqual(repeated(events.map(([name]) => name)), [])
})

test('messages and corrective actions are sentences', () => {
  for (const [name, { message, action }] of failures) {
    assert.match(action, /^[A-Z].*\.$/, name)
    assert.match(message, /[.}]$/, name)
  }
  for (const [name, { message, action }] of events) {
    assert.match(message, /^[A-Z].*\.$/, name)
    assert.match(action, /^[A-Z].*\.$/, name)
  }
})

test('codes are digits as on the wire', () => {
  for (const [name, { code }] of failures) assert.match(code, /^[1-9][0-9]*$/, name)
})

test('no two events have the same trap number', () => {
  assert.deepEqual(repeated(events.map(([, { trap }]) => trap)), [])
})

test('an event that is cleared by another names one that there is', () => {
  const names = new Set(events.map(([name]) => name))
  for (const [name, { clearedBy }] of events) {
    if (clearedBy !== undefined) assert.ok(names.has(clearedBy), `${name} is cleared by ${clearedBy}`)
  }
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
  const shared = new Set(repeated(failures.map(([, { code }]) => code)))
  assert.deepEqual(
    [...shared].toSorted(),
    Object.keys(SHARED).toSorted(),
    'Say in SHARED what a code means to all its rows.',
  )
})
