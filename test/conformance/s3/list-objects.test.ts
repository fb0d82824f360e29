/** Operations: ListObjects. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bucket } from './bucket.ts'
import { fails, succeeds, type Answer } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()

async function holding(...keys: readonly string[]): Promise<Bucket> {
  const bucket = await s3.bucket()
  await Promise.all(keys.map((key) => bucket.hold(key)))
  return bucket
}

const keysOf = (answer: Answer) => answer.blocks('Contents').flatMap((one) => one.elements('Key'))
const prefixesOf = (answer: Answer) => answer.blocks('CommonPrefixes').flatMap((one) => one.elements('Prefix'))
const list = (bucket: Bucket, query: Readonly<Record<string, string | number>> = {}) =>
  succeeds(bucket.call('GET', { query }))

test('keys are listed with their owner, and what was asked is echoed', async () => {
  const bucket = await holding('a', 'b')
  const answer = await list(bucket)
  assert.deepEqual(keysOf(answer), ['a', 'b'])
  assert.equal(answer.element('Name'), bucket.name)
  assert.equal(answer.element('Marker'), '')
  assert.equal(answer.element('Prefix'), '')
  assert.equal(answer.element('MaxKeys'), '1000')
  assert.equal(answer.element('IsTruncated'), 'false')
  assert.ok((answer.block('Contents').block('Owner').element('ID') ?? '') !== '')
  assert.equal(answer.element('KeyCount'), undefined)
})

test('marker goes on behind a key, whether it is there or not', async () => {
  const bucket = await holding('a', 'b', 'd')
  assert.deepEqual(keysOf(await list(bucket, { marker: 'b' })), ['d'])
  assert.deepEqual(keysOf(await list(bucket, { marker: 'c' })), ['d'])
  assert.equal((await list(bucket, { marker: 'c' })).element('Marker'), 'c')
})

test('NextMarker comes with a delimiter alone; without, the last key goes on', async () => {
  const bucket = await holding('a/1', 'a/2', 'b', 'c')
  const plain = await list(bucket, { 'max-keys': 2 })
  assert.equal(plain.element('IsTruncated'), 'true')
  assert.equal(plain.element('NextMarker'), undefined)
  assert.deepEqual(keysOf(await list(bucket, { marker: 'a/2' })), ['b', 'c'])
  const folded = await list(bucket, { 'max-keys': 1, delimiter: '/' })
  assert.deepEqual(prefixesOf(folded), ['a/'])
  assert.equal(folded.element('NextMarker'), 'a/')
  const next = await list(bucket, { 'max-keys': 1, delimiter: '/', marker: 'a/' })
  assert.deepEqual([keysOf(next), prefixesOf(next)], [['b'], []])
  assert.equal(next.element('NextMarker'), 'b')
})

test('prefix and delimiter fold what lies below', async () => {
  const bucket = await holding('x/a/1', 'x/b', 'y')
  const answer = await list(bucket, { prefix: 'x/', delimiter: '/' })
  assert.deepEqual([keysOf(answer), prefixesOf(answer)], [['x/b'], ['x/a/']])
  assert.equal(answer.element('Delimiter'), '/')
})

test('max-keys 0 lists nothing', async () => {
  const answer = await list(await holding('a'), { 'max-keys': 0 })
  assert.deepEqual(keysOf(answer), [])
  assert.equal(answer.element('IsTruncated'), 'false')
})

test('a control character comes with encoding-type=url [key-control]', async () => {
  const bucket = await holding('a\u0001b')
  assert.equal((await bucket.get('a\u0001b')).status, 200)
  const answer = await list(bucket, { 'encoding-type': 'url' })
  assert.deepEqual(keysOf(answer), ['a%01b'])
})

test('a bucket that is not there answers 404 NoSuchBucket, wrong max-keys 400 InvalidArgument', async () => {
  await fails(s3.unmade().call('GET'), 404, 'NoSuchBucket')
  await fails((await s3.bucket()).call('GET', { query: { 'max-keys': 'x' } }), 400, 'InvalidArgument')
})
