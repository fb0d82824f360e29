/**
 * Small blobs, many of them in one file. Whoever writes appends to files of its own, so no two processes write to one file;
 * what is not needed any more is marked so in place, and its space is had back by copying the rest
 * ([compaction.ts](compaction.ts)). The name of a blob says where it is ([names.ts](names.ts)), also after that.
 */
import { join } from 'node:path'
import { VolumesFailure } from '../../../ports/volumes.ts'
import type {
  BlobReader,
  BlobWriter,
  Compacted,
  CompactManner,
  ExpectedBlob,
  Manner,
  PackSums,
} from '../../../ports/volumes.ts'
import { Appender } from './appender.ts'
import { compactTree } from './compaction.ts'
import type { Tallies } from './compaction.ts'
import { blobNameOf, FileNames } from './names.ts'
import type { Address } from './names.ts'
import { OpenPacks } from './open-packs.ts'
import type { OpenPack } from './open-packs.ts'
import { markRecords } from './marking.ts'
import { PackBlobWriter, readRecord } from './pack-blob.ts'
import type { Append } from './pack-blob.ts'
import type { PackFile } from './pack-file.ts'
import { PACK_FORMAT, readRecordHeader, RECORD_HEADER_BYTES, seedOf } from './record.ts'
import type { RecordHeader } from './record.ts'
import { datasyncRaw, readRaw } from './raw.ts'
import type { Spare } from './spare.ts'
import { listBlobs } from './listing.ts'
import { CountedPacks } from './sums.ts'
import { WaitingBytes } from './waiting-bytes.ts'

/** Larger bodies have a file of their own. */
export const PACKED_BODY_BYTES_MAX = 64 * 1024
/** Files that are appended to at the same time; those used longest ago are let go of. */
const APPENDERS_MAX = 64
/** Whether there are too many is looked at for each so many that come. */
const LOOK_AT_EVERY = 16
const IDLE_MS = 60_000
/** Idle ones to which more can be appended later; what others have is sealed. */
const REMEMBERED_MAX = 4096
/** Bytes of all trees that wait to be written: with more, writers wait. */
const WAITING_BYTES_MAX = 64 * 2 ** 20
const FOLDER = 'packs'
/** A record is found at the second look, unless its pack is compacted again and again meanwhile. */
const LOOKS_MAX = 4

export interface PacksParts {
  readonly spare: Spare
  /** Who writes: 8 hex digits that nobody else has. */
  readonly writer: string
  /** Whether somebody may still append to files of this writer. Without it, nobody but this one. */
  readonly isWriting?: (writer: string) => boolean
  readonly bodyBytesMax?: number
  /** The folder with lost-and-found. */
  readonly aggregate: string
  readonly treeFolder: (tree: string) => string
  readonly trees: () => Promise<readonly string[]>
  /** Makes a folder of a tree, for good. Fails with ENOENT without the tree. */
  readonly ensureFolder: (treeFolder: string, folder: string, anew: boolean) => Promise<void>
  readonly syncFolder: (folder: string) => Promise<void>
  /** Told of blobs that were marked here. */
  readonly onUnlinked?: (tree: string, blobs: readonly string[]) => void
  /** That of the system, but for tests. */
  readonly datasync?: (fd: number) => Promise<void>
}

interface Copy {
  readonly file: PackFile
  readonly at: number
  readonly header: RecordHeader
}

export class Packs {
  readonly bodyBytesMax: number
  readonly #parts: PacksParts
  readonly #names: FileNames
  readonly #open: OpenPacks
  readonly #appenders = new Map<string, Appender>()
  readonly #counted: CountedPacks
  readonly #waiting = new WaitingBytes(WAITING_BYTES_MAX)
  /** By tree. */
  readonly #tallies = new Map<string, Tallies>()
  #idle: NodeJS.Timeout | undefined
  /** Records that are about to be marked, by pack. */
  readonly #gathering = new Map<string, { readonly addresses: Address[]; readonly done: Promise<void> }>()
  #unlinks = 0
  #noUnlinks: (() => void) | undefined
  #alone: Promise<void> | undefined

  constructor(parts: PacksParts) {
    this.#parts = parts
    this.#names = new FileNames(parts.writer)
    this.bodyBytesMax = parts.bodyBytesMax ?? PACKED_BODY_BYTES_MAX
    this.#open = new OpenPacks((tree) => this.#folder(tree))
    this.#counted = new CountedPacks(parts.trees, (tree) => this.#folder(tree))
  }

