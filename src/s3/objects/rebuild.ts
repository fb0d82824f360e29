/**
 * Gives back to the index what only the labels of blobs still know: objects and parts that were written after the state of
 * the catalog. Run while nobody else writes. What was written last wins, as it would have then, so blobs are taken in the
 * order of the times in their labels. It may be repeated: a blob that the catalog knows is left alone.
 *
 * Labels do not tell everything. An upload that was completed is not among them, nor is a delete, a copy that shares the
 * blobs of its source, or an object of 0 bytes, which has no blob.
 */
import { CommitRefused } from '../../ports/catalog.ts'
import type { BlobDraft, BlobIndex, Change, Commits, ObjectIndex } from '../../ports/catalog.ts'
import { VolumesFailure } from '../../ports/volumes.ts'
import type { BlobReader, Volumes } from '../../ports/volumes.ts'
import { defaultContentType } from '../request/metadata.ts'
import { isId } from './ids.ts'
import { type BlobLabel, readLabel } from './labels.ts'

const PAGE = 500
const READ_BYTES = 2 ** 20
/** Blobs of one tree that are put into order in memory. */
const FOUND_MAX = 10_000_000
/** A part may be committed so long after its label was written, or an object. */
const COMMIT_MS_MAX = 3_600_000

/** A tree with the blobs of a volume. */
export interface RebuiltTree {
  /** Missing where no volume of the catalog has the tree. */
  readonly volume?: string
  readonly tree: string
  readonly engine: Volumes
}

/** Why a blob was not given back. */
export type Unrestored =
  /** Its bucket is not in the catalog. */
  | 'unknown bucket'
  /** Its volume is not in the catalog, or was elsewhere then. */
  | 'in the tree of an unknown volume'
  /** A part of an upload that is not in the catalog: that it was completed, and how, is not known. */
  | 'part of an unknown upload'
  /** The key has a newer object, or the upload a newer part. */
  | 'replaced'
  /** Older than the state of the catalog: what was deleted, or never acknowledged. */
  | 'older than the catalog'
  /**
   * The file stands for another blob with the same bytes, and has the label of that. So has the copy of a blob whose volume
   * was moved while it was written.
   */
  | 'label of a twin'
  | 'without a label'
  /** Checksums of its bytes do not fit. */
  | 'damaged'
  /** The catalog refuses it; the reason is told. */
  | 'refused'

export interface RebuildTold {
  readonly blob: string
  readonly why?: Unrestored
  readonly reason?: string
  readonly label?: BlobLabel
}

export interface Rebuilding {
  readonly catalog: ObjectIndex & BlobIndex & Commits
  readonly trees: readonly RebuiltTree[]
  /** When the state of the catalog was taken, if it is not the newest. */
  readonly stateMs: number
  /** Told of every blob that the catalog did not know; without `why` it was given back. */
  readonly tell: (told: RebuildTold) => void
}

export async function rebuildIndex({ catalog, trees, stateMs, tell }: Rebuilding): Promise<void> {
  const done = new Set<string>()
  for (const { volume, tree, engine } of trees) {
    if (done.has(tree)) continue
    done.add(tree)
    const found: { readonly blob: string; readonly timeMs: number }[] = []
    for await (const blob of unknownBlobs(catalog, volume, tree, engine)) {
      const read = await readFound(engine, tree, blob)
      if (read === undefined) tell({ blob, why: 'without a label' })
      else if (volume === undefined) tell({ blob, why: 'in the tree of an unknown volume', label: read.label })
      else if (read.label.blob !== '' && isId(blob) && read.label.blob !== blob)
        tell({ blob, why: 'label of a twin', label: read.label })
      else if (read.label.timeMs < stateMs - COMMIT_MS_MAX)
        tell({ blob, why: 'older than the catalog', label: read.label })
      else if (found.push({ blob, timeMs: read.label.timeMs }) > FOUND_MAX)
        throw new RangeError(`More than ${FOUND_MAX} blobs of one volume are unknown to the catalog.`)
    }
    for (const { blob } of found.toSorted((a, b) => a.timeMs - b.timeMs)) {
      const read = await readFound(engine, tree, blob)
      if (read === undefined) tell({ blob, why: 'without a label' })
      else if (await isDamaged(engine, tree, blob)) tell({ blob, why: 'damaged', label: read.label })
      else tell({ blob, label: read.label, ...(await giveBack(catalog, tree, read)) })
    }
  }
}

