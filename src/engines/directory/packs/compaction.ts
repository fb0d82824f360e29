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
 * Files that somebody may still append to are left alone. Before anything is dropped of a pack, who knows what is needed is
 * asked: a needed blob of which no sound record is found leaves the pack as it is, however it came to that. Damage between
 * records that nobody needs goes to lost-and-found: nobody knows what was there.
 */
import { rename, unlink } from 'node:fs/promises'
import type { Compacted, CompactManner, DamagedPlace } from '../../../ports/volumes.ts'
import { volumesFailure } from '../failures.ts'
import { openAll, readPack } from './listing.ts'
import type { Listed, PackContents } from './listing.ts'
import { addressOf, blobNameOf } from './names.ts'
import type { FileName } from './names.ts'
import { filesIn } from './open-packs.ts'
import type { PackFile } from './pack-file.ts'
import { table } from './places.ts'
import { closeRaw, openRaw, writeRaw } from './raw.ts'
import {
  copiedRecord,
  FILE_HEADER_BYTES,
  FILE_STATE_AT,
  fileHeader,
  PACK_FORMAT,
  RECORD_STATE_AT,
  SEALED,
  seedOf,
  stateOf,
} from './record.ts'
import { scan } from './scan.ts'
import { setStretchesAside, type LostPlace } from './set-aside.ts'
import { isNoSpace, shrink } from './shrinking.ts'
import type { ShrinkIn } from './shrinking.ts'
import { readSoundest } from './soundest.ts'
import { settleUnfinished } from './unfinished.ts'

/** Copied at a time. */
const PIECE_BYTES = 2 ** 20
/** A pack in more files is copied into one, however much of it is needed. */
const FILES_MAX = 4
/** Damaged places that one look tells of. */
const DAMAGED_MAX = 1000
/** The most that the length in a name can say. */
const LENGTH_MAX = 0xf_ff_ff

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
  /** Where damaged bytes go that nobody needs. */
  readonly lost: LostPlace
  /** Whether somebody may still append to files of this writer. */
  readonly isWriting: (writer: string) => boolean
}

export async function compactTree(tree: TreeOfPacks, manner: CompactManner): Promise<Compacted> {
  const counts = { freedBytes: 0, misread: 0, setAside: 0, waiting: 0 }
  const damaged: DamagedPlace[] = []
  try {
    const packs = Map.groupBy(await filesIn(tree.folder), ({ pack }) => pack)
    for (const pack of tree.tallies.keys()) if (!packs.has(pack)) tree.tallies.delete(pack)
    for (const [pack, names] of packs) {
      const whole = names.filter(({ isWhole }) => isWhole)
      const unfinished = names.filter(({ isWhole }) => !isWhole)
      if (unfinished.length > 0) {
        whole.push(...(await settleUnfinished(tree.folder, { pack, whole, unfinished }, manner)))
        tree.onChange(pack)
      }
      if (!isToBeLookedAt(tree.tallies.get(pack), whole.length, manner)) continue
      const outcome = await compactPack(tree, pack, whole, manner)
      counts.freedBytes += outcome.freedBytes
      counts.misread += outcome.misread
      counts.setAside += outcome.setAside
      damaged.push(...outcome.damaged.slice(0, DAMAGED_MAX - damaged.length))
      if (outcome.isWaiting) counts.waiting++
    }
    return { ...counts, damaged }
  } catch (failure) {
    throw volumesFailure(failure, `Packs in ${tree.folder}`)
  }
}

function isToBeLookedAt(tally: Tally | undefined, files: number, { all, deadShare }: CompactManner): boolean {
  if (files > FILES_MAX) return true
  if (tally === undefined) return all === true
  // Whether it can be copied now is found out when enough was unlinked since the last look, and at each start.
  if (tally.isDamaged === true) return all === true || shareSince(tally) >= deadShare
  return shareOf(tally) >= deadShare
}

