/** `holdfast restore`: puts a backup back into a data folder, and tells what became of the blobs since it was made. */
import { mkdirSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { compareBlobs, type Compared, type LostObject } from '../src/core/recovery/compare.ts'
import { putBack } from '../src/engines/backup/put-back.ts'
import { RESTORED } from '../src/records/restored.ts'
import { BackupFailure } from '../src/engines/backup/failure.ts'
import { BackupStore } from '../src/engines/backup/store.ts'
import { writeDurably } from '../src/engines/durable-file.ts'
import { openSecrets } from '../src/engines/secrets.ts'
import { openSqliteCatalog } from '../src/engines/sqlite/catalog.ts'
import { FileLock, LockHeld } from '../src/engines/sqlite/lock.ts'
import { release, releases } from '../src/model/release.ts'
import { beginLine } from './age.ts'
import { openStore } from './backup.ts'
import { reasonOf } from './failures.ts'
import { openLog } from './log.ts'
import { openCluster, places } from './parts.ts'
import { RUN } from './run-records.ts'
import { SettingsError } from './settings.ts'

/** Objects that are shown. All of them are in the report. */
const SHOWN_MAX = 20
const LOST_TOLD_MAX = 1_000_000
const REPORT = 'restore-report.txt'
const LOCK_WAIT_MS = 1000

export async function restoreCommand(
  environment: NodeJS.ProcessEnv,
  flags: readonly string[],
  from: string,
): Promise<void> {
  process.umask(0o077)
  const { given, data, movesAside } = readFlags(flags)
  const isOne = given.endsWith('.json')
  const place = resolve(from, given)
  const store = openStore(() => BackupStore.forReading(isOne ? dirname(dirname(place)) : place))
  try {
    const name = isOne ? basename(place, '.json') : store.names().at(-1)
    if (name === undefined) throw new BackupFailure(`There are no backups in ${store.folder}.`)
    const folder = resolve(from, data ?? (environment['HOLDFAST_DATA'] || 'data'))
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    process.chdir(folder)
    const lock = lockFolder(folder)
    try {
      const nowMs = Date.now()
      const aside = await putBack(store, {
        name,
        data: folder,
        nowMs,
        movesAside,
        prepare: (file) => prepare(file, nowMs, store.read(name).madeMs),
      })
      process.stdout.write(`Restored the backup ${name} to ${folder}.\n`)
      if (aside !== undefined) process.stdout.write(`What was there is in ${aside}.\n`)
      await tellBlobs(folder)
      process.stdout.write(`Start the cluster as before: npm start -- --data ${folder}\n`)
    } finally {
      lock.release()
    }
  } catch (failure) {
    if (failure instanceof BackupFailure) throw failure
    throw new BackupFailure(`The restore did not end (${reasonOf(failure)}). Repeat it with --move-aside.`)
  } finally {
    store.close()
  }
}

export function lockFolder(folder: string): FileLock {
  try {
    return new FileLock(places.lock, LOCK_WAIT_MS)
  } catch (failure) {
    if (!(failure instanceof LockHeld)) throw failure
    throw new BackupFailure(`The data folder ${folder} is in use by a cluster that runs. Stop it first.`)
  }
}

/** The next start must not take blobs that this catalog cannot know for rubbish. */
async function prepare(file: string, nowMs: number, stateMs: number): Promise<void> {
  const catalog = openSqliteCatalog({ file, commit: 'in-process' })
  try {
    await catalog.commit([
      await beginLine(catalog),
      { do: 'put-record', type: RESTORED[0], key: RESTORED[1], body: { atMs: nowMs, stateMs } },
      { do: 'put-record', type: RUN[0], key: RUN[1], body: { isClean: false } },
    ])
  } finally {
    await catalog.close()
  }
}

async function tellBlobs(folder: string): Promise<void> {
  const catalog = openSqliteCatalog({ file: places.catalog, commit: 'never' })
  try {
    const newest = release(releases.at(-1) ?? '')
    const secrets = await openSecrets(places.clusterKey)
    const cluster = openCluster({ catalog, release: newest, log: openLog('warn', 'restore'), secrets })
    const told: LostObject[] = []
    const compared = await compareBlobs(cluster, (lost) => {
      if (told.length < LOST_TOLD_MAX) told.push(lost)
    })
    process.stdout.write(tell(compared, told))
    if (told.length === 0) return
    await writeDurably(REPORT, told.map((lost) => `${JSON.stringify(lost)}\n`).join(''), 0o600)
    process.stdout.write(`All of them are in ${resolve(folder, REPORT)}, a line of JSON each.\n`)
  } finally {
    await catalog.close()
  }
}

function tell({ lost, unknown, away, empty }: Compared, objects: readonly LostObject[]): string {
  const lines: string[] = []
  if (away.length > 0)
    lines.push(`Aggregates of these volumes are not there, so nothing is known of their blobs: ${away.join(', ')}.`)
  if (unknown > 0)
    lines.push(
      `Blobs that are newer than the backup: ${unknown}. They stay where they are. Run "holdfast rebuild" to recover their objects.`,
    )
  if (lost > 0) {
    lines.push(
      `Blobs that are gone since the backup: ${lost}. Objects that cannot be read without them: ${objects.length}.`,
    )
    for (const { bucket, key, version } of objects.slice(0, SHOWN_MAX)) {
      lines.push(`  ${bucket}/${JSON.stringify(key).slice(1, -1)}${version === 'null' ? '' : ` (version ${version})`}`)
    }
  }
  if (empty.length > 0) {
    lines.push('These volumes have none of their blobs. If their aggregate is in another folder, copy its files:')
    for (const { volume, place } of empty)
      lines.push(`  ${volume}: copy the folder "volumes" of its aggregate to ${place}`)
  }
  if (away.length + unknown + lost === 0) lines.push('All blobs that it names are there, and no others.')
  return lines.map((line) => `${line}\n`).join('')
}

function readFlags(flags: readonly string[]): { given: string; data: string | undefined; movesAside: boolean } {
  try {
    const { values } = parseArgs({
      args: [...flags],
      options: {
        from: { type: 'string' },
        data: { type: 'string' },
        'move-aside': { type: 'boolean', default: false },
      },
    })
    if (values.from === undefined) throw new Error('Name the folder of the backups, or one of them, with --from.')
    return { given: values.from, data: values.data, movesAside: values['move-aside'] }
  } catch (failure) {
    throw new SettingsError((failure as Error).message)
  }
}
