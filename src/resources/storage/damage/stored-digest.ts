import type { BlobRef, StoredBlob } from '../../../ports/catalog.ts'
import { digestOfLabel } from '../../../s3/objects/labels.ts'
import { damageOf, type Files } from './check-blob.ts'

/** The MD5 that the bytes of a blob had when they came, as the catalog or its label says. Nothing where neither does. */
export async function digestOfStored(
  files: Files,
  blob: BlobRef & Pick<StoredBlob, 'digest'>,
): Promise<string | undefined> {
  if (blob.digest !== undefined) return blob.digest
  const label = await labelOf(files, blob)
  return label === undefined ? undefined : digestOfLabel(label)
}

async function labelOf({ volumes, tree }: Files, { blob }: BlobRef): Promise<Uint8Array | undefined> {
  try {
    const reader = await volumes.open(tree, blob)
    try {
      return await reader.label()
    } finally {
      await reader.close()
    }
  } catch (failure) {
    if (damageOf(failure) === undefined) throw failure
    return undefined
  }
}
