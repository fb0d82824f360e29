/** Operations: DeleteBucket. */
import { test } from 'node:test'
import { fails, succeeds } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()

test('an empty bucket goes with 204, and is gone', async () => {
  const bucket = await s3.bucket()
  await succeeds(bucket.call('DELETE'), 204)
  await fails(bucket.call('HEAD'), 404)
  await fails(bucket.call('DELETE'), 404, 'NoSuchBucket')
})

test('a bucket with an object answers 409 BucketNotEmpty', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key')
  await fails(bucket.call('DELETE'), 409, 'BucketNotEmpty')
})

test('a bucket with nothing but a delete marker answers 409 BucketNotEmpty', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  await succeeds(bucket.delete('absent'), 204)
  await fails(bucket.call('DELETE'), 409, 'BucketNotEmpty')
})

test('open uploads go with a bucket that is empty, and stay in one that is not', async () => {
  const bucket = await s3.bucket()
  const uploadId = await bucket.begin('upload')
  await bucket.part('upload', uploadId, 1, 'part')
  await bucket.hold('key')
  await fails(bucket.call('DELETE'), 409, 'BucketNotEmpty')
  await succeeds(bucket.call('GET', { key: 'upload', query: { uploadId } }))
  await succeeds(bucket.delete('key'), 204)
  // More than one commit aborts.
  await Promise.all(Array.from({ length: 120 }, (_, at) => bucket.begin(`upload-${at}`)))
  await succeeds(bucket.call('DELETE'), 204)
  await fails(bucket.call('HEAD'), 404)
})

test('a bucket of the same name can be made anew, and is empty', async () => {
  const bucket = await s3.bucket()
  await bucket.setVersioning('Enabled')
  await succeeds(bucket.call('DELETE'), 204)
  await succeeds(bucket.call('PUT'))
  const { text } = await succeeds(bucket.read('versioning'))
  if (text.includes('<Status>')) throw new Error(`The new bucket has the settings of the old one: ${text}`)
})

test('a user whom nothing allows gets 403 AccessDenied', { skip: s3.lacksOther }, async () => {
  const bucket = await s3.bucket()
  await fails(bucket.call('DELETE', { as: s3.other }), 403, 'AccessDenied')
  await succeeds(bucket.call('HEAD'))
})
