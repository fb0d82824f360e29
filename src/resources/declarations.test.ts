/** What the compiler cannot see of declarations: types by name, and paths of fields that are put together at run time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldAt, type Resource } from '../model/resource.ts'
import { behaviours } from './index.ts'

const resources = behaviours.map(({ resource }) => resource)

test('each type that a declaration names is that of a resource', () => {
  const types = new Set<string>(resources.map(({ type }) => type))
  const lost = resources.flatMap((one) =>
    [
      one.rowsOf,
      ...one.parentTypes,
      ...one.within.map(({ type }) => type),
      ...[...one.fields.values()].flatMap(({ reference }) => reference?.type ?? []),
    ]
      .filter((type) => !types.has(type))
      .map((type) => `${one.type}: ${type}`),
  )
  assert.deepEqual(lost, [])
})

test('each path that a declaration names is that of a field', () => {
  const lost = resources.flatMap((one) =>
    pathsOf(one)
      .filter((path) => fieldAt(one, path) === undefined && !path.startsWith('$'))
      .map((path) => `${one.type}: ${path}`),
  )
  assert.deepEqual(lost, [])
})

test('each path that is derived is that of a field', () => {
  const lost = behaviours.flatMap(({ resource, derive = [] }) =>
    derive
      .flatMap(({ gives }) => gives)
      .filter((path) => !resource.groups.has(path) && fieldAt(resource, path) === undefined)
      .filter((path) => !resource.fields.has(`${path}.uuid`))
      .map((path) => `${resource.type}: ${path}`),
  )
  assert.deepEqual(lost, [])
})

/** Keys of a path that the record itself has under another name, as in the field. */
const OF_ANOTHER_SPELLING: ReadonlySet<string> = new Set([
  'protocols/s3/services/{svm.uuid}/buckets/{s3_bucket.uuid}/rules s3_bucket.uuid',
])

function pathsOf({ parent, nameWithin, alsoBy, ...one }: Resource): string[] {
  return [
    ...one.key,
    ...one.shownUnasked,
    ...(one.rowsOf === one.type && one.recordKey.join() !== 'uuid' ? one.recordKey : []),
    ...one.pathKeys.filter((path) => !OF_ANOTHER_SPELLING.has(`${one.type} ${path}`)),
    ...one.order.map(({ path }) => path),
    ...one.columns,
    ...Object.values(one.form).flat(),
    ...[...one.fields.values()].flatMap(({ when }) => when?.field ?? []),
    ...[parent, nameWithin, alsoBy].filter((path) => typeof path === 'string'),
  ]
}
