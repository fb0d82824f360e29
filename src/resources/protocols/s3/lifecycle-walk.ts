/**
 * Applies the rules of one bucket: walks its rows, then its open uploads, page by page. What is to go of a page goes in
 * one commit, together with where the walk is and with what was counted. Each commit insists that the records of bucket and
 * volume are as they were read: rules that were changed or taken back remove nothing any more, and what an offline volume
 * holds stays.
 */
import type { Cluster } from '../../../core/cluster.ts'
import { Interrupted, type Work } from '../../../core/verb.ts'
import type { Bucket, Volume } from '../../../records/rows.ts'
import { CommitRefused, type Change, type StoredRecord } from '../../../ports/catalog.ts'
import { compileLifecycle, type Lifecycle } from '../../../s3/config/lifecycle.ts'
import { readLifecycleRows, RULES } from '../../../records/lifecycle-rules.ts'
import { storedRow } from '../../../records/stored.ts'
import { takesChanges, keepState, rulesDigest, VOLUMES } from './lifecycle-due.ts'
import { firstPlace, judgePage, type Deletion } from './lifecycle-judge.ts'
import {
  countFields,
  noCounts,
  plus,
  readNotes,
  removedOf,
  writeNotes,
  type Notes,
  type Walk,
} from './lifecycle-notes.ts'
import { BUCKETS } from './types.ts'

/**
 * Rows of a page, which are also the most deletions of a commit. Reading so many takes this process about a millisecond,
 * and removing them takes the writer about four: requests beside it hardly wait.
 */
export const PAGE_ROWS = 100
/** After each page others have as long as the page took, and no longer than this. */
const PAUSE_MS_MAX = 100
/** Where nothing is to go, the place is noted this often. After a crash no more than that is looked at again. */
const NOTE_EVERY_MS = 2000

/**
 * Goes on with the walk of the job's memo when it is one over this bucket. Ends at once where there is nothing to do.
 * `bucketsLeft`, this one among them, is for telling how far the run is.
 */
export async function walkBucket(cluster: Cluster, work: Work, bucket: string, bucketsLeft: number): Promise<void> {
  let { walk } = readNotes(work.memo)
  for (;;) {
    const seen = await see(cluster, bucket)
    if (seen === undefined) {
      await work.commit([], afterWalk('left', bucket, readNotes(work.memo), walk))
      return
    }
    if (walk?.bucket !== bucket || walk.rules !== seen.rules) walk = begin(seen, cluster.now(), walk)
    const walker = new Walker(cluster, work, { seen, walk, bucketsLeft })
    if (await walker.go()) return
    ;({ walk } = walker)
  }
}

/** What becomes of the notes when a walk has ended; `left` when there was nothing to do any more. */
export function afterWalk(how: 'done' | 'left' | 'failed', bucket: string, notes: Notes, walk: Walk | undefined) {
  return writeNotes({
    walk: undefined,
    last: bucket,
    buckets: notes.buckets + Number(how === 'done'),
    failed: notes.failed + Number(how === 'failed'),
    counts: walk?.bucket === bucket ? plus(notes.counts, walk.counts) : notes.counts,
  })
}

/** A bucket as its records are now. */
interface Seen {
  readonly bucket: StoredRecord<Bucket>
  readonly volume: StoredRecord<Volume>
  readonly rules: string
  readonly lifecycle: Lifecycle
  readonly abortsUploads: boolean
}

/** Nothing where there is nothing to do: no bucket, no rules, or a volume that takes no changes now. */
async function see(cluster: Cluster, uuid: string): Promise<Seen | undefined> {
  const bucket = await cluster.record(BUCKETS, uuid)
  const rules = rulesDigest(bucket?.body[RULES])
  if (bucket === undefined || rules === undefined) return undefined
  const volume = await cluster.record(VOLUMES, bucket.body['volume.uuid'] ?? '')
  if (volume === undefined || !takesChanges(volume.body)) return undefined
  const rows = (readLifecycleRows(storedRow(BUCKETS, bucket.body)) ?? []).filter(({ enabled }) => enabled)
  return {
    bucket,
    volume,
    rules,
    lifecycle: compileLifecycle(rows, cluster.lifecycleDayMs),
    abortsUploads: rows.some(({ abortDays }) => abortDays !== undefined),
  }
}

/** Rules that changed meanwhile are applied from the first key on; what the old ones did is counted on. */
function begin({ bucket, rules, lifecycle }: Seen, judgedMs: number, before: Walk | undefined): Walk {
  const place = firstPlace(lifecycle)
  const counts = before?.bucket === bucket.key ? before.counts : noCounts()
  return { bucket: bucket.key, rules, judgedMs, counts, ...(place === undefined ? {} : { place }) }
}

class Walker {
  walk: Walk
  readonly #cluster: Cluster
  readonly #work: Work
  readonly #seen: Seen
  readonly #bucketsLeft: number
  /** What must hold in each commit. */
  readonly #checks: readonly Change[]
  #notedAtMs: number
  #pageAtMs: number

