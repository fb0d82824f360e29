/**
 * What blobs add to the sums of their volume. A blob that has a file of its own adds what the file stores, to the bytes
 * that only snapshots hold too while nothing that lives needs it. Blobs that share a file are one for these sums: their
 * group is needed while one of them is, and lives while one of them does. At any moment
 *
 *     bytes of all needed blobs = used + saved by compression + saved by deduplication
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Ledger, VolumeSums } from './ledger.ts'
import { query } from './statements.ts'

/** `held`: by history alone. A blob that nothing needs has none. */
export type BlobState = 'live' | 'held'

export interface BlobColumns {
  readonly blob: string
  readonly size: number
  readonly stored: number
  readonly group: string | null
}

interface Group {
  readonly size: number
  readonly stored: number
  readonly members: number
  readonly live: number
}

export function blobSums(db: DatabaseSync, ledger: Ledger) {
  const find = query<Group>(db, 'SELECT size, stored, members, live FROM blob_groups WHERE volume = ? AND name = ?')
  const write = ledger.write(
    'INSERT OR REPLACE INTO blob_groups (volume, name, size, stored, members, live) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const remove = ledger.write('DELETE FROM blob_groups WHERE volume = ? AND name = ?')

  function moveFile(
    volume: VolumeSums,
    { size, stored }: Pick<BlobColumns, 'size' | 'stored'>,
    before: BlobState | undefined,
    after: BlobState | undefined,
    savedByDedupe = 0,
  ): void {
    const files = Number(after !== undefined) - Number(before !== undefined)
    const held = Number(after === 'held') - Number(before === 'held')
    if (files === 0 && held === 0 && savedByDedupe === 0) return
    ledger.changeVolume(volume, {
      usedBytes: volume.usedBytes + files * stored,
      snapshotBytes: volume.snapshotBytes + held * stored,
      savedByCompressionBytes: volume.savedByCompressionBytes + files * (size - stored),
      savedByDedupeBytes: volume.savedByDedupeBytes + savedByDedupe,
    })
  }

  return {
    /** Needed blobs of a group. */
    membersOf(volume: VolumeSums, group: string): number {
      return find.get(volume.id, group)?.members ?? 0
    },

    /** A blob comes to be needed, or in another way, or not any more. */
    move(volume: VolumeSums, blob: BlobColumns, before: BlobState | undefined, after: BlobState | undefined): void {
      if (before === after) return
      if (blob.group === null) {
        moveFile(volume, blob, before, after)
        return
      }
      const { size, stored } = blob
      const group = find.get(volume.id, blob.group) ?? { size, stored, members: 0, live: 0 }
      const members = group.members + Number(after !== undefined) - Number(before !== undefined)
      const live = group.live + Number(after === 'live') - Number(before === 'live')
      if (members === 0) remove(volume.id, blob.group)
      else write(volume.id, blob.group, group.size, group.stored, members, live)
      const shared = Math.max(0, members - 1) - Math.max(0, group.members - 1)
      moveFile(volume, group, stateOf(group), stateOf({ members, live }), shared * group.size)
    },
  }
}

function stateOf({ members, live }: Pick<Group, 'members' | 'live'>): BlobState | undefined {
  if (members === 0) return undefined
  return live > 0 ? 'live' : 'held'
}
