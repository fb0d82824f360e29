/** Operations: ListObjectsV2. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bucket } from './bucket.ts'
import { fails, succeeds, type Answer } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()

async function holding(...keys: readonly string[]): Promise<Bucket> {
  const bucket = await s3.bucket()
  await Promise.all(keys.map((key) => bucket.hold(key, key)))
  return bucket
}

const keysOf = (answer: Answer) => answer.blocks('Contents').flatMap((one) => one.elements('Key'))
const prefixesOf = (answer: Answer) => answer.blocks('CommonPrefixes').flatMap((one) => one.elements('Prefix'))
const list = (bucket: Bucket, query: Readonly<Record<string, string | number>>) =>
  succeeds(bucket.call('GET', { query: { 'list-type': 2, ...query } }))

/** Page after page, by the continuation token. */
async function pages(bucket: Bucket, query: Readonly<Record<string, string | number>>): Promise<string[][]> {
  const found: string[][] = []
  let token: string | undefined
  do {
    const answer = await list(bucket, { ...query, ...(token === undefined ? {} : { 'continuation-token': token }) })
    found.push([...keysOf(answer), ...prefixesOf(answer)])
    assert.equal(answer.element('KeyCount'), String(found.at(-1)?.length))
    token = answer.element('NextContinuationToken')
    assert.equal(answer.element('IsTruncated'), String(token !== undefined))
  } while (token !== undefined && found.length < 20)
  return found
}

test('prefix, delimiter, max-keys, start-after and continuation say what is listed, KeyCount how much [listv2]', async () => {
  const bucket = await holding('a', 'b/1', 'b/2', 'c/1', 'd')
  const whole = await list(bucket, {})
  assert.deepEqual(keysOf(whole), ['a', 'b/1', 'b/2', 'c/1', 'd'])
  assert.equal(whole.element('KeyCount'), '5')
  assert.equal(whole.element('MaxKeys'), '1000')
  assert.equal(whole.element('IsTruncated'), 'false')
  assert.equal(whole.element('Name'), bucket.name)
  const folded = await list(bucket, { delimiter: '/' })
  assert.deepEqual(
    [keysOf(folded), prefixesOf(folded)],
    [
      ['a', 'd'],
      ['b/', 'c/'],
    ],
  )
  assert.equal(folded.element('Delimiter'), '/')
  assert.equal(folded.element('KeyCount'), '4')
  assert.deepEqual(keysOf(await list(bucket, { prefix: 'b/' })), ['b/1', 'b/2'])
  const after = await list(bucket, { 'start-after': 'b/1' })
  assert.deepEqual(keysOf(after), ['b/2', 'c/1', 'd'])
  assert.equal(after.element('StartAfter'), 'b/1')
  assert.deepEqual(await pages(bucket, { 'max-keys': 2 }), [['a', 'b/1'], ['b/2', 'c/1'], ['d']])
})

