import { dirname } from 'node:path'
import { VolumesFailure } from '../../../ports/volumes.ts'
import { syncFolder } from '../../durable-file.ts'
import { FileBlobWriter } from '../blob-writer.ts'
import { NewFile } from '../new-file.ts'
import { placeInLostAndFound } from '../lost-and-found.ts'
import type { FoundBlob } from '../lost-and-found.ts'
import type { Address } from './names.ts'
import type { Packs } from './packs.ts'

interface FoundRecord extends FoundBlob {
  readonly aggregate: string
  readonly blob: string
  readonly address: Address
}

/**
 * Takes a record out of its pack that no row knows: it becomes a file of its own, with its label, as that of any blob that
 * was found. What is damaged becomes one as it is. One that is not there is fine: `false`.
 */
export async function setRecordAside(packs: Packs, found: FoundRecord): Promise<boolean> {
  const { aggregate, tree, blob, address } = found
  const raw = await packs.raw(tree, address)
  if (raw === undefined) return false
  const path = await placeInLostAndFound(aggregate, found, blob)
  const file = await NewFile.open(path, 'w', 0o600)
  const writer = new FileBlobWriter(path, file, () => syncFolder(dirname(path)))
  try {
    const reader = await packs.read(tree, address)
    await writer.write(await reader.read(0, reader.sizeBytes))
    await writer.commit(await reader.label())
  } catch (failure) {
    if (!(failure instanceof VolumesFailure) || failure.reason !== 'damaged') {
      await writer.abort()
      throw failure
    }
    await writer.write(raw)
    await writer.commit(Buffer.alloc(0))
  }
  await packs.unlink(tree, address)
  return true
}
