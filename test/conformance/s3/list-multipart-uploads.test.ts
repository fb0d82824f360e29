/** Operations: ListMultipartUploads. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { fails, succeeds } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()

/** Times have milliseconds: uploads of one are in any order. */
const nextMs = () => setTimeout(2)

test('uploads are listed by key and then by the time they began', async () => {
  const bucket = await s3.bucket()
  const b = await bucket.begin('b')
  const a1 = await bucket.begin('a')
  await nextMs()
  const a2 = await bucket.begin('a')
  const answer = await succeeds(bucket.read('uploads'))
  const uploads = answer.blocks('Upload')
  assert.deepEqual(
    uploads.map((one) => one.element('Key')),
    ['a', 'a', 'b'],
  )
  assert.deepEqual(
    uploads.map((one) => one.element('UploadId')),
    [a1, a2, b],
  )
  for (const one of uploads) {
    assert.equal(one.element('StorageClass'), 'STANDARD')
    assert.match(one.element('Initiated') ?? '', /^\d{4}-\d\d-\d\dT/)
    assert.ok((one.block('Owner').element('ID') ?? '') !== '')
    assert.ok((one.block('Initiator').element('ID') ?? '') !== '')
  }
  assert.equal(answer.element('IsTruncated'), 'false')
  assert.equal(answer.element('MaxUploads'), '1000')
})

test('key-marker with upload-id-marker pages, also through one key', async () => {
  const bucket = await s3.bucket()
  const first = await bucket.begin('a')
  await nextMs()
  const ids = [first, await bucket.begin('a'), await bucket.begin('b')]
  const found: string[] = []
  let from: Record<string, string> = {}
  for (let page = 0; page < 5; page += 1) {
    const answer = await succeeds(bucket.call('GET', { query: { uploads: '', 'max-uploads': 1, ...from } }))
    found.push(...answer.blocks('Upload').flatMap((one) => one.elements('UploadId')))
    if (answer.element('IsTruncated') === 'false') break
    from = {
      'key-marker': answer.element('NextKeyMarker') ?? '',
      'upload-id-marker': answer.element('NextUploadIdMarker') ?? '',
    }
  }
  assert.deepEqual(found, ids)
})

test('an upload-id-marker that is no id, or that of another key, answers 400 InvalidArgument', async () => {
  const bucket = await s3.bucket()
  await bucket.begin('a')
  const other = await bucket.begin('b')
  const list = (query: Record<string, string>) => bucket.call('GET', { query: { uploads: '', ...query } })
  for (const marker of ['nothing', '0f8fad5b-d9cb-469f-a165-70867728950e', other]) {
    const answer = await fails(list({ 'key-marker': 'a', 'upload-id-marker': marker }), 400, 'InvalidArgument')
    assert.equal(answer.element('ArgumentName'), 'upload-id-marker')
  }
  // Without a key-marker it means nothing.
  const all = await succeeds(list({ 'upload-id-marker': 'nothing' }))
  assert.deepEqual(
    all.blocks('Upload').flatMap((one) => one.elements('Key')),
    ['a', 'b'],
  )
})

test('whoever aborts the uploads of a page goes on with the next one', async () => {
  const bucket = await s3.bucket()
  const first = await bucket.begin('a')
  await nextMs()
  for (const key of ['a', 'b']) await bucket.begin(key)
  await succeeds(bucket.call('DELETE', { key: 'a', query: { uploadId: first } }), 204)
  const query = { uploads: '', 'key-marker': 'a', 'upload-id-marker': first }
  const rest = await succeeds(bucket.call('GET', { query }))
  assert.deepEqual(
    rest.blocks('Upload').flatMap((one) => one.elements('Key')),
    ['a', 'b'],
  )
})

test('prefix filters, delimiter folds', async () => {
  const bucket = await s3.bucket()
  for (const key of ['a/1', 'a/2', 'b', 'c']) await bucket.begin(key)
  const folded = await succeeds(bucket.call('GET', { query: { uploads: '', delimiter: '/' } }))
  assert.deepEqual(
    folded.blocks('Upload').map((one) => one.element('Key')),
    ['b', 'c'],
  )
  assert.deepEqual(
    folded.blocks('CommonPrefixes').map((one) => one.element('Prefix')),
    ['a/'],
  )
  const inside = await succeeds(bucket.call('GET', { query: { uploads: '', prefix: 'a/' } }))
  assert.deepEqual(
    inside.blocks('Upload').map((one) => one.element('Key')),
    ['a/1', 'a/2'],
  )
})

test('completed and aborted uploads are gone from the list, and uploads are not objects', async () => {
  const bucket = await s3.bucket()
  const done = await bucket.begin('done')
  await succeeds(bucket.complete('done', done, [await bucket.part('done', done, 1, 'x')]))
  const dropped = await bucket.begin('dropped')
  await succeeds(bucket.call('DELETE', { key: 'dropped', query: { uploadId: dropped } }), 204)
  await bucket.begin('open')
  assert.deepEqual(
    (await bucket.read('uploads')).blocks('Upload').map((one) => one.element('Key')),
    ['open'],
  )
  assert.deepEqual(await bucket.keys(), ['done'])
})

test('the algorithm and the type of the checksum are told', async () => {
  const bucket = await s3.bucket()
  await bucket.begin('key', { 'x-amz-checksum-algorithm': 'CRC32', 'x-amz-checksum-type': 'FULL_OBJECT' })
  const upload = (await bucket.read('uploads')).block('Upload')
  assert.equal(upload.element('ChecksumAlgorithm'), 'CRC32')
  assert.equal(upload.element('ChecksumType'), 'FULL_OBJECT')
})

test('a bucket that is not there answers 404 NoSuchBucket', async () => {
  await fails(s3.unmade().read('uploads'), 404, 'NoSuchBucket')
})
