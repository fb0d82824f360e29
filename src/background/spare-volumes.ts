/**
 * Deletes volumes that were made for a bucket that is gone, whoever deleted it. Which volume is of which bucket is noted
 * once, at the first look; after that only records that changed are looked at, by the feed of the catalog. So a look at a
 * cluster in which nothing happens is one read, at any number of volumes. What is noted only says where to look: the
 * catalog decides, and a process that starts anew notes it again.
 */
import { MADE_FOR } from '../core/cluster.ts'
import { isActive, JOBS } from '../core/jobs/jobs.ts'
import type { Actions } from '../core/perform.ts'
import { Watch } from '../core/tasks/watch.ts'
import { inTurns } from '../core/time/turns.ts'
import { textOf } from '../model/value.ts'
import { BUCKETS } from '../resources/protocols/s3/types.ts'
import type { Volume } from '../records/rows.ts'

const VOLUMES = 'storage/volumes'
const LOOK_EVERY_MS = 5000
/** Changes taken from the feed at once. */
const CHANGES_MAX = 1000

export class SpareVolumes extends Watch {
  readonly #actions: Actions
  /** Volumes by the bucket that each was made for. */
  readonly #madeFor = new Map<string, string>()
  /** Volumes that may be without their bucket. Those whose bucket is still to come, or that are going, stay in it. */
  readonly #suspects = new Set<string>()
  /** The last revision that was looked at. */
  #revision: number | undefined

  constructor(actions: Actions) {
    super(actions.cluster, {
      name: 'spare-volumes',
      doc: 'Deletes volumes that were created for a bucket when that bucket is deleted.',
      bound: 'Reads the records that changed since the last run; the first run reads all volumes.',
      scope: 'cluster',
      everyMs: LOOK_EVERY_MS,
      failed: 'Volumes of deleted buckets could not be checked. It is retried.',
    })
    this.#actions = actions
  }

  /** Gives the number of volumes whose deletion was begun. */
  async look(): Promise<number> {
    await this.#follow()
    if (this.#suspects.size === 0) return 0
    const { cluster } = this.#actions
    const jobs = (await cluster.rows(JOBS)).filter(isActive)
    const busy = new Set(jobs.map((row) => row['$key']))
    let begun = 0
    for (const uuid of this.#suspects) {
      const volume = await cluster.find(VOLUMES, uuid)
      if (
        volume === undefined ||
        (await cluster.catalog.records(BUCKETS, { parent: uuid, after: '', limit: 1 })).length > 0
      ) {
        this.#suspects.delete(uuid)
        continue
      }
      // The bucket is still to come, or the volume is going.
      if (busy.has(uuid) || busy.has(textOf(volume[MADE_FOR]))) continue
      await this.#remove(volume)
      begun++
    }
    return begun
  }

  async #follow(): Promise<void> {
    const { catalog } = this.#actions.cluster
    const now = await catalog.revision()
    for (let from = this.#revision; from === undefined || from < now; from = this.#revision) {
      const changes = from === undefined ? undefined : await catalog.changes(from, CHANGES_MAX)
      if (changes === undefined) {
        await this.#lookAtAll()
        this.#revision = now
        return
      }
      for (const { type, key } of changes) {
        if (type === VOLUMES) await this.#note(await this.#actions.cluster.find(VOLUMES, key))
        const volume = type === BUCKETS ? this.#madeFor.get(key) : undefined
        if (volume !== undefined) this.#suspects.add(volume)
      }
      this.#revision = changes.at(-1)?.revision ?? now
    }
  }

  /** What changes meanwhile is in the feed after the revision that was read before. */
  async #lookAtAll(): Promise<void> {
    const { cluster } = this.#actions
    this.#madeFor.clear()
    for await (const some of inTurns(cluster.system, await cluster.rows(VOLUMES))) {
      for (const volume of some) await this.#note(volume)
    }
  }

  async #note(volume: Volume | undefined): Promise<void> {
    const bucket = textOf(volume?.[MADE_FOR])
    if (bucket === '') return
    const uuid = volume?.['uuid'] ?? ''
    this.#madeFor.set(bucket, uuid)
    if ((await this.#actions.cluster.find(BUCKETS, bucket)) === undefined) this.#suspects.add(uuid)
  }

  async #remove(volume: Volume): Promise<void> {
    const { cluster } = this.#actions
    await this.#actions.perform(cluster.behaviour(VOLUMES), 'remove', {
      caller: { user: 'cluster', role: 'admin', from: 'volumes of buckets' },
      row: volume,
      draft: {},
      path: {},
      args: { force: true },
      description: `DELETE /api/storage/volumes/${volume['uuid']}`,
    })
    this.#madeFor.delete(textOf(volume[MADE_FOR]))
  }
}
