import { VolumesFailure } from '../../ports/volumes.ts'
import type { BlobReader, BlobWriter, DiskSpace, Volumes, VolumesReason } from '../../ports/volumes.ts'
import type { Clock } from '../../ports/system.ts'
import type { SimulatedRandom } from './random.ts'

export interface VolumesFaults {
  /** Probability that a call which writes fails. */
  readonly noSpace?: number
  readonly io?: number
  readonly readOnly?: number
  /** The longest that a call takes. */
  readonly delayMs?: number
}

export interface SimulatedVolumesOptions {
  readonly random: SimulatedRandom
  readonly clock?: Clock
  readonly faults?: VolumesFaults
  readonly capacityBytes?: number
  readonly place?: string
  /** Those of one disk have the same bytes to promise. */
  readonly disk?: string
}

interface StoredBlob {
  readonly chunks: Buffer[]
  sizeBytes: number
  /** Missing until the blob is committed. */
  label?: Buffer
}

/** Volumes in memory, with the faults of a disk. */
export class SimulatedVolumes implements Volumes {
  readonly #random: SimulatedRandom
  readonly #clock: Clock | undefined
  readonly #capacityBytes: number
  readonly #trees = new Map<string, Map<string, StoredBlob>>()
  readonly #planned = new Map<number, VolumesReason>()
  #faults: VolumesFaults
  #calls = 0
  #lives = 0
  #usedBytes = 0
  #owner: string | undefined
  readonly place: string
  readonly #disk: string

  constructor({ random, clock, faults = {}, capacityBytes = 2 ** 40, ...rest }: SimulatedVolumesOptions) {
    this.#random = random
    this.#clock = clock
    this.#faults = faults
    this.#capacityBytes = capacityBytes
    this.place = rest.place ?? '/simulated'
    this.#disk = rest.disk ?? 'simulated'
  }

  /** Faults from now on. */
  set faults(faults: VolumesFaults) {
    this.#faults = faults
  }

  /** Lets the n-th writing call from now fail (1 is the next): `write` of the engine, `write` and `commit` of a blob. */
  failCall(n: number, reason: 'no-space' | 'io'): void {
    this.#planned.set(this.#calls + n, reason)
  }

