/** Operations: PostObject. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bucket } from './bucket.ts'
import { formOf, signedFields, type Condition } from './form.ts'
import { fails, succeeds, type Answer } from './http.ts'
import { crc32 } from './sums.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const identity = { ...s3.settings.owner, region: s3.settings.region }

interface Upload {
  readonly fields?: Readonly<Record<string, string>>
  readonly conditions?: readonly Condition[]
  readonly file?: string | undefined
  readonly expires?: Date
  readonly as?: typeof identity
}

/** A form whose policy allows any key of the bucket, and what else `conditions` say. */
function post(bucket: Bucket, upload: Upload = {}): Promise<Answer> {
  const conditions = [{ bucket: bucket.name }, ['starts-with', '$key', ''] as const, ...(upload.conditions ?? [])]
  const signed = signedFields(conditions, upload.as ?? identity, upload.expires)
  const form = formOf({ key: 'key', ...upload.fields, ...signed }, 'file' in upload ? upload.file : 'the file')
  return bucket.call('POST', { ...form, signing: 'anonymous' })
}

test('a form with success_action_status 201 stores the file and answers XML [post-form]', async () => {
  const bucket = await s3.bucket()
  const answer = await succeeds(
    post(bucket, { fields: { success_action_status: '201' }, conditions: [{ success_action_status: '201' }] }),
    201,
  )
  const stored = await bucket.get('key')
  assert.equal(stored.text, 'the file')
  assert.equal(answer.block('PostResponse').element('Bucket'), bucket.name)
  assert.equal(answer.element('Key'), 'key')
  assert.equal(answer.element('ETag'), stored.header('etag'))
  assert.match(answer.element('Location') ?? '', /key$/)
  assert.match(answer.must('location'), /key$/)
})

test('without success_action_status, or with another, it answers 204; with 200, 200', async () => {
  const bucket = await s3.bucket()
  await succeeds(post(bucket), 204)
  for (const [asked, told] of [
    ['200', 200],
    ['204', 204],
    ['999', 204],
  ] as const) {
    const field = { success_action_status: asked }
    await succeeds(post(bucket, { fields: field, conditions: [field] }), told)
  }
})

test('success_action_redirect answers 303 to there, with bucket, key and etag', async () => {
  const bucket = await s3.bucket()
  const field = { success_action_redirect: 'https://shop.example/done?a=b' }
  const answer = await succeeds(post(bucket, { fields: field, conditions: [field] }), 303)
  const { searchParams, origin } = new URL(answer.must('location'))
  assert.equal(origin, 'https://shop.example')
  assert.equal(searchParams.get('a'), 'b')
  assert.equal(searchParams.get('bucket'), bucket.name)
  assert.equal(searchParams.get('key'), 'key')
  assert.ok(searchParams.get('etag') !== null)
})

test('${filename} in the key is the name of the file', async () => {
  const bucket = await s3.bucket()
  await succeeds(post(bucket, { fields: { key: 'from/${filename}' } }), 204)
  assert.deepEqual(await bucket.keys(), ['from/up.txt'])
})

test('content type, metadata and tags are taken from fields', async () => {
  const bucket = await s3.bucket()
  const tagging = '<Tagging><TagSet><Tag><Key>a</Key><Value>1</Value></Tag></TagSet></Tagging>'
  const fields = { 'Content-Type': 'text/csv', 'x-amz-meta-a': 'b', tagging }
  const conditions = Object.entries(fields).map(([name, value]) => ({ [name]: value }))
  await succeeds(post(bucket, { fields, conditions }), 204)
  const head = await bucket.head('key')
  assert.equal(head.header('content-type'), 'text/csv')
  assert.equal(head.header('x-amz-meta-a'), 'b')
  assert.equal(head.header('x-amz-tagging-count'), '1')
})

test('a field that no condition covers answers 403 AccessDenied', async () => {
  const bucket = await s3.bucket()
  await fails(post(bucket, { fields: { 'x-amz-meta-a': 'b' } }), 403, 'AccessDenied')
  await fails(bucket.head('key'), 404)
})

