/** The npm client of MinIO, version 8: another signature code, another XML reader, streams without a length. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, it } from 'node:test'
import { startProduct, type Product } from '../support/product.ts'
import { loadClient, reasonWithoutClient } from './npm-clients.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'
import { sha256Of, sha256OfFile } from './tree.ts'

const MIB = 2 ** 20
const skip = reasonUnlessWhole('test/clients/tools.test.ts') || reasonWithoutClient('minio')

/** What is used of it. */
interface Client {
  makeBucket(bucket: string, region?: string, options?: { ObjectLocking?: boolean }): Promise<void>
  bucketExists(bucket: string): Promise<boolean>
  removeBucket(bucket: string): Promise<void>
  listBuckets(): Promise<{ name: string; creationDate: Date }[]>
  putObject(
    bucket: string,
    key: string,
    body: Readable | Buffer | string,
    size?: number,
    metadata?: Readonly<Record<string, string>>,
  ): Promise<{ etag: string; versionId: string | null }>
  fPutObject(bucket: string, key: string, file: string): Promise<{ etag: string }>
  fGetObject(bucket: string, key: string, file: string): Promise<void>
  getObject(bucket: string, key: string, options?: { versionId?: string }): Promise<Readable>
  getPartialObject(bucket: string, key: string, offset: number, length?: number): Promise<Readable>
  statObject(bucket: string, key: string): Promise<{ size: number; etag: string; metaData: Record<string, string> }>
  copyObject(bucket: string, key: string, source: string): Promise<unknown>
  listObjects(bucket: string, prefix?: string, recursive?: boolean, options?: object): AsyncIterable<Listed>
  listObjectsV2(bucket: string, prefix?: string, recursive?: boolean, startAfter?: string): AsyncIterable<Listed>
  listIncompleteUploads(bucket: string, prefix: string, recursive: boolean): AsyncIterable<{ key: string }>
  initiateNewMultipartUpload(bucket: string, key: string, headers: object): Promise<string>
  removeIncompleteUpload(bucket: string, key: string): Promise<void>
  composeObject(to: object, from: readonly object[]): Promise<unknown>
  removeObject(bucket: string, key: string): Promise<void>
  removeObjects(bucket: string, keys: readonly string[]): Promise<unknown[]>
  presignedGetObject(bucket: string, key: string, seconds: number, headers?: object): Promise<string>
  presignedPutObject(bucket: string, key: string, seconds: number): Promise<string>
  newPostPolicy(): PostPolicy
  presignedPostPolicy(policy: PostPolicy): Promise<{ postURL: string; formData: Record<string, string> }>
  setBucketVersioning(bucket: string, configuration: { Status: string }): Promise<void>
  getBucketVersioning(bucket: string): Promise<{ Status: string }>
  setObjectTagging(bucket: string, key: string, tags: Readonly<Record<string, string>>): Promise<void>
  getObjectTagging(bucket: string, key: string): Promise<{ Key: string; Value: string }[]>
  setBucketPolicy(bucket: string, policy: string): Promise<void>
  getBucketPolicy(bucket: string): Promise<string>
  setBucketLifecycle(bucket: string, configuration: object): Promise<void>
  getBucketLifecycle(bucket: string): Promise<{ Rule: unknown } | null>
}

interface Listed {
  readonly name?: string
  readonly prefix?: string
  readonly size: number
  readonly versionId?: string
  readonly isDeleteMarker?: boolean
}

interface PostPolicy {
  setBucket(bucket: string): void
  setKey(key: string): void
  setExpires(date: Date): void
  setContentLengthRange(least: number, most: number): void
}

interface Minio {
  readonly Client: new (options: object) => Client
  readonly CopySourceOptions: new (options: object) => object
  readonly CopyDestinationOptions: new (options: object) => object
}

