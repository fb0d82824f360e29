import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { after, before, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { startProduct, type Product } from '../support/product.ts'
import { sdkFor } from './sdk.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const PARTS = 8
const PART_BYTES = 8 * 1024 * 1024

const skip = reasonUnlessWhole('src/s3/objects/failures.test.ts')
describeUnless(skip, 'an object of many parts that is replaced while it is read', {}, () => {
  let product: Product
  let s3: S3Client
  const bytes = Array.from({ length: PARTS }, () => randomBytes(PART_BYTES))

  before(async () => {
    product = await startProduct({ environment: { HOLDFAST_WORKERS: '2' } })
    s3 = sdkFor(product)
    await s3.send(new CreateBucketCommand({ Bucket: 'first' }))
  })
  after(async () => {
    s3.destroy()
    await product.stop()
  })

  for (const [what, replace] of [
    ['replaced', () => s3.send(new PutObjectCommand({ Bucket: 'first', Key: 'large', Body: 'small' }))],
    ['deleted', () => s3.send(new DeleteObjectCommand({ Bucket: 'first', Key: 'large' }))],
  ] as const) {
    it(`is read to its end when it is ${what}, and only then gives its space back`, async () => {
      await upload()
      const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'first', Key: 'large' }))
      const body = Body as Readable
      await replace()
      // Several rounds of housekeeping, in which its blobs would go.
      await wait(3500)
      const hash = createHash('sha256')
      for await (const piece of body) hash.update(piece as Buffer)
      assert.equal(hash.digest('hex'), createHash('sha256').update(Buffer.concat(bytes)).digest('hex'))
      for (let tries = 0; blobs() > 2 && tries < 50; tries += 1) await wait(200)
      assert.ok(blobs() <= 2, `${blobs()} blobs are left`)
    })
  }

  function blobs(): number {
    const files = readdirSync(product.folder, { recursive: true, encoding: 'utf8' })
    return files.filter((file) => /\/objects\/[0-9a-f]{2}\/[0-9a-f]{32}$/.test(file)).length
  }

  async function upload(): Promise<void> {
    const of = { Bucket: 'first', Key: 'large' }
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand(of))
    const Parts = await Promise.all(
      bytes.map(async (Body, at) => {
        const { ETag } = await s3.send(new UploadPartCommand({ ...of, UploadId, PartNumber: at + 1, Body }))
        return { ETag, PartNumber: at + 1 }
      }),
    )
    await s3.send(new CompleteMultipartUploadCommand({ ...of, UploadId, MultipartUpload: { Parts } }))
  }
})
