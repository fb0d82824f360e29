/** Reads of records: one, all of a type or under a parent, pages of these, and those that a snapshot shows. */
import type { DatabaseSync } from 'node:sqlite'
import type { Fields, KeptRecord, StoredRecord } from '../../ports/catalog.ts'
import { query } from '../statements.ts'

type RecordColumns = Omit<StoredRecord, 'body'> & { readonly body: string }

const RECORD = 'SELECT type, key, parent, revision, body FROM records'
/** A page ends when to parse its records takes a millisecond or two. */
const PAGE_CHARACTERS = 256 * 1024
/** A record that takes half a millisecond to parse. */
const LONG_CHARACTERS = 64 * 1024

/** `turn` waits for a turn of the event loop of its own. */
export function recordReads(db: DatabaseSync, turn: () => Promise<void>) {
  const record = query<RecordColumns>(db, `${RECORD} WHERE type = ? AND key = ?`)
  const ofType = query<RecordColumns>(db, `${RECORD} WHERE type = ? ORDER BY key`)
  const afterKey = query<RecordColumns>(db, `${RECORD} WHERE type = ? AND key > ? ORDER BY key LIMIT ? + 0`)
  // Left to itself, SQLite reads all records of the type, for their order.
  const ofParent = query<RecordColumns>(
    db,
    `${RECORD} INDEXED BY records_by_parent WHERE type = ? AND parent = ? ORDER BY key`,
  )
  const ofParentAfter = query<RecordColumns>(
    db,
    `${RECORD} INDEXED BY records_by_parent WHERE type = ? AND parent = ? AND key > ? ORDER BY key LIMIT ? + 0`,
  )
  const seenAt = query<{ key: string; body: string }>(
    db,
    `WITH at (volume, uuid, epoch) AS (
       SELECT v.id, v.uuid, s.epoch FROM volumes v JOIN snapshots s ON s.volume = v.id WHERE v.uuid = ?2 AND s.uuid = ?3)
     SELECT key, body FROM at JOIN records r ON r.type = ?1 AND r.parent = at.uuid AND r.born <= at.epoch AND r.key > ?4
     UNION ALL
     SELECT key, body FROM at JOIN record_history h ON h.volume = at.volume AND h.type = ?1 AND h.key > ?4
       AND h.born <= at.epoch AND h.died > at.epoch
     ORDER BY key LIMIT ?5 + 0`,
  )

  return {
    async record(type: string, key: string): Promise<StoredRecord | undefined> {
      const row = record.get(type, key)
      if (row === undefined) return undefined
      // Readers that come together would have theirs parsed in one turn.
      if (row.body.length > LONG_CHARACTERS) await turn()
      return storedRecord(row)
    },

    records(type: string, parent: string | undefined): StoredRecord[] {
      const rows = parent === undefined ? ofType.all(type) : ofParent.all(type, parent)
      return rows.map(storedRecord)
    },

    async recordsAfter(
      type: string,
      { parent, after, limit }: { readonly parent?: string; readonly after: string; readonly limit: number },
    ): Promise<StoredRecord[]> {
      await turn()
      const rows =
        parent === undefined ? afterKey.iterate(type, after, limit) : ofParentAfter.iterate(type, parent, after, limit)
      return shortPage(rows).map(storedRecord)
    },

    recordsAt(
      type: string,
      { volume: of, snapshot }: { readonly volume: string; readonly snapshot: string },
      after: string,
      limit: number,
    ): KeptRecord[] {
      const rows = shortPage(seenAt.iterate(type, of, snapshot, after, limit))
      return rows.map(({ key, body }) => ({ key, body: JSON.parse(body) as Fields }))
    },
  }
}

/** Rows until they are long enough together that to parse them takes a millisecond or two. */
export function shortPage<Row extends { readonly body: string }>(rows: Iterable<Row>): Row[] {
  const page: Row[] = []
  let characters = 0
  for (const row of rows) {
    page.push(row)
    characters += row.body.length
    if (characters >= PAGE_CHARACTERS) break
  }
  return page
}

function storedRecord({ type, key, parent, revision, body }: RecordColumns): StoredRecord {
  return { type, key, parent, revision, body: JSON.parse(body) as Fields }
}
