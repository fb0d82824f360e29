import type { DatabaseSync } from 'node:sqlite'
import { blobElsewhere } from '../blobs.ts'
import type { Ledger } from '../ledger.ts'
import { query, write } from '../statements.ts'

interface ClosedVolume {
  readonly id: number
  readonly tree: string
}

/**
 * Makes the function that deletes up to `limit` rows of closed volumes, a little with each batch, so that closing a
 * volume of any size stalls nobody. The volume's own row goes last: until then its number is not given out again.
 *
 * A blob of a tree that lives on belongs to those who share it: where none of them knows it, one is given it as unneeded,
 * so that its file goes as files do.
 */
export function sweeper(db: DatabaseSync, ledger: Ledger): (limit: number) => number {
  const closed = query<ClosedVolume>(db, 'SELECT id, tree FROM volumes WHERE uuid IS NULL LIMIT 1')
  const removeHistory = write(
    db,
    'DELETE FROM object_history WHERE id IN (SELECT id FROM object_history WHERE volume = ? LIMIT ? + 0)',
  )
  const bucketIn = query<{ id: number }>(db, 'SELECT id FROM buckets WHERE volume = ? LIMIT 1')
  const removeObjects = write(
    db,
    `DELETE FROM objects WHERE (bucket, key, seq) IN (SELECT bucket, key, seq FROM objects WHERE bucket = ? LIMIT ? + 0)`,
  )
  const removeListed = write(
    db,
    'DELETE FROM listed_keys WHERE (bucket, key) IN (SELECT bucket, key FROM listed_keys WHERE bucket = ? LIMIT ? + 0)',
  )
  const uploadIn = query<{ id: number }>(db, 'SELECT id FROM uploads WHERE bucket = ? LIMIT 1')
  const removeParts = write(
    db,
    'DELETE FROM parts WHERE (upload, number) IN (SELECT upload, number FROM parts WHERE upload = ? LIMIT ? + 0)',
  )
  const removeUpload = write(db, 'DELETE FROM uploads WHERE id = ?')
  const removeBucket = write(db, 'DELETE FROM buckets WHERE id = ?')
  const heir = query<{ id: number }>(db, 'SELECT id FROM volumes WHERE tree = ? AND uuid IS NOT NULL LIMIT 1')
  const removeBlobs = write(
    db,
    'DELETE FROM blobs WHERE volume = ?1 AND blob IN (SELECT blob FROM blobs WHERE volume = ?1 LIMIT ?2 + 0)',
  )
  const blobsOf = query<{ blob: string }>(db, 'SELECT blob FROM blobs WHERE volume = ? LIMIT ? + 0')
  const isElsewhere = blobElsewhere(db)
  const removeBlob = write(db, 'DELETE FROM blobs WHERE volume = ? AND blob = ?')
  const giveBlob = write(
    db,
    'UPDATE blobs SET volume = ?, refs = 0, live = 0, freed = CASE freed WHEN 0 THEN 0 ELSE ? END, inherited = 0, grp = NULL WHERE volume = ? AND blob = ?',
  )
  const removeGroups = write(
    db,
    'DELETE FROM blob_groups WHERE volume = ?1 AND name IN (SELECT name FROM blob_groups WHERE volume = ?1 LIMIT ?2 + 0)',
  )
  const removeRecords = write(
    db,
    `DELETE FROM record_history WHERE (volume, type, key, born) IN
       (SELECT volume, type, key, born FROM record_history WHERE volume = ? LIMIT ? + 0)`,
  )
  const removeVolume = write(db, 'DELETE FROM volumes WHERE id = ?')

  /** Buckets that went with their volume. */
  function sweepBuckets(volume: number, limit: number): number {
    let swept = 0
    for (let bucket = bucketIn.get(volume); bucket !== undefined && swept < limit; bucket = bucketIn.get(volume)) {
      swept += removeObjects(bucket.id, limit - swept)
      if (swept < limit) swept += removeListed(bucket.id, limit - swept)
      for (let upload = uploadIn.get(bucket.id); upload !== undefined; upload = uploadIn.get(bucket.id)) {
        if (swept >= limit) return swept
        swept += removeParts(upload.id, limit - swept)
        if (swept < limit) removeUpload(upload.id)
      }
      if (swept < limit) removeBucket(bucket.id)
    }
    return swept
  }

  function sweepBlobs({ id, tree }: ClosedVolume, limit: number): number {
    const to = heir.get(tree)
    if (to === undefined) return removeBlobs(id, limit)
    const blobs = blobsOf.all(id, limit)
    for (const { blob } of blobs) {
      if (isElsewhere({ tree, id }, blob)) removeBlob(id, blob)
      else giveBlob(to.id, ledger.nextSeq(), id, blob)
    }
    return blobs.length
  }

  return (limit) => {
    let swept = 0
    while (swept < limit) {
      const volume = closed.get()
      if (volume === undefined) break
      swept += removeHistory(volume.id, limit - swept)
      if (swept < limit) swept += sweepBuckets(volume.id, limit - swept)
      if (swept < limit) swept += sweepBlobs(volume, limit - swept)
      if (swept < limit) swept += removeRecords(volume.id, limit - swept)
      if (swept < limit) swept += removeGroups(volume.id, limit - swept)
      if (swept < limit) removeVolume(volume.id)
    }
    return swept
  }
}
