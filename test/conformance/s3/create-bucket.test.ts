/** Operations: CreateBucket. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually, fails, succeeds } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const configured = (location: string) =>
  `<CreateBucketConfiguration><LocationConstraint>${location}</LocationConstraint></CreateBucketConfiguration>`

test('a bucket is made, and its Location says where', async () => {
  const bucket = s3.unmade()
  const { headers } = await succeeds(bucket.call('PUT'))
  assert.equal(headers.location, `/${bucket.name}`)
  assert.equal(headers['x-amz-bucket-arn'], `arn:aws:s3:::${bucket.name}`)
  await succeeds(bucket.call('HEAD'))
})

test('a bucket that the caller has already answers 200 again in us-east-1 and keeps what it holds', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'kept')
  for (const body of ['', configured('us-east-1')]) {
    const { headers } = await succeeds(bucket.call('PUT', { body }))
    assert.equal(headers.location, `/${bucket.name}`)
    assert.equal(headers['x-amz-bucket-arn'], `arn:aws:s3:::${bucket.name}`)
  }
  assert.equal((await bucket.get('key')).text, 'kept')
})

test('in another region a bucket that the caller has already answers 409 BucketAlreadyOwnedByYou', async () => {
  const bucket = await s3.bucket()
  await fails(bucket.call('PUT', { body: configured('eu-central-1') }), 409, 'BucketAlreadyOwnedByYou')
  await fails(bucket.call('PUT', { region: 'eu-central-1' }), 409, 'BucketAlreadyOwnedByYou')
})

test('a bucket made again with locks or tags that it has not answers 409, with those it has 200', async () => {
  const tags =
    '<CreateBucketConfiguration><Tags><Tag><Key>a</Key><Value>b</Value></Tag></Tags></CreateBucketConfiguration>'
  const locks = { headers: { 'x-amz-bucket-object-lock-enabled': 'true' } }
  const plain = await s3.bucket()
  await fails(plain.call('PUT', locks), 409, 'BucketAlreadyOwnedByYou')
  await fails(plain.call('PUT', { body: tags }), 409, 'BucketAlreadyOwnedByYou')
  await fails(plain.read('tagging'), 404, 'NoSuchTagSet')
  const full = s3.unmade()
  for (let time = 0; time < 2; time += 1) await succeeds(full.call('PUT', { ...locks, body: tags }))
})

test('a bucket that another user made answers 409 BucketAlreadyExists', { skip: s3.lacksOther }, async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'kept')
  await fails(bucket.call('PUT', { as: s3.other }), 403, 'AccessDenied')
  const all = {
    Effect: 'Allow',
    Principal: { AWS: s3.other.principal },
    Action: 's3:*',
    Resource: [`arn:aws:s3:::${bucket.name}`],
  }
  const policy = JSON.stringify({ Version: '2012-10-17', Statement: [all] })
  await succeeds(bucket.call('PUT', { query: 'policy', body: policy }), [200, 204])
  await eventually(() => fails(bucket.call('PUT', { as: s3.other }), 409, 'BucketAlreadyExists'))
  assert.equal((await bucket.get('key')).text, 'kept')
})

test('names that DNS could not carry answer 400 InvalidBucketName [bucket-name-400]', async () => {
  const names = ['ab', 'a'.repeat(64), 'Upper-case', 'under_score', '-begins', 'ends-', 'two..dots', '192.168.5.4']
  for (const name of names) {
    await fails(s3.call('PUT', { rawPath: `/${name}` }), 400, 'InvalidBucketName')
  }
})

test('names of 3 and of 63 characters, with dots and hyphens, are taken', async () => {
  const fresh = s3.freshName()
  const short = Date.now().toString(36).slice(-3)
  for (const name of [`a.b-${fresh}`, fresh.padEnd(63, 'x'), /^\d/.test(short) ? short : `${short.slice(1)}0`]) {
    const bucket = s3.unmade(name)
    await succeeds(bucket.call('PUT'))
  }
})

test('a body that is no CreateBucketConfiguration answers 400 MalformedXML and makes nothing', async () => {
  const bucket = s3.unmade()
  await fails(bucket.call('PUT', { body: '<Wrong' }), 400, 'MalformedXML')
  await fails(bucket.call('PUT', { body: '<Wrong/>' }), 400, 'MalformedXML')
  await fails(bucket.call('HEAD'), 404)
})

test('up to 50 tags are given to the bucket, more answer 400 BadRequest and make nothing', async () => {
  const configuration = (count: number): string => {
    const tags = Array.from({ length: count }, (_, at) => `<Tag><Key>k${at}</Key><Value>v</Value></Tag>`)
    return `<CreateBucketConfiguration><Tags>${tags.join('')}</Tags></CreateBucketConfiguration>`
  }
  const bucket = s3.unmade()
  await fails(bucket.call('PUT', { body: configuration(51) }), 400, 'BadRequest')
  await fails(bucket.call('HEAD'), 404)
  await succeeds(bucket.call('PUT', { body: configuration(50) }))
  assert.equal((await succeeds(bucket.read('tagging'))).blocks('Tag').length, 50)
})

test('x-amz-bucket-object-lock-enabled makes a bucket with versions and locks', async () => {
  const bucket = await s3.bucket({ hasObjectLock: true })
  assert.equal((await succeeds(bucket.read('versioning'))).element('Status'), 'Enabled')
  assert.equal((await succeeds(bucket.read('object-lock'))).element('ObjectLockEnabled'), 'Enabled')
})

test('the access control list private is taken, one that grants to others answers 400', async () => {
  await succeeds(s3.unmade().call('PUT', { headers: { 'x-amz-acl': 'private' } }))
  const open = s3.unmade()
  const headers = { 'x-amz-acl': 'public-read' }
  await fails(open.call('PUT', { headers }), 400, 'InvalidBucketAclWithObjectOwnership')
  await fails(open.call('HEAD'), 404)
})

test('x-amz-object-ownership takes BucketOwnerEnforced', async () => {
  const bucket = s3.unmade()
  await succeeds(bucket.call('PUT', { headers: { 'x-amz-object-ownership': 'BucketOwnerEnforced' } }))
  const controls = await succeeds(bucket.read('ownershipControls'))
  assert.equal(controls.element('ObjectOwnership'), 'BucketOwnerEnforced')
})

test('an unknown x-amz-object-ownership answers 400 InvalidArgument', async () => {
  const headers = { 'x-amz-object-ownership': 'Nobody' }
  await fails(s3.unmade().call('PUT', { headers }), 400, 'InvalidArgument')
})

test('of many who make one bucket at once in another region, one makes it and the others are told so', async () => {
  const bucket = s3.unmade()
  const region = 'eu-central-1'
  const answers = await Promise.all(Array.from({ length: 6 }, () => bucket.call('PUT', { region })))
  const statuses = answers.map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 200).length, 1, statuses.join())
  assert.ok(
    statuses.every((status) => status === 200 || status === 409),
    statuses.join(),
  )
})

test('all who make one bucket of theirs at once in us-east-1 are told that it is there', async () => {
  const bucket = s3.unmade()
  await Promise.all(Array.from({ length: 6 }, () => succeeds(bucket.call('PUT'))))
})

test('without credentials it answers 403 AccessDenied', async () => {
  await fails(s3.unmade().call('PUT', { signing: 'anonymous' }), 403, 'AccessDenied')
})
