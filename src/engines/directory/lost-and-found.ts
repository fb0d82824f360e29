/**
 * Blobs that no row knew after an unclean end. Their bytes may be all that is left of an object, so they are moved and not
 * removed; the path tells what a blob was and whether its write was acknowledged by nobody:
 *
 *     <aggregate>/lost-and-found/unacknowledged/<tree>/<blob>.<when, in milliseconds>    the catalog was proven whole
 *     <aggregate>/lost-and-found/unknown/<tree>/<blob>.<when, in milliseconds>           it was not: kept for good
 */
import { mkdir, readdir, rename, rm, unlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { codeOf } from './failures.ts'
import { removeEmpty } from './remove-empty.ts'

const FOLDER = 'lost-and-found'
const [UNACKNOWLEDGED, UNKNOWN] = ['unacknowledged', 'unknown']
/** Of a blob that has its own file, or of one of a pack. */
const NAME = /^[0-9a-f-]{32,39}\.(\d{1,16})$/

export interface FoundBlob {
  readonly tree: string
  readonly nowMs: number
  readonly isUnacknowledged: boolean
}

export async function moveToLostAndFound(
  aggregate: string,
  found: FoundBlob & { readonly path: string },
): Promise<void> {
  await rename(found.path, await placeInLostAndFound(aggregate, found, basename(found.path)))
}

/** Where a blob goes that was found. */
export async function placeInLostAndFound(aggregate: string, found: FoundBlob, blob: string): Promise<string> {
  const folder = join(aggregate, FOLDER, found.isUnacknowledged ? UNACKNOWLEDGED : UNKNOWN, found.tree)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return join(folder, `${blob}.${found.nowMs}`)
}

/** Removes what nobody was answered for and was found before that time. Gives the number of files. */
export async function emptyLostAndFound(aggregate: string, foundBeforeMs: number): Promise<number> {
  const root = join(aggregate, FOLDER, UNACKNOWLEDGED)
  let removed = 0
  for (const tree of await namesIn(root)) {
    for (const name of await namesIn(join(root, tree))) {
      const foundMs = Number(NAME.exec(name)?.[1] ?? Infinity)
      if (foundMs >= foundBeforeMs) continue
      await unlink(join(root, tree, name))
      removed++
    }
    await removeEmpty(join(root, tree))
  }
  return removed
}

/** Removes what nobody was answered for, whenever it was found, and empty folders. The rest stays. */
export async function clearLostAndFound(aggregate: string): Promise<void> {
  const root = join(aggregate, FOLDER)
  await rm(join(root, UNACKNOWLEDGED), { recursive: true, force: true })
  for (const tree of await namesIn(join(root, UNKNOWN))) await removeEmpty(join(root, UNKNOWN, tree))
  await removeEmpty(join(root, UNKNOWN))
  await removeEmpty(root)
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (failure) {
    if (codeOf(failure) === 'ENOENT') return []
    throw failure
  }
}
