/** Operations: PutObjectLockConfiguration, GetObjectLockConfiguration. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const DAY_MS = 86_400_000
const configuration = (rule: string, enabled = 'Enabled') =>
  `<ObjectLockConfiguration><ObjectLockEnabled>${enabled}</ObjectLockEnabled>${rule}</ObjectLockConfiguration>`
const retention = (inside: string) => `<Rule><DefaultRetention>${inside}</DefaultRetention></Rule>`
const oneDay = retention('<Mode>GOVERNANCE</Mode><Days>1</Days>')

test('a default retention is given back, and new objects have it', async () => {
  const bucket = await s3.bucket({ hasObjectLock: true })
  await succeeds(bucket.configure('object-lock', configuration(oneDay)))
  const answer = await succeeds(bucket.read('object-lock'))
  assert.equal(answer.element('ObjectLockEnabled'), 'Enabled')
  assert.equal(answer.block('DefaultRetention').element('Mode'), 'GOVERNANCE')
  assert.equal(answer.block('DefaultRetention').element('Days'), '1')
  const fromMs = Date.now()
  await bucket.hold('key', 'x')
  const head = await bucket.head('key')
  assert.equal(head.header('x-amz-object-lock-mode'), 'GOVERNANCE')
  const untilMs = Date.parse(head.must('x-amz-object-lock-retain-until-date'))
  assert.ok(Math.abs(untilMs - fromMs - DAY_MS) < 120_000)
})

test('objects from before have no retention by it', async () => {
  const bucket = await s3.bucket({ hasObjectLock: true })
  await bucket.hold('key', 'x')
  await succeeds(bucket.configure('object-lock', configuration(oneDay)))
  assert.equal((await bucket.head('key')).header('x-amz-object-lock-mode'), undefined)
})

test('a multipart upload takes the default retention too, a copy as well', async () => {
  const bucket = await s3.bucket({ hasObjectLock: true })
  await succeeds(bucket.configure('object-lock', configuration(oneDay)))
  const id = await bucket.begin('parts')
  await succeeds(bucket.complete('parts', id, [await bucket.part('parts', id, 1, 'x')]))
  await succeeds(bucket.copy('parts', 'copy'))
  for (const key of ['parts', 'copy']) {
    assert.equal((await bucket.head(key)).header('x-amz-object-lock-mode'), 'GOVERNANCE', key)
  }
})

test('a configuration without a rule takes the default away', async () => {
  const bucket = await s3.bucket({ hasObjectLock: true })
  await succeeds(bucket.configure('object-lock', configuration(oneDay)))
  await succeeds(bucket.configure('object-lock', configuration('')))
  assert.deepEqual((await succeeds(bucket.read('object-lock'))).blocks('Rule'), [])
})

test('a bucket without locks answers 404 ObjectLockConfigurationNotFoundError', async () => {
  await fails((await s3.bucket()).read('object-lock'), 404, 'ObjectLockConfigurationNotFoundError')
})

test('a bucket with versions can be given locks later, one without cannot: 409 InvalidBucketState', async () => {
  const versioned = await s3.bucket({ isVersioned: true })
  await succeeds(versioned.configure('object-lock', configuration('')))
  assert.equal((await succeeds(versioned.read('object-lock'))).element('ObjectLockEnabled'), 'Enabled')
  const plain = await s3.bucket()
  await fails(plain.configure('object-lock', configuration('')), 409, 'InvalidBucketState')
})

test('no document at all answers 400 MissingRequestBodyError', async () => {
  const bucket = await s3.bucket({ hasObjectLock: true })
  await fails(bucket.configure('object-lock', ''), 400, 'MissingRequestBodyError')
  await fails(bucket.call('PUT', { query: 'object-lock' }), 400, 'MissingRequestBodyError')
})

test('days and years at once, no mode, another mode or another state answer 400 MalformedXML', async () => {
  const bucket = await s3.bucket({ hasObjectLock: true })
  const wrong = [
    configuration(retention('<Mode>GOVERNANCE</Mode><Days>1</Days><Years>1</Years>')),
    configuration(retention('<Mode>GOVERNANCE</Mode>')),
    configuration(retention('<Days>1</Days>')),
    configuration(retention('<Mode>governance</Mode><Days>1</Days>')),
    configuration('', 'Disabled'),
  ]
  for (const document of wrong) await fails(bucket.configure('object-lock', document), 400, 'MalformedXML')
})

test('no days, or more than 36,500, are refused', async () => {
  const bucket = await s3.bucket({ hasObjectLock: true })
  for (const days of ['0', '-1', '36501']) {
    const rule = retention(`<Mode>GOVERNANCE</Mode><Days>${days}</Days>`)
    await fails(bucket.configure('object-lock', configuration(rule)), 400)
  }
})