async function* unknownBlobs(
  catalog: ObjectIndex & BlobIndex & Commits,
  volume: string | undefined,
  tree: string,
  engine: Volumes,
): AsyncGenerator<string> {
  if (volume === undefined) return yield* engine.blobs(tree)
  let batch: string[] = []
  for await (const blob of engine.blobs(tree)) {
    if (batch.push(blob) < PAGE) continue
    const known = await catalog.knownBlobs(volume, batch, [tree])
    yield* batch.filter((each) => !known.has(each))
    batch = []
  }
  const known = await catalog.knownBlobs(volume, batch, [tree])
  yield* batch.filter((each) => !known.has(each))
}

interface Found {
  readonly label: BlobLabel
  readonly draft: BlobDraft
}

/** Nothing of a blob that was not written to its end, or whose label cannot be understood. */
async function readFound(engine: Volumes, tree: string, blob: string): Promise<Found | undefined> {
  let reader: BlobReader | undefined
  try {
    reader = await engine.open(tree, blob)
    const label = readLabel(await reader.label())
    const { storedBytes, sizeBytes, crc } = reader
    if (label === undefined || label.sizeBytes !== sizeBytes) return undefined
    return { label, draft: { blob, sizeBytes, storedBytes, ...(crc === undefined ? {} : { crc }) } }
  } catch (failure) {
    if (!(failure instanceof VolumesFailure) || failure.reason === 'away') throw failure
    return undefined
  } finally {
    await reader?.close()
  }
}

/** What replaces an object must be whole itself. */
async function isDamaged(engine: Volumes, tree: string, blob: string): Promise<boolean> {
  const reader = await engine.open(tree, blob)
  try {
    for (let at = 0; at < reader.sizeBytes; at += READ_BYTES) {
      await reader.read(at, Math.min(READ_BYTES, reader.sizeBytes - at))
    }
    return false
  } catch (failure) {
    if (failure instanceof VolumesFailure && failure.reason === 'damaged') return true
    throw failure
  } finally {
    await reader.close()
  }
}

async function giveBack(
  catalog: ObjectIndex & BlobIndex & Commits,
  tree: string,
  { label, draft: blob }: Found,
): Promise<Pick<RebuildTold, 'why' | 'reason'>> {
  const { bucket, key, sizeBytes, etag, checksum, timeMs, part } = label
  const counters = await catalog.bucket(bucket)
  if (counters === undefined) return { why: 'unknown bucket' }
  const blobs = [blob]
  let change: Change
  if (part === undefined) {
    const current = await catalog.object(bucket, key)
    const isReplaced = current !== undefined && (current.modifiedMs > timeMs || current.blobs[0]?.blob === blob.blob)
    if (isReplaced) return { why: 'replaced' }
    const { object = { version: versionOf(blob), details: { contentType: defaultContentType, user: {}, owner: '' } } } =
      label
    const draft = { ...object, sizeBytes, etag, modifiedMs: timeMs, checksum, blobs, parts: null }
    change = { do: 'put-object', bucket, key, object: draft, tree, nowMs: timeMs }
  } else {
    const { upload, number } = part
    const open = await catalog.upload(bucket, upload)
    if (open === undefined) return { why: 'part of an unknown upload' }
    const [before] = await catalog.parts(bucket, upload, number - 1, 1)
    if (before?.number === number && before.modifiedMs >= timeMs) return { why: 'replaced' }
    const draft = { number, sizeBytes, etag, modifiedMs: timeMs, checksum, blobs }
    change = { do: 'put-part', bucket, upload, part: draft, maxTotalBytes: Number.MAX_SAFE_INTEGER, tree }
  }
  try {
    await catalog.commit([change])
    return {}
  } catch (failure) {
    if (!(failure instanceof CommitRefused)) throw failure
    return { why: 'refused', reason: [failure.reason, failure.scope].filter((text) => text !== '').join(' ') }
  }
}

/** For an object whose label is of an earlier release. */
function versionOf({ blob }: BlobDraft): string {
  return blob.replaceAll('-', '').slice(-32)
}