test('each object has key, time, ETag, size and storage class', async () => {
  const bucket = await s3.bucket()
  const etag = await bucket.hold('key', 'four')
  const one = (await list(bucket, {})).block('Contents')
  assert.equal(one.element('Key'), 'key')
  assert.equal(one.element('ETag'), etag)
  assert.equal(one.element('Size'), '4')
  assert.equal(one.element('StorageClass'), 'STANDARD')
  assert.match(one.element('LastModified') ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

test('the owner comes with fetch-owner=true alone', async () => {
  const bucket = await holding('key')
  assert.deepEqual((await list(bucket, {})).blocks('Owner'), [])
  const answer = await list(bucket, { 'fetch-owner': 'true' })
  assert.ok((answer.block('Contents').block('Owner').element('ID') ?? '') !== '')
})

test('x-amz-optional-object-attributes: RestoreStatus is taken, and nothing is said of what was never archived', async () => {
  const bucket = await holding('key')
  const headers = { 'x-amz-optional-object-attributes': 'RestoreStatus' }
  const answer = await succeeds(bucket.call('GET', { query: { 'list-type': 2 }, headers }))
  assert.deepEqual(keysOf(answer), ['key'])
  assert.deepEqual(answer.blocks('RestoreStatus'), [])
})

test('pages with a delimiter show every key and every prefix once', async () => {
  const bucket = await holding('a/1', 'a/2', 'b', 'c/1', 'c/2', 'd', 'e/1')
  for (const size of [1, 2, 3]) {
    const found = (await pages(bucket, { delimiter: '/', 'max-keys': size })).flat()
    assert.deepEqual(found.toSorted(), ['a/', 'b', 'c/', 'd', 'e/'], `pages of ${size}`)
  }
})

test('a delimiter counts after the prefix, and may be of several characters', async () => {
  const bucket = await holding('x/a/1', 'x/a/2', 'x/b', 'x--y--z', 'x--w')
  const inside = await list(bucket, { prefix: 'x/', delimiter: '/' })
  assert.deepEqual([keysOf(inside), prefixesOf(inside)], [['x/b'], ['x/a/']])
  const dashes = await list(bucket, { delimiter: '--' })
  assert.deepEqual([keysOf(dashes), prefixesOf(dashes)], [['x/a/1', 'x/a/2', 'x/b'], ['x--']])
})

test('start-after a name that begins a folded prefix shows the prefix, after its last key no more', async () => {
  const bucket = await holding('a/1', 'a/2', 'b')
  assert.deepEqual(prefixesOf(await list(bucket, { delimiter: '/', 'start-after': 'a' })), ['a/'])
  assert.deepEqual(prefixesOf(await list(bucket, { delimiter: '/', 'start-after': 'a/2' })), [])
})

test('max-keys 0 lists nothing and is not truncated, over 1,000 counts as 1,000', async () => {
  const bucket = await holding('a')
  const none = await list(bucket, { 'max-keys': 0 })
  assert.deepEqual(keysOf(none), [])
  assert.equal(none.element('IsTruncated'), 'false')
  assert.equal((await list(bucket, { 'max-keys': 5000 })).element('MaxKeys'), '1000')
})

test('keys are in the order of their UTF-8 bytes', async () => {
  // U+FF5E sorts before U+1F600 as bytes, and after it as UTF-16.
  const bucket = await holding('b', 'B', 'a', 'ä', '～', '😀', 'a/', 'a!', 'a0')
  const sorted = ['B', 'a', 'a!', 'a/', 'a0', 'b', 'ä', '～', '😀']
  assert.deepEqual(keysOf(await list(bucket, {})), sorted)
})

test('encoding-type=url encodes keys, prefixes and what was asked, and says so', async () => {
  const bucket = await holding('a b/ä+%', 'c d')
  const answer = await list(bucket, { 'encoding-type': 'url', delimiter: '/', prefix: '' })
  assert.equal(answer.element('EncodingType'), 'url')
  assert.deepEqual(keysOf(answer).map(decode), ['c d'])
  assert.deepEqual(prefixesOf(answer).map(decode), ['a b/'])
  assert.match(keysOf(answer)[0] ?? '', /^c(\+|%20)d$/)
  const inside = await list(bucket, { 'encoding-type': 'url', prefix: 'a b/' })
  assert.match(keysOf(inside)[0] ?? '', /^a(\+|%20)b\/%C3%A4%2B%25$/)
  assert.equal(decode(inside.blocks('Prefix')[0]?.text ?? ''), 'a b/')
  await fails(bucket.call('GET', { query: { 'list-type': 2, 'encoding-type': 'base64' } }), 400, 'InvalidArgument')
})

test('a continuation token goes before start-after, and is echoed', async () => {
  const bucket = await holding('a', 'b', 'c')
  const token = (await list(bucket, { 'max-keys': 2 })).element('NextContinuationToken') ?? ''
  const next = await list(bucket, { 'continuation-token': token, 'start-after': 'a' })
  assert.deepEqual(keysOf(next), ['c'])
  assert.equal(next.element('ContinuationToken'), token)
})

test('an empty continuation token, as of a program before its first page, begins at the beginning', async () => {
  const bucket = await holding('a', 'b')
  const answer = await list(bucket, { 'continuation-token': '' })
  assert.deepEqual(keysOf(answer), ['a', 'b'])
  assert.equal(answer.element('ContinuationToken'), '')
})

test('keys that are deleted between two pages do not hide others', async () => {
  const keys = Array.from({ length: 12 }, (_, at) => `k${String(at).padStart(2, '0')}`)
  const bucket = await holding(...keys)
  const first = await list(bucket, { 'max-keys': 4 })
  for (const key of keys.slice(0, 6)) await bucket.delete(key)
  const token = first.element('NextContinuationToken') ?? ''
  assert.deepEqual(keysOf(await list(bucket, { 'continuation-token': token })), keys.slice(6))
})

test('more than 1,000 keys come in pages, none left out, none twice', async () => {
  const bucket = await s3.bucket()
  const keys = Array.from({ length: 1100 }, (_, at) => `key-${String(at).padStart(5, '0')}`)
  for (let at = 0; at < keys.length; at += 100) {
    await Promise.all(keys.slice(at, at + 100).map((key) => bucket.hold(key)))
  }
  const found = await pages(bucket, {})
  assert.deepEqual(
    found.map((page) => page.length),
    [1000, 100],
  )
  assert.deepEqual(found.flat(), keys)
})

test('delete markers and older versions are not listed', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  for (const key of ['a', 'b', 'b']) await bucket.hold(key)
  await bucket.delete('a')
  assert.deepEqual(keysOf(await list(bucket, {})), ['b'])
})

test('wrong max-keys, and a token that nobody gave out, answer 400 InvalidArgument', async () => {
  const bucket = await holding('a')
  for (const query of [{ 'max-keys': -1 }, { 'max-keys': 'x' }, { 'continuation-token': '!!' }]) {
    await fails(bucket.call('GET', { query: { 'list-type': 2, ...query } }), 400, 'InvalidArgument')
  }
})

function decode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '))
}
