import { CommitRefused } from '../../ports/catalog.ts'
import type { BlobDraft, Change, Outcome } from '../../ports/catalog.ts'
import type { BlobWriter } from '../../ports/volumes.ts'
import type { BodyOutcome, BodyPlan } from '../body/body.ts'
import { checksumAlgorithms, hashDigest } from '../checksums/algorithms.ts'
import type { ChecksumAlgorithm } from '../checksums/algorithms.ts'
import { newId } from './ids.ts'
import { blobLabel } from './labels.ts'
import type { BlobLabel, LabelledObject } from './labels.ts'
import { commitGrowing } from './growth.ts'
import type { ObjectStore, OpenBucket } from './store.ts'
import { settled, writtenHow } from './storing.ts'

/** Bytes on their way in. They count only when `pieces` has ended without an error. */
export interface IncomingBody {
  readonly sizeBytes: number
  readonly pieces: AsyncIterable<Buffer>
  /** That of the checksum in the outcome. */
  readonly algorithm: ChecksumAlgorithm
  /** Sizes and digests of what came; after the last piece. */
  outcome(): BodyOutcome
}

/** The body of a request. */
export function bodyOf(plan: BodyPlan, source: AsyncIterable<Buffer>): IncomingBody {
  const { sizeBytes, algorithm } = plan
  return { sizeBytes, algorithm, pieces: plan.receive(source), outcome: () => plan.outcome() }
}

/** Bytes that are here already, such as those of another object. */
export function digested(pieces: AsyncIterable<Buffer>, sizeBytes: number, algorithm: ChecksumAlgorithm): IncomingBody {
  const md5 = hashDigest('md5')
  const checksum = checksumAlgorithms[algorithm].begin()
  async function* digest(): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      md5.update(piece)
      checksum.update(piece)
      yield piece
    }
  }
  let outcome: BodyOutcome | undefined
  return {
    sizeBytes,
    algorithm,
    pieces: digest(),
    outcome: () =>
      (outcome ??= {
        sizeBytes,
        md5: md5.value(),
        checksum: { algorithm, type: 'FULL_OBJECT', value: checksum.value().toString('base64') },
      }),
  }
}

export interface StoredBody {
  readonly outcome: BodyOutcome
  /** Empty for a body of 0 bytes. */
  readonly blobs: readonly BlobDraft[]
  readonly timeMs: number
}

/**
 * Writes a body as a blob: durable on return, nothing left when it fails. Nothing leads to the blob before a commit names
 * it; if the process ends in between, it is rubbish, and is collected.
 *
 * The next piece is received and digested while the last one is written, unless others wait for a turn.
 */
export async function storeBody(
  store: ObjectStore,
  bucket: OpenBucket,
  body: IncomingBody,
  about: Pick<BlobLabel, 'key' | 'part'> & { readonly object?: (timeMs: number) => LabelledObject },
): Promise<StoredBody> {
  const { system } = store
  const id = newId(system)
  let writer: BlobWriter | undefined
  let writing: Promise<void> | undefined
  try {
    for await (const piece of body.pieces) {
      if (piece.length === 0) continue
      await writing
      writer ??= await bucket.place.write(id, writtenHow(bucket, body.sizeBytes))
      writing = writer.write(piece, () => store.bodyBuffers.giveBack(piece))
      // A failure is met at the next `await`; until then it must not count as unhandled.
      writing.catch(() => {})
      if (store.transfers.isShort) await writing
    }
    await writing
    const outcome = body.outcome()
    const timeMs = system.clock.now()
    if (writer === undefined) return { outcome, blobs: [], timeMs }
    const { sizeBytes, md5, checksum } = outcome
    const { object, ...of } = about
    const etag = md5.toString('hex')
    const described = object === undefined ? {} : { object: object(timeMs) }
    const { blob, storedBytes, crc } = await writer.commit(
      blobLabel({ blob: id, bucket: bucket.uuid, sizeBytes, etag, checksum, timeMs, ...of, ...described }),
    )
    return { outcome, blobs: [await settled(store, bucket, { blob, sizeBytes, crc, storedBytes, md5 })], timeMs }
  } catch (failure) {
    await writing?.catch(() => {})
    await writer?.abort()
    throw failure
  }
}

/**
 * Commits the change that names new blobs. When it is refused they belong to nobody and go at once. After any other failure
 * the commit may have been done, so they stay: if it was not, they are collected like all rubbish.
 *
 * When the volume was moved since they were written, they follow it, and no client notices.
 */
export async function commitNaming(
  store: ObjectStore,
  bucket: OpenBucket,
  written: readonly BlobDraft[],
  change: NamingChange,
): Promise<Outcome> {
  const { place } = bucket
  const growthBytes = written.reduce((sum, { sizeBytes, storedBytes = sizeBytes }) => sum + storedBytes, 0)
  let blobs = written
  for (let follows = 0; ; follows += 1) {
    try {
      const named = blobs === written ? change : naming(change, blobs)
      const tree = blobs.length === 0 ? {} : { tree: place.tree }
      return await commitGrowing(store, bucket, growthBytes, { ...named, ...tree })
    } catch (failure) {
      const hasMoved = failure instanceof CommitRefused && failure.reason === 'moved' && follows < followsMax
      if (failure instanceof CommitRefused && !hasMoved) await place.unlink(blobs)
      if (!hasMoved) throw failure
      blobs = await place.follow(blobs, () => newId(store.system), { packs: bucket.mayPack })
    }
  }
}

/** A change that names blobs nobody else has. */
type NamingChange = Extract<Change, { readonly do: 'put-object' | 'put-part' }>

/** Moves of one volume while one request commits. */
const followsMax = 4

function naming(change: NamingChange, blobs: readonly BlobDraft[]): NamingChange {
  return change.do === 'put-object'
    ? { ...change, object: { ...change.object, blobs } }
    : { ...change, part: { ...change.part, blobs } }
}
