import type { Catalog } from '../ports/catalog.ts'
import type { Volumes } from '../ports/volumes.ts'

/**
 * Held while files of a volume's unneeded blobs are removed, while another file takes the place of one of its blobs, and
 * while it is switched from one tree to another. Another process has other locks: see `unlinkForgotten`.
 */
export const blobsLock = (volume: string): string => `volume-blobs:${volume}`

/**
 * To be called after a file took the place of a blob's: another process may have unlinked and dropped the blob just before,
 * because nothing needed it any more, and nobody would know of the file that is there again. A blob that no volume of the
 * tree knows never comes back.
 */
export async function unlinkForgotten(
  { catalog }: { readonly catalog: Catalog },
  volume: string,
  { volumes, tree }: { readonly volumes: Volumes; readonly tree: string },
  blob: string,
): Promise<void> {
  const known = await catalog.knownBlobs(volume, [blob], [tree])
  if (!known.has(blob)) await volumes.unlink(tree, blob)
}
