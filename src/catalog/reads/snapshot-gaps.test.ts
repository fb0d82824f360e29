import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { bytes, draft, openBucket, put, setVersioning, takeSnapshot, text } from '../../ports/catalog/fixtures.suite.ts'
import { SEED } from '../../ports/catalog/model/steps.suite.ts'
import type { Change, ListPage, ListQuery } from '../../ports/catalog.ts'
import { SqliteCatalog } from '../../engines/sqlite/catalog.ts'
import { LocalCommitter } from '../../engines/sqlite/committer.ts'
import { listKeys } from './list.ts'
import { GapsOfBucket, SnapshotGaps } from './snapshot-gaps.ts'
import { viewer } from './views.ts'
import { Writer } from '../../engines/sqlite/writer.ts'

const TURN_ROWS = 50

void describe('listings of a snapshot', () => {
  void it('what shows nothing is walked over once, be it delete markers or rows from before and after the snapshot', async () => {
    await withWriter(async (catalog, writer) => {
      const keys = Array.from({ length: 3000 }, (_, n) => `k${String(n).padStart(4, '0')}`)
      await catalog.commit([version('a', 'v1'), ...keys.map((key) => version(key, 'v1'))])
      await catalog.commit(keys.slice(0, 2000).map((key) => mark(key, 'v2')))
      await catalog.commit([
        ...keys
          .slice(2000)
          .map((key): Change => ({ do: 'delete-object', bucket: 'b', key: bytes(key), version: 'v1' })),
        version('z', 'v1'),
      ])
      const epoch = await takeSnapshot(catalog, 'b-v', 's')
      await catalog.commit(keys.map((key) => version(`${key}-new`, 'v1')))
      const gaps = new GapsOfBucket()
      const view = viewer(writer.db)(1, { epoch }, { gaps })
      const first = listAll((query) => listKeys(view, query, TURN_ROWS), {})
      const again = listAll((query) => listKeys(view, query, TURN_ROWS), {})
      assert.deepEqual(first.shown, ['a', 'z'])
      assert.deepEqual(again.shown, first.shown)
      assert.ok(first.turns > 30, `${first.turns} turns`)
      assert.equal(again.turns, 1)
      assert.equal(gaps.size, 1, 'neighbouring stretches are one')
      for (const more of [{ prefix: 'k' }, { delimiter: '0' }, { after: 'k1500' }]) {
        assert.equal(listAll((query) => listKeys(view, query, TURN_ROWS), more).turns, 1, JSON.stringify(more))
      }
    })
  })

  void it(`known gaps change no page of any listing (SEED=${SEED})`, async () => {
    const key = fc.stringMatching(/^[ab/]{1,3}$/)
    const step = fc.record({ key, what: fc.constantFrom('put', 'mark', 'remove', 'snapshot') })
    const asked = fc.record({
      prefix: fc.stringMatching(/^[ab/]{0,2}$/),
      delimiter: fc.constantFrom('', '/', 'b'),
      after: fc.stringMatching(/^[ab/]{0,2}$/),
      limit: fc.constantFrom(1, 2, 5, 1000),
      turnRows: fc.constantFrom(1, 5, 1500),
    })
    const steps = fc.array(step, { minLength: 30, maxLength: 60 })
    const questions = fc.array(asked, { minLength: 12, maxLength: 12 })
    const property = fc.asyncProperty(steps, questions, async (all, queries) => {
      await withWriter(async (catalog, writer) => {
        const epochs: number[] = []
        for (const [n, { key: name, what }] of all.entries()) {
          if (what === 'snapshot') epochs.push(await takeSnapshot(catalog, 'b-v', `s${n}`))
          else if (what === 'put') await catalog.commit([version(name, `v${n}`)])
          else if (what === 'mark') await catalog.commit([mark(name, `v${n}`)])
          else {
            const row = await catalog.object('b', bytes(name))
            if (row === undefined) continue
            await catalog.commit([{ do: 'delete-object', bucket: 'b', key: bytes(name), version: row.version }])
          }
        }
        epochs.push(await takeSnapshot(catalog, 'b-v', 'last'))
        const known = new SnapshotGaps({ gapsMax: 10, rowsMin: 1 })
        for (const { turnRows, ...query } of queries) {
          for (const epoch of epochs) {
            const gaps = known.of('b', epoch)
            const [without, withGaps] = [{}, { gaps }].map((viewed) => viewer(writer.db)(1, { epoch }, viewed))
            assert.ok(without !== undefined && withGaps !== undefined)
            const plain = listAll((each) => listKeys(without, each, turnRows), query)
            assert.deepEqual(listAll((each) => listKeys(withGaps, each, turnRows), query).shown, plain.shown)
          }
        }
      })
    })
    await fc.assert(property, { seed: SEED, numRuns: 8 })
  })

  void it('a process keeps so many gaps and no more, and forgets those that were not used for longest', () => {
    const known = new SnapshotGaps({ gapsMax: 3, rowsMin: 1 })
    const [old, used] = [known.of('old', 1), known.of('used', 1)]
    old.note(bytes('a'), bytes('c'))
    used.note(bytes('a'), bytes('c'))
    assert.equal(known.of('used', 1), used)
    assert.equal(known.of('new', 1).size, 0)
    assert.equal(known.of('used', 1), used)
    assert.notEqual(known.of('old', 1), old)
    for (const start of ['e', 'g', 'i', 'k']) used.note(bytes(start), bytes(`${start}z`))
    assert.equal(used.size, 3)
    used.note(bytes('b'), bytes('h'))
    assert.deepEqual(used.next(bytes('d')), { start: new Uint8Array(bytes('a')), end: new Uint8Array(bytes('h')) })
    assert.equal(used.next(bytes('h')), undefined)
  })
})

async function withWriter(use: (catalog: SqliteCatalog, writer: Writer) => Promise<void>): Promise<void> {
  const writer = new Writer(':memory:')
  const catalog = new SqliteCatalog(writer.db, new LocalCommitter(writer), () => writer.close())
  await openBucket(catalog, 'b')
  await setVersioning(catalog, 'b', 'enabled')
  await use(catalog, writer)
  await catalog.close()
}

interface Asked {
  readonly prefix?: string
  readonly delimiter?: string
  readonly after?: string
  readonly limit?: number
}

/** All pages, and in how many turns they were read. */
function listAll(
  walkOf: (query: ListQuery) => { go(): ListPage | undefined },
  { prefix = '', delimiter = '', after = '', limit = 1000 }: Asked,
): { readonly shown: string[]; readonly turns: number } {
  const shown: string[] = []
  let turns = 0
  let from: { readonly after: Uint8Array; readonly within?: boolean } = { after: bytes(after) }
  for (;;) {
    const asked = { bucket: 'b', prefix: bytes(prefix), delimiter: bytes(delimiter), limit }
    const walk = walkOf({ ...asked, ...from })
    let page: ListPage | undefined
    for (; page === undefined; turns++) page = walk.go()
    shown.push(...page.objects.map(({ key }) => text(key)), ...page.prefixes.map((each) => `${text(each)}…`))
    if (page.next === undefined) return { shown, turns }
    from = { after: page.next, within: page.within ?? false }
  }
}

function version(key: string, id: string): Change {
  return put('b', key, { ...draft(`${key}${id}`), version: id })
}

function mark(key: string, id: string): Change {
  return { do: 'delete-object', bucket: 'b', key: bytes(key), marker: { version: id, modifiedMs: 1 } }
}
