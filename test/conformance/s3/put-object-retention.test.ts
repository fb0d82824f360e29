/** Operations: PutObjectRetention, GetObjectRetention. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { Bucket } from './bucket.ts'
import { fails, succeeds, type Answer } from './http.ts'
import { md5 } from './sums.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const bypass = { 'x-amz-bypass-governance-retention': 'true' }
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()
const soon = () => inMs(60_000)
const document = (mode: string, until: string) =>
  `<Retention><Mode>${mode}</Mode><RetainUntilDate>${until}</RetainUntilDate></Retention>`

function retain(bucket: Bucket, mode: string, until: string, headers = {}): Promise<Answer> {
  return bucket.configureObject('key', 'retention', document(mode, until), headers)
}

/** A bucket with locks that holds `key`, and its version. */
async function locked(headers: Readonly<Record<string, string>> = {}): Promise<{ bucket: Bucket; versionId: string }> {
  const bucket = await s3.bucket({ hasObjectLock: true })
  const put = await succeeds(bucket.put('key', 'x', { 'content-md5': md5('x'), ...headers }))
  return { bucket, versionId: put.must('x-amz-version-id') }
}

test('a retention is given back by GetObjectRetention and by HEAD', async () => {
  const { bucket } = await locked()
  const until = soon()
  await succeeds(retain(bucket, 'GOVERNANCE', until))
  const answer = await succeeds(bucket.read('retention', 'key'))
  assert.equal(answer.element('Mode'), 'GOVERNANCE')
  assert.equal(Date.parse(answer.element('RetainUntilDate') ?? ''), Date.parse(until))
  const head = await bucket.head('key')
  assert.equal(head.header('x-amz-object-lock-mode'), 'GOVERNANCE')
  assert.equal(Date.parse(head.must('x-amz-object-lock-retain-until-date')), Date.parse(until))
})

test('a version under COMPLIANCE cannot be deleted until its time has come [object-lock]', async () => {
  // On a busy machine the time may have come before everything was tried: then it has to be longer.
  for (const lastingMs of [2500, 10_000, 40_000]) {
    const headers = {
      'x-amz-object-lock-mode': 'COMPLIANCE',
      'x-amz-object-lock-retain-until-date': inMs(lastingMs),
    }
    const { bucket, versionId } = await locked(headers)
    const untilMs = Date.parse(headers['x-amz-object-lock-retain-until-date'])
    try {
      await fails(bucket.delete('key', {}, { versionId }), 403, 'AccessDenied')
      await fails(bucket.delete('key', bypass, { versionId }), 403, 'AccessDenied')
      await fails(retain(bucket, 'COMPLIANCE', inMs(1000), bypass), 403, 'AccessDenied')
      await fails(retain(bucket, 'GOVERNANCE', soon(), bypass), 403, 'AccessDenied')
      assert.equal((await bucket.get('key')).text, 'x')
    } catch (failure) {
      if (Date.now() >= untilMs && lastingMs < 40_000) continue
      throw failure
    }
    await wait(untilMs - Date.now() + 500)
    await succeeds(bucket.delete('key', {}, { versionId }), 204)
    return
  }
})

test('a version under GOVERNANCE can be deleted by who bypasses it', async () => {
  const { bucket, versionId } = await locked()
  await succeeds(retain(bucket, 'GOVERNANCE', soon()))
  await fails(bucket.delete('key', {}, { versionId }), 403, 'AccessDenied')
  await succeeds(bucket.delete('key', bypass, { versionId }), 204)
})

test('a lock keeps versions: the key can be deleted and written over', async () => {
  const { bucket, versionId } = await locked()
  await succeeds(retain(bucket, 'GOVERNANCE', soon()))
  await bucket.hold('key', 'newer', { 'content-md5': md5('newer') })
  await succeeds(bucket.delete('key'), 204)
  assert.equal((await succeeds(bucket.get('key', {}, { versionId }))).text, 'x')
})

test('DeleteObjects tells of a locked version as an error of its key', async () => {
  const { bucket, versionId } = await locked()
  await succeeds(retain(bucket, 'GOVERNANCE', soon()))
  const object = `<Key>key</Key><VersionId>${versionId}</VersionId>`
  const refused = await succeeds(bucket.deleteMany([object]))
  assert.equal(refused.block('Error').element('Code'), 'AccessDenied')
  const done = await succeeds(bucket.deleteMany([object], bypass))
  assert.equal(done.block('Deleted').element('VersionId'), versionId)
})

test('GOVERNANCE can be made longer by anyone who may, shorter by who bypasses it', async () => {
  const { bucket } = await locked()
  await succeeds(retain(bucket, 'GOVERNANCE', inMs(60_000)))
  await succeeds(retain(bucket, 'GOVERNANCE', inMs(120_000)))
  await fails(retain(bucket, 'GOVERNANCE', inMs(30_000)), 403, 'AccessDenied')
  await succeeds(retain(bucket, 'GOVERNANCE', inMs(30_000), bypass))
  await succeeds(bucket.configureObject('key', 'retention', '<Retention/>', bypass))
  await fails(bucket.read('retention', 'key'), 404, 'NoSuchObjectLockConfiguration')
})

