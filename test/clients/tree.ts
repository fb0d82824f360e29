/**
 * A real tree of files to store: the project's own node_modules, and beside them generated files of the sizes and names
 * that are easy to get wrong. A folder of hard links where the file system allows, so that it takes no time.
 */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, existsSync, readdirSync } from 'node:fs'
import { copyFile, link, lstat, mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export { isWhole } from '../support/whole.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const MIB = 2 ** 20

export interface TreeFile {
  /** Path in the tree, and its key. */
  readonly key: string
  readonly path: string
  readonly sizeBytes: number
}

/** Files of odd sizes and names. */
const generated: readonly (readonly [key: string, sizeBytes: number])[] = [
  ['generated/empty', 0],
  ['generated/one byte', 1],
  ['generated/64k-1', 65_535],
  ['generated/64k', 65_536],
  ['generated/8m+1', 8 * MIB + 1],
  ['generated/100m+17', 100 * MIB + 17],
  ['odd names/with space & ampersand.txt', 100],
  ['odd names/plus+percent%20question?.txt', 100],
  ['odd names/ümläut-Ω-日本-🗄.txt', 100],
  ["odd names/quote'single,comma;semi(paren)[bracket]{brace}~!@#$^=.txt", 100],
  ['odd names/.hidden', 100],
]

/** Makes the tree in a folder: at most so many files of node_modules, and the generated ones. */
export async function makeTree(
  folder: string,
  options: { readonly filesMax: number; readonly bytesMax?: number },
): Promise<TreeFile[]> {
  const files: TreeFile[] = []
  const sources = readdirSync(join(root, 'node_modules'), { recursive: true, withFileTypes: true })
  const paths = sources
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    // Caches are there, and programs that come and go.
    .filter((path) => !path.slice(root.length).includes('/.'))
    .toSorted()
  // Every so many-th, so that a part has something of each package.
  const step = Math.max(1, paths.length / options.filesMax)
  for (let at = 0; at < paths.length; at += step) {
    const source = paths[Math.floor(at)] ?? ''
    const key = source.slice(root.length + 1)
    const { size } = await lstat(source)
    if (size > (options.bytesMax ?? Infinity)) continue
    const path = join(folder, key)
    await mkdir(dirname(path), { recursive: true })
    await link(source, path).catch(() => copyFile(source, path))
    files.push({ key, path, sizeBytes: size })
  }
  for (const [key, sizeBytes] of generated) {
    if (sizeBytes > (options.bytesMax ?? Infinity)) continue
    const path = join(folder, key)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, randomBytes(sizeBytes))
    files.push({ key, path, sizeBytes })
  }
  return files
}

/** Fails unless the folder holds these files, each byte the same, and no other. */
export async function compareTree(files: readonly TreeFile[], folder: string): Promise<void> {
  for (const file of files) {
    const copy = join(folder, file.key)
    assert.ok(existsSync(copy), `${file.key} came back`)
    assert.equal(await sha256OfFile(copy), await sha256OfFile(file.path), file.key)
  }
  const found = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  assert.equal(found.length, files.length)
}

export async function sha256Of(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of stream) hash.update(piece)
  return hash.digest('hex')
}

export function sha256OfFile(path: string): Promise<string> {
  return sha256Of(createReadStream(path))
}

/** Does it for each, so many at once. */
export async function inLanes<Item>(
  items: readonly Item[],
  lanes: number,
  act: (item: Item) => Promise<void>,
): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < items.length) {
      const item = items[next++]
      if (item !== undefined) await act(item)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}
