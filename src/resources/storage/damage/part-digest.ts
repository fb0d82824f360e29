/**
 * Proves that a blob has the bytes of a damaged part whose label is lost with its file. No MD5 of a part outlives its upload,
 * but the ETag of an object of parts is the MD5 of theirs: with the one of the right bytes, and those that the labels of
 * the other parts tell, it comes out. Two lost labels in one object prove nothing. The parts of an open upload have rows
 * with their own MD5s.
 */
import type { Cluster } from '../../../core/cluster.ts'
import type { ObjectRow, PartRow, UploadPosition } from '../../../ports/catalog.ts'
import { hashDigest } from '../../../s3/checksums/algorithms.ts'
import type { DamagedBlob, Twin } from './search-twins.ts'
import { digestOfStored } from './stored-digest.ts'

const BUCKETS = 'protocols/s3/buckets'
/** Open uploads, and parts of one, read at a time. */
const PAGE = 100
/** Open uploads of a volume that are searched for a part. */
const UPLOADS_MAX = 1000
const COMPOSITE = /^([0-9a-f]{32})-\d+$/
const MD5_OF_NOTHING = hashDigest('md5').value()

/** The MD5 of both, where the twin has the bytes that the part had. */
export async function digestOfPart(
  cluster: Cluster,
  damaged: DamagedBlob,
  { at, twin }: Twin,
): Promise<string | undefined> {
  const candidate = await digestOfStored(at, twin)
  if (candidate === undefined) return undefined
  const { row, blob } = damaged
  const [bucket, key, version] = [row['bucket.uuid'], row['key'], row['version']]
  if (bucket !== undefined && key !== undefined) {
    const object = await cluster.catalog.object(bucket, Buffer.from(key), undefined, version)
    return object !== undefined && (await fits(damaged, object, candidate)) ? candidate : undefined
  }
  for await (const part of openParts(cluster, row['volume.uuid'])) {
    if (part.blobs.length === 1 && part.blobs[0]?.blob === blob.blob)
      return part.etag === candidate ? candidate : undefined
  }
  return undefined
}

/** Whether the ETag of the object comes out when the damaged part has this MD5. */
async function fits(
  { files, blob }: DamagedBlob,
  { etag, parts, blobs }: ObjectRow,
  candidate: string,
): Promise<boolean> {
  const [, wanted] = COMPOSITE.exec(etag) ?? []
  const filled = (parts ?? []).filter(({ sizeBytes }) => sizeBytes > 0).length
  // A part that shares the blobs of an object of parts has several.
  if (wanted === undefined || parts === null || filled !== blobs.length) return false
  const md5 = hashDigest('md5')
  let next = 0
  for (const { sizeBytes } of parts) {
    const one = sizeBytes === 0 ? undefined : blobs[next++]
    if (one === undefined) {
      md5.update(MD5_OF_NOTHING)
      continue
    }
    const digest = one.blob === blob.blob ? candidate : await digestOfStored(files, one)
    if (digest === undefined) return false
    md5.update(Buffer.from(digest, 'hex'))
  }
  return md5.value().toString('hex') === wanted
}

async function* openParts({ catalog }: Cluster, volume: string): AsyncGenerator<PartRow> {
  let seen = 0
  for (const { key: bucket } of await catalog.records(BUCKETS, { parent: volume })) {
    for (let after: UploadPosition | undefined; ;) {
      const uploads = await catalog.uploads(bucket, after, PAGE)
      for (const { upload } of uploads) {
        if (++seen > UPLOADS_MAX) return
        yield* partsOf(catalog, bucket, upload)
      }
      if (uploads.length < PAGE) break
      after = uploads.at(-1)
    }
  }
}

async function* partsOf(catalog: Cluster['catalog'], bucket: string, upload: string): AsyncGenerator<PartRow> {
  for (let after = 0; ;) {
    const parts = await catalog.parts(bucket, upload, after, PAGE)
    yield* parts
    if (parts.length < PAGE) return
    after = parts.at(-1)?.number ?? after
  }
}
