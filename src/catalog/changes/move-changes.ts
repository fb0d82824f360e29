/**
 * What the index knows of a volume that is being moved: which blobs came to it since that began, and in which tree its
 * blobs are. The bytes are the mover's.
 */
import type { DatabaseSync } from 'node:sqlite'
import { type Change, type Outcome, TREES } from '../../ports/catalog.ts'
import type { Ledger } from '../ledger.ts'
import { query } from '../statements.ts'

type Of<Name extends Change['do']> = Extract<Change, { do: Name }>

export function moveChanges(db: DatabaseSync, ledger: Ledger) {
  const noteArrivals = ledger.write('UPDATE volumes SET moving = ? WHERE id = ?')
  const changeTree = ledger.write('UPDATE volumes SET tree = ?, moving = 0 WHERE id = ?')
  const removeArrival = ledger.write('DELETE FROM arrivals WHERE volume = ? AND blob = ?')
  const removeArrivals = ledger.write('DELETE FROM arrivals WHERE volume = ?')
  const anyArrival = query<{ blob: string }>(db, 'SELECT blob FROM arrivals WHERE volume = ? LIMIT 1')

  return {
    begin({ volume: uuid }: Of<'begin-move'>): Outcome {
      const volume = ledger.volume(uuid)
      noteArrivals(1, volume.id)
      ledger.changeVolume(volume, { moving: 1 })
      return {}
    },

    /** What a clone had from its parent is its own from here on: its files are copies. */
    move({ volume: uuid, tree }: Of<'move-volume'>): Outcome {
      const volume = ledger.volume(uuid)
      changeTree(tree, volume.id)
      ledger.changeVolume(volume, { tree, moving: 0, inheritedBytes: null })
      return { revision: ledger.noteChange(TREES, tree) }
    },

    dropArrivals({ volume: uuid, blobs }: Of<'drop-arrivals'>): Outcome {
      const volume = ledger.volume(uuid)
      for (const blob of blobs) removeArrival(volume.id, blob)
      return {}
    },

    end({ volume: uuid }: Of<'end-move'>): Outcome {
      const volume = ledger.findVolume(uuid)
      if (volume === undefined) return {}
      noteArrivals(0, volume.id)
      ledger.changeVolume(volume, { moving: 0 })
      if (anyArrival.get(volume.id) !== undefined) removeArrivals(volume.id)
      return { revision: ledger.noteChange(TREES, volume.tree) }
    },
  }
}
