/** Bodies of objects, how they come in, and how much room there is for them. */
import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SimulatedRandom } from '../../../src/engines/simulated/random.ts'
import type { ObjectDetails } from '../../../src/s3/objects/details.ts'
import { digested, type IncomingBody } from '../../../src/s3/objects/store-body.ts'
import { bucketBytes, isObject, nullRow, sizeOf, usedBytes, type Blob, type Bucket, type Volume } from './model.ts'
import { refuse } from './operation.ts'

const SIZES = [0, 1, 7, 100, 100, 4096, 4096, 70_000, 300_000]
const PIECE_BYTES = 40_000

export interface Content {
  readonly bytes: Buffer
  readonly etag: string
  readonly blobs: readonly Blob[]
}

/** Bytes like no others. */
export function someContent(random: SimulatedRandom): Content {
  return contentOf(random, SIZES[random.below(SIZES.length)] ?? 0)
}

export function contentOf(random: SimulatedRandom, sizeBytes: number): Content {
  const bytes = Buffer.alloc(sizeBytes, random.uuid())
  return { bytes, etag: md5([bytes]), blobs: sizeBytes === 0 ? [] : [{ bytes }] }
}

export function md5(pieces: readonly Buffer[]): string {
  const hash = createHash('md5')
  for (const piece of pieces) hash.update(piece)
  return hash.digest('hex')
}

/** The body as it arrives; cut off in the middle where that is wanted. */
export function arriving({ bytes }: Content, isCutOff = false): IncomingBody {
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      yield bytes.subarray(at, at + PIECE_BYTES)
      await nextTurn()
    }
    if (isCutOff) throw new Error(CUT_OFF)
  }
  return digested(pieces(), bytes.length, 'CRC64NVME')
}

export const CUT_OFF = 'The client is gone.'

export const plainDetails: ObjectDetails = { metadata: { contentType: 'text/plain', user: {} }, owner: '', tags: [] }

/** What is refused before the body is asked for: what goes for it makes room. */
export function refuseEarly(volume: Volume, bucket: Bucket, sizeBytes: number, replacedBytes: number): void {
  const bucketRoom = bucket.limitBytes - bucketBytes(bucket)
  const volumeRoom = volume.sizeBytes - usedBytes(volume)
  if (sizeBytes <= bucketRoom && sizeBytes <= volumeRoom) return
  const growth = sizeBytes - replacedBytes
  if (growth > bucketRoom || growth > volumeRoom) refuse('QuotaExceeded')
}

/** The same for an object. Where versions are kept nothing goes for it; where they are suspended, the null version does. */
export function refuseObjectEarly(volume: Volume, bucket: Bucket, key: string, sizeBytes: number): void {
  const replaced = bucket.versioning === 'enabled' ? undefined : nullRow(bucket, key)
  refuseEarly(volume, bucket, sizeBytes, isObject(replaced) ? sizeOf(replaced.blobs) : 0)
}

/** Does what grows a bucket and its volume, and refuses it where they become too large by it. */
export function growing(volume: Volume, bucket: Bucket, grow: () => void): void {
  const [bucketBefore, volumeBefore] = [bucketBytes(bucket), usedBytes(volume)]
  grow()
  const [bucketAfter, volumeAfter] = [bucketBytes(bucket), usedBytes(volume)]
  if (bucketAfter > bucket.limitBytes && bucketAfter > bucketBefore) refuse('QuotaExceeded')
  if (volumeAfter > volume.sizeBytes && volumeAfter > volumeBefore) refuse('QuotaExceeded')
}
