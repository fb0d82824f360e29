/**
 * Whose a folder is. A label in the folder of an aggregate names the aggregate, so that two never share a folder, also
 * not those of two clusters, and a disk that is not mounted is not taken for an empty one:
 *
 *     <aggregate>/aggregate.json    {"aggregate":"<uuid>","made":"<topmost folder that was made for it, or null>"}
 */
import { mkdir, open, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { VolumesFailure } from '../../ports/volumes.ts'
import { codeOf, volumesFailure } from './failures.ts'
import type { FolderSync } from './folder-sync.ts'
import { clearLostAndFound } from './lost-and-found.ts'
import { spareOf } from './packs/spare.ts'
import { removeEmpty } from './remove-empty.ts'

const LABEL = 'aggregate.json'
/** See age-note.ts. */
export const AGE_NOTE = 'catalog-age.json'
const NEW_LABEL = `${LABEL}.new`
/** What a claimed folder may hold: nothing of anybody's. `lost+found` is in every new file system of some kinds. */
const NOTHING: ReadonlySet<string> = new Set([NEW_LABEL, 'lost+found'])

/** What an aggregate has in its folder, also from before there were labels. */
const OWN: ReadonlySet<string> = new Set(['volumes', 'removing', 'lost-and-found', 'spare', AGE_NOTE])

interface Label {
  readonly aggregate: string
  readonly made: string | null
}

export async function claimFolder(
  folder: string,
  aggregate: string,
  { apartFrom, adopts }: { readonly apartFrom: readonly string[]; readonly adopts: boolean },
  sync: FolderSync,
): Promise<void> {
  try {
    if (adopts) await stat(folder).catch(() => insistOnClaim(folder, aggregate))
    const real = await realPlace(folder)
    for (const other of apartFrom) {
      const place = await realPlace(other)
      if (isWithin(real, place)) throw new VolumesFailure('exists', `${folder} lies in the folder of an aggregate.`)
      if (isWithin(place, real)) throw new VolumesFailure('exists', `${folder} has the folder of an aggregate in it.`)
    }
    const made = await mkdir(folder, { recursive: true, mode: 0o700 })
    const label = await readLabel(folder)
    if (label?.aggregate === aggregate) return
    if (label !== undefined) throw new VolumesFailure('exists', `${folder} is the folder of another aggregate.`)
    const found = (await readdir(folder)).find((name) => !NOTHING.has(name) && !(adopts && OWN.has(name)))
    if (found !== undefined) throw new VolumesFailure('exists', `${folder} is not empty: it has "${found}".`)
    await writeLabel(folder, { aggregate, made: made ?? null }, sync)
    const top = dirname(made ?? folder)
    for (let each = dirname(folder); each.length >= top.length; each = dirname(each)) {
      await sync.sync(each)
      if (each === dirname(each)) break
    }
  } catch (failure) {
    throw volumesFailure(failure, `Folder ${folder}`)
  }
}

/**
 * Removes what was made, with what was on its way out and what was set aside and never acknowledged. Folders that are
 * needed by others stay, and so do blobs set aside that may have been acknowledged.
 */
export async function releaseFolder(folder: string, aggregate: string): Promise<void> {
  try {
    const label = await readLabel(folder)
    // Not its own any more: an earlier call has come this far, and another aggregate may have it now.
    if (label !== undefined && label.aggregate !== aggregate) return
    await removeEmpty(join(folder, 'volumes'))
    await rm(join(folder, 'removing'), { recursive: true, force: true })
    await clearLostAndFound(folder)
    for (const left of [spareOf(folder), `${spareOf(folder)}.new`]) await rm(left, { force: true })
    if (label === undefined) return
    for (const note of [AGE_NOTE, `${AGE_NOTE}.new`, NEW_LABEL]) await rm(join(folder, note), { force: true })
    await rm(join(folder, LABEL), { force: true })
    if (label.made === null) return
    for (let each = folder; isWithin(each, label.made); each = dirname(each)) {
      if (!(await removeEmpty(each))) return
    }
  } catch (failure) {
    throw volumesFailure(failure, `Folder ${folder}`)
  }
}

/** Refused `away` unless the folder is there and is the aggregate's. */
export async function insistOnClaim(folder: string, aggregate: string): Promise<void> {
  if ((await readLabel(folder))?.aggregate === aggregate) return
  throw new VolumesFailure('away', `${folder} has not what it had: perhaps its disk is not mounted.`)
}

/** The same for one folder again and again: its label is read anew only when it is another file, or was written. */
export class KnownClaim {
  #seen: string | undefined

  async insist(folder: string, aggregate: string): Promise<void> {
    const mark = await markOf(join(folder, LABEL))
    if (mark !== undefined && mark === this.#seen) return
    this.#seen = undefined
    await insistOnClaim(folder, aggregate)
    this.#seen = mark
  }
}

async function markOf(file: string): Promise<string | undefined> {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = await stat(file)
    return [dev, ino, size, mtimeMs, ctimeMs].join(' ')
  } catch (failure) {
    if (codeOf(failure) === 'ENOENT') return undefined
    throw failure
  }
}

async function readLabel(folder: string): Promise<Label | undefined> {
  let text: string
  try {
    text = await readFile(join(folder, LABEL), 'utf8')
  } catch (failure) {
    if (codeOf(failure) === 'ENOENT') return undefined
    throw failure
  }
  try {
    return JSON.parse(text) as Label
  } catch (failure) {
    throw new VolumesFailure('damaged', `The label ${join(folder, LABEL)} cannot be read.`, { cause: failure })
  }
}

async function writeLabel(folder: string, label: Label, sync: FolderSync): Promise<void> {
  const handle = await open(join(folder, NEW_LABEL), 'w', 0o600)
  try {
    await handle.writeFile(`${JSON.stringify(label)}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(join(folder, NEW_LABEL), join(folder, LABEL))
  await sync.sync(folder)
}

/** The path without links, also of what is not there yet. */
async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (failure) {
    if (codeOf(failure) !== 'ENOENT' || path === dirname(path)) throw failure
    return join(await realPlace(dirname(path)), basename(path))
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
}
