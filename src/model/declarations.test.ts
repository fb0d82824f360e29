import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinRoles, mayDo, type Role } from './access.ts'
import { text } from './kinds/index.ts'
import { registry } from './registry.ts'
import { isServed, parseRelease, printRelease, release, releases } from './release.ts'
import { fieldAt, type Fields, resource } from './resource.ts'
import { valuesAt } from './values-at.ts'

test('a release serves what came with it or before', () => {
  const served = release('9.10.1')
  assert.equal(isServed(undefined, served), true)
  assert.equal(isServed('9.8', served), true)
  assert.equal(isServed('9.10', served), true)
  assert.equal(isServed('9.10.1', served), true)
  assert.equal(isServed('9.10.2', served), false)
  assert.equal(isServed('9.11.1', served), false)
  assert.equal(isServed('10.0', served), false)
  assert.equal(isServed('9.16.1', release('10.0')), true)
})

test('releases are named with or without their minor number, and no others are known', () => {
  for (const each of releases) assert.equal(printRelease(parseRelease(each) ?? release('0.0')), each)
  assert.deepEqual(parseRelease('9.16'), release('9.16.1'))
  for (const text of ['', '9', '9.7', '9.17.1', '9.8.1.1', 'latest', '9.8 '])
    assert.equal(parseRelease(text), undefined, text)
})

const role = (name: string) => builtinRoles.find((each) => each.name === name) as Role

test('admin may do everything, readonly only read and nothing of security, none nothing', () => {
  assert.equal(mayDo(role('admin'), '/api/storage/volumes', 'DELETE'), true)
  assert.equal(mayDo(role('readonly'), '/api/storage/volumes', 'GET'), true)
  assert.equal(mayDo(role('readonly'), '/api/storage/volumes', 'HEAD'), true)
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE']) {
    assert.equal(mayDo(role('readonly'), '/api/storage/volumes', method), false, method)
  }
  assert.equal(mayDo(role('readonly'), '/api/security/accounts', 'GET'), false)
  assert.equal(mayDo(role('none'), '/api/cluster', 'GET'), false)
})

test('the longest prefix that fits decides, and prefixes end at a slash', () => {
  const mixed: Role = {
    name: 'mixed',
    privileges: [
      { path: '/api', access: 'none' },
      { path: '/api/storage/volumes', access: 'all' },
      { path: '/api/storage', access: 'readonly' },
    ],
  }
  assert.equal(mayDo(mixed, '/api/storage/volumes/x/snapshots', 'POST'), true)
  assert.equal(mayDo(mixed, '/api/storage/aggregates', 'POST'), false)
  assert.equal(mayDo(mixed, '/api/storage/aggregates', 'GET'), true)
  assert.equal(mayDo(mixed, '/api/storagex', 'GET'), false)
  assert.equal(mayDo({ name: 'empty', privileges: [] }, '/api/cluster', 'GET'), false)
})

/** Put together at run time: no path of it is known to the compiler. */
const fields: Fields = { uuid: { doc: 'x' }, name: { doc: 'x' } }
const declared = (path: string, key: readonly string[], aliases: readonly string[] = []) =>
  resource({ path, noun: 'thing', doc: 'A thing.', key, aliases, fields })

test('a path with literal words is found before one with parameters', () => {
  const all = registry([
    declared('/cluster/{name}/parts', ['uuid']),
    declared('/cluster/version/parts', ['uuid']),
    declared('/cluster', []),
    declared('/cluster/version', []),
  ])
  assert.equal(all.match(['cluster', 'version', 'parts'])?.resource.path, '/cluster/version/parts')
  assert.deepEqual(all.match(['cluster', 'x', 'parts', 'u'])?.pathValues, { name: 'x' })
  assert.deepEqual(all.match(['cluster', 'x', 'parts', 'u'])?.instance, ['u'])
  assert.equal(all.match(['cluster', 'version'])?.resource.path, '/cluster/version')
  assert.equal(all.match(['cluster', 'other']), undefined)
  assert.equal(all.match([]), undefined)
})

