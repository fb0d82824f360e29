import type { DatabaseSync } from 'node:sqlite'
import type { Change, Outcome } from '../../ports/catalog.ts'
import type { Ledger } from './ledger.ts'
import { refuse } from './refusal.ts'
import { query } from './statements.ts'

type Of<Name extends Change['do']> = Extract<Change, { do: Name }>

/** Revisions that the change feed reaches back. */
export const FEED_REVISIONS = 10_000

export function recordChanges(db: DatabaseSync, ledger: Ledger) {
  const find = query<{ revision: number; parent: string }>(
    db,
    'SELECT revision, parent FROM records WHERE type = ? AND key = ?',
  )
  const child = query<{ key: string }>(db, 'SELECT key FROM records WHERE type = ? AND parent = ? LIMIT 1')
  const holder = query<{ type: string; key: string }>(db, 'SELECT type, key FROM uniques WHERE scope = ? AND value = ?')
  const insert = ledger.write('INSERT INTO records (type, key, parent, revision, body) VALUES (?, ?, ?, ?, ?)')
  const update = ledger.write('UPDATE records SET parent = ?, revision = ?, body = ? WHERE type = ? AND key = ?')
  const remove = ledger.write('DELETE FROM records WHERE type = ? AND key = ?')
  const claim = ledger.write('INSERT INTO uniques (scope, value, type, key) VALUES (?, ?, ?, ?)')
  const freeAll = ledger.write('DELETE FROM uniques WHERE type = ? AND key = ?')
  const feed = ledger.write('INSERT INTO changes (revision, type, key) VALUES (?, ?, ?)')
  const trim = ledger.write('DELETE FROM changes WHERE revision <= ?')

  function noteChange(type: string, key: string): number {
    const revision = ledger.nextRevision()
    feed(revision, type, key)
    if (revision > FEED_REVISIONS) trim(revision - FEED_REVISIONS)
    return revision
  }

  return {
    put(change: Of<'put-record'>): Outcome {
      const { type, key, expect, unique } = change
      const before = find.get(type, key)
      if (expect === 'absent' && before !== undefined) refuse('exists')
      if (typeof expect === 'number' && before?.revision !== expect) refuse('stale')
      const body = JSON.stringify(change.body)
      if (unique !== undefined) {
        for (const [scope, value] of Object.entries(unique)) {
          const held = holder.get(scope, value)
          if (held !== undefined && (held.type !== type || held.key !== key)) refuse('taken', scope)
        }
        if (before !== undefined) freeAll(type, key)
        for (const [scope, value] of Object.entries(unique)) claim(scope, value, type, key)
      }
      const revision = noteChange(type, key)
      if (before === undefined) insert(type, key, change.parent ?? '', revision, body)
      else update(change.parent ?? before.parent, revision, body, type, key)
      return { revision }
    },

    remove({ type, key, expect }: Of<'remove-record'>): Outcome {
      const before = find.get(type, key)
      if (expect !== undefined && before?.revision !== expect) refuse('stale')
      if (before === undefined) return { found: false }
      remove(type, key)
      freeAll(type, key)
      noteChange(type, key)
      return { found: true }
    },

    check({ type, key, expect }: Of<'check-record'>): Outcome {
      const before = find.get(type, key)
      if (expect === 'absent' ? before !== undefined : before?.revision !== expect) refuse('stale')
      return {}
    },

    checkChildless({ type, parent }: Of<'check-childless'>): Outcome {
      if (child.get(type, parent) !== undefined) refuse('exists')
      return {}
    },
  }
}
