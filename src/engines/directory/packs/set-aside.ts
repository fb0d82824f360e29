import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { VolumesFailure } from '../../../ports/volumes.ts'
import type { Manner } from '../../../ports/volumes.ts'
import { syncFolder } from '../../durable-file.ts'
import { FileBlobWriter } from '../blob-writer.ts'
import { NewFile } from '../new-file.ts'
import { placeInLostAndFound } from '../lost-and-found.ts'
import type { FoundBlob } from '../lost-and-found.ts'
import type { DamagedStretch } from './listing.ts'
import { blobNameOf } from './names.ts'
import type { Address } from './names.ts'
import { readRaw } from './raw.ts'
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

export interface LostPlace {
  readonly aggregate: string
  readonly tree: string
}

/** More bytes than the length of a name can say become several files. */
const STRETCH_BYTES_MAX = 2 ** 20 - 1

/**
 * Writes bytes of a pack that are no records to lost-and-found, named by where they were. Durable. Gives the number of
 * files; those that an earlier attempt left are not written again.
 */
export async function setStretchesAside(
  { aggregate, tree }: LostPlace,
  pack: string,
  stretches: readonly DamagedStretch[],
  between?: Manner['between'],
): Promise<number> {
  let written = 0
  for (const { file, at, bytes } of stretches) {
    for (let from = at; from < at + bytes; from += STRETCH_BYTES_MAX) {
      const piece = Buffer.allocUnsafe(Math.min(STRETCH_BYTES_MAX, at + bytes - from))
      const whole = piece.subarray(0, await readRaw(file.fd, piece, from))
      const found = { tree, nowMs: Date.now(), isUnacknowledged: false }
      const path = await placeInLostAndFound(aggregate, found, blobNameOf({ pack, offset: from, length: piece.length }))
      if (await isThere(path, whole)) continue
      await writeAside(path, whole)
      written++
      await between?.(whole.length)
    }
  }
  return written
}

/** Whether a file of that name, set aside at whatever time, begins with these bytes. */
async function isThere(path: string, bytes: Buffer): Promise<boolean> {
  const name = basename(path).replace(/\.\d+$/, '.')
  for (const one of await readdir(dirname(path))) {
    if (!one.startsWith(name)) continue
    const kept = await readFile(join(dirname(path), one))
    if (kept.subarray(0, bytes.length).equals(bytes)) return true
  }
  return false
}

async function writeAside(path: string, bytes: Buffer): Promise<void> {
  const writer = new FileBlobWriter(path, await NewFile.open(path, 'wx', 0o600), () => syncFolder(dirname(path)))
  try {
    await writer.write(bytes)
    await writer.commit(Buffer.alloc(0))
  } catch (failure) {
    await writer.abort()
    throw failure
  }
}
