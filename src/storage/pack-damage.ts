/** What the compaction of small objects has to know of the catalog, and what is made of damage that it finds. */
import type { StoredBlob } from '../ports/catalog.ts'
import { VolumesFailure, type DamagedPlace } from '../ports/volumes.ts'
import type { Cluster } from '../core/cluster.ts'
import { noteDamage, type FoundDamage } from './damage.ts'
import { beforeOf, type TreePlace } from './tree-of.ts'

/** Blobs asked for at a time. */
const PAGE = 500
/** Volumes, and those that were deleted and can be had back. */
const VOLUMES = ['storage/volumes', 'private/cli/volume/recovery-queue'] as const

/** Damage that compaction has met, of blobs of one volume. */
export type TellPackDamage = (volume: string, at: TreePlace, found: readonly FoundDamage[]) => Promise<void>

/** Keeps it, without a name of an object. */
export function notingDamage(cluster: Cluster): TellPackDamage {
  return async (_volume, _at, found) => {
    for (const one of found) await noteDamage(cluster, one)
  }
}

/** Names of the blobs in a tree that begin so and are needed by volumes that have all of theirs there. */
export async function* neededBlobs(cluster: Cluster, tree: string, beginning: string): AsyncGenerator<string> {
  for (const volume of await volumesIn(cluster, tree)) {
    for (let after: string | undefined = beginning; after !== undefined;) {
      const page = await cluster.catalog.storedBlobs(volume, after, PAGE)
      after = page.next?.startsWith(beginning) === true ? page.next : undefined
      for (const { blob } of page.blobs) if (blob.startsWith(beginning)) yield blob
    }
  }
}

/** What is not sound of these places, with the volume that it is of. */
export async function damageAmong(
  cluster: Cluster,
  { aggregate, tree }: TreePlace,
  places: readonly DamagedPlace[],
): Promise<ReadonlyMap<string, readonly FoundDamage[]>> {
  const found = new Map<string, FoundDamage[]>()
  const tell = (volume: string, one: Omit<FoundDamage, 'volume' | 'foundBy'>) => {
    const known = found.get(volume) ?? []
    found.set(volume, [...known, { volume, foundBy: 'compaction', ...one }])
  }
  const volumes = await volumesIn(cluster, tree)
  const [first] = volumes
  const engine = await cluster.volumesOf(aggregate)
  for (const { blob, isNeeded } of new Map(places.map((place) => [place.blob, place])).values()) {
    if (!isNeeded) {
      if (first !== undefined) tell(first, { blob, kind: 'unknown', message: UNNEEDED })
      continue
    }
    for (const volume of volumes) {
      const stored = await cluster.catalog.storedBlob(volume, blob)
      const damage = stored === undefined ? undefined : await damageOf(engine.open(tree, blob, expected(stored)))
      if (damage !== undefined) tell(volume, { blob, ...damage })
    }
  }
  return found
}

const UNNEEDED = 'Bytes between small objects are damaged. No object is known to need them.'

/** Of one that is being moved here, some blobs are not here yet: nothing is said of those. */
async function volumesIn(cluster: Cluster, tree: string): Promise<string[]> {
  const whole: string[] = []
  for (const volume of await cluster.catalog.volumesIn(tree)) {
    const rows = await Promise.all(VOLUMES.map((type) => cluster.find(type, volume)))
    if (rows.every((row) => row === undefined || beforeOf(row) === undefined)) whole.push(volume)
  }
  return whole
}

const expected = ({ sizeBytes, crc }: StoredBlob) => ({ sizeBytes, ...(crc === undefined ? {} : { crc }) })

async function damageOf(
  opening: ReturnType<Awaited<ReturnType<Cluster['volumesOf']>>['open']>,
): Promise<Pick<FoundDamage, 'kind' | 'message'> | undefined> {
  try {
    await (await opening).close()
    return undefined
  } catch (failure) {
    if (!(failure instanceof VolumesFailure)) throw failure
    const { reason, damage = 'flipped' } = failure
    if (reason !== 'damaged' && reason !== 'missing') return undefined
    return { kind: reason === 'missing' ? 'missing' : damage, message: failure.message }
  }
}
