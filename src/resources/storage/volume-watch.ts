/**
 * Looks at what volumes hold: lets those grow and shrink that choose their size themselves, and tells when one is nearly
 * full or full.
 *
 * How full a volume was when it was last told of is noted in a record, in the commit of the event. So each crossing is
 * told once, also over restarts; and a volume has to be some way below a threshold before it can cross it again.
 */
import type { Cluster } from '../../core/cluster.ts'
import type { EventName } from '../../core/events.ts'
import { describe } from '../../core/jobs.ts'
import { type Row, textAt } from '../../model/value.ts'
import { CommitRefused } from '../../ports/catalog.ts'
import type { Held } from '../../ports/charged.ts'
import { FULL_PERCENT, isAutosizing, NEARLY_FULL_PERCENT, wantedSize } from './volumes/autosize.ts'
import { chargedTo } from './volumes/reserve.ts'
import { setSize } from './volumes/set-size.ts'

const LOOK_EVERY_MS = 1000
/** Of ten thousand volumes a look takes some 50 ms: the pause is so many times longer, or a second. */
const PAUSE_TIMES = 20
/** Volumes looked at in one turn of the event loop. */
const SLICE = 500
/** So many points below a threshold, a volume is below it again. */
const BELOW_POINTS = 2

/** How full the volume was when it was last told of; its key is that of the volume. */
export const FULLNESS = 'internal/volume-fullness'

type Level = 'none' | 'nearly-full' | 'full'
const EVENTS: Readonly<Record<Level, EventName>> = {
  none: 'volume.space.back',
  'nearly-full': 'volume.space.nearly_full',
  full: 'volume.space.full',
}

export class VolumeWatch {
  readonly #cluster: Cluster
  readonly #stop = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #levels: Map<string, Level> | undefined

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  start(): void {
    this.#running = this.#loop()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #loop(): Promise<void> {
    const { clock } = this.#cluster.system
    while (!this.#stop.signal.aborted) {
      const beganMs = clock.elapsed()
      try {
        await this.look()
      } catch (failure) {
        this.#cluster.log.warn('Sizes of volumes were not looked at. It is tried again.', { cause: describe(failure) })
      }
      const pauseMs = Math.max(LOOK_EVERY_MS, (clock.elapsed() - beganMs) * PAUSE_TIMES)
      await clock.sleep(pauseMs, this.#stop.signal)
    }
  }

  /** One look at all volumes. */
  async look(): Promise<void> {
    const { catalog, system } = this.#cluster
    this.#levels ??= new Map(
      (await catalog.records(FULLNESS)).map(({ key, body }) => [key, (body['level'] ?? 'none') as Level]),
    )
    const counters = await catalog.volumes()
    const volumes = await this.#cluster.rows('storage/volumes')
    for (const [at, volume] of volumes.entries()) {
      if (this.#stop.signal.aborted) return
      if (at % SLICE === SLICE - 1) await system.clock.sleep(0)
      const held = counters.get(textAt(volume, 'uuid'))
      if (held !== undefined) await this.#lookAt(volume, held, this.#levels)
    }
    if (this.#levels.size > volumes.length) {
      const there = new Set(volumes.map((volume) => textAt(volume, 'uuid')))
      for (const uuid of this.#levels.keys()) if (!there.has(uuid)) this.#levels.delete(uuid)
    }
  }

  async #lookAt(row: Row, held: Held, levels: Map<string, Level>): Promise<void> {
    const uuid = textAt(row, 'uuid')
    let volume = row
    if (isAutosizing(row) && wantedSize(row, held) !== Number(row['size'])) {
      await setSize(this.#cluster, uuid)
      volume = (await this.#cluster.find('storage/volumes', uuid)) ?? row
    }
    const before = levels.get(uuid) ?? 'none'
    const level = levelOf(volume, held, before)
    if (level !== before && (await this.#tell(uuid, level, held))) levels.set(uuid, level)
  }

  /** False when the volume was changed or deleted meanwhile. */
  async #tell(uuid: string, level: Level, held: Held): Promise<boolean> {
    const { catalog } = this.#cluster
    const record = await catalog.record('storage/volumes', uuid)
    if (record === undefined) return false
    const volume = record.body as Row
    try {
      await catalog.commit([
        { do: 'check-record', type: record.type, key: uuid, expect: record.revision },
        { do: 'put-record', type: FULLNESS, key: uuid, body: { level } },
        this.#cluster.event(EVENTS[level], {
          volume: textAt(volume, 'name'),
          percent: Math.floor((chargedTo(volume, held) / Number(volume['size'])) * 100),
        }),
      ])
      return true
    } catch (failure) {
      if (failure instanceof CommitRefused) return false
      throw failure
    }
  }
}

function levelOf(volume: Row, held: Held, before: Level): Level {
  const percent = (chargedTo(volume, held) / Number(volume['size'])) * 100
  const full = Number(volume['space.full_threshold_percent'] ?? FULL_PERCENT)
  const nearly = Number(volume['space.nearly_full_threshold_percent'] ?? NEARLY_FULL_PERCENT)
  if (percent >= full - (before === 'full' ? BELOW_POINTS : 0)) return 'full'
  return percent >= nearly - (before === 'none' ? 0 : BELOW_POINTS) ? 'nearly-full' : 'none'
}
