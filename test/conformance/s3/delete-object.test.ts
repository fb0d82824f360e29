/** Operations: DeleteObject. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()

test('an object goes with 204, and so does one that is not there', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key')
  await succeeds(bucket.delete('key'), 204)
  await fails(bucket.get('key'), 404, 'NoSuchKey')
  await succeeds(bucket.delete('key'), 204)
})

test('a bucket that is not there answers 404 NoSuchBucket', async () => {
  await fails(s3.unmade().delete('key'), 404, 'NoSuchBucket')
})

test('with versions a marker is put on top, and taking it away brings the object back', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  await bucket.hold('key', 'kept')
  const deleted = await succeeds(bucket.delete('key'), 204)
  assert.equal(deleted.header('x-amz-delete-marker'), 'true')
  const versionId = deleted.must('x-amz-version-id')
  await fails(bucket.get('key'), 404, 'NoSuchKey')
  const undone = await succeeds(bucket.delete('key', {}, { versionId }), 204)
  assert.equal(undone.header('x-amz-delete-marker'), 'true')
  assert.equal(undone.header('x-amz-version-id'), versionId)
  assert.equal((await bucket.get('key')).text, 'kept')
})

test('a given version goes for good, and the one before it becomes current', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  await bucket.hold('key', 'first')
  const versionId = (await bucket.put('key', 'second')).must('x-amz-version-id')
  const deleted = await succeeds(bucket.delete('key', {}, { versionId }), 204)
  assert.equal(deleted.header('x-amz-version-id'), versionId)
  assert.equal(deleted.header('x-amz-delete-marker'), undefined)
  assert.equal((await bucket.get('key')).text, 'first')
  await succeeds(bucket.delete('key', {}, { versionId }), 204)
})

test('while versions are suspended the marker has the version null and replaces it', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  const kept = (await bucket.put('key', 'kept')).must('x-amz-version-id')
  await bucket.setVersioning('Suspended')
  await bucket.hold('key', 'null')
  const deleted = await succeeds(bucket.delete('key'), 204)
  assert.equal(deleted.header('x-amz-version-id'), 'null')
  const listed = await bucket.versions()
  assert.deepEqual(listed.block('DeleteMarker').elements('VersionId'), ['null'])
  assert.deepEqual(listed.block('Version').elements('VersionId'), [kept])
})

test('If-Match with another ETag answers 412 PreconditionFailed, and the object stays [delete-if-match-412]', async () => {
  const bucket = await s3.bucket()
  const etag = await bucket.hold('key', 'x')
  await fails(bucket.delete('key', { 'if-match': '"other"' }), 412, 'PreconditionFailed')
  assert.equal((await bucket.get('key')).text, 'x')
  await succeeds(bucket.delete('key', { 'if-match': etag }), 204)
  await fails(bucket.head('key'), 404)
})

test('If-Match * deletes what is there, and fails where nothing is', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  await succeeds(bucket.delete('key', { 'if-match': '*' }), 204)
  const { status } = await bucket.delete('key', { 'if-match': '*' })
  assert.ok([404, 412].includes(status), `${status}`)
})

test('x-amz-if-match-size wants the size, x-amz-if-match-last-modified-time the time', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'four')
  const modified = (await bucket.head('key')).must('last-modified')
  const time = 'x-amz-if-match-last-modified-time'
  await fails(bucket.delete('key', { 'x-amz-if-match-size': '5' }), 412, 'PreconditionFailed')
  await fails(bucket.delete('key', { [time]: 'Thu, 01 Dec 2011 16:00:00 GMT' }), 412, 'PreconditionFailed')
  assert.equal((await bucket.get('key')).text, 'four')
  await succeeds(bucket.delete('key', { 'x-amz-if-match-size': '4', [time]: modified }), 204)
})

test('with a version the conditions look at that version', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  const first = await succeeds(bucket.put('key', 'first'))
  const current = await bucket.hold('key', 'second')
  const query = { versionId: first.must('x-amz-version-id') }
  await fails(bucket.delete('key', { 'if-match': current }, query), 412, 'PreconditionFailed')
  await succeeds(bucket.delete('key', { 'if-match': first.must('etag') }, query), 204)
})

test('who may delete objects may not delete versions by that', { skip: s3.lacksOther }, async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  const versionId = (await bucket.put('key', 'x')).must('x-amz-version-id')
  const statement = {
    Effect: 'Allow',
    Principal: { AWS: s3.other.principal },
    Action: 's3:DeleteObject',
    Resource: `arn:aws:s3:::${bucket.name}/*`,
  }
  const policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
  await succeeds(bucket.call('PUT', { query: 'policy', body: policy }), [200, 204])
  await fails(bucket.call('DELETE', { key: 'key', query: { versionId }, as: s3.other }), 403, 'AccessDenied')
  await succeeds(bucket.call('DELETE', { key: 'key', as: s3.other }), 204)
})
