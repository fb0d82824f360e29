/**
 * The name of a blob in a pack is its address, so nothing has to be looked up to read it:
 *
 *     <pack: 24 hex>-<offset: 8 hex>-<length: 5 hex>      of its record, as it was first written
 *
 * A pack is named by when it was made (12 hex digits of milliseconds), who writes it (8), and a number (4): as names of
 * other blobs do, these tell the age of what they name. Its files are
 *
 *     <tree>/packs/<pack>                         what was appended to it first
 *     <tree>/packs/<pack>.<writer><number>        records of it that were copied here, at other places
 *     <tree>/packs/<pack>.<writer><number>.new    the same, not whole yet
 */
const BLOB = /^([0-9a-f]{24})-([0-9a-f]{8})-([0-9a-f]{5})$/
const FILE = /^([0-9a-f]{24})(?:\.([0-9a-f]{12}))?(\.new)?$/
const WRITER = /^[0-9a-f]{8}$/

/** Places in a file of a pack are below this: two of them are one exact number. */
export const PLACES = 2 ** 26

export interface Address {
  readonly pack: string
  readonly offset: number
  readonly length: number
}

/** Nothing for the name of a blob that has a file of its own. */
export function addressOf(blob: string): Address | undefined {
  const found = BLOB.exec(blob)
  if (found === null) return undefined
  const [, pack = '', offset = '', length = ''] = found
  return { pack, offset: Number.parseInt(offset, 16), length: Number.parseInt(length, 16) }
}

export function blobNameOf({ pack, offset, length }: Address): string {
  return `${pack}-${offset.toString(16).padStart(8, '0')}-${length.toString(16).padStart(5, '0')}`
}

export interface FileName {
  readonly name: string
  readonly pack: string
  /** Who appends to the file, or did. */
  readonly writer: string
  readonly isOriginal: boolean
  readonly isWhole: boolean
}

export function readFileName(name: string): FileName | undefined {
  const found = FILE.exec(name)
  if (found === null) return undefined
  const [, pack = '', fragment, unfinished] = found
  return {
    name,
    pack,
    writer: fragment?.slice(0, 8) ?? pack.slice(12, 20),
    isOriginal: fragment === undefined,
    isWhole: unfinished === undefined,
  }
}

/** Names for the files of one writer. */
export class FileNames {
  readonly writer: string
  #last = 0

  constructor(writer: string) {
    if (!WRITER.test(writer)) throw new RangeError('A writer of packs is named by 8 lower-case hex digits.')
    this.writer = writer
  }

  pack(nowMs: number): string {
    return nowMs.toString(16).padStart(12, '0') + this.writer + this.#next()
  }

  fragment(pack: string): string {
    return `${pack}.${this.writer}${this.#next()}`
  }

  #next(): string {
    this.#last = (this.#last + 1) % 0x1_00_00
    return this.#last.toString(16).padStart(4, '0')
  }
}
