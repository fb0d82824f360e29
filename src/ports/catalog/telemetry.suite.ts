import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LogName } from '../catalog.ts'
import { type Proof, refused } from './fixtures.suite.ts'

/** What every engine must do with what was logged, counted and measured. */
export function proveTelemetry({ catalog, reopen }: Proof): void {
  const count = (table: string, row: string, add: Readonly<Record<string, number>>) =>
    ({ do: 'count', table, row, add }) as const
  const sample = (step: number, block: number, row: string, ...body: number[]) =>
    ({ do: 'put-samples', step, block, row, body: Uint8Array.from(body) }) as const
  const append = (log: LogName, n: number, keep = 100) =>
    ({ do: 'append-log', log, timeMs: n, body: { n }, keep }) as const
  const newest = async (log: LogName, limit: number) =>
    (await catalog().log(log, { limit })).map(({ body }) => body['n'])

  void describe('telemetry', () => {
    void it('a log keeps the newest entries and tells them newest first', async () => {
      await catalog().commit([1, 2, 3, 4, 5].map((n) => append('audit', n, 3)))
      const all = await catalog().log('audit', { limit: 10 })
      assert.deepEqual(
        all.map(({ body }) => body['n']),
        [5, 4, 3],
      )
      const older = await catalog().log('audit', { limit: 1, before: all[0]?.id ?? 0 })
      assert.deepEqual(
        older.map(({ timeMs }) => timeMs),
        [4],
      )
    })

    void it('logs are apart, and an entry has a number that is never given again', async () => {
      await catalog().commit([append('audit', 10), append('events', 11), append('audit', 12)])
      assert.deepEqual(await newest('audit', 2), [12, 10])
      assert.deepEqual(await newest('events', 1), [11])
      const [before] = await catalog().log('audit', { limit: 1 })
      await catalog().commit([append('audit', 13, 1)])
      const left = await catalog().log('audit', { limit: 10 })
      assert.deepEqual(
        left.map(({ id, timeMs }) => ({ id, timeMs })),
        [{ id: (before?.id ?? 0) + 1, timeMs: 13 }],
      )
      await catalog().commit([append('audit', 14, 0)])
      assert.deepEqual(await newest('audit', 10), [14], 'the newest stays whatever is to be kept')
      assert.equal((await catalog().log('audit', { limit: 1 }))[0]?.id, (before?.id ?? 0) + 2)
    })

    void it('of writers at the same time each has its entry, in an order that stays', async () => {
      const all = Array.from({ length: 20 }, (_, n) => n)
      await Promise.all(all.map((n) => catalog().commit([append('events', n)])))
      const read = await catalog().log('events', { limit: 20 })
      assert.deepEqual(
        read.map(({ body }) => Number(body['n'])).toSorted((a, b) => a - b),
        all,
      )
      const ids = read.map(({ id }) => id)
      const last = ids.at(0) ?? 0
      assert.deepEqual(
        ids,
        all.map((n) => last - n),
      )
    })

    void it('a page of a log ends early where entries are long, and a walk meets each once', async () => {
      const long = 'x'.repeat(100_000)
      for (let n = 0; n < 7; n++) await catalog().commit([{ ...append('audit', n, 7), body: { n, long } }])
      const pages: unknown[][] = []
      for (let before: number | undefined; ;) {
        const page = await catalog().log('audit', { limit: 100, ...(before === undefined ? {} : { before }) })
        if (page.length === 0) break
        pages.push(page.map(({ body }) => body['n']))
        before = page.at(-1)?.id
      }
      assert.deepEqual(pages.flat(), [6, 5, 4, 3, 2, 1, 0])
      for (const page of pages) assert.ok(page.length <= 4, 'some hundred kilobytes at once')
    })

    void it('operation counters add up, and go with the row and what lies under it', async () => {
      const rows = ['b1', 'b1', 'b1:get', 'b10', 'b1;']
      await catalog().commit(rows.map((row) => count('ops', row, { reads: 2, ms: 0.5 })))
      assert.deepEqual((await catalog().counters('ops')).get('b1'), { reads: 4, ms: 1 })
      await catalog().commit([{ do: 'drop-counters', table: 'ops', row: 'b1' }])
      assert.deepEqual([...(await catalog().counters('ops')).keys()].toSorted(), ['b10', 'b1;'])
    })

    void it('nothing is counted of a record that has gone', async () => {
      const of = { type: 'counted', key: 'one' }
      const counting = { ...count('gone', 'one', { reads: 1 }), of }
      await catalog().commit([{ do: 'put-record', type: of.type, key: of.key, body: {} }, counting])
      assert.deepEqual((await catalog().counters('gone')).get('one'), { reads: 1 })
      await catalog().commit([
        { do: 'remove-record', type: of.type, key: of.key },
        { do: 'drop-counters', table: 'gone', row: 'one' },
      ])
      await catalog().commit([counting])
      assert.equal((await catalog().counters('gone')).get('one'), undefined)
    })

    void it('operation counters are read in pages of rows, each whole', async () => {
      const names = ['a', 'b', 'c', 'd', 'e']
      await catalog().commit(names.map((row) => count('pages', row, { x: 1, y: 2 })))
      const page = async (after: string) => [...(await catalog().counters('pages', { after, limit: 2 }))]
      const whole = (row: string) => [row, { x: 1, y: 2 }]
      assert.deepEqual(await page(''), [whole('a'), whole('b')])
      assert.deepEqual(await page('b'), [whole('c'), whole('d')])
      assert.deepEqual(await page('d'), [whole('e')])
      assert.deepEqual(await page('e'), [])
    })

    void it('operation counters are read of the rows that are named', async () => {
      await catalog().commit(['a', 'b'].map((row) => count('named', row, { reads: 2, writes: 3 })))
      const counters = await catalog().counters('named', { named: ['b', 'nowhere'] })
      assert.deepEqual([...counters], [['b', { reads: 2, writes: 3 }]])
      assert.deepEqual(await catalog().counters('named', { named: [] }), new Map())
      assert.deepEqual(await catalog().counters('nowhere'), new Map())
    })

    void it('counters of a row that was dropped begin anew, those of another table stay', async () => {
      await catalog().commit([count('d1', 'a', { n: 5 }), count('d1', 'a:get', { n: 6 }), count('d2', 'a', { n: 7 })])
      await catalog().commit([
        { do: 'drop-counters', table: 'd1', row: 'a' },
        { do: 'drop-counters', table: 'd1', row: 'never' },
      ])
      assert.deepEqual(await catalog().counters('d1'), new Map())
      await catalog().commit([count('d1', 'a', { n: 1 }), count('d1', 'a', { m: -2 })])
      assert.deepEqual(await catalog().counters('d1'), new Map([['a', { n: 1, m: -2 }]]))
      assert.deepEqual(await catalog().counters('d2'), new Map([['a', { n: 7 }]]))
    })

    void it('counts that many add at the same time are all there', async () => {
      await Promise.all(Array.from({ length: 20 }, (_, n) => catalog().commit([count('many', 'a', { n })])))
      assert.deepEqual(await catalog().counters('many'), new Map([['a', { n: 190 }]]))
    })

    void it('samples are kept by step, block and row, are replaced, and go oldest first', async () => {
      await catalog().commit([
        sample(15, 1, 'a', 1),
        sample(15, 2, 'a', 2),
        sample(15, 2, 'b', 3),
        sample(300, 1, 'a', 4),
      ])
      await catalog().commit([sample(15, 2, 'a', 5, 6), sample(15, 3, 'c', 7)])
      const page = async (after: string, limit: number) =>
        (await catalog().samples(15, 2, after, limit)).map(({ row, body }) => [row, Array.from(body)])
      assert.deepEqual(await page('', 10), [
        ['a', [5, 6]],
        ['b', [3]],
      ])
      assert.deepEqual(await page('', 1), [['a', [5, 6]]])
      assert.deepEqual(await page('a', 1), [['b', [3]]])
      const of = async (row: string) =>
        Array.from(await catalog().samplesOf(15, row, [0, 1, 2, 3]), ([block, body]) => [block, Array.from(body)])
      assert.deepEqual(await of('a'), [
        [1, [1]],
        [2, [5, 6]],
      ])
      assert.deepEqual(await of('none'), [])
      assert.equal(await catalog().lastSamples(15, 3), 2)
      assert.equal(await catalog().lastSamples(15, 1), undefined)
      const drop = async (limit: number) =>
        (await catalog().commit([{ do: 'drop-samples', step: 15, before: 3, limit }]))[0]?.reclaimed
      assert.equal(await drop(2), 2)
      assert.deepEqual(await of('a'), [])
      assert.deepEqual(await of('b'), [[2, [3]]])
      assert.equal(await drop(2), 1)
      assert.equal(await drop(2), 0)
      assert.deepEqual(await of('c'), [[3, [7]]])
      assert.equal(await catalog().lastSamples(300, 2), 1)
    })

    void it('a refused commit leaves no entry, no count and no sample', async () => {
      const before = await catalog().log('events', { limit: 1 })
      const attempt = catalog().commit([
        append('events', 99),
        count('refused', 'a', { n: 1 }),
        sample(60, 1, 'a', 1),
        { do: 'check-record', type: 'telemetry', key: 'none', expect: 1 },
      ])
      await refused('stale', attempt, { change: 3 })
      assert.deepEqual(await catalog().log('events', { limit: 1 }), before)
      assert.deepEqual(await catalog().counters('refused'), new Map())
      assert.equal(await catalog().lastSamples(60, 10), undefined)
    })

    void it('what was logged, counted and measured changes no record', async () => {
      const before = await catalog().revision()
      await catalog().commit([append('events', 1), count('apart', 'a', { n: 1 }), sample(61, 1, 'a', 1)])
      assert.equal(await catalog().revision(), before)
    })

    void it('all of it is there after opening again, and goes on where it was', async () => {
      await catalog().commit([append('audit', 1, 2), append('audit', 2, 2), append('audit', 3, 2)])
      await catalog().commit([count('again', 'a', { n: 1 }), count('again', 'b', { n: 1 }), sample(62, 5, 'a', 1, 2)])
      await catalog().commit([{ do: 'drop-counters', table: 'again', row: 'b' }])
      const [last] = await catalog().log('audit', { limit: 1 })
      await reopen()
      assert.deepEqual(await newest('audit', 10), [3, 2])
      assert.deepEqual(await catalog().counters('again'), new Map([['a', { n: 1 }]]))
      assert.deepEqual(Array.from((await catalog().samplesOf(62, 'a', [5])).get(5) ?? []), [1, 2])
      await catalog().commit([append('audit', 4, 2), count('again', 'a', { n: 1 })])
      assert.deepEqual(await newest('audit', 10), [4, 3])
      assert.equal((await catalog().log('audit', { limit: 1 }))[0]?.id, (last?.id ?? 0) + 1)
      assert.deepEqual(await catalog().counters('again'), new Map([['a', { n: 2 }]]))
    })
  })
}
