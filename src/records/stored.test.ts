import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  asText,
  findList,
  findMember,
  findNumber,
  findText,
  findTexts,
  findTime,
  findWord,
  is,
  list,
  member,
  plain,
  stored,
  storedRow,
  text,
  texts,
} from './stored.ts'
import type { Value } from '../model/value.ts'
import type { BucketChange } from './bucket-notes.ts'

const record = {
  name: 'papers',
  size: 5,
  create_time: 1000,
  versioning_state: 'enabled',
  $policy: '{}',
  'cors.rules': [{ allowed_origins: ['*', 5], max_age_seconds: 3 }],
  $maker: { svm: 's', user: 'alice' },
}
const bucket = storedRow('protocols/s3/buckets', record)

test('fields of a record are read as what they are declared', () => {
  assert.equal(text(bucket, 'name'), 'papers')
  assert.equal(findNumber(bucket, 'size'), 5)
  assert.equal(findTime(bucket, 'create_time'), 1000)
  assert.equal(findWord(bucket, 'versioning_state', ['suspended', 'enabled']), 'enabled')
  assert.equal(findWord(bucket, 'versioning_state', ['suspended']), undefined)
  assert.equal(is(bucket, '$policy', '{}'), true)
  assert.equal(text(member(bucket, '$maker'), 'user'), 'alice')
  const [rule] = list(bucket, 'cors.rules')
  assert.ok(rule !== undefined)
  assert.deepEqual(texts(rule, 'allowed_origins'), ['*'])
  assert.deepEqual(list(rule, 'allowed_origins').map(asText), ['*', ''])
})

test('what has another shape is taken for absent, whatever it is', () => {
  const odd: Value[] = [null, 5, 'text', true, [], [[]], {}, { name: { a: 1 } }, { name: null, size: '5', $maker: 'x' }]
  for (const value of [undefined, ...odd]) {
    const row = storedRow('protocols/s3/buckets', value)
    assert.equal(text(row, 'name'), '')
    assert.equal(findText(row, '$policy'), undefined)
    assert.equal(findNumber(row, 'size'), undefined)
    assert.equal(findTime(row, 'create_time'), undefined)
    assert.equal(is(row, '$ownership', true), false)
    assert.deepEqual(list(row, 'cors.rules'), [])
    assert.equal(findList(row, 'cors.rules'), undefined)
    assert.equal(findMember(row, '$maker'), undefined)
    assert.equal(text(member(row, '$maker'), 'user'), '')
    assert.doesNotThrow(() => plain(row))
  }
  assert.equal(
    findTime(storedRow('protocols/s3/buckets', { create_time: '1970-01-01T00:00:01Z' }), 'create_time'),
    1000,
  )
  assert.equal(findTexts(stored<{ readonly a?: readonly string[] }>({ a: 'one' }), 'a'), undefined)
})

test('a path, a type or a word that is misspelt does not compile', () => {
  // @ts-expect-error no such type
  storedRow('protocols/s3/bucket', record)
  // @ts-expect-error no such field
  text(bucket, 'nmae')
  // @ts-expect-error no such note, though it begins as one does
  text(bucket, '$polcy')
  // @ts-expect-error a number
  text(bucket, 'size')
  // @ts-expect-error a text
  findNumber(bucket, 'name')
  // @ts-expect-error no such word
  is(bucket, 'versioning_state', 'on')
  // @ts-expect-error no such word
  findWord(bucket, 'versioning_state', ['on'])
  // @ts-expect-error no such member
  text(member(bucket, '$maker'), 'name')
  // @ts-expect-error no such member of a rule
  list(bucket, 'cors.rules').map((rule) => texts(rule, 'origins'))
  // @ts-expect-error a record of another type
  const user: typeof bucket = storedRow('protocols/s3/services/{svm.uuid}/users', record)
  // @ts-expect-error no record of the catalog, but the fields of one
  const fields: typeof bucket = record
  // @ts-expect-error no such field to change
  const change: BucketChange = { 'policy.statement': null }
  assert.deepEqual([user, fields, Object.keys(change)], [record, record, ['policy.statement']])
})
