/**
 * Objects, their versions and delete markers.
 *
 * Every write of a key adds a row, removes a row, or both, in its place among the rows of the key:
 *
 *                 put                       delete                     delete of version v
 *     off         - the row, + null         - the row                  - v
 *     enabled     + draft's version         + marker                   - v
 *     suspended   - null, + null            - null, + marker null      - v
 *
 * The row added is always the newest, so it is the current one.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Change, DeleteCondition, ObjectDraft, Outcome, WriteCondition } from '../../ports/catalog.ts'
import { chargedBytes } from '../../ports/charged.ts'
import type { BlobChanges } from '../blobs.ts'
import { versionFinder } from '../reads/find-version.ts'
import type { BucketSums, Ledger, VolumeSums } from '../ledger.ts'
import type { ListedKeys } from '../listed-keys.ts'
import { KEY_BYTES_MAX } from '../prefixes.ts'
import { ownedBy, ownerOf } from '../quotas.ts'
import type { Move, QuotaChanges } from '../quotas.ts'
import { refuse } from '../refusal.ts'
import { checkRemovable } from '../retention.ts'
import type { Authority, HeldColumns } from '../retention.ts'
import { COPIED_COLUMNS, objectBody, OWNER, readBlobs, writeBlobs } from '../rows.ts'
import { query, tupleQuery } from '../statements.ts'

type Of<Name extends Change['do']> = Extract<Change, { do: Name }>

export interface KeptRow extends HeldColumns {
  readonly seq: number
  readonly born: number
  readonly version: string
  readonly marker: number
  readonly size: number
  readonly etag: string
  readonly modified: number
  readonly blobs: string
  readonly owner: string
}

export type RetiringRow = Pick<KeptRow, 'seq' | 'born' | 'blobs'>

const KEPT_COLUMNS = `seq, born, version, marker, lock_mode AS lockMode, lock_until AS lockUntil, hold, size, etag, modified,
  blobs, ${OWNER} AS owner`

/** The same columns as they come in an array. */
type KeptTuple = readonly [
  ...[seq: number, born: number, version: string, marker: number],
  ...[lockMode: KeptRow['lockMode'], lockUntil: number | null, hold: number | null],
  ...[size: number, etag: string, modified: number, blobs: string, owner: string],
]

/** Where a row is about to be added. */
export interface Place {
  readonly bucket: BucketSums
  readonly key: Uint8Array
  /** What the row will be called. */
  readonly version: string
  readonly current: KeptRow | undefined
  /** The row that goes for it. */
  readonly replaced: KeptRow | undefined
}

const MARKER = { sizeBytes: 0, etag: '', blobs: [], parts: null } as const
const NO_CHECKSUM = { algorithm: '', type: 'FULL_OBJECT', value: '' } as const

