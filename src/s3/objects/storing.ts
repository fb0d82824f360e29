/** What is done with a new blob so that it takes less of the disk: compressing it, and finding the twin it can share with. */
import type { BlobDraft, BlobRef, StoredBlob } from '../../ports/catalog.ts'
import { VolumesFailure, type WriteHow } from '../../ports/volumes.ts'
import type { ObjectStore, OpenBucket } from './store.ts'

/** As the volume of a bucket has it. Without any of it, a blob is stored as it is and nobody looks at it. */
export interface Storing {
  readonly compress: boolean
  /** Keep the digest, so that who looks for twins later need not read the blob for it. */
  readonly keepDigest: boolean
  /** Look for a twin before the write is answered. */
  readonly findTwin: boolean
}

/** A larger blob is not compared with its twin while a client waits: a run in the background does it. */
const comparedBytesMax = 64 * 2 ** 20

/** How a new blob of a bucket is begun. */
export function writtenHow({ storing, mayPack }: OpenBucket, sizeBytes: number): WriteHow {
  return { compress: storing?.compress === true, sizeBytes, packs: mayPack }
}

/** Tells how a blob that was just committed is stored, after it was made one with its twin where there is one. */
export async function settled(
  store: Pick<ObjectStore, 'catalog' | 'countCompression'>,
  bucket: OpenBucket,
  written: Required<BlobRef> & { readonly storedBytes: number; readonly md5: Buffer },
): Promise<BlobDraft> {
  const { blob, sizeBytes, crc, storedBytes, md5 } = written
  const { storing } = bucket
  if (storing === undefined) return { blob, sizeBytes, crc }
  if (storing.compress && sizeBytes > 0) store.countCompression(bucket.volume, storedBytes < sizeBytes)
  const digest = md5.toString('hex')
  const twin =
    storing.findTwin && sizeBytes <= comparedBytesMax ? await share(store, bucket, written, digest) : undefined
  return {
    blob,
    sizeBytes,
    crc,
    storedBytes: twin?.storedBytes ?? storedBytes,
    ...(storing.keepDigest ? { digest } : {}),
    ...(twin === undefined ? {} : { twin: twin.blob }),
    // Two that came at the same moment have not seen each other. That a twin was looked for says nothing then.
    tried: { compression: storing.compress, dedupe: twin !== undefined },
  }
}

/**
 * The digest only tells where to look. Two different bodies with the same MD5 can be made by anybody, so it is the bytes
 * that decide. What goes wrong costs space, and never the write.
 */
async function share(
  { catalog }: Pick<ObjectStore, 'catalog'>,
  bucket: OpenBucket,
  { blob, sizeBytes }: BlobRef,
  digest: string,
): Promise<StoredBlob | undefined> {
  const [twin] = await catalog.twins(bucket.volume, { digest, sizeBytes }, 1)
  if (twin === undefined) return undefined
  try {
    const sharing = await bucket.place.share(blob, twin.blob)
    return sharing === 'shared' ? twin : undefined
  } catch (failure) {
    if (failure instanceof VolumesFailure) return undefined
    throw failure
  }
}

/** The least that a write of so many bytes may come to in its volume. */
export function leastBytes({ storing }: OpenBucket, sizeBytes: number): number {
  return storing?.compress === true || storing?.findTwin === true ? Math.min(1, sizeBytes) : sizeBytes
}
