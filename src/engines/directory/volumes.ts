/**
 * Volumes as folders of any file system. No byte of a blob is ever changed in place, and no ability beyond plain POSIX is needed.
 * Two things are renamed: a whole tree on its way out, and a file that takes the place of one with the same bytes.
 *
 *     <aggregate>/volumes/<volume-uuid>/objects/<last 2 hex>/<blob-id>
 *     <aggregate>/volumes/<volume-uuid>/objects/<last 2 hex>/<blob-id>.<engine>   about to take the place of the blob
 *     <aggregate>/volumes/<volume-uuid>/packs/…   see packs/names.ts
 *     <aggregate>/spare                          see packs/spare.ts
 *     <aggregate>/removing/<volume-uuid>.<n>
 *     <aggregate>/lost-and-found/…   see lost-and-found.ts
 *
 * Blobs are spread by the last digits of their names, because the first ones may be the time.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, opendir, readdir, rename, rm, stat, statfs, unlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { VolumesFailure } from '../../ports/volumes.ts'
import type {
  BlobReader,
  BlobWriter,
  Committed,
  Compacted,
  CompactManner,
  DiskSpace,
  ExpectedBlob,
  Found,
  Manner,
  PackSums,
  Rewriting,
  Sharing,
  Volumes,
  WriteHow,
} from '../../ports/volumes.ts'
import { openBlob } from './blob-reader.ts'
import { FileBlobWriter } from './blob-writer.ts'
import { claimFolder, insistOnClaim, KnownClaim, releaseFolder } from './claim.ts'
import { codeOf, volumesFailure } from './failures.ts'
import { FanOut } from './fan-out.ts'
import { FolderSync } from './folder-sync.ts'
import { settleReplacement } from './left-replacements.ts'
import { emptyLostAndFound, moveToLostAndFound } from './lost-and-found.ts'
import { NewFile } from './new-file.ts'
import { Packer } from './packing.ts'
import { addressOf } from './packs/names.ts'
import { Packs } from './packs/packs.ts'
import { Spare } from './packs/spare.ts'
import { rewriteRecord } from './packs/rewrite.ts'
import { setRecordAside } from './packs/set-aside.ts'
import { packFile, rewriteFile, shareFile } from './replacing.ts'
import { Tally } from './tally.ts'

const BLOB = /^[0-9a-f]{32}$/
/** How small blobs are stored together. */
export interface Packing {
  /** Names who appends to files: 8 hex digits that no other engine has. Made up without it. */
  readonly writer?: string
  /** Whether somebody may still append to files of this writer. Without it, nobody but this engine. */
  readonly isWriting?: (writer: string) => boolean
  /** Larger bodies have a file of their own. 0: all have. */
  readonly bodyBytesMax?: number
  /** Counts the bytes of larger bodies that gather to be written together. */
  readonly gathered?: Tally
  /** Told of small blobs that were unlinked here, so that who compacts can be. */
  readonly onUnlinked?: (tree: string, blobs: readonly string[]) => void
  /** That of the system, but for tests. */
  readonly datasync?: (fd: number) => Promise<void>
}

/** A file that was about to take the place of a blob. */
const REPLACEMENT = /^[0-9a-f]{32}\.[0-9a-f]{16}$/
const VOLUME = /^[0-9a-zA-Z-]{1,64}$/
const FOLDER = { recursive: true, mode: 0o700 } as const

export class DirectoryVolumes implements Volumes {
  readonly #aggregate: string
  readonly #owner: string | undefined
  readonly #claim = new KnownClaim()
  readonly #sync = new FolderSync()
  readonly #fanOut = new FanOut(this.#sync)
  /** Tells the files that this engine is about to put in the place of others from those that were left behind. */
  readonly #mark = randomBytes(8).toString('hex')
  #cleaning = false
  readonly #packs: Packs
  readonly #gathered: Tally

