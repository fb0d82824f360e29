import { RESTORED } from '../../../records/restored.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { treeOf } from '../../../storage/tree-of.ts'
import type { Files } from '../damage/check-blob.ts'
import { RECOVERY_QUEUE } from '../volumes/recovery-queue.ts'

/** Files looked at together. */
const BATCH = 500
/** A younger file may be that of an upload that is under way: 5 GiB may come as slowly as 9 kB a second. */
const UPLOAD_MS_MAX = 7 * 86_400_000
/** Names of small bodies tell the age of their pack. One that was written just now is committed within this time. */
const COMMIT_MS_MAX = 1000
/** Names of blobs with a file of their own. Those in packs are longer. */
const OWN_NAME_CHARACTERS = 32

export interface UnexpectedFile {
  readonly blob: string
  /** `duplicate`: some volume needs the blob, but has it in another tree. */
  readonly kind: 'unknown' | 'duplicate'
  /** Older than the catalog that was put back: a rebuild looks for it where it is. */
  readonly isBeforeRestore: boolean
}

/**
 * Files of a tree that no volume of the tree knows, some at a time. Names of blobs begin with the time of their making (12
 * hex digits of milliseconds), so those of uploads that are under way are told from the rest.
 */
export async function* unexpectedFiles(
  cluster: Cluster,
  volume: string,
  { volumes, tree }: Files,
  pause: (ms?: number, bytes?: number) => Promise<void>,
): AsyncGenerator<readonly UnexpectedFile[], void> {
  const restoredMs = (await cluster.find(...RESTORED))?.atMs ?? 0
  const [before, restored] = [nameAt(cluster.now() - UPLOAD_MS_MAX), nameAt(restoredMs)]
  const unexpectedAmong = async (batch: readonly string[]): Promise<UnexpectedFile[]> => {
    const unknownOf = async (blobs: readonly string[]) => {
      const known = await cluster.catalog.knownBlobs(volume, blobs, [tree])
      return blobs.filter((blob) => !known.has(blob))
    }
    let unknown = await unknownOf(batch)
    if (unknown.some((blob) => blob.length > OWN_NAME_CHARACTERS)) {
      await pause(COMMIT_MS_MAX)
      unknown = await unknownOf(unknown)
    }
    if (unknown.length === 0) return []
    const elsewhere = new Set<string>()
    for (const type of ['storage/volumes', RECOVERY_QUEUE] as const) {
      for (const row of await cluster.rows(type)) {
        if (treeOf(row) === tree) continue
        for (const blob of await cluster.catalog.knownBlobs(row['uuid'], unknown, [])) elsewhere.add(blob)
      }
    }
    return unknown.map((blob) => ({
      blob,
      kind: elsewhere.has(blob) ? 'duplicate' : 'unknown',
      isBeforeRestore: blob < restored,
    }))
  }
  let batch: string[] = []
  const between = (bytes: number) => pause(0, bytes)
  for await (const blob of volumes.blobs(tree, { between })) {
    if (blob < before) batch.push(blob)
    if (batch.length < BATCH) continue
    yield await unexpectedAmong(batch)
    batch = []
    await pause()
  }
  if (batch.length > 0) yield await unexpectedAmong(batch)
}

/** What the names of blobs made at that time begin with. */
function nameAt(ms: number): string {
  return Math.max(0, ms).toString(16).padStart(12, '0')
}
