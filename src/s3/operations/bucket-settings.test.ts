import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  CreateBucketCommand,
  DeleteBucketCorsCommand,
  DeleteBucketLifecycleCommand,
  DeleteBucketOwnershipControlsCommand,
  DeleteBucketPolicyCommand,
  DeleteBucketTaggingCommand,
  DeletePublicAccessBlockCommand,
  GetBucketAclCommand,
  GetBucketCorsCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketOwnershipControlsCommand,
  GetBucketPolicyCommand,
  GetBucketTaggingCommand,
  GetBucketVersioningCommand,
  GetObjectAclCommand,
  GetObjectLockConfigurationCommand,
  GetPublicAccessBlockCommand,
  PutBucketCorsCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketOwnershipControlsCommand,
  PutBucketPolicyCommand,
  PutBucketTaggingCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectLockConfigurationCommand,
  PutPublicAccessBlockCommand,
} from '@aws-sdk/client-s3'
import type { ObjectOwnership } from '@aws-sdk/client-s3'
import { refused, send, startTestPlane, svm } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'

const Bucket = 'settings'
let t: TestPlane
before(async () => {
  t = await startTestPlane()
  await t.addBucket(Bucket)
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'x' }))
})
after(() => t.close())

test('ownership is said, told, and taken back; what needs lists is not built', async () => {
  const read = async (name = Bucket): Promise<string | undefined> => {
    const { OwnershipControls } = await t.s3.send(new GetBucketOwnershipControlsCommand({ Bucket: name }))
    return OwnershipControls?.Rules?.[0]?.ObjectOwnership
  }
  const write = (ObjectOwnership: ObjectOwnership): Promise<unknown> => {
    const OwnershipControls = { Rules: [{ ObjectOwnership }] }
    return t.s3.send(new PutBucketOwnershipControlsCommand({ Bucket, OwnershipControls }))
  }
  // Every bucket has it from the first.
  assert.equal(await read(), 'BucketOwnerEnforced')
  for (const other of ['BucketOwnerPreferred', 'ObjectWriter'] as const) {
    await assert.rejects(write(other), refused('NotImplemented', 501))
  }
  await assert.rejects(write('Nobody' as ObjectOwnership), refused('MalformedXML', 400))
  assert.equal(await read(), 'BucketOwnerEnforced')
  const { $metadata } = await t.s3.send(new DeleteBucketOwnershipControlsCommand({ Bucket }))
  assert.equal($metadata.httpStatusCode, 204)
  await assert.rejects(read(), refused('OwnershipControlsNotFoundError', 404))
  await write('BucketOwnerEnforced')
  assert.equal(await read(), 'BucketOwnerEnforced')

  const make = (name: string, ObjectOwnership: ObjectOwnership): Promise<unknown> =>
    t.s3.send(new CreateBucketCommand({ Bucket: name, ObjectOwnership }))
  await make('owned', 'BucketOwnerEnforced')
  assert.equal(await read('owned'), 'BucketOwnerEnforced')
  await assert.rejects(make('not-owned', 'ObjectWriter'), refused('NotImplemented', 501))
  await assert.rejects(make('not-owned', 'Nobody' as ObjectOwnership), refused('InvalidArgument', 400))
  await assert.rejects(read('not-owned'), refused('NoSuchBucket', 404))
})

test('what is blocked of public access is told in full', async () => {
  const read = async (): Promise<unknown> =>
    (await t.s3.send(new GetPublicAccessBlockCommand({ Bucket }))).PublicAccessBlockConfiguration
  const none = refused('NoSuchPublicAccessBlockConfiguration', 404)
  await assert.rejects(read(), none)
  const write = (PublicAccessBlockConfiguration: object): Promise<unknown> =>
    t.s3.send(new PutPublicAccessBlockCommand({ Bucket, PublicAccessBlockConfiguration }))
  await write({ BlockPublicAcls: true, RestrictPublicBuckets: true })
  assert.deepEqual(await read(), {
    BlockPublicAcls: true,
    IgnorePublicAcls: false,
    BlockPublicPolicy: false,
    RestrictPublicBuckets: true,
  })
  await assert.rejects(write({ BlockPublicAcls: 'maybe' }), refused('MalformedXML', 400))
  for (let times = 0; times < 2; times += 1) {
    const { $metadata } = await t.s3.send(new DeletePublicAccessBlockCommand({ Bucket }))
    assert.equal($metadata.httpStatusCode, 204)
  }
  await assert.rejects(read(), none)
})

