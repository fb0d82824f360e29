/**
 * Runs the snapshot policies: looks every second what is owed to which volume or bucket, and has it taken. What is said
 * here of volumes holds for buckets that have a policy of their own, too.
 *
 * It asks what is owed instead of waiting for times, so that downtime and a wrong clock need no rules of their own: of
 * all that was missed, a volume gets one snapshot for each schedule. What is owed is taken by a few at a time and at a
 * pace, late ones at a slower one, so that ten thousand volumes that are due at the same minute, or after an outage,
 * leave room for everything else.
 *
 * In memory it has a copy of the notes of each volume ([owed-snapshots.ts](volumes/owed-snapshots.ts)). A schedule that
 * has no note is new to its volume, by a change of the policy or because the volume came online: it is noted as done
 * now, so its first snapshot is taken when it is due next.
 */
import { alone } from '../core/grounds.ts'
import { isTaken } from '../core/jobs/lock-claims.ts'
import type { Task } from '../core/tasks/background.ts'
import type { Cluster } from '../core/cluster.ts'
import { describe } from '../core/describe.ts'
import { Pace } from '../core/time/pace.ts'
import { doneUntil, lastDue, nextDue } from '../core/time/schedule.ts'
import type { RowOf } from '../model/rows.ts'
import { CommitRefused } from '../ports/catalog.ts'
import { SCHEDULES } from '../resources/cluster/schedules.ts'
import { BUCKETS } from '../resources/protocols/s3/types.ts'
import { addBuiltIns } from '../resources/storage/snapshot-policies/built-in.ts'
import { copiesOf, SNAPSHOT_POLICIES } from '../resources/storage/snapshot-policies/copies.ts'
import {
  LATE_MS,
  NOTES,
  notesChange,
  owedSince,
  ruleOf,
  takeOwed,
  type Notes,
  type Rule,
} from '../resources/storage/volumes/owed-snapshots.ts'
import { isScheduled } from '../resources/storage/volumes/types.ts'

const ROUND_EVERY_MS = 1000
/** Volumes served in a second: ten thousand that are due together have had their snapshots after 40 seconds. */
const VOLUMES_A_SECOND = 250
/** After downtime: ten thousand volumes after less than seven minutes. */
const LATE_VOLUMES_A_SECOND = 25
const AT_ONCE = 8
/** A volume that failed, or was busy with a job, is tried again after this. */
const RETRY_MS = 5000
/** Volumes looked at in one turn of the event loop. */
const SLICE = 500
/** Reading the notes of a volume takes as long as looking at so many. */
const LOOKS_A_READ = 8
/** What is looked at; other changes are passed over. */
const LOOKED_AT = new Set([SCHEDULES, SNAPSHOT_POLICIES, 'storage/volumes', BUCKETS])
/** With more changes than this since the last look, the next one looks at everything. */
const CHANGES_MAX = 2000
/** Volumes noted in one commit. */
const NOTED_AT_ONCE = 100

export class ScheduledSnapshots {
  readonly #cluster: Cluster
  readonly #stop = new AbortController()
  readonly #pace: Pace
  readonly #latePace: Pace
  readonly #task: Task
  #isPrepared = false
  readonly #workers = new Set<Promise<void>>()

  readonly #notes = new Map<string, Notes>()
  #rules: ReadonlyMap<string, Rule> = new Map()
  /** The catalog's revision at the last look. */
  #revision = -1
  /** The last look did not see all that it should have. */
  #mustLook = true
  /** When something is due next, or to be tried again. */
  #nextMs = 0
  #lastMs = 0

  /** The volumes of the buckets that have a policy of their own. They are served as volumes are. */
  #volumeOf: ReadonlyMap<string, string> = new Map()
  readonly #due = new Set<string>()
  readonly #late = new Set<string>()
  readonly #busy = new Set<string>()
  /** Volumes that failed or that a job holds, with the time of the growing clock from which on they are tried again. */
  readonly #resting = new Map<string, number>()
  #failed: { count: number; cause: unknown } = { count: 0, cause: undefined }

