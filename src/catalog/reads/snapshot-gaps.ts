/**
 * Long stretches of keys in which a snapshot shows no object: only delete markers, or rows from before and after it. A
 * listing that walked over one notes it, and the next one jumps. What a snapshot shows never changes, so a gap is true for
 * as long as the snapshot is there, whatever is written; epochs are not used again. A process that does not know a gap
 * walks, and finds the same.
 *
 *     shown at epoch 7:   a  b ················· m  n ······· (end)        gaps: [b\0, m)  [n\0, end)
 *
 * Walks over neighbouring stretches make one gap of theirs, so the pages that crossed ten million markers once leave one.
 */

import { keyAfter } from './walk.ts'

export interface GapBounds {
  /** How many are kept of a bucket at a snapshot, and how many of all others together. */
  readonly gapsMax: number
  readonly rowsMin: number
}

/** With the longest keys so many gaps take 16 MiB of a process. */
const BOUNDS: GapBounds = { gapsMax: 4096, rowsMin: 200 }

/** From the first key on, up to another that is not in it. */
export interface Gap {
  readonly start: Uint8Array
  readonly end: Uint8Array
}

/** The gaps of a bucket at a snapshot, in the order of keys. They neither touch nor overlap. */
export class GapsOfBucket {
  /** A stretch is noted when to walk over it took the work of so many rows. */
  readonly rowsMin: number
  readonly #gaps: Gap[] = []
  readonly #gapsMax: number

  constructor({ gapsMax, rowsMin }: GapBounds = BOUNDS) {
    this.#gapsMax = gapsMax
    this.rowsMin = rowsMin
  }

  get size(): number {
    return this.#gaps.length
  }

  /** The first gap that ends behind a key: the one that holds it, or the next. */
  next(key: Uint8Array): Gap | undefined {
    return this.#gaps[this.#indexBehind(key)]
  }

  note(start: Uint8Array, end: Uint8Array): void {
    if (Buffer.compare(start, end) >= 0) return
    const first = this.#indexTouching(start)
    let behind = first
    let [from, to] = [start, end]
    for (let gap = this.#gaps[behind]; gap !== undefined && Buffer.compare(gap.start, to) <= 0;) {
      if (Buffer.compare(gap.start, from) < 0) from = gap.start
      if (Buffer.compare(gap.end, to) > 0) to = gap.end
      gap = this.#gaps[++behind]
    }
    if (behind === first && this.#gaps.length >= this.#gapsMax) return
    // Keys are parts of the batches that they were read in, which go with them.
    this.#gaps.splice(first, behind - first, { start: Uint8Array.from(from), end: Uint8Array.from(to) })
  }

  #indexBehind(key: Uint8Array): number {
    return this.#first((gap) => Buffer.compare(gap.end, key) > 0)
  }

  #indexTouching(key: Uint8Array): number {
    return this.#first((gap) => Buffer.compare(gap.end, key) >= 0)
  }

  /** Where the gaps begin for which something holds that holds for all behind them. */
  #first(holds: (gap: Gap) => boolean): number {
    let [low, high] = [0, this.#gaps.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const gap = this.#gaps[middle]
      if (gap !== undefined && holds(gap)) high = middle
      else low = middle + 1
    }
    return low
  }
}

/** A walk that looks for gaps to jump over, and notes those that it walked over. */
export class GapWalk {
  readonly #gaps: GapsOfBucket
  readonly #work: () => number
  /** Nothing is shown from here to where the walk is. */
  #from: Uint8Array | undefined
  #workBefore = 0
  #next: Gap | undefined

  /** `work` tells how many rows the walk has looked at. */
  constructor(gaps: GapsOfBucket, work: () => number) {
    this.#gaps = gaps
    this.#work = work
  }

  /** The walk goes on behind what is shown. */
  begin(from: Uint8Array | undefined): void {
    this.#from = from
    this.#workBefore = this.#work()
  }

  /** The walk came to a key, and nothing was shown on the way. */
  reach(key: Uint8Array): void {
    if (this.#from !== undefined && this.#work() - this.#workBefore >= this.#gaps.rowsMin)
      this.#gaps.note(this.#from, key)
  }

  /** Where the gap ends that holds a key, or that holds what comes behind it; nothing when there is none. */
  endAround(key: Uint8Array, isBehind = false): Uint8Array | undefined {
    if (this.#gaps.size === 0) return undefined
    if (this.#next === undefined || Buffer.compare(this.#next.end, key) <= 0) this.#next = this.#gaps.next(key)
    if (this.#next === undefined) return undefined
    const { start, end } = this.#next
    const order = Buffer.compare(start, key)
    if (order > 0 && !(isBehind && Buffer.compare(start, keyAfter(key)) === 0)) return undefined
    return end
  }
}

/** The gaps that a process knows. Those of the bucket and snapshot that were not listed for longest are forgotten first. */
export class SnapshotGaps {
  readonly #bounds: GapBounds
  readonly #ofBuckets = new Map<string, GapsOfBucket>()

  constructor(bounds = BOUNDS) {
    this.#bounds = bounds
  }

  of(bucket: string, epoch: number): GapsOfBucket {
    const name = `${epoch} ${bucket}`
    const found = this.#ofBuckets.get(name) ?? new GapsOfBucket(this.#bounds)
    this.#ofBuckets.delete(name)
    this.#forget()
    this.#ofBuckets.set(name, found)
    return found
  }

  /** One that has none counts as one. */
  #forget(): void {
    let gaps = 1
    for (const { size } of this.#ofBuckets.values()) gaps += size + 1
    for (const [name, { size }] of this.#ofBuckets) {
      if (gaps <= this.#bounds.gapsMax) return
      this.#ofBuckets.delete(name)
      gaps -= size + 1
    }
  }
}
