/**
 * Gives space back where there is none to copy what is left of a pack: its file is made shorter from its end, and what is
 * needed of that goes to another file first, little by little.
 *
 *     copy the last records ─▶ sync ─▶ cut them off ─▶ copy those before them ─▶ …
 *
 * After a crash a record may be in both files, which is as good as in one. Who reads meanwhile finds the record in neither
 * place it knows, and looks again. Nobody unlinks between the copy and the cut, as the mark would be cut off.
 */
import { rename, unlink } from 'node:fs/promises'
import type { CompactManner } from '../../../ports/volumes.ts'
import { volumesFailure } from '../failures.ts'
import type { Listed } from './listing.ts'
import type { FileNames } from './names.ts'
import type { PackFile } from './pack-file.ts'
import { table } from './places.ts'
import { closeRaw, datasyncRaw, openRaw, truncateRaw, writeRaw } from './raw.ts'
import type { Spare } from './spare.ts'
import { readSoundest } from './soundest.ts'
import { copiedRecord, FILE_HEADER_BYTES, FILE_STATE_AT, fileHeader, SEALED, seedOf } from './record.ts'

/** Copied at a time; less where even that does not fit. */
const STEP_BYTES = 2 ** 20

export interface ShrinkIn {
  readonly folder: string
  readonly names: FileNames
  readonly syncFolder: () => Promise<void>
  readonly onChange: (pack: string) => void
  readonly spare: Spare
  readonly datasync: (fd: number) => Promise<void>
  /** While it runs, nobody unlinks. */
  readonly alone: (act: () => Promise<void>) => Promise<void>
}

export function isNoSpace(failure: unknown): boolean {
  return volumesFailure(failure, '').reason === 'no-space'
}

interface Target {
  readonly path: string
  readonly fd: number
  endsAt: number
  readonly places: { readonly offset: number; readonly at: number }[]
  /** A sync of it failed: nobody knows what the disk has of what was written since the last one. */
  hasFailed: boolean
}

export interface Shrunk {
  /** All of the file could go. */
  readonly isGone: boolean
  readonly copiedBytes: number
}

/** As far as there is space for it. */
export async function shrink(
  tree: ShrinkIn,
  pack: string,
  source: PackFile,
  live: Iterable<Listed>,
  { between }: CompactManner,
): Promise<Shrunk> {
  const records = [...live].filter(({ file }) => file === source).toSorted((a, b) => a.at - b.at)
  const last = records.at(-1)
  await tree.alone(() => truncateRaw(source.fd, last === undefined ? FILE_HEADER_BYTES : last.at + last.bytes))
  let target: Target | undefined
  let stepBytes = STEP_BYTES
  let copiedBytes = 0
  await tree.spare.give()
  try {
    while (records.length > 0) {
      const group = lastOf(records, stepBytes)
      try {
        await tree.alone(async () => {
          target = await append(tree, pack, target, group)
          await truncateRaw(source.fd, group[0]?.at ?? 0)
          tree.onChange(pack)
        })
      } catch (failure) {
        if (!isNoSpace(failure)) throw failure
        if (target?.hasFailed === true) {
          await end(target)
          target = undefined
        }
        if (group.length === 1) return { isGone: false, copiedBytes }
        stepBytes /= 4
        continue
      }
      records.splice(-group.length)
      const bytes = group.reduce((sum, one) => sum + one.bytes, 0)
      copiedBytes += bytes
      await between?.(2 * bytes)
    }
    await unlink(source.path)
    return { isGone: true, copiedBytes }
  } finally {
    if (target !== undefined) await end(target)
    tree.onChange(pack)
    await tree.spare.make()
  }
}

/** At least one. */
function lastOf(records: readonly Listed[], bytesMax: number): readonly Listed[] {
  let from = records.length - 1
  let bytes = records[from]?.bytes ?? 0
  for (; from > 0; from--) {
    bytes += records[from - 1]?.bytes ?? 0
    if (bytes > bytesMax) break
  }
  return records.slice(from)
}

/** Durable on return. A file that is new gets its name when it has something. */
async function append(tree: ShrinkIn, pack: string, to: Target | undefined, group: readonly Listed[]): Promise<Target> {
  const isNew = to === undefined
  const target = to ?? (await begin(`${tree.folder}/${tree.names.fragment(pack)}`, pack))
  let at = target.endsAt
  const pieces: Buffer[] = []
  const places: { offset: number; at: number }[] = []
  try {
    for (const first of group) {
      const { record, bytes } = await readSoundest(first, seedOf(pack))
      const copy = copiedRecord(bytes, record, seedOf(pack))
      pieces.push(copy)
      places.push({ offset: record.offset, at })
      at += copy.length
    }
    await writeRaw(target.fd, [Buffer.concat(pieces)], target.endsAt)
    await tree.datasync(target.fd).catch((failure: unknown) => {
      target.hasFailed = true
      throw failure
    })
    if (isNew) {
      await rename(`${target.path}.new`, target.path)
      await tree.syncFolder()
    }
  } catch (failure) {
    await truncateRaw(target.fd, target.endsAt).catch(() => undefined)
    if (isNew) {
      closeRaw(target.fd)
      await unlink(`${target.path}.new`).catch(() => undefined)
    }
    throw failure
  }
  target.endsAt = at
  target.places.push(...places)
  return target
}

async function begin(path: string, pack: string): Promise<Target> {
  const fd = await openRaw(`${path}.new`, 'wx+')
  try {
    await writeRaw(fd, [fileHeader(pack, Date.now())], 0)
    return { path, fd, endsAt: FILE_HEADER_BYTES, places: [], hasFailed: false }
  } catch (failure) {
    closeRaw(fd)
    await unlink(`${path}.new`).catch(() => undefined)
    throw failure
  }
}

/** Without a table it takes longer to find a record, and that is all. Nothing is written behind a sync that failed. */
async function end({ fd, endsAt, places, hasFailed }: Target): Promise<void> {
  try {
    if (!hasFailed) {
      await writeRaw(fd, [table(places)], endsAt).catch(() => truncateRaw(fd, endsAt))
      await datasyncRaw(fd).catch(() => truncateRaw(fd, endsAt))
    }
    await writeRaw(fd, [SEALED], FILE_STATE_AT)
  } finally {
    closeRaw(fd)
  }
}
