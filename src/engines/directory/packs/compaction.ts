/**
 * Gives the space of unlinked blobs back: what is still needed of a pack is copied to a new file, in pieces, and the old
 * files are removed.
 *
 *     copy to <file>.new ─▶ sync ─▶ rename to <file> ─▶ unlink the old files ─▶ mark there what was marked here meanwhile
 *
 * Who unlinks a blob marks its record, and then looks whether the file is still there: if it is not, it marks the copy as
 * well. So a mark that comes before the old files go is seen by the last step, and any later one by whoever makes it. After
 * a crash both may be there: they hold the same, and a record counts as unlinked that is marked in either.
 *
 * Files that somebody may still append to are left alone, and so are those with damage between records: nobody knows what
 * was there.
 */
import { rename, unlink } from 'node:fs/promises'
import type { Compacted, CompactManner } from '../../../ports/volumes.ts'
import { volumesFailure } from '../failures.ts'
import { openAll, readPack } from './listing.ts'
import type { Listed, PackContents } from './listing.ts'
import type { FileName } from './names.ts'
import { filesIn } from './open-packs.ts'
import type { PackFile } from './pack-file.ts'
import { table } from './places.ts'
import { closeRaw, datasyncRaw, openRaw, readRaw, writeRaw } from './raw.ts'
import { DEAD, FILE_FLAGS_AT, FILE_HEADER_BYTES, fileHeader, RECORD_FLAGS_AT, SEALED, seedOf } from './record.ts'
import { scan } from './scan.ts'
import { isNoSpace, shrink } from './shrinking.ts'
import type { ShrinkIn } from './shrinking.ts'

/** Copied at a time. */
const PIECE_BYTES = 2 ** 20
/** A pack in more files is copied into one, however much of it is needed. */
const FILES_MAX = 4

/** What is known of a pack: bytes that were found to be dead and all that it has, and what was unlinked since. */
export interface Tally {
  sinceBytes: number
  isDamaged?: boolean
  found?: { readonly deadBytes: number; readonly bytes: number }
}

/** By pack: those of which something was unlinked since the start, and those that were looked at. */
export type Tallies = Map<string, Tally>

export interface TreeOfPacks extends ShrinkIn {
  readonly tallies: Tallies
  /** Whether somebody may still append to files of this writer. */
  readonly isWriting: (writer: string) => boolean
}

export async function compactTree(tree: TreeOfPacks, manner: CompactManner): Promise<Compacted> {
  const counts = { files: 0, bytes: 0, deadBytes: 0, freedBytes: 0, damagedBytes: 0, waiting: 0 }
  try {
    const packs = Map.groupBy(await filesIn(tree.folder), ({ pack }) => pack)
    for (const pack of tree.tallies.keys()) if (!packs.has(pack)) tree.tallies.delete(pack)
    for (const [pack, names] of packs) {
      await removeUnfinished(tree, names)
      const whole = names.filter(({ isWhole }) => isWhole)
      counts.files += whole.length
      if (!isToBeLookedAt(tree.tallies.get(pack), whole.length, manner)) continue
      const outcome = await compactPack(tree, pack, whole, manner)
      counts.freedBytes += outcome.freedBytes
      counts.damagedBytes += outcome.damagedBytes
      counts.files += outcome.files - whole.length
      if (outcome.isWaiting) counts.waiting++
    }
    for (const { sinceBytes, found } of tree.tallies.values()) {
      counts.bytes += found?.bytes ?? 0
      counts.deadBytes += (found?.deadBytes ?? 0) + sinceBytes
    }
    return counts
  } catch (failure) {
    throw volumesFailure(failure, `Packs in ${tree.folder}`)
  }
}

function isToBeLookedAt(tally: Tally | undefined, files: number, { all, deadShare }: CompactManner): boolean {
  if (files > FILES_MAX) return true
  if (tally === undefined || tally.isDamaged === true) return all === true
  return shareOf(tally) >= deadShare
}

interface Outcome {
  readonly freedBytes: number
  readonly damagedBytes: number
  readonly files: number
  readonly isWaiting: boolean
}

async function compactPack(
  tree: TreeOfPacks,
  pack: string,
  names: readonly FileName[],
  manner: CompactManner,
): Promise<Outcome> {
  const all = await openAll(tree.folder, names)
  try {
    const files: PackFile[] = []
    for (const file of all) if (!tree.isWriting(file.name.writer) || (await file.isSealed())) files.push(file)
    const before = { freedBytes: 0, damagedBytes: 0, files: all.length, isWaiting: files.length < all.length }
    if (files.length === 0) return before
    const tally: Tally = tree.tallies.get(pack) ?? { sinceBytes: 0 }
    tree.tallies.set(pack, tally)
    const isSplit = files.length > FILES_MAX
    const counted = tally.sinceBytes
    const contents = await readPack(pack, files, manner.between)
    const bytes = await sizeOf(files)
    const liveBytes = contents.live.values().reduce((sum, record) => sum + record.bytes, 0)
    tally.found = { bytes, deadBytes: Math.max(0, bytes - liveBytes - FILE_HEADER_BYTES * files.length) }
    tally.sinceBytes -= counted
    const { damagedBytes } = contents
    tally.isDamaged = damagedBytes > 0
    const isWorthIt = liveBytes === 0 || isSplit || shareOf(tally) >= manner.deadShare
    if (damagedBytes > 0 || !isWorthIt) return { ...before, damagedBytes }
    if (liveBytes === 0) {
      await removeAll(tree, pack, files)
      tree.tallies.delete(pack)
      return { ...before, files: all.length - files.length, freedBytes: bytes }
    }
    // What was unlinked meanwhile counts for the copy.
    tally.sinceBytes = 0
    try {
      tally.found = await copy(tree, pack, contents, files, manner)
    } catch (failure) {
      if (!isNoSpace(failure)) throw failure
      return await shrinkLargest(tree, pack, contents, files, manner, before)
    }
    return { ...before, files: all.length - files.length + 1, freedBytes: Math.max(0, bytes - tally.found.bytes) }
  } finally {
    for (const file of all) file.release()
  }
}

