/** Operations: PutBucketAcl, GetBucketAcl, PutObjectAcl, GetObjectAcl. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bucket } from './bucket.ts'
import { fails, succeeds, type Answer } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const xsi = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'

/** The list has the owner, with full control, and nobody else. */
function isPrivate(answer: Answer): string {
  const owner = answer.block('Owner').element('ID') ?? ''
  assert.ok(owner !== '')
  const grants = answer.blocks('Grant')
  assert.equal(grants.length, 1)
  assert.equal(grants[0]?.element('Permission'), 'FULL_CONTROL')
  assert.equal(grants[0]?.block('Grantee').element('ID'), owner)
  return owner
}

function document(owner: string, grantee: string): string {
  const grant = `<Grant>${grantee}<Permission>FULL_CONTROL</Permission></Grant>`
  const list = `<AccessControlList>${grant}</AccessControlList>`
  return `<AccessControlPolicy><Owner><ID>${owner}</ID></Owner>${list}</AccessControlPolicy>`
}

const user = (id: string) => `<Grantee ${xsi} xsi:type="CanonicalUser"><ID>${id}</ID></Grantee>`
const everyone = `<Grantee ${xsi} xsi:type="Group"><URI>http://acs.amazonaws.com/groups/global/AllUsers</URI></Grantee>`

/** At the bucket, or at an object of it. */
async function both(run: (at: { bucket: Bucket; key?: string }) => Promise<void>): Promise<void> {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  await run({ bucket })
  await run({ bucket, key: 'key' })
}

function put({ bucket, key }: { bucket: Bucket; key?: string }, headers: Record<string, string>, body?: string) {
  return key === undefined
    ? body === undefined
      ? bucket.call('PUT', { query: 'acl', headers })
      : bucket.configure('acl', body, headers)
    : body === undefined
      ? bucket.call('PUT', { key, query: 'acl', headers })
      : bucket.configureObject(key, 'acl', body, headers)
}

test('buckets and objects belong to their owner, who has full control, and to nobody else', () =>
  both(async ({ bucket, key }) => {
    isPrivate(await succeeds(bucket.read('acl', key)))
  }))

test('private is taken, as it is what is', () =>
  both(async (at) => {
    await succeeds(put(at, { 'x-amz-acl': 'private' }))
    isPrivate(await succeeds(at.bucket.read('acl', at.key)))
  }))

test('a list that grants the owner full control is taken', () =>
  both(async (at) => {
    const owner = isPrivate(await succeeds(at.bucket.read('acl', at.key)))
    await succeeds(put(at, {}, document(owner, user(owner))))
  }))

test('whatever grants something to others answers 400 AccessControlListNotSupported', () =>
  both(async (at) => {
    const owner = isPrivate(await succeeds(at.bucket.read('acl', at.key)))
    for (const acl of ['public-read', 'public-read-write', 'authenticated-read']) {
      await fails(put(at, { 'x-amz-acl': acl }), 400, 'AccessControlListNotSupported')
    }
    await fails(put(at, { 'x-amz-grant-read': 'id="someone"' }), 400, 'AccessControlListNotSupported')
    for (const grantee of [everyone, user('someone')]) {
      await fails(put(at, {}, document(owner, grantee)), 400, 'AccessControlListNotSupported')
    }
    isPrivate(await succeeds(at.bucket.read('acl', at.key)))
  }))

test('an unknown canned list answers 400 InvalidArgument, another document 400', () =>
  both(async (at) => {
    await fails(put(at, { 'x-amz-acl': 'public-dream' }), 400, 'InvalidArgument')
    const { status } = await put(at, {}, '<Wrong/>')
    assert.equal(status, 400)
  }))

test('an absent key answers 404 NoSuchKey', async () => {
  const bucket = await s3.bucket()
  await fails(bucket.read('acl', 'absent'), 404, 'NoSuchKey')
  await fails(put({ bucket, key: 'absent' }, { 'x-amz-acl': 'private' }), 404, 'NoSuchKey')
})