  /**
   * The folder of an aggregate. With `owner`, it must have been claimed for the aggregate with this uuid before it is
   * used: a disk that is not mounted is then noticed. Without, it is made with the first volume.
   */
  constructor(aggregate: string, owner?: string, packing: Packing = {}) {
    this.#aggregate = resolve(aggregate)
    this.#owner = owner
    const spare = new Spare(this.#aggregate)
    this.#gathered = packing.gathered ?? new Tally()
    this.#packs = new Packs({
      spare,
      writer: randomBytes(4).toString('hex'),
      ...packing,
      aggregate: this.#aggregate,
      treeFolder: (tree) => this.#volume(tree),
      trees: () => this.list(),
      ensureFolder: async (tree, folder, anew) => {
        if (anew) this.#fanOut.forget(tree)
        await this.#fanOut.ensure(tree, folder)
        await spare.make()
      },
      syncFolder: (folder) => this.#sync.sync(folder),
    })
  }

  get place(): string {
    return this.#aggregate
  }

  fileOf(volume: string, blob: string): string {
    const address = addressOf(blob)
    return address === undefined ? this.#blob(volume, blob) : this.#packs.fileOf(volume, address)
  }

  claim(aggregate: string, apartFrom: readonly string[], how = { adopts: false }): Promise<void> {
    return claimFolder(this.#aggregate, aggregate, { apartFrom, ...how }, this.#sync)
  }

  release(aggregate: string): Promise<void> {
    return releaseFolder(this.#aggregate, aggregate)
  }

  async create(volume: string): Promise<void> {
    const tree = this.#objects(volume)
    try {
      await this.#insistOnOwner()
      const made = await this.#makeFolders(tree)
      // Up to the folder that holds the first new entry. When nothing is new an earlier call may have been interrupted.
      const top = made === undefined ? this.#aggregate : dirname(made)
      for (let folder = tree; folder.length >= top.length; folder = dirname(folder)) {
        await this.#sync.sync(folder)
        if (folder === dirname(folder)) break
      }
    } catch (failure) {
      throw volumesFailure(failure, `Volume ${volume}`)
    }
  }

  async remove(volume: string): Promise<void> {
    const tree = this.#volume(volume)
    this.#fanOut.forget(this.#objects(volume))
    this.#fanOut.forget(tree)
    await this.#packs.forget(volume)
    try {
      // What is not there of a disk that is away is not removed.
      if (this.#owner !== undefined) await insistOnClaim(this.#aggregate, this.#owner)
      await this.#setAside(volume, tree)
      for (const name of await namesIn(this.#removing)) {
        if (name.startsWith(`${volume}.`)) await removeTree(join(this.#removing, name))
      }
    } catch (failure) {
      throw volumesFailure(failure, `Volume ${volume}`)
    }
  }

  /** Also begins to remove what an interrupted `remove` left, without waiting for it. */
  async list(): Promise<string[]> {
    if (!this.#cleaning) void this.#clean()
    try {
      const entries = await namesIn(join(this.#aggregate, 'volumes'))
      return entries.filter((name) => VOLUME.test(name))
    } catch (failure) {
      throw volumesFailure(failure, `Aggregate ${this.#aggregate}`)
    }
  }

  async write(volume: string, blob: string, how?: WriteHow): Promise<BlobWriter> {
    const { sizeBytes } = how ?? {}
    const address = addressOf(blob)
    if (address !== undefined || (how?.packs === true && (sizeBytes ?? Infinity) <= this.#packs.bodyBytesMax)) {
      if (sizeBytes === undefined) throw new RangeError('A blob of a pack is begun with its size.')
      const packed = { isCompressed: how?.compress === true }
      return this.#inPack(volume, () =>
        address === undefined
          ? this.#packs.write(volume, sizeBytes, packed)
          : this.#packs.writeCopy(volume, address, sizeBytes, packed),
      )
    }
    const path = this.#blob(volume, blob)
    const folder = dirname(path)
    try {
      const file = await this.#openNew(this.#objects(volume), folder, path)
      const packing = how?.compress === true ? { packer: new Packer() } : {}
      const tally = this.#gathered
      return new FileBlobWriter(path, file, () => this.#sync.sync(folder), { ...packing, tally })
    } catch (failure) {
      throw await this.#explain(failure, `Blob ${path}`)
    }
  }

  /** What fails there is explained as it is for other blobs. */
  async #inPack<Result>(volume: string, act: () => Promise<Result>): Promise<Result> {
    try {
      return await act()
    } catch (failure) {
      throw await this.#explain(failure, `Packs of ${this.#volume(volume)}`)
    }
  }

  async open(volume: string, blob: string, expected?: ExpectedBlob): Promise<BlobReader> {
    const address = addressOf(blob)
    if (address !== undefined) return this.#inPack(volume, () => this.#packs.read(volume, address, expected))
    const path = this.#blob(volume, blob)
    try {
      return await openBlob(path, expected)
    } catch (failure) {
      throw await this.#explain(failure, `Blob ${path}`)
    }
  }

  async compress(volume: string, blob: string, manner?: Manner): Promise<number> {
    // It was stored in less when it was written, or it is not worth it.
    if (addressOf(blob) !== undefined) return (await this.open(volume, blob)).storedBytes
    const path = this.#blob(volume, blob)
    try {
      return await packFile(path, `${path}.${this.#mark}`, (folder) => this.#sync.sync(folder), manner)
    } catch (failure) {
      throw failure instanceof VolumesFailure ? await this.#explain(failure, `Blob ${path}`) : failure
    }
  }

  async share(volume: string, blob: string, twin: string, manner?: Manner): Promise<Sharing> {
    if (addressOf(blob) !== undefined || addressOf(twin) !== undefined) return 'unable'
    const path = this.#blob(volume, blob)
    const twinPath = this.#blob(volume, twin)
    try {
      return await shareFile(path, twinPath, `${path}.${this.#mark}`, (folder) => this.#sync.sync(folder), manner)
    } catch (failure) {
      throw failure instanceof VolumesFailure ? await this.#explain(failure, `Blob ${path}`) : failure
    }
  }

  async rewrite(volume: string, blob: string, from: BlobReader, as: Rewriting, manner?: Manner): Promise<Committed> {
    const address = addressOf(blob)
    if (address !== undefined) {
      return this.#inPack(volume, () => rewriteRecord(this.#packs, volume, address, from, as, manner))
    }
    const path = this.#blob(volume, blob)
    try {
      await this.#fanOut.ensure(this.#objects(volume), blob.slice(-2))
      return await rewriteFile(path, `${path}.${this.#mark}`, from, as, (folder) => this.#sync.sync(folder), manner)
    } catch (failure) {
      throw failure instanceof VolumesFailure ? await this.#explain(failure, `Blob ${path}`) : failure
    }
  }

  async unlink(volume: string, blob: string): Promise<void> {
    const address = addressOf(blob)
    const path = address === undefined ? this.#blob(volume, blob) : this.#volume(volume)
    try {
      await (address === undefined ? unlink(path) : this.#packs.unlink(volume, address))
    } catch (failure) {
      const explained = await this.#explain(failure, `Blob ${path}`)
      if (explained.reason !== 'missing') throw explained
    }
  }

  async setAside(volume: string, blob: string, found: Found): Promise<boolean> {
    const address = addressOf(blob)
    if (address !== undefined) {
      return this.#inPack(volume, () =>
        setRecordAside(this.#packs, { ...found, aggregate: this.#aggregate, tree: volume, blob, address }),
      )
    }
    const path = this.#blob(volume, blob)
    try {
      await moveToLostAndFound(this.#aggregate, { ...found, tree: volume, path })
      return true
    } catch (failure) {
      const explained = await this.#explain(failure, `Blob ${path}`)
      if (explained.reason !== 'missing') throw explained
      return false
    }
  }

  async removeSetAside(beforeMs: number): Promise<number> {
    try {
      return await emptyLostAndFound(this.#aggregate, beforeMs)
    } catch (failure) {
      throw volumesFailure(failure, `Aggregate ${this.#aggregate}`)
    }
  }

  async *blobs(volume: string, manner: Pick<Manner, 'between'> = {}): AsyncGenerator<string> {
    const tree = this.#objects(volume)
    const syncFolder = (folder: string) => this.#sync.sync(folder)
    let folders: string[]
    try {
      folders = await readdir(tree)
    } catch (failure) {
      throw volumesFailure(failure, `Volume ${volume}`)
    }
    for (const folder of folders) {
      try {
        for await (const { name } of await opendir(join(tree, folder))) {
          if (BLOB.test(name)) yield name
          if (!REPLACEMENT.test(name) || name.endsWith(this.#mark)) continue
          const left = { aggregate: this.#aggregate, tree: volume, path: join(tree, folder, name), syncFolder }
          await settleReplacement(left, manner)
        }
      } catch (failure) {
        // That of `between` is the caller's.
        if (codeOf(failure) === '') throw failure
        // The volume is being removed meanwhile.
        if (codeOf(failure) !== 'ENOENT') throw volumesFailure(failure, `Volume ${volume}`)
      }
    }
    try {
      yield* this.#packs.blobs(volume, manner)
    } catch (failure) {
      // That of `between` is the caller's.
      throw codeOf(failure) === '' ? failure : volumesFailure(failure, `Volume ${volume}`)
    }
  }

  noteUnlinked(volume: string, blobs: readonly string[]): void {
    for (const address of blobs.map(addressOf)) if (address !== undefined) this.#packs.noteUnlinked(volume, address)
  }

  compact(volume: string, manner: CompactManner): Promise<Compacted> {
    return this.#packs.compact(volume, manner)
  }

  packs(): Promise<PackSums | undefined> {
    return this.#packs.sums()
  }

  close(): Promise<void> {
    return this.#packs.close()
  }

  async space(): Promise<DiskSpace> {
    try {
      await this.#insistOnOwner()
      const [{ dev }, { bsize, blocks, bfree, bavail, files, ffree }] = await Promise.all([
        stat(this.#aggregate),
        statfs(this.#aggregate),
      ])
      return {
        disk: String(dev),
        sizeBytes: blocks * bsize,
        usedBytes: (blocks - bfree) * bsize,
        availableBytes: bavail * bsize,
        blockBytes: bsize,
        filesMax: files,
        filesUsed: files - ffree,
      }
    } catch (failure) {
      throw volumesFailure(failure, `Aggregate ${this.#aggregate}`)
    }
  }

  /** Gives the first that was not there. One by one, as Node's recursive `mkdir` takes a read-only disk for a missing one. */
  async #makeFolders(tree: string): Promise<string | undefined> {
    let made: string | undefined
    for (const folder of [dirname(dirname(tree)), dirname(tree), tree]) {
      try {
        await mkdir(folder, FOLDER.mode)
        made ??= folder
      } catch (failure) {
        if (codeOf(failure) !== 'EEXIST') throw failure
      }
    }
    return made
  }

  async #insistOnOwner(): Promise<void> {
    // Asking first, as a refusal costs more than an answer, and the folder is nearly always there.
    if (this.#owner === undefined) await stat(this.#aggregate).catch(() => mkdir(this.#aggregate, FOLDER))
    else await this.#claim.insist(this.#aggregate, this.#owner)
  }

  /** What is missing of a place that is not there is not lost. */
  async #explain(failure: unknown, what: string): Promise<VolumesFailure> {
    const explained = volumesFailure(failure, what)
    if (explained.reason !== 'missing' || this.#owner === undefined) return explained
    try {
      await insistOnClaim(this.#aggregate, this.#owner)
      return explained
    } catch (away) {
      return volumesFailure(away, what)
    }
  }

  /** Opens a file that must be new. Its folder is made when it is not there, or is not known to be durable. */
  async #openNew(tree: string, folder: string, path: string): Promise<NewFile> {
    const name = folder.slice(tree.length + 1)
    await this.#fanOut.ensure(tree, name)
    try {
      return await NewFile.open(path, 'wx', 0o600)
    } catch (failure) {
      if (codeOf(failure) !== 'ENOENT') throw failure
      // Another process removed the tree and made it again.
      this.#fanOut.forget(tree)
      await this.#fanOut.ensure(tree, name)
      return NewFile.open(path, 'wx', 0o600)
    }
  }

  /** After this the volume is gone, whatever happens next. */
  async #setAside(volume: string, tree: string): Promise<void> {
    await mkdir(this.#removing, FOLDER).catch((failure: unknown) => {
      if (codeOf(failure) !== 'ENOENT') throw failure
    })
    for (let n = 0; ; n++) {
      try {
        await rename(tree, join(this.#removing, `${volume}.${n}`))
        break
      } catch (failure) {
        if (codeOf(failure) === 'ENOENT') return
        if (codeOf(failure) !== 'ENOTEMPTY' && codeOf(failure) !== 'EEXIST') throw failure
      }
    }
    await this.#sync.sync(dirname(tree))
    await this.#sync.sync(this.#removing)
  }

  async #clean(): Promise<void> {
    this.#cleaning = true
    try {
      for (const name of await namesIn(this.#removing)) await removeTree(join(this.#removing, name))
    } catch {
      // The next list tries again.
    } finally {
      this.#cleaning = false
    }
  }

  get #removing(): string {
    return join(this.#aggregate, 'removing')
  }

  #volume(volume: string): string {
    if (!VOLUME.test(volume)) throw new RangeError(`'${volume}' is not the name of a volume's tree.`)
    return join(this.#aggregate, 'volumes', volume)
  }

  #objects(volume: string): string {
    return join(this.#volume(volume), 'objects')
  }

  #blob(volume: string, blob: string): string {
    if (!BLOB.test(blob)) throw new RangeError(`'${blob}' is not the name of a blob: it has 32 lower-case hex digits.`)
    return join(this.#objects(volume), blob.slice(-2), blob)
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (failure) {
    if (codeOf(failure) === 'ENOENT') return []
    throw failure
  }
}

function removeTree(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true })
}
