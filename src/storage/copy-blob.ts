import { VolumesFailure } from '../ports/volumes.ts'
import type { BlobReader, BlobWriter, ExpectedBlob, Volumes, WriteHow } from '../ports/volumes.ts'

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

export interface Copied {
  /** The name of the copy: another one than it was to have where it `packs`. */
  readonly blob: string
  readonly storedBytes: number
  /** 0 where a whole copy was there. */
  readonly writtenBytes: number
}

/**
 * Copies a blob with its label: durable on return. A whole copy that is there already stays; what an interrupted one left is
 * written again. What is compressed is so in the copy. Fails as the engines do, and with what `signal` was aborted for; then
 * nothing is left of the copy.
 */
export async function copyBlob(
  from: BlobFrom,
  to: BlobAt,
  { signal, packs = false }: { readonly signal?: AbortSignal; readonly packs?: boolean } = {},
): Promise<Copied> {
  const reader = await from.volumes.open(from.tree, from.blob, from.expected)
  try {
    const { sizeBytes, storedBytes } = reader
    const writer = await begin(to, reader, { compress: storedBytes < sizeBytes, sizeBytes, packs })
    if (writer === undefined) return { blob: to.blob, storedBytes, writtenBytes: 0 }
    try {
      for (let at = 0; at < reader.sizeBytes; at += PIECE_BYTES) {
        signal?.throwIfAborted()
        await writer.write(await reader.read(at, Math.min(PIECE_BYTES, reader.sizeBytes - at)))
      }
      const { blob, storedBytes: writtenBytes } = await writer.commit(await reader.label())
      return { blob, storedBytes: writtenBytes, writtenBytes }
    } catch (failure) {
      await writer.abort()
      throw failure
    }
  } finally {
    await reader.close()
  }
}

/** Nothing when a whole copy is there. */
async function begin(to: BlobAt, { sizeBytes, crc }: BlobReader, how: WriteHow): Promise<BlobWriter | undefined> {
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
