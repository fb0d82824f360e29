/**
 * A folder with copies of a cluster's catalog, keys and configuration. All copies share their pieces, so a copy takes the
 * space of what changed since the others:
 *
 *     <folder>/pieces/<first 2 hex>/<SHA-256>       up to 1 MiB of a file, as it is
 *     <folder>/backups/<time>.json                  which pieces a copy has, in order, and a line with the SHA-256 of that
 *
 * A file of a copy is its pieces, one after the other: `cat` puts it together where nothing else is at hand. A piece has
 * its name when it is whole and synced, and a copy its manifest when all of its pieces are there and were read back. So an
 * interrupted copy is none, and leaves the others as they were.
 */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { FileLock, LockHeld } from '../sqlite/lock.ts'
import { BackupFailure } from './failure.ts'

export const PIECE_BYTES = 2 ** 20
const FORMAT = 1
const LOCK_WAIT_MS = 2000
const PIECE = /^[0-9a-f]{64}$/
const NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/

export interface StoredFile {
  /** Within the data folder. */
  readonly path: string
  readonly mode: number
  readonly bytes: number
  readonly pieces: readonly string[]
}

export interface Manifest {
  readonly format: typeof FORMAT
  readonly madeMs: number
  readonly cluster: { readonly uuid: string; readonly name: string }
  readonly catalog: StoredFile
  readonly files: readonly StoredFile[]
}

/** What is wrong with a copy. */
export interface Flaw {
  readonly what: string
}

export class BackupStore {
  readonly folder: string
  #lock: FileLock | undefined
  readonly #madeFolders = new Set<string>()

  private constructor(folder: string, lock: FileLock | undefined) {
    this.folder = folder
    this.#lock = lock
  }

  /** Makes the folder where it is missing. It holds keys, so nobody but its owner may look into it. */
  static forWriting(folder: string): BackupStore {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const isEmpty = readdirSync(folder).length === 0
    if (!isEmpty && !existsSync(join(folder, 'backups')))
      throw new BackupFailure(`The folder ${folder} holds something else than backups. Name an empty or a new one.`)
    chmodSync(folder, 0o700)
    for (const name of ['backups', 'pieces']) mkdirSync(join(folder, name), { recursive: true, mode: 0o700 })
    return new BackupStore(folder, lockOf(folder))
  }

  static forReading(folder: string): BackupStore {
    if (!existsSync(join(folder, 'backups'))) throw new BackupFailure(`There are no backups in ${folder}.`)
    try {
      return new BackupStore(folder, lockOf(folder))
    } catch (failure) {
      if (failure instanceof BackupFailure) throw failure
      // It may be on something that cannot be written to. Then nobody removes anything meanwhile, either.
      return new BackupStore(folder, undefined)
    }
  }

  /** The names of all copies, oldest first. */
  names(): string[] {
    return namesIn(join(this.folder, 'backups'))
      .filter((name) => name.endsWith('.json') && NAME.test(basename(name, '.json')))
      .map((name) => basename(name, '.json'))
      .toSorted()
  }

  read(name: string): Manifest {
    const place = this.#manifest(name)
    let text: string
    try {
      text = readFileSync(place, 'utf8')
    } catch (failure) {
      throw new BackupFailure(`The backup ${place} cannot be read: ${(failure as Error).message}.`)
    }
    const [body = '', digest] = text.split('\n')
    if (digestOf(body) !== digest) throw new BackupFailure(`The backup ${place} is damaged. Use another one.`)
    const manifest = JSON.parse(body) as Manifest
    if ((manifest.format as number) !== FORMAT)
      throw new BackupFailure(`The backup ${place} is of a newer release. Use that release, or a newer one.`)
    return manifest
  }

