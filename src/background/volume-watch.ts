/**
 * Looks at what volumes hold that changed since the last look: lets those grow and shrink that choose their size themselves, and tells when one is nearly
 * full or full.
 *
 * How full a volume was when it was last told of is noted in a record, in the commit of the event. So each crossing is
 * told once, also over restarts; and a volume has to be some way below a threshold before it can cross it again.
 */
import { FULLNESS, type Fullness } from '../records/volume-fullness.ts'
import type { Cluster } from '../core/cluster.ts'
import type { EventName } from '../model/events/index.ts'
import { Watch } from '../core/tasks/watch.ts'
import { CommitRefused } from '../ports/catalog.ts'
import type { Held } from '../ports/charged.ts'
import { FULL_PERCENT, isAutosizing, NEARLY_FULL_PERCENT, wantedSize } from '../resources/storage/volumes/autosize.ts'
import { chargedTo } from '../resources/storage/volumes/reserve.ts'
import { setSize } from '../resources/storage/volumes/set-size.ts'
import type { Volume } from '../records/rows.ts'

const LOOK_EVERY_MS = 1000
/** Where very many change all the time, the pause is so many times as long as a look. */
const PAUSE_TIMES = 20
/** Volumes looked at in one turn of the event loop. */
const SLICE = 100
/** So many points below a threshold, a volume is below it again. */
const BELOW_POINTS = 2

const EVENTS = {
  none: 'volume.space.back',
  'nearly-full': 'volume.space.nearly_full',
  full: 'volume.space.full',
} as const satisfies Readonly<Record<Fullness, EventName>>

export class VolumeWatch extends Watch {
  readonly #cluster: Cluster
  /** The last change of a volume that was looked at. Every change of a record of one is a change of its sums as well. */
  #seen = 0
  /** Volumes that did not become what they should: an aggregate was full, or somebody else changed them. */
  #again = new Set<string>()

  constructor(cluster: Cluster) {
    super(cluster, {
      name: 'volume-watch',
      doc: 'Resizes volumes with autosize, and logs an event when a volume is nearly full, full, or has space again.',
      bound:
        'Reads the volumes whose usage changed since the last run. The rest is at least 20 times as long as the run.',
      scope: 'cluster',
      everyMs: LOOK_EVERY_MS,
      restMs: (tookMs) => Math.max(LOOK_EVERY_MS, tookMs * PAUSE_TIMES),
      failed: 'Volume sizes could not be checked. It is retried.',
    })
    this.#cluster = cluster
  }

  /** One look at the volumes that changed since the last one; the first is at all. */
  async look(): Promise<void> {
    const { catalog, system } = this.#cluster
    const again = [...this.#again]
    for (const uuid of again) {
      const counters = await catalog.volume(uuid)
      if (counters === undefined) this.#again.delete(uuid)
      else await this.#lookAt(uuid, counters)
    }
    for (let page = SLICE; page === SLICE && !this.isStopping;) {
      const changed = await catalog.changedVolumes(this.#seen, SLICE)
      for (const one of changed) {
        await this.#lookAt(one.volume, one)
        this.#seen = one.change
      }
      page = changed.length
      if (page === SLICE) await system.clock.sleep(0)
    }
  }

  async #lookAt(uuid: string, held: Held): Promise<void> {
    this.#again.delete(uuid)
    let volume = await this.#cluster.find('storage/volumes', uuid)
    if (volume === undefined) return
    if (isAutosizing(volume) && wantedSize(volume, held) !== volume['size']) {
      await setSize(this.#cluster, uuid)
      volume = (await this.#cluster.find('storage/volumes', uuid)) ?? volume
      if (wantedSize(volume, held) !== volume['size']) this.#again.add(uuid)
    }
    const before = (await this.#cluster.find(FULLNESS, uuid))?.['level'] ?? 'none'
    const level = levelOf(volume, held, before)
    if (level !== before && !(await this.#tell(uuid, level, held))) this.#again.add(uuid)
  }

  /** False when the volume was changed or deleted meanwhile. */
  async #tell(uuid: string, level: Fullness, held: Held): Promise<boolean> {
    const { catalog } = this.#cluster
    const record = await this.#cluster.record('storage/volumes', uuid)
    if (record === undefined) return false
    const volume = record.body
    try {
      await catalog.commit([
        { do: 'check-record', type: record.type, key: uuid, expect: record.revision },
        { do: 'put-record', type: FULLNESS, key: uuid, body: { level } },
        this.#cluster.event(EVENTS[level], {
          volume: volume['name'],
          percent: Math.floor((chargedTo(volume, held) / volume['size']) * 100),
        }),
      ])
      return true
    } catch (failure) {
      if (failure instanceof CommitRefused) return false
      throw failure
    }
  }
}

function levelOf(volume: Volume, held: Held, before: Fullness): Fullness {
  const percent = (chargedTo(volume, held) / volume['size']) * 100
  const full = volume['space.full_threshold_percent'] ?? FULL_PERCENT
  const nearly = volume['space.nearly_full_threshold_percent'] ?? NEARLY_FULL_PERCENT
  if (percent >= full - (before === 'full' ? BELOW_POINTS : 0)) return 'full'
  return percent >= nearly - (before === 'none' ? 0 : BELOW_POINTS) ? 'nearly-full' : 'none'
}
