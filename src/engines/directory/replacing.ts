/**
 * Puts a file with the same bytes in the place of a blob's: first it is made beside it, whole and synced, then it is
 * renamed over it. Readers find the one or the other; a crash leaves the blob and perhaps a file that no name leads to.
 */
import { createHash } from 'node:crypto'
import { link, rename, stat, unlink } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { VolumesFailure } from '../../ports/volumes.ts'
import type { BlobReader, Committed, Manner, Rewriting, Sharing } from '../../ports/volumes.ts'
import { openBlob } from './blob-reader.ts'
import { FileBlobWriter } from './blob-writer.ts'
import { codeOf, volumesFailure } from './failures.ts'
import { NewFile } from './new-file.ts'
import { Packer } from './packing.ts'

type SyncFolder = (folder: string) => Promise<void>

const PIECE_BYTES = 512 * 1024
/** A disk that has no links, or no more for this file. */
const UNABLE = new Set(['EMLINK', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV'])

/** Packs the file of a blob, unless that would not make it smaller. Tells the bytes that the blob is stored in then. */
export async function packFile(
  path: string,
  replacement: string,
  syncFolder: SyncFolder,
  { between, beforePlacing }: Manner = {},
): Promise<number> {
  const reader = await openBlob(path)
  try {
    if (reader.storedBytes < reader.sizeBytes) return reader.storedBytes
    const sync = () => syncFolder(dirname(path))
    const storedBytes = await writePacked(reader, await openWriter(replacement, sync), between)
    if (storedBytes < reader.sizeBytes) {
      await beforePlacing?.()
      await orFailure(path, async () => {
        await rename(replacement, path)
        await sync()
      })
    }
    return storedBytes
  } finally {
    await reader.close()
  }
}

async function writePacked(reader: BlobReader, writer: FileBlobWriter, between: Manner['between']): Promise<number> {
  try {
    for await (const piece of piecesOf(reader)) {
      await writer.write(piece)
      if (writer.isPlain) return reader.sizeBytes
      await between?.(piece.length)
    }
    const { storedBytes, crc } = await writer.commit(await reader.label())
    if (reader.crc !== undefined && reader.crc !== crc) {
      throw new VolumesFailure('damaged', 'The bytes of a blob are not those of its checksum.', { damage: 'flipped' })
    }
    return storedBytes
  } finally {
    await writer.abort()
  }
}

/** Puts a new file with the bytes of a reader in the place of a blob's, be there one or not. */
export async function rewriteFile(
  path: string,
  replacement: string,
  from: BlobReader,
  { label, crc, md5 }: Rewriting,
  syncFolder: SyncFolder,
  { between, beforePlacing }: Manner = {},
): Promise<Committed> {
  const digest = createHash('md5')
  const sync = () => syncFolder(dirname(path))
  const file = await orFailure(path, () => NewFile.open(replacement, 'w', 0o600))
  const packing = from.storedBytes < from.sizeBytes ? { packer: new Packer(1) } : {}
  const writer = new FileBlobWriter(replacement, file, sync, packing)
  try {
    for await (const piece of piecesOf(from)) {
      if (md5 !== undefined) digest.update(piece)
      await writer.write(piece)
      await between?.(piece.length)
    }
    const committed = await writer.commit(label)
    if ((crc ?? committed.crc) !== committed.crc || (md5 !== undefined && digest.digest('hex') !== md5)) {
      const message = `Blob ${path} was not written anew: the bytes are not those of its checksum.`
      throw new VolumesFailure('damaged', message, { damage: 'flipped' })
    }
    await beforePlacing?.()
    await orFailure(path, async () => {
      await rename(replacement, path)
      await sync()
    })
    return { ...committed, blob: basename(path) }
  } catch (failure) {
    await writer.abort()
    await unlink(replacement).catch(() => {})
    throw failure
  }
}

/** Lets the name of a blob lead to the file of its twin, when both have the same bytes. */
export async function shareFile(
  path: string,
  twin: string,
  replacement: string,
  syncFolder: SyncFolder,
  { between, beforePlacing }: Manner = {},
): Promise<Sharing> {
  if (await isSameFile(path, twin)) return 'shared'
  if (!(await haveSameBytes(path, twin, between))) return 'different'
  await beforePlacing?.()
  return orFailure(path, async () => {
    try {
      await unlink(replacement).catch(() => {})
      await link(twin, replacement)
    } catch (failure) {
      if (UNABLE.has(codeOf(failure))) return 'unable'
      throw failure
    }
    await rename(replacement, path)
    // Where both were one file already, since just now, the rename has done nothing.
    await unlink(replacement).catch(() => {})
    await syncFolder(dirname(path))
    return 'shared'
  })
}

async function openWriter(path: string, syncFolder: () => Promise<void>): Promise<FileBlobWriter> {
  const file = await orFailure(path, () => NewFile.open(path, 'w', 0o600))
  return new FileBlobWriter(path, file, syncFolder, { packer: new Packer(1), onlyPacked: true })
}

async function isSameFile(path: string, twin: string): Promise<boolean> {
  const [one, other] = await orFailure(path, () => Promise.all([stat(path), stat(twin)]))
  return one.ino === other.ino && one.dev === other.dev
}

async function haveSameBytes(path: string, twin: string, between: Manner['between']): Promise<boolean> {
  const reader = await openBlob(path)
  try {
    const other = await openBlob(twin)
    try {
      if (reader.sizeBytes !== other.sizeBytes) return false
      let at = 0
      for await (const piece of piecesOf(reader)) {
        if (!piece.equals(await other.read(at, piece.length))) return false
        at += piece.length
        await between?.(piece.length)
      }
      return true
    } finally {
      await other.close()
    }
  } finally {
    await reader.close()
  }
}

async function* piecesOf(reader: BlobReader): AsyncGenerator<Buffer> {
  for (let at = 0; at < reader.sizeBytes; at += PIECE_BYTES) {
    yield await reader.read(at, Math.min(PIECE_BYTES, reader.sizeBytes - at))
  }
}

/** What the file system refuses becomes a failure of volumes; what `between` throws stays what it is. */
async function orFailure<Result>(path: string, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act()
  } catch (failure) {
    throw volumesFailure(failure, `Blob ${path}`)
  }
}
