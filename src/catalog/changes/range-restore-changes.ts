/**
 * Takes a range of keys of one bucket back to a snapshot, beside newer snapshots, which go on seeing what they saw:
 *
 *     look     what would go and what would come is counted; nothing changes, and it may still be refused
 *     remove   rows born after the snapshot go: to the history, where a newer snapshot sees them
 *     copy     rows of the history that the snapshot shows live again as copies, born now, which share their blobs
 *     done
 *
 * With the commit that ends `look` the range is read as the snapshot shows it, and the sums of the bucket are those that
 * go with it. What a snapshot shows does not change when rows go that it does not see, or are added that were born later,
 * so readers see the same throughout, and `copy` ends with the live rows of the range being just these.
 *
 * Each phase walks the range in the order of its rows, and how far it is stands beside it: a batch is done once, whoever
 * asks again. All rows go before the first is copied, because a version may be in both with different places.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Change, Outcome } from '../../ports/catalog.ts'
import type { BlobChanges } from '../blobs.ts'
import type { BucketSums, Ledger } from '../ledger.ts'
import type { ListedKeys } from '../listed-keys.ts'
import { checkBucketLimit, checkKey } from './object-changes.ts'
import type { ObjectChanges } from './object-changes.ts'
import { boundsOf } from '../prefixes.ts'
import { ownedBy } from '../quotas.ts'
import type { QuotaChanges } from '../quotas.ts'
import { refuse } from '../refusal.ts'
import { checkReplaceable, holds } from '../retention.ts'
import type { HeldColumns } from '../retention.ts'
import { COPIED_COLUMNS, OWNER, readBlobs } from '../rows.ts'
import { batches, query } from '../statements.ts'
import { deadRows, IN_RANGE, OF_KEY } from '../reads/views.ts'
import type { DeadPlace, LivePlace } from '../reads/views.ts'
import { keyStart, MergedWalk, order, TableWalk } from '../reads/walk.ts'
import type { Patience, Position, Table } from '../reads/walk.ts'

type Of<Name extends Change['do']> = Extract<Change, { do: Name }>

/** The phase in which the range is still read as it is. */
export const LOOKING = 'look'

type Phase = typeof LOOKING | 'remove' | 'copy' | 'done'

interface Growth {
  readonly used: number
  readonly objects: number
  readonly versions: number
}

interface Restore extends Growth {
  readonly bucket: number
  readonly epoch: number
  readonly start: Uint8Array
  readonly until: Uint8Array
  readonly now: number
  readonly phase: Phase
  /** Empty at the start of a phase. */
  readonly position: string
}

/** Where a walk goes on; while looking, also whether a row of that key was met that is there now, and then. */
interface Written {
  /** Hex digits. */
  readonly key: string
  readonly seq: number
  readonly metNow?: boolean
  readonly metThen?: boolean
}

interface Weighed extends HeldColumns {
  readonly size: number
}
type LiveRow = LivePlace & Weighed

interface CountedRow {
  readonly blobs: string
  readonly size: number
  readonly marker: number
  readonly owner: string
}

/** To look at a row costs so much less than to move one. */
const LOOKED = 10
const READING = { first: 64, max: 1001 } as const

