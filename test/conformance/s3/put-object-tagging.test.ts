/** Operations: PutObjectTagging, GetObjectTagging, DeleteObjectTagging. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds } from './http.ts'
import { openEndpoint } from './target.ts'
import { escaped } from './xml.ts'

const s3 = await openEndpoint()

function tagging(tags: readonly (readonly [string, string])[]): string {
  const list = tags.map(([key, value]) => `<Tag><Key>${escaped(key)}</Key><Value>${escaped(value)}</Value></Tag>`)
  return `<Tagging><TagSet>${list.join('')}</TagSet></Tagging>`
}

test('tags are put whole, told and removed, and the object stays as it is', async () => {
  const bucket = await s3.bucket()
  const etag = await bucket.hold('key', 'x', { 'x-amz-meta-a': 'b' })
  await succeeds(
    bucket.configureObject(
      'key',
      'tagging',
      tagging([
        ['team', 'a + b/c@d'],
        ['cost', ''],
      ]),
    ),
  )
  const tags = (await succeeds(bucket.read('tagging', 'key'))).blocks('Tag')
  const pairs = tags.map((tag) => [tag.element('Key') ?? '', tag.element('Value') ?? ''] as const)
  assert.deepEqual(
    new Map(pairs),
    new Map([
      ['team', 'a + b/c@d'],
      ['cost', ''],
    ]),
  )
  const head = await bucket.head('key')
  assert.equal(head.header('etag'), etag)
  assert.equal(head.header('x-amz-meta-a'), 'b')
  assert.equal(head.header('x-amz-tagging-count'), '2')
  await succeeds(bucket.configureObject('key', 'tagging', tagging([['only', 'one']])))
  assert.deepEqual((await bucket.read('tagging', 'key')).elements('Key'), ['only'])
  await succeeds(bucket.delete('key', {}, 'tagging'), 204)
  assert.deepEqual((await succeeds(bucket.read('tagging', 'key'))).elements('Key'), [])
})

test('an object without tags has an empty TagSet', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  const answer = await succeeds(bucket.read('tagging', 'key'))
  assert.match(answer.text, /<TagSet/)
  assert.deepEqual(answer.elements('Tag'), [])
})

test('each version has its tags', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  const versionId = (await bucket.put('key', '1', { 'x-amz-tagging': 'of=first' })).must('x-amz-version-id')
  await bucket.hold('key', '2', { 'x-amz-tagging': 'of=second' })
  const of = async (query: Record<string, string>) =>
    (await succeeds(bucket.call('GET', { key: 'key', query: { tagging: '', ...query } }))).element('Value')
  assert.equal(await of({ versionId }), 'first')
  assert.equal(await of({}), 'second')
  const put = bucket.configureObject('key', { tagging: '', versionId }, tagging([['of', 'changed']]))
  assert.equal((await succeeds(put)).header('x-amz-version-id'), versionId)
  assert.equal(await of({ versionId }), 'changed')
  assert.equal(await of({}), 'second')
})

test('10 tags are taken, 11 are refused', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  const many = (count: number) => tagging(Array.from({ length: count }, (_, at) => [`key${at}`, 'x'] as const))
  await succeeds(bucket.configureObject('key', 'tagging', many(10)))
  await fails(bucket.configureObject('key', 'tagging', many(11)), 400)
})

test('keys of 128 and values of 256 characters are taken, longer ones and doubles answer 400 InvalidTag', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  await succeeds(bucket.configureObject('key', 'tagging', tagging([['k'.repeat(128), 'v'.repeat(256)]])))
  const wrong = [
    [['k'.repeat(129), 'v']],
    [['k', 'v'.repeat(257)]],
    [
      ['k', '1'],
      ['k', '2'],
    ],
  ] as const
  for (const tags of wrong) {
    await fails(bucket.configureObject('key', 'tagging', tagging(tags)), 400, 'InvalidTag')
  }
  assert.deepEqual((await bucket.read('tagging', 'key')).elements('Value'), ['v'.repeat(256)])
})

test('what is no Tagging answers 400 MalformedXML', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  for (const document of ['<TagSet/>', 'x', '<Tagging><TagSet><Tag><Key>a</Key></Tag></TagSet></Tagging>']) {
    await fails(bucket.configureObject('key', 'tagging', document), 400, 'MalformedXML')
  }
})

test('an absent key answers 404 NoSuchKey', async () => {
  const bucket = await s3.bucket()
  await fails(bucket.read('tagging', 'absent'), 404, 'NoSuchKey')
  await fails(bucket.configureObject('absent', 'tagging', tagging([['a', 'b']])), 404, 'NoSuchKey')
  await fails(bucket.delete('absent', {}, 'tagging'), 404, 'NoSuchKey')
})

test('a delete marker has no tags: 404 by its key, 405 by its version', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  await bucket.hold('key', 'x')
  const versionId = (await bucket.delete('key')).must('x-amz-version-id')
  await fails(bucket.read('tagging', 'key'), 404, 'NoSuchKey')
  await fails(bucket.call('GET', { key: 'key', query: { tagging: '', versionId } }), 405, 'MethodNotAllowed')
})
