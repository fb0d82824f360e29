/**
 * Puts a copy back into a data folder: all of it is made and checked in a folder beside, then renamed into place. The
 * catalog comes last, as a start refuses a folder that has a key and no catalog: a restore that is interrupted has to be
 * repeated, and cannot be taken for one that ended.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { BackupFailure } from './failure.ts'
import { type BackupStore, namesIn, type StoredFile, syncFolder } from './store.ts'

/** Where the copy is made, within the data folder. It is there until all of it is in place. */
export const STAGING = 'restoring'
const AGGREGATE_LABEL = 'aggregate.json'

export interface PutBack {
  /** The copy, by its name. */
  readonly name: string
  /** Where it goes. Nobody else may be at work there. */
  readonly data: string
  readonly nowMs: number
  /** What is in the way is moved to a folder beside; else it is refused. */
  readonly movesAside: boolean
  /** Called with the place of the catalog before it goes where it belongs. */
  readonly prepare: (catalog: string) => Promise<void>
}

/** Gives the folder with what was in the way. */
export async function putBack(
  store: BackupStore,
  { name, data, nowMs, movesAside, prepare }: PutBack,
): Promise<string | undefined> {
  const { catalog, files } = store.read(name)
  const labels = files.filter(({ path }) => path.endsWith(`${sep}${AGGREGATE_LABEL}`))
  const others = files.filter((file) => !labels.includes(file))
  // The folder of the catalog as a whole: a log of another catalog would be read into this one.
  const tops = [...new Set([...others.map(({ path }) => path.split(sep)[0] ?? path), dirname(catalog.path)])]
  const differing = labels.filter(
    (label) => existsSync(join(data, label.path)) && !isSame(store, label, join(data, label.path)),
  )
  const inTheWay = [...tops.filter((top) => isThere(join(data, top))), ...differing.map(({ path }) => path)]
  if (inTheWay.length > 0 && !movesAside) {
    throw new BackupFailure(
      `The data folder ${data} is not empty (${inTheWay.join(', ')}), and nothing was changed. Add --move-aside to ` +
        'keep what is there in a folder beside it, or name a new folder with --data.',
    )
  }
  const staging = join(data, STAGING)
  rmSync(staging, { recursive: true, force: true })
  mkdirSync(staging, { mode: 0o700 })
  for (const file of [catalog, ...files]) write(store, file, join(staging, file.path))
  insistOnWhole(join(staging, catalog.path))
  await prepare(join(staging, catalog.path))
  const aside = inTheWay.length === 0 ? undefined : join(data, `replaced-${nowMs}`)
  // The catalog first: what is left would be served by a start with keys or certificates that are missing.
  const isCatalog = (path: string) => path === dirname(catalog.path)
  for (const path of inTheWay.toSorted((a, b) => Number(isCatalog(b)) - Number(isCatalog(a)))) {
    move(join(data, path), join(aside ?? '', path))
  }
  for (const label of labels) {
    if (!existsSync(join(data, label.path))) move(join(staging, label.path), join(data, label.path))
  }
  for (const top of tops) move(join(staging, top), join(data, top))
  rmSync(staging, { recursive: true, force: true })
  syncFolder(data)
  return aside
}

/** An empty folder is nothing. */
function isThere(place: string): boolean {
  return existsSync(place) && (namesIn(place).length > 0 || !isFolder(place))
}

function isFolder(place: string): boolean {
  try {
    readFileSync(place)
    return false
  } catch (failure) {
    return (failure as NodeJS.ErrnoException).code === 'EISDIR'
  }
}

function isSame(store: BackupStore, { pieces }: StoredFile, place: string): boolean {
  const wanted = Buffer.concat(pieces.map((digest) => store.get(digest) ?? Buffer.alloc(0)))
  return !isFolder(place) && readFileSync(place).equals(wanted)
}

/** Durable on return, but for the entries of its folders. */
function write(store: BackupStore, { path, mode, pieces, bytes }: StoredFile, place: string): void {
  mkdirSync(dirname(place), { recursive: true, mode: 0o700 })
  const file = openSync(place, 'wx', 0o600)
  let written = 0
  try {
    for (const digest of pieces) {
      const piece = store.get(digest)
      if (piece === undefined) {
        throw new BackupFailure(
          `The backup cannot be restored: a piece of ${path} is missing or damaged. Nothing was changed. Restore another ` +
            `one: \`holdfast backup verify ${store.folder}\` tells which are whole.`,
        )
      }
      for (let at = 0; at < piece.length;) at += writeSync(file, piece, at)
      written += piece.length
    }
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  if (written !== bytes) throw new BackupFailure(`The backup is damaged: ${path} has ${written} bytes of ${bytes}.`)
  chmodSync(place, mode)
  syncFolder(dirname(place))
}

function insistOnWhole(catalog: string): void {
  const db = new DatabaseSync(catalog)
  let said: string
  try {
    const [found] = db.prepare('PRAGMA quick_check(1)').all()
    said = String(Object.values(found ?? {})[0] ?? '')
  } catch (failure) {
    said = (failure as Error).message
  } finally {
    db.close()
  }
  if (said !== 'ok') throw new BackupFailure(`The catalog in the backup is damaged (${said}). Restore another one.`)
}

function move(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  renameSync(from, to)
  syncFolder(dirname(to))
  syncFolder(dirname(from))
}
