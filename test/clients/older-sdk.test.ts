/** The SDK for JavaScript of November 2024: before checksums by default, and with its upload manager and presigner. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { after, before, it } from 'node:test'
import type * as Sdk from '@aws-sdk/client-s3'
import { startProduct, type Product } from '../support/product.ts'
import { loadClient, reasonWithoutClient } from './npm-clients.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'
import { sha256Of } from './tree.ts'

const MIB = 2 ** 20
const skip = reasonUnlessWhole('src/s3/sdk.test.ts') || reasonWithoutClient('@aws-sdk/client-s3')

/** The commands that are used look the same today, so today's types do. */
type S3Client = Sdk.S3Client
interface Presigner {
  readonly getSignedUrl: (client: S3Client, command: object, options: { expiresIn: number }) => Promise<string>
}
interface UploadManager {
  readonly Upload: new (options: object) => { done(): Promise<{ ETag?: string; Key?: string }>; abort(): Promise<void> }
}

describeUnless(skip, 'the SDK for JavaScript of 2024', { timeout: 120_000 }, () => {
  let product: Product
  let sdk: typeof Sdk
  let client: S3Client
  const bucket = { Bucket: 'older' }
  const digest = async (key: string) => {
    const { Body } = await client.send(new sdk.GetObjectCommand({ ...bucket, Key: key }))
    return sha256Of(Body as unknown as AsyncIterable<Uint8Array>)
  }
  const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

  before(async () => {
    product = await startProduct()
    sdk = loadClient('@aws-sdk/client-s3') as typeof Sdk
    client = new sdk.S3Client({
      endpoint: product.s3Http ?? '',
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: { accessKeyId: product.accessKey, secretAccessKey: product.secretKey },
    })
    await client.send(new sdk.CreateBucketCommand(bucket))
  })
  after(async () => {
    client.destroy()
    await product.stop()
  })

  it('is the version that the lock file names', () => {
    assert.equal((loadClient('@aws-sdk/client-s3/package.json') as { version: string }).version, '3.693.0')
  })

  it('stores and reads with metadata and no checksum', async () => {
    const sent = {
      ...bucket,
      Key: 'ünd + mehr',
      Body: 'text',
      ContentType: 'text/plain',
      Metadata: { colour: 'green' },
    }
    const put = await client.send(new sdk.PutObjectCommand(sent))
    assert.equal(put.ETag, `"${createHash('md5').update('text').digest('hex')}"`)
    const { Body, ...got } = await client.send(new sdk.GetObjectCommand({ ...bucket, Key: 'ünd + mehr' }))
    assert.equal(await Body?.transformToString(), 'text')
    assert.deepEqual([got.ContentType, got.ContentLength, got.Metadata], ['text/plain', 4, { colour: 'green' }])
  })

  it('sends the checksum that it is told to, and verifies what comes back', async () => {
    for (const ChecksumAlgorithm of ['CRC32', 'CRC32C', 'SHA1', 'SHA256'] as const) {
      const object = { ...bucket, Key: ChecksumAlgorithm }
      const put = await client.send(new sdk.PutObjectCommand({ ...object, ChecksumAlgorithm, Body: 'summed' }))
      const sum = put[`Checksum${ChecksumAlgorithm}`]
      assert.ok(sum !== undefined, ChecksumAlgorithm)
      const got = await client.send(new sdk.GetObjectCommand({ ...object, ChecksumMode: 'ENABLED' }))
      assert.equal(got[`Checksum${ChecksumAlgorithm}`], sum)
      assert.equal(await got.Body?.transformToString(), 'summed')
    }
  })

  it('sends a stream with a checksum behind it', async () => {
    const bytes = randomBytes(2 * MIB + 1)
    await client.send(
      new sdk.PutObjectCommand({
        ...bucket,
        Key: 'trailer',
        Body: Readable.from([bytes.subarray(0, MIB), bytes.subarray(MIB)]),
        ContentLength: bytes.length,
        ChecksumAlgorithm: 'CRC32C',
      }),
    )
    assert.equal(await digest('trailer'), sha256(bytes))
  })

  it('its upload manager sends a stream of unknown length in parts', async () => {
    const { Upload } = loadClient('@aws-sdk/lib-storage') as UploadManager
    const bytes = randomBytes(17 * MIB + 3)
    const pieces = Array.from({ length: 18 }, (_, at) => bytes.subarray(at * MIB, (at + 1) * MIB))
    const done = await new Upload({ client, params: { ...bucket, Key: 'managed', Body: Readable.from(pieces) } }).done()
    assert.match(done.ETag ?? '', /-4"$/)
    assert.equal(await digest('managed'), sha256(bytes))
  })

  it('reads one part and one range', async () => {
    const object = { ...bucket, Key: 'managed' }
    const part = await client.send(new sdk.HeadObjectCommand({ ...object, PartNumber: 4 }))
    assert.deepEqual([part.PartsCount, part.ContentLength], [4, 2 * MIB + 3])
    const range = await client.send(new sdk.GetObjectCommand({ ...object, Range: 'bytes=-3' }))
    assert.equal(range.ContentRange, `bytes ${17 * MIB}-${17 * MIB + 2}/${17 * MIB + 3}`)
    assert.equal((await range.Body?.transformToByteArray())?.length, 3)
  })

  it('copies, whole and in parts', async () => {
    const source = 'older/managed'
    await client.send(new sdk.CopyObjectCommand({ ...bucket, Key: 'copied', CopySource: source }))
    assert.equal(await digest('copied'), await digest('managed'))
    const object = { ...bucket, Key: 'copied in parts' }
    const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand(object))
    const upload = { ...object, UploadId: UploadId ?? '' }
    const Parts = []
    for (const [at, range] of [`0-${8 * MIB - 1}`, `${8 * MIB}-${17 * MIB + 2}`].entries()) {
      const { CopyPartResult } = await client.send(
        new sdk.UploadPartCopyCommand({
          ...upload,
          PartNumber: at + 1,
          CopySource: source,
          CopySourceRange: `bytes=${range}`,
        }),
      )
      Parts.push({ PartNumber: at + 1, ETag: CopyPartResult?.ETag ?? '' })
    }
    await client.send(new sdk.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }))
    assert.equal(await digest('copied in parts'), await digest('managed'))
  })

  it('lists page by page, with both listings', async () => {
    const keys = Array.from({ length: 23 }, (_, at) => `listed/${String(at).padStart(2, '0')}`)
    for (const Key of keys) await client.send(new sdk.PutObjectCommand({ ...bucket, Key, Body: Key }))
    const found: (string | undefined)[] = []
    for await (const page of sdk.paginateListObjectsV2({ client, pageSize: 10 }, { ...bucket, Prefix: 'listed/' })) {
      found.push(...(page.Contents ?? []).map((entry) => entry.Key))
    }
    assert.deepEqual(found, keys)
    const first = await client.send(new sdk.ListObjectsCommand({ ...bucket, Prefix: 'listed/', MaxKeys: 20 }))
    assert.equal(first.IsTruncated, true)
    const rest = { ...bucket, Prefix: 'listed/', Marker: first.Contents?.at(-1)?.Key }
    assert.equal((await client.send(new sdk.ListObjectsCommand(rest))).Contents?.length, 3)
  })

  it('signs addresses that anyone may use', async () => {
    const { getSignedUrl } = loadClient('@aws-sdk/s3-request-presigner') as Presigner
    const object = { ...bucket, Key: 'signed key' }
    const to = await getSignedUrl(client, new sdk.PutObjectCommand(object), { expiresIn: 60 })
    assert.equal((await fetch(to, { method: 'PUT', body: 'by address' })).status, 200)
    const from = await getSignedUrl(client, new sdk.GetObjectCommand(object), { expiresIn: 60 })
    assert.equal(await (await fetch(from)).text(), 'by address')
    assert.equal((await fetch(from, { method: 'DELETE' })).status, 403)
  })

  it('understands refusals by their names', async () => {
    const missing = new sdk.GetObjectCommand({ ...bucket, Key: 'missing' })
    await assert.rejects(client.send(missing), (failure) => failure instanceof sdk.NoSuchKey)
    const nowhere = new sdk.ListObjectsV2Command({ Bucket: 'nowhere' })
    await assert.rejects(client.send(nowhere), { name: 'NoSuchBucket' })
    const once = { ...bucket, Key: 'once', Body: 'x', IfNoneMatch: '*' }
    await client.send(new sdk.PutObjectCommand(once))
    await assert.rejects(client.send(new sdk.PutObjectCommand(once)), { name: 'PreconditionFailed' })
  })

  it('deletes one and many', async () => {
    await client.send(new sdk.DeleteObjectCommand({ ...bucket, Key: 'once' }))
    const { Contents } = await client.send(new sdk.ListObjectsV2Command(bucket))
    const Objects = (Contents ?? []).map((entry) => ({ Key: entry.Key ?? '' }))
    assert.ok(Objects.length > 20)
    const { Deleted, Errors } = await client.send(new sdk.DeleteObjectsCommand({ ...bucket, Delete: { Objects } }))
    assert.deepEqual([Deleted?.length, Errors], [Objects.length, undefined])
    assert.equal((await client.send(new sdk.ListObjectsV2Command(bucket))).KeyCount, 0)
    await client.send(new sdk.DeleteBucketCommand(bucket))
  })
})
