/**
 * What a bucket can be told, by S3 and by the management interface: both write the same rows, so each shows what the other
 * was given, and requests obey it whichever way it came.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  DeleteObjectCommand,
  GetBucketCorsCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketPolicyCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  GetObjectLockConfigurationCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutBucketCorsCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketPolicyCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectLockConfigurationCommand,
} from '@aws-sdk/client-s3'
import { asList, asText, recordsOf } from '../support/body.ts'
import { fresh } from '../support/product.ts'
import { BothSides, outcomeOf, until } from './both-sides.ts'
import { send } from './raw.ts'
import { codeOf, openTarget, TB } from './target.ts'

const target = await openTarget()
const { api } = target
const both = await BothSides.of(target)
const { s3, svm, service } = both

const statementsOf = async (path: string) =>
  asList((await both.shown(path, 'policy.statements'))['policy']?.['statements'])

test('a policy that came by S3 can be read and written back by the other way, and is no wider for it', async () => {
  await both.withBucket(async ({ name, path }) => {
    await both.withUser(async (user) => {
      const arn = `arn:aws:s3:::${name}`
      const AWS = `arn:aws:iam:::user/${user.name}`
      const Principal = { AWS }
      const document = {
        Version: '2012-10-17',
        Statement: [
          { Sid: 'AllButDelete', Effect: 'Allow', Principal, NotAction: 's3:DeleteObject', Resource: `${arn}/open/*` },
          {
            Sid: 'OnlyPlain',
            Effect: 'Allow',
            Principal,
            Action: 's3:GetObject',
            Resource: `${arn}/plain/*`,
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          },
          {
            Effect: 'Deny',
            NotPrincipal: { AWS: [AWS, 'arn:aws:iam:::user/nobody'] },
            Action: 's3:PutObjectTagging',
            NotResource: `${arn}/tagged/*`,
            Condition: { 'ForAnyValue:StringLikeIfExists': { 's3:RequestObjectTagKeys': ['a*', ''] } },
          },
        ],
      }
      await s3.send(new PutBucketPolicyCommand({ Bucket: name, Policy: JSON.stringify(document) }))
      for (const Key of ['open/1', 'plain/1']) await s3.send(new PutObjectCommand({ Bucket: name, Key, Body: 'x' }))
      const obeyed = async () => {
        await until('done', () => user.client.send(new GetObjectCommand({ Bucket: name, Key: 'open/1' })))
        await until('done', () => user.client.send(new PutObjectCommand({ Bucket: name, Key: 'open/2', Body: 'x' })))
        for (const refused of [
          new DeleteObjectCommand({ Bucket: name, Key: 'open/1' }),
          new GetObjectCommand({ Bucket: name, Key: 'plain/1' }),
          new PutObjectCommand({ Bucket: name, Key: 'elsewhere', Body: 'x' }),
        ]) {
          assert.equal(await outcomeOf(user.client.send(refused)), 'AccessDenied')
        }
      }
      await obeyed()

      const statements = await statementsOf(path)
      assert.deepEqual(statements, [
        {
          effect: 'allow',
          principals: [user.name],
          resources: [`${arn}/open/*`],
          sid: 'AllButDelete',
          not_actions: ['s3:DeleteObject'],
        },
        {
          effect: 'allow',
          principals: [user.name],
          actions: ['s3:GetObject'],
          resources: [`${arn}/plain/*`],
          sid: 'OnlyPlain',
          conditions: [{ operator: 'bool', key: 'aws:SecureTransport', values: ['false'] }],
        },
        {
          effect: 'deny',
          actions: ['s3:PutObjectTagging'],
          conditions: [
            { operator: 'ForAnyValue:StringLikeIfExists', key: 's3:RequestObjectTagKeys', values: ['a*', ''] },
          ],
          not_principals: [user.name, 'nobody'],
          not_resources: [`${arn}/tagged/*`],
        },
      ])

      await both.patch(path, { policy: { statements } })
      assert.deepEqual(await statementsOf(path), statements)
      await obeyed()
      const { Policy = '' } = await s3.send(new GetBucketPolicyCommand({ Bucket: name }))
      await s3.send(new PutBucketPolicyCommand({ Bucket: name, Policy }))
      assert.deepEqual(await statementsOf(path), statements)
      await obeyed()
    })
  })
})

test('the text of a policy is kept until its statements are changed the other way', async () => {
  await both.withBucket(async ({ name, path }) => {
    const text = async () => (await s3.send(new GetBucketPolicyCommand({ Bucket: name }))).Policy
    const statement = `{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::${name}/*"}`
    const Policy = `{ "Version": "2012-10-17",   "Id": "mine", "Statement": [${statement}] }`
    await s3.send(new PutBucketPolicyCommand({ Bucket: name, Policy }))
    assert.equal(await text(), Policy)
    await both.patch(path, { comment: 'something else' })
    await both.patch(path, { size: 2 * TB, audit_event_selector: { access: 'write', permission: 'deny' } })
    assert.equal(await text(), Policy)
    await both.patch(path, { policy: { statements: await statementsOf(path) } })
    const printed = JSON.parse((await text()) ?? '') as Record<string, unknown>
    assert.equal(printed['Id'], undefined)
    assert.deepEqual(printed['Statement'], [JSON.parse(statement)])
    await both.patch(path, { policy: { statements: [] } })
    await assert.rejects(text(), { name: 'NoSuchBucketPolicy' })
    assert.equal((await both.shown(path, 'policy.statements'))['policy'], undefined)
  })
})

test('S3 obeys conditions that the management interface was given', async () => {
  await both.withBucket(async ({ name, path }) => {
    await both.withUser(async (user) => {
      const list = (Prefix: string) => user.client.send(new ListObjectsV2Command({ Bucket: name, Prefix }))
      const conditions = [{ operator: 'string_like', prefixes: ['home/*'] }]
      const statement = { effect: 'allow', principals: [user.name], actions: ['ListBucket'], resources: [name] }
      await both.patch(path, { policy: { statements: [{ ...statement, conditions }] } })
      await until('done', () => list('home/a'))
      assert.equal(await outcomeOf(list('work/')), 'AccessDenied')

      const elsewhere = [{ operator: 'ip_address', source_ips: ['192.0.2.0/24'] }]
      await both.patch(path, { policy: { statements: [{ ...statement, conditions: [...conditions, ...elsewhere] }] } })
      await until('AccessDenied', () => list('home/a'))
      const { Policy = '' } = await s3.send(new GetBucketPolicyCommand({ Bucket: name }))
      assert.deepEqual((JSON.parse(Policy) as { Statement: { Condition: unknown }[] }).Statement[0]?.Condition, {
        StringLike: { 's3:prefix': 'home/*' },
        IpAddress: { 'aws:SourceIp': '192.0.2.0/24' },
      })
    })
  })
})

test('a grant that names nobody is for all users, and stays so when S3 writes it back', async () => {
  await both.withBucket(async ({ name, path }) => {
    await both.withUser(async (user) => {
      await s3.send(new PutObjectCommand({ Bucket: name, Key: 'k', Body: 'x' }))
      const statements = [{ effect: 'allow', actions: ['s3:GetObject'], resources: [`arn:aws:s3:::${name}/*`] }]
      const ask = () => user.client.send(new GetObjectCommand({ Bucket: name, Key: 'k' }))
      const anonymous = async () => (await send(target, 'GET', `/${name}/k`, {})).status
      await both.patch(path, { policy: { statements } })
      await until('done', ask)
      assert.equal(await anonymous(), 403)
      const { Policy = '' } = await s3.send(new GetBucketPolicyCommand({ Bucket: name }))
      await s3.send(new PutBucketPolicyCommand({ Bucket: name, Policy }))
      assert.deepEqual(await statementsOf(path), statements)
      await until('done', ask)
      assert.equal(await anonymous(), 403)
    })
  })
})

test('CORS rules are the same rows', async () => {
  await both.withBucket(async ({ name, path }) => {
    const ofS3 = { ID: 'one', AllowedOrigins: ['https://*.example.com'], AllowedMethods: ['GET'], MaxAgeSeconds: 60 }
    await s3.send(new PutBucketCorsCommand({ Bucket: name, CORSConfiguration: { CORSRules: [ofS3] } }))
    const row = { id: 'one', allowed_origins: ['https://*.example.com'], allowed_methods: ['GET'], max_age_seconds: 60 }
    assert.deepEqual((await both.shown(path, 'cors'))['cors'], { rules: [row] })

    const other = { allowed_origins: ['https://b'], allowed_methods: ['PUT', 'HEAD'], expose_headers: ['ETag'] }
    await both.patch(path, { cors: { rules: [row, { ...other, allowed_headers: ['x-*'] }] } })
    const { CORSRules } = await s3.send(new GetBucketCorsCommand({ Bucket: name }))
    assert.deepEqual(CORSRules, [
      ofS3,
      {
        AllowedOrigins: ['https://b'],
        AllowedMethods: ['PUT', 'HEAD'],
        AllowedHeaders: ['x-*'],
        ExposeHeaders: ['ETag'],
      },
    ])
    const preflight = async (origin: string) => {
      const headers = { origin, 'access-control-request-method': 'PUT' }
      const reply = await send(target, 'OPTIONS', `/${name}/key`, headers)
      return [reply.status, reply.headers['access-control-allow-origin']]
    }
    assert.deepEqual(await preflight('https://b'), [200, 'https://b'])
    assert.deepEqual(await preflight('https://c'), [403, undefined])
    await both.patch(path, { cors: { rules: [] } })
    await assert.rejects(s3.send(new GetBucketCorsCommand({ Bucket: name })), { name: 'NoSuchCORSConfiguration' })
  })
})

test('lifecycle rules are the same rows, in the bucket and in the collection below it', async () => {
  await both.withBucket(async ({ name, path, uuid }) => {
    const rules = `${service}/buckets/${uuid}/rules`
    await s3.send(
      new PutBucketLifecycleConfigurationCommand({
        Bucket: name,
        LifecycleConfiguration: {
          Rules: [
            { ID: 'old style', Prefix: 'logs/', Status: 'Enabled', Expiration: { Days: 30 } },
            {
              ID: 'b/c?d',
              Filter: { And: { Prefix: 'x/', Tags: [{ Key: 'a=b', Value: 'c=d' }], ObjectSizeGreaterThan: 5 } },
              Status: 'Disabled',
              Expiration: { Date: new Date('2030-01-01T00:00:00Z') },
              NoncurrentVersionExpiration: { NoncurrentDays: 3, NewerNoncurrentVersions: 2 },
            },
          ],
        },
      }),
    )
    const first = {
      name: 'old style',
      enabled: true,
      object_filter: { prefix: 'logs/' },
      expiration: { object_age_days: 30 },
    }
    const second = {
      name: 'b/c?d',
      enabled: false,
      object_filter: { prefix: 'x/', tags: ['a%3Db=c=d'], size_greater_than: 5 },
      expiration: { object_expiry_date: '2030-01-01T00:00:00Z' },
      non_current_version_expiration: { non_current_days: 3, new_non_current_versions: 2 },
    }
    const inBucket = async () => (await both.shown(path, 'lifecycle_management'))['lifecycle_management']?.['rules']
    assert.deepEqual(await inBucket(), [first, second])
    const { body } = await api.get(`${rules}/${encodeURIComponent('b/c?d')}?fields=**`)
    const { _links: _, ...row } = body
    assert.deepEqual(row, { ...second, svm: { name: 'svm1', uuid: svm }, uuid, bucket_name: name })

    const made = await api.call('POST', `${rules}?return_records=true`, {
      name: 'third',
      'abort_incomplete_multipart_upload.after_initiation_days': 7,
    })
    assert.equal(made.status, 201, made.text)
    assert.equal(recordsOf(made.body)[0]?.['name'], 'third')
    assert.equal((await api.call('POST', rules, { name: 'third', expiration: { object_age_days: 1 } })).status, 409)
    await both.patch(`${rules}/third`, { enabled: false, expiration: { object_age_days: 9 } })
    await both.patch(`${rules}/third`, { expiration: { object_expiry_date: '2031-01-01T00:00:00Z' } })
    assert.equal((await api.call('DELETE', `${rules}/${encodeURIComponent('b/c?d')}`)).status, 200)
    assert.equal((await api.call('DELETE', `${rules}/${encodeURIComponent('b/c?d')}`)).status, 404)
    const { Rules } = await s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket: name }))
    assert.deepEqual(Rules, [
      { ID: 'old style', Prefix: 'logs/', Status: 'Enabled', Expiration: { Days: 30 } },
      {
        ID: 'third',
        Filter: {},
        Status: 'Disabled',
        Expiration: { Date: new Date('2031-01-01T00:00:00Z') },
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 },
      },
    ])

    await s3.send(new PutObjectCommand({ Bucket: name, Key: 'logs/1', Body: 'x' }))
    const { Expiration } = await s3.send(new HeadObjectCommand({ Bucket: name, Key: 'logs/1' }))
    assert.match(Expiration ?? '', /rule-id="old%20style"/)
    await both.patch(path, { lifecycle_management: { rules: [] } })
    assert.equal(await inBucket(), undefined)
    await assert.rejects(s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket: name })), {
      name: 'NoSuchLifecycleConfiguration',
    })
  })
})

test('rules made at the same time are all there afterwards', async () => {
  await both.withBucket(async ({ name, path, uuid }) => {
    const numbers = Array.from({ length: 12 }, (_, at) => at)
    const replies = await Promise.all(
      numbers.map((at) =>
        api.call('POST', `${service}/buckets/${uuid}/rules`, {
          name: `r${at}`,
          expiration: { object_age_days: 1 + at },
        }),
      ),
    )
    assert.deepEqual(
      replies.map(({ status }) => status),
      numbers.map(() => 201),
    )
    const { Rules = [] } = await s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket: name }))
    assert.deepEqual(new Set(Rules.map(({ ID }) => ID)), new Set(numbers.map((at) => `r${at}`)))
    await both.patch(path, { lifecycle_management: { rules: [] } })
  })
})

test('locks that S3 gave a bucket are shown, and a default that the management interface gives is obeyed', async () => {
  await both.withBucket(
    async ({ name, path }) => {
      const configuration = async () =>
        (await s3.send(new GetObjectLockConfigurationCommand({ Bucket: name }))).ObjectLockConfiguration?.Rule
          ?.DefaultRetention
      assert.deepEqual((await both.shown(path, 'retention'))['retention'], { mode: 'no_lock' })
      await s3.send(
        new PutObjectLockConfigurationCommand({
          Bucket: name,
          ObjectLockConfiguration: {
            ObjectLockEnabled: 'Enabled',
            Rule: { DefaultRetention: { Mode: 'GOVERNANCE', Days: 30 } },
          },
        }),
      )
      assert.deepEqual((await both.shown(path, 'retention'))['retention'], {
        mode: 'governance',
        default_period: 'P30D',
      })
      await both.patch(path, { retention: { default_period: '2years' } })
      assert.deepEqual(await configuration(), { Mode: 'GOVERNANCE', Years: 2 })

      await s3.send(new PutObjectCommand({ Bucket: name, Key: 'kept', Body: 'x' }))
      const { VersionId, ObjectLockMode } = await s3.send(new HeadObjectCommand({ Bucket: name, Key: 'kept' }))
      assert.equal(ObjectLockMode, 'GOVERNANCE')
      const remove = { Bucket: name, Key: 'kept', VersionId }
      await assert.rejects(s3.send(new DeleteObjectCommand(remove)), { name: 'AccessDenied' })
      await s3.send(new DeleteObjectCommand({ ...remove, BypassGovernanceRetention: true }))

      await both.patch(path, { retention: { mode: 'no_lock' } })
      assert.deepEqual((await both.shown(path, 'retention'))['retention'], { mode: 'no_lock' })
      assert.equal(await configuration(), undefined, 'the bucket still has locks, without a default')
      const suspended = { versioning_state: 'suspended' }
      assert.deepEqual(codeOf(await api.call('PATCH', path, suspended)), 92406014)
      await assert.rejects(
        s3.send(new PutBucketVersioningCommand({ Bucket: name, VersioningConfiguration: { Status: 'Suspended' } })),
        { name: 'InvalidBucketState' },
      )
    },
    { ObjectLockEnabledForBucket: true },
  )
})

test('a bucket that is made with a retention keeps versions and has locks', async () => {
  const name = fresh('locked').replaceAll('_', '-')
  const made = await api.call('POST', `${service}/buckets?return_records=true`, {
    name,
    retention: { mode: 'compliance', default_period: 'P1D' },
  })
  assert.equal(made.status, 201, made.text)
  assert.equal(recordsOf(made.body)[0]?.['versioning_state'], 'enabled')
  const { ObjectLockConfiguration } = await s3.send(new GetObjectLockConfigurationCommand({ Bucket: name }))
  assert.deepEqual(ObjectLockConfiguration?.Rule?.DefaultRetention, { Mode: 'COMPLIANCE', Days: 1 })
  const path = `${service}/buckets/${asText(recordsOf(made.body)[0]?.['uuid'])}`
  assert.equal((await api.call('DELETE', path)).status, 200)
  assert.equal((await api.get(path)).status, 404)
})

test('versioning is one state', async () => {
  await both.withBucket(async ({ name, path }) => {
    const state = async () => (await s3.send(new GetBucketVersioningCommand({ Bucket: name }))).Status
    assert.equal(await state(), undefined)
    const retention = { mode: 'governance', default_period: 'P1D' }
    const early = await api.call('PATCH', path, { retention })
    assert.equal(early.status, 422, 'locks hold versions')
    await both.patch(path, { versioning_state: 'enabled' })
    assert.equal(await state(), 'Enabled')
    await s3.send(new PutBucketVersioningCommand({ Bucket: name, VersioningConfiguration: { Status: 'Suspended' } }))
    assert.equal((await both.shown(path, 'versioning_state'))['versioning_state'], 'suspended')
    assert.equal((await api.call('PATCH', path, { versioning_state: 'disabled' })).status, 422)
  })
})

test('what only S3 knows of a bucket is neither shown nor taken', async () => {
  await both.withBucket(async ({ name, path, uuid }) => {
    const Rules = [{ ID: 'r', Prefix: 'a', Status: 'Enabled' as const, Expiration: { Days: 1 } }]
    await s3.send(new PutBucketLifecycleConfigurationCommand({ Bucket: name, LifecycleConfiguration: { Rules } }))
    const Statement = { Effect: 'Deny', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${name}/*` }
    await s3.send(
      new PutBucketPolicyCommand({ Bucket: name, Policy: JSON.stringify({ Version: '2012-10-17', Statement }) }),
    )
    for (const at of [path, `${service}/buckets/${uuid}`, `${service}/buckets/${uuid}/rules`]) {
      const { status, text } = await api.get(`${at}?fields=**`)
      assert.equal(status, 200, text)
      assert.doesNotMatch(text, /"\$/)
    }
    for (const body of [
      { $policy: '{}' },
      { $hasLocks: true },
      { lifecycle_management: { rules: [{ name: 'r', $isLegacy: true, expiration: { object_age_days: 1 } }] } },
    ]) {
      assert.equal((await api.call('PATCH', path, body)).status, 422, JSON.stringify(body))
    }
  })
})
