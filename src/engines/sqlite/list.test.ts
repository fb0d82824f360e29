import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Catalog } from '../../ports/catalog.ts'
import { bytes, draft, listed, openBucket, page, put, takeSnapshot, text } from '../../ports/catalog-fixtures.suite.ts'
import { openSqliteCatalog } from './catalog.ts'
import { successor } from './prefixes.ts'

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

  void it('a snapshot that sees little of much that was written since pauses on the way, and shows all it sees', () =>
    withCatalog(async (catalog) => {
      const seen = ['k00000', 'k10000', 'k24999'].map((key) => put('b', key, draft(`old ${key}`)))
      await catalog.commit([...seen, put('b', 'k12345', draft('gone'))])
      const epoch = await takeSnapshot(catalog, 'b-v', 's')
      await catalog.commit([{ do: 'delete-object', bucket: 'b', key: bytes('k12345') }])
      const keys = Array.from({ length: 25_000 }, (_, i) => `k${String(i).padStart(5, '0')}`)
      await catalog.commit(keys.filter((key) => key !== 'k10000').map((key) => put('b', key, draft(`new ${key}`))))
      let turns = 0
      const timer = setInterval(() => turns++, 0).unref()
      const expected = ['k00000=old k00000', 'k10000=old k10000', 'k12345=gone', 'k24999=old k24999']
      assert.deepEqual(await listed(catalog, 'b', { epoch }), expected)
      assert.deepEqual(await listed(catalog, 'b', { epoch, limit: 1 }), expected)
      const folded = ['k12345=gone', 'k24999=old k24999', 'k000…', 'k1000…']
      assert.deepEqual(await listed(catalog, 'b', { epoch, delimiter: '000' }), folded)
      clearInterval(timer)
      assert.ok(turns > 0, 'others got their turn')
    }))

  void it('a page of very long rows ends early and says where to go on', () =>
    withCatalog(async (catalog) => {
      const details = { text: 'x'.repeat(1024 * 1024) }
      for (let i = 0; i < 20; i++) await catalog.commit([put('b', `k${i}`, draft(`b${i}`, 10, details))])
      const { objects, next } = await page(catalog, 'b')
      assert.ok(objects.length < 20 && next !== undefined)
      assert.equal((await listed(catalog, 'b')).length, 20)
    }))
})
