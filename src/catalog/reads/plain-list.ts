/**
 * A page of a bucket as it is now that has no versions. Each key has one row there and no row is a delete marker, so
 * what list.ts walks over row by row is read in two kinds of statements:
 *
 *     keys        the rows from a key on, with the columns that a page shows and no others
 *     first keys  the first key behind each common prefix, from one to the next within SQLite
 *
 *     delimiter '/':  a  b  c/1 … c/999999  d/1 … e     keys: a b | first keys: c/1 d/1 e | keys: e
 *
 * Keys come as text, which costs SQLite's binding a third of a Buffer, and is what pages show. Those that are no UTF-8 do
 * not survive that, and are found out by the replacement character that stands in them then: the page is read by list.ts.
 */
import { isUtf8 } from 'node:buffer'
import type { DatabaseSync } from 'node:sqlite'
import type { ListPage, ListQuery, ListedRow, ObjectChecksum } from '../../ports/catalog.ts'
import { firstPosition, PAGE_ITEMS_MAX, PATIENCE_ROWS } from './list.ts'
import type { PageWalk } from './list.ts'
import { boundsOf, successor } from '../prefixes.ts'
import { checksumType } from '../rows.ts'
import { batchRows, tuples } from '../statements.ts'
import type { Batches, BatchRows } from '../statements.ts'
import { keyAfter } from './walk.ts'

/** Key, size, ETag, time, and what a row is where it is not as most are. */
type KeyRow = readonly [string, number, string, number, string | null]

const USUAL = { algorithm: 'CRC64NVME', type: 'FULL_OBJECT' } as const
const KEYS = `SELECT CAST(key AS TEXT), size, etag, modified,
    CASE WHEN algorithm = '${USUAL.algorithm}' AND composite = 0 AND class IS NULL AND versioned = 0 THEN NULL
      ELSE json_array(algorithm, composite, class, version) END
  FROM objects WHERE bucket = ? AND key >= ? AND key < ? ORDER BY key`

/** `cut` is where the delimiter begins behind the prefix; ?5 + cut are the bytes of a common prefix without its last one. */
const firstKeys = (cut: string) => `WITH RECURSIVE first(key) AS (
    SELECT (SELECT key FROM objects WHERE bucket = ?1 AND key >= ?2 AND key < ?3 ORDER BY key LIMIT 1)
    UNION ALL
    SELECT (SELECT key FROM objects WHERE bucket = ?1 AND key < ?3
        AND key >= CAST(substr(first.key, 1, ?5 + ${cut}) || ?6 AS BLOB) ORDER BY key LIMIT 1)
      FROM first WHERE ${cut} > 0
  ) SELECT CAST(key AS TEXT) FROM first`
const FIRST_KEYS = firstKeys('instr(first.key, ?4)')
const FIRST_KEYS_BEHIND_PREFIX = firstKeys('instr(substr(first.key, ?7), ?4)')

/** The most first keys of one statement: these take as long as a page of keys. */
const FIRST_KEYS_MAX: BatchRows = 256
/** The first batch of keys where some of them may be folded. */
const UNSURE_BATCH_ROWS = 16

const REPLACEMENT = '\ufffd'

/** `otherwise` makes the walk of list.ts, for what that alone can do. */
export type PlainLister = (bucket: number, query: ListQuery, otherwise: () => PageWalk<ListPage>) => PageWalk<ListPage>

export function plainLister(db: DatabaseSync): PlainLister {
  const statements: Statements = {
    keys: tuples<KeyRow>(db, KEYS),
    firstKeys: tuples<readonly [string | null]>(db, FIRST_KEYS),
    firstKeysBehindPrefix: tuples<readonly [string | null]>(db, FIRST_KEYS_BEHIND_PREFIX),
  }
  return (bucket, query, otherwise) => {
    const { prefix, delimiter } = query
    if (!isUtf8(prefix) || !isUtf8(delimiter)) return otherwise()
    const page = new PlainPage(statements, bucket, query)
    let walk: PageWalk<ListPage> | undefined
    return {
      go() {
        if (walk !== undefined) return walk.go()
        try {
          return page.go()
        } catch (failure) {
          if (!(failure instanceof NoText)) throw failure
          walk = otherwise()
          return walk.go()
        }
      },
    }
  }
}

/** A key is no UTF-8, or has a replacement character of its own. */
class NoText extends Error {}

interface Statements {
  readonly keys: Batches<KeyRow>
  readonly firstKeys: Batches<readonly [string | null]>
  readonly firstKeysBehindPrefix: Batches<readonly [string | null]>
}

class PlainPage implements PageWalk<ListPage> {
  readonly #statements: Statements
  readonly #bucket: number
  readonly #prefixBytes: number
  readonly #prefixLength: number
  readonly #delimiterBytes: Uint8Array
  readonly #delimiter: string
  readonly #until: Uint8Array
  readonly #itemsMax: number
  /** Where it goes on; nothing when there is no key any more. */
  #from: Uint8Array | undefined
  #batch: BatchRows
  /** Whether a common prefix begins there, as far as is known. */
  #isFolded = false
  readonly #objects: PlainRow[] = []
  readonly #prefixes: string[] = []
  #last: string | undefined
  #patience = 0

