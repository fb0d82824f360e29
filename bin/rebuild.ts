/** `holdfast rebuild`: gives objects back that the catalog does not know, by the labels of their blobs. */
import { existsSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Cluster } from '../src/core/cluster.ts'
import { REMOVED_TREES } from '../src/storage/removed-trees.ts'
import { placeOf, placesOf } from '../src/storage/tree-of.ts'
import { RESTORED } from '../src/records/restored.ts'
import { BackupFailure } from '../src/engines/backup/failure.ts'
import { writeDurably } from '../src/engines/durable-file.ts'
import { openSecrets } from '../src/engines/secrets.ts'
import { checkInside } from '../src/engines/sqlite/catalog-check.ts'
import { openSqliteCatalog } from '../src/engines/sqlite/catalog.ts'
import { checkCatalogFiles } from '../src/engines/sqlite/log-check.ts'
import { markOf } from '../src/engines/sqlite/log-mark.ts'
import { release, releases } from '../src/model/release.ts'
import { VolumesFailure } from '../src/ports/volumes.ts'
import { rebuildIndex, type RebuildTold, type RebuiltTree } from '../src/s3/objects/rebuild.ts'
import { reasonOf } from './failures.ts'
import { openLog } from './log.ts'
import { openCluster, places } from './parts.ts'
import { lockFolder } from './restore.ts'
import { SettingsError } from './settings.ts'

const REPORT = 'rebuild-report.txt'
/** Blobs that are in the report. */
const REPORTED_MAX = 1_000_000
const VOLUMES = ['storage/volumes', 'private/cli/volume/recovery-queue'] as const

export async function rebuildCommand(
  environment: NodeJS.ProcessEnv,
  flags: readonly string[],
  from: string,
): Promise<void> {
  process.umask(0o077)
  const folder = resolve(from, readData(flags) ?? (environment['HOLDFAST_DATA'] || 'data'))
  if (!existsSync(resolve(folder, places.catalog))) {
    throw new BackupFailure(
      `There is no catalog in ${folder}, so nothing says which buckets its blobs belong to. Restore a backup first, ` +
        'however old, with "holdfast restore".',
    )
  }
  process.chdir(folder)
  const lock = lockFolder(folder)
  try {
    checkCatalogFiles(places.catalog)
    checkInside(places.catalog, false, () => undefined)
    await rebuild(folder)
  } catch (failure) {
    if (failure instanceof BackupFailure) throw failure
    throw new BackupFailure(
      `The rebuild did not end: ${reasonOf(failure).replace(/\.$/, '')}. Repeat it when that is set right.`,
    )
  } finally {
    lock.release()
  }
}

async function rebuild(folder: string): Promise<void> {
  const catalog = openSqliteCatalog({ file: places.catalog, commit: 'in-process' })
  // The mark tells of a writer that keeps one. Without it, the next start proves nothing from it.
  rmSync(markOf(places.catalog), { force: true })
  try {
    const secrets = await openSecrets(places.clusterKey)
    const newest = release(releases.at(-1) ?? '')
    const cluster = openCluster({ catalog, release: newest, log: openLog('warn', 'rebuild'), secrets })
    const { trees, away } = await treesOf(cluster)
    const report = new Report()
    const stateMs = Number((await catalog.record(...RESTORED))?.body['stateMs'] ?? 0)
    await rebuildIndex({ catalog, trees, stateMs, tell: (told) => report.add(told) })
    process.stdout.write(report.text())
    if (away.length > 0)
      process.stdout.write(`These aggregates are not there. Repeat it when they are: ${away.join(', ')}.\n`)
    if (report.lines.length > 0) {
      await writeDurably(REPORT, report.lines.map((line) => `${line}\n`).join(''), 0o600)
      process.stdout.write(`${resolve(folder, REPORT)} has each of them, a line of JSON each. Their files stay.\n`)
    }
  } finally {
    await catalog.close()
  }
}

async function treesOf(cluster: Cluster): Promise<{ trees: RebuiltTree[]; away: string[] }> {
  const volumes = (await Promise.all(VOLUMES.map((type) => cluster.rows(type)))).flat()
  const owed = new Set((await cluster.catalog.records(REMOVED_TREES)).map(({ key }) => key))
  const trees: RebuiltTree[] = []
  const away: string[] = []
  for (const aggregate of await cluster.rows('storage/aggregates')) {
    const here = aggregate['uuid']
    const engine = cluster.engineOf(aggregate)
    try {
      await engine.space()
      for (const tree of await engine.list()) {
        const of = volumes.find((row) => placesOf(row).some((place) => place.tree === tree && place.aggregate === here))
        if (of !== undefined && placeOf(of).tree === tree) trees.push({ volume: of['uuid'], tree, engine })
        else if (of === undefined && !owed.has(tree)) trees.push({ tree, engine })
      }
    } catch (failure) {
      if (!(failure instanceof VolumesFailure)) throw failure
      away.push(aggregate['name'])
    }
  }
  return { trees, away }
}

/** Adds up what became of blobs. */
class Report {
  readonly lines: string[] = []
  #restored = 0
  readonly #whys = new Map<string, number>()

  add({ blob, why, reason, label }: RebuildTold): void {
    if (why === undefined) {
      this.#restored++
      return
    }
    const known = reason === undefined ? why : `${why}: ${reason}`
    this.#whys.set(known, (this.#whys.get(known) ?? 0) + 1)
    if (this.lines.length >= REPORTED_MAX) return
    const of =
      label === undefined
        ? {}
        : {
            bucket: label.bucket,
            key: Buffer.from(label.key).toString(),
            size: label.sizeBytes,
            time: new Date(label.timeMs).toISOString(),
            ...(label.part === undefined ? {} : { upload: label.part.upload, part: label.part.number }),
          }
    this.lines.push(JSON.stringify({ blob, why: known, ...of }))
  }

  text(): string {
    const whys = [...this.#whys].map(([why, count]) => `  ${why}: ${count}\n`)
    const rest = whys.length === 0 ? '' : `Not recovered:\n${whys.join('')}`
    return `Recovered objects and parts: ${this.#restored}.\n${rest}`
  }
}

function readData(flags: readonly string[]): string | undefined {
  try {
    return parseArgs({ args: [...flags], options: { data: { type: 'string' } } }).values.data
  } catch (failure) {
    throw new SettingsError((failure as Error).message)
  }
}