/** There is no space for a copy. What is in several files is copied together when there is. */
async function shrinkLargest(
  tree: TreeOfPacks,
  pack: string,
  { live }: PackContents,
  files: readonly PackFile[],
  manner: CompactManner,
  before: Outcome,
): Promise<Outcome> {
  const [largest] = (await Promise.all(files.map(async (file) => ({ file, bytes: await file.sizeBytes() })))).toSorted(
    (a, b) => b.bytes - a.bytes,
  )
  if (largest === undefined) return before
  const { isGone, copiedBytes } = await shrink(tree, pack, largest.file, live.values(), manner)
  // Nothing is known of what it is in now.
  tree.tallies.set(pack, { sinceBytes: 0 })
  const leftBytes = isGone ? 0 : await largest.file.sizeBytes()
  const freedBytes = Math.max(0, largest.bytes - leftBytes - copiedBytes)
  return { ...before, files: before.files + (isGone ? 0 : 1), freedBytes }
}

function shareOf({ found, sinceBytes }: Tally): number {
  return found === undefined ? 1 : (found.deadBytes + sinceBytes) / Math.max(1, found.bytes)
}

async function sizeOf(files: readonly PackFile[]): Promise<number> {
  let bytes = 0
  for (const file of files) bytes += await file.sizeBytes()
  return bytes
}

/** Gives the bytes of the new file, and those that were marked since its records were looked at. */
async function copy(
  tree: TreeOfPacks,
  pack: string,
  { live }: PackContents,
  old: readonly PackFile[],
  { between }: CompactManner,
): Promise<NonNullable<Tally['found']>> {
  const path = `${tree.folder}/${tree.names.fragment(pack)}`
  const records = [...live.values()].toSorted((a, b) => a.offset - b.offset)
  const fd = await openRaw(`${path}.new`, 'wx+')
  try {
    const placed: { offset: number; at: number }[] = []
    await writeRaw(fd, [fileHeader(pack, Date.now())], 0)
    let endsAt = FILE_HEADER_BYTES
    for (const group of groupsOf(records)) {
      const pieces: Buffer[] = []
      let at = endsAt
      for (const record of group) {
        const piece = Buffer.allocUnsafe(record.bytes)
        if ((await readRaw(record.file.fd, piece, record.at)) !== piece.length) throw new Error('It became shorter.')
        pieces.push(piece)
        placed.push({ offset: record.offset, at })
        at += piece.length
      }
      const whole = Buffer.concat(pieces)
      await writeRaw(fd, [whole], endsAt)
      endsAt = at
      await between?.(2 * whole.length)
    }
    const places = table(placed)
    await writeRaw(fd, [places], endsAt)
    await writeRaw(fd, [Buffer.of(SEALED)], FILE_FLAGS_AT)
    await datasyncRaw(fd)
    await rename(`${path}.new`, path)
    await tree.syncFolder()
    await removeAll(tree, pack, old)
    const deadBytes = await followMarks(fd, pack, old, new Map(placed.map(({ offset, at }) => [offset, at])))
    return { bytes: endsAt + places.length, deadBytes }
  } catch (failure) {
    await unlink(`${path}.new`).catch(() => undefined)
    throw failure
  } finally {
    closeRaw(fd)
  }
}

/** Records that lie together, so that reading them costs little. */
function* groupsOf(records: readonly Listed[]): Generator<readonly Listed[]> {
  let group: Listed[] = []
  let bytes = 0
  for (const record of records) {
    group.push(record)
    bytes += record.bytes
    if (bytes < PIECE_BYTES) continue
    yield group
    group = []
    bytes = 0
  }
  if (group.length > 0) yield group
}

async function removeAll(tree: TreeOfPacks, pack: string, files: readonly PackFile[]): Promise<void> {
  for (const { path } of files) await unlink(path).catch(unlessGone)
  tree.onChange(pack)
}

/** Marks in the new file what was marked in the old ones before they went. Gives the bytes of it. */
async function followMarks(
  fd: number,
  pack: string,
  old: readonly PackFile[],
  places: ReadonlyMap<number, number>,
): Promise<number> {
  let deadBytes = 0
  for (const file of old) {
    const marked: number[] = []
    await scan({ fd: file.fd, sizeBytes: await file.sizeBytes(), seed: seedOf(pack) }, ({ flags, offset, bytes }) => {
      const at = flags & DEAD ? places.get(offset) : undefined
      if (at === undefined) return
      marked.push(at)
      deadBytes += bytes
    })
    for (const at of marked) await writeRaw(fd, [Buffer.of(DEAD)], at + RECORD_FLAGS_AT)
  }
  return deadBytes
}

/** What a compaction left that was interrupted. */
async function removeUnfinished(tree: TreeOfPacks, names: readonly FileName[]): Promise<void> {
  for (const { name, isWhole } of names) if (!isWhole) await unlink(`${tree.folder}/${name}`).catch(unlessGone)
}

function unlessGone(failure: unknown): void {
  if ((failure as NodeJS.ErrnoException).code !== 'ENOENT') throw failure
}
