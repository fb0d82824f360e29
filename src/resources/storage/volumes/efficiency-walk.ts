/**
 * Goes through the blobs of a volume in the order of their names and stores in less what can be. What a blob was found to
 * be is kept with it, so that the next run passes it by.
 *
 *     the same bytes are there already?    the blob shares the file of its twin        one file less
 *     else, does it shrink?                a smaller file takes the place of its own   fewer bytes
 *
 * Files change first, and the catalog says so afterwards. After a crash in between the volume counts more than the disk
 * holds or, where several blobs shared the file that was replaced, less by the new one; the run that goes on finds the
 * files as they are, and says it then.
 */
import type { Cluster } from '../../../core/cluster.ts'
import { blobsLock, unlinkForgotten } from '../../../storage/blobs-lock.ts'
import { describe } from '../../../core/describe.ts'
import { placeOf } from '../../../storage/tree-of.ts'
import { untilAvailable } from '../../../core/jobs/until-available.ts'
import { Interrupted, type Work } from '../../../core/verb.ts'
import type { NewOf } from '../../../model/rows.ts'
import { CommitRefused, SHARING_BLOBS_MAX, type Change, type StoredBlob, type Tried } from '../../../ports/catalog.ts'
import { VolumesFailure, type Manner, type Volumes } from '../../../ports/volumes.ts'
import { digestOfLabel } from '../../../s3/objects/labels.ts'
import { compressionOf, dedupeOf } from './efficiency.ts'
import { changeNotes, readNotes } from './efficiency-notes.ts'
import { isMoving } from './movement.ts'

/** Blobs read from the catalog at a time: about a millisecond. */
const PAGE = 200
/** Where the run is, and what it has counted, is noted this often. After a crash no more than that is looked at again. */
const NOTE_EVERY_MS = 2000
/** Those of the same digest that are looked at. All but one of them have the same bytes, unless somebody plays tricks. */
const TWINS_LOOKED_AT = 4
/** A rest is no longer than this, so that a run can be stopped. */
const REST_MS_MAX = 1000
/** Writers may share a file at the moment it is compressed; then it is done again with them. */
const TRIES = 5
/** Space is given in blocks: a body of one block takes as much whatever its size. */
const COMPRESSED_BYTES_MIN = 4096
const HOUR_MS = 3_600_000

export type WalkCounts = {
  readonly examined: number
  readonly examinedBytes: number
  readonly compressed: number
  readonly shared: number
  readonly failed: number
  readonly savedBytes: number
}

const NOTHING: WalkCounts = { examined: 0, examinedBytes: 0, compressed: 0, shared: 0, failed: 0, savedBytes: 0 }

export type RunWork = Work<
  NewOf<'storage/volumes/{volume.uuid}/efficiency-runs'> & { readonly uuid: string; readonly 'volume.uuid': string },
  {
    readonly startMs: number
    /** The last blob that was looked at, and what was counted up to it. */
    readonly after: string
    readonly counts: WalkCounts
  }
>

interface Wants {
  readonly compression: boolean
  readonly dedupe: boolean
  readonly files: Files
}

/** The tree that the volume's blobs are in. */
interface Files {
  readonly volumes: Volumes
  readonly tree: string
}

/** Somebody wants the run to end, or its time is over. */
class Stopped extends Error {}
/** Nothing needs the blob any more. */
class Gone extends Error {}

export class EfficiencyWalk {
  counts: WalkCounts
  readonly #cluster: Cluster
  readonly #work: RunWork
  readonly #volume: string
  readonly #endMs: number
  readonly #isGentle: boolean
  readonly #triesAgain: boolean
  #after: string
  /** Found out, and not noted yet. */
  readonly #tried = new Map<string, Tried>()
  #isUnableTold = false
  /** Not counted yet: bodies that were compressed, and those that did not become smaller. */
  #attempts = 0
  #failures = 0
  #workingSinceMs: number
  #notedAtMs: number

  constructor(cluster: Cluster, work: RunWork, volume: string) {
    const { input, memo } = work
    this.#cluster = cluster
    this.#work = work
    this.#volume = volume
    this.counts = { ...NOTHING, ...memo.counts }
    this.#after = memo.after ?? ''
    const hours = input['duration'] ?? 0
    this.#endMs = hours === 0 ? Infinity : (memo.startMs ?? cluster.now()) + hours * HOUR_MS
    this.#isGentle = input['qos_policy'] !== 'best_effort'
    this.#triesAgain = input['scan_old_data'] === true
    this.#workingSinceMs = cluster.system.clock.elapsed()
    this.#notedAtMs = this.#workingSinceMs
  }

