import type { ObjectChecksum, ObjectDraft } from '../../ports/catalog.ts'
import { checksumAlgorithms } from '../checksums/algorithms.ts'

/** As engines take them. */
const LABEL_BYTES_MAX = 32 * 1024

/** What a row has that follows from neither its bytes nor its key. */
export type LabelledObject = Pick<ObjectDraft, 'version' | 'details' | 'storageClass' | 'lock' | 'legalHold'>

/** What a blob says about itself, so that a lost index can be rebuilt from the files alone. */
export interface BlobLabel {
  /**
   * The name that it was to have; the engine may have given it another. A blob for which the file of its twin stands,
   * because it has the same bytes, has the label of that.
   */
  readonly blob: string
  readonly bucket: string
  readonly key: Uint8Array
  readonly sizeBytes: number
  readonly etag: string
  readonly checksum: ObjectChecksum
  readonly timeMs: number
  /** Of a blob that is a part of an upload. */
  readonly part?: { readonly upload: string; readonly number: number }
  /** Of a blob that is a whole object. Missing in labels of an earlier release. */
  readonly object?: LabelledObject
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

/**
 * One line of JSON: `{"blob":"…","bucket":"…","key":"<base64>","size":4096,"etag":"…","crc64nvme":"…","time":1795245436000,
 * "object":{"version":"…","details":{…}}}`. A key has 1 KiB and details 16 KiB at most, so it fits into 32 KiB; details that
 * do not are left out.
 */
export function blobLabel(label: BlobLabel): Uint8Array {
  const whole = printed(label)
  if (whole.length <= LABEL_BYTES_MAX) return whole
  const { object: _, ...rest } = label
  return printed(rest)
}

function printed({ blob, bucket, key, sizeBytes, etag, checksum, timeMs, part, object }: BlobLabel): Uint8Array {
  return Buffer.from(
    JSON.stringify({
      blob,
      bucket,
      key: Buffer.from(key).toString('base64'),
      size: sizeBytes,
      etag,
      [checksum.algorithm.toLowerCase()]: checksum.value,
      time: timeMs,
      ...(part === undefined ? {} : { upload: part.upload, part: part.number }),
      ...(object === undefined ? {} : { object }),
    }),
  )
}

/** Nothing when it cannot be understood. In a label of an earlier release `blob` is ''. */
export function readLabel(label: Uint8Array): BlobLabel | undefined {
  try {
    const found = JSON.parse(Buffer.from(label).toString()) as Readonly<Record<string, unknown>>
    const { blob = '', bucket, key, size, etag, time, upload, part, object } = found
    const algorithm = Object.keys(checksumAlgorithms).find((each) => typeof found[each.toLowerCase()] === 'string')
    const isWhole =
      [blob, bucket, key, etag].every((each) => typeof each === 'string') &&
      [size, time].every((each) => Number.isSafeInteger(each))
    if (!isWhole || algorithm === undefined) return undefined
    return {
      blob: blob as string,
      bucket: bucket as string,
      key: Buffer.from(key as string, 'base64'),
      sizeBytes: size as number,
      etag: etag as string,
      checksum: { algorithm, type: 'FULL_OBJECT', value: found[algorithm.toLowerCase()] as string },
      timeMs: time as number,
      ...(typeof upload === 'string' && typeof part === 'number' ? { part: { upload, number: part } } : {}),
      ...(typeof object === 'object' && object !== null ? { object: object as LabelledObject } : {}),
    }
  } catch {
    return undefined
  }
}