test('fields that begin with x-ignore- need no condition', async () => {
  const bucket = await s3.bucket()
  await succeeds(post(bucket, { fields: { 'x-ignore-a': 'b' } }), 204)
})

test('a condition that does not hold answers 403 AccessDenied', async () => {
  const bucket = await s3.bucket()
  for (const condition of [{ key: 'other' }, ['starts-with', '$key', 'user/'] as const, ['eq', '$key', 'x'] as const]) {
    await fails(post(bucket, { conditions: [condition] }), 403, 'AccessDenied')
  }
  await fails(bucket.head('key'), 404)
})

test('content-length-range bounds the file: 400 EntityTooLarge, 400 EntityTooSmall', async () => {
  const bucket = await s3.bucket()
  await succeeds(post(bucket, { conditions: [['content-length-range', 1, 8]] }), 204)
  await fails(post(bucket, { conditions: [['content-length-range', 1, 7]] }), 400, 'EntityTooLarge')
  await fails(post(bucket, { conditions: [['content-length-range', 9, 20]] }), 400, 'EntityTooSmall')
})

test('an expired policy answers 403 AccessDenied', async () => {
  const bucket = await s3.bucket()
  const answer = await fails(post(bucket, { expires: new Date(Date.now() - 1000) }), 403, 'AccessDenied')
  assert.match(answer.element('Message') ?? '', /expired/i)
})

test('a wrong signature answers 403 SignatureDoesNotMatch', async () => {
  const bucket = await s3.bucket()
  await fails(post(bucket, { as: { ...identity, secret: 'wrong' } }), 403, 'SignatureDoesNotMatch')
})

test('a form without file, or without key, answers 400', async () => {
  const bucket = await s3.bucket()
  await fails(post(bucket, { file: undefined }), 400, 'InvalidArgument')
  const signed = signedFields([{ bucket: bucket.name }, ['starts-with', '$key', '']], identity)
  const keyless = formOf(signed, 'x')
  await fails(bucket.call('POST', { ...keyless, signing: 'anonymous' }), 400, 'InvalidArgument')
})

test('what is no form answers 412 PreconditionFailed or 400', async () => {
  const bucket = await s3.bucket()
  const { status } = await bucket.call('POST', { body: 'x', headers: { 'content-type': 'text/plain' } })
  assert.ok([400, 412].includes(status), `${status}`)
})

test('a form without policy is anonymous: 403 unless a policy lets everyone write', async () => {
  const bucket = await s3.bucket()
  const form = formOf({ key: 'key' }, 'x')
  await fails(bucket.call('POST', { ...form, signing: 'anonymous' }), 403, 'AccessDenied')
  await bucket.call('DELETE', { query: 'publicAccessBlock' })
  const statement = {
    Effect: 'Allow',
    Principal: '*',
    Action: 's3:PutObject',
    Resource: `arn:aws:s3:::${bucket.name}/*`,
  }
  const policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
  await succeeds(bucket.call('PUT', { query: 'policy', body: policy }), [200, 204])
  await succeeds(bucket.call('POST', { ...form, signing: 'anonymous' }), 204)
})

test('in a bucket with versions each form makes a version', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  await succeeds(post(bucket), 204)
  const answer = await succeeds(post(bucket), 204)
  assert.equal(answer.must('x-amz-version-id'), (await bucket.head('key')).header('x-amz-version-id'))
  assert.equal((await bucket.versions()).elements('VersionId').length, 2)
})

test('a checksum among the fields is verified', async () => {
  const bucket = await s3.bucket()
  const send = (value: string) => {
    const field = { 'x-amz-checksum-crc32': value }
    return post(bucket, { fields: field, conditions: [field] })
  }
  await fails(send(crc32('other')), 400, 'BadDigest')
  await fails(bucket.head('key'), 404)
  await succeeds(send(crc32('the file')), 204)
})
