import type { Cluster } from '../../../core/cluster.ts'
import { treeOf } from '../../../core/tree-of.ts'
import { textAt } from '../../../model/value.ts'
import type { Files } from '../damage/check-blob.ts'

/** Files looked at together. */
const BATCH = 500
/** A younger file may be that of an upload that is under way. */
const UPLOAD_MS_MAX = 86_400_000

export interface UnexpectedFile {
  readonly blob: string
  /** `duplicate`: some volume needs the blob, but has it in another tree. */
  readonly kind: 'unknown' | 'duplicate'
}

/**
 * Files of a tree that no volume of the tree knows. Names of blobs begin with the time of their making (12 hex digits of
 * milliseconds), so those of uploads that are under way are told from the rest.
 */
export async function* unexpectedFiles(
  cluster: Cluster,
  volume: string,
  { volumes, tree }: Files,
  pause: () => Promise<void>,
): AsyncGenerator<UnexpectedFile, void> {
  const before = Math.max(0, cluster.now() - UPLOAD_MS_MAX)
    .toString(16)
    .padStart(12, '0')
  let batch: string[] = []
  for await (const blob of volumes.blobs(tree)) {
    if (blob < before) batch.push(blob)
    if (batch.length < BATCH) continue
    yield* unexpectedAmong(cluster, volume, tree, batch)
    batch = []
    await pause()
  }
  yield* unexpectedAmong(cluster, volume, tree, batch)
}

async function* unexpectedAmong(
  cluster: Cluster,
  volume: string,
  tree: string,
  batch: readonly string[],
): AsyncGenerator<UnexpectedFile, void> {
  const known = await cluster.catalog.knownBlobs(volume, batch, [tree])
  const unknown = batch.filter((blob) => !known.has(blob))
  if (unknown.length === 0) return
  const elsewhere = new Set<string>()
  for (const row of await cluster.rows('storage/volumes')) {
    if (treeOf(row) === tree) continue
    for (const blob of await cluster.catalog.knownBlobs(textAt(row, 'uuid'), unknown, [])) elsewhere.add(blob)
  }
  for (const blob of unknown) yield { blob, kind: elsewhere.has(blob) ? 'duplicate' : 'unknown' }
}
