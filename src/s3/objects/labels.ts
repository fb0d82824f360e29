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

/** The hex MD5 that a label tells of the bytes of its blob, if it does. */
export function digestOfLabel(label: Uint8Array): string | undefined {
  try {
    const { etag } = JSON.parse(Buffer.from(label).toString()) as { etag?: unknown }
    return typeof etag === 'string' && /^[0-9a-f]{32}$/.test(etag) ? etag : undefined
  } catch {
    return undefined
  }
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
