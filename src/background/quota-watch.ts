/**
 * Tells when somebody holds more of a volume than a soft limit says, and when it is less again.
 *
 * What was told is noted in a record, in the commit of the event, as it is for full volumes: each crossing is told once,
 * also over restarts, and what is held has to go some way below a limit before it can be crossed again.
 */
import { QUOTA_NOTES } from '../records/quota-notes.ts'
import type { Cluster } from '../core/cluster.ts'
import { Picked } from '../core/read/picked.ts'
import { Watch } from '../core/tasks/watch.ts'
import { CommitRefused, type Change, type QuotaRow } from '../ports/catalog.ts'
import { areQuotasOn, fieldsOfTarget } from '../resources/storage/quota/limits.ts'
import type { Volume } from '../records/rows.ts'

const LOOK_EVERY_MS = 1000
/** Of ten thousand users a look takes some 50 ms: the pause is so many times longer, or a second. */
const PAUSE_TIMES = 20
/** So much of a limit less, in whole bytes or files, is below it again. */
const BELOW_SHARE = 0.02

const UNITS = ['space', 'files'] as const
type Exceeded = Readonly<Record<(typeof UNITS)[number], boolean>>
const NOTHING: Exceeded = { space: false, files: false }

export class QuotaWatch extends Watch {
  readonly #cluster: Cluster
  readonly #withQuotas = new Picked<Volume>(areQuotasOn)
  #told: Map<string, Exceeded> | undefined

  constructor(cluster: Cluster) {
    super(cluster, {
      name: 'quota-watch',
      doc: 'Logs an event when the usage of a quota target exceeds its soft limit, and another when it is below again.',
      bound: 'Reads the usage of every quota target. The rest is at least 20 times as long as the run.',
      scope: 'cluster',
      everyMs: LOOK_EVERY_MS,
      restMs: (tookMs) => Math.max(LOOK_EVERY_MS, tookMs * PAUSE_TIMES),
      failed: 'Quota usage could not be checked. It is retried.',
    })
    this.#cluster = cluster
  }

  /** One look at all volumes whose quotas are on. */
  async look(): Promise<void> {
    const { catalog, system } = this.#cluster
    this.#told ??= new Map(
      (await catalog.records(QUOTA_NOTES)).map(({ key, body }) => [
        key,
        { space: body['space'] === true, files: body['files'] === true },
      ]),
    )
    const seen = new Set<string>()
    for (const volume of this.#withQuotas.of(await this.#cluster.shortRows('storage/volumes'))) {
      if (this.isStopping) return
      for (const quota of await catalog.quotas(volume['uuid'])) {
        const key = `${volume['uuid']}/${quota.index}`
        seen.add(key)
        await this.#lookAt(volume, quota, key, this.#told)
      }
      await system.clock.sleep(0)
    }
    // What has no limits any more is not below them: its note goes without a word.
    for (const key of this.#told.keys()) {
      if (seen.has(key)) continue
      await catalog.commit([{ do: 'remove-record', type: QUOTA_NOTES, key }])
      this.#told.delete(key)
    }
  }

  async #lookAt(volume: Volume, quota: QuotaRow, key: string, told: Map<string, Exceeded>): Promise<void> {
    const before = told.get(key) ?? NOTHING
    const now: Exceeded = {
      space: isExceeded(quota.usedBytes, quota.limits.softBytes, before.space),
      files: isExceeded(quota.usedFiles, quota.limits.softFiles, before.files),
    }
    const crossed = UNITS.filter((unit) => now[unit] !== before[unit])
    if (crossed.length === 0) return
    const isOver = now.space || now.files
    const note: Change = isOver
      ? { do: 'put-record', type: QUOTA_NOTES, key, parent: volume['uuid'], body: now }
      : { do: 'remove-record', type: QUOTA_NOTES, key }
    if (await this.#tell(volume, [note, ...crossed.map((unit) => this.#event(volume, quota, unit, now[unit]))])) {
      if (isOver) told.set(key, now)
      else told.delete(key)
    }
  }

  #event(volume: Volume, quota: QuotaRow, unit: (typeof UNITS)[number], isOver: boolean): Change {
    const name = isOver ? 'quota.soft_limit.exceeded' : 'quota.soft_limit.back'
    const { tree, type } = quota
    return this.#cluster.event(name, {
      volume: volume['name'],
      type,
      ...(tree === undefined ? {} : { qtree: tree }),
      ...fieldsOfTarget(quota),
      limit: unit,
    })
  }

  /** False when the volume was changed or deleted meanwhile. */
  async #tell(volume: Volume, changes: readonly Change[]): Promise<boolean> {
    const { catalog } = this.#cluster
    const record = await catalog.record('storage/volumes', volume['uuid'])
    if (record === undefined) return false
    try {
      const { type, key, revision: expect } = record
      await catalog.commit([{ do: 'check-record', type, key, expect }, ...changes])
      return true
    } catch (failure) {
      if (failure instanceof CommitRefused) return false
      throw failure
    }
  }
}

function isExceeded(used: number, limit: number | undefined, before: boolean): boolean {
  return limit !== undefined && used > limit - (before ? Math.floor(limit * BELOW_SHARE) : 0)
}
