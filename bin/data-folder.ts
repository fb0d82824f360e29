/**
 * The folder with all state of a cluster: made, locked, private, and looked at before anything in it is opened. One start
 * has it at a time. Who comes second ends before it has touched anything of the first.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { STAGING } from '../src/engines/backup/put-back.ts'
import { syncFolder } from '../src/engines/durable-file.ts'
import { FileLock, LockHeld } from '../src/engines/sqlite/lock.ts'
import { reasonOf, StartFailure } from './failures.ts'
import { places } from './parts.ts'

/** Two that start at the same instant: long enough that one of them gets the lock. */
const LOCK_WAIT_MS = 1000
/** What nobody but the owner of the cluster may read. */
const PRIVATE_FOLDERS = [dirname(places.catalog), places.sockets, places.certificates, places.aggregate]

export interface DataFolder {
  /** No catalog is there, and no trace of one. */
  readonly isNew: boolean
  /** Removes the sockets of earlier starts. To be called when the new writer has the catalog: nobody serves them then. */
  removeSocketsBut(socket: string): void
}

/** Makes the folder where it is missing, takes it for this process, and works in it from then on: paths are relative to it. */
export async function openDataFolder(folder: string): Promise<DataFolder> {
  // SQLite makes files with whatever mode the process has; this holds for the processes that it starts, too.
  process.umask(0o077)
  try {
    await makeFolder(folder)
    process.chdir(folder)
  } catch (failure) {
    throw new StartFailure(`The data folder ${folder} cannot be used: ${reasonOf(failure)}.`)
  }
  lock(folder)
  const isNew = isWithoutCatalog()
  try {
    for (const place of PRIVATE_FOLDERS) tighten(place, 0o700)
    for (const name of namesIn(dirname(places.catalog))) tighten(join(dirname(places.catalog), name), 0o600)
    for (const file of [places.clusterKey, places.lock]) tighten(file, 0o600)
    for (const place of [dirname(places.catalog), places.sockets]) await makeFolder(place)
  } catch (failure) {
    throw new StartFailure(`The data folder ${folder} cannot be used: ${reasonOf(failure)}.`)
  }
  return {
    isNew,
    removeSocketsBut(socket) {
      for (const name of namesIn(places.sockets)) {
        if (join(places.sockets, name) !== socket) rmSync(join(places.sockets, name), { recursive: true, force: true })
      }
    },
  }
}

/** Held until the process ends: SQLite's connection must not be collected before. */
const held: FileLock[] = []

function lock(folder: string): void {
  try {
    held.push(new FileLock(places.lock, LOCK_WAIT_MS))
  } catch (failure) {
    if (!(failure instanceof LockHeld)) throw new StartFailure(`The data folder ${folder}: ${reasonOf(failure)}`)
    throw new StartFailure(
      `The data folder ${folder} is in use by a cluster that runs. Stop it first, or name another folder with HOLDFAST_DATA.`,
    )
  }
}

/** Throws where there was a cluster whose catalog is gone: a new one would hide what it held. */
function isWithoutCatalog(): boolean {
  const size = statSync(places.catalog, { throwIfNoEntry: false })?.size
  if (size !== undefined && size > 0) return false
  const trace = [
    places.clusterKey,
    STAGING,
    ...[...CATALOG_TRACES].map((suffix) => `${places.catalog}${suffix}`),
    ...namesIn(join(places.aggregate, 'volumes')).map((tree) => join(places.aggregate, 'volumes', tree)),
  ].find((place) => isThere(place))
  if (trace === undefined) return true
  throw new StartFailure(
    `The catalog ${resolve(places.catalog)} is ${size === undefined ? 'missing' : 'empty'}, but ${trace} is there: this ` +
      'folder held a cluster. Restore a backup with "holdfast restore --move-aside", or name an empty folder with HOLDFAST_DATA.',
  )
}

const CATALOG_TRACES = ['-wal', '-mark'] as const

/** Empty files say nothing. */
function isThere(place: string): boolean {
  const found = statSync(place, { throwIfNoEntry: false })
  return found !== undefined && (found.isDirectory() || found.size > 0)
}

/** Durable on return, with the entries of all folders that were made for it. */
async function makeFolder(folder: string): Promise<void> {
  const made = mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (made === undefined) return
  const top = dirname(resolve(made))
  for (let each = dirname(resolve(folder)); each.length >= top.length; each = dirname(each)) {
    await syncFolder(each)
    if (each === dirname(each)) break
  }
}

function tighten(place: string, mode: number): void {
  if (existsSync(place)) chmodSync(place, statSync(place).isDirectory() ? 0o700 : mode)
}

function namesIn(folder: string): string[] {
  return existsSync(folder) && statSync(folder).isDirectory() ? readdirSync(folder) : []
}
