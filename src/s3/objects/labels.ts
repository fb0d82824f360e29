import type { ObjectChecksum } from '../../ports/catalog.ts'

/** What a blob says about itself, so that a lost index can be rebuilt from the files alone. */
export interface BlobLabel {
  readonly bucket: string
  readonly key: Uint8Array
  readonly sizeBytes: number
  readonly etag: string
  readonly checksum: ObjectChecksum
  readonly timeMs: number
  readonly part?: { readonly upload: string; readonly number: number }
}

/** One line of JSON: `{"bucket":"…","key":"<base64>","size":4096,"etag":"…","crc64nvme":"…","time":1795245436000}` */
export function blobLabel({ bucket, key, sizeBytes, etag, checksum, timeMs, part }: BlobLabel): Uint8Array {
  return Buffer.from(
    JSON.stringify({
      bucket,
      key: Buffer.from(key).toString('base64'),
      size: sizeBytes,
      etag,
      [checksum.algorithm.toLowerCase()]: checksum.value,
      time: timeMs,
      ...(part === undefined ? {} : { upload: part.upload, part: part.number }),
    }),
  )
}
