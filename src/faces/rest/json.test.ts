import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { seedOf } from '../../../test/support/seed.ts'
import { codeOf, Failure } from '../../model/failure.ts'
import { BODY_DEPTH_MAX, parseJson } from './json.ts'

const refuses = (text: string) =>
  assert.throws(
    () => parseJson(text),
    (failure) => failure instanceof Failure && failure.kind !== 'internal',
    text.slice(0, 80),
  )

test('JSON is read as JSON.parse reads it', (test) => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), (text) => {
      fc.pre(!text.includes('__proto__'))
      assert.deepEqual(parseJson(text), JSON.parse(text))
    }),
    { seed: seedOf(test), numRuns: 300 },
  )
})

test('depth is bounded before anything is built, and brackets in strings do not count', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  parseJson(nested(BODY_DEPTH_MAX))
  refuses(nested(BODY_DEPTH_MAX + 1))
  refuses('['.repeat(1_000_000))
  assert.deepEqual(parseJson(`["${'['.repeat(100)}\\"${'{'.repeat(100)}"]`), [`${'['.repeat(100)}"${'{'.repeat(100)}`])
})

test('what is no JSON is refused without being quoted back', () => {
  for (const text of ['', '{', '{"a":}', 'x'.repeat(10_000), '{"secret": "hunter2" x}']) refuses(text)
  try {
    parseJson('{"password": "hunter2", }')
  } catch (failure) {
    assert.doesNotMatch((failure as Error).message, /hunter2/)
  }
})

test('__proto__ is refused at any depth, escaped or not', () => {
  for (const text of ['{"__proto__":1}', '{"a":[{"__proto__":{}}]}', '{"\\u005f_proto__":1}']) refuses(text)
})

test('a name that an object has twice is refused, however it is written; in two objects it is two names', () => {
  for (const text of ['{"a":1,"a":2}', '{"b":[{"a":1 , "\\u0061" :2}]}', '{"a":{},"b":"\\"","a":[]}']) {
    assert.throws(
      () => parseJson(text),
      (failure) => failure instanceof Failure && failure.code === codeOf('propertyRepeated') && failure.target === 'a',
      text,
    )
  }
  assert.deepEqual(parseJson('{"a":{"a":"a"},"b":["a","a"],"c":"\\"a\\":1"}'), {
    a: { a: 'a' },
    b: ['a', 'a'],
    c: '"a":1',
  })
})
