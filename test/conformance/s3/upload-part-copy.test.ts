/** Operations: UploadPartCopy. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bucket } from './bucket.ts'
import { fails, succeeds, type Answer } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()

function copyPart(
  bucket: Bucket,
  upload: { id: string; number: number },
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const query = { partNumber: upload.number, uploadId: upload.id }
  return bucket.call('PUT', { key: 'to', query, headers: { 'x-amz-copy-source': `/${bucket.name}/from`, ...headers } })
}

async function etagOf(answer: Promise<Answer>): Promise<string> {
  const etag = (await succeeds(answer)).block('CopyPartResult').element('ETag')
  assert.ok(etag !== undefined)
  return etag
}

test('parts are copied whole and by range [upload-part-copy-range]', async () => {
  const bucket = await s3.bucket()
  const bytes = Buffer.from(Array.from({ length: 5 * 2 ** 20 + 100 }, (_, at) => at % 251))
  await bucket.hold('from', bytes)
  const id = await bucket.begin('to')
  const whole = await etagOf(copyPart(bucket, { id, number: 1 }, {}))
  const range = { 'x-amz-copy-source-range': 'bytes=100-199' }
  const some = await etagOf(copyPart(bucket, { id, number: 2 }, range))
  await succeeds(
    bucket.complete('to', id, [
      { number: 1, etag: whole },
      { number: 2, etag: some },
    ]),
  )
  const copied = (await succeeds(bucket.get('to'))).body
  assert.ok(copied.equals(Buffer.concat([bytes, bytes.subarray(100, 200)])))
})

test('the answer has ETag and LastModified, and the version of the source', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  const version = (await bucket.put('from', 'x')).must('x-amz-version-id')
  const id = await bucket.begin('to')
  const answer = await succeeds(copyPart(bucket, { id, number: 1 }, {}))
  assert.match(answer.element('LastModified') ?? '', /^\d{4}-\d\d-\d\dT/)
  assert.equal(answer.header('x-amz-copy-source-version-id'), version)
})

test('a range past the end, or in another form, is refused', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('from', '0123456789')
  const id = await bucket.begin('to')
  for (const range of ['bytes=0-10', 'bytes=5-', 'bytes=-5', '0-5', 'bytes=5-2']) {
    const { status } = await copyPart(bucket, { id, number: 1 }, { 'x-amz-copy-source-range': range })
    assert.ok([400, 416].includes(status), `${range}: ${status}`)
  }
})

test('conditions on the source that do not hold answer 412 PreconditionFailed', async () => {
  const bucket = await s3.bucket()
  const etag = await bucket.hold('from', 'x')
  const id = await bucket.begin('to')
  const when = 'x-amz-copy-source-if'
  await fails(copyPart(bucket, { id, number: 1 }, { [`${when}-match`]: '"other"' }), 412, 'PreconditionFailed')
  await fails(copyPart(bucket, { id, number: 1 }, { [`${when}-none-match`]: etag }), 412, 'PreconditionFailed')
  await succeeds(copyPart(bucket, { id, number: 1 }, { [`${when}-match`]: etag }))
})

test('parts come from other buckets and from older versions', async () => {
  const [from, bucket] = [await s3.bucket({ isVersioned: true }), await s3.bucket()]
  const old = (await from.put('from', 'old')).must('x-amz-version-id')
  await from.hold('from', 'new')
  const id = await bucket.begin('to')
  const headers = { 'x-amz-copy-source': `/${from.name}/from?versionId=${old}` }
  const etag = await etagOf(copyPart(bucket, { id, number: 1 }, headers))
  await succeeds(bucket.complete('to', id, [{ number: 1, etag }]))
  assert.equal((await bucket.get('to')).text, 'old')
})

test('a source or an upload that is not there answers 404', async () => {
  const bucket = await s3.bucket()
  const id = await bucket.begin('to')
  await fails(copyPart(bucket, { id, number: 1 }, {}), 404, 'NoSuchKey')
  await bucket.hold('from', 'x')
  await fails(copyPart(bucket, { id: 'nothing', number: 1 }, {}), 404, 'NoSuchUpload')
})