  /** Power is lost: committed blobs stay; of the others some are gone, and some are left unfinished. */
  crash(): void {
    this.#lives++
    for (const tree of this.#trees.values()) {
      for (const [name, blob] of tree) {
        if (blob.label === undefined && this.#random.chance(0.5)) this.#drop(tree, name)
      }
    }
  }

  async claim(aggregate: string, apartFrom: readonly string[]): Promise<void> {
    await this.#delay()
    const isNear = apartFrom.some((other) => isWithin(this.place, other) || isWithin(other, this.place))
    if (isNear || (this.#owner !== undefined && this.#owner !== aggregate)) {
      throw new VolumesFailure('exists', `${this.place} is another aggregate's.`)
    }
    this.#owner = aggregate
  }

  async release(aggregate: string): Promise<void> {
    await this.#delay()
    if (this.#owner === aggregate) this.#owner = undefined
  }

  async create(volume: string): Promise<void> {
    await this.#delay()
    if (!this.#trees.has(volume)) this.#trees.set(volume, new Map())
  }

  async remove(volume: string): Promise<void> {
    await this.#delay()
    const tree = this.#trees.get(volume)
    for (const name of tree?.keys() ?? []) if (tree) this.#drop(tree, name)
    this.#trees.delete(volume)
  }

  async list(): Promise<string[]> {
    return [...this.#trees.keys()]
  }

  async write(volume: string, name: string): Promise<BlobWriter> {
    await this.#delay()
    const tree = this.#tree(volume)
    if (tree.has(name)) throw new VolumesFailure('exists', `Blob ${name} is there already.`)
    this.#mayFail()
    const blob: StoredBlob = { chunks: [], sizeBytes: 0 }
    tree.set(name, blob)
    return this.#writer(tree, name, blob)
  }

  #writer(tree: Map<string, StoredBlob>, name: string, blob: StoredBlob): BlobWriter {
    const life = this.#lives
    let ended = false
    const act = async (change: () => void) => {
      if (ended) throw new VolumesFailure('io', `Blob ${name} was ended before.`)
      await this.#delay()
      try {
        if (life !== this.#lives) throw new VolumesFailure('io', 'The machine was restarted.')
        this.#mayFail()
        change()
      } catch (failure) {
        ended = true
        if (life === this.#lives) this.#drop(tree, name)
        throw failure
      }
    }
    return {
      write: (chunk) =>
        act(() => {
          if (this.#usedBytes + chunk.length > this.#capacityBytes) throw noSpace()
          blob.chunks.push(Buffer.from(chunk))
          blob.sizeBytes += chunk.length
          this.#usedBytes += chunk.length
        }),
      commit: (label) =>
        act(() => {
          blob.label = Buffer.from(label)
          ended = true
        }),
      abort: async () => {
        if (ended) return
        ended = true
        if (life === this.#lives) this.#drop(tree, name)
      },
    }
  }

  async open(volume: string, name: string): Promise<BlobReader> {
    await this.#delay()
    const blob = this.#trees.get(volume)?.get(name)
    if (blob === undefined) throw new VolumesFailure('missing', `Blob ${name} is not there.`)
    const { label } = blob
    if (label === undefined) throw new VolumesFailure('damaged', `Blob ${name} was never finished.`)
    const bytes = Buffer.concat(blob.chunks)
    return {
      sizeBytes: bytes.length,
      label: async () => label,
      read: async (start, length) => {
        await this.#delay()
        if (start < 0 || length < 0 || start + length > bytes.length) {
          throw new RangeError(`Bytes ${start} to ${start + length} are not within a blob of ${bytes.length} bytes.`)
        }
        return Buffer.from(bytes.subarray(start, start + length))
      },
      close: async () => {},
    }
  }

  async unlink(volume: string, name: string): Promise<void> {
    await this.#delay()
    const tree = this.#trees.get(volume)
    if (tree) this.#drop(tree, name)
  }

  async *blobs(volume: string): AsyncGenerator<string> {
    yield* this.#tree(volume).keys()
  }

  async space(): Promise<DiskSpace> {
    const usedBytes = this.#usedBytes
    return {
      disk: this.#disk,
      sizeBytes: this.#capacityBytes,
      usedBytes,
      availableBytes: this.#capacityBytes - usedBytes,
    }
  }

  #tree(volume: string): Map<string, StoredBlob> {
    const tree = this.#trees.get(volume)
    if (tree === undefined) throw new VolumesFailure('missing', `Volume ${volume} is not there.`)
    return tree
  }

  #drop(tree: Map<string, StoredBlob>, name: string): void {
    this.#usedBytes -= tree.get(name)?.sizeBytes ?? 0
    tree.delete(name)
  }

  #mayFail(): void {
    this.#calls++
    const planned = this.#planned.get(this.#calls)
    this.#planned.delete(this.#calls)
    const { noSpace: noSpaceChance = 0, io = 0, readOnly = 0 } = this.#faults
    if (planned === 'no-space' || this.#random.chance(noSpaceChance)) throw noSpace()
    if (this.#random.chance(readOnly)) throw new VolumesFailure('read-only', 'The disk is read-only (simulated).')
    if (planned !== undefined || this.#random.chance(io)) throw new VolumesFailure('io', 'The disk failed (simulated).')
  }

  async #delay(): Promise<void> {
    const { delayMs = 0 } = this.#faults
    if (delayMs > 0) await this.#clock?.sleep(this.#random.below(delayMs + 1))
  }
}

function isWithin(place: string, other: string): boolean {
  return place === other || place.startsWith(`${other}/`)
}

function noSpace(): VolumesFailure {
  return new VolumesFailure('no-space', 'No space is left (simulated).')
}
