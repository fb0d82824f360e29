/** Which objects are lost with blobs: by the labels of their files, or where these cannot be read by looking through rows. */
import type { Cluster } from '../../../core/cluster.ts'
import type { DamageKind, FoundDamage } from '../../../storage/damage.ts'
import { isRecord, textOf, type Value } from '../../../model/value.ts'
import type { VersionPosition } from '../../../ports/catalog.ts'
import { VolumesFailure } from '../../../ports/volumes.ts'
import type { Files } from '../damage/check-blob.ts'

/** Rows read at a time. */
const PAGE = 500
const BUCKETS = 'protocols/s3/buckets'

export interface Loss {
  readonly blob: string
  readonly kind: DamageKind
  readonly message: string
  /** A scrub, where it is not said. */
  readonly foundBy?: FoundDamage['foundBy']
}

type LostObject = NonNullable<FoundDamage['object']>

export async function nameLosses(
  cluster: Cluster,
  volume: string,
  files: Files,
  losses: readonly Loss[],
  pause: () => Promise<void> = () => cluster.system.turn(),
): Promise<FoundDamage[]> {
  const objects = new Map<string, LostObject>()
  for (const { blob } of losses) {
    const object = await objectOfLabel(cluster, files, blob)
    if (object !== undefined) objects.set(blob, object)
  }
  const unnamed = new Set(losses.map(({ blob }) => blob).filter((blob) => !objects.has(blob)))
  for (const [blob, object] of await objectsOfRows(cluster, volume, unnamed, pause)) objects.set(blob, object)
  return losses.map((loss) => {
    const object = objects.get(loss.blob)
    return { volume, foundBy: 'scrub', ...loss, ...(object === undefined ? {} : { object }) }
  })
}

/** What the label says, where a row of that key has the blob: the label is that of the object it was written for. */
async function objectOfLabel(
  { catalog }: Cluster,
  { volumes, tree }: Files,
  blob: string,
): Promise<LostObject | undefined> {
  try {
    const reader = await volumes.open(tree, blob)
    try {
      const label = JSON.parse(Buffer.from(await reader.label()).toString()) as Value
      if (!isRecord(label)) return undefined
      const [bucket, key] = [textOf(label['bucket']), Buffer.from(textOf(label['key']), 'base64')]
      const row = await catalog.object(bucket, key)
      if (row?.blobs.some((one) => one.blob === blob) !== true) return undefined
      return { bucket, key: key.toString(), version: row.version }
    } finally {
      await reader.close()
    }
  } catch (failure) {
    if (failure instanceof VolumesFailure || failure instanceof SyntaxError) return undefined
    throw failure
  }
}

/** One look through the rows of the volume for all of them. What only snapshots have stays without a name. */
async function objectsOfRows(
  { catalog }: Cluster,
  volume: string,
  blobs: ReadonlySet<string>,
  pause: () => Promise<void>,
): Promise<ReadonlyMap<string, LostObject>> {
  const found = new Map<string, LostObject>()
  if (blobs.size === 0) return found
  for (const { key: bucket } of await catalog.records(BUCKETS, { parent: volume })) {
    for (let after: VersionPosition | undefined; ;) {
      const { rows, next } = await catalog.scan(bucket, after, PAGE)
      for (const row of rows) {
        for (const { blob } of row.blobs) {
          if (!blobs.has(blob) || found.has(blob)) continue
          found.set(blob, { bucket, key: Buffer.from(row.key).toString(), version: row.version })
        }
      }
      if (next === undefined || found.size === blobs.size) break
      after = next
      await pause()
    }
  }
  return found
}
