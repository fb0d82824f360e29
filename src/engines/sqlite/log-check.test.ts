import assert from 'node:assert/strict'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { SimulatedRandom } from '../simulated/random.ts'
import { CatalogDamaged, checkCatalogFiles, checkOrAccept } from './log-check.ts'
import { LogMark } from './log-mark.ts'
import { Writer } from './writer.ts'

const COMMITS = 40
const LOG_HEADER = 32
const FRAME = 24 + 8192
const FLIPS = 150

void describe('the files of a catalog after a crash', () => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-log-'))
  const whole = join(root, 'whole')
  let copies = 0
  /** The log as it was a while before. */
  let earlier: Buffer

  before(() => {
    const file = join(root, 'running/catalog.db')
    mkdirSync(join(root, 'running'))
    const writer = new Writer(file, { mark: new LogMark(file) })
    const commit = (key: string) =>
      assert.ok(!(writer.settle([[{ do: 'put-record', type: 't', key, body: { key } }]])[0] instanceof Error))
    for (let at = 0; at < COMMITS / 2; at++) commit(`k${at}`)
    earlier = readFileSync(`${file}-wal`)
    // The log begins anew; behind its end there are frames of before.
    writer.db.exec('PRAGMA wal_checkpoint(PASSIVE)')
    for (let at = COMMITS / 2; at < COMMITS; at++) commit(`k${at}`)
    cpSync(join(root, 'running'), whole, { recursive: true })
    writer.close()
  })
  after(() => rmSync(root, { recursive: true, force: true }))

  /** As a crash leaves the files, changed. */
  function crashed(change: (file: string) => void = () => undefined): string {
    const folder = join(root, `copy-${copies++}`)
    cpSync(whole, folder, { recursive: true })
    rmSync(join(folder, 'catalog.db-shm'), { force: true })
    const file = join(folder, 'catalog.db')
    change(file)
    return file
  }
  const flip = (file: string, at: number) => {
    const bytes = readFileSync(file)
    bytes[at] = (bytes[at] ?? 0) ^ 0x10
    writeFileSync(file, bytes)
  }
  const withoutMark = (file: string) => rmSync(`${file}-mark`)
  const records = (file: string) => {
    const db = new DatabaseSync(file)
    try {
      return Number(db.prepare("SELECT count(*) AS n FROM records WHERE type = 't'").get()?.['n'])
    } finally {
      db.close()
    }
  }
  const framesOf = (file: string) => readFileSync(`${file}-mark`).readUInt32BE(16)
  const startOf = (frame: number) => LOG_HEADER + frame * FRAME

  void it('are proven whole as they were left, and hold every commit', () => {
    const file = crashed()
    assert.deepEqual(checkCatalogFiles(file), { isProven: true, hasLost: false })
    assert.equal(records(file), COMMITS)
  })

  void it('after an orderly end are proven whole too', () => {
    assert.deepEqual(checkCatalogFiles(join(root, 'running/catalog.db')), { isProven: true, hasLost: false })
  })

  const damages: Readonly<Record<string, (file: string) => void>> = {
    'a byte of the first page is another': (file) => flip(`${file}-wal`, startOf(0) + 500),
    'a byte of a page in the middle is another, and there is no mark': (file) => {
      flip(`${file}-wal`, startOf(7) + 500)
      withoutMark(file)
    },
    'a byte of the last page is another': (file) => flip(`${file}-wal`, startOf(framesOf(file) - 1) + 500),
    'a byte of the beginning is another': (file) => flip(`${file}-wal`, 17),
    'a byte of the beginning is another, and there is no mark': (file) => {
      flip(`${file}-wal`, 17)
      withoutMark(file)
    },
    'the log is cut': (file) => truncateSync(`${file}-wal`, startOf(9) + 100),
    'the log is empty': (file) => truncateSync(`${file}-wal`, 0),
    'the log is not there': (file) => rmSync(`${file}-wal`),
    'the log is one of before': (file) => writeFileSync(`${file}-wal`, earlier),
    'the database is cut': (file) => truncateSync(file, statSync(file).size - 3 * 8192),
    'a folder is in the place of the log': (file) => {
      rmSync(`${file}-wal`)
      cpSync(join(root, 'running'), `${file}-wal`, { recursive: true })
    },
  }
  for (const [what, change] of Object.entries(damages)) {
    void it(`are refused with one sentence when ${what}`, () => {
      const file = crashed(change)
      const before = readdirSync(join(file, '..'))
      assert.throws(
        () => checkCatalogFiles(file),
        (failure: Error) => failure instanceof CatalogDamaged && /^[^\n]+\.$/.test(failure.message),
      )
      assert.deepEqual(readdirSync(join(file, '..')), before)
    })
  }

  void it('are not refused for a last commit that a loss of power left half written: nobody was answered', () => {
    const file = crashed((at) => {
      flip(`${at}-wal`, startOf(framesOf(at) - 1) + 500)
      withoutMark(at)
    })
    assert.deepEqual(checkCatalogFiles(file), { isProven: false, hasLost: false })
    assert.equal(records(file), COMMITS - 1)
  })

  void it('are not refused for a mark that was lost or damaged, but prove nothing', () => {
    assert.deepEqual(checkCatalogFiles(crashed(withoutMark)), { isProven: false, hasLost: false })
    assert.deepEqual(checkCatalogFiles(crashed((file) => flip(`${file}-mark`, 10))), {
      isProven: false,
      hasLost: false,
    })
  })

  void it('with any one byte of the log changed are refused, or hold every commit', () => {
    const random = new SimulatedRandom(Number(process.env['SEED'] ?? 1))
    const bytes = statSync(join(whole, 'catalog.db-wal')).size
    for (let n = 0; n < FLIPS; n++) {
      const at = random.below(bytes)
      const file = crashed((copy) => flip(`${copy}-wal`, at))
      let isRefused = false
      try {
        checkCatalogFiles(file)
      } catch (failure) {
        assert.ok(failure instanceof CatalogDamaged)
        isRefused = true
      }
      if (!isRefused) assert.equal(records(file), COMMITS, `byte ${at}`)
      rmSync(join(file, '..'), { recursive: true })
    }
  })

  void it('go on without the commits that were lost when that is accepted, and keep what is left of the log', () => {
    const file = crashed((at) => flip(`${at}-wal`, startOf(7) + 500))
    const said: string[] = []
    assert.deepEqual(
      checkOrAccept(file, true, (message) => said.push(message)),
      { isProven: false, hasLost: true },
    )
    assert.equal(said.length, 1)
    assert.ok(readdirSync(join(file, '..')).some((name) => name.startsWith('catalog.db-wal.damaged-')))
    assert.ok(records(file) < COMMITS)
    assert.equal(checkCatalogFiles(file).isProven, false)
  })
})
