import { DatabaseSync } from 'node:sqlite'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { CHANGES } from '../../../src/engines/sqlite/catalog-check.ts'
import { markOf, NO_SALTS } from '../../../src/engines/sqlite/log-mark.ts'

/** The catalog as after an orderly end: its log was copied back, and the mark says so. */
export function restCatalog(folder: string): void {
  change(folder, 'PRAGMA wal_checkpoint(TRUNCATE)')
}

/** So that a copy from before is an older one. */
export function addChanges(folder: string): void {
  change(folder, 'UPDATE state SET revision = revision + 10; PRAGMA wal_checkpoint(TRUNCATE)')
}

function change(folder: string, sql: string): void {
  const file = join(folder, 'catalog/catalog.db')
  const catalog = new DatabaseSync(file)
  catalog.exec(sql)
  const changes = BigInt(Number(catalog.prepare(CHANGES).get()?.['changes']))
  catalog.close()
  const mark = Buffer.alloc(32)
  mark.write(`HOLDMRK2`, 'latin1')
  mark.write(NO_SALTS, 8, 'hex')
  mark.writeBigUInt64BE(changes, 20)
  mark.writeUInt32BE(crc32(mark.subarray(0, 28)), 28)
  writeFileSync(markOf(file), mark)
}
