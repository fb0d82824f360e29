import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, it } from 'node:test'
import { CatalogPages, LogTooLong, type Pages } from './catalog-pages.ts'

/**
 * Each commit sets all rows, which are on many pages, to its number, and copies the log back by chance: so the log begins
 * anew again and again, and pages of two states beside each other show. While somebody reads it cannot begin anew, so a long
 * log is waited for: a reader that gets no processor would find one without end.
 */
const WRITER = `
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
const db = new DatabaseSync(process.argv[1])
const still = new Int32Array(new SharedArrayBuffer(4))
db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF')
db.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, n INTEGER, filling BLOB)')
for (let id = 0; id < 40; id++) db.prepare('INSERT INTO rows VALUES (?, 0, zeroblob(1500))').run(id)
process.stdout.write('ready')
for (let n = 1; ; n++) {
  db.prepare('UPDATE rows SET n = ?').run(n)
  if (n % 7 === 0) db.prepare('INSERT INTO rows VALUES (?, ?, zeroblob(1500))').run(1000 + n, n)
  if (Math.random() < 0.3) db.prepare('PRAGMA wal_checkpoint(PASSIVE)').all()
  if (Math.random() < 0.05) db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all()
  if (n % 50 === 0) db.exec('DELETE FROM rows WHERE id >= 1000')
  while (statSync(process.argv[1] + '-wal').size > ${64 * 2 ** 20}) {
    Atomics.wait(still, 0, 0, 5)
    db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all()
  }
}`
const READINGS = 150

describe('pages of a catalog that is written', () => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-pages-'))
  after(() => rmSync(root, { recursive: true, force: true }))

  const readAll = ({ pages, pageBytes, read }: Pages): Buffer => {
    const pieces: Buffer[] = []
    for (let first = 1; first <= pages; first += 3) pieces.push(read(first, Math.min(3, pages - first + 1)))
    const whole = Buffer.concat(pieces)
    assert.equal(whole.length, pages * pageBytes)
    return whole
  }

  it('are of one state, however the log is copied back and begins anew meanwhile', async () => {
    const file = join(root, 'busy.db')
    const writer = spawn(process.execPath, ['--input-type=module', '-e', WRITER, file], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_NO_WARNINGS: '1', NODE_TEST_CONTEXT: undefined },
    })
    try {
      await once(writer.stdout, 'data')
      const seen = new Set<number>()
      for (let reading = 0; reading < READINGS; reading++) {
        const pages = new CatalogPages(file)
        const bytes = pages.still(2 ** 30, readAll)
        pages.close()
        const copy = join(root, `copy-${reading}.db`)
        writeFileSync(copy, bytes)
        const db = new DatabaseSync(copy)
        const { n, states } = db
          .prepare('SELECT max(n) AS n, count(DISTINCT n) AS states FROM rows WHERE id < 1000')
          .get() as {
          n: number
          states: number
        }
        assert.equal(states, 1, `reading ${reading}`)
        assert.deepEqual(
          db
            .prepare('PRAGMA integrity_check')
            .all()
            .map((row) => Object.values(row)),
          [['ok']],
        )
        assert.ok(n >= Math.max(0, ...seen), 'what was read later is not older')
        seen.add(n)
        db.close()
        for (const suffix of ['', '-wal', '-shm']) rmSync(`${copy}${suffix}`, { force: true })
      }
      assert.ok(seen.size > READINGS / 10, 'the writer was at work')
    } finally {
      writer.kill('SIGKILL')
      await once(writer, 'exit')
    }
  })

  it('are given up when the log grows beyond the bound', () => {
    const file = join(root, 'growing.db')
    const db = new DatabaseSync(file)
    db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE rows (filling BLOB)')
    const pages = new CatalogPages(file)
    try {
      assert.throws(
        () =>
          pages.still(100_000, ({ read }) => {
            read(1, 1)
            db.exec('INSERT INTO rows VALUES (zeroblob(200000))')
            read(2, 1)
          }),
        LogTooLong,
      )
    } finally {
      db.close()
      pages.close()
    }
  })
})
