import type { DatabaseSync } from 'node:sqlite'
import { type Change, type Outcome, PROMISES, TREES } from '../../ports/catalog.ts'
import { chargedBytes } from '../../ports/charged.ts'
import type { Ledger } from '../ledger.ts'
import type { ListedKeys } from '../listed-keys.ts'
import type { QuotaChanges } from '../quotas.ts'
import { refuse } from '../refusal.ts'
import { query } from '../statements.ts'

/**
 * What the sizes of volumes in one aggregate may add up to. With one volume more of any size that a number holds, the sum
 * still fits into the 64 bits that it is kept in.
 */
const PROVISIONED_BYTES_MAX = 2n ** 62n

type Of<Name extends Change['do']> = Extract<Change, { do: Name }>

export function volumeChanges(db: DatabaseSync, ledger: Ledger, quotas: QuotaChanges, listed: ListedKeys) {
  const openBucketIn = query<{ id: number }>(db, 'SELECT id FROM buckets WHERE volume = ? AND closed = 0 LIMIT 1')
  const insertVolume = ledger.write(
    'INSERT INTO volumes (uuid, tree, size, changed) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const placeVolume = ledger.write('UPDATE volumes SET aggregate = ?, guaranteed = ? WHERE id = ?')
  const placeOf = query<{ aggregate: string; guaranteed: number }>(
    db,
    'SELECT aggregate, guaranteed FROM volumes WHERE id = ?',
  )
  const isFull = query<{ uuid: string }>(db, 'SELECT uuid FROM aggregates WHERE uuid = ? AND size > ?')
  const closeVolume = ledger.write("UPDATE volumes SET uuid = NULL, aggregate = '' WHERE id = ?")
  const hideBuckets = ledger.write('UPDATE buckets SET closed = 1 WHERE volume = ?')
  const bucketsOf = query<{ uuid: string }>(db, 'SELECT uuid FROM buckets WHERE volume = ? AND closed = 0')
  const removeSnapshots = ledger.write('DELETE FROM snapshots WHERE volume = ?')
  const removeSums = ledger.write('DELETE FROM snapshot_buckets WHERE volume = ?')
  const removeArrivals = ledger.write('DELETE FROM arrivals WHERE volume = ?')
  const removeDropped = ledger.write('DELETE FROM dropped_epochs WHERE volume = ?')
  const removeRestores = ledger.write('DELETE FROM restores WHERE volume = ?')

  const anyBucket = query<{ id: number; volume: number; closed: number }>(
    db,
    'SELECT id, volume, closed FROM buckets WHERE uuid = ?',
  )
  const insertBucket = ledger.write('INSERT INTO buckets (uuid, volume, size_limit) VALUES (?, ?, ?)')
  const reopenBucket = ledger.write(
    `UPDATE buckets SET closed = 0, size_limit = ?, versioning = 'off', listed = 0, listed_to = NULL WHERE id = ?`,
  )
  const hideBucket = ledger.write('UPDATE buckets SET closed = 1 WHERE id = ?')
  const removeBucket = ledger.write('DELETE FROM buckets WHERE id = ?')
  const uploadIn = query<{ id: number }>(db, 'SELECT id FROM uploads WHERE bucket = ? LIMIT 1')
  const deadIn = query<{ id: number }>(db, 'SELECT id FROM object_history WHERE bucket = ? LIMIT 1')

  /** To be called before a volume comes to an aggregate or grows in it. */
  function insistOnSum(aggregate: string | undefined): void {
    if (aggregate === undefined || aggregate === '') return
    // Sizes that were changed in this transaction are in the sum only then.
    ledger.flush()
    if (isFull.get(aggregate, PROVISIONED_BYTES_MAX) !== undefined) refuse('full', 'aggregate')
  }

  return {
    openVolume({ volume, sizeBytes, tree = volume }: Of<'open-volume'>): Outcome {
      insertVolume(volume, tree, sizeBytes, ledger.nextSeq())
      return tree === volume ? {} : { revision: ledger.noteChange(TREES, tree) }
    },

    placeVolume({ volume, aggregate, isGuaranteed }: Of<'place-volume'>): Outcome {
      const { id } = ledger.volume(volume)
      const before = placeOf.get(id)
      if (before?.aggregate !== aggregate) insistOnSum(aggregate)
      placeVolume(aggregate, isGuaranteed ? 1 : 0, id)
      const isPromised = before?.guaranteed === 1 && before.aggregate === aggregate
      return !isGuaranteed || isPromised ? {} : { revision: ledger.noteChange(PROMISES, aggregate) }
    },

    resizeVolume({ volume: uuid, sizeBytes, ...given }: Of<'resize-volume'>): Outcome {
      const volume = ledger.volume(uuid)
      const { reserveBytes } = { ...volume, ...given }
      if (chargedBytes(volume, reserveBytes) > sizeBytes) refuse('full', 'volume')
      const place = sizeBytes > volume.sizeBytes ? placeOf.get(volume.id) : undefined
      insistOnSum(place?.aggregate)
      ledger.changeVolume(volume, { sizeBytes, reserveBytes })
      return place?.guaranteed === 1 ? { revision: ledger.noteChange(PROMISES, place.aggregate) } : {}
    },

    protectVolume({ volume: uuid, isReadOnly }: Of<'protect-volume'>): Outcome {
      const volume = ledger.volume(uuid)
      if (volume.restoring !== 0) refuse('restoring')
      if (volume.readOnly !== Number(isReadOnly)) ledger.changeVolume(volume, { readOnly: Number(isReadOnly) })
      return {}
    },

    replicateInto({ volume }: Of<'replicate-into'>): Outcome {
      ledger.replicated = ledger.volume(volume).uuid
      return {}
    },

    countAsOwn({ volume: uuid }: Of<'count-as-own'>): Outcome {
      const volume = ledger.findVolume(uuid)
      if (volume !== undefined && volume.inheritedBytes !== null) ledger.changeVolume(volume, { inheritedBytes: null })
      return {}
    },

    /** Takes its name from the volume, which makes it gone. Its rows and blobs may be many: the sweep takes them. */
    closeVolume({ volume: uuid, withBuckets }: Of<'close-volume'>): Outcome {
      const volume = ledger.findVolume(uuid)
      if (volume === undefined) return {}
      if (withBuckets !== true && openBucketIn.get(volume.id) !== undefined) refuse('not-empty')
      for (const { uuid: bucket } of bucketsOf.all(volume.id)) {
        const sums = ledger.findBucket(bucket)
        if (sums !== undefined) ledger.release(sums)
      }
      quotas.remove(volume)
      closeVolume(volume.id)
      hideBuckets(volume.id)
      removeSnapshots(volume.id)
      removeSums(volume.id)
      removeDropped(volume.id)
      removeRestores(volume.id)
      removeArrivals(volume.id)
      ledger.release(volume)
      return { revision: ledger.noteChange(TREES, volume.tree) }
    },

    openBucket({ bucket, volume: uuid, limitBytes }: Of<'open-bucket'>): Outcome {
      const volume = ledger.volume(uuid)
      ledger.insistOnWritable(volume)
      const before = anyBucket.get(bucket)
      if (before === undefined) insertBucket(bucket, volume.id, limitBytes)
      else if (before.volume !== volume.id) refuse('exists')
      else if (before.closed === 1) reopenBucket(limitBytes, before.id)
      return {}
    },

    limitBucket({ bucket: uuid, limitBytes }: Of<'limit-bucket'>): Outcome {
      const bucket = ledger.bucket(uuid)
      if (bucket.usedBytes > limitBytes) refuse('full', 'bucket')
      ledger.changeBucket(bucket, { limitBytes })
      return {}
    },

    versionBucket({ bucket: uuid, state }: Of<'version-bucket'>): Outcome {
      const bucket = ledger.bucket(uuid)
      if (bucket.versioning === 'off') listed.begin(bucket)
      if (bucket.versioning !== state) ledger.changeBucket(bucket, { versioning: state })
      return {}
    },

    /** A bucket that snapshots still show keeps its row, so that its uuid leads to its history. */
    closeBucket({ bucket: uuid }: Of<'close-bucket'>): Outcome {
      const bucket = ledger.findBucket(uuid)
      if (bucket === undefined) return {}
      if (bucket.volume.restoring !== 0 || bucket.restoring !== undefined) refuse('restoring')
      ledger.insistOnWritable(bucket.volume)
      if (bucket.lastSnapshotEpoch > 0) refuse('not-empty', 'snapshot')
      if (bucket.objects + bucket.versions > 0 || uploadIn.get(bucket.id) !== undefined) refuse('not-empty')
      // Flushed first, because the row may be shown again: its sums must be those of now, which are 0.
      ledger.flush()
      if (deadIn.get(bucket.id) === undefined) removeBucket(bucket.id)
      else hideBucket(bucket.id)
      ledger.release(bucket)
      return {}
    },
  }
}
