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
  scanned,
  setVersioning,
  takeSnapshot,
  text,
} from '../../ports/catalog/fixtures.suite.ts'
import { SqliteCatalog, openSqliteCatalog } from '../../engines/sqlite/catalog.ts'
import { LocalCommitter } from '../../engines/sqlite/committer.ts'
import { listKeys } from './list.ts'
import type { PageWalk } from './list.ts'
import { listVersions } from './list-versions.ts'
import { successor } from '../prefixes.ts'
import { viewer } from './views.ts'
import { Writer } from '../../engines/sqlite/writer.ts'

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

  void it('a page of very many common prefixes pauses, and goes on with what was written meanwhile', async () => {
    const writer = new Writer(':memory:')
    const catalog = new SqliteCatalog(writer.db, new LocalCommitter(writer), () => writer.close())
    await openBucket(catalog, 'b')
    await setVersioning(catalog, 'b', 'enabled')
    const version = (key: string, id: string) => put('b', key, { ...draft(`${key}${id}`), version: id })
    const folders = Array.from({ length: 60 }, (_, i) => `f${String(i).padStart(2, '0')}/`)
    await catalog.commit(folders.flatMap((f) => [version(`${f}a`, 'v1'), version(`${f}b`, 'v1')]))
    await catalog.commit([version('e', 'v1'), version('g', 'v1'), version('h', 'v1')])
    const view = viewer(writer.db)(1, undefined)
    const range = { bucket: 'b', prefix: bytes(''), delimiter: bytes('/'), limit: 1000 }
    const keys = listKeys(view, { ...range, after: bytes('') }, 20)
    const rows = listVersions(view, { ...range, afterKey: bytes('') }, 20)
    const paused = [keys.go(), rows.go()]
    assert.deepEqual(paused, [undefined, undefined])
    await catalog.commit([version('g', 'v2'), version('f99/z', 'v1')])
    await catalog.commit([{ do: 'delete-object', bucket: 'b', key: bytes('h'), version: 'v1' }])
    const finish = <Page>(walk: PageWalk<Page>): Page => {
      for (let turns = 0; turns < 100; turns++) {
        const page = walk.go()
        if (page !== undefined) return page
      }
      return assert.fail('it never ends')
    }
    const [byKey, byVersion] = [finish(keys), finish(rows)]
    assert.deepEqual(byKey.prefixes.map(text), [...folders, 'f99/'])
    assert.deepEqual(byVersion.prefixes.map(text), [...folders, 'f99/'])
    assert.deepEqual(
      byKey.objects.map(({ etag }) => etag),
      ['ev1', 'gv2'],
    )
    assert.deepEqual(
      byVersion.versions.map(({ etag, isCurrent }) => [etag, isCurrent]),
      [
        ['ev1', true],
        ['gv2', true],
        ['gv1', false],
      ],
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

  void it('a page of very long rows ends early where they are given whole, and says where to go on', () =>
    withCatalog(async (catalog) => {
      const details = { text: 'x'.repeat(1024 * 1024) }
      for (let i = 0; i < 20; i++) await catalog.commit([put('b', `k${i}`, draft(`b${i}`, 10, details))])
      const { rows, next } = await catalog.scan('b', undefined, 1000)
      assert.ok(rows.length < 20 && next !== undefined)
      const all = await scanned(
        catalog,
        'b',
        1000,
        undefined,
        ({ etag, details }) => `${etag} ${JSON.stringify(details)}`,
      )
      assert.deepEqual(new Set(all), new Set(Array.from({ length: 20 }, (_, i) => `b${i} ${JSON.stringify(details)}`)))
      const { objects, next: more } = await page(catalog, 'b')
      assert.deepEqual([objects.length, more], [20, undefined], 'a listing reads none of that')
    }))
})
