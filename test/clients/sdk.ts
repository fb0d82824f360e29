/** The SDK for JavaScript as it comes, pointed at a product. */
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type { Product } from '../support/product.ts'
import { sha256Of, type TreeFile } from './tree.ts'

const PART_BYTES = 16 * 2 ** 20
const PARTS_AT_ONCE = 3

export function sdkFor(product: Product, options: { readonly tries?: number } = {}): S3Client {
  return new S3Client({
    endpoint: product.s3Http ?? '',
    region: 'us-east-1',
    forcePathStyle: true,
    maxAttempts: options.tries ?? 3,
    credentials: { accessKeyId: product.accessKey, secretAccessKey: product.secretKey },
  })
}

export interface Listed {
  readonly sizeBytes: number
  readonly etag: string
}

/** All keys of a bucket, page by page. */
export async function listAll(client: S3Client, bucket: string, prefix = ''): Promise<Map<string, Listed>> {
  const listed = new Map<string, Listed>()
  let token: string | undefined
  do {
    const page = await client.send(
      new ListObjectsV2Command({
        Bucket: bucket,
        Prefix: prefix,
        ...(token === undefined ? {} : { ContinuationToken: token }),
      }),
    )
    for (const { Key, Size, ETag } of page.Contents ?? []) {
      listed.set(Key ?? '', { sizeBytes: Size ?? -1, etag: ETag ?? '' })
    }
    token = page.NextContinuationToken
  } while (token !== undefined)
  return listed
}

/** SHA-256 of what a GET gives; nothing when there is no such key. */
export async function sha256OfObject(client: S3Client, bucket: string, key: string): Promise<string | undefined> {
  try {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }))
    return await sha256Of(Body as unknown as AsyncIterable<Uint8Array>)
  } catch (failure) {
    if ((failure as Error).name === 'NoSuchKey') return undefined
    throw failure
  }
}

/** Uploads a file as tools do: in one request, or in parts when it is large. */
export async function upload(client: S3Client, bucket: string, file: TreeFile): Promise<void> {
  if (file.sizeBytes > PART_BYTES) return uploadInParts(client, bucket, file)
  await client.send(
    new PutObjectCommand({
      Bucket: bucket,
      Key: file.key,
      Body: createReadStream(file.path),
      ContentLength: file.sizeBytes,
    }),
  )
}

async function uploadInParts(client: S3Client, bucket: string, file: TreeFile): Promise<void> {
  const object = { Bucket: bucket, Key: file.key }
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(object))
  const parts: { PartNumber: number; ETag: string; ChecksumCRC32: string }[] = []
  const handle = await open(file.path)
  let next = 0
  const lane = async () => {
    while (next * PART_BYTES < file.sizeBytes) {
      const at = next++
      const body = Buffer.alloc(Math.min(PART_BYTES, file.sizeBytes - at * PART_BYTES))
      await handle.read(body, 0, body.length, at * PART_BYTES)
      const { ETag, ChecksumCRC32 } = await client.send(
        new UploadPartCommand({ ...object, UploadId: UploadId ?? '', PartNumber: at + 1, Body: body }),
      )
      parts.push({ PartNumber: at + 1, ETag: ETag ?? '', ChecksumCRC32: ChecksumCRC32 ?? '' })
    }
  }
  try {
    await Promise.all(Array.from({ length: PARTS_AT_ONCE }, lane))
  } finally {
    await handle.close()
  }
  await client.send(
    new CompleteMultipartUploadCommand({
      ...object,
      UploadId: UploadId ?? '',
      MultipartUpload: { Parts: parts.toSorted((a, b) => a.PartNumber - b.PartNumber) },
    }),
  )
}
