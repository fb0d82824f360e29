/**
 * Appends records to files of its own. Those that come while others are being made durable are written together after
 * them, and share one sync:
 *
 *     a ─▶ write, sync ─────────▶ a is answered
 *       b, c, d ─ wait ───────────▶ write, sync ─────────▶ b, c and d are answered
 */
import { unlink } from 'node:fs/promises'
import { VolumesFailure } from '../../../ports/volumes.ts'
import { codeOf, volumesFailure } from '../failures.ts'
import { blobNameOf } from './names.ts'
import { closeRaw, datasyncRaw, openRaw, statRaw, truncateRaw, writeRaw } from './raw.ts'
import { FILE_HEADER_BYTES, FILE_STATE_AT, fileHeader, nameRecord, SEALED, seedOf } from './record.ts'
import type { RecordName } from './record.ts'
import { table } from './places.ts'
import type { WaitingBytes } from './waiting-bytes.ts'

/** A file with more takes no more records: with a last group, and a last record, places in it stay below `PLACES`. */
export const PACK_BYTES = 48 * 2 ** 20
/** Written together: the system takes 1024 pieces at once, and each record is two. */
const GROUP_RECORDS_MAX = 500
const GROUP_BYTES_MAX = 8 * 2 ** 20
/** Whether the file is still where it was is looked at no more often than that. */
const LOOK_EVERY_MS = 1000
/** A file that is idle takes more later, unless it has so much: then it is sealed, so that its space can be had back. */
const SEALED_WHEN_IDLE_BYTES = 2 ** 20

/** How an appender makes its files. */
export interface AppendTo {
  readonly folder: string
  /** A new name for a file, and the pack that it belongs to. */
  readonly newFile: () => { readonly name: string; readonly pack: string }
  /** The folder is there, for good; `anew` says that it was not where it should have been. Fails with ENOENT without the tree. */
  readonly ensureFolder: (anew: boolean) => Promise<void>
  readonly syncFolder: () => Promise<void>
  /** That of the system, but for tests. */
  readonly datasync?: (fd: number) => Promise<void>
}

interface Waiting {
  readonly head: Buffer
  readonly body: Uint8Array
  /** What it is named by, if it was written elsewhere at first. */
  readonly name: RecordName | undefined
  readonly resolve: (blob: string) => void
  readonly reject: (failure: unknown) => void
}

interface Target {
  readonly path: string
  readonly pack: string
  readonly seed: number
  /** Missing while the file is idle. */
  fd: number | undefined
  inode: number
  endsAt: number
  lookedAtMs: number
  /** For copies: where the records are. */
  readonly places: { readonly offset: number; readonly at: number }[]
  isNew: boolean
}

export class Appender {
  readonly #to: AppendTo
  readonly #copies: boolean
  /** Of all appenders together. */
  readonly #waitingBytes: WaitingBytes
  #waiting: Waiting[] = []
  #running: Promise<void> | undefined
  #target: Target | undefined
  #opening: Promise<void> | undefined
  #isClosed = false
  usedAtMs = Date.now()

  constructor(to: AppendTo, { copies, waiting }: { readonly copies: boolean; readonly waiting: WaitingBytes }) {
    this.#to = to
    this.#copies = copies
    this.#waitingBytes = waiting
  }

  get isIdle(): boolean {
    return this.#running === undefined && this.#opening === undefined && this.#waiting.length === 0
  }

  get isOpen(): boolean {
    return this.#target?.fd !== undefined
  }

