import { createHash } from 'node:crypto'
import type { ObjectChecksum, ObjectDraft, PartRow, WriteCondition } from '../../ports/catalog.ts'
import { compositeChecksum, fullObjectChecksum } from '../checksums/algorithms.ts'
import type { ChecksumAlgorithm, ChecksumType } from '../checksums/algorithms.ts'
import { s3Error } from '../errors.ts'
import { checksumBytes } from './checksums.ts'
import { readDetails, objectDetails } from './details.ts'
import { lockOf } from './locks.ts'
import { newId } from './ids.ts'
import { partBytesMin } from './limits.ts'
import { allParts } from './parts.ts'
import { tooLarge } from './room.ts'
import type { ObjectStore, OpenBucket } from './store.ts'
import { findUpload } from './uploads.ts'
import type { OpenUpload } from './uploads.ts'

/** A part as the client names it. */
export interface NamedPart {
  readonly number: number
  readonly etag: string
  readonly checksum: { readonly algorithm: ChecksumAlgorithm; readonly value: string } | undefined
}

/** What the client says about the object that the parts make. All of it is checked, none of it is needed. */
export interface Expected {
  readonly sizeBytes: number | undefined
  readonly type: ChecksumType | undefined
  readonly checksum: { readonly algorithm: ChecksumAlgorithm; readonly value: string } | undefined
}

/** The object that was made, now or by the request that is repeated. */
export type Completed = Pick<ObjectDraft, 'etag' | 'checksum' | 'version' | 'sizeBytes' | 'modifiedMs' | 'details'>

/**
 * Makes one object of the parts of an upload. No byte moves: the object is the list of the parts' blobs, and its ETag and
 * checksum follow from those of the parts.
 *
 * A client that lost the answer asks again. Then the upload is gone, and the object remembers that it came from it.
 */
export async function completeUpload(
  store: ObjectStore,
  bucket: OpenBucket,
  key: Uint8Array,
  order: {
    readonly upload: string
    readonly parts: readonly NamedPart[]
    readonly expected: Expected
    readonly condition: WriteCondition | undefined
  },
): Promise<Completed> {
  const upload = await findUpload(store, bucket, key, order.upload)
  if (upload === undefined) return finished(store, bucket, key, order.upload)
  try {
    return await complete(store, bucket, upload, order)
  } catch (failure) {
    // Another request may have completed it meanwhile; then this one found the upload or its parts gone.
    if ((await findUpload(store, bucket, key, order.upload)) !== undefined) throw failure
    return finished(store, bucket, key, order.upload)
  }
}

async function complete(
  store: ObjectStore,
  bucket: OpenBucket,
  upload: OpenUpload,
  order: Parameters<typeof completeUpload>[3],
): Promise<ObjectDraft> {
  const parts = chooseParts(bucket, await allParts(store, bucket, upload.id), order.parts, upload)
  const object = assemble(bucket, parts, upload, { version: newId(store.system), nowMs: store.system.clock.now() })
  checkExpected(object, order.expected)
  const [outcome] = await store.catalog.commit([
    {
      do: 'complete-upload',
      bucket: bucket.uuid,
      upload: upload.id,
      parts: parts.map(({ number, etag }) => ({ number, etag })),
      object,
      nowMs: object.modifiedMs,
      ...(order.condition === undefined ? {} : { condition: order.condition }),
    },
  ])
  return { ...object, version: outcome?.version ?? 'null' }
}

async function finished(
  { catalog }: ObjectStore,
  bucket: OpenBucket,
  key: Uint8Array,
  upload: string,
): Promise<Completed> {
  const object = await catalog.object(bucket.uuid, key)
  if (object === undefined || readDetails(object.details).upload !== upload) {
    throw s3Error('NoSuchUpload', { fields: { UploadId: upload } })
  }
  return object
}

/** The parts that are named, in their order, with what is wrong with the list. */
function chooseParts(
  { objectBytesMax }: OpenBucket,
  kept: readonly PartRow[],
  named: readonly NamedPart[],
  upload: OpenUpload,
): PartRow[] {
  const byNumber = new Map(kept.map((part) => [part.number, part]))
  let before = 0
  const chosen = named.map((one) => {
    const { number, etag, checksum } = one
    if (number <= before) throw s3Error('InvalidPartOrder')
    before = number
    insistOnChecksum(one, upload)
    const part = byNumber.get(number)
    if (part !== undefined && checksum !== undefined) refuseOtherAlgorithm(part, checksum, upload)
    if (part === undefined || part.etag !== etag || !isChecksumRight(part, checksum)) {
      throw s3Error('InvalidPart', { fields: { UploadId: upload.id, PartNumber: String(number), ETag: etag } })
    }
    return part
  })
  let total = 0
  for (const [at, part] of chosen.entries()) {
    total += part.sizeBytes
    if (part.sizeBytes < partBytesMin && at < chosen.length - 1) {
      throw s3Error('EntityTooSmall', {
        fields: {
          ProposedSize: String(part.sizeBytes),
          MinSizeAllowed: String(partBytesMin),
          PartNumber: String(part.number),
          ETag: part.etag,
        },
      })
    }
  }
  if (total > objectBytesMax) throw tooLarge(total, objectBytesMax)
  return chosen
}

