import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkCopySourceConditions,
  checkReadConditions,
  rangeStillFits,
  readEtags,
  readHttpDate,
  unquoted,
  writeCondition,
} from './conditions.ts'
import { headersOf } from './headers.ts'

const object = { etag: 'abc', modifiedMs: Date.UTC(2026, 2, 1, 12, 0, 0) + 700 }
const sameSecond = 'Sun, 01 Mar 2026 12:00:00 GMT'
const before = 'Sun, 01 Mar 2026 11:59:59 GMT'
const after = 'Sun, 01 Mar 2026 12:00:01 GMT'

function read(headers: Record<string, string>): string {
  try {
    return checkReadConditions(headersOf(headers), object)
  } catch (error) {
    return (error as { code: string }).code
  }
}

test('a read without conditions proceeds', () => {
  assert.equal(read({}), 'proceed')
})

test('If-Match and If-None-Match take tags with and without quotes, weak ones, lists, and *', () => {
  for (const value of ['"abc"', 'abc', 'W/"abc"', '"x", "abc"', 'x,abc', '*']) {
    assert.equal(read({ 'If-Match': value }), 'proceed', value)
    assert.equal(read({ 'If-None-Match': value }), 'not-modified', value)
  }
  assert.equal(read({ 'If-Match': '"other"' }), 'PreconditionFailed')
  assert.equal(read({ 'If-None-Match': '"other"' }), 'proceed')
})

test('dates compare by whole seconds', () => {
  assert.equal(read({ 'If-Unmodified-Since': sameSecond }), 'proceed')
  assert.equal(read({ 'If-Unmodified-Since': before }), 'PreconditionFailed')
  assert.equal(read({ 'If-Modified-Since': sameSecond }), 'not-modified')
  assert.equal(read({ 'If-Modified-Since': after }), 'not-modified')
  assert.equal(read({ 'If-Modified-Since': before }), 'proceed')
})

test('tags take precedence over dates', () => {
  assert.equal(read({ 'If-Match': '"abc"', 'If-Unmodified-Since': before }), 'proceed')
  assert.equal(read({ 'If-None-Match': '"x"', 'If-Modified-Since': after }), 'proceed')
  assert.equal(read({ 'If-None-Match': '"abc"', 'If-Modified-Since': before }), 'not-modified')
})

test('a failed precondition comes before 304', () => {
  assert.equal(read({ 'If-Match': '"x"', 'If-None-Match': '"abc"' }), 'PreconditionFailed')
})

test('a date that is none is ignored', () => {
  assert.equal(read({ 'If-Modified-Since': 'yesterday' }), 'proceed')
  assert.equal(read({ 'If-Unmodified-Since': '2020' }), 'proceed')
})

test('the three forms of an HTTP date are read', () => {
  const time = Date.UTC(1994, 10, 6, 8, 49, 37)
  assert.equal(readHttpDate('Sun, 06 Nov 1994 08:49:37 GMT'), time)
  assert.equal(readHttpDate('Sunday, 06-Nov-94 08:49:37 GMT'), time)
  assert.equal(readHttpDate('Sun Nov  6 08:49:37 1994'), time)
})

test('a copy source that was not modified answers 412', () => {
  const check = (headers: Record<string, string>) => () => checkCopySourceConditions(headersOf(headers), object)
  assert.throws(check({ 'x-amz-copy-source-if-none-match': 'abc' }), { code: 'PreconditionFailed' })
  assert.throws(check({ 'x-amz-copy-source-if-match': 'x' }), { code: 'PreconditionFailed' })
  assert.throws(check({ 'x-amz-copy-source-if-modified-since': after }), { code: 'PreconditionFailed' })
  assert.doesNotThrow(check({ 'x-amz-copy-source-if-match': 'abc', 'if-none-match': 'abc' }))
})

test('If-Range holds for the same strong tag and for the exact date', () => {
  assert.equal(rangeStillFits(headersOf({}), object), true)
  assert.equal(rangeStillFits(headersOf({ 'If-Range': '"abc"' }), object), true)
  assert.equal(rangeStillFits(headersOf({ 'If-Range': '"x"' }), object), false)
  assert.equal(rangeStillFits(headersOf({ 'If-Range': 'W/"abc"' }), object), false)
  assert.equal(rangeStillFits(headersOf({ 'If-Range': sameSecond }), object), true)
  assert.equal(rangeStillFits(headersOf({ 'If-Range': after }), object), false)
})

test('the condition of a write is data for the commit', () => {
  assert.equal(writeCondition(headersOf({})), undefined)
  assert.deepEqual(writeCondition(headersOf({ 'If-None-Match': '*' })), { ifNoneMatch: ['*'] })
  assert.deepEqual(writeCondition(headersOf({ 'If-Match': '"a", b' })), { ifMatch: ['a', 'b'] })
})

test('tags that cannot be read are refused', () => {
  for (const bad of ['', ' , ', '"abc', 'a"b'])
    assert.throws(() => readEtags('If-Match', bad), { code: 'InvalidArgument' }, bad)
  assert.throws(() => readEtags('If-Match', 'a,'.repeat(101)), { code: 'InvalidArgument' })
})

test('quotes come off an entity tag only in pairs', () => {
  assert.equal(unquoted('"a-2"'), 'a-2')
  assert.equal(unquoted('a"'), 'a"')
})
