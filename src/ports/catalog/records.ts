import type { StoredRecord, RecordsWithin, KeptRecord, RecordChange } from './rows.ts'

/** Records, by type and key: what is configured, and what the cluster notes of itself. */
export interface Records {
  /** One record, or nothing. */
  record(type: string, key: string): Promise<StoredRecord | undefined>

  /**
   * All records of a type, or those under one parent, ordered by key. With `after`, at most so many after that key, in a
   * turn of the event loop of its own: a walk meets every record once that stays. Such a page ends before its limit when
   * records are long, after one at the earliest; the walk is over with an empty one.
   */
  records(type: string, within?: RecordsWithin): Promise<StoredRecord[]>

  /**
   * Records of a type under a volume, as one of its snapshots shows them: those that were put with `isInSnapshots`. At most
   * so many after a key, in pages as those of `records`. Nothing where there is no such snapshot.
   */
  recordsAt(
    type: string,
    of: { readonly volume: string; readonly snapshot: string },
    after: string,
    limit: number,
  ): Promise<readonly KeptRecord[]>

  /** The key of the record that holds a unique value in a scope, such as scope `svm.name`, value `svm1`. */
  holder(scope: string, value: string): Promise<{ readonly type: string; readonly key: string } | undefined>

  /**
   * A number that grows with every commit that touches a record. Equal numbers mean that no record changed between the
   * two reads: callers may keep what they derived from records. An engine that knows it at once gives it without a promise,
   * as requests ask for it before everything that they look up.
   */
  revision(): number | Promise<number>

  /**
   * How many changes of records, objects and volumes it has seen, ever. Equal numbers mean that neither a record nor a
   * counter of a volume changed between the two reads. Where a volume lies, and that it is gone, changes with its record.
   */
  changesMade(): number | Promise<number>

  /** Which records changed after a revision, oldest first. `undefined` when the feed no longer reaches back so far. */
  changes(after: number, limit: number): Promise<readonly RecordChange[] | undefined>
}