test('lists show that the owner has everything', async () => {
  const bucket = await t.s3.send(new GetBucketAclCommand({ Bucket }))
  const object = await t.s3.send(new GetObjectAclCommand({ Bucket, Key: 'k' }))
  for (const { Owner, Grants } of [bucket, object]) {
    assert.equal(Owner?.ID, svm)
    assert.equal(Grants?.length, 1)
    assert.equal(Grants[0]?.Permission, 'FULL_CONTROL')
    assert.equal(Grants[0].Grantee?.Type, 'CanonicalUser')
    assert.equal(Grants[0].Grantee.ID, Owner?.ID)
  }
  const missing = t.s3.send(new GetObjectAclCommand({ Bucket, Key: 'nothing' }))
  await assert.rejects(missing, refused('NoSuchKey', 404))
})

test('a list that gives nothing away is taken in each of its forms, any other is refused', async () => {
  const { Owner } = await t.s3.send(new GetBucketAclCommand({ Bucket }))
  const id = Owner?.ID ?? ''
  const document = (owner: string, grantee: string, type = 'CanonicalUser'): string =>
    `<AccessControlPolicy><Owner><ID>${owner}</ID></Owner><AccessControlList><Grant>` +
    `<Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="${type}">${grantee}</Grantee>` +
    '<Permission>FULL_CONTROL</Permission></Grant></AccessControlList></AccessControlPolicy>'
  const everybody = '<URI>http://acs.amazonaws.com/groups/global/AllUsers</URI>'
  const forms: readonly (readonly [string, Record<string, string>, string])[] = [
    ['', { 'x-amz-acl': 'private' }, ''],
    ['', { 'x-amz-acl': 'bucket-owner-full-control' }, ''],
    ['', { 'x-amz-grant-full-control': `id="${id}"` }, ''],
    ['', {}, document(id, `<ID>${id}</ID>`)],
    ['AccessControlListNotSupported', { 'x-amz-acl': 'public-read' }, ''],
    [
      'AccessControlListNotSupported',
      { 'x-amz-grant-read': 'uri="http://acs.amazonaws.com/groups/global/AllUsers"' },
      '',
    ],
    ['AccessControlListNotSupported', { 'x-amz-grant-read': 'id="somebody"' }, ''],
    ['AccessControlListNotSupported', {}, document(id, everybody, 'Group')],
    ['AccessControlListNotSupported', {}, document(id, '<ID>somebody</ID>')],
    ['AccessDenied', {}, document('somebody', `<ID>${id}</ID>`)],
    ['InvalidArgument', { 'x-amz-acl': 'public-ready' }, ''],
    ['InvalidArgument', { 'x-amz-grant-read': 'everybody' }, ''],
    ['InvalidRequest', { 'x-amz-acl': 'private', 'x-amz-grant-read': `id="${id}"` }, ''],
    ['UnexpectedContent', { 'x-amz-acl': 'private' }, document(id, `<ID>${id}</ID>`)],
    ['MissingSecurityHeader', {}, ''],
    ['MalformedACLError', {}, '<AccessControlPolicy/>'],
    ['MalformedACLError', {}, 'x'],
  ]
  for (const target of [`/${Bucket}?acl`, `/${Bucket}/k?acl`]) {
    for (const [code, headers, body] of forms) {
      const answer = await send(t, 'PUT', target, { headers, ...(body === '' ? {} : { body }) })
      const told = /<Code>(\w+)</.exec(answer.text)?.[1] ?? ''
      assert.equal(told, code, `${target} ${JSON.stringify(headers)} ${body}`)
      if (code === '') assert.equal(answer.status, 200)
    }
  }
  const missing = await send(t, 'PUT', `/${Bucket}/nothing?acl`, { headers: { 'x-amz-acl': 'private' } })
  assert.match(missing.text, /<Code>NoSuchKey</)
})

test('whatever makes something is refused when it would make it public', async () => {
  const source = { 'x-amz-copy-source': `${Bucket}/k` }
  const makers: readonly (readonly [string, string, Record<string, string>])[] = [
    ['PUT', '/made', {}],
    ['PUT', `/${Bucket}/made`, {}],
    ['PUT', `/${Bucket}/made`, source],
    ['POST', `/${Bucket}/made?uploads`, {}],
  ]
  for (const [method, target, more] of makers) {
    for (const refusing of [{ 'x-amz-acl': 'public-read' }, { 'x-amz-grant-read': 'id="somebody"' }]) {
      const { status, text } = await send(t, method, target, { headers: { ...more, ...refusing } })
      assert.equal(status, 400)
      const code = target === '/made' ? 'InvalidBucketAclWithObjectOwnership' : 'AccessControlListNotSupported'
      assert.match(text, new RegExp(`<Code>${code}<`), `${method} ${target}`)
    }
  }
  for (const [method, target, more] of makers) {
    const harmless = target === '/made' ? 'private' : 'bucket-owner-full-control'
    const { status } = await send(t, method, target, { headers: { ...more, 'x-amz-acl': harmless } })
    assert.equal(status, 200, `${method} ${target}`)
  }
})