describeUnless(skip, "MinIO's client for Node.js", { timeout: 120_000 }, () => {
  let product: Product
  let minio: Minio
  let client: Client
  let work: string
  const textOf = async (stream: Readable) =>
    (await stream.toArray()).map((piece) => (piece as Buffer).toString()).join('')

  before(async () => {
    work = await mkdtemp(join(tmpdir(), 'holdfast-minio-'))
    product = await startProduct()
    const { hostname, port } = new URL(product.s3Http ?? '')
    minio = loadClient('minio') as Minio
    client = new minio.Client({
      endPoint: hostname,
      port: Number(port),
      useSSL: false,
      accessKey: product.accessKey,
      secretKey: product.secretKey,
    })
    await client.makeBucket('first')
  })
  after(async () => {
    await product.stop()
    await rm(work, { recursive: true, force: true })
  })

  it('makes, finds and removes buckets', async () => {
    await client.makeBucket('second', 'us-east-1')
    assert.ok((await client.listBuckets()).some((bucket) => bucket.name === 'second'))
    assert.equal(await client.bucketExists('second'), true)
    await client.removeBucket('second')
    assert.equal(await client.bucketExists('second'), false)
  })

  it('stores an object with its metadata, and reads it back', async () => {
    const { etag } = await client.putObject('first', 'ünd/ein+zwei & drei', 'text', 4, {
      'Content-Type': 'text/plain; charset=utf-8',
      'X-Amz-Meta-Colour': 'green',
    })
    const stat = await client.statObject('first', 'ünd/ein+zwei & drei')
    assert.equal(stat.etag, etag)
    assert.equal(stat.size, 4)
    assert.equal(stat.metaData['colour'], 'green')
    assert.equal(stat.metaData['content-type'], 'text/plain; charset=utf-8')
    assert.equal(await textOf(await client.getObject('first', 'ünd/ein+zwei & drei')), 'text')
  })

  it('stores a stream that has no length', async () => {
    const bytes = randomBytes(3 * MIB)
    await client.putObject('first', 'stream', Readable.from([bytes.subarray(0, 100), bytes.subarray(100)]))
    assert.equal(await sha256Of(await client.getObject('first', 'stream')), await sha256Of(Readable.from([bytes])))
  })

  it('moves a large file in parts, and reads a range of it', async () => {
    const [from, to] = [join(work, 'from'), join(work, 'to')]
    const bytes = randomBytes(130 * MIB + 1)
    await writeFile(from, bytes)
    const { etag } = await client.fPutObject('first', 'large', from)
    assert.match(etag, /-\d+$/)
    await client.fGetObject('first', 'large', to)
    assert.equal(await sha256OfFile(to), await sha256OfFile(from))
    const range = await client.getPartialObject('first', 'large', 64 * MIB - 3, 6)
    assert.deepEqual(Buffer.concat(await range.toArray()), bytes.subarray(64 * MIB - 3, 64 * MIB + 3))
  })

  it('lists by prefix and by level, with both listings', async () => {
    await client.makeBucket('listed')
    const keys = Array.from({ length: 25 }, (_, at) => `folder ${at % 5}/key & ${String(at).padStart(2, '0')}`)
    for (const key of keys) await client.putObject('listed', key, key)
    for (const list of [client.listObjects.bind(client), client.listObjectsV2.bind(client)]) {
      const all = await Array.fromAsync(list('listed', '', true))
      assert.deepEqual(
        all.map((entry) => entry.name),
        keys.toSorted(),
      )
      const top = await Array.fromAsync(list('listed', '', false))
      assert.deepEqual(
        top.map((entry) => entry.prefix),
        [0, 1, 2, 3, 4].map((at) => `folder ${at}/`),
      )
      assert.equal((await Array.fromAsync(list('listed', 'folder 3/', true))).length, 5)
    }
  })

  it('copies an object, and composes one of several', async () => {
    await client.putObject('first', 'head', randomBytes(5 * MIB))
    await client.putObject('first', 'tail', 'the end')
    await client.copyObject('first', 'tail copied', '/first/tail')
    assert.equal(await textOf(await client.getObject('first', 'tail copied')), 'the end')
    await client.composeObject(
      new minio.CopyDestinationOptions({ Bucket: 'first', Object: 'composed' }),
      ['head', 'tail'].map((key) => new minio.CopySourceOptions({ Bucket: 'first', Object: key })),
    )
    assert.equal((await client.statObject('first', 'composed')).size, 5 * MIB + 7)
    assert.equal(await textOf(await client.getPartialObject('first', 'composed', 5 * MIB)), 'the end')
  })

  it('finds an unfinished upload and removes it', async () => {
    const unfinished = () => Array.fromAsync(client.listIncompleteUploads('first', 'unfinished', true))
    await client.initiateNewMultipartUpload('first', 'unfinished', {})
    assert.deepEqual(
      (await unfinished()).map((upload) => upload.key),
      ['unfinished'],
    )
    await client.removeIncompleteUpload('first', 'unfinished')
    assert.deepEqual(await unfinished(), [])
  })

  it('signs addresses that anyone may use', async () => {
    const to = await client.presignedPutObject('first', 'signed key', 60)
    assert.equal((await fetch(to, { method: 'PUT', body: 'by address' })).status, 200)
    const from = await client.presignedGetObject('first', 'signed key', 60, {
      'response-content-disposition': 'attachment; filename="saved.txt"',
    })
    const answer = await fetch(from)
    assert.equal(await answer.text(), 'by address')
    assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="saved.txt"')
    assert.equal((await fetch(from.replace('signed%20key', 'stream'))).status, 403)
  })

  it('signs a form that anyone may fill in', async () => {
    const policy = client.newPostPolicy()
    policy.setBucket('first')
    policy.setKey('from a form')
    policy.setExpires(new Date(Date.now() + 60_000))
    policy.setContentLengthRange(1, 100)
    const { postURL, formData } = await client.presignedPostPolicy(policy)
    const formOf = (text: string) => {
      const form = new FormData()
      for (const [name, value] of Object.entries(formData)) form.append(name, value)
      form.append('file', new Blob([text]), 'name.txt')
      return form
    }
    const refused = await fetch(postURL, { method: 'POST', body: formOf('x'.repeat(101)) })
    assert.match(await refused.text(), /EntityTooLarge/)
    assert.equal((await fetch(postURL, { method: 'POST', body: formOf('filled in') })).status, 204)
    assert.equal(await textOf(await client.getObject('first', 'from a form')), 'filled in')
  })

  it('keeps versions', async () => {
    await client.makeBucket('versions')
    await client.setBucketVersioning('versions', { Status: 'Enabled' })
    assert.equal((await client.getBucketVersioning('versions')).Status, 'Enabled')
    const { versionId } = await client.putObject('versions', 'key', 'one')
    await client.putObject('versions', 'key', 'two')
    await client.removeObject('versions', 'key')
    await assert.rejects(client.getObject('versions', 'key'), { code: 'NoSuchKey' })
    assert.equal(await textOf(await client.getObject('versions', 'key', { versionId: versionId ?? '' })), 'one')
    const all = await Array.fromAsync(client.listObjects('versions', '', true, { IncludeVersion: true }))
    assert.equal(all.length, 3)
    assert.equal(all.filter((entry) => entry.isDeleteMarker === true).length, 1)
  })

  it('removes one object and many', async () => {
    await client.removeObject('first', 'head')
    await assert.rejects(client.statObject('first', 'head'), { code: 'NotFound' })
    const keys = await Array.fromAsync(client.listObjects('listed', '', true))
    await client.removeObjects(
      'listed',
      keys.map((entry) => entry.name ?? ''),
    )
    assert.deepEqual(await Array.fromAsync(client.listObjects('listed', '', true)), [])
    await client.removeBucket('listed')
  })

  it('tags an object', async () => {
    await client.setObjectTagging('first', 'tail', { stage: 'test', 'with space': 'a=b' })
    assert.deepEqual(await client.getObjectTagging('first', 'tail'), [
      { Key: 'stage', Value: 'test' },
      { Key: 'with space', Value: 'a=b' },
    ])
  })

  it('opens a prefix to everyone by policy', async () => {
    await client.putObject('first', 'public/page', 'for all')
    const address = `${product.s3Http}/first/public/page`
    assert.equal((await fetch(address)).status, 403)
    const Statement = [
      {
        Effect: 'Allow',
        Principal: { AWS: ['*'] },
        Action: ['s3:GetObject'],
        Resource: ['arn:aws:s3:::first/public/*'],
      },
    ]
    await client.setBucketPolicy('first', JSON.stringify({ Version: '2012-10-17', Statement }))
    assert.match(await client.getBucketPolicy('first'), /arn:aws:s3:::first\/public\/\*/)
    assert.equal(await (await fetch(address)).text(), 'for all')
    await client.setBucketPolicy('first', '')
    assert.equal((await fetch(address)).status, 403)
  })

  it('sets a lifecycle', async () => {
    const Rule = [{ ID: 'old', Status: 'Enabled', Filter: { Prefix: 'logs/' }, Expiration: { Days: 30 } }]
    await client.setBucketLifecycle('first', { Rule })
    assert.match(JSON.stringify(await client.getBucketLifecycle('first')), /"logs\/"/)
  })
})
