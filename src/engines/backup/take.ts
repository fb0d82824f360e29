/**
 * Makes a copy of a data folder beside a cluster that may run: one state of the catalog, and every file that is not blobs.
 * It does not give up its turn meanwhile: it is for a process that does nothing else.
 *
 * The catalog is read twice. The first time without a transaction, so that however slow the folder of the backups is, the
 * log of the catalog does not wait for it. The second time as one state, which mostly finds the pieces that are there; only
 * what changed in between is written while the log is kept from beginning anew.
 */
import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { checkCatalogFiles } from '../sqlite/log-check.ts'
import { CatalogPages, damageOf, LogTooLong, type Pages } from '../sqlite/catalog-pages.ts'
import { FileLock } from '../sqlite/lock.ts'
import { BackupFailure } from './failure.ts'
import { type BackupStore, digestOf, type Manifest, PIECE_BYTES, type StoredFile } from './store.ts'

/** The log of the catalog may grow by so much while one state is read; then the reading begins again. */
const LOG_GROWTH_BYTES_MAX = 1024 ** 3
/** Readings that a catalog of many changes may need. */
const READINGS_MAX = 4
/** Folders within folders, and files: more are none of a cluster's. */
const DEPTH_MAX = 8
const FILES_MAX = 10_000

/** What a data folder has that no copy needs: locks, sockets, addresses of the run, what restores left aside. */
const LEFT_OUT = [/^run$/, /\.lock$/, /^endpoints\.json$/, /^restoring$/, /^replaced-/, /\.new$/]
/** The mark of an aggregate's folder. What else is in there is blobs. */
const AGGREGATE_LABEL = 'aggregate.json'

export interface DataPlaces {
  readonly data: string
  /** Within the data folder. */
  readonly catalog: string
  readonly lock: string
  readonly aggregate: string
}

export interface Taken {
  readonly name: string
  readonly bytes: number
  readonly newBytes: number
  readonly files: number
}

export async function takeBackup(
  store: BackupStore,
  { data, catalog, lock, aggregate }: DataPlaces,
  about: { readonly madeMs: number; readonly identify: () => Promise<Manifest['cluster']> },
): Promise<Taken> {
  if (!relative(resolve(data), resolve(store.folder)).startsWith('..'))
    throw new BackupFailure(`The folder ${store.folder} lies in the data folder. Choose one on another disk.`)
  const file = join(data, catalog)
  insistOnWhole(file, join(data, lock))
  const cluster = await about.identify()
  insistOnOneCluster(store, cluster)
  let newBytes = 0
  const checked = new Set<string>()
  const keep = (bytes: Uint8Array): string => {
    const digest = digestOf(bytes)
    if (!checked.has(digest) && store.put(digest, bytes)) newBytes += bytes.length
    checked.add(digest)
    return digest
  }
  const files = filesIn(data, [catalog, aggregate]).map((path) => copyFile(data, path, keep))
  const stored: StoredFile = { path: catalog, mode: 0o600, ...copyCatalog(file, keep) }
  const name = store.write({ madeMs: about.madeMs, cluster, catalog: stored, files })
  return { name, bytes: [stored, ...files].reduce((sum, each) => sum + each.bytes, 0), newBytes, files: files.length }
}

/** Pieces of two clusters beside each other would go unnoticed until one is put back. */
function insistOnOneCluster(store: BackupStore, cluster: Manifest['cluster']): void {
  const last = store.names().at(-1)
  const other = last === undefined ? undefined : store.read(last).cluster
  if (other !== undefined && other.uuid !== cluster.uuid)
    throw new BackupFailure(`The folder ${store.folder} has backups of the cluster ${other.name}. Name another folder.`)
}

/** A copy of what is damaged would, in time, take the place of the last good one. */
function insistOnWhole(file: string, lock: string): void {
  // Files of a catalog that nobody writes can be judged. Of one that is written the writer has judged them.
  const held = lockIfFree(lock)
  try {
    if (held !== undefined) checkCatalogFiles(file)
  } finally {
    held?.release()
  }
  const damage = damageOf(file)
  if (damage !== undefined)
    throw new BackupFailure(
      `The catalog ${file} is damaged (${damage}), so no backup was made. Restore an earlier one.`,
    )
}

function lockIfFree(lock: string): FileLock | undefined {
  try {
    return new FileLock(lock, 0)
  } catch {
    return undefined
  }
}

function copyCatalog(file: string, keep: (bytes: Uint8Array) => string): Pick<StoredFile, 'bytes' | 'pieces'> {
  const catalog = new CatalogPages(file)
  try {
    for (let reading = 1; ; reading++) {
      catalog.loose((pages) => copyPages(pages, keep))
      try {
        return catalog.still(LOG_GROWTH_BYTES_MAX, (pages) => ({
          bytes: pages.pages * pages.pageBytes,
          pieces: copyPages(pages, keep),
        }))
      } catch (failure) {
        if (!(failure instanceof LogTooLong)) throw failure
        if (reading < READINGS_MAX) continue
        throw new BackupFailure(
          'The catalog changes faster than it can be read. Try again when there are fewer writes.',
        )
      }
    }
  } finally {
    catalog.close()
  }
}

function copyPages(source: Pages, keep: (bytes: Uint8Array) => string): string[] {
  const pieces: string[] = []
  const inPiece = Math.max(1, Math.floor(PIECE_BYTES / source.pageBytes))
  for (let first = 1; first <= source.pages; first += inPiece) {
    pieces.push(keep(source.read(first, Math.min(inPiece, source.pages - first + 1))))
  }
  return pieces
}

function copyFile(data: string, path: string, keep: (bytes: Uint8Array) => string): StoredFile {
  const file = openSync(join(data, path), 'r')
  try {
    const pieces: string[] = []
    const buffer = Buffer.alloc(PIECE_BYTES)
    let bytes = 0
    for (;;) {
      const read = readSync(file, buffer, 0, buffer.length, bytes)
      if (read === 0) break
      bytes += read
      pieces.push(keep(buffer.subarray(0, read)))
    }
    return { path, mode: statSync(join(data, path)).mode & 0o777, bytes, pieces }
  } finally {
    closeSync(file)
  }
}

/** All files but those of the catalog and blobs, by their paths. */
function filesIn(data: string, [catalog, aggregate]: readonly [string, string]): string[] {
  const found: string[] = []
  const walk = (folder: string, depth: number): void => {
    for (const name of readdirSync(join(data, folder)).toSorted()) {
      const path = join(folder, name)
      const entry = statSync(join(data, path), { throwIfNoEntry: false })
      if (entry === undefined || LEFT_OUT.some((one) => one.test(name)) || path === join(catalog, '..')) continue
      if (entry.isFile()) found.push(path)
      else if (entry.isDirectory() && isAggregate(path)) {
        if (existsSync(join(data, path, AGGREGATE_LABEL))) found.push(join(path, AGGREGATE_LABEL))
      } else if (entry.isDirectory() && depth < DEPTH_MAX) walk(path, depth + 1)
      if (found.length > FILES_MAX)
        throw new BackupFailure(
          `The data folder ${data} has more than ${FILES_MAX} files beside its blobs. Move away what is not the cluster's.`,
        )
    }
  }
  const isAggregate = (path: string) => path === aggregate || existsSync(join(data, path, AGGREGATE_LABEL))
  walk('.', 0)
  return found
}