  constructor(statements: Statements, bucket: number, { prefix, delimiter, after, within, limit }: ListQuery) {
    this.#statements = statements
    this.#bucket = bucket
    this.#prefixBytes = prefix.length
    this.#prefixLength = Buffer.from(prefix).toString('utf8').length
    this.#delimiterBytes = delimiter
    this.#delimiter = Buffer.from(delimiter).toString('utf8')
    this.#until = boundsOf({ prefix }).until
    this.#itemsMax = Math.min(limit, PAGE_ITEMS_MAX)
    this.#from = firstPosition(prefix, within === true ? new Uint8Array() : delimiter, after)?.key
    this.#batch = batchRows(delimiter.length === 0 ? this.#itemsMax + 1 : UNSURE_BATCH_ROWS)
  }

  go(): ListPage | undefined {
    this.#patience = PATIENCE_ROWS
    while (this.#patience > 0) {
      if (this.#from === undefined) return new PlainListPage(this.#objects, this.#prefixes)
      const isFull = this.#isFolded ? this.#takePrefixes(this.#from) : this.#takeKeys(this.#from)
      if (isFull) return new PlainListPage(this.#objects, this.#prefixes, this.#last)
    }
    return undefined
  }

  get #isFull(): boolean {
    return this.#objects.length + this.#prefixes.length >= this.#itemsMax
  }

  /** Takes a batch of keys, up to the first that is folded. Tells whether the page is full and there are more. */
  #takeKeys(from: Uint8Array): boolean {
    const size = this.#batch
    const rows = this.#statements.keys(size, this.#bucket, from, this.#until)
    this.#patience -= rows.length
    for (const [at, row] of rows.entries()) {
      if (this.#isFull) return true
      const key = exact(row[0])
      if (this.#foldedLength(key) > 0) {
        this.#isFolded = true
        this.#from = Buffer.from(key, 'utf8')
        this.#batch = batchRows(at + 1)
        return false
      }
      this.#objects.push(new PlainRow(row))
      this.#last = key
    }
    this.#from = rows.length < size || this.#last === undefined ? undefined : keyAfter(Buffer.from(this.#last, 'utf8'))
    this.#batch = batchRows(size * 4)
    return false
  }

  /** Takes common prefixes, up to the first key that is not folded. Tells whether the page is full and there are more. */
  #takePrefixes(from: Uint8Array): boolean {
    const size = batchRows(Math.min(this.#itemsMax - this.#prefixes.length - this.#objects.length + 1, FIRST_KEYS_MAX))
    const firstKeys = this.#readFirstKeys(size, from)
    this.#patience -= firstKeys.length
    for (const [key] of firstKeys) {
      // The last of all: there is no key any more.
      if (key === null) {
        this.#from = undefined
        return false
      }
      if (this.#isFull) return true
      const length = this.#foldedLength(exact(key))
      if (length === 0) {
        this.#isFolded = false
        this.#from = Buffer.from(key, 'utf8')
        return false
      }
      this.#last = key.slice(0, length)
      this.#prefixes.push(this.#last)
    }
    this.#from = this.#last === undefined ? undefined : successor(Buffer.from(this.#last, 'utf8'))
    return false
  }

  #readFirstKeys(size: BatchRows, from: Uint8Array): (readonly [string | null])[] {
    const prefixBytes = this.#prefixBytes
    const delimiter = this.#delimiterBytes
    // No byte of UTF-8 is the last one there is, so one byte more is what comes behind.
    const behind = Uint8Array.of((delimiter.at(-1) ?? 0) + 1)
    const values = [this.#bucket, from, this.#until, delimiter, prefixBytes + delimiter.length - 2, behind] as const
    return prefixBytes === 0
      ? this.#statements.firstKeys(size, ...values)
      : this.#statements.firstKeysBehindPrefix(size, ...values, prefixBytes + 1)
  }

  /** How much of a key is its common prefix; 0: it is not folded. */
  #foldedLength(key: string): number {
    if (this.#delimiter === '') return 0
    const at = key.indexOf(this.#delimiter, this.#prefixLength)
    return at < 0 ? 0 : at + this.#delimiter.length
  }
}

function exact(key: string): string {
  if (key.includes(REPLACEMENT)) throw new NoText()
  return key
}

class PlainRow implements ListedRow {
  readonly keyText: string
  readonly version: string
  readonly sizeBytes: number
  readonly etag: string
  readonly modifiedMs: number
  readonly checksum: Pick<ObjectChecksum, 'algorithm' | 'type'>
  declare readonly storageClass?: string

  constructor([key, sizeBytes, etag, modifiedMs, unusual]: KeyRow) {
    this.keyText = key
    this.sizeBytes = sizeBytes
    this.etag = etag
    this.modifiedMs = modifiedMs
    this.version = 'null'
    this.checksum = USUAL
    if (unusual === null) return
    const [algorithm, composite, storageClass, version] = JSON.parse(unusual) as [string, number, string | null, string]
    this.version = version
    this.checksum = { algorithm, type: checksumType(composite) }
    if (storageClass !== null) this.storageClass = storageClass
  }

  get key(): Uint8Array {
    return Buffer.from(this.keyText, 'utf8')
  }
}

class PlainListPage implements ListPage {
  readonly objects: readonly PlainRow[]
  readonly prefixTexts: readonly string[]
  declare readonly next?: Uint8Array

  constructor(objects: readonly PlainRow[], prefixTexts: readonly string[], last?: string) {
    this.objects = objects
    this.prefixTexts = prefixTexts
    if (last !== undefined) this.next = Buffer.from(last, 'utf8')
  }

  get prefixes(): readonly Uint8Array[] {
    return this.prefixTexts.map((prefix) => Buffer.from(prefix, 'utf8'))
  }
}