  /** Durable on return. Gives the name. */
  write(manifest: Omit<Manifest, 'format'>): string {
    for (const folder of [...this.#madeFolders, join(this.folder, 'pieces')]) syncFolder(folder)
    const last = this.names().at(-1)
    // A clock that was set back must not put a copy before those that it was made after.
    const madeMs = last === undefined ? manifest.madeMs : Math.max(manifest.madeMs, timeOf(last) + 1)
    const body = JSON.stringify({ ...manifest, madeMs, format: FORMAT } satisfies Manifest)
    writeNew(this.#manifest(nameOf(madeMs)), Buffer.from(`${body}\n${digestOf(body)}\n`))
    syncFolder(join(this.folder, 'backups'))
    syncFolder(this.folder)
    return nameOf(madeMs)
  }

  /** Keeps a piece. Tells whether it is new: one that is there is read first, and replaced where it is damaged. */
  put(digest: string, bytes: Uint8Array): boolean {
    const place = this.#piece(digest)
    if (this.get(digest) !== undefined) return false
    const folder = join(this.folder, 'pieces', digest.slice(0, 2))
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#madeFolders.add(folder)
    writeNew(place, bytes)
    if (this.get(digest) === undefined)
      throw new BackupFailure(`What was written to ${place} is not what is read there. Use another disk.`)
    return true
  }

  /** The bytes of a piece; nothing when it is missing or damaged. */
  get(digest: string): Buffer | undefined {
    if (!PIECE.test(digest)) return undefined
    try {
      const bytes = readFileSync(this.#piece(digest))
      return digestOf(bytes) === digest ? bytes : undefined
    } catch (failure) {
      if ((failure as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw failure
    }
  }

  /** Reads every piece of a copy. Nothing: it is whole. */
  flawOf(name: string, known: Map<string, boolean> = new Map()): Flaw | undefined {
    try {
      const { catalog, files } = this.read(name)
      for (const file of [catalog, ...files]) {
        for (const digest of file.pieces) {
          const isWhole = known.get(digest) ?? this.get(digest) !== undefined
          known.set(digest, isWhole)
          if (!isWhole) return { what: `a piece of ${file.path} is missing or damaged: ${this.#piece(digest)}` }
        }
      }
      return undefined
    } catch (failure) {
      return { what: (failure as Error).message }
    }
  }

  /** Removes the oldest copies beyond so many, and pieces that no copy has. Tells how many copies and pieces went. */
  prune(keep: number): { readonly backups: number; readonly pieces: number } {
    const names = this.names()
    const old = names.slice(0, Math.max(0, names.length - keep))
    for (const name of old) rmSync(this.#manifest(name))
    if (old.length > 0) syncFolder(join(this.folder, 'backups'))
    const needed = new Set<string>()
    // One that cannot be read throws: what it needs is not known, so no piece goes.
    for (const name of names.slice(old.length)) {
      const { catalog, files } = this.read(name)
      for (const { pieces } of [catalog, ...files]) for (const piece of pieces) needed.add(piece)
    }
    let pieces = 0
    for (const folder of namesIn(join(this.folder, 'pieces'))) {
      for (const piece of namesIn(join(this.folder, 'pieces', folder))) {
        if (needed.has(piece)) continue
        rmSync(join(this.folder, 'pieces', folder, piece))
        pieces++
      }
    }
    return { backups: old.length, pieces }
  }

  close(): void {
    this.#lock?.release()
    this.#lock = undefined
  }

  #manifest(name: string): string {
    return join(this.folder, 'backups', `${name}.json`)
  }

  #piece(digest: string): string {
    return join(this.folder, 'pieces', digest.slice(0, 2), digest)
  }
}

export function digestOf(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

const nameOf = (ms: number) => new Date(ms).toISOString().replaceAll(':', '-')

/** When a copy of that name was made. */
export function timeOf(name: string): number {
  return Date.parse(name.replace(/T(\d\d)-(\d\d)-/, 'T$1:$2:'))
}

function lockOf(folder: string): FileLock {
  try {
    return new FileLock(join(folder, 'backup.lock'), LOCK_WAIT_MS)
  } catch (failure) {
    if (!(failure instanceof LockHeld)) throw failure
    throw new BackupFailure(`The backups in ${folder} are in use by another command. Wait until it has ended.`)
  }
}

/** Whole and synced under its name, or not there. */
export function writeNew(place: string, bytes: Uint8Array, mode = 0o600): void {
  const file = openSync(`${place}.new`, 'w', mode)
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  chmodSync(`${place}.new`, mode)
  renameSync(`${place}.new`, place)
}

export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

export function namesIn(folder: string): string[] {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true ? readdirSync(folder) : []
}
