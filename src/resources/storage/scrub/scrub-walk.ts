/**
 * Reads all blobs of an aggregate at a bounded rate and looks for files that nobody needs.
 *
 *     each blob that rows need     read whole, with its label     damaged, missing, misplaced: a record and an event
 *                                  its file of an earlier format  written anew with checksums, once its MD5 is verified
 *     each file of a tree          no row needs it                given up, and moved to lost-and-found by housekeeping
 *                                  another tree has it too        a record and an event: it stays where it is
 *                                  it is older than a restore     the same, as a rebuild may need it
 *
 * Where the walk is, and what it has counted, is kept with its job: after a restart it goes on there.
 */
import type { StoredVolume } from '../../../records/rows.ts'
import { ByteRate } from '../../../core/time/byte-rate.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { DAMAGE, DAMAGE_RECORDS_MAX, isLoss, noteDamage, type DamageKind } from '../../../storage/damage.ts'
import { placeOf } from '../../../storage/tree-of.ts'
import { untilAvailable } from '../../../core/jobs/until-available.ts'
import { Interrupted, type Work } from '../../../core/verb.ts'
import type { NewOf } from '../../../model/rows.ts'
import { CommitRefused, type StoredBlob } from '../../../ports/catalog.ts'
import { VolumesFailure } from '../../../ports/volumes.ts'
import { checkBlob, damageOf, isThere, type Files } from '../damage/check-blob.ts'
import { rewriteBlob, Unneeded } from '../damage/rewrite.ts'
import { RECOVERY_QUEUE } from '../volumes/recovery-queue.ts'
import { isMoving } from '../volumes/movement.ts'
import { nameLosses, type Loss } from './name-losses.ts'
import { unexpectedFiles, type UnexpectedFile } from './unexpected-files.ts'

/** Blobs read from the catalog at a time: about a millisecond. */
const PAGE = 100
/** Losses kept in memory until they are named. */
const NAMED_AT_ONCE_MAX = 1000
/** Naming losses takes at most so much less time than what is between. */
const REST_TIMES = 10
/** After a crash no more than that is read again. */
const NOTE_EVERY_MS = 2000

export type ScrubCounts = {
  readonly examined: number
  readonly examinedBytes: number
  /** Blobs that are damaged, known before or not. */
  readonly damaged: number
  /** Files that nobody needs. */
  readonly unexpected: number
  /** Those of them that go to lost-and-found. */
  readonly setAside: number
  /** Files of earlier formats that have checksums now. */
  readonly upgraded: number
}

const NOTHING: ScrubCounts = { examined: 0, examinedBytes: 0, damaged: 0, unexpected: 0, setAside: 0, upgraded: 0 }

export type ScrubWork = Work<
  NewOf<'private/scrubs'> & { readonly uuid: string },
  {
    readonly startMs: number
    /** The volume that is read, the last blob of it that was, and what was counted up to that. */
    readonly volume: string
    readonly after: string
    readonly counts: ScrubCounts
  }
>

export class ScrubWalk {
  counts: ScrubCounts
  readonly #cluster: Cluster
  readonly #work: ScrubWork
  readonly #aggregate: string
  readonly #rate: ByteRate
  /** The volume that is walked through, and the last blob of it. All volumes before it are done. */
  #at: { readonly volume: string; readonly after: string }
  readonly #listed = new Set<string>()
  #notedAtMs: number
  /** What was counted until `#at`. */
  #countsAt: ScrubCounts
  /** When losses may be named again. */
  #nameAtMs = 0

  constructor(cluster: Cluster, work: ScrubWork, aggregate: string, bytesPerSecond: number) {
    this.#cluster = cluster
    this.#work = work
    this.#aggregate = aggregate
    this.#rate = new ByteRate(cluster.system, bytesPerSecond)
    this.counts = { ...NOTHING, ...work.memo.counts }
    this.#countsAt = this.counts
    this.#at = { volume: work.memo.volume ?? '', after: work.memo.after ?? '' }
    this.#notedAtMs = cluster.system.clock.elapsed()
  }

