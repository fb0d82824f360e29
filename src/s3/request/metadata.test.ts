import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headersOf } from './headers.ts'
import { metadataHeaders, readMetadata, responseOverrides, withoutAwsChunked } from './metadata.ts'

const raw = (text: string): string => Buffer.from(text).toString('latin1')

test('an object without a content type is binary/octet-stream', () => {
  assert.deepEqual(readMetadata(headersOf({})), { contentType: 'binary/octet-stream', user: {} })
  assert.equal(readMetadata(headersOf({ 'Content-Type': '' })).contentType, 'binary/octet-stream')
})

test('content headers and user metadata come back as they were sent', () => {
  const sent = {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'max-age=5',
    'content-disposition': `attachment; filename="${raw('übung.txt')}"`,
    'content-encoding': 'gzip',
    'content-language': 'de',
    expires: 'Thu, 01 Dec 2030 16:00:00 GMT',
    'x-amz-meta-colour': 'blue',
    'x-amz-meta-name': raw('Žluťoučký 🐎'),
  }
  const metadata = readMetadata(headersOf({ ...sent, 'X-Other': 'x' }))
  assert.deepEqual(metadata.user, { colour: 'blue', name: 'Žluťoučký 🐎' })
  assert.deepEqual(metadataHeaders(metadata), sent)
})

test('names of user metadata are lower case, repeated headers are joined', () => {
  assert.deepEqual(readMetadata(headersOf({ 'X-Amz-Meta-Tag': ['a', 'b'] })).user, { tag: 'a,b' })
})

test('a name like one of the language’s own is just a name', () => {
  const { user } = readMetadata(headersOf({ 'x-amz-meta-__proto__': 'x' }))
  assert.deepEqual(Object.entries(user), [['__proto__', 'x']])
})

test('bytes that are not UTF-8 are read as Latin-1, RFC 2047 words are left alone', () => {
  const { user } = readMetadata(headersOf({ 'x-amz-meta-a': 'caf\u00e9', 'x-amz-meta-b': '=?UTF-8?B?w6k=?=' }))
  assert.deepEqual(user, { a: 'café', b: '=?UTF-8?B?w6k=?=' })
})

test('user metadata of 2 KB is kept and one byte more is MetadataTooLarge', () => {
  const value = (length: number): ReturnType<typeof headersOf> => headersOf({ 'x-amz-meta-abc': 'x'.repeat(length) })
  assert.equal(readMetadata(value(2045)).user['abc']?.length, 2045)
  assert.throws(() => readMetadata(value(2046)), { code: 'MetadataTooLarge' })
})

test('aws-chunked is not kept as a content encoding', () => {
  assert.equal(withoutAwsChunked('aws-chunked'), undefined)
  assert.equal(withoutAwsChunked('gzip,aws-chunked'), 'gzip')
  assert.equal(withoutAwsChunked('AWS-Chunked, gzip, br'), 'gzip,br')
  assert.equal(withoutAwsChunked('gzip, br'), 'gzip, br')
  assert.equal(readMetadata(headersOf({ 'Content-Encoding': 'aws-chunked' })).contentEncoding, undefined)
})

test('response parameters replace headers of signed requests only', () => {
  const query = new Map([
    ['response-content-type', 'text/html'],
    ['response-cache-control', 'no-store'],
    ['prefix', 'x'],
  ])
  assert.deepEqual(responseOverrides(query, { isAnonymous: false }), {
    'content-type': 'text/html',
    'cache-control': 'no-store',
  })
  assert.throws(() => responseOverrides(query, { isAnonymous: true }), { code: 'InvalidRequest' })
  assert.deepEqual(responseOverrides(new Map(), { isAnonymous: true }), {})
})

test('a response parameter cannot begin another header', () => {
  const query = new Map([['response-content-type', 'text/html\r\nSet-Cookie: a=b']])
  assert.throws(() => responseOverrides(query, { isAnonymous: false }), { code: 'InvalidArgument' })
})
