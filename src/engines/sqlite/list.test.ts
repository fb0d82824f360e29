import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Catalog } from '../../ports/catalog.ts'
import {
  bytes,
  draft,
  listed,
  openBucket,
  page,
  put,
  setVersioning,
  takeSnapshot,
  text,
} from '../../ports/catalog-fixtures.suite.ts'
import { SqliteCatalog, openSqliteCatalog } from './catalog.ts'
import { LocalCommitter } from './committer.ts'
import { listKeys } from './list.ts'
import type { PageWalk } from './list.ts'
import { listVersions } from './list-versions.ts'
import { successor } from './prefixes.ts'
import { viewer } from './views.ts'
import { Writer } from './writer.ts'

async function withCatalog(use: (catalog: Catalog) => Promise<void>): Promise<void> {
  const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  await openBucket(catalog, 'b')
  await use(catalog)
  await catalog.close()
}

void describe('listing', () => {
  void it('the successor of a prefix is behind everything that begins with it', () => {
    const of = (prefix: string) => {
      const next = successor(bytes(prefix))
      return next === undefined ? undefined : text(next)
    }
    assert.deepEqual(['a/', 'a\xff', 'a\xff\xff', '\xff', ''].map(of), ['a0', 'b', 'b', undefined, undefined])
  })

  void it('a snapshot that sees little of much that was written since pauses on the way, and shows all it sees', async () => {
    const writer = new Writer(':memory:')
    const catalog = new SqliteCatalog(writer.db, new LocalCommitter(writer), () => writer.close())
    await openBucket(catalog, 'b')
    const seen = ['k000', 'k100', 'k249'].map((key) => put('b', key, draft(`old ${key}`)))
    await catalog.commit([...seen, put('b', 'k123', draft('gone'))])
    const epoch = await takeSnapshot(catalog, 'b-v', 's')
    await catalog.commit([{ do: 'delete-object', bucket: 'b', key: bytes('k123') }])
    const keys = Array.from({ length: 250 }, (_, i) => `k${String(i).padStart(3, '0')}`)
    await catalog.commit(keys.filter((key) => key !== 'k100').map((key) => put('b', key, draft(`new ${key}`))))
    // All versions of one key, none of which it sees.
    await setVersioning(catalog, 'b', 'enabled')
    const versions = Array.from({ length: 250 }, (_, i) => put('b', 'k2', { ...draft(`v${i}`), version: `v${i}` }))
    await catalog.commit(versions)

    const view = viewer(writer.db)(1, { epoch })
    const range = { bucket: 'b', prefix: bytes(''), limit: 1000, at: { epoch } }
    const finish = <Page>(walk: PageWalk<Page>): { page: Page; turns: number } => {
      for (let turns = 1; ; turns++) {
        const page = walk.go()
        if (page !== undefined) return { page, turns }
        assert.ok(turns < 100, 'each turn takes it further')
      }
    }
    const list = (delimiter: string) =>
      finish(listKeys(view, { ...range, delimiter: bytes(delimiter), after: bytes('') }, 20))
    const all = list('')
    assert.deepEqual(
      all.page.objects.map(({ etag }) => etag),
      ['old k000', 'old k100', 'gone', 'old k249'],
    )
    assert.ok(all.turns > 20, `${all.turns} turns`)
    const folded = list('00')
    assert.deepEqual(
      [folded.page.objects.map(({ etag }) => etag), folded.page.prefixes.map(text)],
      [
        ['gone', 'old k249'],
        ['k00', 'k100'],
      ],
    )
    const rows = finish(listVersions(view, { ...range, delimiter: bytes(''), afterKey: bytes('') }, 20))
    assert.deepEqual(
      rows.page.versions.map(({ etag, isCurrent }) => [etag, isCurrent]),
      all.page.objects.map(({ etag }) => [etag, true]),
    )
    assert.ok(rows.turns > 20, `${rows.turns} turns`)
    assert.deepEqual(
      (await listed(catalog, 'b', { epoch })).map((line) => line.split('=')[1]),
      all.page.objects.map(({ etag }) => etag),
    )
    await catalog.close()
  })

  void it('a version of a key is found by an index, however many it has', async () => {
    const writer = new Writer(':memory:')
    const catalog = new SqliteCatalog(writer.db, new LocalCommitter(writer), () => writer.close())
    await openBucket(catalog, 'b')
    await setVersioning(catalog, 'b', 'enabled')
    const version = (key: string, i: number) => put('b', key, { ...draft(`${key}${i}`), version: `v${i}` })
    await catalog.commit(Array.from({ length: 3000 }, (_, i) => version('k', i)))
    await catalog.commit([version('l', 1)])
    assert.deepEqual(await listed(catalog, 'b'), ['k=k2999', 'l=l1'])
    const plans = writer.db.prepare(
      `EXPLAIN QUERY PLAN SELECT 1 FROM objects WHERE bucket = 1 AND key = x'6b' AND version = 'v7' AND versioned = 1`,
    )
    assert.match(String(plans.get()?.['detail']), /objects_by_version \(bucket=\? AND key=\? AND version=\?\)/)
    await catalog.close()
  })

  void it('a page of very long rows ends early and says where to go on', () =>
    withCatalog(async (catalog) => {
      const details = { text: 'x'.repeat(1024 * 1024) }
      for (let i = 0; i < 20; i++) await catalog.commit([put('b', `k${i}`, draft(`b${i}`, 10, details))])
      const { objects, next } = await page(catalog, 'b')
      assert.ok(objects.length < 20 && next !== undefined)
      assert.equal((await listed(catalog, 'b')).length, 20)
    }))
})
