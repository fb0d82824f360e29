import type { Fields } from './rows.ts'

/** Changes of records, and what a commit may say of those it rests on. */
export type RecordsChange =
  /**
   * Writes a record. `expect: 'absent'`: refused `exists` when the key is there. A number: refused `stale` when the
   * revision is another. `unique` claims values for this record (and frees those it claimed before): refused `taken`
   * with the scope when another record holds one. Without `parent` or `unique` those stay as they were.
   * `parentTypes`: where the record is new under its parent, refused `missing` with scope 'parent' unless a record of one of
   * these types has the key that `parent` says.
   * `names`: refused `missing` with scope 'reference' unless each of these records is there, or the record held its key before.
   * `isInSnapshots`: its parent is a volume, and snapshots of that show the record as it was when they were taken.
   */
  | {
      readonly do: 'put-record'
      readonly type: string
      readonly key: string
      readonly parent?: string
      readonly parentTypes?: readonly string[]
      readonly names?: readonly { readonly type: string; readonly key: string }[]
      readonly body: Fields
      readonly unique?: Readonly<Record<string, string>>
      readonly isInSnapshots?: boolean
      readonly expect?: 'absent' | number
    }
  /** Removes a record and frees its unique values. Removing what is not there is fine, unless a revision is expected. */
  | { readonly do: 'remove-record'; readonly type: string; readonly key: string; readonly expect?: number }
  /**
   * Gives all records of a type under a parent another type: they are no longer found where they were. What they claim
   * stays theirs. Not for records that snapshots show.
   */
  | { readonly do: 'retype-records'; readonly type: string; readonly parent: string; readonly to: string }
  /** Refused `stale` unless the record has this revision ('absent': is not there). Changes nothing. */
  | { readonly do: 'check-record'; readonly type: string; readonly key: string; readonly expect: 'absent' | number }
  /** Refused `exists` when a record of this type has this parent. Changes nothing. */
  | { readonly do: 'check-childless'; readonly type: string; readonly parent: string }
  /**
   * Refused `stale` when a record of one of these types was written after the revision `since` and holds the word anywhere,
   * or when the feed does not reach back so far. Changes nothing.
   */
  | {
      readonly do: 'check-unnamed'
      readonly types: readonly string[]
      readonly word: string
      readonly since: number
    }
  /**
   * Refused `stale` when a record of one of these types was written or removed after the revision `since`, or when the feed
   * does not reach back so far. `parent`: of those that are there, only the ones under this one. Changes nothing.
   *
   * Two types are no records, but what volumes do: `PROMISES` is written when more is promised to a volume, or it is promised
   * elsewhere; `TREES` when a volume comes to share a tree, leaves one, or goes.
   */
  | {
      readonly do: 'check-unwritten'
      readonly types: readonly string[]
      readonly parent?: string
      readonly since: number
    }
  /** Refused `no-space` while the disk of the catalog is full: what follows will need space. Changes nothing. */
  | { readonly do: 'check-space' }

export const PROMISES = 'catalog/promises'
export const TREES = 'catalog/trees'
