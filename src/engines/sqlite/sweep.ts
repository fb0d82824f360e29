import type { DatabaseSync } from 'node:sqlite'
import { query } from './statements.ts'

/**
 * Makes the function that deletes up to `limit` rows of closed volumes, a little with each batch, so that closing a
 * volume of any size stalls nobody. The volume's own row goes last: until then its number is not given out again.
 */
export function sweeper(db: DatabaseSync): (limit: number) => number {
  const closed = query<{ id: number }>(db, 'SELECT id FROM volumes WHERE uuid IS NULL LIMIT 1')
  const removeHistory = db.prepare(
    'DELETE FROM object_history WHERE id IN (SELECT id FROM object_history WHERE volume = ? LIMIT ?)',
  )
  const removeBlobs = db.prepare(
    'DELETE FROM blobs WHERE volume = ?1 AND blob IN (SELECT blob FROM blobs WHERE volume = ?1 LIMIT ?2)',
  )
  const removeGroups = db.prepare(
    'DELETE FROM blob_groups WHERE volume = ?1 AND name IN (SELECT name FROM blob_groups WHERE volume = ?1 LIMIT ?2)',
  )
  const removeVolume = db.prepare('DELETE FROM volumes WHERE id = ?')

  return (limit) => {
    let swept = 0
    while (swept < limit) {
      const volume = closed.get()
      if (volume === undefined) break
      swept += Number(removeHistory.run(volume.id, limit - swept).changes)
      if (swept < limit) swept += Number(removeBlobs.run(volume.id, limit - swept).changes)
      if (swept < limit) swept += Number(removeGroups.run(volume.id, limit - swept).changes)
      if (swept < limit) removeVolume.run(volume.id)
    }
    return swept
  }
}
