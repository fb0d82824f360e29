/** What a start is told: by environment variables, or by flags of the same names (`--data` for HOLDFAST_DATA). */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { MEMORY_MIB_DEFAULT, MEMORY_MIB_MAX, memoryMibMin, workersWithin } from '../src/core/memory-budget.ts'
import { parseRelease, releases, type Release } from '../src/model/release.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

export interface Settings {
  readonly data: string
  readonly management: Address
  readonly s3: Address | undefined
  readonly s3Http: Address | undefined
  readonly adminPassword: string | undefined
  readonly accessKey: string | undefined
  readonly secretKey: string | undefined
  readonly release: Release
  readonly isBare: boolean
  readonly workers: number
  /** What all processes together are to have in memory. */
  readonly memoryMib: number
  readonly log: LogLevel
  /** A file with what the cluster is to have. */
  readonly seed: string | undefined
  /** All state is in a folder that goes when the cluster stops. */
  readonly isEphemeral: boolean
  /** A file that gets a line for each request of the management interface. */
  readonly trace: string | undefined
  /** Backups that are made while the cluster runs. */
  readonly backup: ScheduledBackup | undefined
  /** Starts on a damaged log of the catalog, without the commits that were in the rest of it. */
  readonly acceptsLoss: boolean
  /** Bodies up to so many bytes are stored together. */
  readonly packedBodyBytesMax: number
  /** The part of such a file that nothing needs any more from which on the rest of it is copied. */
  readonly packDeadShare: number
  /** How long a day is to lifecycle rules that are applied. For tests. */
  readonly lifecycleDayMs: number
}

export interface ScheduledBackup {
  readonly folder: string
  readonly everyHours: number
  readonly keep: number
}

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

export class SettingsError extends Error {}

const WORKERS_MAX = 256
const DAY_SECONDS = 86_400
/** More would be read and verified at once for a range of a few bytes. */
const PACKED_BODY_KIB_MAX = 128
const PACKED_BODY_KIB = 64
const PACK_DEAD_PERCENT = 30
/** A year, and as many as one an hour makes in it. */
const BACKUP_HOURS_MAX = 8760
const BACKUPS_KEPT_MAX = 8760

const LIFECYCLE_DAY = 'HOLDFAST_LIFECYCLE_DAY_SECONDS'

export const USAGE = `Usage: holdfast start [flags]
       holdfast export [--data FOLDER] [--to FILE] [--with-secrets]
       holdfast import FILE --to https://HOST:PORT [--user NAME] [--insecure]
       holdfast backup --to FOLDER [--data FOLDER] [--keep N]
       holdfast backup verify FOLDER
       holdfast restore --from FOLDER [--data FOLDER] [--move-aside]
       holdfast rebuild [--data FOLDER]
       holdfast replay TRACE --to https://HOST:PORT [--user NAME] [--insecure]

start   starts a cluster and stays until it is told to stop.
export  writes the configuration of a data folder as a seed file, to the terminal without --to. The cluster may run.
import  brings a running cluster to what a seed file says, with the password in HOLDFAST_ADMIN_PASSWORD. A second time
        changes nothing.
backup  copies the catalog, keys and configuration of a data folder, all but the blobs, beside those of earlier times; what
        is the same is kept once. The cluster may run. --keep removes the oldest beyond so many. verify reads all of it.
restore puts back the newest of these, or the one at FOLDER/backups/NAME.json, and tells which objects have lost their
        blobs since. --move-aside keeps what is in the way in a folder beside it. The cluster has to be stopped.
rebuild gives objects back that are newer than a restored catalog, by the labels of their blobs, and tells which it could
        not. The cluster has to be stopped.
replay  sends the requests of a trace to a cluster, with the password in HOLDFAST_ADMIN_PASSWORD, and tells which are
        answered with another status. --insecure takes any certificate.

Each flag of start is an environment variable too.

  --data FOLDER             HOLDFAST_DATA            all state (./data)
  --management HOST:PORT    HOLDFAST_MANAGEMENT      HTTPS management interface (127.0.0.1:8443)
  --s3 HOST:PORT            HOLDFAST_S3              first SVM's data address, HTTPS (127.0.0.1:9443)
  --s3-http HOST:PORT       HOLDFAST_S3_HTTP         the same, HTTP (127.0.0.1:9080); empty: off
  --admin-password TEXT     HOLDFAST_ADMIN_PASSWORD  set at the first start; generated without it
  --release RELEASE         HOLDFAST_RELEASE         ${releases[0]} to ${releases.at(-1)} (${releases.at(-1)})
  --bare                    HOLDFAST_BARE=1          no first SVM, volumes, server or user
  --seed FILE               HOLDFAST_SEED            YAML with what the cluster is to have; what is there is not made again
  --ephemeral               HOLDFAST_EPHEMERAL=1     all state is in a temporary folder that is gone at the end
  --trace FILE              HOLDFAST_TRACE           management requests and answers, without secrets; at most twice 64 MiB
  --backup FOLDER           HOLDFAST_BACKUP          makes backups there while the cluster runs, as holdfast backup does
  --backup-hours N          HOLDFAST_BACKUP_HOURS    one every so many hours (24)
  --backup-keep N           HOLDFAST_BACKUP_KEEP     so many are kept (14)
  --accept-loss             HOLDFAST_ACCEPT_LOSS=1   starts although acknowledged commits were lost with a damaged log
  --memory-mib N            HOLDFAST_MEMORY_MIB      memory of all processes together, at least ${memoryMibMin(1)} (${MEMORY_MIB_DEFAULT})
  --workers N               HOLDFAST_WORKERS         data-plane processes (one for each core, and as many as fit into the memory)
  --packed-body-kib N       HOLDFAST_PACKED_BODY_KIB  bodies up to N KiB are stored together in packs, at most ${PACKED_BODY_KIB_MAX} (${PACKED_BODY_KIB}); 0: none
  --pack-dead-percent N     HOLDFAST_PACK_DEAD_PERCENT  what is deleted of a pack before its space is had back (${PACK_DEAD_PERCENT})
  --log LEVEL               HOLDFAST_LOG             ${logLevels.join(', ')} (info)

AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are the keys of the first user, generated without them. What is generated is
shown on a terminal; without one it is in credentials.env in the data folder, which only its owner can read.
Secrets are also read from files: HOLDFAST_ADMIN_PASSWORD_FILE, AWS_ACCESS_KEY_ID_FILE, AWS_SECRET_ACCESS_KEY_FILE.
HOLDFAST_LIFECYCLE_DAY_SECONDS, for tests alone: how long lifecycle rules that are applied take a day to be (${DAY_SECONDS}).
Port 0 is any free port; what was bound is printed and written to endpoints.json in the data folder.
`