export function rangeRestoreChanges(
  db: DatabaseSync,
  ledger: Ledger,
  parts: { blobs: BlobChanges; objects: ObjectChanges; quotas: QuotaChanges; listed: ListedKeys },
) {
  const { blobs, objects, quotas, listed } = parts
  const epochOf = query<{ epoch: number }>(
    db,
    'SELECT epoch FROM snapshots WHERE volume = ? AND uuid = ? AND bucket IN (0, ?)',
  )
  const isSeen = query<{ bucket: number }>(
    db,
    'SELECT bucket FROM snapshot_buckets WHERE volume = ? AND epoch = ? AND bucket = ?',
  )
  const find = query<Restore>(
    db,
    `SELECT bucket, epoch, start, until, now, phase, position, used, objects, versions FROM restores WHERE bucket = ?`,
  )
  const insert = ledger.write(
    `INSERT INTO restores (bucket, volume, epoch, start, until, now, phase, position) VALUES (?, ?, ?, ?, ?, ?, ?, '')`,
  )
  const save = ledger.write(
    'UPDATE restores SET phase = ?, position = ?, used = ?, objects = ?, versions = ? WHERE bucket = ?',
  )
  const remove = ledger.write('DELETE FROM restores WHERE bucket = ?')

  const select = `SELECT o.key, seq, born, marker, size, lock_mode AS lockMode, lock_until AS lockUntil, hold
    FROM objects o WHERE`
  const live = {
    rows: batches<LiveRow>(db, `${select} ${IN_RANGE}`),
    rowsOfKey: batches<LiveRow>(db, `${select} ${OF_KEY}`),
  }
  const dead = deadRows(db)
  const weighed = query<Weighed>(
    db,
    'SELECT size, lock_mode AS lockMode, lock_until AS lockUntil, hold FROM object_history WHERE id = ?',
  )
  const counted = `SELECT blobs, size, marker, ${OWNER} AS owner`
  const liveRow = query<CountedRow>(db, `${counted} FROM objects WHERE bucket = ? AND key = ? AND seq = ?`)
  const deadRow = query<CountedRow>(db, `${counted} FROM object_history WHERE id = ?`)
  const copy = ledger.write(
    `INSERT INTO objects (${COPIED_COLUMNS}) SELECT ${COPIED_COLUMNS.replace('born', '?')} FROM object_history WHERE id = ?`,
  )

  /** Walks one table through the range. */
  function over<Row extends DeadPlace | LiveRow, Columns>(
    { bucket, until }: Restore,
    patience: Patience,
    table: Table<Row, Columns>,
  ): TableWalk<Row, Columns> {
    return new TableWalk(table, bucket, until, patience, READING)
  }

  /** Counts what would change, and refuses what may not go. */
  function look(bucket: BucketSums, restore: Restore, patience: Patience): Restore {
    const { epoch, now: nowMs } = restore
    const rows = new MergedWalk<Weighed & { readonly isNow: boolean; readonly isThen: boolean }>([
      over(restore, patience, {
        ...live,
        seen: () => true,
        load: (row: LiveRow) => ({ ...row, isNow: true, isThen: row.born <= epoch }),
      }),
      over(restore, patience, {
        ...dead,
        seen: isThenIn(restore),
        load: ({ id }: DeadPlace) => ({ ...found(weighed.get(id)), isNow: false, isThen: true }),
      }),
    ])
    const from = readPosition(restore)
    rows.seek(from)
    const growth = { used: restore.used, objects: restore.objects, versions: restore.versions }
    let { key, metNow, metThen } = from
    let last: Position | undefined
    /** The last row, if it is held and would go, unless the next one is itself, as the snapshot shows it. */
    let held: HeldColumns | undefined
    // At least one row is looked at, however much the way to it has cost.
    for (let isFirst = true; ; isFirst = false) {
      const { row } = rows
      const columns = rows.load()
      // A row that was amended since is in both tables, at the same place.
      const isItself = last !== undefined && row !== undefined && order(row, last) === 0
      if (held !== undefined) checkReplaceable(held, isItself ? columns : undefined, { nowMs })
      held = undefined
      const stop = rows.pausedAt ?? (patience.left < 0 && !isFirst && !isItself ? row : undefined)
      if (stop !== undefined) {
        const isSameKey = Buffer.compare(stop.key, key) === 0
        return { ...restore, ...growth, position: writePosition(stop, isSameKey ? { metNow, metThen } : {}) }
      }
      if (row === undefined || columns === undefined) break
      if (Buffer.compare(row.key, key) !== 0) [key, metNow, metThen] = [row.key, false, false]
      if (columns.isNow) {
        add(growth, -1, row.marker === 0 && !metNow, columns.size)
        metNow = true
      }
      if (columns.isThen) {
        add(growth, 1, row.marker === 0 && !metThen, columns.size)
        metThen = true
      } else if (holds(columns, { nowMs })) held = columns
      last = { key: row.key, seq: row.seq }
      patience.left--
      rows.advance()
    }
    checkBucketLimit(bucket, growth.used)
    ledger.changeBucket(bucket, {
      usedBytes: bucket.usedBytes + growth.used,
      objects: bucket.objects + growth.objects,
      versions: bucket.versions + growth.versions,
    })
    noticed(bucket)
    return { ...restore, ...growth, phase: 'remove', position: '' }
  }

  /** What goes and comes counts for its owner, whatever he may have: he did not ask for it. */
  function move({ volume }: BucketSums, { size, marker, owner }: CountedRow, sign: 1 | -1): void {
    if (marker === 0) quotas.move(volume, [{ holder: ownedBy(owner), bytes: sign * size, files: sign }])
  }

  function removeYounger(bucket: BucketSums, restore: Restore, patience: Patience): Restore {
    const rows = over(restore, patience, {
      ...live,
      seen: (row: LiveRow) => row.born > restore.epoch,
      load: (row) => row,
    })
    return walkOn(restore, rows, patience, 'copy', ({ key, seq, born }) => {
      const row = found(liveRow.get(bucket.id, key, seq))
      objects.retire(bucket, key, { seq, born, blobs: row.blobs })
      move(bucket, row, -1)
      settle(bucket, key)
    })
  }

  function copyDead(bucket: BucketSums, restore: Restore, patience: Patience): Restore {
    const rows = over(restore, patience, { ...dead, seen: isThenIn(restore), load: (row: DeadPlace) => row })
    return walkOn(restore, rows, patience, 'done', ({ id, key }) => {
      const row = found(deadRow.get(id))
      blobs.acquire(bucket.volume, readBlobs(row.blobs))
      move(bucket, row, 1)
      copy(bucket.volume.epoch, id)
      settle(bucket, key)
    })
  }

  function settle({ id, versioning }: BucketSums, key: Uint8Array): void {
    if (versioning !== 'off') listed.settle(id, key)
  }

  /** Readers of several turns begin again. */
  function noticed({ volume }: BucketSums): void {
    ledger.changeVolume(volume, { moves: volume.moves + 1 })
  }

  function end(bucket: BucketSums): void {
    remove(bucket.id)
    ledger.changeBucket(bucket, { restoring: undefined })
  }

  return {
    begin({ bucket: uuid, snapshot, range, nowMs }: Of<'begin-range-restore'>): Outcome {
      if ('key' in range) checkKey(range.key)
      const bucket = ledger.bucket(uuid)
      const { volume } = bucket
      const { epoch } = epochOf.get(volume.id, snapshot, bucket.id) ?? refuse('missing', 'snapshot')
      if (isSeen.get(volume.id, epoch, bucket.id) === undefined) refuse('missing', 'snapshot')
      const { start, until } = boundsOf(range)
      const before = find.get(bucket.id)
      if (before !== undefined) {
        const isSame = Buffer.compare(before.start, start) === 0 && Buffer.compare(before.until, until) === 0
        if (before.epoch !== epoch || !isSame) refuse('restoring')
        return { epoch }
      }
      insert(bucket.id, volume.id, epoch, start, until, nowMs, LOOKING)
      ledger.changeBucket(bucket, { restoring: { start, until } })
      return { epoch }
    },

    rows({ bucket: uuid, limit }: Of<'restore-range'>): Outcome {
      const bucket = ledger.findBucket(uuid) ?? refuse('missing', 'bucket')
      let restore = find.get(bucket.id)
      if (restore === undefined) return { restored: 0 }
      const patience = { left: limit * LOOKED }
      while (patience.left >= 0 && restore.phase !== 'done') {
        if (restore.phase === LOOKING) restore = look(bucket, restore, patience)
        else restore = (restore.phase === 'remove' ? removeYounger : copyDead)(bucket, restore, patience)
      }
      const { phase, position, used, objects: more, versions } = restore
      save(phase, position, used, more, versions, bucket.id)
      return { restored: limit, ...(phase === 'done' ? {} : { next: phase }) }
    },

    finish({ bucket: uuid }: Of<'finish-range-restore'>): Outcome {
      const bucket = ledger.findBucket(uuid) ?? refuse('missing', 'bucket')
      const restore = find.get(bucket.id)
      if (restore === undefined) return {}
      if (restore.phase !== 'done') refuse('not-empty')
      end(bucket)
      noticed(bucket)
      return {}
    },

    abandon({ bucket: uuid }: Of<'abandon-range-restore'>): Outcome {
      const bucket = ledger.findBucket(uuid) ?? refuse('missing', 'bucket')
      const restore = find.get(bucket.id)
      if (restore === undefined) return { found: false }
      if (restore.phase !== LOOKING) refuse('restoring')
      end(bucket)
      return { found: true }
    },
  }
}

