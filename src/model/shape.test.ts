import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { seedOf } from '../../test/support/seed.ts'
import { codeOf, Failure, type FailureKind } from './failure.ts'
import { bytes, count, each, flag, group, name, secret, text, uuid } from './kinds/index.ts'
import { release } from './release.ts'
import { fieldAt, resource } from './resource.ts'
import { valuesAt } from './values-at.ts'
import { completeDraft, flatten, nest, writer } from './shape.ts'

const thing = resource({
  path: '/test/things',
  noun: 'thing',
  doc: 'A thing.',
  key: ['uuid'],
  fields: {
    uuid: { doc: 'Its UUID.' },
    name: { doc: 'Its name.', kind: name(), set: 'always', required: true },
    comment: { doc: 'Free text.', kind: text(), set: 'always' },
    size: { doc: 'Its size.', kind: bytes(), set: 'always', default: 1024 },
    'space.used': { doc: 'Used.', kind: bytes() },
    'options.deep.enabled': { doc: 'On.', kind: flag(), set: 'create' },
    owner: { doc: 'Whose.', ref: 'test/owners', set: 'create', required: true },
    friends: { doc: 'Others.', refs: 'test/things', set: 'always' },
    rules: { doc: 'Rules.', kind: each({ effect: { kind: text(), doc: 'What.', required: true } }), set: 'always' },
    password: { doc: 'Secret.', kind: secret(), set: 'always' },
    later: { doc: 'New.', kind: text(), set: 'always', since: '9.11.1' },
  },
})
const served = release('9.16.1')
const read = (body: unknown, purpose: 'create' | 'modify' = 'create', at = served) => flatten(thing, body, purpose, at)
const refuses = (
  body: unknown,
  kind: FailureKind,
  target: string | undefined,
  purpose: 'create' | 'modify' = 'create',
  at = served,
) =>
  assert.throws(
    () => read(body, purpose, at),
    (failure) => failure instanceof Failure && failure.kind === kind && failure.target === target,
    JSON.stringify(body),
  )

test('dotted keys and nested objects mean the same', () => {
  const flat = { 'options.deep.enabled': true }
  assert.deepEqual(read({ options: { deep: { enabled: true } } }), flat)
  assert.deepEqual(read({ 'options.deep.enabled': true }), flat)
  assert.deepEqual(read({ options: { 'deep.enabled': true } }), flat)
  assert.deepEqual(read({ 'options.deep': { enabled: 'true' } }), flat)
})

test('a reference may be given by its plain name, nested, dotted or by uuid', () => {
  assert.deepEqual(read({ owner: 'o1' }), { 'owner.name': 'o1' })
  assert.deepEqual(read({ owner: { name: 'o1' } }), { 'owner.name': 'o1' })
  assert.deepEqual(read({ 'owner.name': 'o1' }), { 'owner.name': 'o1' })
  const uuid = '11111111-2222-4333-8444-555555555555'
  assert.deepEqual(read({ owner: { uuid } }), { 'owner.uuid': uuid })
  assert.deepEqual(read({ friends: ['t1', { name: 't2' }] }), { friends: [{ name: 't1' }, { name: 't2' }] })
})

test('an unknown field is refused by its path, at any depth', () => {
  refuses({ nam: 'x' }, 'invalid', 'nam')
  refuses({ options: { deep: { other: 1 } } }, 'invalid', 'options.deep.other')
  refuses({ options: { toString: 1 } }, 'invalid', 'options.toString')
  refuses({ constructor: { prototype: {} } }, 'invalid', 'constructor')
  refuses(JSON.parse('{"__proto__":{"name":"x"}}'), 'invalid', '__proto__')
  refuses({ rules: [{ effect: 'x', other: 1 }] }, 'invalid', 'rules')
})

test('a field given twice is refused', () => {
  refuses({ 'options.deep.enabled': true, options: { deep: { enabled: false } } }, 'malformed', 'options.deep.enabled')
  refuses({ owner: 'a', 'owner.name': 'b' }, 'malformed', 'owner.name')
  refuses({ 'owner.name': null, owner: 'x' }, 'malformed', 'owner.name')
})

test('read-only fields, and fields of another purpose, are refused', () => {
  refuses({ space: { used: 5 } }, 'invalid', 'space.used')
  refuses({ uuid: 'x' }, 'invalid', 'uuid')
  refuses({ owner: 'x' }, 'invalid', 'owner.name', 'modify')
})

test('a body that is not an object is malformed', () => {
  for (const body of [[], 'text', 5, true, null, undefined, [{ name: 'x' }]]) refuses(body, 'malformed', undefined)
})

test('an object where a plain value belongs, and the other way round, is refused', () => {
  refuses({ name: { first: 'x' } }, 'invalid', 'name')
  refuses({ options: 5 }, 'invalid', 'options')
  refuses({ options: [] }, 'invalid', 'options')
  refuses({ friends: [[]] }, 'invalid', 'friends')
})

test('links are passed over, so that a record that was read can be sent back', () => {
  assert.deepEqual(read({ _links: { self: {} }, name: 'x', owner: { name: 'o', _links: {} } }), {
    name: 'x',
    'owner.name': 'o',
  })
})

