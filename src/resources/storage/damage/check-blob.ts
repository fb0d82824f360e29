import type { BlobRef } from '../../../ports/catalog.ts'
import { VolumesFailure } from '../../../ports/volumes.ts'
import type { Volumes } from '../../../ports/volumes.ts'
import { hashDigest } from '../../../s3/checksums/algorithms.ts'
import { digestOfLabel } from '../../../s3/objects/labels.ts'

/** Read at a time: a verified piece of it takes the event loop less than a millisecond. */
const PIECE_BYTES = 512 * 1024

/** A tree of blobs and the engine that has it. */
export interface Files {
  readonly volumes: Volumes
  readonly tree: string
}

export interface SoundBlob {
  /** Missing where the file is of an earlier format. */
  readonly crc?: number
  readonly label: Uint8Array
  /** Hex MD5 of the bytes, as the label says. */
  readonly md5?: string
}

/**
 * Reads all of a blob, label included, and fails as the engine does where anything is wrong. The bytes of a file of an
 * earlier format are compared with the MD5 of its label.
 */
export async function checkBlob(
  { volumes, tree }: Files,
  blob: BlobRef,
  pause: (bytes: number) => Promise<void>,
): Promise<SoundBlob> {
  const reader = await volumes.open(tree, blob.blob, blob)
  try {
    const label = await reader.label()
    const md5 = digestOfLabel(label)
    const digest = reader.crc === undefined && md5 !== undefined ? hashDigest('md5') : undefined
    for (let at = 0; at < reader.sizeBytes; at += PIECE_BYTES) {
      const piece = await reader.read(at, Math.min(PIECE_BYTES, reader.sizeBytes - at))
      digest?.update(piece)
      await pause(piece.length)
    }
    if (digest !== undefined && digest.value().toString('hex') !== md5) {
      const message = `Blob ${volumes.fileOf(tree, blob.blob)} is damaged: its bytes do not have the MD5 of its label.`
      throw new VolumesFailure('damaged', message, { damage: 'flipped' })
    }
    const { crc } = reader
    return { label, ...(md5 === undefined ? {} : { md5 }), ...(crc === undefined ? {} : { crc }) }
  } finally {
    await reader.close()
  }
}

/** What a failure to read a blob means for it; nothing where it says more about the aggregate or the moment. */
export function damageOf(
  failure: unknown,
): 'flipped' | 'truncated' | 'misplaced' | 'missing' | 'unreadable' | undefined {
  if (!(failure instanceof VolumesFailure)) return undefined
  if (failure.reason === 'damaged') return failure.damage ?? 'flipped'
  if (failure.reason === 'missing') return 'missing'
  const { cause } = failure
  return cause instanceof Error && 'code' in cause && cause.code === 'EIO' ? 'unreadable' : undefined
}

/** Whether there is a file of a blob, be it damaged or not. */
export async function isThere({ volumes, tree }: Files, blob: string): Promise<boolean> {
  try {
    await (await volumes.open(tree, blob)).close()
    return true
  } catch (failure) {
    return !(failure instanceof VolumesFailure) || failure.reason !== 'missing'
  }
}
