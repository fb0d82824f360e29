import { createHash } from 'node:crypto'
import { crc32, zstdCompressSync } from 'node:zlib'
import { VolumesFailure } from '../../ports/volumes.ts'
import type {
  BlobReader,
  BlobWriter,
  Committed,
  Compacted,
  PackSums,
  CompactManner,
  DiskSpace,
  ExpectedBlob,
  Found,
  Manner,
  Rewriting,
  Sharing,
  Volumes,
  VolumesReason,
  WriteHow,
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

/** Small blobs get another name when they are committed, where the caller allows it, as those of a real engine do. */
const PACKED_BODY_BYTES_MAX = 64 * 1024
const PACKED = /^[0-9a-f]{24}-[0-9a-f]{8}-[0-9a-f]{5}$/

/** It may have several names. */
interface StoredBlob {
  readonly chunks: Buffer[]
  names: number
  sizeBytes: number
  /** What it takes from the disk. */
  storedBytes: number
  /** Missing until the blob is committed. */
  label?: Buffer
  /** Its bytes do not fit their checksums. */
  isDamaged?: boolean
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
  /** Blobs for packs that are not committed. What comes with power on: those whose commit had begun may be whole. */
  readonly #drafts = new Map<StoredBlob, { readonly land: (() => void) | undefined }>()
  readonly #packer: string
  #packed = 0

  constructor({ random, clock, faults = {}, capacityBytes = 2 ** 40, ...rest }: SimulatedVolumesOptions) {
    this.#random = random
    this.#clock = clock
    this.#faults = faults
    this.#capacityBytes = capacityBytes
    this.place = rest.place ?? '/simulated'
    this.#disk = rest.disk ?? 'simulated'
    this.#packer = ((crc32(this.place) ^ random.bytes(4).readUInt32BE()) >>> 0).toString(16).padStart(8, '0')
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
    for (const [draft, { land }] of this.#drafts) {
      if (land !== undefined && this.#random.chance(0.5)) land()
      else this.#usedBytes -= draft.storedBytes
    }
    this.#drafts.clear()
  }

  fileOf(volume: string, name: string): string {
    return `${this.place}/${volume}/${name}`
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

  async write(volume: string, name: string, how?: WriteHow): Promise<BlobWriter> {
    await this.#delay()
    const tree = this.#tree(volume)
    if (tree.has(name)) throw new VolumesFailure('exists', `Blob ${name} is there already.`)
    this.#mayFail()
    const blob: StoredBlob = { chunks: [], names: 1, sizeBytes: 0, storedBytes: 0 }
    const isCopy = PACKED.test(name)
    if (isCopy || (how?.packs === true && (how.sizeBytes ?? Infinity) <= PACKED_BODY_BYTES_MAX)) {
      this.#drafts.set(blob, { land: undefined })
      return this.#packWriter(tree, blob, how?.compress === true, () => (isCopy ? name : this.#packedName()))
    }
    tree.set(name, blob)
    const drop = () => this.#drop(tree, name)
    return this.#writer(blob, drop, async (label, act) => {
      await act(() => this.#finish(blob, label, how?.compress === true ? packedBytes(blob) : undefined))
      return name
    })
  }

  /** It is not in the tree before it is whole. */
  #packWriter(
    tree: Map<string, StoredBlob>,
    blob: StoredBlob,
    isCompressed: boolean,
    newName: () => string,
  ): BlobWriter {
    const drop = () => {
      this.#drafts.delete(blob)
      this.#usedBytes -= blob.storedBytes
    }
    return this.#writer(blob, drop, async (label, act) => {
      const name = newName()
      const land = () => {
        this.#drafts.delete(blob)
        this.#finish(blob, label, isCompressed ? frameBytes(blob) : undefined)
        tree.set(name, blob)
      }
      this.#drafts.set(blob, { land })
      await act(land)
      return name
    })
  }

  #packedName(): string {
    const nowMs = this.#clock?.now() ?? 0
    const offset = (++this.#packed).toString(16).padStart(8, '0')
    return `${nowMs.toString(16).padStart(12, '0')}${this.#packer}0000-${offset}-00000`
  }

  #finish(blob: StoredBlob, label: Uint8Array, storedBytes = blob.storedBytes): void {
    blob.label = Buffer.from(label)
    this.#store(blob, storedBytes)
  }

  #writer(
    blob: StoredBlob,
    drop: () => void,
    commit: (label: Uint8Array, act: (change: () => void) => Promise<void>) => Promise<string>,
  ): BlobWriter {
    const life = this.#lives
    let ended = false
    const act = async (change: () => void) => {
      if (ended) throw new VolumesFailure('io', 'The blob was ended before.')
      await this.#delay()
      try {
        if (life !== this.#lives) throw new VolumesFailure('io', 'The machine was restarted.')
        this.#mayFail()
        change()
      } catch (failure) {
        ended = true
        if (life === this.#lives) drop()
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
        const name = await commit(label, act)
        ended = true
        return { blob: name, storedBytes: blob.storedBytes, crc: crcOf(blob) }
      },
      abort: async () => {
        if (ended) return
        ended = true
        if (life === this.#lives) drop()
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
        if (blob.isDamaged === true) {
          throw new VolumesFailure('damaged', `Blob ${name} is damaged (simulated).`, { damage: 'flipped' })
        }
        return Buffer.from(bytes.subarray(start, start + length))
      },
      close: async () => {},
    }
  }

  /** Flips a bit of a committed blob, for all its names. */
  damage(volume: string, name: string): void {
    this.#finished(volume, name).isDamaged = true
  }

  async rewrite(
    volume: string,
    name: string,
    from: BlobReader,
    { label, crc, md5 }: Rewriting,
    { between, beforePlacing }: Manner = {},
  ): Promise<Committed> {
    await this.#delay()
    this.#mayFail()
    const bytes = await from.read(0, from.sizeBytes)
    await between?.(bytes.length)
    const [isCrc, isMd5] = [(crc ?? crc32(bytes)) === crc32(bytes), md5 === undefined || md5 === md5Of(bytes)]
    if (!isCrc || !isMd5) throw new VolumesFailure('damaged', `Blob ${name} has other bytes.`, { damage: 'flipped' })
    await beforePlacing?.()
    const tree = this.#tree(volume)
    this.#drop(tree, name)
    const blob: StoredBlob = {
      chunks: [bytes],
      names: 1,
      sizeBytes: bytes.length,
      storedBytes: 0,
      label: Buffer.from(label),
    }
    this.#store(blob, from.storedBytes < bytes.length ? packedBytes(blob) : bytes.length)
    tree.set(name, blob)
    return { blob: name, storedBytes: blob.storedBytes, crc: crc32(bytes) }
  }

  async compress(volume: string, name: string, { between, beforePlacing }: Manner = {}): Promise<number> {
    await this.#delay()
    const blob = this.#finished(volume, name)
    if (PACKED.test(name)) return blob.storedBytes
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
    if (PACKED.test(name) || PACKED.test(twinName)) return 'unable'
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

  async setAside(volume: string, name: string, found: Found): Promise<boolean> {
    await this.#delay()
    const tree = this.#tree(volume)
    const blob = tree.get(name)
    if (blob === undefined) return false
    tree.delete(name)
    this.#aside.push({ ...found, volume, name, blob })
    return true
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

  noteUnlinked(): void {}

  /** What is unlinked goes at once here. */
  async compact(_volume: string, _manner: CompactManner): Promise<Compacted> {
    return { freedBytes: 0, damaged: [], misread: 0, setAside: 0, waiting: 0 }
  }

  async packs(): Promise<PackSums> {
    return { files: 0, bytes: 0, deadBytes: 0 }
  }

  async close(): Promise<void> {}

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

function md5Of(bytes: Buffer): string {
  return createHash('md5').update(bytes).digest('hex')
}

function crcOf({ chunks }: StoredBlob): number {
  return chunks.reduce((crc, chunk) => crc32(chunk, crc), 0)
}

function packedBytes({ chunks, sizeBytes }: StoredBlob): number {
  const packed = zstdCompressSync(Buffer.concat(chunks)).length
  return sizeBytes - packed < Math.max(SAVED_BYTES_MIN, sizeBytes / 8) ? sizeBytes : packed
}

/** In packs, bytes count one by one. */
function frameBytes({ chunks, sizeBytes }: StoredBlob): number {
  const frame = zstdCompressSync(Buffer.concat(chunks)).length
  return frame <= sizeBytes - sizeBytes / 8 ? frame : sizeBytes
}

function isWithin(place: string, other: string): boolean {
  return place === other || place.startsWith(`${other}/`)
}

function noSpace(): VolumesFailure {
  return new VolumesFailure('no-space', 'No space is left (simulated).')
}
