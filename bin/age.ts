/**
 * The age of the catalog, as its aggregates know it. A catalog that is older than what they have noted was put back by hand,
 * with everything that lies beside it: a start refuses it, because objects of acknowledged writes would be unknown to it.
 */
import { randomBytes } from 'node:crypto'
import type { Task } from '../src/core/tasks/background.ts'
import type { Cluster } from '../src/core/cluster.ts'
import { type AgeNote, readAgeNote, writeAgeNote } from '../src/engines/directory/age-note.ts'
import type { SqliteCatalog } from '../src/engines/sqlite/catalog.ts'
import { type Row, textAt, textOf } from '../src/model/value.ts'
import type { Change } from '../src/ports/catalog.ts'
import { StartFailure } from './failures.ts'
import { LINE } from './run-records.ts'

/** What is written in so many milliseconds before an end may be missing in the notes. */
export const NOTE_EVERY_MS = 5000
/** Lines that are remembered. */
const LINES_MAX = 100

interface Line {
  readonly id: string
  /** Those that it went on from, newest first. */
  readonly past: readonly string[]
}

/**
 * Throws `StartFailure` when an aggregate has seen more of this cluster than the catalog has, unless that is accepted.
 * A catalog that goes on without something begins a new line.
 */
export async function insistOnAge(
  cluster: Cluster,
  catalog: SqliteCatalog,
  { acceptsLoss, hasLost }: { readonly acceptsLoss: boolean; readonly hasLost: boolean },
): Promise<void> {
  const line = await lineOf(catalog)
  const changes = catalog.changesMade()
  const newer: { readonly name: string; readonly note: AgeNote }[] = []
  for (const row of await folders(cluster)) {
    const note = await readAgeNote(row.folder, row.aggregate)
    if (note === undefined || line.past.includes(note.line)) continue
    if (note.line !== line.id || note.changes > changes) newer.push({ name: row.name, note })
  }
  const [first] = newer
  if (first !== undefined && !acceptsLoss) {
    throw new StartFailure(
      `The catalog is older than the aggregate ${first.name}, which was last written at ` +
        `${new Date(first.note.timeMs).toISOString()}: objects and settings would be missing. Nothing was changed. Put the ` +
        'newest catalog back, run "holdfast restore --move-aside" with a backup, or start once with ' +
        'HOLDFAST_ACCEPT_LOSS=1 to go on with this one.',
    )
  }
  if (first !== undefined || hasLost || line.id === '') {
    const change = newLine(
      line,
      newer.map(({ note }) => note.line),
    )
    await catalog.commit(first === undefined ? [change] : [change, cluster.event('cluster.loss.accepted', {})])
  }
}

/** The change with which a catalog goes on from an earlier state on purpose. */
export async function beginLine(catalog: SqliteCatalog): Promise<Change> {
  return newLine(await lineOf(catalog), [])
}

function newLine(line: Line, more: readonly string[]): Change {
  const past = [...new Set([line.id, ...more, ...line.past])].filter((id) => id !== '').slice(0, LINES_MAX)
  return { do: 'put-record', type: LINE[0], key: LINE[1], body: { id: randomBytes(8).toString('hex'), past } }
}

async function lineOf(catalog: SqliteCatalog): Promise<Line> {
  const body = (await catalog.record(...LINE))?.body
  return { id: textOf(body?.['id'] ?? ''), past: ((body?.['past'] ?? []) as readonly string[]).map(textOf) }
}

interface Folder {
  readonly aggregate: string
  readonly name: string
  readonly folder: string
}

async function folders(cluster: Cluster): Promise<Folder[]> {
  return (await cluster.rows('storage/aggregates'))
    .filter((row: Row) => row['$claimed'] === true)
    .map((row) => ({ aggregate: row['uuid'], name: row['name'], folder: textAt(row, '$folder') }))
}

/** Notes in each aggregate how far the catalog is, while it grows. */
export class AgeNotes {
  readonly #cluster: Cluster
  readonly #catalog: SqliteCatalog
  /** What is noted where. */
  readonly #noted = new Map<string, number>()
  readonly #task: Task

  constructor(cluster: Cluster, catalog: SqliteCatalog) {
    this.#cluster = cluster
    this.#catalog = catalog
    this.#task = cluster.background.task({
      name: 'catalog-age',
      doc: 'Notes the age of the catalog in each aggregate, so that a start notices a catalog that is older.',
      bound: 'Writes one small file per aggregate, while the catalog changes.',
      scope: 'node',
      everyMs: NOTE_EVERY_MS,
      failed: 'The age of the catalog could not be noted. It is retried.',
      act: () => this.#note(),
    })
  }

  start(): void {
    this.#task.start()
  }

  /** Notes once more. */
  async stop(): Promise<void> {
    await this.#task.stop()
    await this.#note().catch(() => undefined)
  }

  async #note(): Promise<void> {
    const line = (await lineOf(this.#catalog)).id
    const changes = this.#catalog.changesMade()
    const timeMs = this.#cluster.now()
    for (const { aggregate, folder } of await folders(this.#cluster)) {
      if (this.#noted.get(folder) === changes) continue
      // One that is away, read-only or full has an older note, which refuses nothing that it should not.
      await writeAgeNote(folder, aggregate, { line, changes, timeMs }).then(
        () => this.#noted.set(folder, changes),
        () => undefined,
      )
    }
  }
}
