import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { VolumesFailure } from '../../../ports/volumes.ts'
import type { BlobReader, BlobWriter, Committed, Manner, Rewriting } from '../../../ports/volumes.ts'
import { blobNameOf } from './names.ts'
import type { Address } from './names.ts'
import type { Packs } from './packs.ts'

/** Appends a sound record in the place of one that is damaged or missing. One that is whole stays. */
export async function rewriteRecord(
  packs: Packs,
  tree: string,
  address: Address,
  from: BlobReader,
  { label, crc, md5 }: Rewriting,
  { between, beforePlacing }: Manner = {},
): Promise<Committed> {
  const bytes = await from.read(0, from.sizeBytes)
  await between?.(bytes.length)
  const isMd5 = md5 === undefined || createHash('md5').update(bytes).digest('hex') === md5
  if (!isMd5 || (crc !== undefined && crc32(bytes) !== crc)) {
    const message = `Blob ${blobNameOf(address)} was not written anew: the bytes are not those of its checksum.`
    throw new VolumesFailure('damaged', message, { damage: 'flipped' })
  }
  await beforePlacing?.()
  let writer: BlobWriter
  try {
    const how = { isCompressed: from.storedBytes < from.sizeBytes }
    writer = await packs.writeCopy(tree, address, from.sizeBytes, how)
  } catch (failure) {
    if (!(failure instanceof VolumesFailure) || failure.reason !== 'exists') throw failure
    const { storedBytes } = await packs.read(tree, address, { sizeBytes: bytes.length, crc: crc32(bytes) })
    return { blob: blobNameOf(address), storedBytes, crc: crc32(bytes) }
  }
  await writer.write(bytes)
  return writer.commit(label)
}
