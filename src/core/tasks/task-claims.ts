/**
 * Which node runs a background task of the cluster: a record for each task, with the node, the incarnation of its process
 * and the time until which the claim holds. Whoever commits it first has the task, and keeps it by renewing the record
 * until it ends; then another node takes over when the time is past.
 *
 * A claim is long against the difference between two clocks, so an idle cluster writes a record every few minutes, and a
 * node that stands still for as long finds its run interrupted. A node takes its own claims again at once: it has one
 * process, so an earlier incarnation of it has ended.
 */
import { textOf } from '../../model/value.ts'
import { CommitRefused, type Commits, type Fields, type Records } from '../../ports/catalog.ts'
import type { Clock } from '../../ports/system.ts'
import type { Incarnation } from '../incarnation.ts'

/** The type of the records; their key is the name of the task. */
export const TASK_CLAIMS = 'internal/task-claims'

/** How long a claim holds, and how much of that is left when it is renewed. */
export const CLAIM_MS = 10 * 60_000
export const RENEWED_MS = CLAIM_MS / 2
/** How often a run whose claim could not be renewed tries again, and how long before the end of the claim it is halted. */
const RETRY_MS = 10_000
const CLOCKS_DIFFER_MS = 60_000

/** What a commit is refused for when another was faster. */
const RACES: ReadonlySet<string> = new Set(['stale', 'exists'])

/** One run of a task that is this node's. */
export interface ClaimedRun {
  /** Aborts when another node may run the task. */
  readonly lost: AbortSignal
  end(): void
}

/** A run, or the node that has the task. */
export type Claimed = { readonly run: ClaimedRun } | { readonly elsewhere: string }

export class TaskClaims {
  readonly #catalog: Records & Commits
  readonly #clock: Clock
  readonly #self: Incarnation
  /** Until when this node has tasks, by their names: saves reading what it wrote itself. */
  readonly #untilMs = new Map<string, number>()

  constructor(catalog: Records & Commits, clock: Clock, self: Incarnation) {
    this.#catalog = catalog
    this.#clock = clock
    this.#self = self
  }

  /** Begins a run, unless the task is another node's. Fails as the catalog does. */
  async begin(task: string): Promise<Claimed> {
    if (!this.#isFresh(task)) {
      const other = await this.#take(task)
      if (other !== undefined) return { elsewhere: other }
    }
    const [lost, over] = [new AbortController(), new AbortController()]
    void this.#keep(task, lost, over.signal)
    return { run: { lost: lost.signal, end: () => over.abort() } }
  }

  #isFresh(task: string): boolean {
    return (this.#untilMs.get(task) ?? 0) - this.#clock.now() > RENEWED_MS
  }

  /** Takes or renews a claim. Gives the node that has it where that is another. */
  async #take(task: string): Promise<string | undefined> {
    for (;;) {
      const record = await this.#catalog.record(TASK_CLAIMS, task)
      const now = this.#clock.now()
      if (record !== undefined && record.body['node'] !== this.#self.node && Number(record.body['until']) > now) {
        this.#untilMs.delete(task)
        return textOf(record.body['node'])
      }
      const until = now + CLAIM_MS
      const body: Fields = { node: this.#self.node, incarnation: this.#self.id, until }
      const expect = record?.revision ?? 'absent'
      try {
        await this.#catalog.commit([{ do: 'put-record', type: TASK_CLAIMS, key: task, body, expect }])
      } catch (refused) {
        if (!(refused instanceof CommitRefused) || !RACES.has(refused.reason)) throw refused
        // Somebody was faster: the record says who.
        continue
      }
      this.#untilMs.set(task, until)
      return undefined
    }
  }

  /** Renews the claim for as long as a run takes, and halts the run in time where that fails. */
  async #keep(task: string, lost: AbortController, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const untilMs = this.#untilMs.get(task) ?? 0
      const left = (ms: number) => Math.max(0, untilMs - ms - this.#clock.now())
      await this.#clock.sleep(left(RENEWED_MS), over)
      if (over.aborted) return
      const renewed = new AbortController()
      const isLate = this.#clock.sleep(left(CLOCKS_DIFFER_MS), AbortSignal.any([over, renewed.signal])).then(() => true)
      const isKept = await Promise.race([this.#renew(task, renewed.signal), isLate.then(() => false)])
      renewed.abort()
      if (isKept || over.aborted) continue
      lost.abort()
      return
    }
  }

  /** Tries until the claim is renewed or another's. */
  async #renew(task: string, over: AbortSignal): Promise<boolean> {
    while (!over.aborted) {
      try {
        return (await this.#take(task)) === undefined
      } catch {
        await this.#clock.sleep(RETRY_MS, over)
      }
    }
    return false
  }
}
