/** Operations: CreateBucket. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()

test('a bucket is made, and its Location says where', async () => {
  const bucket = s3.unmade()
  const { headers } = await succeeds(bucket.call('PUT'))
  assert.equal(headers.location, `/${bucket.name}`)
  await succeeds(bucket.call('HEAD'))
})

test('a bucket that the caller has already answers 409 BucketAlreadyOwnedByYou and keeps what it holds', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'kept')
  await fails(bucket.call('PUT'), 409, 'BucketAlreadyOwnedByYou')
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

test('of many who make one bucket at once, one makes it and the others are told so', async () => {
  const bucket = s3.unmade()
  const answers = await Promise.all(Array.from({ length: 6 }, () => bucket.call('PUT')))
  const statuses = answers.map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 200).length, 1, statuses.join())
  assert.ok(
    statuses.every((status) => status === 200 || status === 409),
    statuses.join(),
  )
})

test('without credentials it answers 403 AccessDenied', async () => {
  await fails(s3.unmade().call('PUT', { signing: 'anonymous' }), 403, 'AccessDenied')
})