/** Acts on the rows of a walk until patience runs out; at its end the next phase begins. */
function walkOn<Row extends DeadPlace | LiveRow>(
  restore: Restore,
  rows: TableWalk<Row, Row>,
  patience: Patience,
  next: Phase,
  act: (row: Row) => void,
): Restore {
  rows.seek(readPosition(restore))
  for (;;) {
    const { row } = rows
    const stop = rows.pausedAt ?? (patience.left < 0 ? row : undefined)
    if (stop !== undefined) return { ...restore, position: writePosition(stop, {}) }
    if (row === undefined) return { ...restore, phase: next, position: '' }
    act(row)
    patience.left -= LOOKED
    rows.advance()
  }
}

function isThenIn({ epoch }: Restore): (row: DeadPlace) => boolean {
  return ({ born, died }) => born <= epoch && died > epoch
}

function add(growth: { -readonly [Sum in keyof Growth]: number }, sign: 1 | -1, isObject: boolean, size: number): void {
  growth.used += sign * size
  if (isObject) growth.objects += sign
  else growth.versions += sign
}

function readPosition({ position, start }: Restore): Position & { metNow: boolean; metThen: boolean } {
  if (position === '') return { ...keyStart(start), metNow: false, metThen: false }
  const { key, seq, metNow = false, metThen = false } = JSON.parse(position) as Written
  return { key: Buffer.from(key, 'hex'), seq, metNow, metThen }
}

function writePosition({ key, seq }: Position, met: Pick<Written, 'metNow' | 'metThen'>): string {
  return JSON.stringify({ key: Buffer.from(key).toString('hex'), seq, ...met } satisfies Written)
}

function found<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new Error('The catalog has lost a row that a restore has just met.')
  return row
}