  constructor(
    cluster: Cluster,
    work: Work,
    { seen, walk, bucketsLeft }: { seen: Seen; walk: Walk; bucketsLeft: number },
  ) {
    this.walk = walk
    this.#bucketsLeft = bucketsLeft
    this.#cluster = cluster
    this.#work = work
    this.#seen = seen
    this.#checks = [seen.bucket, seen.volume].map(({ type, key, revision }) => ({
      do: 'check-record',
      type,
      key,
      expect: revision,
    }))
    this.#notedAtMs = cluster.system.clock.elapsed()
    this.#pageAtMs = this.#notedAtMs
  }

  /** False when one of the records has changed: they are to be read again. */
  async go(): Promise<boolean> {
    try {
      while (this.walk.place !== undefined) {
        await this.#rowsPage(this.walk.place)
        if (this.walk.place !== undefined) await this.#pause()
      }
      if (this.#seen.abortsUploads) while (await this.#uploadsPage()) await this.#pause()
      await this.#end()
      return true
    } catch (failure) {
      if (failure instanceof CommitRefused && failure.reason === 'stale') return false
      throw failure
    }
  }

  async #rowsPage(place: NonNullable<Walk['place']>): Promise<void> {
    const { catalog, system } = this.#cluster
    const { bucket, judgedMs } = this.walk
    const { lifecycle } = this.#seen
    const page = await catalog.scan(bucket, place.after, PAGE_ROWS)
    const judged = await judgePage({ bucket, lifecycle, judgedMs, system }, place, page, async ({ key }, position) => {
      const [older] = (await catalog.scan(bucket, position, 1)).rows
      return older !== undefined && Buffer.compare(older.key, key) === 0
    })
    const { place: _, ...walk } = this.walk
    await this.#remove(judged.deletions, {
      ...walk,
      ...(judged.next === undefined ? {} : { place: judged.next }),
      counts: plus(walk.counts, { looked: judged.looked, locked: judged.locked }),
    })
  }

  /** Whether there may be more. */
  async #uploadsPage(): Promise<boolean> {
    const { bucket, judgedMs, upload: after, counts } = this.walk
    const rows = await this.#cluster.catalog.uploads(bucket, after, PAGE_ROWS)
    const last = rows.at(-1)
    if (last === undefined) return false
    const deletions = rows
      .filter(({ key, startedMs }) => this.#seen.lifecycle.aborts({ key, initiatedMs: startedMs }, judgedMs))
      .map(({ upload }): Deletion => ({ kind: 'abort-upload', change: { do: 'abort-upload', bucket, upload } }))
    const upload = { key: last.key, upload: last.upload }
    await this.#remove(deletions, { ...this.walk, upload, counts: plus(counts, { looked: rows.length }) })
    return rows.length === PAGE_ROWS
  }

  /** Commits what is to go and takes the walk on. What the catalog refuses stays, is counted, and keeps nothing else. */
  async #remove(deletions: readonly Deletion[], next: Walk): Promise<void> {
    // Oldest first: a marker of version 'null' takes the place of the row that has it, which may be to go as well.
    let left = deletions.toReversed()
    let { counts } = next
    while (left.length > 0) {
      const walk = { ...next, counts: left.reduce((sum, { kind }) => plus(sum, { [kind]: 1 }), counts) }
      try {
        const outcomes = await this.#note(
          walk,
          left.map(({ change }) => change),
        )
        const gone = left.filter((_, at) => outcomes[at]?.found === false)
        this.walk = {
          ...walk,
          counts: gone.reduce((sum, { kind }) => plus(sum, { [kind]: -1, changed: 1 }), walk.counts),
        }
        return
      } catch (failure) {
        const at = failure instanceof CommitRefused ? failure.change - this.#checks.length : -1
        const stayed = failure instanceof CommitRefused ? STAYED[failure.reason] : undefined
        if (left[at] === undefined || stayed === undefined) throw failure
        left = left.toSpliced(at, 1)
        counts = plus(counts, { [stayed]: 1 })
      }
    }
    this.walk = { ...next, counts }
  }

  /** Outcomes are those of the changes. */
  async #note(walk: Walk, changes: readonly Change[] = []) {
    const notes = writeNotes({ ...readNotes(this.#work.memo), walk })
    const outcomes = await this.#work.commit([...this.#checks, ...changes], notes)
    return outcomes.slice(this.#checks.length)
  }

  async #tell(): Promise<void> {
    await this.#note(this.walk)
    const { counts } = this.walk
    const counters = await this.#cluster.catalog.bucket(this.walk.bucket)
    const rows = (counters?.objects ?? 0) + (counters?.versions ?? 0)
    const name = this.#seen.bucket.body['name']
    const message = `Bucket "${name}": ${counts.looked} versions looked at, ${removedOf(counts)} removed.`
    const { buckets, failed } = readNotes(this.#work.memo)
    const walked = Math.min(1, counts.looked / (rows + removedOf(counts) + 1))
    await this.#work.progress((buckets + failed + walked) / (buckets + failed + this.#bucketsLeft), message)
    this.#notedAtMs = this.#cluster.system.clock.elapsed()
  }

  /** Lets others have their turn, and ends here when the cluster stops. */
  async #pause(): Promise<void> {
    const { clock } = this.#cluster.system
    const { stopping } = this.#work
    await clock.sleep(Math.min(clock.elapsed() - this.#pageAtMs, PAUSE_MS_MAX), stopping)
    if (clock.elapsed() - this.#notedAtMs >= NOTE_EVERY_MS) await this.#tell()
    this.#pageAtMs = clock.elapsed()
    if (!stopping.aborted) return
    await this.#note(this.walk)
    throw new Interrupted()
  }

  async #end(): Promise<void> {
    const { bucket, rules, judgedMs, counts } = this.walk
    const bucketName = this.#seen.bucket.body['name']
    await this.#work.commit(
      [
        ...this.#checks,
        keepState({ bucket, rules, judgedMs }),
        ...(removedOf(counts) === 0
          ? []
          : [this.#cluster.event('s3.lifecycle.removed', { bucket, bucket_name: bucketName, ...countFields(counts) })]),
      ],
      afterWalk('done', bucket, readNotes(this.#work.memo), this.walk),
    )
  }
}

/** What a refusal of a deletion is counted as. */
const STAYED: Readonly<Partial<Record<CommitRefused['reason'], 'locked' | 'changed'>>> = {
  locked: 'locked',
  condition: 'changed',
  absent: 'changed',
}
