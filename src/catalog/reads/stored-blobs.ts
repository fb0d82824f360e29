/** How blobs are stored, as the runs ask that make it less. */
import type { DatabaseSync } from 'node:sqlite'
import type { StoredBlob } from '../../ports/catalog.ts'
import { query } from '../statements.ts'

/** Bits of the column `tried`. */
export const TRIED = { compression: 1, dedupe: 2 } as const

interface StoredColumns {
  readonly blob: string
  readonly sizeBytes: number
  readonly storedBytes: number
  readonly digest: string | null
  readonly crc: number | null
  readonly group: string | null
  readonly tried: number
  readonly refs: number
  readonly isShared: number
}

/** Another volume of the tree has it too, or it counts as what a clone inherited. */
const IS_SHARED = `EXISTS (SELECT 1 FROM volumes own JOIN volumes v ON v.tree = own.tree AND v.id <> own.id
    JOIN blobs other ON other.volume = v.id AND other.blob = b.blob WHERE own.id = b.volume)
  OR (b.inherited = 1 AND (SELECT own.inherited FROM volumes own WHERE own.id = b.volume) IS NOT NULL)`
const COLUMNS = `blob, size AS sizeBytes, coalesce(stored, size) AS storedBytes, digest, crc, grp AS "group", tried, refs,
  ${IS_SHARED} AS isShared`
/** To count more would take too long. */
const COUNTED_MAX = 1_000_000
const IN_VOLUME = '(SELECT id FROM volumes WHERE uuid = ?)'

export function storedBlobReads(db: DatabaseSync) {
  // Rows are counted before those are left out that nothing needs, so that no page takes long.
  const after = query<StoredColumns>(
    db,
    `SELECT ${COLUMNS} FROM blobs b WHERE volume = ${IN_VOLUME} AND blob > ? ORDER BY blob LIMIT ? + 0`,
  )
  const one = query<StoredColumns>(
    db,
    `SELECT ${COLUMNS} FROM blobs b WHERE volume = ${IN_VOLUME} AND blob = ? AND refs > 0`,
  )
  const ofDigest = query<StoredColumns>(
    db,
    `SELECT ${COLUMNS} FROM blobs b WHERE volume = ${IN_VOLUME} AND digest = ? AND size = ? AND refs > 0
       AND grp IS coalesce(?, grp) ORDER BY blob DESC LIMIT ? + 0`,
  )
  const withoutCrc = query<{ blobs: number }>(
    db,
    `SELECT count(*) AS blobs FROM (SELECT 1 FROM blobs WHERE crc IS NULL AND refs > 0 LIMIT ${COUNTED_MAX})`,
  )
  return {
    unverifiedBlobs(): number {
      return withoutCrc.get()?.blobs ?? 0
    },

    storedBlobs(volume: string, from: string, limit: number): { blobs: StoredBlob[]; next?: string } {
      const rows = after.all(volume, from, limit)
      const last = rows.at(-1)
      const blobs = rows.filter(({ refs }) => refs > 0).map(storedBlob)
      return last === undefined || rows.length < limit ? { blobs } : { blobs, next: last.blob }
    },

    storedBlob(volume: string, blob: string): StoredBlob | undefined {
      const row = one.get(volume, blob)
      return row === undefined ? undefined : storedBlob(row)
    },

    twins(
      volume: string,
      { digest, sizeBytes, group }: { readonly digest: string; readonly sizeBytes: number; readonly group?: string },
      limit: number,
    ): StoredBlob[] {
      return ofDigest.all(volume, digest, sizeBytes, group ?? null, limit).map(storedBlob)
    },
  }
}

function storedBlob({ blob, sizeBytes, storedBytes, digest, crc, group, tried, isShared }: StoredColumns): StoredBlob {
  return {
    blob,
    sizeBytes,
    storedBytes,
    tried: { compression: (tried & TRIED.compression) !== 0, dedupe: (tried & TRIED.dedupe) !== 0 },
    ...(digest === null ? {} : { digest }),
    ...(crc === null ? {} : { crc }),
    ...(group === null ? {} : { group }),
    ...(isShared === 0 ? {} : { isShared: true }),
  }
}