interface Outcome {
  readonly freedBytes: number
  readonly damaged: readonly DamagedPlace[]
  readonly misread: number
  readonly setAside: number
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
    let isLater = false
    for (const file of all) {
      const { state, format = 0 } = await file.header()
      isLater ||= format > PACK_FORMAT
      if (!tree.isWriting(file.name.writer) || state === 'sealed') files.push(file)
    }
    const before = {
      freedBytes: 0,
      damaged: [],
      setAside: 0,
      misread: 0,
      isWaiting: files.length < all.length && !isLater,
    }
    // What a later release wrote is understood by that alone.
    if (files.length === 0 || isLater) return before
    const tally: Tally = tree.tallies.get(pack) ?? { sinceBytes: 0 }
    tree.tallies.set(pack, tally)
    const isSplit = files.length > FILES_MAX
    const counted = tally.sinceBytes
    const contents = await readPack(pack, files, manner.between)
    const bytes = await sizeOf(files)
    const liveBytes = contents.live.values().reduce((sum, record) => sum + record.bytes, 0)
    tally.found = { bytes, deadBytes: Math.max(0, bytes - liveBytes - FILE_HEADER_BYTES * files.length) }
    tally.sinceBytes -= counted
    const { misread, isOld } = contents
    const isAnew = isSplit || isOld || misread > 0
    const isWorthIt = liveBytes === 0 || isAnew || shareOf(tally) >= manner.deadShare
    const isDoubtful = contents.damaged.length + contents.unfinishedBytes > 0
    const lost = isWorthIt || isDoubtful ? await lostOf(pack, contents, manner) : []
    // A needed one may be in a file that is still appended to, which was not looked at.
    if (lost.length > 0 && before.isWaiting) return before
    const damaged = lost.length > 0 ? lost : damagedIn(pack, contents)
    tally.isDamaged = lost.length > 0 || (damaged.length > 0 && manner.needed === undefined)
    const isKept = lost.length > 0 || (damaged.length > 0 && (before.isWaiting || manner.needed === undefined))
    if (isKept || !isWorthIt) return { ...before, damaged, misread }
    try {
      before.setAside = await setStretchesAside(tree.lost, pack, contents.damaged, manner.between)
    } catch (failure) {
      // What is full of packs without damage is had back first.
      if (!isNoSpace(failure)) throw failure
      return { ...before, damaged, misread }
    }
    if (liveBytes === 0) {
      await removeAll(tree, pack, files)
      tree.tallies.delete(pack)
      return { ...before, misread, freedBytes: bytes }
    }
    // What was unlinked meanwhile counts for the copy.
    tally.sinceBytes = 0
    try {
      tally.found = await copy(tree, pack, contents, files, manner)
    } catch (failure) {
      if (!isNoSpace(failure)) throw failure
      if (shareOf(tally) < manner.deadShare) return { ...before, misread }
      return await shrinkLargest(tree, pack, contents, files, manner, { ...before, misread })
    }
    const freedBytes = Math.max(0, bytes - tally.found.bytes)
    return { ...before, misread, freedBytes }
  } finally {
    for (const file of all) file.release()
  }
}

/** Needed blobs of which there is no record. */
async function lostOf(pack: string, { live }: PackContents, { needed }: CompactManner): Promise<DamagedPlace[]> {
  const lost: DamagedPlace[] = []
  if (needed === undefined) return lost
  for await (const blob of needed(`${pack}-`)) {
    const address = addressOf(blob)
    if (address !== undefined && !live.has(address.offset)) lost.push({ blob, isNeeded: true })
  }
  return lost
}

/** What is damaged without being a blob that anybody knows, as a blob would be named that was there. */
function damagedIn(pack: string, { damaged }: PackContents): DamagedPlace[] {
  const [first] = damaged
  if (first === undefined) return []
  const length = Math.min(
    damaged.reduce((sum, { bytes }) => sum + bytes, 0),
    LENGTH_MAX,
  )
  return [{ blob: blobNameOf({ pack, offset: first.at, length }), isNeeded: false }]
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
  return { ...before, freedBytes }
}

function shareOf({ found, sinceBytes }: Tally): number {
  return found === undefined ? 1 : (found.deadBytes + sinceBytes) / Math.max(1, found.bytes)
}

function shareSince({ found, sinceBytes }: Tally): number {
  return found === undefined ? 0 : sinceBytes / Math.max(1, found.bytes)
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
      for (const first of group) {
        const { record, bytes } = await readSoundest(first, seedOf(pack))
        const copied = copiedRecord(bytes, record, seedOf(pack))
        pieces.push(copied)
        placed.push({ offset: record.offset, at })
        at += copied.length
      }
      const whole = Buffer.concat(pieces)
      await writeRaw(fd, [whole], endsAt)
      endsAt = at
      await between?.(2 * whole.length)
    }
    const places = table(placed)
    await writeRaw(fd, [places], endsAt)
    await writeRaw(fd, [SEALED], FILE_STATE_AT)
    await tree.datasync(fd)
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
    await scan({ fd: file.fd, sizeBytes: await file.sizeBytes(), seed: seedOf(pack) }, ({ state, offset, bytes }) => {
      const at = state === 'dead' ? places.get(offset) : undefined
      if (at === undefined) return
      marked.push(at)
      deadBytes += bytes
    })
    for (const at of marked) await writeRaw(fd, [stateOf(PACK_FORMAT, 'dead')], at + RECORD_STATE_AT)
  }
  return deadBytes
}

function unlessGone(failure: unknown): void {
  if ((failure as NodeJS.ErrnoException).code !== 'ENOENT') throw failure
}