test('a field of a later release is unknown', () => {
  refuses({ later: 'x' }, 'invalid', 'later', 'create', release('9.10.1'))
  assert.deepEqual(read({ later: 'x' }, 'create', release('9.11.1')), { later: 'x' })
})

test('null empties a field that may be empty, and is refused for one that may not', () => {
  assert.deepEqual(read({ comment: null, friends: null, rules: null }, 'modify'), {
    comment: null,
    friends: null,
    rules: null,
  })
  refuses({ name: null }, 'invalid', 'name', 'modify')
  refuses({ size: null }, 'invalid', 'size', 'modify')
  refuses({ password: null }, 'invalid', 'password', 'modify')
})

test('null in a create is the same as not given', () => {
  assert.deepEqual(completeDraft(thing, read({ name: 'x', owner: 'o', size: null, comment: null })), {
    name: 'x',
    'owner.name': 'o',
    size: 1024,
  })
})

test('defaults are filled in and required fields insisted on', () => {
  assert.deepEqual(completeDraft(thing, { name: 'x', 'owner.uuid': 'u' }), { name: 'x', 'owner.uuid': 'u', size: 1024 })
  assert.throws(
    () => completeDraft(thing, { 'owner.name': 'o' }),
    (failure) => failure instanceof Failure && failure.target === 'name' && failure.code === codeOf('fieldRequired'),
  )
  assert.throws(
    () => completeDraft(thing, { name: 'x' }),
    (failure) => failure instanceof Failure && failure.target === 'owner.name',
  )
})

test('rows are nested for answers, without what is not set and without secrets', () => {
  const row = { name: 'x', 'space.used': 5, 'owner.name': 'o', 'owner.uuid': 'u', password: 'never', comment: null }
  const all = new Set(thing.fields.keys())
  assert.deepEqual(nest(thing, row, all), { name: 'x', space: { used: 5 }, owner: { name: 'o', uuid: 'u' } })
  assert.deepEqual(nest(thing, row, new Set(['owner.name'])), { owner: { name: 'o' } })
})

test('members of a list of records can be asked for one by one', () => {
  const row = {
    friends: [
      { name: 'a', uuid: '1' },
      { name: 'b', uuid: '2' },
    ],
  }
  assert.deepEqual(nest(thing, row, new Set(['friends.name'])), { friends: [{ name: 'a' }, { name: 'b' }] })
})

test('members of members can be asked for one by one, filtered by, and their owner as a whole', () => {
  const schedule = { kind: group({ name: { kind: text(), doc: 'x' }, uuid: { kind: uuid(), doc: 'x' } }), doc: 'x' }
  const policy = resource({
    path: '/policies',
    noun: 'policy',
    doc: 'A policy.',
    key: ['name'],
    fields: {
      name: { doc: 'x' },
      'deep.copies': { doc: 'x', kind: each({ count: { kind: count(), doc: 'x' }, schedule }) },
    },
  })
  const row = { 'deep.copies': [{ count: 1, schedule: { name: 'a', uuid: '1' } }, { count: 2 }] }
  const shown = (...paths: string[]) => nest(policy, row, new Set(paths))
  assert.deepEqual(shown('deep.copies.schedule.name'), { deep: { copies: [{ schedule: { name: 'a' } }, {}] } })
  assert.deepEqual(shown('deep.copies.schedule'), { deep: { copies: [{ schedule: { name: 'a', uuid: '1' } }, {}] } })
  assert.equal(fieldAt(policy, 'deep.copies.schedule.name')?.member, 'schedule.name')
  assert.equal(fieldAt(policy, 'deep.copies.schedule.other'), undefined)
  assert.deepEqual(valuesAt(row, 'deep.copies.schedule.name'), ['a'])
  assert.deepEqual(valuesAt(row, 'deep.copies.count'), [1, 2])
})

test('what was nested is flattened to the same', (test) => {
  const rows = fc.record(
    {
      name: fc.constantFrom('a', 'b_1'),
      comment: fc.string({ unit: 'grapheme-ascii' }).filter((comment) => comment !== ''),
      size: fc.nat(),
      'options.deep.enabled': fc.boolean(),
      'owner.name': fc.constantFrom('o1', 'o2'),
    },
    { noNullPrototype: true },
  )
  fc.assert(
    fc.property(rows, (row) => {
      assert.deepEqual(read(nest(thing, row, new Set(Object.keys(row)))), row)
      const shown = new Set(thing.fields.keys())
      assert.equal(`{${writer(thing, shown)(row)}}`, JSON.stringify(nest(thing, row, shown)))
    }),
    { seed: seedOf(test), numRuns: 200 },
  )
})

test('any JSON is read or refused with a failure, and pollutes no prototype', (test) => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom<'create' | 'modify'>('create', 'modify'), (json, purpose) => {
      try {
        read(JSON.parse(json), purpose)
      } catch (failure) {
        assert.ok(failure instanceof Failure && failure.kind !== 'internal', String(failure))
      }
      assert.equal(Object.keys(Object.prototype).length, 0)
    }),
    { seed: seedOf(test), numRuns: 1000 },
  )
})
