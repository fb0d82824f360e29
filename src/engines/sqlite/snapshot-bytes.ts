import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { readBlobs } from './rows.ts'
import { query } from './statements.ts'

/** Rows read in one turn of the event loop. */
const TURN_ROWS = 1000

interface DeadRow {
  readonly id: number
  readonly died: number
  readonly born: number
  readonly blobs: string
}

/**
 * Makes the function that tells for each snapshot the bytes that neither what lives nor a later snapshot needs.
 *
 * The history is walked from the latest death to the earliest, so a blob of several rows is met first where its latest
 * snapshot is. The walk takes many turns; rows that die meanwhile are not counted.
 */
export function snapshotSizes(db: DatabaseSync): (volume: string) => Promise<Map<string, number>> {
  const volumeId = query<{ id: number }>(db, 'SELECT id FROM volumes WHERE uuid = ?')
  const snapshots = query<{ uuid: string; epoch: number }>(
    db,
    'SELECT uuid, epoch FROM snapshots WHERE volume = ? ORDER BY epoch',
  )
  const dead = query<DeadRow>(
    db,
    `SELECT id, died, born, blobs FROM object_history
       WHERE volume = ? AND (died, born, id) < (?, ?, ?) ORDER BY died DESC, born DESC, id DESC LIMIT ?`,
  )
  // What blobs in one file have together is that of their group.
  const file = query<{ name: string; stored: number; live: number; isShared: number }>(
    db,
    `SELECT coalesce(g.name, b.blob) AS name, coalesce(g.stored, b.stored, b.size) AS stored,
         coalesce(g.live, b.live) AS live, g.name IS NOT NULL OR b.refs > 1 AS isShared
       FROM blobs b LEFT JOIN blob_groups g ON g.volume = b.volume AND g.name = b.grp
       WHERE b.volume = ? AND b.blob = ?`,
  )

  return async (uuid) => {
    const sizes = new Map<string, number>()
    const volume = volumeId.get(uuid)
    if (volume === undefined) return sizes
    const taken = snapshots.all(volume.id)
    for (const snapshot of taken) sizes.set(snapshot.uuid, 0)
    const shared = new Set<string>()
    let from: readonly [number, number, number] = [Number.MAX_SAFE_INTEGER, 0, 0]
    for (;;) {
      const rows = dead.all(volume.id, ...from, TURN_ROWS)
      for (const row of rows) {
        const seenBy = taken.findLast(({ epoch }) => epoch < row.died)
        if (seenBy === undefined || seenBy.epoch < row.born) continue
        for (const { blob } of readBlobs(row.blobs)) {
          const counted = file.get(volume.id, blob)
          if (counted === undefined || counted.live > 0 || shared.has(counted.name)) continue
          if (counted.isShared === 1) shared.add(counted.name)
          sizes.set(seenBy.uuid, (sizes.get(seenBy.uuid) ?? 0) + counted.stored)
        }
      }
      const last = rows.at(-1)
      if (last === undefined || rows.length < TURN_ROWS) return sizes
      from = [last.died, last.born, last.id]
      await nextTurn()
    }
  }
}
