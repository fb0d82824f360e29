/**
 * Sets the size of a volume that chooses it itself. Whether a write fits is decided by its commit alone, here as
 * everywhere: this only changes the size that the commit goes by, ahead of writers or when one was refused.
 */
import { alone } from '../../../core/grounds.ts'
import { aggregateOf } from '../../../storage/aggregate-of.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { CommitRefused } from '../../../ports/catalog.ts'
import { isMadeForBucket, sameLimit, storageLeft } from '../../svm/storage-limit.ts'
import { AGGREGATES_LOCK, availableIn, isGuaranteed, volumesOfSvm } from '../aggregates/space.ts'
import { largestSize, wantedSize } from './autosize.ts'
import { chargedTo, reserveOf } from './reserve.ts'
import type { Volume } from '../../../records/rows.ts'

/**
 * Gives a volume the size that it should have, as if it held `moreBytes` beside what it holds. Tells whether these fit
 * now: also when somebody else has made room meanwhile. A guaranteed volume grows by no more than its aggregate has, and
 * none beyond the storage limit of its SVM
 * where it counts for that.
 */
export async function setSize(cluster: Cluster, volume: string, moreBytes = 0): Promise<boolean> {
  const svm = (await cluster.find('storage/volumes', volume))?.['svm.uuid']
  if (svm === undefined) return false
  return alone(cluster, [AGGREGATES_LOCK, volumesOfSvm(svm)], async (cluster, look) => {
    const [record, counters, sameLimits] = await Promise.all([
      cluster.record('storage/volumes', volume),
      cluster.catalog.volume(volume),
      sameLimit(cluster, svm),
    ])
    if (record === undefined || counters === undefined) return false
    const before = record.body
    const held = { ...counters, usedBytes: counters.usedBytes + moreBytes }
    const fits = (sizeBytes: number) => chargedTo({ ...before, size: sizeBytes }, held) <= sizeBytes
    const size = before['size']
    // For a write that will not fit at all, nothing changes.
    if (moreBytes > 0 && !fits(Math.max(size, largestSize(before)))) return false
    const after = await affordable(cluster, before, wantedSize(before, held))
    if (after === size) return fits(size)
    try {
      await cluster.catalog.commit([
        sameLimits,
        { do: 'resize-volume', volume, sizeBytes: after, reserveBytes: reserveOf({ ...before, size: after }) },
        cluster.put('storage/volumes', { ...before, size: after }, { expect: record.revision }),
        cluster.event(after > size ? 'volume.autosize.grown' : 'volume.autosize.shrunk', {
          volume: before['name'],
          from: size,
          to: after,
        }),
      ])
    } catch (failure) {
      // Others have changed what this rests on: it is looked at anew.
      if (look.lost !== undefined) throw failure
      // Somebody has written more into it: the next look goes by that.
      if (failure instanceof CommitRefused) return fits(size)
      throw failure
    }
    return fits(after)
  })
}

async function affordable(cluster: Cluster, volume: Volume, wanted: number): Promise<number> {
  const size = volume['size']
  if (wanted <= size) return wanted
  const left = isMadeForBucket(volume)
    ? Number.POSITIVE_INFINITY
    : await storageLeft(cluster, await cluster.find('svm/svms', volume['svm.uuid']))
  const spare = isGuaranteed(volume) ? await availableIn(cluster, aggregateOf(volume)) : Number.POSITIVE_INFINITY
  return Math.min(wanted, size + left, size + spare)
}