  /** Makes sure that there is a file to append to, where the tree is. */
  async ready(): Promise<void> {
    this.usedAtMs = Date.now()
    // Who appends looks for itself, so that no file is closed under it.
    if (this.#target?.fd !== undefined && (this.#running !== undefined || !this.#isToBeLookedAt)) return
    await this.#reopen()
  }

  get #isToBeLookedAt(): boolean {
    return Date.now() - (this.#target?.lookedAtMs ?? 0) >= LOOK_EVERY_MS
  }

  async #reopen(): Promise<void> {
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined))
    await this.#opening
  }

  /** Durable on return, which gives its name. The bytes must stay as they are until then. */
  append(head: Buffer, body: Uint8Array, name?: RecordName): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ head, body, name, resolve, reject })
      this.#waitingBytes.add(head.length + body.length)
      this.usedAtMs = Date.now()
      this.#running ??= this.#run()
    })
  }

  /** Lets go of the file, for good where it has much. Nothing must be waiting. */
  async rest(): Promise<void> {
    const target = this.#target
    if (target === undefined) return
    if (this.#copies || target.endsAt >= SEALED_WHEN_IDLE_BYTES) return this.#seal(target)
    if (target.fd !== undefined) closeRaw(target.fd)
    target.fd = undefined
  }

  /** Waits for what was begun, and seals the file. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#running
    await this.#opening?.catch(() => undefined)
    if (this.#target !== undefined) await this.#seal(this.#target)
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#nextGroup()
      try {
        const target = await this.#openTarget()
        const placed = await this.#write(target, group)
        for (const [nth, one] of group.entries()) one.resolve(placed[nth] ?? '')
        if (target.endsAt >= PACK_BYTES) await this.#seal(target)
      } catch (failure) {
        const explained = volumesFailure(failure, `Packs in ${this.#to.folder}`)
        for (const one of group) one.reject(explained)
      }
    }
    this.#running = undefined
  }

  #nextGroup(): Waiting[] {
    let bytes = 0
    let count = 0
    for (const { head, body } of this.#waiting) {
      if (count === GROUP_RECORDS_MAX || bytes > GROUP_BYTES_MAX) break
      bytes += head.length + body.length
      count++
    }
    this.#waitingBytes.remove(bytes)
    return this.#waiting.splice(0, count)
  }

  async #openTarget(): Promise<Target & { readonly fd: number }> {
    await this.#opening
    if (this.#target?.fd === undefined || this.#isToBeLookedAt) await this.#reopen()
    const target = this.#target
    if (target?.fd === undefined) throw new VolumesFailure('io', `${this.#to.folder}: no pack could be opened.`)
    return target as Target & { readonly fd: number }
  }

  async #write(target: Target & { readonly fd: number }, group: readonly Waiting[]): Promise<string[]> {
    const { fd, pack, seed } = target
    const beganAt = target.endsAt
    const pieces: Uint8Array[] = target.isNew ? [fileHeader(pack, Date.now())] : []
    let at = target.isNew ? FILE_HEADER_BYTES : beganAt
    const names: string[] = []
    const places: { offset: number; at: number }[] = []
    for (const { head, body, name } of group) {
      const bytes = head.length + body.length
      const named = name ?? { offset: at, length: bytes }
      nameRecord(head, named, seed)
      pieces.push(head, body)
      names.push(blobNameOf({ pack, ...named }))
      if (this.#copies) places.push({ offset: named.offset, at })
      at += bytes
    }
    try {
      await writeRaw(fd, pieces, beganAt)
      await Promise.all([this.#datasync(fd), target.isNew ? this.#to.syncFolder() : undefined])
    } catch (failure) {
      await this.#abandon(target, beganAt)
      throw failure
    }
    target.endsAt = at
    target.isNew = false
    target.places.push(...places)
    return names
  }

  #datasync(fd: number): Promise<void> {
    return (this.#to.datasync ?? datasyncRaw)(fd)
  }

  /** Nobody knows what a failed write or sync has left, so nothing is appended behind it. What was answered stays. */
  async #abandon(target: Target & { readonly fd: number }, endsAt: number): Promise<void> {
    this.#target = undefined
    if (target.isNew) await unlink(target.path).catch(() => undefined)
    else {
      await truncateRaw(target.fd, endsAt).catch(() => undefined)
      await writeRaw(target.fd, [SEALED], FILE_STATE_AT).catch(() => undefined)
    }
    closeRaw(target.fd)
  }

  async #open(): Promise<void> {
    try {
      const known = this.#target
      if (known !== undefined && (await this.#isThere(known))) return
      if (known?.fd !== undefined) closeRaw(known.fd)
      this.#target = undefined
      if (this.#isClosed) throw new VolumesFailure('io', `${this.#to.folder}: the volumes were closed.`)
      const { path, pack, fd } = await this.#create().catch(async (failure: unknown) => {
        if (codeOf(failure) !== 'ENOENT') throw failure
        // Another process removed the tree, and may have made it again.
        await this.#to.ensureFolder(true)
        return this.#create()
      })
      const { ino } = await statRaw(fd)
      const lookedAtMs = Date.now()
      const seed = seedOf(pack)
      this.#target = { path, pack, seed, fd, inode: ino, endsAt: 0, lookedAtMs, places: [], isNew: true }
    } catch (failure) {
      throw volumesFailure(failure, `Packs in ${this.#to.folder}`)
    }
  }

  async #create(): Promise<{ readonly path: string; readonly pack: string; readonly fd: number }> {
    await this.#to.ensureFolder(false)
    const { name, pack } = this.#to.newFile()
    const path = `${this.#to.folder}/${name}`
    return { path, pack, fd: await openRaw(path, 'wx+') }
  }

  /** Whether the path still leads to the file. An idle one is opened again. */
  async #isThere(target: Target): Promise<boolean> {
    const fd = await openRaw(target.path, 'r+').catch(() => undefined)
    if (fd === undefined) return false
    const { ino, size } = await statRaw(fd)
    const isSame = ino === target.inode && (target.fd !== undefined || size === target.endsAt)
    if (isSame && target.fd === undefined) target.fd = fd
    else closeRaw(fd)
    target.lookedAtMs = Date.now()
    return isSame
  }

  async #seal(target: Target): Promise<void> {
    this.#target = undefined
    try {
      target.fd ??= await openRaw(target.path, 'r+')
      if (target.isNew) await unlink(target.path)
      else {
        if (this.#copies) {
          await writeRaw(target.fd, [table(target.places)], target.endsAt)
          // A file that is sealed has nothing but records and a whole table, also after a power cut.
          await this.#datasync(target.fd)
        }
        await writeRaw(target.fd, [SEALED], FILE_STATE_AT)
      }
    } catch {
      // It is known to be finished when its writer has ended.
    } finally {
      if (target.fd !== undefined) closeRaw(target.fd)
    }
  }
}
