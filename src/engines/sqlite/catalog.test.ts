import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { proveCatalog } from '../../ports/catalog.suite.ts'
import type { OpenedCatalog } from '../../ports/catalog.suite.ts'
import { openSqliteCatalog } from './catalog.ts'
import type { SqliteCatalogOptions } from './catalog.ts'
import { startWriter } from './start-writer.ts'

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

proveCatalog('SQLite in memory', async () => {
  const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  return { catalog, reopen: async () => catalog, close: () => catalog.close() }
})

proveCatalog(
  'SQLite in a file',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'catalog-'))
    return opened({ file: join(folder, 'catalog.db'), commit: 'in-process' }, () => rm(folder, { recursive: true }))
  },
  { runs: 10 },
)

proveCatalog(
  'SQLite with a writer process',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'catalog-'))
    const [file, socket] = [join(folder, 'catalog.db'), join(folder, 's')]
    const writer = await startWriter({ file, socket })
    return opened({ file, commit: { socket } }, async () => {
      await writer.stop()
      await rm(folder, { recursive: true })
    })
  },
  { runs: 10 },
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
