import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { CatalogUnavailable, CommitRefused } from '../../ports/catalog.ts'
import type { Change } from '../../ports/catalog.ts'
import { bytes, draft, put } from '../../ports/catalog/fixtures.suite.ts'
import { Reserve } from './reserve.ts'
import { Writer, type Settled } from './writer.ts'

const OPEN: Change[] = [
  { do: 'open-volume', volume: 'v', sizeBytes: 1e9 },
  { do: 'open-bucket', bucket: 'b', volume: 'v', limitBytes: 1e9 },
]
const remove = (key: string): Change[] => [{ do: 'delete-object', bucket: 'b', key: bytes(key) }]

interface Seen {
  readonly writer: Writer
  readonly file: string
  readonly said: string[]
  readonly settle: (...changes: Change[]) => string
}

function withWriter(use: (seen: Seen) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-full-'))
  const file = join(folder, 'catalog.db')
  const said: string[] = []
  const writer = new Writer(file, { reserve: new Reserve(file), report: (message) => said.push(message) })
  const settle = (...changes: Change[]) => tell(writer.settle([changes])[0])
  try {
    settle(...OPEN)
    use({ writer, file, said, settle })
  } finally {
    writer.close()
    rmSync(folder, { recursive: true })
  }
}

function tell(settled: Settled | undefined): string {
  if (settled instanceof CommitRefused) return settled.reason
  if (settled instanceof CatalogUnavailable) return 'unavailable'
  return settled instanceof Error ? settled.message : 'done'
}

/** The database may not grow: what SQLite answers then is what it answers on a full disk. */
const stopGrowing = (writer: Writer) => {
  const pages = Number(writer.db.prepare('PRAGMA page_count').get()?.['page_count'])
  writer.db.exec(`PRAGMA max_page_count = ${pages}`)
}
const growAgain = (writer: Writer) => writer.db.exec('PRAGMA max_page_count = 1000000')

function becomeFull({ writer, settle }: Pick<Seen, 'writer' | 'settle'>): void {
  stopGrowing(writer)
  for (let at = 0; settle(put('b', `filler${at}`, draft(`filler${at}`))) === 'done'; at++) assert.ok(at < 10_000)
}

void describe('a catalog whose disk is full', () => {
  void it('refuses what needs space, takes what frees it, and goes on by itself when there is space', () =>
    withWriter(({ writer, file, said, settle }) => {
      writer.tidy(true)
      assert.ok(statSync(`${file}-reserve`).size > 2 ** 20)
      stopGrowing(writer)
      let keys = 0
      while (settle(put('b', `k${keys}`, draft(`blob${keys}`))) === 'done') assert.ok(++keys < 10_000)
      assert.ok(statSync(`${file}-reserve`).size < 100, 'the reserve is given up')
      assert.deepEqual(said, ['The disk of the catalog is full. Commits that need space are refused.'])
      assert.equal(settle(put('b', 'more', draft('more'))), 'no-space')
      assert.equal(settle(), 'no-space', 'whoever asks whether commits can be made')
      for (let key = 0; key < keys; key++) assert.equal(settle(...remove(`k${key}`)), 'done')
      growAgain(writer)
      writer.tidy(true)
      assert.ok(statSync(`${file}-reserve`).size > 2 ** 20, 'the reserve is there again')
      assert.equal(said.at(-1), 'The disk of the catalog has space again.')
      assert.equal(settle(), 'done')
      assert.equal(settle(put('b', 'more', draft('more'))), 'done')
    }))

  void it('takes no longer records of users, and those of its own work that are small', () =>
    withWriter(({ writer, settle }) => {
      const record = (type: string, key: string, characters: number): Change => {
        return { do: 'put-record', type, key, body: { text: 'x'.repeat(characters) } }
      }
      settle(record('policies', 'p', 100))
      becomeFull({ writer, settle })
      growAgain(writer)
      assert.equal(settle(record('policies', 'q', 1)), 'no-space')
      assert.equal(settle(record('policies', 'p', 101)), 'no-space')
      assert.equal(settle(record('policies', 'p', 100)), 'done')
      assert.equal(settle(record('policies', 'p', 50)), 'done')
      assert.equal(settle(record('queue', 'p', 500), { do: 'remove-record', type: 'policies', key: 'p' }), 'done')
      assert.equal(settle(record('cluster/jobs', 'j', 1000)), 'done')
      assert.equal(settle(record('internal/notes', 'n', 100_000)), 'no-space')
      assert.equal(settle({ do: 'check-space' }, record('cluster/jobs', 'k', 10)), 'no-space')
    }))

  void it('keeps most of the reserve for what frees space, whatever else is asked of it', () =>
    withWriter(({ writer, settle }) => {
      settle({ do: 'open-bucket', bucket: 'kept', volume: 'v', limitBytes: 1e9 })
      settle({ do: 'version-bucket', bucket: 'kept', state: 'enabled' })
      settle(put('b', 'old', draft('old')))
      becomeFull({ writer, settle })
      growAgain(writer)
      const pages = () => Number(writer.db.prepare('PRAGMA page_count').get()?.['page_count'])
      const [before, long] = [pages(), 'k'.repeat(900)]
      const mark = (at: number): Change => {
        const marker = { version: `m${at}`, modifiedMs: 1, details: { text: long.repeat(8) } }
        return { do: 'delete-object', bucket: 'kept', key: bytes(`${at}${long}`), marker }
      }
      let markers = 0
      while (settle(mark(markers)) === 'done') assert.ok(++markers < 10_000)
      assert.ok(pages() - before <= 300, `${pages() - before} pages`)
      assert.equal(
        settle({ do: 'put-record', type: 'cluster/jobs', key: 'j', body: { text: 'x'.repeat(9000) } }),
        'done',
      )
      assert.equal(settle(...remove('old')), 'done')
    }))

  void it('settles those commits of a batch that fit', () =>
    withWriter(({ writer, settle }) => {
      settle(put('b', 'old', draft('old')))
      stopGrowing(writer)
      const many = Array.from({ length: 400 }, (_, at) => [put('b', `k${at}`, draft(`blob${at}`))])
      const settled = writer.settle([remove('old'), ...many]).map(tell)
      assert.equal(settled[0], 'done')
      assert.ok(settled.slice(1).every((one) => one === 'no-space'))
    }))

  void it('that was full at its last stop is full at the next start, as long as there is no space', () =>
    withWriter(({ file }) => {
      const outOfReach = new (class extends Reserve {
        override get isOutOfReach() {
          return true
        }
      })(file)
      const next = new Writer(file, { reserve: outOfReach })
      assert.equal(tell(next.settle([[]])[0]), 'no-space')
      next.close()
    }))
})

