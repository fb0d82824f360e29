import type { BlobRef, ObjectRow } from '../../ports/catalog.ts'
import { VolumesFailure } from '../../ports/volumes.ts'
import type { FileDamage } from '../../ports/volumes.ts'
import { s3Error } from '../errors.ts'
import type { OpenBucket } from './store.ts'

/** What a read has met: the object that was asked for, and the blob of it that is damaged. */
export interface ReadDamage {
  readonly volume: string
  readonly blob: string
  readonly kind: FileDamage | 'missing'
  readonly message: string
  readonly object: { readonly bucket: string; readonly key: string; readonly version: string }
}

export type TellDamage = (found: ReadDamage) => void

/** A damaged object that clients ask for again and again is told of once in this time. */
const toldAgainMs = 60_000
/** Blobs that were told of lately. */
const toldMax = 1000

/** Passes on what was not told of lately. */
export function tellingOnce(tell: TellDamage, elapsedMs: () => number): TellDamage {
  const told = new Map<string, number>()
  return (found) => {
    const name = `${found.volume}/${found.blob}`
    const nowMs = elapsedMs()
    if (nowMs - (told.get(name) ?? -Infinity) < toldAgainMs) return
    told.delete(name)
    told.set(name, nowMs)
    const [oldest] = told.keys()
    if (told.size > toldMax && oldest !== undefined) told.delete(oldest)
    tell(found)
  }
}

/** What a failure to read a blob of an object says about it; nothing where the blob is sound as far as one knows. */
export function readDamage(
  failure: unknown,
  bucket: OpenBucket,
  { key, version }: ObjectRow,
  { blob }: BlobRef,
): ReadDamage | undefined {
  if (!(failure instanceof VolumesFailure)) return undefined
  const kind = failure.reason === 'damaged' ? (failure.damage ?? 'flipped') : failure.reason
  if (kind !== 'missing' && failure.reason !== 'damaged') return undefined
  const object = { bucket: bucket.uuid, key: Buffer.from(key).toString(), version }
  return { volume: bucket.volume, blob, kind: kind as ReadDamage['kind'], message: failure.message, object }
}

/**
 * Refuses what would pass on an object that is known to be damaged without reading it: a copy that shares its bytes, and
 * HEAD. HEAD does not open the file to find damage that nobody knows of yet: that would cost it more than all the rest.
 */
export async function insistOnSoundness({ isDamaged }: OpenBucket, { blobs }: Pick<ObjectRow, 'blobs'>): Promise<void> {
  if (isDamaged === undefined) return
  for (const { blob } of blobs) {
    if (await isDamaged(blob)) {
      throw s3Error('InternalError', { cause: new VolumesFailure('damaged', 'The object is known to be damaged.') })
    }
  }
}
