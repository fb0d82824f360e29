import type { ObjectChecksum, ObjectRow, PartDraft, PartRow } from '../../ports/catalog.ts'
import { CommitRefused } from '../../ports/catalog.ts'
import { checksumAlgorithms } from '../checksums/algorithms.ts'
import type { ByteRange } from '../request/ranges.ts'
import { insistOnSoundness } from './damage.ts'
import { requestBytesMaxOf } from './limits.ts'
import { withObject } from './read.ts'
import { refuseEarly, tooLarge } from './room.ts'
import { commitNaming, digested, storeBody } from './store-body.ts'
import type { IncomingBody } from './store-body.ts'
import type { ObjectStore, OpenBucket } from './store.ts'
import type { OpenUpload } from './uploads.ts'

/** Parts read from the catalog at a time. */
const partsPage = 1000

/** What a client is told about its part: the checksum it sent, where that differs from what the upload keeps. */
export interface PutPart {
  readonly part: PartRow
  readonly answered: ObjectChecksum
}

/** Stores a part that arrives. A part of the same number is replaced. */
export async function putPart(
  store: ObjectStore,
  bucket: OpenBucket,
  upload: OpenUpload,
  number: number,
  incoming: { readonly sizeBytes: number; readonly body: () => IncomingBody },
): Promise<PutPart> {
  await refuseEarly(store, bucket, {
    sizeBytes: incoming.sizeBytes,
    owner: upload.details.owner,
    files: 0,
    async replaced() {
      const [part] = await store.catalog.parts(bucket.uuid, upload.id, number - 1, 1)
      return part?.number === number ? part : undefined
    },
  })
  await refuseTooLarge(store, bucket, upload, number, incoming.sizeBytes)
  const kept = keepingChecksum(incoming.body(), upload)
  const { outcome, blobs, timeMs } = await storeBody(store, bucket, kept.body, {
    key: upload.key,
    part: { upload: upload.id, number },
  })
  const part: PartDraft = {
    number,
    sizeBytes: outcome.sizeBytes,
    etag: outcome.md5.toString('hex'),
    modifiedMs: timeMs,
    checksum: kept.checksum(),
    blobs,
  }
  await commitNaming(store, bucket, blobs, {
    do: 'put-part',
    bucket: bucket.uuid,
    upload: upload.id,
    part,
    maxTotalBytes: bucket.objectBytesMax,
  })
  return { part, answered: outcome.checksum }
}

/** Makes a part of an object, or of a range of it. */
export async function copyPart(
  store: ObjectStore,
  bucket: OpenBucket,
  upload: OpenUpload,
  number: number,
  source: {
    readonly bucket: OpenBucket
    readonly key: Uint8Array
    readonly version?: string | undefined
    /** Looks at the source before anything is done with it. */
    readonly range: (row: ObjectRow) => ByteRange | undefined
  },
): Promise<PartRow> {
  return withObject(
    store,
    source.bucket,
    source.key,
    async (row, open) => {
      const range = source.range(row)
      const sizeBytes = range === undefined ? row.sizeBytes : range.end - range.start + 1
      const maxBytes = requestBytesMaxOf(bucket)
      if (sizeBytes > maxBytes) throw tooLarge(sizeBytes, maxBytes)
      const shared =
        range === undefined ? await sharePart(store, bucket, upload, number, source.bucket, row) : undefined
      if (shared !== undefined) return shared
      const body = digested(await open(range), sizeBytes, upload.algorithm)
      return (await putPart(store, bucket, upload, number, { sizeBytes, body: () => body })).part
    },
    source.version,
  )
}

/** All parts of an upload, ordered by number. */
export async function allParts(
  { catalog }: ObjectStore,
  bucket: OpenBucket,
  upload: string,
): Promise<readonly PartRow[]> {
  const parts: PartRow[] = []
  for (;;) {
    const page = await catalog.parts(bucket.uuid, upload, parts.at(-1)?.number ?? 0, partsPage)
    parts.push(...page)
    if (page.length < partsPage) return parts
  }
}

/** A whole object can be a part without moving its bytes where its digests are those the part needs. */
async function sharePart(
  { catalog, system }: ObjectStore,
  bucket: OpenBucket,
  upload: OpenUpload,
  number: number,
  from: OpenBucket,
  row: ObjectRow,
): Promise<PartRow | undefined> {
  await insistOnSoundness(from, row)
  const fits =
    from.volume === bucket.volume &&
    !row.etag.includes('-') &&
    row.checksum.type === 'FULL_OBJECT' &&
    row.checksum.algorithm === upload.algorithm
  if (!fits) return undefined
  const { sizeBytes, etag, checksum, blobs } = row
  const part: PartRow = { number, sizeBytes, etag, modifiedMs: system.clock.now(), checksum, blobs }
  try {
    await catalog.commit([
      {
        do: 'put-part',
        bucket: bucket.uuid,
        upload: upload.id,
        part,
        maxTotalBytes: bucket.objectBytesMax,
        shares: true,
      },
    ])
    return part
  } catch (failure) {
    // The source was replaced or deleted in between. Opening its bytes tells which.
    if (failure instanceof CommitRefused && failure.scope === 'blob') return undefined
    throw failure
  }
}

/**
 * The commit refuses a part that makes the whole too large. To refuse it before its bytes came, the parts there are must be
 * added up, which is done only where it may come to that: when this many parts of this size would be too large.
 */
async function refuseTooLarge(
  store: ObjectStore,
  bucket: OpenBucket,
  upload: OpenUpload,
  number: number,
  sizeBytes: number,
): Promise<void> {
  if (number * sizeBytes <= bucket.objectBytesMax) return
  const others = (await allParts(store, bucket, upload.id)).filter((part) => part.number !== number)
  const total = others.reduce((sum, part) => sum + part.sizeBytes, sizeBytes)
  if (total > bucket.objectBytesMax) throw tooLarge(total, bucket.objectBytesMax)
}

/**
 * An upload keeps one algorithm for all its parts. Where the client sends another with a part, which only uploads allow that
 * chose none, that one is verified and answered, and the upload's own is computed beside it.
 */
function keepingChecksum(
  body: IncomingBody,
  { algorithm }: OpenUpload,
): { readonly body: IncomingBody; readonly checksum: () => ObjectChecksum } {
  const digest = checksumAlgorithms[algorithm].begin()
  async function* pieces(): AsyncGenerator<Buffer> {
    for await (const piece of body.pieces) {
      digest.update(piece)
      yield piece
    }
  }
  const isSame = body.algorithm === algorithm
  return {
    body: isSame ? body : { ...body, pieces: pieces() },
    checksum: () =>
      isSame ? body.outcome().checksum : { algorithm, type: 'FULL_OBJECT', value: digest.value().toString('base64') },
  }
}