export function objectChanges(
  db: DatabaseSync,
  ledger: Ledger,
  blobs: BlobChanges,
  quotas: QuotaChanges,
  listed: ListedKeys,
) {
  const newestTuple = tupleQuery<KeptTuple>(
    db,
    `SELECT ${KEPT_COLUMNS} FROM objects WHERE bucket = ? AND key = ? ORDER BY seq DESC LIMIT 1`,
  )
  const older = query<{ marker: number }>(
    db,
    'SELECT marker FROM objects WHERE bucket = ? AND key = ? AND seq < ? ORDER BY seq DESC LIMIT 1',
  )
  const ofVersion = versionFinder<KeptRow>(db, KEPT_COLUMNS)
  const insert = ledger.write(
    `INSERT INTO objects (${COPIED_COLUMNS}) VALUES (${COPIED_COLUMNS.replaceAll(/\w+/g, '?')})`,
  )
  const copyToHistory = ledger.write(
    `INSERT INTO object_history (volume, died, ${COPIED_COLUMNS})
       SELECT ?, ?, ${COPIED_COLUMNS} FROM objects WHERE bucket = ? AND key = ? AND seq = ?`,
  )
  const remove = ledger.write('DELETE FROM objects WHERE bucket = ? AND key = ? AND seq = ?')

  function newest({ id }: BucketSums, key: Uint8Array): KeptRow | undefined {
    const row = newestTuple.get(id, key)
    if (row === undefined) return undefined
    const [seq, born, version, marker, lockMode, lockUntil, hold, size, etag, modified, blobs, owner] = row
    return { seq, born, version, marker, lockMode, lockUntil, hold, size, etag, modified, blobs, owner }
  }

  /** Keeps a row as it is for the snapshots that see it, if there are any. Its blobs are counted as history then. */
  function bury({ id, volume, lastSnapshotEpoch }: BucketSums, key: Uint8Array, row: RetiringRow): boolean {
    if (row.born > Math.max(lastSnapshotEpoch, volume.lastSnapshotEpoch)) return false
    copyToHistory(volume.id, volume.epoch, id, key, row.seq)
    blobs.bury(volume, readBlobs(row.blobs))
    return true
  }

  /** The row goes from the live index: to the history while a snapshot sees it, else for good. */
  function retire(bucket: BucketSums, key: Uint8Array, row: RetiringRow): void {
    if (!bury(bucket, key, row)) blobs.release(bucket.volume, readBlobs(row.blobs), 'live')
    remove(bucket.id, key, row.seq)
  }

  function find(bucket: BucketSums, key: Uint8Array, version: string | undefined): KeptRow | undefined {
    return version === undefined ? newest(bucket, key) : ofVersion(bucket.id, key, version)
  }

  /** Finds the place for a new row, or refuses. Nothing is written. */
  function placeFor(
    bucket: BucketSums,
    key: Uint8Array,
    wanted: string,
    { condition, ...authority }: Authority & { readonly condition?: DeleteCondition | undefined },
  ): Place {
    const current = newest(bucket, key)
    checkCondition(condition, current)
    if (bucket.versioning === 'enabled') {
      if (wanted === 'null') refuse('missing', 'version')
      if (current !== undefined && ofVersion(bucket.id, key, wanted) !== undefined) refuse('exists', 'version')
      return { bucket, key, version: wanted, current, replaced: undefined }
    }
    // While versioning is off, the only row of a key is 'null'.
    const replaced = current === undefined || current.version === 'null' ? current : ofVersion(bucket.id, key, 'null')
    checkRemovable(replaced, authority)
    return { bucket, key, version: 'null', current, replaced }
  }

  /** Adds the row, whose blobs are counted already, and lets go of the one it replaces. */
  function add(place: Place, object: ObjectDraft, marker: 0 | 1): void {
    const { bucket, key, version, current, replaced } = place
    quotas.move(bucket.volume, marker === 0 ? movesFor(place, object) : gone(replaced))
    if (replaced !== undefined) retire(bucket, key, replaced)
    insert(
      bucket.id,
      key,
      ledger.nextSeq(),
      bucket.volume.epoch,
      version,
      bucket.versioning === 'off' ? 0 : 1,
      marker,
      object.sizeBytes,
      object.etag,
      object.modifiedMs,
      object.checksum.algorithm,
      object.checksum.type === 'COMPOSITE' ? 1 : 0,
      object.storageClass ?? null,
      object.lock?.mode ?? null,
      object.lock?.untilMs ?? null,
      object.legalHold === undefined ? null : Number(object.legalHold),
      object.checksum.value,
      writeBlobs(object.blobs),
      objectBody(object),
    )
    listed.change(bucket, key, isObject(current), marker === 0)
    count(bucket, {
      bytes: object.sizeBytes - (replaced?.size ?? 0),
      rows: replaced === undefined ? 1 : 0,
      objects: 1 - marker - Number(isObject(current)),
    })
  }

  function count(bucket: BucketSums, more: { bytes: number; rows: number; objects: number }): void {
    ledger.changeBucket(bucket, {
      usedBytes: bucket.usedBytes + more.bytes,
      objects: bucket.objects + more.objects,
      versions: bucket.versions + more.rows - more.objects,
    })
  }

  function addObject(place: Place, object: ObjectDraft): Outcome {
    add(place, object, 0)
    return { replaced: isObject(place.current), version: place.version }
  }

  function deleteCurrent(bucket: BucketSums, change: Of<'delete-object'>): Outcome {
    const { key, marker } = change
    if (bucket.versioning === 'off') {
      const row = newest(bucket, key)
      checkCondition(change.condition, row)
      checkRemovable(row, change)
      if (row === undefined) return { found: false }
      retire(bucket, key, row)
      quotas.move(bucket.volume, gone(row))
      count(bucket, { bytes: -row.size, rows: -1, objects: -1 })
      return { found: true }
    }
    if (marker === undefined) refuse('missing', 'marker')
    checkKey(key)
    const place = placeFor(bucket, key, marker.version, change)
    const { version, modifiedMs, details = {} } = marker
    add(place, { ...MARKER, version, modifiedMs, details, checksum: NO_CHECKSUM }, 1)
    return { found: isObject(place.current), marker: true, version: place.version }
  }

  function deleteVersion(bucket: BucketSums, version: string, change: Of<'delete-object'>): Outcome {
    const { key } = change
    const row = ofVersion(bucket.id, key, version)
    checkCondition(change.condition, row)
    const isCurrent = row !== undefined && newest(bucket, key)?.seq === row.seq
    if (change.condition?.ifNoncurrent === true && (row === undefined || isCurrent)) {
      refuse(row === undefined ? 'absent' : 'condition')
    }
    checkRemovable(row, change)
    if (row === undefined) return { found: false }
    let objects = 0
    if (isCurrent) {
      const isShown = older.get(bucket.id, key, row.seq)?.marker === 0
      objects = Number(isShown) - Number(isObject(row))
      listed.change(bucket, key, isObject(row), isShown)
    }
    retire(bucket, key, row)
    quotas.move(bucket.volume, gone(row))
    count(bucket, { bytes: -row.size, rows: -1, objects })
    return { found: true, marker: row.marker === 1, version }
  }

  return {
    find,
    bury,
    retire,
    placeFor,
    addObject,

    put(change: Of<'put-object'>): Outcome {
      const { key, object, condition, nowMs } = change
      const bucket = ledger.bucket(change.bucket, key)
      checkTree(bucket.volume, change.tree)
      const before = charged(bucket.volume)
      checkKey(key)
      const place = placeFor(bucket, key, object.version, { condition, nowMs })
      checkBucketLimit(bucket, object.sizeBytes - (place.replaced?.size ?? 0))
      quotas.check(bucket.volume, movesFor(place, object))
      if (change.shares === true) blobs.requireNeeded(bucket.volume, object.blobs)
      blobs.acquire(bucket.volume, object.blobs)
      const outcome = addObject(place, object)
      checkVolumeSize(bucket.volume, before)
      return outcome
    },

    delete(change: Of<'delete-object'>): Outcome {
      const bucket = ledger.bucket(change.bucket, change.key)
      return change.version === undefined
        ? deleteCurrent(bucket, change)
        : deleteVersion(bucket, change.version, change)
    },
  }
}

