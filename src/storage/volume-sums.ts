/**
 * The counters of all volumes, kept in memory and brought up to date at each use by those that changed since: to read ten
 * thousand of them takes as long as all else that a request does with them. What it gives is what the catalog holds.
 */
import type { ChangedVolume, Records, VolumeCounters, VolumeIndex } from '../ports/catalog.ts'
import type { System } from '../ports/system.ts'

/** Counters read in one turn of the event loop. */
const VOLUMES_A_TURN = 200
/** Deleted volumes that are kept beside as many as there are others. */
const DELETED_KEPT = 10_000

export class VolumeSums {
  readonly #catalog: Pick<Records, 'changesMade'> & VolumeIndex
  readonly #system: System
  #byVolume = new Map<string, ChangedVolume>()
  #change = 0
  /** What the catalog had seen when all that had changed was read. */
  #changesMade: number | undefined
  /** How many there were when all were read. */
  #readWhole = 0

  constructor(catalog: Pick<Records, 'changesMade'> & VolumeIndex, system: System) {
    this.#catalog = catalog
    this.#system = system
  }

  /** Those of deleted volumes may be among them. */
  all(): Promise<ReadonlyMap<string, VolumeCounters>> {
    return this.#catalog.changesMade() === this.#changesMade ? Promise.resolve(this.#byVolume) : this.#readChanged()
  }

  async #readChanged(): Promise<ReadonlyMap<string, VolumeCounters>> {
    const changesMade = await this.#catalog.changesMade()
    const isFirst = this.#change === 0
    const found = this.#byVolume
    for (let page = VOLUMES_A_TURN; page === VOLUMES_A_TURN;) {
      const changed = await this.#catalog.changedVolumes(this.#change, VOLUMES_A_TURN)
      for (const one of changed) this.#take(one)
      page = changed.length
      if (page === VOLUMES_A_TURN) await this.#system.turn()
    }
    // Another use has forgotten them meanwhile.
    if (found !== this.#byVolume) return this.#readChanged()
    this.#changesMade = changesMade
    if (isFirst) this.#readWhole = found.size
    if (found.size > 2 * this.#readWhole + DELETED_KEPT) {
      this.#byVolume = new Map()
      this.#change = 0
      this.#changesMade = undefined
    }
    return found
  }

  /** Uses may overlap: what was read later is not replaced by what was read before. */
  #take(one: ChangedVolume): void {
    if ((this.#byVolume.get(one.volume)?.change ?? 0) < one.change) this.#byVolume.set(one.volume, one)
    this.#change = Math.max(this.#change, one.change)
  }
}
