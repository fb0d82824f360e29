/**
 * A file that was about to take the place of a blob's, left by an engine that ended before:
 *
 *     it is not whole, or the blob has the same bytes             removed
 *     it is sound, and the blob's file is damaged or missing      takes its place; the damaged file goes to lost-and-found
 *     both are sound, with different bytes                        goes to lost-and-found
 *
 * The last two are of files that were damaged, lost or swapped since.
 */
import { rename, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { VolumesFailure } from '../../ports/volumes.ts'
import type { BlobReader, Manner } from '../../ports/volumes.ts'
import { openBlob } from './blob-reader.ts'
import { codeOf } from './failures.ts'
import { placeInLostAndFound } from './lost-and-found.ts'

const PIECE_BYTES = 512 * 1024
const BLOB_CHARACTERS = 32

export interface LeftReplacement {
  readonly aggregate: string
  readonly tree: string
  readonly path: string
  readonly syncFolder: (folder: string) => Promise<void>
}

/** What the disk refuses is left for the next time. */
export async function settleReplacement(left: LeftReplacement, manner: Pick<Manner, 'between'>): Promise<void> {
  try {
    await settle(left, manner)
  } catch (failure) {
    if (!(failure instanceof VolumesFailure) && codeOf(failure) === '') throw failure
  }
}

async function settle(
  { aggregate, tree, path, syncFolder }: LeftReplacement,
  { between }: Pick<Manner, 'between'>,
): Promise<void> {
  const name = basename(path).slice(0, BLOB_CHARACTERS)
  const blob = join(dirname(path), name)
  const isFound = { tree, nowMs: Date.now(), isUnacknowledged: false }
  const content = await contentOf(path, between)
  if (content === undefined) return unlink(path)
  const blobContent = await contentOf(blob, between)
  if (blobContent !== undefined && isSame(blobContent, content)) return unlink(path)
  if (blobContent !== undefined) return rename(path, await placeInLostAndFound(aggregate, isFound, name))
  await rename(blob, await placeInLostAndFound(aggregate, isFound, name)).catch((failure: unknown) => {
    if (codeOf(failure) !== 'ENOENT') throw failure
  })
  await rename(path, blob)
  await syncFolder(dirname(blob))
}

/** As far as is known: files of earlier formats have no checksum. */
function isSame(one: Content, other: Content): boolean {
  return one.sizeBytes === other.sizeBytes && (one.crc ?? other.crc) === (other.crc ?? one.crc)
}

type Content = Pick<BlobReader, 'sizeBytes' | 'crc'>

/** Nothing where it is not sound. */
async function contentOf(path: string, between: Manner['between']): Promise<Content | undefined> {
  try {
    const reader = await openBlob(path)
    try {
      for (let at = 0; at < reader.sizeBytes; at += PIECE_BYTES) {
        const piece = await reader.read(at, Math.min(PIECE_BYTES, reader.sizeBytes - at))
        await between?.(piece.length)
      }
      return reader
    } finally {
      await reader.close()
    }
  } catch (failure) {
    if (failure instanceof VolumesFailure && ['damaged', 'missing'].includes(failure.reason)) return undefined
    throw failure
  }
}