  /** Goes on where the memo says. Ends before everything was looked at when it is told to, or the volume is not there. */
  async go(): Promise<'success' | 'stopped'> {
    const { catalog } = this.#cluster
    try {
      for (;;) {
        const { blobs, next } = await catalog.storedBlobs(this.#volume, this.#after, PAGE)
        await this.#pause()
        const wants = await this.#wants()
        if (wants.dedupe) await this.#learnDigests(wants, blobs)
        for (const blob of blobs) {
          if (!this.#isDone(blob, wants)) {
            await this.#pause()
            await this.#look(blob.blob)
          }
          const { examined, examinedBytes } = this.counts
          this.#count({ examined: examined + 1, examinedBytes: examinedBytes + blob.sizeBytes })
          this.#after = blob.blob
          await this.#note()
        }
        await this.#keepTried()
        if (next === undefined) return 'success'
        this.#after = next
      }
    } catch (failure) {
      if (failure instanceof Stopped) return 'stopped'
      throw failure
    }
  }

  #isDone({ sizeBytes, group, tried }: StoredBlob, wants: Wants): boolean {
    const canCompress = wants.compression && sizeBytes > COMPRESSED_BYTES_MIN
    if (this.#triesAgain) return !canCompress && (!wants.dedupe || group !== undefined)
    return (!canCompress || tried.compression === true) && (!wants.dedupe || tried.dedupe === true)
  }

  /** What twins are found by, of all that are about to be looked at. It was written with them, into their labels. */
  async #learnDigests(wants: Wants, blobs: readonly StoredBlob[]): Promise<void> {
    const volume = this.#volume
    const changes: Change[] = []
    for (const { blob, digest, ...rest } of blobs) {
      if (digest !== undefined || this.#isDone({ blob, ...rest }, { ...wants, compression: false })) continue
      const found = await digestOf(wants.files, blob)
      if (found !== undefined) changes.push({ do: 'note-blob', volume, blob, digest: found })
      await this.#pause()
    }
    if (changes.length > 0) {
      await untilAvailable(this.#cluster, this.#work, () => this.#cluster.catalog.commit(changes))
    }
  }

  /** One commit for many: whose note is lost is tried once more. */
  async #keepTried(): Promise<void> {
    const changes = [...this.#tried].map(([blob, tried]): Change => {
      return { do: 'note-blob', volume: this.#volume, blob, tried }
    })
    this.#tried.clear()
    if (this.#attempts > 0) {
      const add = { compress_attempts: this.#attempts, compress_failures: this.#failures }
      const of = { type: 'storage/volumes', key: this.#volume }
      changes.push({ do: 'count', table: 'volume', row: this.#volume, of, add })
      this.#attempts = 0
      this.#failures = 0
    }
    if (changes.length > 0) await this.#commit(changes)
  }

  async #look(name: string): Promise<void> {
    const { dedupe, compression, files } = await this.#wants()
    try {
      await untilAvailable(this.#cluster, this.#work, async () => {
        // What the list says may be old: others have written since, and this run itself.
        const blob = await this.#find(name)
        // A file that stands for blobs of clones too stays as it is: each of them counts it for itself.
        if (blob.isShared === true) return
        if (dedupe && (await this.#share(files, blob))) return
        if (compression) await this.#compress(files, blob)
      })
    } catch (failure) {
      if (failure instanceof Gone) return
      const reason = failure instanceof VolumesFailure ? failure.reason : undefined
      if (reason !== 'missing' && reason !== 'damaged') throw failure
      if (reason === 'missing' && (await this.#cluster.catalog.storedBlob(this.#volume, name)) === undefined) return
      this.#count({ failed: this.counts.failed + 1 })
      this.#cluster.log.error('A blob could not be stored in less.', { blob: name, cause: describe(failure) })
    }
  }

  /** As the volume and the order say now. Who turns everything off ends the run. */
  async #wants(): Promise<Wants> {
    const row = await this.#cluster.find('storage/volumes', this.#volume)
    if (row === undefined || row['state'] === 'offline' || isMoving(row)) throw new Stopped()
    const { input } = this.#work
    const wants = {
      compression: input['compression'] ?? compressionOf(row) !== 'none',
      dedupe: input['dedupe'] ?? dedupeOf(row) !== 'none',
    }
    if (!wants.compression && !wants.dedupe) throw new Stopped()
    const { aggregate, tree } = placeOf(row)
    return { ...wants, files: { volumes: await this.#cluster.volumesOf(aggregate), tree } }
  }

  /** Whether the blob shares its file with another one now. */
  async #share(files: Files, blob: StoredBlob): Promise<boolean> {
    const volume = this.#volume
    const { catalog } = this.#cluster
    if (blob.tried.dedupe === true && !this.#triesAgain) return false
    const { digest, sizeBytes } = blob
    if (digest === undefined) {
      this.#keepDedupeTried(blob)
      return false
    }
    let isStale = false
    const found = await catalog.twins(volume, { digest, sizeBytes }, TWINS_LOOKED_AT + 1)
    for (const twin of found
      .filter((one) => one.isShared !== true && isBetter(one, blob))
      .toSorted((a, b) => a.storedBytes - b.storedBytes)) {
      // Two that came at the same moment may each have others with them.
      const outcome = await this.#join(files, await this.#together(blob), twin)
      isStale ||= outcome === 'stale'
      if (outcome !== 'shared') continue
      const { shared, savedBytes } = this.counts
      this.#count({ shared: shared + 1, savedBytes: savedBytes + blob.storedBytes })
      return true
    }
    // A twin that was there a moment ago may have others.
    if (!isStale) this.#keepDedupeTried(blob)
    return false
  }

  #keepDedupeTried({ blob }: StoredBlob): void {
    this.#tried.set(blob, { ...this.#tried.get(blob), dedupe: true })
  }

  /**
   * The blobs, which share a file, have that of their twin now and the catalog says so; or the twin is none, or is not
   * there any more. They are one commit: those that a killed run left behind would be known to be looked at, and stay.
   */
  async #join(files: Files, blobs: readonly string[], twin: StoredBlob): Promise<'shared' | 'none' | 'stale'> {
    const volume = this.#volume
    if (blobs.length > 1 && blobs.length + (await this.#together(twin)).length > SHARING_BLOBS_MAX) return 'none'
    const joining: string[] = []
    for (const blob of blobs) {
      const sharing = await unlessGone(
        this.#placing(files, blob, (manner) =>
          // The twin may have just gone. What is wrong with the blob itself shows when it is compressed.
          files.volumes.share(files.tree, blob, twin.blob, manner).catch(unlessUnreadable),
        ),
      )
      if (sharing === 'unable') this.#tellUnable()
      if (sharing === 'shared') joining.push(blob)
      else if (joining.length === 0) return sharing === undefined ? 'stale' : 'none'
    }
    if (!(await this.#commit(joining.map((blob) => ({ do: 'share-blob', volume, blob, twin: twin.blob }))))) {
      return 'stale'
    }
    const known = { dedupe: true, compression: twin.tried.compression === true }
    for (const blob of joining) this.#tried.set(blob, known)
    return 'shared'
  }

  async #compress(files: Files, given: StoredBlob): Promise<void> {
    const volume = this.#volume
    for (let tries = 0, blob = given; tries < TRIES; tries++, blob = await this.#find(blob.blob)) {
      const { sizeBytes, storedBytes: before } = blob
      if (sizeBytes <= COMPRESSED_BYTES_MIN || (blob.tried.compression === true && !this.#triesAgain)) return
      const storedBytes = await this.#placing(files, blob.blob, (manner) =>
        files.volumes.compress(files.tree, blob.blob, manner),
      )
      const members = await this.#together(blob)
      const keep = () => {
        for (const one of members) this.#tried.set(one, { ...this.#tried.get(one), compression: true })
      }
      this.#attempts++
      if (storedBytes === before) {
        this.#failures++
        keep()
        return
      }
      for (const one of members) if (one !== blob.blob) await this.#follow(files, one, blob.blob)
      if (await this.#commit([{ do: 'store-blobs', volume, blobs: members, storedBytes }])) {
        const { compressed, savedBytes } = this.counts
        this.#count({ compressed: compressed + 1, savedBytes: savedBytes + before - storedBytes })
        keep()
        return
      }
    }
  }

  #tellUnable(): void {
    if (this.#isUnableTold) return
    this.#isUnableTold = true
    this.#cluster.log.warn(
      'Some bytes of a volume are stored more than once: they are in packs, or its disk has no links between files.',
      { volume: this.#volume },
    )
  }

  /** The blobs that share the file of this one, itself among them. */
  async #together({ blob, sizeBytes, digest, group }: StoredBlob): Promise<string[]> {
    if (group === undefined || digest === undefined) return [blob]
    const found = await this.#cluster.catalog.twins(this.#volume, { digest, sizeBytes, group }, SHARING_BLOBS_MAX)
    return found.map((one) => one.blob)
  }

  /** A blob that shared the file that was replaced shares the new one. */
  async #follow(files: Files, blob: string, twin: string): Promise<void> {
    const sharing = await unlessGone(
      this.#placing(files, blob, (manner) => files.volumes.share(files.tree, blob, twin, manner)),
    )
    if (sharing === 'shared' || sharing === undefined) return
    throw new Error(`Blob ${blob} could not follow its twin ${twin}: ${sharing}.`)
  }

  /** Housekeeping unlinks what nothing needs; it is kept from it while a file is put in a place, and only that long. */
  async #placing<Result>(files: Files, blob: string, act: (manner: Manner) => Promise<Result>): Promise<Result> {
    let release: (() => void) | undefined
    try {
      const placed = await act({
        between: () => this.#pause(),
        beforePlacing: async () => {
          release = await this.#cluster.locks.acquire([blobsLock(this.#volume)])
          await this.#find(blob)
          // A move that has begun copies files as they are.
          const row = await this.#cluster.find('storage/volumes', this.#volume)
          if (row === undefined || isMoving(row)) throw new Stopped()
        },
      })
      if (release !== undefined) await unlinkForgotten(this.#cluster, this.#volume, files, blob)
      return placed
    } finally {
      release?.()
    }
  }

  async #find(blob: string): Promise<StoredBlob> {
    const found = await this.#cluster.catalog.storedBlob(this.#volume, blob)
    if (found === undefined) throw new Gone()
    return found
  }

  /** False when somebody else was faster, so that it does not hold any more. */
  async #commit(changes: readonly Change[]): Promise<boolean> {
    try {
      await this.#cluster.catalog.commit(changes)
      return true
    } catch (failure) {
      if (!(failure instanceof CommitRefused)) throw failure
      if (failure.reason === 'missing' && failure.scope === 'volume') throw new Stopped()
      return false
    }
  }

  /** Gives others their turn; a gentle run rests as long as it has worked. */
  async #pause(): Promise<void> {
    const { clock } = this.#cluster.system
    if (this.#work.stopping.aborted) throw new Interrupted()
    if (this.#cluster.now() >= this.#endMs) throw new Stopped()
    if ((await readNotes(this.#cluster, this.#volume)).mustStop === true) throw new Stopped()
    const workedMs = clock.elapsed() - this.#workingSinceMs
    // Less than a turn of the event loop is not worth a timer.
    if (workedMs < 1) return
    await clock.sleep(this.#isGentle ? Math.min(workedMs, REST_MS_MAX) : 0, this.#work.stopping)
    this.#workingSinceMs = clock.elapsed()
  }

  #count(counts: Partial<WalkCounts>): void {
    this.counts = { ...this.counts, ...counts }
  }

  async #note(): Promise<void> {
    const { clock } = this.#cluster.system
    if (clock.elapsed() - this.#notedAtMs < NOTE_EVERY_MS) return
    this.#notedAtMs = clock.elapsed()
    const {
      usedBytes = 0,
      savedByCompressionBytes = 0,
      savedByDedupeBytes = 0,
    } = (await this.#cluster.catalog.volume(this.#volume)) ?? {}
    const wholeBytes = Math.max(1, usedBytes + savedByCompressionBytes + savedByDedupeBytes)
    const done = Math.min(1, this.counts.examinedBytes / wholeBytes)
    const progress = `${this.counts.examinedBytes} bytes (${Math.floor(done * 100)}%) done`
    const { counts } = this
    await this.#keepTried()
    await untilAvailable(this.#cluster, this.#work, async () => {
      await changeNotes(this.#cluster, this.#volume, { progress }, (change) =>
        this.#work.commit([change], { after: this.#after, counts }),
      )
      await this.#work.progress(done, progress)
    })
  }
}

/** From the label of a blob, which has it since the blob was written. None where the file is damaged, or has just gone. */
async function digestOf({ volumes, tree }: Files, blob: string): Promise<string | undefined> {
  try {
    const reader = await volumes.open(tree, blob)
    try {
      return digestOfLabel(await reader.label())
    } finally {
      await reader.close()
    }
  } catch (failure) {
    return unlessUnreadable(failure)
  }
}

/**
 * Whether a blob is better off in the file of its twin: always where it is alone. One that shares a file already goes from
 * one group to another in one direction only.
 */
function isBetter(twin: StoredBlob, { blob, group, storedBytes }: StoredBlob): boolean {
  if (twin.blob === blob || (group !== undefined && twin.group === group)) return false
  if (group === undefined) return true
  return twin.storedBytes < storedBytes || (twin.storedBytes === storedBytes && (twin.group ?? twin.blob) < group)
}

async function unlessGone<Result>(attempt: Promise<Result>): Promise<Result | undefined> {
  try {
    return await attempt
  } catch (failure) {
    if (failure instanceof Gone) return undefined
    throw failure
  }
}

function unlessUnreadable(failure: unknown): undefined {
  if (failure instanceof VolumesFailure && (failure.reason === 'missing' || failure.reason === 'damaged')) return
  throw failure
}
