import { VolumesFailure } from '../ports/volumes.ts'
import type { BlobReader, BlobWriter, ExpectedBlob, Volumes } from '../ports/volumes.ts'

/** Bytes that are read and written at a time. */
const PIECE_BYTES = 1024 * 1024

/** A blob in a tree of an engine. */
export interface BlobAt {
  readonly volumes: Volumes
  readonly tree: string
  readonly blob: string
}

/** What is copied. With `expected`, nothing but that: the file of another blob is refused `damaged`. */
export interface BlobFrom extends BlobAt {
  readonly expected?: ExpectedBlob
}

/**
 * Copies a blob with its label: durable on return. A whole copy that is there already stays; what an interrupted one left is
 * written again. What is compressed is so in the copy. Gives the bytes that the copy is stored in, 0 where one was there. Fails as the engines do, and with what `signal` was aborted for; then nothing is
 * left of the copy.
 */
export async function copyBlob(from: BlobFrom, to: BlobAt, signal?: AbortSignal): Promise<number> {
  const reader = await from.volumes.open(from.tree, from.blob, from.expected)
  try {
    const writer = await begin(to, reader)
    if (writer === undefined) return 0
    try {
      for (let at = 0; at < reader.sizeBytes; at += PIECE_BYTES) {
        signal?.throwIfAborted()
        await writer.write(await reader.read(at, Math.min(PIECE_BYTES, reader.sizeBytes - at)))
      }
      return (await writer.commit(await reader.label())).storedBytes
    } catch (failure) {
      await writer.abort()
      throw failure
    }
  } finally {
    await reader.close()
  }
}

/** Nothing when a whole copy is there. */
async function begin(to: BlobAt, { sizeBytes, crc, storedBytes }: BlobReader): Promise<BlobWriter | undefined> {
  const how = { compress: storedBytes < sizeBytes }
  try {
    return await to.volumes.write(to.tree, to.blob, how)
  } catch (failure) {
    if (!(failure instanceof VolumesFailure) || failure.reason !== 'exists') throw failure
  }
  if (await isWhole(to, crc === undefined ? { sizeBytes } : { sizeBytes, crc })) return undefined
  await to.volumes.unlink(to.tree, to.blob)
  return to.volumes.write(to.tree, to.blob, how)
}

/** The end of a blob, which says how long it is, is written last; that all before it is there is what its sync was for. */
async function isWhole(to: BlobAt, expected: ExpectedBlob): Promise<boolean> {
  let reader: BlobReader
  try {
    reader = await to.volumes.open(to.tree, to.blob, expected)
  } catch (failure) {
    if (failure instanceof VolumesFailure && failure.reason === 'damaged') return false
    throw failure
  }
  await reader.close()
  return true
}
