/** What the packs of a tree hold. */
import type { Manner } from '../../../ports/volumes.ts'
import { blobNameOf } from './names.ts'
import type { FileName } from './names.ts'
import { filesIn } from './open-packs.ts'
import { PackFile } from './pack-file.ts'
import { tableAt } from './places.ts'
import { seedOf } from './record.ts'
import { scan } from './scan.ts'
import type { Placed, Stretch } from './scan.ts'

/** Looks at a pack that is compacted meanwhile. */
const LOOKS_MAX = 4

/** A record of a pack, in the first of the files that it is in. */
export interface Listed extends Placed {
  readonly file: PackFile
  /** The same in its other files. */
  readonly copies?: readonly Listed[]
}

export interface DamagedStretch extends Stretch {
  readonly file: PackFile
}

export interface PackContents {
  /** By offset. */
  readonly live: ReadonlyMap<number, Listed>
  /** Bytes that are no records, where only records should be. */
  readonly damaged: readonly DamagedStretch[]
  /** Behind the last record of a file that nobody sealed. Its writer may not have come to their end. */
  readonly unfinishedBytes: number
  /** Headers of files and states of records that say nothing. They are sound in a copy. */
  readonly misread: number
  /** Some of it is of an earlier format. */
  readonly isOld: boolean
}

/** The names of all blobs in a folder of packs that nobody has unlinked, in no order. */
export async function* listBlobs(folder: string, manner: Pick<Manner, 'between'>): AsyncGenerator<string> {
  const packs = Map.groupBy(
    (await filesIn(folder)).filter(({ isWhole }) => isWhole),
    ({ pack }) => pack,
  )
  for (const [pack, names] of packs) {
    for (const { offset, nameBytes } of await liveIn(folder, { pack, names }, manner)) {
      yield blobNameOf({ pack, offset, length: nameBytes })
    }
  }
}

async function liveIn(
  folder: string,
  { pack, names: given }: { readonly pack: string; readonly names: readonly FileName[] },
  { between }: Pick<Manner, 'between'>,
): Promise<Listed[]> {
  let names = given
  for (let looks = 1; ; looks++) {
    const files = await openAll(folder, names)
    try {
      const isWhole = files.length === names.length
      if (isWhole || looks === LOOKS_MAX) return [...(await readPack(pack, files, between)).live.values()]
    } finally {
      for (const file of files) file.release()
    }
    names = (await filesIn(folder)).filter((one) => one.pack === pack && one.isWhole)
  }
}

/** Those that are there. To be released. */
export async function openAll(folder: string, names: readonly FileName[]): Promise<PackFile[]> {
  const files: PackFile[] = []
  try {
    for (const name of names) {
      const file = await PackFile.open(folder, name)
      if (file !== undefined) files.push(file)
    }
    return files
  } catch (failure) {
    for (const file of files) file.release()
    throw failure
  }
}

/** What is needed of a pack. A record that is in several files is needed as long as nobody has marked it in any. */
export async function readPack(
  pack: string,
  files: readonly PackFile[],
  between?: Manner['between'],
): Promise<PackContents> {
  const live = new Map<number, Listed>()
  const dead = new Set<number>()
  const seed = seedOf(pack)
  let [unfinishedBytes, misread] = [0, 0]
  const damaged: DamagedStretch[] = []
  let isOld = false
  for (const file of files) {
    const { format, state } = await file.header()
    if (state === 'damaged') misread++
    isOld ||= format === 1
    const sizeBytes = await file.sizeBytes()
    const scanned = await scan(
      { fd: file.fd, sizeBytes, seed },
      (record) => {
        isOld ||= record.format === 1
        if (record.state === 'damaged') misread++
        if (record.state === 'void') return
        if (record.state === 'dead') dead.add(record.offset)
        else {
          const first = live.get(record.offset)
          const one = { ...record, file }
          live.set(record.offset, first === undefined ? one : { ...first, copies: [...(first.copies ?? []), one] })
        }
      },
      between === undefined ? {} : { between },
    )
    damaged.push(...scanned.damaged.map((stretch) => ({ ...stretch, file })))
    if (scanned.endsAt >= sizeBytes || (await tableAt(file.fd, sizeBytes)) === scanned.endsAt) continue
    if (state === 'sealed') {
      damaged.push({ at: scanned.endsAt, bytes: sizeBytes - scanned.endsAt, file })
    } else unfinishedBytes += sizeBytes - scanned.endsAt
  }
  if (files.length > 1) for (const offset of dead) live.delete(offset)
  return { live, damaged, unfinishedBytes, misread, isOld }
}