/** Each setting of a bucket: how it is set, read and taken back. */
function settingsOf(name: string) {
  const of = { Bucket: name }
  const Statement = [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${name}/*` }]
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement })
  const CORSConfiguration = { CORSRules: [{ AllowedOrigins: ['*'], AllowedMethods: ['GET'] }] }
  const Rules = [{ ID: 'r', Status: 'Enabled' as const, Filter: { Prefix: 'p' }, Expiration: { Days: 3 } }]
  const OwnershipControls = { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' as const }] }
  const DefaultRetention = { Mode: 'GOVERNANCE' as const, Days: 1 }
  return {
    versioning: {
      set: () => t.s3.send(new PutBucketVersioningCommand({ ...of, VersioningConfiguration: { Status: 'Enabled' } })),
      read: async () => (await t.s3.send(new GetBucketVersioningCommand(of))).Status,
    },
    locks: {
      set: () =>
        t.s3.send(
          new PutObjectLockConfigurationCommand({
            ...of,
            ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled', Rule: { DefaultRetention } },
          }),
        ),
      read: async () => (await t.s3.send(new GetObjectLockConfigurationCommand(of))).ObjectLockConfiguration,
    },
    policy: {
      set: () => t.s3.send(new PutBucketPolicyCommand({ ...of, Policy })),
      read: async () => (await t.s3.send(new GetBucketPolicyCommand(of))).Policy,
      remove: () => t.s3.send(new DeleteBucketPolicyCommand(of)),
    },
    cors: {
      set: () => t.s3.send(new PutBucketCorsCommand({ ...of, CORSConfiguration })),
      read: async () => (await t.s3.send(new GetBucketCorsCommand(of))).CORSRules,
      remove: () => t.s3.send(new DeleteBucketCorsCommand(of)),
    },
    lifecycle: {
      set: () => t.s3.send(new PutBucketLifecycleConfigurationCommand({ ...of, LifecycleConfiguration: { Rules } })),
      read: async () => (await t.s3.send(new GetBucketLifecycleConfigurationCommand(of))).Rules,
      remove: () => t.s3.send(new DeleteBucketLifecycleCommand(of)),
    },
    tags: {
      set: () => t.s3.send(new PutBucketTaggingCommand({ ...of, Tagging: { TagSet: [{ Key: 'a', Value: 'b' }] } })),
      read: async () => (await t.s3.send(new GetBucketTaggingCommand(of))).TagSet,
      remove: () => t.s3.send(new DeleteBucketTaggingCommand(of)),
    },
    ownership: {
      set: () => t.s3.send(new PutBucketOwnershipControlsCommand({ ...of, OwnershipControls })),
      read: async () => (await t.s3.send(new GetBucketOwnershipControlsCommand(of))).OwnershipControls,
      remove: () => t.s3.send(new DeleteBucketOwnershipControlsCommand(of)),
    },
    publicAccess: {
      set: () =>
        t.s3.send(
          new PutPublicAccessBlockCommand({ ...of, PublicAccessBlockConfiguration: { IgnorePublicAcls: true } }),
        ),
      read: async () => (await t.s3.send(new GetPublicAccessBlockCommand(of))).PublicAccessBlockConfiguration,
      remove: () => t.s3.send(new DeletePublicAccessBlockCommand(of)),
    },
  }
}

test('a change of one setting leaves all the others', async () => {
  await t.addBucket('many')
  // Every other setting is absent in a new bucket.
  await t.s3.send(new DeleteBucketOwnershipControlsCommand({ Bucket: 'many' }))
  const settings = Object.entries(settingsOf('many'))
  const state = async (): Promise<unknown> =>
    Promise.all(settings.map(async ([name, { read }]) => [name, await read().catch(() => undefined)] as const))
  const expected = new Map<string, unknown>(settings.map(([name]) => [name, undefined]))
  assert.deepEqual(await state(), [...expected])
  for (const [name, { set, read }] of settings) {
    await set()
    const now = await read()
    assert.ok(now !== undefined, name)
    expected.set(name, now)
    assert.deepEqual(await state(), [...expected], name)
  }
  for (const [name, setting] of settings) {
    if (!('remove' in setting)) continue
    await setting.remove()
    expected.set(name, undefined)
    assert.deepEqual(await state(), [...expected], name)
  }
})
