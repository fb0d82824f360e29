import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applies, labelOf, labelsOf } from './facts.ts'
import { kindAt } from './kinds/at-release.ts'
import { bytes, count, list, oneOf, only, percent } from './kinds/index.ts'
import { release } from './release.ts'
import { type Fields, resource } from './resource.ts'

test('a label is the last words of a path, as people write them', () => {
  const labels = {
    name: 'Name',
    'svm.name': 'SVM',
    'svm.uuid': 'SVM UUID',
    'snapshot_policy.name': 'Snapshot policy',
    'space.available_percent': 'Available percent',
    'autosize.mode': 'Autosize mode',
    'metric.iops.total': 'IOPS total',
    'iscsi.enabled': 'iSCSI enabled',
    _tags: 'Tags',
  }
  for (const [path, label] of Object.entries(labels)) assert.equal(labelOf(path), label)
  assert.deepEqual(labelsOf('S3 user policy'), { one: 'S3 user policy', many: 'S3 user policies' })
})

test('a condition holds by the value of another field', () => {
  const mode = (value: string | null) => () => value
  const grows = { field: 'mode', is: ['grow', 'grow_shrink'] }
  assert.equal(applies(grows, mode('grow')), true)
  assert.equal(applies(grows, mode('off')), false)
  assert.equal(
    applies(grows, () => undefined),
    false,
  )
  assert.equal(applies({ field: 'mode', isSet: true }, mode('off')), true)
  assert.equal(applies({ field: 'mode', isSet: false }, mode(null)), true)
})

test('a number knows its unit, and its schema says it', () => {
  assert.equal(bytes().unit, 'bytes')
  assert.equal(percent({ max: 100 }).schema['x-unit'], 'percent')
  assert.equal(count().unit, undefined)
})

test('an enumeration says what its words mean, and takes them as if they were a list', () => {
  const state = oneOf({ online: 'Clients read and write.', offline: 'Clients are refused.' })
  assert.deepEqual(state.schema['enum'], ['online', 'offline'])
  assert.deepEqual(state.schema['x-enumDescriptions'], state.meanings)
  assert.equal(state.parse('ONLINE'), 'online')
  assert.throws(() => state.parse('paused'), /none of online, offline/)
  const kept = only('online', state, 'there is no other.')
  assert.deepEqual(kept.schema['x-enumDescriptions'], { online: 'Clients read and write.' })
})

test('a word of an enumeration that came with a later release is neither taken nor described before it', () => {
  const mode = oneOf({ off: 'Nothing is done.', on: { doc: 'All is done.', since: '9.12.1' } })
  for (const kind of [mode, list(mode)]) {
    const old = kindAt(kind, release('9.11.1'))
    assert.throws(() => old.parse('on'), /"on" is none of off\./)
    assert.equal(JSON.stringify(old.schema).includes('All is done'), false)
    assert.deepEqual(old.parse('off'), kind.parse('off'))
    assert.deepEqual(kindAt(kind, release('9.12.1')).parse('on'), kind.parse('on'))
  }
})

const declared = {
  path: '/things',
  noun: 'thing',
  doc: 'Things.',
  key: ['uuid'],
  fields: { uuid: { doc: 'x' }, name: { doc: 'x' }, state: { doc: 'x' } } as Fields,
}

test('a list shows name and state where nothing else is declared', () => {
  assert.deepEqual(resource(declared).columns, ['name', 'state'])
  assert.deepEqual(resource({ ...declared, columns: ['state'] }).columns, ['state'])
})

test('a fact about a field that is not there is a mistake that shows at once', () => {
  assert.throws(() => resource({ ...declared, columns: ['stat'] }), /things has no field "stat"/)
  assert.throws(() => resource({ ...declared, form: { Basics: ['nme'] } }), /no field "nme"/)
  const when = { field: 'mode', isSet: true }
  const fields: Fields = { uuid: { doc: 'x', when } }
  assert.throws(() => resource({ ...declared, fields }), /no field "mode"/)
})
