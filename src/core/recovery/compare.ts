/** Compares a catalog that was put back with the blobs that are there: what it names and is gone, and what it does not know. */
import type { StoredVolume } from '../../records/rows.ts'
import type { BlobRef, VersionPosition } from '../../ports/catalog.ts'
import { type Volumes, VolumesFailure } from '../../ports/volumes.ts'
import type { Cluster } from '../cluster.ts'
import { placeOf } from '../../storage/tree-of.ts'

/** Blobs that are looked for at once. */
const LANES = 16
const PAGE = 500
/** Lost blobs that are remembered by name, to tell whose they are. */
const LOST_MAX = 1_000_000
/** Volumes, and those that were deleted and can be had back. */
const VOLUMES = ['storage/volumes', 'private/cli/volume/recovery-queue'] as const

export interface LostObject {
  readonly bucket: string
  readonly key: string
  readonly version: string
}

export interface Compared {
  /** Blobs that rows need and that are not there, or not whole. */
  readonly lost: number
  /** Blobs that no row knows. They stay where they are. */
  readonly unknown: number
  /** Volumes whose aggregate is not there. Nothing is known of their blobs. */
  readonly away: readonly string[]
  /** Volumes that need blobs and have none at all, with their folders: their aggregate may be somewhere else. */
  readonly empty: readonly { readonly volume: string; readonly place: string }[]
}

/** `tell` is called with each object that has lost a blob; those that only snapshots hold are counted alone. */
export async function compareBlobs(cluster: Cluster, tell: (lost: LostObject) => void): Promise<Compared> {
  let [lost, unknown] = [0, 0]
  const away: string[] = []
  const empty: { volume: string; place: string }[] = []
  for (const type of VOLUMES) {
    for (const row of await cluster.rows(type)) {
      const volume = nameOf(row)
      try {
        const { aggregate, tree } = placeOf(row)
        const engine = await cluster.volumesOf(aggregate)
        const isNew = await insistOnTree(engine, tree)
        const gone = await lostBlobs(cluster, row, engine)
        lost += gone.size
        if (isNew && gone.size > 0) empty.push({ volume, place: engine.place })
        if (gone.size > 0) await tellWhose(cluster, row, gone, tell)
        unknown += await countUnknown(cluster, row, engine)
      } catch (failure) {
        if (!(failure instanceof VolumesFailure)) throw failure
        away.push(nameOf(row))
      }
    }
  }
  return { lost, unknown, away, empty }
}

/** What one is called: in the recovery queue by its name there. */
const nameOf = (row: StoredVolume) => ('volume' in row ? row['volume'] : row['name'])

/** A tree that was removed since is made again, so that the volume can be written to. Tells whether it was. */
async function insistOnTree(engine: Volumes, tree: string): Promise<boolean> {
  await engine.space()
  if ((await engine.list()).includes(tree)) return false
  await engine.create(tree)
  return true
}

async function lostBlobs(cluster: Cluster, row: StoredVolume, engine: Volumes): Promise<ReadonlySet<string>> {
  const { tree } = placeOf(row)
  const lost = new Set<string>()
  const look = async ({ blob, sizeBytes, crc }: BlobRef) => {
    try {
      const reader = await engine.open(tree, blob, { sizeBytes, ...(crc === undefined ? {} : { crc }) })
      return await reader.close()
    } catch (failure) {
      if (!(failure instanceof VolumesFailure) || failure.reason === 'away') throw failure
    }
    if (lost.size < LOST_MAX) lost.add(blob)
  }
  for (let after: string | undefined = ''; after !== undefined;) {
    const page = await cluster.catalog.storedBlobs(row['uuid'], after, PAGE)
    for (let at = 0; at < page.blobs.length; at += LANES) {
      await Promise.all(page.blobs.slice(at, at + LANES).map(look))
    }
    after = page.next
  }
  return lost
}

async function tellWhose(
  cluster: Cluster,
  volume: StoredVolume,
  lost: ReadonlySet<string>,
  tell: (lost: LostObject) => void,
): Promise<void> {
  const buckets = (await cluster.rows('protocols/s3/buckets')).filter(
    (bucket) => (bucket['volume.uuid'] ?? '') === volume['uuid'],
  )
  for (const bucket of buckets) {
    let after: VersionPosition | undefined
    do {
      const page = await cluster.catalog.scan(bucket['uuid'], after, PAGE)
      for (const { key, version, blobs } of page.rows) {
        if (!blobs.some(({ blob }) => lost.has(blob))) continue
        tell({ bucket: bucket['name'], key: Buffer.from(key).toString(), version })
      }
      after = page.next
    } while (after !== undefined)
  }
}

async function countUnknown(cluster: Cluster, row: StoredVolume, engine: Volumes): Promise<number> {
  const { tree } = placeOf(row)
  let unknown = 0
  let batch: string[] = []
  const settle = async () => {
    unknown += batch.length - (await cluster.catalog.knownBlobs(row['uuid'], batch, [tree])).size
    batch = []
  }
  for await (const blob of engine.blobs(tree)) {
    batch.push(blob)
    if (batch.length >= PAGE) await settle()
  }
  await settle()
  return unknown
}
