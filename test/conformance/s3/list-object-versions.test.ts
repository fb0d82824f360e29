/** Operations: ListObjectVersions. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bucket } from './bucket.ts'
import { fails, succeeds } from './http.ts'
import { openEndpoint } from './target.ts'
import type { Xml } from './xml.ts'

const s3 = await openEndpoint()

/** `a` twice, `b` once and deleted, `c/1`. */
async function history(): Promise<{ bucket: Bucket; ids: Record<string, string> }> {
  const bucket = await s3.bucket({ isVersioned: true })
  const put = async (key: string, body: string) => (await succeeds(bucket.put(key, body))).must('x-amz-version-id')
  const ids = { a1: await put('a', '1'), a2: await put('a', '22'), b1: await put('b', '333'), bGone: '', c: '' }
  ids.bGone = (await succeeds(bucket.delete('b'), 204)).must('x-amz-version-id')
  ids.c = await put('c/1', '')
  return { bucket, ids }
}

/** Versions and markers as they stand in the answer. */
function entries(answer: Xml): string[] {
  return [...answer.text.matchAll(/<(Version|DeleteMarker)>([\s\S]*?)<\/\1>/g)].map(
    ([, , inside = '']) => /<VersionId>(.*?)<\/VersionId>/.exec(inside)?.[1] ?? '',
  )
}

test('versions and delete markers are listed, newest first, and the 404 tells of the marker [versions]', async () => {
  const { bucket, ids } = await history()
  const answer = await bucket.versions()
  assert.deepEqual(entries(answer), [ids['a2'], ids['a1'], ids['bGone'], ids['b1'], ids['c']])
  assert.deepEqual(
    answer.blocks('Version').map((one) => [one.element('Key'), one.element('IsLatest'), one.element('Size')]),
    [
      ['a', 'true', '2'],
      ['a', 'false', '1'],
      ['b', 'false', '3'],
      ['c/1', 'true', '0'],
    ],
  )
  const [marker] = answer.blocks('DeleteMarker')
  assert.deepEqual([marker?.element('Key'), marker?.element('IsLatest')], ['b', 'true'])
  assert.equal(marker?.element('Size'), undefined)
  for (const one of [...answer.blocks('Version'), ...answer.blocks('DeleteMarker')]) {
    assert.ok((one.block('Owner').element('ID') ?? '') !== '')
    assert.match(one.element('LastModified') ?? '', /^\d{4}-\d\d-\d\dT/)
  }
  assert.equal((await fails(bucket.get('b'), 404, 'NoSuchKey')).header('x-amz-delete-marker'), 'true')
})

test('key-marker with version-id-marker goes on in the middle of a key', async () => {
  const { bucket, ids } = await history()
  for (const size of [1, 2, 3, 4]) {
    const found: string[] = []
    let query: Record<string, string | number> = { 'max-keys': size }
    for (let page = 0; page < 10; page += 1) {
      const answer = await bucket.versions(query)
      found.push(...entries(answer))
      if (answer.element('IsTruncated') === 'false') break
      const [key, version] = [answer.element('NextKeyMarker'), answer.element('NextVersionIdMarker')]
      query = { 'max-keys': size, 'key-marker': key ?? '', 'version-id-marker': version ?? '' }
    }
    assert.deepEqual(found, [ids['a2'], ids['a1'], ids['bGone'], ids['b1'], ids['c']], `pages of ${size}`)
  }
})

test('key-marker alone goes on behind the key', async () => {
  const { bucket, ids } = await history()
  const answer = await bucket.versions({ 'key-marker': 'a' })
  assert.deepEqual(entries(answer), [ids['bGone'], ids['b1'], ids['c']])
  assert.equal(answer.element('KeyMarker'), 'a')
})

test('version-id-marker without key-marker answers 400 InvalidArgument', async () => {
  const { bucket, ids } = await history()
  const query = { versions: '', 'version-id-marker': ids['a1'] ?? '' }
  await fails(bucket.call('GET', { query }), 400, 'InvalidArgument')
})

test('a version-id-marker that cannot be the name of a version answers 400 InvalidArgument', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  await bucket.hold('a')
  const query = { versions: '', 'key-marker': 'a', 'version-id-marker': 'no-version' }
  await fails(bucket.call('GET', { query }), 400, 'InvalidArgument')
})

test('who deletes what each page shows, and goes on, deletes all', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  for (const key of ['a', 'a', 'a', 'b/1', 'b/2']) await bucket.hold(key)
  await bucket.delete('a')
  let marker: Record<string, string> = {}
  for (;;) {
    const page = await succeeds(bucket.call('GET', { query: { versions: '', 'max-keys': 2, ...marker } }))
    for (const row of [...page.blocks('Version'), ...page.blocks('DeleteMarker')]) {
      const versionId = row.element('VersionId') ?? ''
      await succeeds(bucket.call('DELETE', { key: row.element('Key') ?? '', query: { versionId } }), 204)
    }
    if (page.element('IsTruncated') === 'false') break
    marker = {
      'key-marker': page.element('NextKeyMarker') ?? '',
      'version-id-marker': page.element('NextVersionIdMarker') ?? '',
    }
  }
  await succeeds(bucket.call('DELETE'), 204)
})

test('prefix and delimiter fold what lies below', async () => {
  const { bucket, ids } = await history()
  const folded = await bucket.versions({ delimiter: '/' })
  assert.deepEqual(
    folded.blocks('CommonPrefixes').flatMap((one) => one.elements('Prefix')),
    ['c/'],
  )
  assert.equal(entries(folded).includes(ids['c'] ?? ''), false)
  assert.deepEqual(entries(await bucket.versions({ prefix: 'a' })), [ids['a2'], ids['a1']])
})

test('a bucket that never had versions lists its objects with the version null', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key')
  const answer = await bucket.versions()
  assert.deepEqual(answer.elements('VersionId'), ['null'])
  assert.deepEqual(answer.elements('IsLatest'), ['true'])
})