/** A composite checksum is made of those of the parts: the client that chose it names each, as Amazon demands. */
function insistOnChecksum({ number, checksum }: NamedPart, { algorithm, type, isAlgorithmChosen }: OpenUpload): void {
  if (checksum !== undefined || type !== 'COMPOSITE' || !isAlgorithmChosen) return
  throw s3Error('InvalidRequest', {
    message: `The upload was created using a ${algorithm.toLowerCase()} checksum. The complete request must include the checksum for each part. It was missing for part ${number} in the request.`,
  })
}

/** Where the upload chose no algorithm, a value of any was verified when the part came, and another is kept. */
function refuseOtherAlgorithm(
  { number, checksum: kept }: PartRow,
  { algorithm }: NonNullable<NamedPart['checksum']>,
  upload: OpenUpload,
): void {
  if (!upload.isAlgorithmChosen || algorithm === kept.algorithm) return
  throw s3Error('BadDigest', {
    message: `The ${algorithm.toLowerCase()} you specified for part ${number} did not match what we received.`,
  })
}

function isChecksumRight({ checksum: kept }: PartRow, named: NamedPart['checksum']): boolean {
  return named === undefined || named.algorithm !== kept.algorithm || named.value === kept.value
}

function assemble(
  bucket: OpenBucket,
  parts: readonly PartRow[],
  upload: OpenUpload,
  at: { version: string; nowMs: number },
): ObjectDraft {
  const md5 = createHash('md5')
  for (const part of parts) md5.update(part.etag, 'hex')
  return {
    version: at.version,
    sizeBytes: parts.reduce((sum, part) => sum + part.sizeBytes, 0),
    etag: `${md5.digest('hex')}-${parts.length}`,
    modifiedMs: at.nowMs,
    checksum: wholeChecksum(parts, upload),
    blobs: parts.flatMap((part) => part.blobs),
    parts: parts.map(({ number, sizeBytes, checksum }) => ({ number, sizeBytes, checksum: checksum.value })),
    ...objectDetails({ ...upload.details, upload: upload.id }),
    ...lockOf(bucket, upload.locks, at.nowMs),
  }
}

function wholeChecksum(parts: readonly PartRow[], { algorithm, type }: OpenUpload): ObjectChecksum {
  if (type === 'COMPOSITE') {
    const value = compositeChecksum(
      algorithm,
      parts.map((part) => checksumBytes(part.checksum)),
    )
    return { algorithm, type, value }
  }
  const whole = fullObjectChecksum(
    algorithm,
    parts.map((part) => ({ value: checksumBytes(part.checksum), sizeBytes: part.sizeBytes })),
  )
  if (whole === undefined) throw new Error(`${algorithm} cannot be combined, so no upload may have it as FULL_OBJECT.`)
  return { algorithm, type, value: whole.toString('base64') }
}

function checkExpected(object: ObjectDraft, expected: Expected): void {
  if (expected.sizeBytes !== undefined && expected.sizeBytes !== object.sizeBytes) {
    throw s3Error('InvalidRequest', {
      message: `The provided 'x-amz-mp-object-size' header value ${expected.sizeBytes} does not match what was computed: ${object.sizeBytes}`,
    })
  }
  if (expected.type !== undefined && expected.type !== object.checksum.type) {
    throw s3Error('InvalidRequest', {
      message: `The upload was created using the ${object.checksum.type} checksum mode. The complete request must use the same checksum mode.`,
    })
  }
  const { checksum } = expected
  if (checksum === undefined) return
  if (checksum.algorithm !== object.checksum.algorithm) {
    throw s3Error('InvalidRequest', {
      message: `Checksum Type mismatch occurred, expected checksum Type: ${object.checksum.algorithm.toLowerCase()}, actual checksum Type: ${checksum.algorithm.toLowerCase()}`,
    })
  }
  // A composite value may come without the number of parts.
  const [bare] = object.checksum.value.split('-')
  if (checksum.value !== object.checksum.value && checksum.value !== bare) {
    throw s3Error('BadDigest', {
      message: `The ${checksum.algorithm.toLowerCase()} you specified did not match the calculated checksum.`,
    })
  }
}
