import type { DatabaseSync } from 'node:sqlite'
import type { Change, Outcome } from '../../ports/catalog.ts'
import { FEED_REVISIONS, type Ledger } from '../ledger.ts'
import { refuse } from '../refusal.ts'
import { query } from '../statements.ts'

type Of<Name extends Change['do']> = Extract<Change, { do: Name }>

interface Before {
  readonly revision: number
  readonly parent: string
  /** The epoch of its volume when it was written; null when snapshots do not show it. */
  readonly born: number | null
}

export function recordChanges(db: DatabaseSync, ledger: Ledger) {
  const find = query<Before>(db, 'SELECT revision, parent, born FROM records WHERE type = ? AND key = ?')
  const written = query<{ body: string }>(db, 'SELECT body FROM records WHERE type = ? AND key = ?')
  const changed = query<{ type: string; key: string }>(db, 'SELECT type, key FROM changes WHERE revision > ?')
  const child = query<{ key: string }>(db, 'SELECT key FROM records WHERE type = ? AND parent = ? LIMIT 1')
  const children = query<{ key: string }>(
    db,
    'SELECT key FROM records INDEXED BY records_by_parent WHERE type = ? AND parent = ?',
  )
  const holder = query<{ type: string; key: string }>(db, 'SELECT type, key FROM uniques WHERE scope = ? AND value = ?')
  const insert = ledger.write('INSERT INTO records (type, key, parent, revision, body, born) VALUES (?, ?, ?, ?, ?, ?)')
  const update = ledger.write(
    'UPDATE records SET parent = ?, revision = ?, body = ?, born = ? WHERE type = ? AND key = ?',
  )
  const copyToHistory = ledger.write(
    `INSERT INTO record_history (volume, type, key, born, died, body)
       SELECT ?, type, key, born, ?, body FROM records WHERE type = ? AND key = ?`,
  )
  const retype = ledger.write('UPDATE records SET type = ?, revision = ? WHERE type = ? AND key = ?')
  const retypeClaims = ledger.write('UPDATE uniques SET type = ? WHERE type = ? AND key = ?')
  const remove = ledger.write('DELETE FROM records WHERE type = ? AND key = ?')
  const claim = ledger.write('INSERT INTO uniques (scope, value, type, key) VALUES (?, ?, ?, ?)')
  const freeAll = ledger.write('DELETE FROM uniques WHERE type = ? AND key = ?')

  const noteChange = (type: string, key: string) => ledger.noteChange(type, key)

  /** Keeps a record as it is for the snapshots of its volume that see it, if there are any. */
  function bury(type: string, key: string, { parent, born }: Before): void {
    const volume = born === null ? undefined : ledger.findVolume(parent)
    if (volume === undefined || born === null || born > volume.lastSnapshotEpoch) return
    copyToHistory(volume.id, volume.epoch, type, key)
  }

  /** Refuses names of what is not there. A record that named it before may be changed otherwise. */
  function insistOnNamed({ type, key, names = [] }: Of<'put-record'>): void {
    const missing = names.filter((one) => find.get(one.type, one.key) === undefined)
    if (missing.length === 0) return
    const before = written.get(type, key)?.body ?? ''
    // Of a key of several words, what names the record holds the last one beside the others.
    const isNew = (key: string) => !before.includes(inText(key.slice(key.lastIndexOf('/') + 1)))
    if (missing.some((one) => isNew(one.key))) refuse('missing', 'reference')
  }

  return {
    put(change: Of<'put-record'>): Outcome {
      const { type, key, expect, unique, parentTypes } = change
      const before = find.get(type, key)
      if (expect === 'absent' && before !== undefined) refuse('exists')
      if (typeof expect === 'number' && before?.revision !== expect) refuse('stale')
      const parent = change.parent ?? before?.parent ?? ''
      const isNewThere = parent !== '' && parent !== before?.parent
      if (isNewThere && parentTypes?.every((one) => find.get(one, parent) === undefined)) refuse('missing', 'parent')
      insistOnNamed(change)
      const body = JSON.stringify(change.body)
      if (unique !== undefined) {
        for (const [scope, value] of Object.entries(unique)) {
          const held = holder.get(scope, value)
          if (held !== undefined && (held.type !== type || held.key !== key)) refuse('taken', scope)
        }
        if (before !== undefined) freeAll(type, key)
        for (const [scope, value] of Object.entries(unique)) claim(scope, value, type, key)
      }
      if (before !== undefined) bury(type, key, before)
      const born = change.isInSnapshots === true ? (ledger.findVolume(parent)?.epoch ?? null) : null
      const revision = noteChange(type, key)
      if (before === undefined) insert(type, key, parent, revision, body, born)
      else update(parent, revision, body, born, type, key)
      return { revision }
    },

    remove({ type, key, expect }: Of<'remove-record'>): Outcome {
      const before = find.get(type, key)
      if (expect !== undefined && before?.revision !== expect) refuse('stale')
      if (before === undefined) return { found: false }
      bury(type, key, before)
      remove(type, key)
      freeAll(type, key)
      return { found: true, revision: noteChange(type, key) }
    },

    retype({ type, parent, to }: Of<'retype-records'>): Outcome {
      const keys = children.all(type, parent)
      let revision = 0
      for (const { key } of keys) {
        noteChange(type, key)
        retypeClaims(to, type, key)
        revision = noteChange(to, key)
        retype(to, revision, type, key)
      }
      return keys.length === 0 ? { found: false } : { found: true, revision }
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

    checkUnnamed({ types, word, since }: Of<'check-unnamed'>): Outcome {
      if (since < ledger.revision - FEED_REVISIONS) refuse('stale')
      for (const { type, key } of changed.all(since)) {
        if (types.includes(type) && written.get(type, key)?.body.includes(inText(word)) === true) refuse('stale')
      }
      return {}
    },

    checkUnwritten({ types, parent, since }: Of<'check-unwritten'>): Outcome {
      if (since < ledger.revision - FEED_REVISIONS) refuse('stale')
      for (const { type, key } of changed.all(since)) {
        if (!types.includes(type)) continue
        // Of what was removed nobody knows where it was.
        if (parent === undefined || (find.get(type, key)?.parent ?? parent) === parent) refuse('stale')
      }
      return {}
    },
  }
}

/** As a word stands in a body. */
function inText(word: string): string {
  return JSON.stringify(word).slice(1, -1)
}
