/** Seed files on the disk: what a start reads, and what `holdfast export` writes. */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Seeded } from '../src/core/seed/apply.ts'
import { SEED_BYTES_MAX } from '../src/core/seed/document.ts'
import { exportSeed } from '../src/core/seed/export.ts'
import { writeDurably } from '../src/engines/durable-file.ts'
import { openSecrets } from '../src/engines/secrets.ts'
import { openSqliteCatalog } from '../src/engines/sqlite/catalog.ts'
import { parseRelease, releases } from '../src/model/release.ts'
import { textOf } from '../src/model/value.ts'
import { openLog } from './log.ts'
import { openCluster, places } from './parts.ts'
import { SettingsError } from './settings.ts'

export interface SeedFile {
  readonly name: string
  readonly text: string
}

/** Reads the file before anything is started: one that is not there is told at once. */
export function readSeedFile(file: string): SeedFile {
  try {
    return { name: file, text: readFileSync(file, 'utf8') }
  } catch (failure) {
    throw new SettingsError(`The seed file ${file} cannot be read: ${(failure as Error).message}`)
  }
}

/** `holdfast export`: reads the data folder, beside a cluster that runs in it or without one. */
export async function exportCommand(
  environment: NodeJS.ProcessEnv,
  flags: readonly string[],
  from: string,
): Promise<void> {
  const { data, to, withSecrets } = readFlags(flags)
  if (withSecrets && to === undefined)
    throw new SettingsError('Secrets go to a file that only you can read: say --to FILE.')
  const folder = resolve(from, data ?? (environment['HOLDFAST_DATA'] || 'data'))
  const target = to === undefined ? undefined : resolve(from, to)
  if (!existsSync(resolve(folder, places.catalog))) throw new SettingsError(`There is no cluster in ${folder}.`)
  process.chdir(folder)
  const release = parseRelease(environment['HOLDFAST_RELEASE'] || '9.16.1')
  if (release === undefined) throw new SettingsError(`HOLDFAST_RELEASE takes one of ${releases.join(', ')}.`)
  const catalog = openSqliteCatalog({ file: places.catalog, commit: 'never' })
  try {
    const secrets = await openSecrets(places.clusterKey)
    const cluster = openCluster({ catalog, release, log: openLog('warn', 'export'), secrets })
    const text = await exportSeed(cluster, { withSecrets })
    if (Buffer.byteLength(text) > SEED_BYTES_MAX) {
      process.stderr.write(`The file is larger than ${SEED_BYTES_MAX} bytes: divide it before you seed with it.\n`)
    }
    if (target === undefined) process.stdout.write(text)
    else await writeDurably(target, text, withSecrets ? 0o600 : 0o644)
  } finally {
    await catalog.close()
  }
}

function readFlags(flags: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...flags],
      options: {
        data: { type: 'string' },
        to: { type: 'string' },
        'with-secrets': { type: 'boolean', default: false },
      },
    })
    return { data: values.data, to: values.to, withSecrets: values['with-secrets'] }
  } catch (failure) {
    throw new SettingsError((failure as Error).message)
  }
}

/** Secrets that were made for seeded records, a line each. */
export function revealedBy(seeded: Seeded | undefined): string[] {
  return (seeded?.revealed ?? []).flatMap(({ title, fields }) =>
    Object.entries(fields).map(([path, value]) => `${title}: ${path} ${textOf(value)}`),
  )
}

export function tellSeeded(seeded: Seeded): string {
  const { made, changed, same } = seeded
  const keys = revealedBy(seeded).map((line) => `  ${line}\n`)
  return `\nSeeded: ${made} made, ${changed} changed, ${same} as they should be.\n${keys.join('')}`
}
