/**
 * Looks for blobs with the bytes of damaged ones where no digests tell of them: only volumes with efficiency keep these.
 * Size and content CRC are known of all blobs, and there is no index of them, as each write would pay for it. So all blobs
 * of the cluster are looked through, at once for all that are sought.
 *
 * A CRC of 32 bits says little among a million blobs of one size. What proves a twin is the MD5 of the damaged blob: that
 * of its label, where it can be read still, or the ETag of its object.
 */
import type { Cluster } from '../../../core/cluster.ts'
import { placeOf } from '../../../storage/tree-of.ts'
import { eachInTurns } from '../../../core/time/turns.ts'
import type { StoredBlob } from '../../../ports/catalog.ts'
import type { Damage, Volume } from '../../../records/rows.ts'
import type { Files } from './check-blob.ts'
import { digestOfStored } from './stored-digest.ts'

/** Blobs read from the catalog at a time. */
const PAGE = 100
/** Volumes searched for twins. */
export const VOLUMES_SEARCHED = 1000
const MD5 = /^[0-9a-f]{32}$/

/** A damaged blob, with the record of its damage. */
export interface DamagedBlob {
  readonly row: Damage
  readonly files: Files
  readonly blob: StoredBlob
}

export interface Twin {
  readonly at: Files
  readonly twin: StoredBlob
}

/** Calls `found` for each damaged blob and each blob of its size and CRC in another file, until it says that it is done. */
export async function searchTwins(
  cluster: Cluster,
  damaged: readonly DamagedBlob[],
  found: (one: DamagedBlob, twin: Twin) => Promise<boolean>,
  pause: () => Promise<void>,
): Promise<void> {
  const sought = new Map<string, DamagedBlob[]>()
  for (const [name, some] of Map.groupBy(damaged, ({ blob }) => nameOf(blob))) {
    if (name !== undefined) sought.set(name, some)
  }
  for await (const volume of eachInTurns(cluster.system, await volumesFirst(cluster))) {
    const uuid = volume['uuid']
    const { aggregate, tree } = placeOf(volume)
    for (let after: string | undefined = ''; after !== undefined && sought.size > 0;) {
      const page = await cluster.catalog.storedBlobs(uuid, after, PAGE)
      for (const twin of page.blobs) {
        const name = nameOf(twin)
        for (const one of (name === undefined ? undefined : sought.get(name)) ?? []) {
          if (name === undefined || isSameFile(one, uuid, twin)) continue
          const at = { volumes: await cluster.volumesOf(aggregate), tree }
          if (!(await found(one, { at, twin }))) continue
          const left = (sought.get(name) ?? []).filter((each) => each !== one)
          if (left.length > 0) sought.set(name, left)
          else sought.delete(name)
        }
      }
      after = page.next
      await pause()
    }
  }
}

export async function volumesFirst(cluster: Cluster, own?: string): Promise<readonly Volume[]> {
  const rows = (await cluster.rows('storage/volumes')).slice(0, VOLUMES_SEARCHED)
  return [...rows.filter((row) => row['uuid'] === own), ...rows.filter((row) => row['uuid'] !== own)]
}

export function isSameFile({ row, blob }: Omit<DamagedBlob, 'files'>, volume: string, twin: StoredBlob): boolean {
  const isOwn = row['volume.uuid'] === volume
  return twin.blob === blob.blob || (isOwn && twin.group !== undefined && twin.group === blob.group)
}

/** The MD5 that the bytes of a damaged blob had. */
export async function digestOfDamaged(
  cluster: Cluster,
  { row, files, blob }: DamagedBlob,
): Promise<string | undefined> {
  const digest = await digestOfStored(files, blob)
  const [bucket, key, version] = [row['bucket.uuid'], row['key'], row['version']]
  if (digest !== undefined || bucket === undefined || key === undefined) return digest
  const object = await cluster.catalog.object(bucket, Buffer.from(key), undefined, version)
  const isWhole = object?.blobs.length === 1 && object.blobs[0]?.blob === blob.blob
  return isWhole && MD5.test(object.etag) ? object.etag : undefined
}

/** Nothing where the CRC is not known. */
function nameOf({ sizeBytes, crc }: StoredBlob): string | undefined {
  return crc === undefined ? undefined : `${sizeBytes}:${crc}`
}