  constructor(cluster: Cluster) {
    this.#cluster = cluster
    this.#pace = new Pace(cluster.system.clock, VOLUMES_A_SECOND)
    this.#latePace = new Pace(cluster.system.clock, LATE_VOLUMES_A_SECOND)
    this.#task = cluster.background.task({
      name: 'snapshot-schedule',
      doc: 'Takes the snapshots that snapshot policies demand, and deletes those beyond their number.',
      bound: `Takes snapshots of at most ${VOLUMES_A_SECOND} volumes per second, ${LATE_VOLUMES_A_SECOND} where they are late.`,
      scope: 'cluster',
      everyMs: ROUND_EVERY_MS,
      failed: 'Scheduled snapshots were interrupted. It is retried.',
      act: () => this.#act(),
    })
  }

  start(): void {
    this.#task.start()
  }

  /** Ends after the snapshots that are being taken. What is owed then is owed at the next start. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#task.stop()
    await this.settled()
  }

  /** Waits until nothing is queued or being taken any more. */
  async settled(): Promise<void> {
    while (this.#workers.size > 0) await Promise.all(this.#workers)
  }

  async #act(): Promise<void> {
    try {
      if (!this.#isPrepared) await addBuiltIns(this.#cluster)
      this.#isPrepared = true
      await this.round()
    } catch (failure) {
      this.#mustLook = true
      throw failure
    }
  }

  /** Looks what is owed and begins to take it. */
  async round(): Promise<void> {
    const revision = await this.#cluster.catalog.revision()
    const mustLook = this.#mustLook || (await this.#concerns(revision))
    this.#mustLook = false
    const isChanged = mustLook && (await this.#look())
    this.#revision = revision
    const nowMs = this.#cluster.now()
    if (isChanged || nowMs >= this.#nextMs || nowMs < this.#lastMs) await this.#queueOwed(nowMs)
    this.#lastMs = nowMs
    this.#tellFailures()
    while (this.#workers.size < AT_ONCE && this.#due.size + this.#late.size > 0) this.#addWorker()
  }

  /** Whether anything that matters here has changed since the last look. Snapshots do not, so a run does not cause looks. */
  async #concerns(revision: number): Promise<boolean> {
    if (revision === this.#revision) return false
    const changes = await this.#cluster.catalog.changes(this.#revision, CHANGES_MAX)
    if (changes === undefined || changes.length === CHANGES_MAX) return true
    return changes.some(({ type }) => LOOKED_AT.has(type))
  }

  /** Brings rules and notes up to date with policies, schedules and volumes. Tells whether something is to be asked anew. */
  async #look(): Promise<boolean> {
    const cluster = this.#cluster
    const rules = new Map((await cluster.rows(SCHEDULES)).map((row) => [row['uuid'], ruleOf(row)]))
    let isChanged = JSON.stringify([...rules]) !== JSON.stringify([...this.#rules])
    this.#rules = rules
    const schedulesOf = new Map((await cluster.rows(SNAPSHOT_POLICIES)).map((row) => [row['uuid'], running(row)]))
    const nowMs = cluster.now()
    const stale = new Map<string, Notes>()
    const there = new Set<string>()
    let looked = 0
    const volumes = await cluster.rows('storage/volumes')
    const online = new Set(volumes.filter(isScheduled).map((row) => row['uuid']))
    const buckets = (await cluster.shortRows(BUCKETS)).filter((row) => typeof row['snapshot_policy.uuid'] === 'string')
    this.#volumeOf = new Map(buckets.map((row) => [row['uuid'], row['volume.uuid'] ?? '']))
    for (const holder of [...volumes, ...buckets]) {
      if (++looked >= SLICE) {
        looked = 0
        await this.#breathe()
      }
      const key = holder['uuid']
      const isOnline = online.has(this.#volumeOf.get(key) ?? key)
      there.add(key)
      if (this.#busy.has(key)) {
        this.#mustLook = true
        continue
      }
      const wanted = isOnline ? (schedulesOf.get(holder['snapshot_policy.uuid'] ?? '') ?? []) : []
      let known = this.#notes.get(key)
      if (known === undefined) {
        known = await this.#read(key)
        looked += LOOKS_A_READ
        isChanged = true
      }
      if (isFor(known, wanted)) continue
      stale.set(key, Object.fromEntries(wanted.map((schedule) => [schedule, known[schedule] ?? nowMs])))
      isChanged = true
    }
    for (const key of this.#notes.keys()) {
      // Its notes went with the volume, unless they were written as it went.
      if (!there.has(key) && !this.#busy.has(key)) stale.set(key, {})
    }
    await this.#note(stale)
    for (const key of stale.keys()) if (!there.has(key)) this.#notes.delete(key)
    return isChanged
  }

  async #read(volume: string): Promise<Notes> {
    const notes = ((await this.#cluster.catalog.record(NOTES, volume))?.body['done'] ?? {}) as Notes
    this.#notes.set(volume, notes)
    return notes
  }

  async #note(notes: ReadonlyMap<string, Notes>): Promise<void> {
    const all = [...notes]
    for (let at = 0; at < all.length; at += NOTED_AT_ONCE) {
      const batch = all.slice(at, at + NOTED_AT_ONCE)
      // What failed may have been written or not: it is read again.
      for (const [volume] of batch) this.#notes.delete(volume)
      await this.#cluster.catalog.commit(batch.map(([volume, done]) => notesChange(volume, done)))
      for (const [volume, done] of batch) this.#notes.set(volume, done)
    }
  }

  async #queueOwed(nowMs: number): Promise<void> {
    this.#nextMs = Number.POSITIVE_INFINITY
    const lastDueOf = new Map<string, number | undefined>()
    for (const [key, { schedule }] of this.#rules) {
      lastDueOf.set(key, lastDue(schedule, nowMs))
      this.#nextMs = Math.min(this.#nextMs, nextDue(schedule, nowMs) ?? Number.POSITIVE_INFINITY)
    }
    const wrong = new Map<string, Notes>()
    let looked = 0
    for (const [volume, notes] of this.#notes) {
      if (++looked % SLICE === 0) await this.#breathe()
      if (this.#mustWait(volume, nowMs)) continue
      let dueMs = Number.NEGATIVE_INFINITY
      for (const [schedule, notedMs] of Object.entries(notes)) {
        const rule = this.#rules.get(schedule)
        if (rule === undefined) continue
        if (doneUntil(notedMs, nowMs) !== notedMs) wrong.set(volume, putRight(notes, nowMs))
        dueMs = Math.max(dueMs, owedSince(rule, notedMs, nowMs, lastDueOf.get(schedule)) ?? dueMs)
      }
      if (dueMs === Number.NEGATIVE_INFINITY || this.#due.has(volume)) continue
      if (nowMs - dueMs > LATE_MS) this.#late.add(volume)
      else {
        this.#late.delete(volume)
        this.#due.add(volume)
      }
    }
    await this.#note(wrong)
  }

  /** Whether it cannot be queued now; then there will be another round for it. */
  #mustWait(volume: string, nowMs: number): boolean {
    const restMs = (this.#resting.get(volume) ?? 0) - this.#cluster.system.clock.elapsed()
    if (restMs <= 0) this.#resting.delete(volume)
    if (restMs <= 0 && !this.#busy.has(volume)) return false
    this.#nextMs = Math.min(this.#nextMs, nowMs + Math.max(restMs, ROUND_EVERY_MS))
    return true
  }

  #addWorker(): void {
    const working = this.#work().catch((failure: unknown) => this.#countFailure(failure))
    this.#workers.add(working)
    void working.finally(() => this.#workers.delete(working))
  }

  async #work(): Promise<void> {
    for (let isIdle = false; !isIdle;) {
      const [queue, pace] = this.#due.size > 0 ? [this.#due, this.#pace] : [this.#late, this.#latePace]
      const [volume] = queue
      if (volume === undefined) isIdle = true
      else {
        queue.delete(volume)
        this.#busy.add(volume)
        await pace.turn(this.#stop.signal)
        if (this.#stop.signal.aborted) return
        await this.#take(volume)
        this.#busy.delete(volume)
      }
    }
  }

  async #take(volume: string): Promise<void> {
    const lock = `volume:${this.#volumeOf.get(volume) ?? volume}`
    if (await isTaken(this.#cluster, lock)) {
      // A job is at work on it. The others are not to wait for that.
      this.#rest(volume)
      return
    }
    try {
      const notes = await alone(this.#cluster, [lock], (cluster) => takeOwed(cluster, volume))
      if (notes !== undefined) this.#notes.set(volume, notes)
    } catch (failure) {
      // Whether it was done is in the catalog alone.
      this.#notes.delete(volume)
      this.#rest(volume)
      if (!(failure instanceof CommitRefused)) this.#countFailure(failure)
    }
  }

  #rest(volume: string): void {
    this.#resting.set(volume, this.#cluster.system.clock.elapsed() + RETRY_MS)
    this.#mustLook = true
    this.#nextMs = 0
  }

  #countFailure(cause: unknown): void {
    this.#failed = { count: this.#failed.count + 1, cause }
  }

  /** One line for all volumes: what fails for one, such as a full disk, often fails for many. */
  #tellFailures(): void {
    const { count, cause } = this.#failed
    if (count === 0) return
    this.#failed = { count: 0, cause: undefined }
    this.#cluster.log.warn('Scheduled snapshots could not be taken. They are tried again.', {
      volumes: count,
      cause: describe(cause),
    })
  }

  /** Lets other work of this process go on. */
  async #breathe(): Promise<void> {
    await this.#cluster.system.clock.sleep(0, this.#stop.signal)
  }
}

function running(policy: RowOf<typeof SNAPSHOT_POLICIES>): readonly string[] {
  return policy['enabled'] === true ? copiesOf(policy).map((copy) => copy.schedule.uuid) : []
}

function isFor(notes: Notes, schedules: readonly string[]): boolean {
  for (const schedule of schedules) if (notes[schedule] === undefined) return false
  return Object.keys(notes).length === schedules.length
}

/** Notes from a clock that was far ahead would keep everything from being due until it is that late. */
function putRight(notes: Notes, nowMs: number): Notes {
  return Object.fromEntries(Object.entries(notes).map(([schedule, notedMs]) => [schedule, doneUntil(notedMs, nowMs)]))
}
