/** Puts a sound file in the place of a blob's, and lets the catalog say how it is stored then. */
import type { Cluster } from '../../../core/cluster.ts'
import { blobsLock, unlinkForgotten } from '../../../storage/blobs-lock.ts'
import { SHARING_BLOBS_MAX, type Change, type StoredBlob } from '../../../ports/catalog.ts'
import type { BlobReader, Rewriting } from '../../../ports/volumes.ts'
import { isMoving } from '../volumes/movement.ts'
import type { Files } from './check-blob.ts'

/** Nothing needs the blob any more, or its volume is being moved: the file stays as it is. */
export class Unneeded extends Error {}

/**
 * Writes the file of a blob anew, and those of all blobs that shared a file with it. `changes` are committed with what
 * becomes of them.
 */
export async function rewriteBlob(
  cluster: Cluster,
  volume: string,
  { volumes, tree }: Files,
  blob: StoredBlob,
  from: BlobReader,
  as: Rewriting,
  how: { readonly pause: (bytes: number) => Promise<void>; readonly changes: readonly Change[] },
): Promise<void> {
  const members = await together(cluster, volume, blob)
  let first: { readonly blob: string; readonly storedBytes: number; readonly crc: number } | undefined
  for (const member of members) {
    let release: (() => void) | undefined
    const manner = {
      between: how.pause,
      // Housekeeping unlinks what nothing needs, and is kept from it only while the file is put in its place.
      beforePlacing: async () => {
        release = await cluster.locks.acquire([blobsLock(volume)])
        const row = await cluster.find('storage/volumes', volume)
        const isNeeded = (await cluster.catalog.storedBlob(volume, member)) !== undefined
        if (row === undefined || isMoving(row) || !isNeeded) throw new Unneeded()
      },
    }
    try {
      const committed = await volumes.rewrite(tree, member, from, as, manner)
      await unlinkForgotten(cluster, volume, { volumes, tree }, member)
      first ??= { ...committed, blob: member }
    } finally {
      release?.()
    }
    if (first.blob !== member) await volumes.share(tree, member, first.blob)
  }
  if (first === undefined) return
  const { storedBytes, crc } = first
  await cluster.catalog.commit([
    ...members.map((member): Change => ({ do: 'note-blob', volume, blob: member, crc })),
    ...(storedBytes === blob.storedBytes
      ? []
      : [{ do: 'store-blobs', volume, blobs: members, storedBytes } satisfies Change]),
    ...how.changes,
  ])
}

/** The blobs that share the file of this one, itself first. */
async function together({ catalog }: Cluster, volume: string, { blob, sizeBytes, digest, group }: StoredBlob) {
  if (group === undefined || digest === undefined) return [blob]
  const found = await catalog.twins(volume, { digest, sizeBytes, group }, SHARING_BLOBS_MAX)
  return [blob, ...found.map((one) => one.blob).filter((one) => one !== blob)]
}