  /** Goes on where the memo says. */
  async go(): Promise<void> {
    for (;;) {
      const volume = (await this.#volumes()).find((row) => row['uuid'] >= this.#at.volume)
      if (volume === undefined) return
      const uuid = volume['uuid']
      if (uuid !== this.#at.volume) this.#at = { volume: uuid, after: '' }
      await this.#walk(volume)
      // Behind all that begin with it there is no other.
      this.#reach({ volume: `${uuid}~`, after: '' })
      await this.#note()
    }
  }

  /** Those that lie in the aggregate, deleted ones that can be recovered included, in the order of their UUIDs. */
  async #volumes(): Promise<StoredVolume[]> {
    const types = ['storage/volumes', RECOVERY_QUEUE] as const
    const rows = (await Promise.all(types.map((type) => this.#cluster.rows(type)))).flat()
    return rows
      .filter((row) => placeOf(row).aggregate === this.#aggregate && !isMoving(row))
      .toSorted((a, b) => (a['uuid'] < b['uuid'] ? -1 : 1))
  }

  async #walk(row: StoredVolume): Promise<void> {
    const volume = row['uuid']
    const { tree } = placeOf(row)
    const files = { volumes: await this.#cluster.volumesOf(this.#aggregate), tree }
    const losses: Loss[] = []
    for (let { after } = this.#at; ;) {
      const { blobs, next } = await this.#cluster.catalog.storedBlobs(volume, after, PAGE)
      for (const blob of blobs) {
        const loss = await this.#examine(volume, files, blob)
        if (loss !== undefined) losses.push(loss)
        const { examined, examinedBytes } = this.counts
        this.#count({ examined: examined + 1, examinedBytes: examinedBytes + blob.sizeBytes })
        // What was found is kept before the place where the walk goes on is.
        if (losses.length === 0) {
          this.#reach({ volume, after: blob.blob })
          await this.#noteNowAndThen()
        }
      }
      const isEnough = losses.length >= NAMED_AT_ONCE_MAX || this.#cluster.system.clock.elapsed() >= this.#nameAtMs
      if (losses.length > 0 && (next === undefined || isEnough)) await this.#keep(volume, files, losses.splice(0))
      if (next === undefined) break
      after = next
      if (losses.length === 0) {
        this.#reach({ volume, after })
        await this.#noteNowAndThen()
      }
    }
    if (this.#listed.has(tree)) return
    this.#listed.add(tree)
    try {
      await this.#list(volume, files)
    } catch (failure) {
      // The volume was deleted or moved meanwhile, and its tree went.
      if (!(failure instanceof VolumesFailure) || failure.reason !== 'missing') throw failure
      if (await this.#isThere(volume, tree)) throw failure
    }
  }

  async #isThere(volume: string, tree: string): Promise<boolean> {
    return (await this.#volumes()).some((row) => row['uuid'] === volume && placeOf(row).tree === tree)
  }

  /**
   * To name losses whose labels are lost takes a look through all rows of the volume. It is done for many together, so that
   * it takes a small part of the time even where everything is lost.
   */
  async #keep(volume: string, files: Files, losses: readonly Loss[]): Promise<void> {
    const { clock } = this.#cluster.system
    const beganMs = clock.elapsed()
    const isFull = (await this.#cluster.count(DAMAGE)) >= DAMAGE_RECORDS_MAX
    const found = isFull ? [] : await nameLosses(this.#cluster, volume, files, losses, () => this.#pause(0))
    for (const each of found) await this.#repeatable(() => noteDamage(this.#cluster, each))
    const endMs = clock.elapsed()
    this.#nameAtMs = endMs + (endMs - beganMs) * REST_TIMES
  }

  /** After a crash it goes on there, with what was counted until then. */
  #reach(at: { readonly volume: string; readonly after: string }): void {
    this.#at = at
    this.#countsAt = this.counts
  }

  /** Tells what is wrong with a blob, if anything is. */
  async #examine(volume: string, files: Files, blob: StoredBlob): Promise<Loss | undefined> {
    try {
      await untilAvailable(this.#cluster, this.#work, async () => {
        const sound = await checkBlob(files, blob, (bytes) => this.#pause(bytes))
        if (blob.crc !== undefined) return
        if (sound.crc !== undefined) {
          await this.#cluster.catalog.commit([{ do: 'note-blob', volume, blob: blob.blob, crc: sound.crc }])
        } else if (sound.md5 !== undefined) {
          await this.#upgrade(volume, files, blob, { label: sound.label, md5: sound.md5 })
        }
      })
      return undefined
    } catch (failure) {
      const kind = damageOf(failure)
      if (failure instanceof Unneeded) return undefined
      if (kind === undefined) throw failure
      // It may have been deleted or moved since the page was read.
      const row = await this.#cluster.find('storage/volumes', volume)
      const isNeeded = (await this.#cluster.catalog.storedBlob(volume, blob.blob)) !== undefined
      if (!isNeeded || row === undefined || isMoving(row) || placeOf(row).tree !== files.tree) return undefined
      this.#count({ damaged: this.counts.damaged + 1 })
      return { blob: blob.blob, kind, message: failure instanceof Error ? failure.message : String(failure) }
    }
  }

  async #upgrade(
    volume: string,
    files: Files,
    blob: StoredBlob,
    as: { readonly label: Uint8Array; readonly md5: string },
  ): Promise<void> {
    const reader = await files.volumes.open(files.tree, blob.blob, blob)
    try {
      const pause = (bytes: number) => this.#pause(bytes)
      await rewriteBlob(this.#cluster, volume, files, blob, reader, as, { pause, changes: [] })
      this.#count({ upgraded: this.counts.upgraded + 1 })
    } finally {
      await reader.close()
    }
  }

  async #list(volume: string, files: Files): Promise<void> {
    const { cluster, known } = { cluster: this.#cluster, known: await this.#cluster.rows(DAMAGE, volume) }
    for (const row of known) {
      if (isLoss(row['kind']) || (await isThere(files, row['blob'] ?? ''))) continue
      const key = row['uuid']
      await this.#repeatable(() => cluster.catalog.commit([{ do: 'remove-record', type: DAMAGE, key }]))
    }
    const pause = async (ms = 0, bytes = 0) => {
      if (ms > 0) await cluster.system.clock.sleep(ms, this.#work.stopping)
      await this.#pause(bytes)
    }
    for await (const found of unexpectedFiles(cluster, volume, files, pause)) {
      const givenUp = await this.#giveUp(volume, files.tree, found)
      const { unexpected, setAside } = this.counts
      this.#count({ unexpected: unexpected + found.length, setAside: setAside + givenUp.size })
      for (const { blob, kind } of found) {
        if (givenUp.has(blob)) continue
        const file = { volume, blob, kind, foundBy: 'scrub', message: MESSAGES[kind] } as const
        await this.#repeatable(() => noteDamage(cluster, file))
      }
    }
  }

  /**
   * From then on no row may name these files, whoever is about to commit one, so housekeeping can move them without
   * anything being lost. A file that another tree has too may be what a volume reads that is being moved there.
   */
  async #giveUp(volume: string, tree: string, found: readonly UnexpectedFile[]): Promise<ReadonlySet<string>> {
    const blobs = found.filter((one) => one.kind === 'unknown' && !one.isBeforeRestore).map(({ blob }) => blob)
    if (blobs.length === 0) return new Set()
    try {
      const [outcome] = await this.#repeatable(() =>
        this.#cluster.catalog.commit([{ do: 'give-up-blobs', volume, tree, blobs }]),
      )
      return new Set(outcome?.blobs)
    } catch (failure) {
      // The volume was moved or deleted meanwhile, or the catalog has no space for it: the next scrub finds them again.
      if (failure instanceof CommitRefused) return new Set()
      throw failure
    }
  }

  async #pause(bytes: number): Promise<void> {
    this.#insistOnGoing()
    await this.#rate.spend(bytes, this.#work.stopping)
    this.#insistOnGoing()
  }

  #repeatable<Result>(act: () => Promise<Result>): Promise<Result> {
    return untilAvailable(this.#cluster, this.#work, act)
  }

  #insistOnGoing(): void {
    if (this.#work.stopping.aborted) throw new Interrupted()
  }

  #count(counts: Partial<ScrubCounts>): void {
    this.counts = { ...this.counts, ...counts }
  }

  async #noteNowAndThen(): Promise<void> {
    if (this.#cluster.system.clock.elapsed() - this.#notedAtMs >= NOTE_EVERY_MS) await this.#note()
  }

  async #note(): Promise<void> {
    this.#notedAtMs = this.#cluster.system.clock.elapsed()
    const { usedBytes } = await this.#cluster.catalog.aggregate(this.#aggregate)
    const done = Math.min(1, this.counts.examinedBytes / Math.max(1, usedBytes))
    const counts = this.#countsAt
    await untilAvailable(this.#cluster, this.#work, async () => {
      await this.#work.commit([], { ...this.#at, counts })
      await this.#work.progress(done, `${this.counts.examinedBytes} bytes (${Math.floor(done * 100)}%) verified`)
    })
  }
}

const MESSAGES: Readonly<Record<Extract<DamageKind, 'unknown' | 'duplicate'>, string>> = {
  unknown: 'No object needs the file.',
  duplicate: 'The object that needs these bytes has them in another place.',
}
