import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { QUICK_DISK } from '../../../test/support/quick-disk.ts'
import { isWhole } from '../../../test/support/whole.ts'
import { proveCatalog } from '../../ports/catalog.suite.ts'
import type { OpenedCatalog } from '../../ports/catalog.suite.ts'
import { openSqliteCatalog, SqliteCatalog } from './catalog.ts'
import type { SqliteCatalogOptions } from './catalog.ts'
import { LocalCommitter } from './committer.ts'
import { startWriter } from './start-writer.ts'
import { Writer } from './writer.ts'

/** The same program as in memory, over other files: random runs are left to that, but for a few. */
const RUNS = isWhole ? 10 : 3
const RUNS_IN_MEMORY = isWhole ? 60 : 30

async function opened(options: SqliteCatalogOptions, end: () => Promise<void>): Promise<OpenedCatalog> {
  let catalog = openSqliteCatalog(options)
  return {
    catalog,
    async reopen() {
      await catalog.close()
      catalog = openSqliteCatalog(options)
      return catalog
    },
    async close() {
      await catalog.close()
      await end()
    },
  }
}

proveCatalog(
  'SQLite in memory',
  async () => {
    const writer = new Writer(':memory:')
    const catalog = new SqliteCatalog(writer.db, new LocalCommitter(writer), () => writer.close())
    return {
      catalog,
      reopen: async () => catalog,
      async close() {
        insistOnNothingStale(writer)
        await catalog.close()
      },
    }
  },
  { runs: RUNS_IN_MEMORY },
)

/** After all that the suites have done: each list of keys is exact, or not whole; and nothing is kept that nobody sees. */
function insistOnNothingStale({ db }: Writer): void {
  const sound = `FROM objects o JOIN buckets b ON b.id = o.bucket AND b.versioning <> 'off' JOIN volumes v ON v.id = b.volume
    WHERE v.uuid IS NOT NULL AND v.restoring = 0 AND o.marker = 0 AND NOT EXISTS (SELECT 1 FROM objects n
      WHERE n.bucket = o.bucket AND n.key = o.key AND n.seq > o.seq)`
  const count = (sql: string) => Number(db.prepare(`SELECT count(*) AS n ${sql}`).get()?.['n'])
  const known = '(SELECT 1 FROM listed_keys l WHERE l.bucket = o.bucket AND l.key = o.key)'
  assert.ok(count(sound) > RUNS_IN_MEMORY / 2, 'the suites leave objects in buckets with versions')
  assert.equal(count(`${sound} AND b.listed = 1 AND NOT EXISTS ${known}`), 0, 'keys are missing')
  const listed = `FROM listed_keys l JOIN buckets b ON b.id = l.bucket JOIN volumes v ON v.id = b.volume
    WHERE v.uuid IS NOT NULL AND v.restoring = 0`
  assert.equal(count(listed), count(`${sound} AND EXISTS ${known}`), 'keys are listed that show no object')
  const unseen = `FROM record_history h JOIN volumes v ON v.id = h.volume WHERE v.uuid IS NOT NULL AND NOT EXISTS
    (SELECT 1 FROM snapshots s WHERE s.volume = h.volume AND s.bucket = 0 AND s.epoch >= h.born AND s.epoch < h.died)`
  assert.equal(count(unseen), 0, 'records are kept that no snapshot shows')
}

proveCatalog(
  'SQLite in a file',
  async () => {
    const folder = await mkdtemp(join(QUICK_DISK, 'catalog-'))
    return opened({ file: join(folder, 'catalog.db'), commit: 'in-process' }, () => rm(folder, { recursive: true }))
  },
  { runs: RUNS },
)

proveCatalog(
  'SQLite with a writer process',
  async () => {
    const folder = await mkdtemp(join(QUICK_DISK, 'catalog-'))
    const [file, socket] = [join(folder, 'catalog.db'), join(folder, 's')]
    const writer = await startWriter({ file, socket })
    return opened({ file, commit: { socket } }, async () => {
      await writer.stop()
      await rm(folder, { recursive: true })
    })
  },
  { runs: RUNS },
)

test('a catalog that is closed while a commit is on its way settles it, and does nothing afterwards', async () => {
  const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  const commit = catalog.commit([{ do: 'put-record', type: 't', key: 'k', body: {} }])
  await catalog.close()
  const [outcome] = await commit
  assert.equal(outcome?.revision, 1)
  // Longer than an idle writer waits before it tidies: it has no statements any more.
  await wait(500)
})
