import type { DatabaseSync } from 'node:sqlite'
import type { Change, ObjectDraft, Outcome, WriteCondition } from '../../ports/catalog.ts'
import type { BlobChanges } from './blobs.ts'
import type { BucketSums, Ledger, VolumeSums } from './ledger.ts'
import { refuse } from './refusal.ts'
import { objectBody, readBlobs, writeBlobs } from './rows.ts'
import { query } from './statements.ts'

type Of<Name extends Change['do']> = Extract<Change, { do: Name }>

/** The longest key. Listings rely on it: 1025 bytes of 0xff are behind every key. */
export const KEY_BYTES_MAX = 1024

export interface CurrentObject {
  readonly seq: number
  readonly born: number
  readonly size: number
  readonly etag: string
  readonly blobs: string
}

export function objectChanges(db: DatabaseSync, ledger: Ledger, blobs: BlobChanges) {
  const current = query<CurrentObject>(
    db,
    'SELECT seq, born, size, etag, blobs FROM objects WHERE bucket = ? AND key = ? ORDER BY seq DESC LIMIT 1',
  )
  const insert = ledger.write(
    `INSERT INTO objects (bucket, key, seq, born, version, marker, size, etag, modified, blobs, body)
       VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?)`,
  )
  const bury = ledger.write(
    `INSERT INTO object_history
         (volume, died, bucket, key, seq, born, version, marker, size, etag, modified, blobs, body)
       SELECT ?, ?, bucket, key, seq, born, version, marker, size, etag, modified, blobs, body
         FROM objects WHERE bucket = ? AND key = ? AND seq = ?`,
  )
  const remove = ledger.write('DELETE FROM objects WHERE bucket = ? AND key = ? AND seq = ?')

  /** The row goes from the live index: to the history while a snapshot sees it, else for good. */
  function retire(bucket: BucketSums, key: Uint8Array, row: CurrentObject): void {
    const { volume } = bucket
    const held = readBlobs(row.blobs)
    if (row.born <= volume.lastSnapshotEpoch) {
      bury(volume.id, volume.epoch, bucket.id, key, row.seq)
      blobs.bury(volume, held)
    } else {
      blobs.release(volume, held, 'live')
    }
    remove(bucket.id, key, row.seq)
  }

  function add(bucket: BucketSums, key: Uint8Array, object: ObjectDraft): void {
    insert(
      bucket.id,
      key,
      ledger.nextSeq(),
      bucket.volume.epoch,
      object.version,
      object.sizeBytes,
      object.etag,
      object.modifiedMs,
      writeBlobs(object.blobs),
      objectBody(object),
    )
  }

  return {
    current,

    /** The new row of a key takes the place of the current one. Its blobs are counted already. */
    replace(bucket: BucketSums, key: Uint8Array, before: CurrentObject | undefined, object: ObjectDraft): void {
      if (before !== undefined) retire(bucket, key, before)
      add(bucket, key, object)
      ledger.changeBucket(bucket, {
        usedBytes: bucket.usedBytes + object.sizeBytes - (before?.size ?? 0),
        objects: bucket.objects + (before === undefined ? 1 : 0),
      })
    },

    put({ bucket: uuid, key, object, condition, shares }: Of<'put-object'>): Outcome {
      const bucket = ledger.bucket(uuid)
      const usedBefore = bucket.volume.usedBytes
      checkKey(key)
      const before = current.get(bucket.id, key)
      checkCondition(condition, before)
      checkBucketLimit(bucket, object.sizeBytes - (before?.size ?? 0))
      if (shares === true) blobs.requireNeeded(bucket.volume, object.blobs)
      blobs.acquire(bucket.volume, object.blobs)
      this.replace(bucket, key, before, object)
      checkVolumeSize(bucket.volume, usedBefore)
      return { replaced: before !== undefined }
    },

    delete({ bucket: uuid, key, condition }: Of<'delete-object'>): Outcome {
      const bucket = ledger.bucket(uuid)
      const before = current.get(bucket.id, key)
      checkCondition(condition, before)
      if (before === undefined) return { found: false }
      retire(bucket, key, before)
      ledger.changeBucket(bucket, { usedBytes: bucket.usedBytes - before.size, objects: bucket.objects - 1 })
      return { found: true }
    },
  }
}

export type ObjectChanges = ReturnType<typeof objectChanges>

export function checkKey(key: Uint8Array): void {
  if (key.length === 0 || key.length > KEY_BYTES_MAX) {
    throw new RangeError(`A key has 1 to ${KEY_BYTES_MAX} bytes, not ${key.length}.`)
  }
}

export function checkCondition(condition: WriteCondition | undefined, current: CurrentObject | undefined): void {
  if (condition === undefined) return
  const { ifMatch, ifNoneMatch } = condition
  if (ifMatch !== undefined) {
    if (current === undefined) refuse('absent')
    if (!ifMatch.includes('*') && !ifMatch.includes(current.etag)) refuse('condition')
  }
  if (ifNoneMatch !== undefined && current !== undefined) {
    if (ifNoneMatch.includes('*') || ifNoneMatch.includes(current.etag)) refuse('condition')
  }
}

/** To be called before anything is written: most refusals for lack of space then cost nothing. */
export function checkBucketLimit(bucket: BucketSums, growthBytes: number): void {
  if (growthBytes > 0 && bucket.usedBytes + growthBytes > bucket.limitBytes) refuse('full', 'bucket')
}

/** To be called after the blobs were counted: shared blobs and blobs let go make it impossible to know before. */
export function checkVolumeSize(volume: VolumeSums, usedBytesBefore: number): void {
  if (volume.usedBytes > volume.sizeBytes && volume.usedBytes > usedBytesBefore) refuse('full', 'volume')
}
