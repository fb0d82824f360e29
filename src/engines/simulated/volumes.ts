import { crc32, zstdCompressSync } from 'node:zlib'
import { VolumesFailure } from '../../ports/volumes.ts'
import type {
  BlobReader,
  BlobWriter,
  DiskSpace,
  ExpectedBlob,
  Found,
  Manner,
  Sharing,
  Volumes,
  VolumesReason,
} from '../../ports/volumes.ts'
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

/** What is not worth to be stored in less. */
const SAVED_BYTES_MIN = 4096

/** It may have several names. */
interface StoredBlob {
  readonly chunks: Buffer[]
  names: number
  sizeBytes: number
  /** What it takes from the disk. */
  storedBytes: number
  /** Missing until the blob is committed. */
  label?: Buffer
}

/** Volumes in memory, with the faults of a disk. */
export class SimulatedVolumes implements Volumes {
  readonly #random: SimulatedRandom
  readonly #clock: Clock | undefined
  readonly #capacityBytes: number
  readonly #trees = new Map<string, Map<string, StoredBlob>>()
  readonly #aside: (Found & { readonly volume: string; readonly name: string; readonly blob: StoredBlob })[] = []
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
    if (this.#owner !== aggregate) return
    this.#owner = undefined
    this.#dropAside(() => true)
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

  async write(volume: string, name: string, how?: { readonly compress?: boolean }): Promise<BlobWriter> {
    await this.#delay()
    const tree = this.#tree(volume)
    if (tree.has(name)) throw new VolumesFailure('exists', `Blob ${name} is there already.`)
    this.#mayFail()
    const blob: StoredBlob = { chunks: [], names: 1, sizeBytes: 0, storedBytes: 0 }
    tree.set(name, blob)
    return this.#writer(tree, name, blob, how?.compress === true)
  }

  #writer(tree: Map<string, StoredBlob>, name: string, blob: StoredBlob, isCompressed: boolean): BlobWriter {
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
          this.#store(blob, blob.storedBytes + chunk.length)
        }),
      commit: async (label) => {
        await act(() => {
          blob.label = Buffer.from(label)
          if (isCompressed) this.#store(blob, packedBytes(blob))
          ended = true
        })
        return { storedBytes: blob.storedBytes, crc: crcOf(blob) }
      },
      abort: async () => {
        if (ended) return
        ended = true
        if (life === this.#lives) this.#drop(tree, name)
      },
    }
  }

  async open(volume: string, name: string, expected?: ExpectedBlob): Promise<BlobReader> {
    await this.#delay()
    const blob = this.#finished(volume, name)
    const { label } = blob
    const bytes = Buffer.concat(blob.chunks)
    const crc = crcOf(blob)
    if (expected !== undefined && (expected.sizeBytes !== bytes.length || (expected.crc ?? crc) !== crc)) {
      throw new VolumesFailure('damaged', `Blob ${name} has other bytes than expected.`, { damage: 'misplaced' })
    }
    return {
      sizeBytes: bytes.length,
      crc,
      storedBytes: blob.storedBytes,
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

  async compress(volume: string, name: string, { between, beforePlacing }: Manner = {}): Promise<number> {
    await this.#delay()
    const blob = this.#finished(volume, name)
    await between?.(blob.sizeBytes)
    this.#mayFail()
    await beforePlacing?.()
    const tree = this.#tree(volume)
    const packed = packedBytes(blob)
    if (packed >= blob.storedBytes || tree.get(name) !== blob) return blob.storedBytes
    // The other names keep what they have.
    const replacement = { ...blob, names: 1, storedBytes: packed }
    this.#drop(tree, name)
    tree.set(name, replacement)
    this.#usedBytes += packed
    return packed
  }

  async share(
    volume: string,
    name: string,
    twinName: string,
    { between, beforePlacing }: Manner = {},
  ): Promise<Sharing> {
    await this.#delay()
    const [blob, twin] = [this.#finished(volume, name), this.#finished(volume, twinName)]
    if (blob === twin) return 'shared'
    await between?.(blob.sizeBytes)
    this.#mayFail()
    if (!Buffer.concat(blob.chunks).equals(Buffer.concat(twin.chunks))) return 'different'
    await beforePlacing?.()
    const tree = this.#tree(volume)
    this.#drop(tree, name)
    tree.set(name, twin)
    twin.names++
    return 'shared'
  }

  async unlink(volume: string, name: string): Promise<void> {
    await this.#delay()
    const tree = this.#trees.get(volume)
    if (tree) this.#drop(tree, name)
  }

  async setAside(volume: string, name: string, found: Found): Promise<void> {
    await this.#delay()
    const tree = this.#tree(volume)
    const blob = tree.get(name)
    if (blob === undefined) return
    tree.delete(name)
    this.#aside.push({ ...found, volume, name, blob })
  }

  async removeSetAside(beforeMs: number): Promise<number> {
    await this.#delay()
    return this.#dropAside(({ nowMs }) => nowMs < beforeMs)
  }

  #dropAside(isOver: (found: Found) => boolean): number {
    const going = this.#aside.filter((one) => one.isUnacknowledged && isOver(one))
    for (const one of going) {
      this.#drop(new Map([[one.name, one.blob]]), one.name)
      this.#aside.splice(this.#aside.indexOf(one), 1)
    }
    return going.length
  }

  /** What is set aside, oldest first. */
  get aside(): readonly { readonly volume: string; readonly name: string }[] {
    return this.#aside
  }

  /** What nothing but that takes from the disk: a blob that has a name in a tree as well is counted there. */
  get asideBytes(): number {
    let bytes = 0
    for (const [blob, { length }] of Map.groupBy(this.#aside, (one) => one.blob)) {
      if (length === blob.names) bytes += blob.storedBytes
    }
    return bytes
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
      blockBytes: 4096,
      filesMax: 2 ** 20,
      filesUsed: [...this.#trees.values()].reduce((sum, tree) => sum + tree.size, this.#aside.length),
    }
  }

  #finished(volume: string, name: string): StoredBlob & { readonly label: Buffer } {
    const blob = this.#trees.get(volume)?.get(name)
    if (blob === undefined) throw new VolumesFailure('missing', `Blob ${name} is not there.`)
    if (!isFinished(blob)) throw new VolumesFailure('damaged', `Blob ${name} was never finished.`)
    return blob
  }

  #store(blob: StoredBlob, storedBytes: number): void {
    this.#usedBytes += storedBytes - blob.storedBytes
    blob.storedBytes = storedBytes
  }

  #tree(volume: string): Map<string, StoredBlob> {
    const tree = this.#trees.get(volume)
    if (tree === undefined) throw new VolumesFailure('missing', `Volume ${volume} is not there.`)
    return tree
  }

  #drop(tree: Map<string, StoredBlob>, name: string): void {
    const blob = tree.get(name)
    if (blob !== undefined && --blob.names === 0) this.#usedBytes -= blob.storedBytes
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

function isFinished(blob: StoredBlob): blob is StoredBlob & { readonly label: Buffer } {
  return blob.label !== undefined
}

function crcOf({ chunks }: StoredBlob): number {
  return chunks.reduce((crc, chunk) => crc32(chunk, crc), 0)
}

function packedBytes({ chunks, sizeBytes }: StoredBlob): number {
  const packed = zstdCompressSync(Buffer.concat(chunks)).length
  return sizeBytes - packed < Math.max(SAVED_BYTES_MIN, sizeBytes / 8) ? sizeBytes : packed
}

function isWithin(place: string, other: string): boolean {
  return place === other || place.startsWith(`${other}/`)
}

function noSpace(): VolumesFailure {
  return new VolumesFailure('no-space', 'No space is left (simulated).')
}