test('COMPLIANCE can be made longer, never shorter', async () => {
  const { bucket } = await locked()
  await succeeds(retain(bucket, 'COMPLIANCE', inMs(2500)))
  await succeeds(retain(bucket, 'COMPLIANCE', inMs(3500)))
  await fails(retain(bucket, 'COMPLIANCE', inMs(1500), bypass), 403, 'AccessDenied')
  await fails(bucket.configureObject('key', 'retention', '<Retention/>', bypass), 403, 'AccessDenied')
})

test('who may delete versions may not bypass by that', { skip: s3.lacksOther }, async () => {
  const { bucket, versionId } = await locked()
  await succeeds(retain(bucket, 'GOVERNANCE', soon()))
  const statement = {
    Effect: 'Allow',
    Principal: { AWS: s3.other.principal },
    Action: 's3:DeleteObjectVersion',
    Resource: `arn:aws:s3:::${bucket.name}/*`,
  }
  const policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
  await succeeds(bucket.call('PUT', { query: 'policy', body: policy }), [200, 204])
  const request = { key: 'key', query: { versionId }, headers: bypass, as: s3.other }
  await fails(bucket.call('DELETE', request), 403, 'AccessDenied')
  assert.equal((await bucket.get('key')).text, 'x')
})

test('a time in the past answers 400 InvalidArgument, another mode 400 MalformedXML', async () => {
  const { bucket } = await locked()
  await fails(retain(bucket, 'GOVERNANCE', inMs(-60_000)), 400, 'InvalidArgument')
  await fails(retain(bucket, 'governance', soon()), 400, 'MalformedXML')
  await fails(
    bucket.configureObject('key', 'retention', '<Retention><Mode>GOVERNANCE</Mode></Retention>'),
    400,
    'MalformedXML',
  )
})

test('a bucket without locks answers 400 InvalidRequest', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  await fails(retain(bucket, 'GOVERNANCE', soon()), 400, 'InvalidRequest')
  await fails(bucket.read('retention', 'key'), 400, 'InvalidRequest')
  const headers = { 'x-amz-object-lock-mode': 'GOVERNANCE', 'x-amz-object-lock-retain-until-date': soon() }
  await fails(bucket.put('other', 'x', { 'content-md5': md5('x'), ...headers }), 400, 'InvalidRequest')
})

test('an object without retention answers 404 NoSuchObjectLockConfiguration', async () => {
  const { bucket } = await locked()
  await fails(bucket.read('retention', 'key'), 404, 'NoSuchObjectLockConfiguration')
  await fails(bucket.read('retention', 'absent'), 404, 'NoSuchKey')
})

test('mode without time, time without mode, and wrong ones on PUT answer 400 InvalidArgument', async () => {
  const bucket = await s3.bucket({ hasObjectLock: true })
  const [mode, until] = ['x-amz-object-lock-mode', 'x-amz-object-lock-retain-until-date']
  const wrong = [
    { [mode]: 'GOVERNANCE' },
    { [until]: soon() },
    { [mode]: 'governance', [until]: soon() },
    { [mode]: 'GOVERNANCE', [until]: inMs(-60_000) },
    { [mode]: 'GOVERNANCE', [until]: 'tomorrow' },
  ]
  for (const headers of wrong) {
    await fails(bucket.put('key', 'x', { 'content-md5': md5('x'), ...headers }), 400, 'InvalidArgument')
  }
  await fails(bucket.head('key'), 404)
})

test('a PUT with a lock needs Content-MD5 or a checksum: 400 InvalidRequest', async () => {
  const bucket = await s3.bucket({ hasObjectLock: true })
  const headers = { 'x-amz-object-lock-mode': 'GOVERNANCE', 'x-amz-object-lock-retain-until-date': soon() }
  await fails(bucket.put('key', 'x', headers, { signing: 'unsigned' }), 400, 'InvalidRequest')
})

test('who may not read retentions does not see them in HEAD', { skip: s3.lacksOther }, async () => {
  const { bucket } = await locked()
  await succeeds(retain(bucket, 'GOVERNANCE', soon()))
  const statement = {
    Effect: 'Allow',
    Principal: { AWS: s3.other.principal },
    Action: 's3:GetObject',
    Resource: `arn:aws:s3:::${bucket.name}/*`,
  }
  const policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
  await succeeds(bucket.call('PUT', { query: 'policy', body: policy }), [200, 204])
  const head = await succeeds(bucket.call('HEAD', { key: 'key', as: s3.other }))
  assert.equal(head.header('x-amz-object-lock-mode'), undefined)
})
