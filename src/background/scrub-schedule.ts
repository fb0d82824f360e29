/**
 * Begins scrubs: of each aggregate when the interval has passed since the last one began, and at once where files of an
 * earlier release have no checksums yet. The job of a scrub is its claim: while there is one, no other is begun.
 */
import { isTaken } from '../core/jobs/lock-claims.ts'
import type { Actions } from '../core/perform.ts'
import { Watch } from '../core/tasks/watch.ts'
import { settingsOf } from '../core/singleton.ts'
import { SCRUB_SCHEDULE } from '../records/set-aside.ts'
import { changeScrubNotes, SCRUB_NOTES, scrubLock, SCRUBS } from '../resources/storage/scrub/notes.ts'

const LOOK_EVERY_MS = 60_000
const HOUR_MS = 3_600_000

export class ScrubSchedule extends Watch {
  readonly #actions: Actions

  constructor(actions: Actions) {
    super(actions.cluster, {
      name: 'scrub-schedule',
      doc: 'Starts scrubs of aggregates at the interval that the scrub schedule sets.',
      bound: 'Reads the records of all aggregates. The scrub itself is a job.',
      scope: 'cluster',
      everyMs: LOOK_EVERY_MS,
      failed: 'Scheduled scrubs could not be started. It is retried.',
    })
    this.#actions = actions
  }

  /** Begins what is due, and tells how many scrubs that were. */
  async look(): Promise<number> {
    const { cluster } = this.#actions
    const settings = await settingsOf(cluster, SCRUB_SCHEDULE)
    if (settings['enabled'] !== true) return 0
    const hasUnverified = (await cluster.catalog.unverifiedBlobs()) > 0
    const notes = new Map((await cluster.rows(SCRUB_NOTES)).map((row) => [row['aggregate'], row]))
    let begun = 0
    for (const row of await cluster.rows('storage/aggregates')) {
      const aggregate = row['uuid']
      const begunMs = notes.get(aggregate)?.['begunMs']
      notes.delete(aggregate)
      if (await isTaken(cluster, scrubLock(aggregate))) continue
      if (begunMs === undefined && !hasUnverified) {
        // A new aggregate has nothing to verify yet.
        await cluster.catalog.commit([changeScrubNotes(aggregate, { begunMs: cluster.now() })])
        continue
      }
      const dueMs = (begunMs ?? 0) + Number(settings['interval']) * HOUR_MS
      if (cluster.now() < dueMs) continue
      await this.#begin(aggregate)
      begun++
    }
    for (const gone of notes.keys()) {
      await cluster.catalog.commit([{ do: 'remove-record', type: SCRUB_NOTES, key: gone }])
    }
    return begun
  }

  async #begin(aggregate: string): Promise<void> {
    await this.#actions.perform(this.#actions.cluster.behaviour(SCRUBS), 'create', {
      caller: { user: 'cluster', role: 'admin', from: 'schedule of scrubs' },
      draft: { 'aggregate.uuid': aggregate },
      path: {},
      args: {},
      description: 'Scrub an aggregate',
    })
  }
}
