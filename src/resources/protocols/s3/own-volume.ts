/**
 * The size of a volume that was made for one bucket. It is thin, and as large as the bucket, so that sums of sizes say what
 * was promised. What snapshots hold comes on top of that: the volume grows by itself to make room for it, and shrinks back
 * to the size of the bucket. When the bucket is resized, the volume follows in the same commit.
 */
import { MADE_FOR, type Cluster } from '../../../core/cluster.ts'
import type { Change } from '../../../ports/catalog.ts'
import { isGuaranteed } from '../../storage/aggregates/space.ts'
import { VOLUME_BYTES_MAX, VOLUME_BYTES_MIN } from '../../storage/volumes/size.ts'
import { isAutosizing } from '../../storage/volumes/autosize.ts'
import { reserveOf } from '../../storage/volumes/reserve.ts'
import type { Bucket, Volume, VolumeDraft } from '../../../records/rows.ts'

/** A bucket that is nearly full is usual, so its volume grows late. In percent of its size. */
const GROW_THRESHOLD = 98

export function ownVolumeSize(bucketBytes: number): VolumeDraft & { readonly size: number } {
  const size = sizeFor(bucketBytes)
  return {
    size,
    'autosize.mode': 'grow_shrink',
    'autosize.minimum': size,
    'autosize.maximum': VOLUME_BYTES_MAX,
    'autosize.grow_threshold': GROW_THRESHOLD,
  }
}

/** What makes the volume of a bucket follow its new size. A volume that is guaranteed or shared by hand is left alone. */
export async function followSize(cluster: Cluster, before: Bucket, after: Bucket): Promise<Change[]> {
  if (after['size'] === before['size']) return []
  const record = await cluster.record('storage/volumes', before['volume.uuid'] ?? '')
  if (record === undefined) return []
  const volume: Volume = record.body
  if (volume[MADE_FOR] !== before['uuid'] || isGuaranteed(volume)) return []
  const wanted = sizeFor(after['size'])
  const size = Math.max(volume['size'] ?? 0, wanted)
  const limits = {
    'autosize.minimum': wanted,
    'autosize.maximum': Math.max(volume['autosize.maximum'] ?? 0, size),
  }
  const sized = { ...volume, size, ...(isAutosizing(volume) ? limits : {}) }
  return [
    // Of the same size too: the watch over sizes looks at it again, and lets it shrink.
    { do: 'resize-volume', volume: record.key, sizeBytes: size, reserveBytes: reserveOf(sized) },
    cluster.put('storage/volumes', sized, { expect: record.revision }),
  ]
}

function sizeFor(bucketBytes: number): number {
  return Math.max(VOLUME_BYTES_MIN, bucketBytes)
}
