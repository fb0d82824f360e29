import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { readBlobs } from '../rows.ts'
import { query } from '../statements.ts'

/** Rows read in one turn of the event loop. */
const TURN_ROWS = 1000

interface DeadRow {
  readonly id: number
  readonly bucket: number
  readonly died: number
  readonly born: number
  readonly blobs: string
}

/**
 * Makes the function that tells for each snapshot the bytes that neither what lives nor a later snapshot needs.
 *
 * A blob of several rows counts for the latest of the snapshots that see one of them. The walk over the history takes many
 * turns; rows that die meanwhile are not counted.
 */
export function snapshotSizes(db: DatabaseSync): (volume: string) => Promise<Map<string, number>> {
  const volumeId = query<{ id: number }>(db, 'SELECT id FROM volumes WHERE uuid = ?')
  const snapshots = query<Taken>(db, 'SELECT uuid, epoch, bucket FROM snapshots WHERE volume = ? ORDER BY epoch')
  const dead = query<DeadRow>(
    db,
    `SELECT id, bucket, died, born, blobs FROM object_history
       WHERE volume = ? AND (died, born, id) < (?, ?, ?) ORDER BY died DESC, born DESC, id DESC LIMIT ? + 0`,
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
    const ofVolume = taken.filter(({ bucket }) => bucket === 0)
    const ofBucket = Map.groupBy(taken, ({ bucket }) => bucket)
    const shared = new Map<string, { readonly seenBy: Taken; readonly size: number }>()
    let from: readonly [number, number, number] = [Number.MAX_SAFE_INTEGER, 0, 0]
    for (;;) {
      const rows = dead.all(volume.id, ...from, TURN_ROWS)
      for (const row of rows) {
        const seenBy = later(lastBefore(ofVolume, row.died), lastBefore(ofBucket.get(row.bucket) ?? [], row.died))
        if (seenBy === undefined || seenBy.epoch < row.born) continue
        for (const { blob } of readBlobs(row.blobs)) {
          const counted = file.get(volume.id, blob)
          if (counted === undefined || counted.live > 0) continue
          const { name, stored, isShared } = counted
          if (isShared === 0) add(seenBy, stored)
          else shared.set(name, { seenBy: later(shared.get(name)?.seenBy, seenBy) ?? seenBy, size: stored })
        }
      }
      const last = rows.at(-1)
      if (last === undefined || rows.length < TURN_ROWS) break
      from = [last.died, last.born, last.id]
      await nextTurn()
    }
    for (const { seenBy, size } of shared.values()) add(seenBy, size)
    return sizes

    function add({ uuid: snapshot }: Taken, bytes: number): void {
      sizes.set(snapshot, (sizes.get(snapshot) ?? 0) + bytes)
    }
  }
}

interface Taken {
  readonly uuid: string
  readonly epoch: number
  /** Of which alone it is, or 0. */
  readonly bucket: number
}

function lastBefore(taken: readonly Taken[], died: number): Taken | undefined {
  return taken.findLast(({ epoch }) => epoch < died)
}

function later(one: Taken | undefined, other: Taken | undefined): Taken | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one.epoch < other.epoch ? other : one
}