  /** A new blob, which gets its name when it is committed. */
  async write(tree: string, sizeBytes: number, how: { readonly isCompressed: boolean }): Promise<BlobWriter> {
    const appender = this.#appender(tree)
    await appender.ready()
    return this.#writer(sizeBytes, how, (head, stored) => this.#appender(tree).append(head, stored))
  }

  /** A copy of a blob under the name it has. Refused `exists` when a whole one is there. */
  async writeCopy(
    tree: string,
    address: Address,
    sizeBytes: number,
    how: { readonly isCompressed: boolean },
  ): Promise<BlobWriter> {
    const appender = this.#appender(tree, address.pack)
    await appender.ready()
    await this.#refuseExisting(tree, address)
    const { pack, offset, length } = address
    const append: Append = (head, stored) => this.#appender(tree, pack).append(head, stored, { offset, length })
    return this.#writer(sizeBytes, how, append)
  }

  async #writer(sizeBytes: number, how: { readonly isCompressed: boolean }, append: Append): Promise<BlobWriter> {
    await this.#waiting.room()
    return new PackBlobWriter(sizeBytes, append, how)
  }

  /** Reads all of it, at once, and verifies it. */
  async read(tree: string, address: Address, expected?: ExpectedBlob): Promise<BlobReader> {
    let worst: VolumesFailure | undefined
    for (let looks = 0; looks < LOOKS_MAX; looks++) {
      const pack = await this.#open.get(tree, address.pack, looks > 0)
      if (pack === undefined) break
      try {
        const found = await this.#readFrom(pack, address)
        if (!(found instanceof VolumesFailure)) return asExpected(found, address, expected)
        if (found.reason === 'missing' && looks > 0) throw found
        worst = found
        // What was cut off where it was is somewhere else, and so is what was repaired meanwhile.
        if (looks > 0 && !(await pack.isStale())) break
      } finally {
        pack.release()
      }
    }
    throw worst ?? missing(tree, address)
  }

  async #readFrom(pack: OpenPack, address: Address): Promise<BlobReader | VolumesFailure> {
    const seed = seedOf(address.pack)
    let failure: VolumesFailure | undefined
    for (const file of pack.files) {
      for (const at of await file.find(address.offset)) {
        const bytes = await readAt(file, at, address.length, seed)
        const header = readRecordHeader(bytes, 0, seed)
        if (header?.offset !== address.offset) {
          failure ??= await damaged(file, at, bytes.length < address.length)
          continue
        }
        if (header.state === 'void') continue
        if (header.state === 'dead') return missing(file.path, address)
        const reader = readRecord(bytes, header)
        if (reader !== undefined) return reader
        failure ??= await damaged(file, at, bytes.length < header.bytes)
      }
    }
    return failure ?? missing(pack.files[0]?.path ?? '', address)
  }

  /** Where it was appended first. */
  fileOf(tree: string, { pack }: Address): string {
    return join(this.#folder(tree), pack)
  }

  /** Marks it as not needed. Refused `missing` when there is no such pack. */
  unlink(tree: string, address: Address): Promise<void> {
    const key = `${tree}/${address.pack}`
    const gathering = this.#gathering.get(key)
    if (gathering !== undefined) {
      gathering.addresses.push(address)
      return gathering.done
    }
    const addresses = [address]
    // Those that come in the same turn are marked together.
    const done = Promise.resolve().then(() => {
      this.#gathering.delete(key)
      return this.#unlinkAll(tree, address.pack, addresses)
    })
    this.#gathering.set(key, { addresses, done })
    return done
  }

  async #unlinkAll(tree: string, pack: string, addresses: readonly Address[]): Promise<void> {
    while (this.#alone !== undefined) await this.#alone
    this.#unlinks++
    try {
      await this.#mark(tree, pack, addresses)
    } finally {
      this.#unlinks--
      if (this.#unlinks === 0) this.#noUnlinks?.()
    }
  }

  /** Waits for unlinks under way, and lets none begin. */
  async #withoutUnlinks(act: () => Promise<void>): Promise<void> {
    while (this.#alone !== undefined) await this.#alone
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#alone = promise
    try {
      if (this.#unlinks > 0) await new Promise<void>((none) => (this.#noUnlinks = none))
      await act()
    } finally {
      this.#alone = undefined
      this.#noUnlinks = undefined
      resolve()
    }
  }

  async #mark(tree: string, name: string, addresses: readonly Address[]): Promise<void> {
    let marked = 0
    for (let looks = 0; looks < LOOKS_MAX; looks++) {
      const pack = await this.#open.get(tree, name, looks > 0)
      if (pack === undefined) throw new VolumesFailure('missing', `The pack ${name} is not there.`)
      try {
        for (const file of pack.files) {
          const bytes = await markRecords(file, addresses)
          if (bytes > 0) this.#countDead(tree, name, bytes)
          marked += bytes
        }
        // Where it was copied meanwhile, the copy is to be marked as well.
        if (await pack.isStale()) continue
        if (marked > 0) this.#parts.onUnlinked?.(tree, addresses.map(blobNameOf))
        return
      } finally {
        pack.release()
      }
    }
    throw new VolumesFailure('io', `The pack ${name} did not keep its place. Try again.`)
  }

  /** The record as it is stored, whether its bytes are whole or not. Nothing when there is none. */
  async raw(tree: string, address: Address): Promise<Buffer | undefined> {
    const pack = await this.#open.get(tree, address.pack)
    if (pack === undefined) return undefined
    try {
      const [copy] = await copiesIn(pack, address)
      if (copy === undefined || copy.header.state === 'dead') return undefined
      return await readAt(copy.file, copy.at, address.length, seedOf(address.pack))
    } finally {
      pack.release()
    }
  }

  /** All that are not marked, in no order. Nothing about those being written: they have no names yet. */
  blobs(tree: string, manner: Pick<Manner, 'between'>): AsyncGenerator<string> {
    return listBlobs(this.#folder(tree), manner)
  }

  /** Another process marked it. */
  noteUnlinked(tree: string, { pack, length }: Address): void {
    this.#countDead(tree, pack, length)
  }

  /** Gives the space of what is not needed any more back, where that is worth it. */
  async compact(tree: string, manner: CompactManner): Promise<Compacted> {
    const compacted = await compactTree(
      {
        folder: this.#folder(tree),
        lost: { aggregate: this.#parts.aggregate, tree },
        names: this.#names,
        tallies: this.#talliesOf(tree),
        isWriting: this.#parts.isWriting ?? ((writer) => writer === this.#parts.writer),
        syncFolder: () => this.#parts.syncFolder(this.#folder(tree)),
        onChange: (pack) => this.#open.forgetPack(tree, pack),
        spare: this.#parts.spare,
        datasync: this.#parts.datasync ?? datasyncRaw,
        alone: (act) => this.#withoutUnlinks(act),
      },
      manner,
    )
    if (compacted.freedBytes > 0) this.#counted.noteCompacted()
    return compacted
  }

  sums(): Promise<PackSums | undefined> {
    return this.#counted.read(this.#tallies.values())
  }

  /** The tree is being removed. */
  async forget(tree: string): Promise<void> {
    for (const [key, appender] of this.#appenders) {
      if (key !== tree && !key.startsWith(`${tree}/`)) continue
      this.#appenders.delete(key)
      await appender.close()
    }
    this.#open.forget(tree)
    this.#tallies.delete(tree)
  }

  async close(): Promise<void> {
    clearInterval(this.#idle)
    await Promise.all([...this.#appenders.values()].map((appender) => appender.close()))
    this.#appenders.clear()
    this.#open.close()
  }

  async #refuseExisting(tree: string, address: Address): Promise<void> {
    const pack = await this.#open.get(tree, address.pack)
    if (pack === undefined) return
    try {
      for (const { file, at, header } of await copiesIn(pack, address)) {
        if (header.state === 'void') continue
        const bytes = await readAt(file, at, address.length, seedOf(address.pack))
        if (header.state === 'dead' || readRecord(bytes, header) !== undefined) {
          // Whoever wrote it may have ended before it was durable.
          await (this.#parts.datasync ?? datasyncRaw)(file.fd)
          throw new VolumesFailure('exists', `${file.path}: the record at ${at} is there already.`)
        }
        await file.mark(at, header, 'void')
      }
    } finally {
      pack.release()
    }
  }

  /** The one for new blobs of a tree, or for copies of one pack. */
  #appender(tree: string, pack?: string): Appender {
    const key = pack === undefined ? tree : `${tree}/${pack}`
    const known = this.#appenders.get(key)
    if (known !== undefined) return known
    const folder = this.#folder(tree)
    const treeFolder = this.#parts.treeFolder(tree)
    const newFile = () => {
      const name = pack === undefined ? this.#names.pack(Date.now()) : this.#names.fragment(pack)
      return { name, pack: pack ?? name }
    }
    const made = new Appender(
      {
        folder,
        newFile,
        ensureFolder: (anew) => this.#parts.ensureFolder(treeFolder, FOLDER, anew),
        syncFolder: () => this.#parts.syncFolder(folder),
        ...(this.#parts.datasync === undefined ? {} : { datasync: this.#parts.datasync }),
      },
      { copies: pack !== undefined, waiting: this.#waiting },
    )
    this.#appenders.set(key, made)
    if (this.#appenders.size % LOOK_AT_EVERY === 0) void this.#rest(Infinity)
    this.#idle ??= setInterval(() => void this.#rest(Date.now() - IDLE_MS), IDLE_MS / 4).unref()
    return made
  }

  /** Lets go of files that nobody has appended to since then; of those used longest ago, where there are too many. */
  async #rest(beforeMs: number): Promise<void> {
    const idle = [...this.#appenders]
      .filter(([, one]) => one.isIdle)
      .toSorted(([, a], [, b]) => a.usedAtMs - b.usedAtMs)
    const open = idle.filter(([, one]) => one.isOpen)
    const most = beforeMs === Infinity ? open.length - APPENDERS_MAX / 2 : open.length
    for (const [key, appender] of open.slice(0, Math.max(0, most))) {
      if (appender.usedAtMs >= beforeMs || !appender.isIdle) continue
      await appender.rest()
      if (key.includes('/') && appender.isIdle) this.#appenders.delete(key)
    }
    const known = idle.filter(([key, one]) => !one.isOpen && this.#appenders.has(key))
    for (const [key, appender] of known.slice(0, Math.max(0, known.length - REMEMBERED_MAX))) {
      this.#appenders.delete(key)
      await appender.close()
    }
  }

  #countDead(tree: string, pack: string, bytes: number): void {
    const tallies = this.#talliesOf(tree)
    const tally = tallies.get(pack)
    if (tally === undefined) tallies.set(pack, { sinceBytes: bytes })
    else tally.sinceBytes += bytes
  }

  #talliesOf(tree: string): Tallies {
    const known = this.#tallies.get(tree)
    if (known !== undefined) return known
    const made: Tallies = new Map()
    this.#tallies.set(tree, made)
    return made
  }

  #folder(tree: string): string {
    return join(this.#parts.treeFolder(tree), FOLDER)
  }
}

/** The bytes of a record, which may have other ones where it was copied to. */
async function readAt(file: PackFile, at: number, length: number, seed: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(Math.max(length, RECORD_HEADER_BYTES))
  const read = bytes.subarray(0, await readRaw(file.fd, bytes, at))
  const header = readRecordHeader(read, 0, seed)
  if (header === undefined || header.bytes <= read.length) return read
  const whole = Buffer.allocUnsafe(header.bytes)
  return whole.subarray(0, await readRaw(file.fd, whole, at))
}

async function copiesIn(pack: OpenPack, { pack: name, offset }: Address): Promise<Copy[]> {
  const seed = seedOf(name)
  const copies: Copy[] = []
  for (const file of pack.files) {
    for (const at of await file.find(offset)) {
      const bytes = Buffer.allocUnsafe(RECORD_HEADER_BYTES)
      const header = readRecordHeader(bytes.subarray(0, await readRaw(file.fd, bytes, at)), 0, seed)
      if (header?.offset === offset) copies.push({ file, at, header })
    }
  }
  return copies
}

function asExpected(found: BlobReader, { pack, offset }: Address, expected?: ExpectedBlob): BlobReader {
  if (expected === undefined) return found
  if (found.sizeBytes === expected.sizeBytes && found.crc === (expected.crc ?? found.crc)) return found
  throw new VolumesFailure('damaged', `The record at ${offset} of the pack ${pack} has other bytes than expected.`, {
    damage: 'misplaced',
  })
}

function missing(where: string, { pack, offset }: Address): VolumesFailure {
  return new VolumesFailure('missing', `${where}: there is no record at ${offset} of the pack ${pack}.`)
}

async function damaged(file: PackFile, at: number, isCut: boolean): Promise<VolumesFailure> {
  const { format = 0 } = await file.header()
  if (format > PACK_FORMAT) {
    const message = `Pack ${file.path} has format ${format}, which this release does not know. Start the release that wrote it.`
    return new VolumesFailure('damaged', message, { damage: 'flipped' })
  }
  return new VolumesFailure('damaged', `Pack ${file.path}: the record at ${at} is damaged.`, {
    damage: isCut ? 'truncated' : 'flipped',
  })
}
