/** Operations: PutObjectLegalHold, GetObjectLegalHold. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bucket } from './bucket.ts'
import { fails, succeeds, type Answer } from './http.ts'
import { md5 } from './sums.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const bypass = { 'x-amz-bypass-governance-retention': 'true' }
const hold = (bucket: Bucket, status: string): Promise<Answer> =>
  bucket.configureObject('key', 'legal-hold', `<LegalHold><Status>${status}</Status></LegalHold>`)

async function held(): Promise<{ bucket: Bucket; versionId: string }> {
  const bucket = await s3.bucket({ hasObjectLock: true })
  const headers = { 'content-md5': md5('x'), 'x-amz-object-lock-legal-hold': 'ON' }
  const versionId = (await succeeds(bucket.put('key', 'x', headers))).must('x-amz-version-id')
  return { bucket, versionId }
}

test('while ON the version cannot be deleted, not even by who bypasses; when OFF it can [legal-hold]', async () => {
  const { bucket, versionId } = await held()
  await fails(bucket.delete('key', {}, { versionId }), 403, 'AccessDenied')
  await fails(bucket.delete('key', bypass, { versionId }), 403, 'AccessDenied')
  assert.equal((await bucket.get('key')).text, 'x')
  await succeeds(hold(bucket, 'OFF'))
  await succeeds(bucket.delete('key', {}, { versionId }), 204)
})

test('it is given back by GetObjectLegalHold and by HEAD', async () => {
  const { bucket } = await held()
  for (const status of ['ON', 'OFF', 'ON']) {
    await succeeds(hold(bucket, status))
    assert.equal((await succeeds(bucket.read('legal-hold', 'key'))).element('Status'), status)
    assert.equal((await bucket.head('key')).header('x-amz-object-lock-legal-hold'), status)
  }
})

test('another status, or no XML, answers 400 MalformedXML', async () => {
  const { bucket } = await held()
  await fails(hold(bucket, 'on'), 400, 'MalformedXML')
  await fails(bucket.configureObject('key', 'legal-hold', 'ON'), 400, 'MalformedXML')
})

test('a bucket without locks answers 400 InvalidRequest', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  await fails(hold(bucket, 'ON'), 400, 'InvalidRequest')
  await fails(bucket.read('legal-hold', 'key'), 400, 'InvalidRequest')
  const headers = { 'content-md5': md5('x'), 'x-amz-object-lock-legal-hold': 'ON' }
  await fails(bucket.put('other', 'x', headers), 400, 'InvalidRequest')
})

test('an object that never had one answers 404 NoSuchObjectLockConfiguration', async () => {
  const bucket = await s3.bucket({ hasObjectLock: true })
  await bucket.hold('key', 'x')
  await fails(bucket.read('legal-hold', 'key'), 404, 'NoSuchObjectLockConfiguration')
  await fails(bucket.read('legal-hold', 'absent'), 404, 'NoSuchKey')
})
