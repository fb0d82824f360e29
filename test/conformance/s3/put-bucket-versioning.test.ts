/** Operations: PutBucketVersioning, GetBucketVersioning. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const document = (inside: string) => `<VersioningConfiguration>${inside}</VersioningConfiguration>`

test('a bucket that never had versions has no Status', async () => {
  const answer = await succeeds((await s3.bucket()).read('versioning'))
  assert.match(answer.text, /<VersioningConfiguration/)
  assert.equal(answer.element('Status'), undefined)
})

test('versions are switched on and suspended, and the state is told', async () => {
  const bucket = await s3.bucket()
  for (const state of ['Enabled', 'Suspended', 'Enabled'] as const) {
    await bucket.setVersioning(state)
    assert.equal((await succeeds(bucket.read('versioning'))).element('Status'), state)
  }
})

test('objects from before have the version null, and stay when they are replaced', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'before')
  await bucket.setVersioning('Enabled')
  await bucket.hold('key', 'after')
  assert.equal((await bucket.get('key', {}, { versionId: 'null' })).text, 'before')
  assert.equal((await bucket.get('key')).text, 'after')
})

test('while suspended, writes replace the version null and leave the others', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  const kept = (await bucket.put('key', 'kept')).must('x-amz-version-id')
  await bucket.setVersioning('Suspended')
  for (const body of ['first', 'second']) {
    assert.equal((await succeeds(bucket.put('key', body))).header('x-amz-version-id'), undefined)
  }
  const listed = await bucket.versions()
  assert.deepEqual(listed.elements('VersionId'), ['null', kept])
  assert.equal((await bucket.get('key', {}, { versionId: kept })).text, 'kept')
})

test('while suspended, writes of every kind tell no version, reads and deletes tell the version null', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  const kept = await bucket.put('source', 'kept')
  const versionId = kept.must('x-amz-version-id')
  await bucket.setVersioning('Suspended')
  const copied = await succeeds(bucket.copy(`source?versionId=${versionId}`, 'copy'))
  assert.equal(copied.header('x-amz-version-id'), undefined)
  assert.equal(copied.header('x-amz-copy-source-version-id'), versionId)
  const id = await bucket.begin('parts')
  const completed = await succeeds(bucket.complete('parts', id, [await bucket.part('parts', id, 1, 'x')]))
  assert.equal(completed.header('x-amz-version-id'), undefined)
  const repeated = await succeeds(bucket.complete('parts', id, [{ number: 1, etag: '"x"' }]))
  assert.equal(repeated.header('x-amz-version-id'), undefined)
  for (const key of ['copy', 'parts']) {
    assert.equal((await succeeds(bucket.head(key))).header('x-amz-version-id'), 'null')
    const tags = '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>'
    const tagged = await succeeds(bucket.configureObject(key, 'tagging', tags))
    assert.equal(tagged.header('x-amz-version-id'), 'null')
    const deleted = await succeeds(bucket.delete(key), 204)
    assert.deepEqual([deleted.header('x-amz-delete-marker'), deleted.header('x-amz-version-id')], ['true', 'null'])
  }
})

test('a document without Status answers 400 IllegalVersioningConfigurationException', async () => {
  const bucket = await s3.bucket()
  await fails(bucket.configure('versioning', document('')), 400, 'IllegalVersioningConfigurationException')
})

test('another Status, or no XML, answers 400 MalformedXML', async () => {
  const bucket = await s3.bucket()
  await fails(bucket.configure('versioning', document('<Status>enabled</Status>')), 400, 'MalformedXML')
  await fails(bucket.configure('versioning', 'Enabled'), 400, 'MalformedXML')
  assert.equal((await bucket.read('versioning')).element('Status'), undefined)
})

test('a bucket with object lock keeps its versions: suspending answers 409 InvalidBucketState', async () => {
  const bucket = await s3.bucket({ hasObjectLock: true })
  await fails(bucket.configure('versioning', document('<Status>Suspended</Status>')), 409, 'InvalidBucketState')
})

test('a bucket that is not there answers 404 NoSuchBucket', async () => {
  await fails(s3.unmade().read('versioning'), 404, 'NoSuchBucket')
  await fails(s3.unmade().configure('versioning', document('<Status>Enabled</Status>')), 404, 'NoSuchBucket')
})