test('a path is a collection, one record, or with some of its keys those that have them; never more words', () => {
  const all = registry([declared('/a/b', ['owner', 'name'], ['/alias']), declared('/a/b/{owner}/parts', ['name'])])
  assert.deepEqual(all.match(['a', 'b'])?.instance, [])
  assert.deepEqual(all.match(['a', 'b', 'x', 'y'])?.instance, ['x', 'y'])
  assert.deepEqual(all.match(['alias', 'x', 'y'])?.instance, ['x', 'y'])
  assert.equal(all.match(['a', 'b', 'x', 'y', 'z', 'z']), undefined)
  const narrowed = all.match(['alias', 'x'])
  assert.deepEqual([narrowed?.pathValues, narrowed?.instance, narrowed?.isNarrowed], [{ owner: 'x' }, [], true])
  assert.deepEqual(all.match(['a', 'b', 'x', 'parts'])?.resource.path, '/a/b')
  assert.deepEqual(all.match(['a', 'b', 'x', 'parts', 'y'])?.pathValues, { owner: 'x' })
})

test('two resources with one path, and an unknown type, are mistakes that show at once', () => {
  assert.throws(() => registry([declared('/a', ['uuid']), declared('/a', ['uuid'])]), /Two resources/)
  assert.throws(() => registry([]).resource('x'), /No resource/)
})

test('a reference becomes a name and a uuid, a list of references a list of both', () => {
  const made = resource({
    path: '/a',
    noun: 'a',
    doc: 'x',
    key: ['svm.uuid'],
    fields: { svm: { doc: 'x', ref: 'svm/svms' }, aggregates: { doc: 'x', refs: 'storage/aggregates' } },
  })
  assert.deepEqual([...made.fields.keys()], ['svm.name', 'svm.uuid', 'aggregates'])
  assert.equal(fieldAt(made, 'aggregates.uuid')?.member, 'uuid')
  assert.equal(fieldAt(made, 'aggregates.toString'), undefined)
  assert.deepEqual(valuesAt({ aggregates: [{ name: 'a' }, { name: 'b' }, {}] }, 'aggregates.name'), ['a', 'b'])
  assert.deepEqual(valuesAt({}, 'aggregates.name'), [])
})

test('a path that is misspelt does not compile', () => {
  const thing = { path: '/a', noun: 'a', doc: 'x', key: ['uuid'] } as const
  const fields = {
    uuid: { doc: 'x' },
    svm: { doc: 'x', ref: 'svm/svms' },
    parts: { doc: 'x', refs: 'storage/volumes' },
    mode: { doc: 'x', kind: text(), when: { field: 'svm.name', isSet: true } },
  } as const
  const whole = {
    ...thing,
    recordKey: ['svm.uuid', 'uuid'],
    parent: 'svm.uuid',
    nameWithin: 'svm.uuid',
    columns: ['mode', 'svm.name', 'parts.name'],
    form: { A: ['mode', 'parts'] },
    order: [{ path: 'mode', isDescending: true }],
    fields,
  } as const
  assert.deepEqual(resource(whole).columns, ['mode', 'svm.name', 'parts.name'])
  // @ts-expect-error It has no field `uid`.
  resource({ ...whole, key: ['uid'] })
  // @ts-expect-error A reference is two fields, neither of them `svm`.
  resource({ ...whole, recordKey: ['svm'] })
  // @ts-expect-error It has no field `vserver`.
  resource({ ...whole, nameWithin: 'vserver' })
  // @ts-expect-error It has no field `modes`.
  resource({ ...whole, order: [{ path: 'modes', isDescending: true }] })
  // @ts-expect-error It has no field `svm.id`.
  assert.throws(() => resource({ ...whole, parent: 'svm.id' }), /names no record/)
  const misspelt = [
    // @ts-expect-error It has no field `modes`.
    () => resource({ ...whole, columns: ['modes'] }),
    // @ts-expect-error It has no field `modes`.
    () => resource({ ...whole, form: { A: ['modes'] } }),
    // @ts-expect-error It has no field `modes`.
    () => resource({ ...whole, fields: { ...fields, uuid: { doc: 'x', when: { field: 'modes', isSet: true } } } }),
  ]
  for (const one of misspelt) assert.throws(one, /no field "modes"/)
})
