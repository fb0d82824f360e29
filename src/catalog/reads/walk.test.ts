import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bytes, text } from '../../ports/catalog/fixtures.suite.ts'
import type { BatchRows } from '../statements.ts'
import { MergedWalk, TableWalk, keyAfter, keyStart } from './walk.ts'
import type { Place, Table } from './walk.ts'

const END = bytes('\xff')

/** A table of sorted rows in memory that counts what is read of it. */
class CountedTable implements Table<Place, Place> {
  readonly #rows: readonly Place[]
  statements = 0
  rowsRead = 0

  constructor(rows: readonly Place[]) {
    this.#rows = rows
  }

  readonly seen = () => true
  readonly load = (row: Place) => row

  rows = (rows: BatchRows, _bucket: number, from: Uint8Array, end: Uint8Array) =>
    this.#read(rows, (row) => Buffer.compare(row.key, from) >= 0 && Buffer.compare(row.key, end) < 0)

  rowsOfKey = (rows: BatchRows, _bucket: number, key: Uint8Array, seq: number) =>
    this.#read(rows, (row) => Buffer.compare(row.key, key) === 0 && row.seq <= seq)

  #read(rows: number, matches: (row: Place) => boolean): Place[] {
    const found = this.#rows.filter(matches).slice(0, rows)
    this.statements++
    this.rowsRead += found.length
    return found
  }
}

const row = (key: string, seq: number): Place => ({ key: bytes(key), seq, marker: 0 })

function walkOver(table: CountedTable, first: number): MergedWalk<Place> {
  return new MergedWalk([new TableWalk(table, 1, END, { left: Infinity }, { first, max: 1001 })])
}

function keysOf(walk: MergedWalk<Place>, next: (row: Place) => void): string[] {
  const keys: string[] = []
  walk.seek(keyStart(bytes('')))
  for (let at = walk.row; at !== undefined; at = walk.row) {
    keys.push(text(at.key))
    next(at)
  }
  return keys
}

void describe('a walk', () => {
  void it('that takes every row reads each once, in few statements', () => {
    const table = new CountedTable(Array.from({ length: 3000 }, (_, i) => row(`k${String(i).padStart(4, '0')}`, i)))
    const walk = walkOver(table, 16)
    assert.equal(keysOf(walk, () => walk.advance()).length, 3000)
    assert.equal(table.rowsRead, 3000)
    // 16, 64, 256, 1001, 1001 and the rest, each of two: of the last key, and behind it.
    assert.ok(table.statements <= 12, `${table.statements} statements`)
  })

  void it('that jumps over folders reads about a row of each, however many keys they have', () => {
    const folders = Array.from({ length: 50 }, (_, f) => `f${String(f).padStart(2, '0')}/`)
    const keys = folders.flatMap((f) =>
      Array.from({ length: 100 }, (_, i) => row(`${f}${String(i).padStart(3, '0')}`, i)),
    )
    const table = new CountedTable(keys)
    const walk = walkOver(table, 16)
    const seen = keysOf(walk, ({ key }) => walk.seek(keyStart(bytes(`${text(key).slice(0, 3)}0`))))
    assert.deepEqual(
      seen,
      folders.map((f) => `${f}000`),
    )
    assert.ok(
      table.rowsRead <= 16 + 50 && table.statements <= 52,
      `${table.rowsRead} rows, ${table.statements} statements`,
    )
  })

  void it('that wants the newest row of each key reads little of keys with very many versions', () => {
    const names = Array.from({ length: 40 }, (_, k) => `k${String(k).padStart(2, '0')}`)
    const table = new CountedTable(names.flatMap((k) => Array.from({ length: 200 }, (_, i) => row(k, 200 - i))))
    const walk = walkOver(table, 16)
    assert.deepEqual(
      keysOf(walk, ({ key }) => walk.passKey(key)),
      names,
    )
    assert.ok(table.rowsRead <= 16 + 40 * 16, `${table.rowsRead} rows of ${40 * 200}`)
  })

  void it('goes on amid a key, and from there to the next', () => {
    const table = new CountedTable([row('a', 9), row('a', 5), row('a', 2), row('b', 7)])
    const walk = walkOver(table, 1)
    const seen: string[] = []
    for (walk.seek({ key: bytes('a'), seq: 5 }); walk.row !== undefined; walk.advance()) {
      seen.push(`${text(walk.row.key)}${walk.row.seq}`)
    }
    assert.deepEqual(seen, ['a5', 'a2', 'b7'])
    const other = walkOver(table, 1)
    other.seek(keyStart(keyAfter(bytes('a'))))
    assert.equal(other.row?.seq, 7)
  })
})
