/**
 * A file that was to become one of a pack, left by a compaction that was interrupted. It has copies of records, each with
 * its checksum. They are removed when the pack has all that is needed without them. When it has not, because its own files
 * were damaged, lost or swapped since, the copies become one of its files: a read takes the first sound copy of a record.
 */
import { rename, unlink } from 'node:fs/promises'
import type { CompactManner } from '../../../ports/volumes.ts'
import { codeOf } from '../failures.ts'
import { openAll, readPack } from './listing.ts'
import type { PackContents } from './listing.ts'
import { addressOf } from './names.ts'
import type { FileName } from './names.ts'
import { seedOf } from './record.ts'
import { isSound, readSoundest } from './soundest.ts'

const SUFFIX = '.new'

/** Gives the files that became part of the pack. */
export async function settleUnfinished(
  folder: string,
  { pack, whole, unfinished }: { readonly pack: string } & Record<'whole' | 'unfinished', readonly FileName[]>,
  manner: CompactManner,
): Promise<FileName[]> {
  const files = await openAll(folder, whole)
  let lacksSome: boolean
  try {
    lacksSome = await lacksNeeded(pack, await readPack(pack, files, manner.between), manner)
  } finally {
    for (const file of files) file.release()
  }
  const settled: FileName[] = []
  for (const file of unfinished) {
    const name = file.name.slice(0, -SUFFIX.length)
    if (lacksSome) {
      await rename(`${folder}/${file.name}`, `${folder}/${name}`)
      settled.push({ ...file, name, isWhole: true })
    } else {
      await unlink(`${folder}/${file.name}`).catch((failure: unknown) => {
        if (codeOf(failure) !== 'ENOENT') throw failure
      })
    }
  }
  return settled
}

async function lacksNeeded(pack: string, { live }: PackContents, { needed, between }: CompactManner): Promise<boolean> {
  if (needed === undefined) return false
  for await (const blob of needed(`${pack}-`)) {
    const record = live.get(addressOf(blob)?.offset ?? -1)
    if (record === undefined) return true
    const read = await readSoundest(record, seedOf(pack))
    if (!isSound(read, seedOf(pack))) return true
    await between?.(read.bytes.length)
  }
  return false
}
