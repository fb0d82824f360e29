import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import type { CopyObjectCommandOutput } from '@aws-sdk/client-s3'
import { refused, send, startTestPlane } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'

const Bucket = 'sources'
let t: TestPlane
before(async () => {
  t = await startTestPlane()
  await t.addBucket(Bucket)
  await put()
})
after(() => t.close())

async function put(): Promise<string | undefined> {
  return (await t.s3.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'x' }))).VersionId
}

function copy(source: string, Key: string, more: object = {}): Promise<CopyObjectCommandOutput> {
  return t.s3.send(new CopyObjectCommand({ Bucket, Key, CopySource: `${Bucket}/${source}`, ...more }))
}

test('a version that cannot be is refused, one that could be is not found', async () => {
  for (const target of ['', '?tagging', '?acl', '?retention']) {
    const join = target === '' ? '?' : '&'
    for (const version of ['', 'none', 'F'.repeat(32)]) {
      const { status, text } = await send(t, 'GET', `/${Bucket}/k${target}${join}versionId=${version}`)
      assert.equal(status, 400)
      assert.match(text, /<Code>InvalidArgument</, `${target} ${version}`)
    }
  }
  await assert.rejects(copy('k?versionId=none', 'x'), refused('InvalidArgument', 400))
  await assert.rejects(copy(`k?versionId=${'f'.repeat(32)}`, 'x'), refused('NoSuchVersion', 404))
})

test('a copy names the version that it was made of, and the owner of its source is checked', async () => {
  const first = await copy('k', 'of-plain')
  assert.equal(first.CopySourceVersionId, undefined)
  const VersioningConfiguration = { Status: 'Enabled' } as const
  await t.s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }))
  const VersionId = await put()
  const made = await copy('k', 'of-version')
  assert.ok(VersionId)
  assert.equal(made.CopySourceVersionId, VersionId)
  assert.notEqual(made.VersionId, VersionId)
  const { VersionId: marker } = await t.s3.send(new DeleteObjectCommand({ Bucket, Key: 'k' }))
  await assert.rejects(copy('k', 'x'), refused('NoSuchKey', 404))
  await assert.rejects(copy(`k?versionId=${marker}`, 'x'), refused('InvalidRequest', 400))
  await assert.rejects(copy('k', 'x', { ExpectedSourceBucketOwner: '111122223333' }), refused('AccessDenied', 403))
})
