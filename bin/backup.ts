/** `holdfast backup`: copies of the catalog, keys and configuration of a data folder, whether the cluster runs or not. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { BackupFailure } from '../src/engines/backup/failure.ts'
import { BackupStore, type Manifest } from '../src/engines/backup/store.ts'
import { takeBackup } from '../src/engines/backup/take.ts'
import { openSqliteCatalog } from '../src/engines/sqlite/catalog.ts'
import { textOf } from '../src/model/value.ts'
import { reasonOf } from './failures.ts'
import { places } from './parts.ts'
import { SettingsError } from './settings.ts'

const KEEP_MAX = 10_000

/** Gives the exit code. */
export async function backupCommand(
  environment: NodeJS.ProcessEnv,
  flags: readonly string[],
  from: string,
): Promise<number> {
  // What is made holds keys.
  process.umask(0o077)
  if (flags[0] === 'verify') return verify(flags.slice(1), from)
  const { data, to, keep } = readFlags(flags)
  const folder = resolve(from, data ?? (environment['HOLDFAST_DATA'] || 'data'))
  if (!existsSync(join(folder, places.catalog))) throw new BackupFailure(`There is no cluster in ${folder}.`)
  const store = openStore(() => BackupStore.forWriting(resolve(from, to)))
  try {
    const about = { madeMs: Date.now(), identify: () => clusterIn(folder) }
    const taken = await takeBackup(store, { data: folder, ...places }, about)
    const pruned = store.prune(keep)
    const gone = pruned.backups === 0 ? '' : ` Removed older backups: ${pruned.backups}.`
    process.stdout.write(
      `Backup ${taken.name} is in ${store.folder}: the catalog and ${taken.files} files, ${megabytes(taken.bytes)}, of which ` +
        `${megabytes(taken.newBytes)} are new.${gone}\nIt was read back and is whole. It holds the keys of the cluster: ` +
        'keep it where nobody else can read it.\nBlobs are not in it: they stay in their aggregates.\n',
    )
    return 0
  } catch (failure) {
    throw failure instanceof BackupFailure
      ? failure
      : new BackupFailure(`No backup was made: ${reasonOf(failure).replace(/\.$/, '')}.`)
  } finally {
    store.close()
  }
}

/** `holdfast backup verify`: reads every piece of every copy. */
function verify(flags: readonly string[], from: string): number {
  const [folder, ...more] = flags
  if (folder === undefined || more.length > 0) throw new SettingsError('Name one folder of backups.')
  const store = openStore(() => BackupStore.forReading(resolve(from, folder)))
  try {
    const names = store.names()
    if (names.length === 0) throw new BackupFailure(`There are no backups in ${store.folder}.`)
    const known = new Map<string, boolean>()
    let damaged = 0
    for (const name of names) {
      const flaw = store.flawOf(name, known)
      if (flaw !== undefined) damaged++
      process.stdout.write(`${name}  ${flaw === undefined ? 'whole' : `damaged: ${flaw.what}`}\n`)
    }
    return damaged === 0 ? 0 : 1
  } finally {
    store.close()
  }
}

/** Read in the process that copies, and closed before: see catalog-pages.ts. */
async function clusterIn(folder: string): Promise<Manifest['cluster']> {
  const catalog = openSqliteCatalog({ file: join(folder, places.catalog), commit: 'never' })
  try {
    const [self] = await catalog.records('cluster')
    if (self === undefined)
      throw new BackupFailure(`The cluster in ${folder} was never started to its end. Start it first.`)
    return { uuid: textOf(self.body['uuid'] ?? self.key), name: textOf(self.body['name'] ?? '') }
  } finally {
    await catalog.close()
  }
}

export function openStore(open: () => BackupStore): BackupStore {
  try {
    return open()
  } catch (failure) {
    if (failure instanceof BackupFailure) throw failure
    throw new BackupFailure(`The folder of the backups cannot be used: ${reasonOf(failure)}.`)
  }
}

function readFlags(flags: readonly string[]): { data: string | undefined; to: string; keep: number } {
  try {
    const { values } = parseArgs({
      args: [...flags],
      options: { data: { type: 'string' }, to: { type: 'string' }, keep: { type: 'string' } },
    })
    if (values.to === undefined) throw new Error('Name the folder of the backups with --to FOLDER.')
    return { data: values.data, to: values.to, keep: readKeep(values.keep) }
  } catch (failure) {
    throw new SettingsError((failure as Error).message)
  }
}

function readKeep(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY
  const keep = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (keep < 1 || keep > KEEP_MAX) throw new Error(`--keep takes a number of backups in 1..${KEEP_MAX}.`)
  return keep
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
