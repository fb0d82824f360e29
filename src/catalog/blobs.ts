/**
 * Who needs which blob. A blob whose last row went is unneeded: its file is about to be unlinked, so no row may name it
 * any more, not even before it is dropped.
 *
 * Volumes that share a tree count each for itself. Where one needs a blob no more that another still does, it forgets it:
 * so what is unneeded is unneeded by all of them, and has one row.
 */
import type { DatabaseSync } from 'node:sqlite'
import { SHARING_BLOBS_MAX } from '../ports/catalog.ts'
import type { BlobDraft, BlobRef, Change, Outcome, Tried } from '../ports/catalog.ts'
import { blobSums } from './blob-sums.ts'
import type { BlobColumns, BlobState } from './blob-sums.ts'
import type { Ledger, VolumeSums } from './ledger.ts'
import { refuse } from './refusal.ts'
import { query, tupleQuery } from './statements.ts'
import { TRIED } from './reads/stored-blobs.ts'

type Of<Name extends Change['do']> = Extract<Change, { do: Name }>

/** A blob with who needs it. */
interface CountedBlob extends BlobColumns {
  readonly refs: number
  readonly live: number
  readonly inherited: number
}

export function blobChanges(db: DatabaseSync, ledger: Ledger) {
  const sums = blobSums(db, ledger)
  const findTuple = tupleQuery<
    readonly [size: number, stored: number, group: string | null, refs: number, live: number, inherited: number]
  >(db, 'SELECT size, coalesce(stored, size), grp, refs, live, inherited FROM blobs WHERE volume = ? AND blob = ?')
  const insert = ledger.write(
    `INSERT INTO blobs (volume, blob, size, refs, live, stored, digest, tried, crc) VALUES (?, ?, ?, 1, 1, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
  )
  const count = ledger.write('UPDATE blobs SET refs = ?, live = ?, freed = ? WHERE volume = ? AND blob = ?')
  const inherit = ledger.write(
    `INSERT INTO blobs (volume, blob, size, refs, live, stored, digest, tried, crc, inherited)
       SELECT ?, blob, size, 1, 1, stored, digest, tried, crc, 1 FROM blobs WHERE volume = ? AND blob = ? ON CONFLICT DO NOTHING`,
  )
  const isElsewhere = blobElsewhere(db)
  const arrive = ledger.write('INSERT OR IGNORE INTO arrivals (volume, blob, size, crc) VALUES (?, ?, ?, ?)')
  const forget = ledger.write('DELETE FROM blobs WHERE volume = ? AND blob = ?')
  const setPlace = ledger.write('UPDATE blobs SET stored = ?, grp = ? WHERE volume = ? AND blob = ?')
  const noteDigest = ledger.write('UPDATE blobs SET digest = ? WHERE volume = ? AND blob = ?')
  const noteCrc = ledger.write('UPDATE blobs SET crc = ? WHERE volume = ? AND blob = ?')
  const noteTried = ledger.write('UPDATE blobs SET tried = tried | ? WHERE volume = ? AND blob = ?')
  // A seq is never 0: so they are told from blobs that rows had.
  const giveUp = ledger.write(
    'INSERT INTO blobs (volume, blob, size, refs, live, freed) VALUES (?, ?, 0, 0, 0, 0) ON CONFLICT DO NOTHING',
  )
  const sharing = query<{ id: number }>(db, 'SELECT id FROM volumes WHERE tree = ? AND uuid IS NOT NULL')
  const drop = ledger.write('DELETE FROM blobs WHERE volume = ? AND blob = ? AND refs = 0')

  function find({ id }: VolumeSums, blob: string): CountedBlob | undefined {
    const row = findTuple.get(id, blob)
    if (row === undefined) return undefined
    const [size, stored, group, refs, live, inherited] = row
    return { blob, size, stored, group, refs, live, inherited }
  }

  function found(volume: VolumeSums, blob: string): CountedBlob {
    const row = find(volume, blob)
    if (row === undefined) throw new Error(`The catalog has lost count of blob ${blob} of volume ${volume.uuid}.`)
    return row
  }

  /** So many rows more, or fewer, need the blob, and so many of them live. */
  function recount(volume: VolumeSums, before: CountedBlob, more: { refs: number; live: number }): void {
    const refs = before.refs + more.refs
    const live = before.live + more.live
    sums.move(volume, before, stateOf(before), stateOf({ refs, live }))
    if (refs > 0) {
      count(refs, live, null, volume.id, before.blob)
      return
    }
    inheritLess(volume, before, 0)
    if (isElsewhere(volume, before.blob)) forget(volume.id, before.blob)
    else count(0, 0, ledger.nextSeq(), volume.id, before.blob)
  }

  /** A blob that a clone inherited is stored in another number of bytes. */
  function inheritLess(volume: VolumeSums, { inherited, stored }: CountedBlob, now: number): void {
    if (inherited === 0 || volume.inheritedBytes === null || stored === now) return
    ledger.changeVolume(volume, { inheritedBytes: volume.inheritedBytes + now - stored })
  }

  function place(volume: VolumeSums, row: CountedBlob, stored: number, group: string | null): void {
    setPlace(stored === row.size ? null : stored, group, volume.id, row.blob)
    inheritLess(volume, row, stored)
  }

  function add(volume: VolumeSums, draft: BlobDraft): boolean {
    const { blob, sizeBytes, storedBytes = sizeBytes, digest = null, crc = null, tried, twin } = draft
    const stored = storedBytes === sizeBytes ? null : storedBytes
    // Whose twin turns out to be none any more has yet to find another.
    const known = twin === undefined ? tried : { ...tried, dedupe: false }
    if (insert(volume.id, blob, sizeBytes, stored, digest, triedBits(known), crc) === 0) return false
    const group = twin === undefined ? null : groupWith(volume, twin, sizeBytes, storedBytes)
    if (group !== null) {
      setPlace(stored, group, volume.id, blob)
      noteTried(triedBits(tried), volume.id, blob)
    }
    if (volume.moving === 1) arrive(volume.id, blob, sizeBytes, crc)
    sums.move(volume, { blob, size: sizeBytes, stored: storedBytes, group }, undefined, 'live')
    return true
  }

  /** The group of a blob that is stored so, made where it has none; none where it is not, or has enough already. */
  function groupWith(volume: VolumeSums, twin: string, size: number, stored: number): string | null {
    const row = find(volume, twin)
    const state = row === undefined ? undefined : stateOf(row)
    if (row === undefined || state === undefined || row.size !== size || row.stored !== stored) return null
    if (row.group !== null) return sums.membersOf(volume, row.group) < SHARING_BLOBS_MAX ? row.group : null
    regroup(volume, { ...row, state }, stored, twin)
    return twin
  }

  function regroup(
    volume: VolumeSums,
    row: CountedBlob & { state: BlobState },
    stored: number,
    to: string | null,
  ): void {
    sums.move(volume, row, row.state, undefined)
    place(volume, row, stored, to)
    sums.move(volume, { ...row, stored, group: to }, undefined, row.state)
  }

  return {
    /** Refuses names of blobs that no row needs at this moment: their files may be gone already. */
    requireNeeded(volume: VolumeSums, blobs: readonly BlobRef[]): void {
      for (const { blob } of blobs) if ((find(volume, blob)?.refs ?? 0) === 0) refuse('missing', 'blob')
    },

    /** One live row more needs these. */
    acquire(volume: VolumeSums, blobs: readonly BlobDraft[]): void {
      for (const draft of blobs) {
        if (add(volume, draft)) continue
        const row = found(volume, draft.blob)
        if (row.refs === 0) refuse('missing', 'blob')
        recount(volume, row, { refs: 1, live: 1 })
      }
    },

    /** One live row more of a clone needs these, which its parent has. What the parent shares is counted for each. */
    inherit(volume: VolumeSums, parent: number, blobs: readonly BlobRef[]): void {
      for (const { blob } of blobs) {
        const isNew = inherit(volume.id, parent, blob) === 1
        const row = found(volume, blob)
        if (!isNew) {
          recount(volume, row, { refs: 1, live: 1 })
          continue
        }
        sums.move(volume, row, undefined, 'live')
        ledger.changeVolume(volume, { inheritedBytes: (volume.inheritedBytes ?? 0) + row.stored })
      }
    },

    /** A live row became history: it still needs its blobs. */
    bury(volume: VolumeSums, blobs: readonly BlobRef[]): void {
      for (const { blob } of blobs) recount(volume, found(volume, blob), { refs: 0, live: -1 })
    },

    /** A row of the history lives again. */
    revive(volume: VolumeSums, blobs: readonly BlobRef[]): void {
      for (const { blob } of blobs) recount(volume, found(volume, blob), { refs: 0, live: 1 })
    },

    /** A row is gone; `live` unless it was history. */
    release(volume: VolumeSums, blobs: readonly BlobRef[], row: 'live' | 'history'): void {
      for (const { blob } of blobs) recount(volume, found(volume, blob), { refs: -1, live: row === 'live' ? -1 : 0 })
    },

    giveUp({ volume: uuid, tree, blobs }: Of<'give-up-blobs'>): Outcome {
      const volume = ledger.volume(uuid)
      if (volume.tree !== tree) refuse('moved')
      const unknown = blobs.filter((blob) => find(volume, blob) === undefined && !isElsewhere(volume, blob))
      for (const { id } of sharing.all(tree)) for (const blob of unknown) giveUp(id, blob)
      return { blobs: unknown }
    },

    drop(change: Of<'drop-blobs'>): Outcome {
      const volume = ledger.volume(change.volume)
      for (const blob of change.blobs) drop(volume.id, blob)
      return {}
    },

    store({ volume: uuid, blobs, storedBytes }: Of<'store-blobs'>): Outcome {
      const volume = ledger.volume(uuid)
      if (blobs.length > SHARING_BLOBS_MAX) refuse('exists')
      const needed = new Map<string, CountedBlob & { state: BlobState }>()
      for (const blob of blobs) {
        const row = find(volume, blob)
        const state = row === undefined ? undefined : stateOf(row)
        if (row !== undefined && state !== undefined) needed.set(blob, { ...row, state })
      }
      const rows = [...needed.values()]
      for (const group of new Set(rows.map((row) => row.group))) {
        const named = rows.filter((row) => row.group === group).length
        if (group !== null && sums.membersOf(volume, group) !== named) refuse('stale')
      }
      // All leave before the first joins: the new group may have the name of an old one.
      for (const row of rows) sums.move(volume, row, row.state, undefined)
      const group = rows.length > 1 ? (rows[0]?.blob ?? null) : null
      for (const row of rows) {
        place(volume, row, storedBytes, group)
        sums.move(volume, { ...row, stored: storedBytes, group }, undefined, row.state)
      }
      return {}
    },

    share({ volume: uuid, blob, twin }: Of<'share-blob'>): Outcome {
      const volume = ledger.volume(uuid)
      const [row, other] = [find(volume, blob), find(volume, twin)]
      const state = row === undefined ? undefined : stateOf(row)
      if (row === undefined || state === undefined) refuse('missing', 'blob')
      if (other === undefined || stateOf(other) === undefined) refuse('missing', 'blob')
      if (row.group !== null && row.group === other.group) return {}
      const group = groupWith(volume, twin, row.size, other.stored) ?? refuse('full', 'blob')
      regroup(volume, { ...row, state }, other.stored, group)
      return {}
    },

    note({ volume: uuid, blob, digest, crc, tried }: Of<'note-blob'>): Outcome {
      const volume = ledger.volume(uuid)
      if (crc !== undefined) noteCrc(crc, volume.id, blob)
      if (digest !== undefined) noteDigest(digest, volume.id, blob)
      if (tried !== undefined) noteTried(triedBits(tried), volume.id, blob)
      return {}
    },
  }
}

/** Makes the function that tells whether another volume that shares a tree knows a blob. */
export function blobElsewhere(db: DatabaseSync) {
  const elsewhere = query<{ id: number }>(
    db,
    `SELECT v.id FROM volumes v JOIN blobs b ON b.volume = v.id AND b.blob = ?3
       WHERE v.tree = ?1 AND v.id <> ?2 LIMIT 1`,
  )
  return ({ tree, id }: { readonly tree: string; readonly id: number }, blob: string): boolean =>
    elsewhere.get(tree, id, blob) !== undefined
}

export type BlobChanges = ReturnType<typeof blobChanges>

function stateOf({ refs, live }: { readonly refs: number; readonly live: number }): BlobState | undefined {
  if (refs === 0) return undefined
  return live > 0 ? 'live' : 'held'
}

function triedBits({ compression = false, dedupe = false }: Tried = {}): number {
  return (compression ? TRIED.compression : 0) | (dedupe ? TRIED.dedupe : 0)
}