export type ObjectChanges = ReturnType<typeof objectChanges>

/** What an object in its place gives to its owner, and takes from that of the row it replaces. */
export function movesFor({ replaced }: Place, { sizeBytes, details }: ObjectDraft): Move[] {
  return [{ holder: ownedBy(ownerOf(details)), bytes: sizeBytes, files: 1 }, ...gone(replaced)]
}

/** What a row takes with it. A delete marker is nobody's. */
function gone(row: KeptRow | undefined): Move[] {
  return isObject(row) ? [{ holder: ownedBy(row.owner), bytes: -row.size, files: -1 }] : []
}

function isObject(row: KeptRow | undefined): row is KeptRow {
  return row !== undefined && row.marker === 0
}

export function checkKey(key: Uint8Array): void {
  if (key.length === 0 || key.length > KEY_BYTES_MAX) {
    throw new RangeError(`A key has 1 to ${KEY_BYTES_MAX} bytes, not ${key.length}.`)
  }
}

function checkCondition(condition: DeleteCondition | undefined, row: KeptRow | undefined): void {
  if (condition === undefined) return
  const object = isObject(row) ? row : undefined
  checkEtags(condition, object)
  const { ifSizeBytes, ifModifiedMs } = condition
  if (ifSizeBytes === undefined && ifModifiedMs === undefined) return
  if (object === undefined) refuse('absent')
  if (ifSizeBytes !== undefined && ifSizeBytes !== object.size) refuse('condition')
  if (ifModifiedMs !== undefined && second(ifModifiedMs) !== second(object.modified)) refuse('condition')
}

function checkEtags({ ifMatch, ifNoneMatch }: WriteCondition, object: KeptRow | undefined): void {
  if (ifMatch !== undefined) {
    if (object === undefined) refuse('absent')
    if (!ifMatch.includes('*') && !ifMatch.includes(object.etag)) refuse('condition')
  }
  if (ifNoneMatch !== undefined && object !== undefined) {
    if (ifNoneMatch.includes('*') || ifNoneMatch.includes(object.etag)) refuse('condition')
  }
}

const second = (ms: number) => Math.floor(ms / 1000)

/** Blobs that were written to where the volume was are not where it is read. */
export function checkTree(volume: VolumeSums, tree: string | undefined): void {
  if (tree !== undefined && tree !== volume.tree) refuse('moved', 'volume')
}

/** To be called before anything is written: most refusals for lack of space then cost nothing. */
export function checkBucketLimit(bucket: BucketSums, growthBytes: number): void {
  if (growthBytes > 0 && bucket.usedBytes + growthBytes > bucket.limitBytes) refuse('full', 'bucket')
}

/** To be called after the blobs were counted: shared blobs and blobs let go make it impossible to know before. */
export function checkVolumeSize(volume: VolumeSums, chargedBefore: number): void {
  // Compressed and deduplicated bytes take no room. Sums of a volume stay exact numbers all the same.
  const { usedBytes, savedByCompressionBytes, savedByDedupeBytes } = volume
  if (usedBytes + savedByCompressionBytes + savedByDedupeBytes > Number.MAX_SAFE_INTEGER) refuse('full', 'volume')
  const now = charged(volume)
  if (now > volume.sizeBytes && now > chargedBefore) refuse('full', 'volume')
}

export const charged = (volume: VolumeSums): number => chargedBytes(volume, volume.reserveBytes)