const FLAGS: Readonly<Record<string, string>> = {
  '--data': 'HOLDFAST_DATA',
  '--management': 'HOLDFAST_MANAGEMENT',
  '--s3': 'HOLDFAST_S3',
  '--s3-http': 'HOLDFAST_S3_HTTP',
  '--admin-password': 'HOLDFAST_ADMIN_PASSWORD',
  '--release': 'HOLDFAST_RELEASE',
  '--bare': 'HOLDFAST_BARE',
  '--memory-mib': 'HOLDFAST_MEMORY_MIB',
  '--workers': 'HOLDFAST_WORKERS',
  '--packed-body-kib': 'HOLDFAST_PACKED_BODY_KIB',
  '--pack-dead-percent': 'HOLDFAST_PACK_DEAD_PERCENT',
  '--log': 'HOLDFAST_LOG',
  '--seed': 'HOLDFAST_SEED',
  '--ephemeral': 'HOLDFAST_EPHEMERAL',
  '--accept-loss': 'HOLDFAST_ACCEPT_LOSS',
  '--trace': 'HOLDFAST_TRACE',
  '--backup': 'HOLDFAST_BACKUP',
  '--backup-hours': 'HOLDFAST_BACKUP_HOURS',
  '--backup-keep': 'HOLDFAST_BACKUP_KEEP',
}

/** Flags that mean yes when no value follows. */
const SWITCHES: ReadonlySet<string> = new Set(['--bare', '--ephemeral', '--accept-loss'])

export function readSettings(environment: NodeJS.ProcessEnv, flags: readonly string[], folder: string): Settings {
  const given: Record<string, string | undefined> = { ...environment, ...readFlags(flags) }
  const accessKey = readSecret(given, 'AWS_ACCESS_KEY_ID')
  const secretKey = readSecret(given, 'AWS_SECRET_ACCESS_KEY')
  if ((accessKey === undefined) !== (secretKey === undefined)) {
    throw new SettingsError('Set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or neither.')
  }
  const adminPassword = readSecret(given, 'HOLDFAST_ADMIN_PASSWORD')
  if (adminPassword !== undefined && adminPassword.length < 8) {
    throw new SettingsError('HOLDFAST_ADMIN_PASSWORD has to have at least 8 characters.')
  }
  const release = parseRelease(given['HOLDFAST_RELEASE'] || '9.16.1')
  if (release === undefined) throw new SettingsError(`HOLDFAST_RELEASE takes one of ${releases.join(', ')}.`)
  const log = logLevels.find((level) => level === (given['HOLDFAST_LOG'] || 'info'))
  if (log === undefined) throw new SettingsError(`HOLDFAST_LOG takes one of ${logLevels.join(', ')}.`)
  const isEphemeral = readBoolean('HOLDFAST_EPHEMERAL', given['HOLDFAST_EPHEMERAL'])
  if (isEphemeral && given['HOLDFAST_DATA']) {
    throw new SettingsError('An ephemeral cluster has a folder of its own. Leave HOLDFAST_DATA out.')
  }
  return {
    data: isEphemeral ? '' : resolve(folder, given['HOLDFAST_DATA'] || 'data'),
    management: readAddress('HOLDFAST_MANAGEMENT', given['HOLDFAST_MANAGEMENT'] || '127.0.0.1:8443'),
    s3: optionalAddress('HOLDFAST_S3', given['HOLDFAST_S3'] ?? '127.0.0.1:9443'),
    s3Http: optionalAddress('HOLDFAST_S3_HTTP', given['HOLDFAST_S3_HTTP'] ?? '127.0.0.1:9080'),
    adminPassword,
    accessKey,
    secretKey,
    release,
    isBare: readBoolean('HOLDFAST_BARE', given['HOLDFAST_BARE']),
    ...readMemory(given),
    log,
    seed: given['HOLDFAST_SEED'] ? resolve(folder, given['HOLDFAST_SEED']) : undefined,
    isEphemeral,
    trace: given['HOLDFAST_TRACE'] ? resolve(folder, given['HOLDFAST_TRACE']) : undefined,
    backup: readBackup(given, folder),
    acceptsLoss: readBoolean('HOLDFAST_ACCEPT_LOSS', given['HOLDFAST_ACCEPT_LOSS']),
    packedBodyBytesMax:
      1024 *
      readCount('HOLDFAST_PACKED_BODY_KIB', given['HOLDFAST_PACKED_BODY_KIB'], PACKED_BODY_KIB, PACKED_BODY_KIB_MAX, 0),
    packDeadShare:
      readCount('HOLDFAST_PACK_DEAD_PERCENT', given['HOLDFAST_PACK_DEAD_PERCENT'], PACK_DEAD_PERCENT, 99) / 100,
    lifecycleDayMs: 1000 * readCount(LIFECYCLE_DAY, given[LIFECYCLE_DAY], DAY_SECONDS, DAY_SECONDS),
  }
}

