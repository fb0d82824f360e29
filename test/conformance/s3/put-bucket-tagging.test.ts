/** Operations: PutBucketTagging, GetBucketTagging, DeleteBucketTagging. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds } from './http.ts'
import { openEndpoint } from './target.ts'
import { escaped } from './xml.ts'

const s3 = await openEndpoint()
/** Amazon's description of the operation says 200, its example 204. */
const done = [200, 204]

function tagging(tags: readonly (readonly [string, string])[]): string {
  const list = tags.map(([key, value]) => `<Tag><Key>${escaped(key)}</Key><Value>${escaped(value)}</Value></Tag>`)
  return `<Tagging><TagSet>${list.join('')}</TagSet></Tagging>`
}

test('tags are put whole, told and removed', async () => {
  const bucket = await s3.bucket()
  await succeeds(
    bucket.configure(
      'tagging',
      tagging([
        ['team', 'a + b/c@d'],
        ['cost', ''],
      ]),
    ),
    done,
  )
  const tags = (await succeeds(bucket.read('tagging'))).blocks('Tag')
  const pairs = tags.map((tag) => [tag.element('Key') ?? '', tag.element('Value') ?? ''] as const)
  assert.deepEqual(
    new Map(pairs),
    new Map([
      ['team', 'a + b/c@d'],
      ['cost', ''],
    ]),
  )
  await succeeds(bucket.configure('tagging', tagging([['only', 'one']])), done)
  assert.deepEqual((await bucket.read('tagging')).elements('Key'), ['only'])
  await succeeds(bucket.call('DELETE', { query: 'tagging' }), 204)
  await fails(bucket.read('tagging'), 404, 'NoSuchTagSet')
})

test('a bucket without tags answers 404 NoSuchTagSet', async () => {
  await fails((await s3.bucket()).read('tagging'), 404, 'NoSuchTagSet')
})

test('50 tags are taken, 51 are refused', async () => {
  const bucket = await s3.bucket()
  const many = (count: number) => tagging(Array.from({ length: count }, (_, at) => [`key${at}`, 'x'] as const))
  await succeeds(bucket.configure('tagging', many(50)), done)
  await fails(bucket.configure('tagging', many(51)), 400)
})

test('a key twice, an empty or too long key, and a too long value answer 400 InvalidTag', async () => {
  const bucket = await s3.bucket()
  const wrong = [
    [
      ['a', '1'],
      ['a', '2'],
    ],
    [['', '1']],
    [['k'.repeat(129), '1']],
    [['a', 'v'.repeat(257)]],
    [['aws:own', '1']],
  ] as const
  for (const tags of wrong) await fails(bucket.configure('tagging', tagging(tags)), 400, 'InvalidTag')
  await fails(bucket.read('tagging'), 404, 'NoSuchTagSet')
})

test('what is no Tagging answers 400 MalformedXML', async () => {
  const bucket = await s3.bucket()
  for (const document of ['<Tagging/>', '<TagSet/>', 'x']) {
    await fails(bucket.configure('tagging', document), 400, 'MalformedXML')
  }
})
