import type { DatabaseSync } from 'node:sqlite'
import type { Change, Outcome } from '../../ports/catalog.ts'
import type { BlobChanges } from '../blobs.ts'
import { checkWritable } from '../ledger.ts'
import type { BucketSums, Ledger } from '../ledger.ts'
import { charged, checkBucketLimit, checkKey, checkTree, checkVolumeSize, movesFor } from './object-changes.ts'
import type { ObjectChanges } from './object-changes.ts'
import { ownedBy } from '../quotas.ts'
import type { Move, QuotaChanges } from '../quotas.ts'
import { refuse } from '../refusal.ts'
import { readBlobs, writeBlobs } from '../rows.ts'
import { query } from '../statements.ts'

type Of<Name extends Change['do']> = Extract<Change, { do: Name }>

interface OpenUpload {
  readonly id: number
  readonly key: Uint8Array
  readonly bytes: number
  readonly owner: string
}

interface KeptPart {
  readonly number: number
  readonly size: number
  readonly etag: string
  readonly blobs: string
}

export function uploadChanges(
  db: DatabaseSync,
  ledger: Ledger,
  blobs: BlobChanges,
  objects: ObjectChanges,
  quotas: QuotaChanges,
) {
  const find = query<OpenUpload>(
    db,
    `SELECT id, key, bytes, coalesce(details ->> '$.owner', '') AS owner FROM uploads WHERE bucket = ? AND upload = ?`,
  )
  const partsOf = query<KeptPart>(db, 'SELECT number, size, etag, blobs FROM parts WHERE upload = ? ORDER BY number')
  const part = query<KeptPart>(db, 'SELECT number, size, etag, blobs FROM parts WHERE upload = ? AND number = ?')
  const insert = ledger.write('INSERT INTO uploads (bucket, key, upload, started, details) VALUES (?, ?, ?, ?, ?)')
  const grow = ledger.write('UPDATE uploads SET bytes = bytes + ? WHERE id = ?')
  const remove = ledger.write('DELETE FROM uploads WHERE id = ?')
  const removeParts = ledger.write('DELETE FROM parts WHERE upload = ?')
  const putPart = ledger.write(
    'INSERT OR REPLACE INTO parts (upload, number, size, etag, modified, checksum, blobs) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )

  function upload(bucket: BucketSums, id: string): OpenUpload {
    return find.get(bucket.id, id) ?? refuse('missing', 'upload')
  }

  /** Parts count as bytes of who opened the upload; they are no files. */
  const bytesOf = ({ owner }: OpenUpload, bytes: number): Move => ({ holder: ownedBy(owner), bytes, files: 0 })

  return {
    open({ bucket: uuid, upload: row }: Of<'open-upload'>): Outcome {
      const bucket = ledger.bucket(uuid)
      checkKey(row.key)
      if (find.get(bucket.id, row.upload) !== undefined) return {}
      insert(bucket.id, row.key, row.upload, row.startedMs, JSON.stringify(row.details))
      return {}
    },

    putPart({ bucket: uuid, upload: id, part: row, maxTotalBytes, shares, tree }: Of<'put-part'>): Outcome {
      const bucket = ledger.bucket(uuid)
      const { volume } = bucket
      checkTree(volume, tree)
      const open = upload(bucket, id)
      const chargedBefore = charged(volume)
      const before = part.get(open.id, row.number)
      const growth = row.sizeBytes - (before?.size ?? 0)
      if (open.bytes + growth > maxTotalBytes) refuse('too-large')
      checkBucketLimit(bucket, growth)
      quotas.check(volume, [bytesOf(open, growth)])
      if (shares === true) blobs.requireNeeded(volume, row.blobs)
      blobs.acquire(volume, row.blobs)
      if (before !== undefined) blobs.release(volume, readBlobs(before.blobs), 'live')
      const checksum = JSON.stringify(row.checksum)
      putPart(open.id, row.number, row.sizeBytes, row.etag, row.modifiedMs, checksum, writeBlobs(row.blobs))
      if (growth !== 0) {
        grow(growth, open.id)
        quotas.move(volume, [bytesOf(open, growth)])
        ledger.changeBucket(bucket, { usedBytes: bucket.usedBytes + growth })
      }
      checkVolumeSize(volume, chargedBefore)
      return {}
    },

    complete({ bucket: uuid, upload: id, parts, object, condition, nowMs }: Of<'complete-upload'>): Outcome {
      const bucket = ledger.bucket(uuid)
      const open = upload(bucket, id)
      checkWritable(bucket, open.key)
      const place = objects.placeFor(bucket, open.key, object.version, { condition, nowMs })
      const kept = new Map(partsOf.all(open.id).map((row) => [row.number, row]))
      const used: KeptPart[] = []
      for (const { number, etag } of parts) {
        const row = kept.get(number)
        if (row === undefined || row.etag !== etag) refuse('parts', String(number))
        // Taken out, so that a part named twice is not counted twice.
        kept.delete(number)
        used.push(row)
      }
      const sizeBytes = used.reduce((sum, row) => sum + row.size, 0)
      const partsGone = bytesOf(open, -open.bytes)
      quotas.check(bucket.volume, [partsGone, ...movesFor(place, { ...object, sizeBytes })])
      quotas.move(bucket.volume, [partsGone])
      for (const row of kept.values()) blobs.release(bucket.volume, readBlobs(row.blobs), 'live')
      removeParts(open.id)
      remove(open.id)
      ledger.changeBucket(bucket, { usedBytes: bucket.usedBytes - open.bytes })
      return objects.addObject(place, { ...object, sizeBytes, blobs: used.flatMap((p) => readBlobs(p.blobs)) })
    },

    abort({ bucket: uuid, upload: id }: Of<'abort-upload'>): Outcome {
      const bucket = ledger.bucket(uuid)
      const open = find.get(bucket.id, id)
      if (open === undefined) return { found: false }
      for (const row of partsOf.all(open.id)) blobs.release(bucket.volume, readBlobs(row.blobs), 'live')
      removeParts(open.id)
      remove(open.id)
      quotas.move(bucket.volume, [bytesOf(open, -open.bytes)])
      ledger.changeBucket(bucket, { usedBytes: bucket.usedBytes - open.bytes })
      return { found: true }
    },
  }
}
