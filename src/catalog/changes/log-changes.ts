import type { DatabaseSync } from 'node:sqlite'
import type { Change, Outcome } from '../../ports/catalog.ts'
import type { Ledger } from '../ledger.ts'
import { query } from '../statements.ts'

type Of<Name extends Change['do']> = Extract<Change, { do: Name }>

export function logChanges(db: DatabaseSync, ledger: Ledger) {
  const newest = query<{ id: number | null }>(db, 'SELECT max(id) AS id FROM log WHERE name = ?')
  const record = query<{ key: string }>(db, 'SELECT key FROM records WHERE type = ? AND key = ?')
  const append = ledger.write('INSERT INTO log (name, id, time, body) VALUES (?, ?, ?, ?)')
  const trim = ledger.write('DELETE FROM log WHERE name = ? AND id <= ?')
  const count = ledger.write(
    `INSERT INTO counters (tbl, row, name, value) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET value = value + excluded.value`,
  )
  // ';' follows ':', so this range is the name itself with everything that begins with it and ':'.
  const drop = ledger.write(
    "DELETE FROM counters WHERE tbl = ?1 AND (row = ?2 OR (row >= ?2 || ':' AND row < ?2 || ';'))",
  )

  return {
    append({ log, timeMs, body, keep }: Of<'append-log'>): Outcome {
      const id = (newest.get(log)?.id ?? 0) + 1
      append(log, id, timeMs, JSON.stringify(body))
      // The newest always stays: numbers are given out after it.
      if (id > keep) trim(log, Math.min(id - keep, id - 1))
      return {}
    },

    count({ table, row, add, of }: Of<'count'>): Outcome {
      if (of !== undefined && record.get(of.type, of.key) === undefined) return {}
      for (const [name, value] of Object.entries(add)) count(table, row, name, value)
      return {}
    },

    dropCounters({ table, row }: Of<'drop-counters'>): Outcome {
      drop(table, row)
      return {}
    },
  }
}