void describe('a writer that starts again and again while the disk is full', () => {
  void it('has no more of the reserve than one that does not', () =>
    withWriter(({ writer, file, settle }) => {
      writer.tidy(true)
      becomeFull({ writer, settle })
      const pages = (of: Writer) => Number(of.db.prepare('PRAGMA page_count').get()?.['page_count'])
      const before = pages(writer)
      const stillFull = () =>
        new (class extends Reserve {
          override get isOutOfReach() {
            return !this.isHeld
          }
        })(file)
      for (let start = 0; start < 4; start++) {
        const next = new Writer(file, { reserve: stillFull() })
        const note = (at: number): Change => {
          const body = { text: 'x'.repeat(60_000) }
          return { do: 'put-record', type: 'cluster/jobs', key: `${start}-${at}`, body }
        }
        for (let at = 0; tell(next.settle([[note(at)]])[0]) === 'done'; at++) assert.ok(at < 1000)
        assert.ok(pages(next) - before < 1100, `${pages(next) - before} pages after ${start + 1} starts`)
        assert.equal(tell(next.settle([remove(`filler${start}`)])[0]), 'done')
        next.close()
      }
    }))
})

void describe('a log that cannot be copied back', () => {
  void it('ends nobody, is told once, and is tried again', () =>
    withWriter(({ writer, said, settle }) => {
      const { db } = writer
      const exec = db.exec.bind(db)
      db.exec = (sql) => {
        if (sql.includes('wal_checkpoint')) throw Object.assign(new Error('disk I/O error'), { errcode: 10 })
        exec(sql)
      }
      for (let at = 0; at < 1200; at++) settle(put('b', `k${at}`, draft(`blob${at}`)))
      for (let tries = 0; tries < 3; tries++) writer.tidy(true)
      assert.deepEqual(said, ['The log of the catalog could not be copied back.'])
      assert.equal(settle(put('b', 'more', draft('more'))), 'done')
      db.exec = exec
      writer.tidy(true)
      assert.equal(said.at(-1), 'The log of the catalog is copied back again.')
    }))

  void it('a failing transaction is told to who asks whether commits can be made, until one was written', () =>
    withWriter(({ writer, settle }) => {
      const { db } = writer
      db.exec('PRAGMA query_only = 1')
      assert.equal(settle(put('b', 'k', draft('blob'))), 'unavailable')
      assert.equal(settle(), 'unavailable')
      db.exec('PRAGMA query_only = 0')
      assert.equal(settle(put('b', 'k', draft('blob'))), 'done')
      assert.equal(settle(), 'done')
    }))
})