/** The number of processes that share the memory is a part of how it is divided. */
function readMemory(given: Record<string, string | undefined>): Pick<Settings, 'memoryMib' | 'workers'> {
  const text = given['HOLDFAST_MEMORY_MIB']
  const memoryMib = readCount('HOLDFAST_MEMORY_MIB', text, MEMORY_MIB_DEFAULT, MEMORY_MIB_MAX, memoryMibMin(1))
  const fitting = workersWithin(memoryMib, availableParallelism())
  const workers = readCount('HOLDFAST_WORKERS', given['HOLDFAST_WORKERS'], fitting, WORKERS_MAX)
  if (memoryMib >= memoryMibMin(workers)) return { memoryMib, workers }
  throw new SettingsError(
    `${workers} data-plane processes do not fit into ${memoryMib} MiB. Set HOLDFAST_MEMORY_MIB to at least ${memoryMibMin(workers)}, or HOLDFAST_WORKERS to at most ${workersWithin(memoryMib, workers)}.`,
  )
}

function readBackup(given: Record<string, string | undefined>, folder: string): ScheduledBackup | undefined {
  const to = given['HOLDFAST_BACKUP']
  if (to === undefined || to === '') return undefined
  return {
    folder: resolve(folder, to),
    everyHours: readCount('HOLDFAST_BACKUP_HOURS', given['HOLDFAST_BACKUP_HOURS'], 24, BACKUP_HOURS_MAX),
    keep: readCount('HOLDFAST_BACKUP_KEEP', given['HOLDFAST_BACKUP_KEEP'], 14, BACKUPS_KEPT_MAX),
  }
}

function readFlags(flags: readonly string[]): Record<string, string> {
  const given: Record<string, string> = {}
  for (let at = 0; at < flags.length; at++) {
    const [flag = '', joined] = (flags[at] ?? '').split(/=(.*)/s, 2)
    const variable = FLAGS[flag]
    if (variable === undefined) throw new SettingsError(`There is no flag "${flag}".`)
    const isBareSwitch = SWITCHES.has(flag) && !/^(?:[01]|true|false)$/.test(flags[at + 1] ?? '')
    const value = joined ?? (isBareSwitch ? '1' : flags[++at])
    if (value === undefined) throw new SettingsError(`The flag ${flag} needs a value.`)
    given[variable] = value
  }
  return given
}

function readSecret(given: Record<string, string | undefined>, name: string): string | undefined {
  const file = given[`${name}_FILE`]
  if (file === undefined || file === '') return given[name] || undefined
  try {
    return readFileSync(file, 'utf8').trim() || undefined
  } catch {
    throw new SettingsError(`The file that ${name}_FILE names cannot be read.`)
  }
}

function optionalAddress(name: string, text: string): Address | undefined {
  return text === '' ? undefined : readAddress(name, text)
}

function readAddress(name: string, text: string): Address {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (match === null || port > 65_535) throw new SettingsError(`${name} takes host:port, such as 127.0.0.1:8443.`)
  return { host: match[1] ?? match[2] ?? '', port }
}

function readCount(name: string, text: string | undefined, byDefault: number, max: number, min = 1): number {
  if (text === undefined || text === '') return byDefault
  const value = /^\d{1,5}$/.test(text) ? Number(text) : -1
  if (value < min || value > max) throw new SettingsError(`${name} takes an integer in ${min}..${max}.`)
  return value
}

function readBoolean(name: string, text: string | undefined): boolean {
  if (text === undefined || text === '' || text === '0' || text === 'false') return false
  if (text === '1' || text === 'true') return true
  throw new SettingsError(`${name} takes 1 or 0.`)
}

export function printAddress(scheme: string, { host, port }: Address): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`
}
