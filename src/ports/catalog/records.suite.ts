import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Change, PROMISES, TREES } from '../catalog.ts'
import { type Proof, refused } from './fixtures.suite.ts'
import { proveKeptRecords } from './topics/kept-records.suite.ts'

/** What every engine must do with records. */
export function proveRecords({ catalog, reopen, runs }: Proof): void {
  proveKeptRecords(catalog, runs)
  void describe('records', () => {
    void it('a record reads as it was written, with a revision that grows with each write', async () => {
      const body = { name: 'ä€😀', size: 2 ** 53 - 1, on: true, none: null, list: [1, 'a', { b: 2 }] }
      const [first] = await catalog().commit([{ do: 'put-record', type: 'r1', key: 'k', parent: 'p', body }])
      const record = await catalog().record('r1', 'k')
      assert.deepEqual(record, { type: 'r1', key: 'k', parent: 'p', revision: first?.revision, body })
      assert.equal(await catalog().revision(), first?.revision)
      const [second] = await catalog().commit([{ do: 'put-record', type: 'r1', key: 'k', body: {} }])
      assert.ok((second?.revision ?? 0) > (first?.revision ?? 0))
      assert.equal((await catalog().record('r1', 'k'))?.parent, 'p', 'without a parent it keeps the one it had')
      assert.equal(await catalog().record('r1', 'other'), undefined)
    })

    void it('the changes made are more after each commit that touches a record or what a volume holds', async () => {
      const made = async (change: Change) => {
        const before = await catalog().changesMade()
        await catalog().commit([change])
        const after = await catalog().changesMade()
        assert.ok(after > before, change.do)
      }
      await made({ do: 'put-record', type: 'r11', key: 'k', body: {} })
      await made({ do: 'open-volume', volume: 'r11', sizeBytes: 1000 })
      await made({ do: 'resize-volume', volume: 'r11', sizeBytes: 2000 })
      await made({ do: 'take-snapshot', volume: 'r11', snapshot: 's', nowMs: 1 })
      await made({ do: 'remove-record', type: 'r11', key: 'k' })
    })

    void it('records of a type, or of one parent, come in the order of their keys', async () => {
      const of = (key: string, parent: string) => ({ do: 'put-record', type: 'r2', key, parent, body: {} }) as const
      await catalog().commit([of('c', 'x'), of('a', 'y'), of('b', 'x')])
      const keys = async (parent?: string) =>
        (await catalog().records('r2', parent === undefined ? undefined : { parent })).map(({ key }) => key)
      assert.deepEqual(await keys(), ['a', 'b', 'c'])
      assert.deepEqual(await keys('x'), ['b', 'c'])
      assert.deepEqual(await keys('none'), [])
    })

    void it('a walk over the records of a type meets every record once that stays, whatever comes and goes', async () => {
      const of = (key: string) => ({ do: 'put-record', type: 'r9', key, body: {} }) as const
      await catalog().commit(['b', 'd', 'f', 'h'].map(of))
      const met: string[] = []
      for (let after = ''; ;) {
        const page = await catalog().records('r9', { after, limit: 2 })
        met.push(...page.map(({ key }) => key))
        if (page.length < 2) break
        after = page.at(-1)?.key ?? ''
        await catalog().commit([of('a'), of('e'), { do: 'remove-record', type: 'r9', key: after }])
      }
      assert.deepEqual(met, ['b', 'd', 'e', 'f', 'h'])
    })

    void it('a write that expects absence or a revision is refused when it is otherwise', async () => {
      const write = (expect: 'absent' | number) =>
        catalog().commit([{ do: 'put-record', type: 'r3', key: 'k', body: {}, expect }])
      await refused('stale', write(7))
      const [made] = await write('absent')
      await refused('exists', write('absent'))
      const [again] = await write(made?.revision ?? 0)
      await refused('stale', write(made?.revision ?? 0))
      await refused('stale', catalog().commit([{ do: 'remove-record', type: 'r3', key: 'k', expect: 1e9 }]))
      const check = (expect: 'absent' | number, key = 'k') =>
        catalog().commit([{ do: 'check-record', type: 'r3', key, expect }])
      await check(again?.revision ?? 0)
      await check('absent', 'other')
      await refused('stale', check('absent'))
      await refused('stale', check(1e9))
      await refused('stale', check(1, 'other'))
    })

    void it('a unique value has one holder until it is given up', async () => {
      const claim = (key: string, name?: string) =>
        catalog().commit([
          {
            do: 'put-record',
            type: 'r4',
            key,
            body: {},
            ...(name === undefined ? {} : { unique: { 'r4.name': name } }),
          },
        ])
      await claim('a', 'one')
      await refused('taken', claim('b', 'one'), { scope: 'r4.name' })
      assert.equal(await catalog().record('r4', 'b'), undefined)
      assert.deepEqual(await catalog().holder('r4.name', 'one'), { type: 'r4', key: 'a' })
      await claim('a', 'two')
      await claim('b', 'one')
      await claim('b')
      assert.deepEqual(await catalog().holder('r4.name', 'one'), { type: 'r4', key: 'b' })
      await catalog().commit([{ do: 'remove-record', type: 'r4', key: 'b' }])
      assert.equal(await catalog().holder('r4.name', 'one'), undefined)
      await claim('c', 'one')
    })

    void it('records that get another type are found there alone, with what they claim, and the feed tells of both', async () => {
      const of = (key: string, parent: string) =>
        ({ do: 'put-record', type: 'r20', key, parent, body: { key }, unique: { 'r20.name': key } }) as const
      await catalog().commit([of('a', 'x'), of('b', 'x'), of('c', 'y')])
      const before = await catalog().revision()
      const retype = (type: string, to: string) => catalog().commit([{ do: 'retype-records', type, parent: 'x', to }])
      await retype('r20', 'r21')
      const keys = async (type: string) => (await catalog().records(type)).map(({ key }) => key)
      assert.deepEqual([await keys('r20'), await keys('r21')], [['c'], ['a', 'b']])
      assert.deepEqual((await catalog().record('r21', 'a'))?.body, { key: 'a' })
      assert.deepEqual(await catalog().holder('r20.name', 'a'), { type: 'r21', key: 'a' })
      await refused('taken', catalog().commit([of('z', 'y'), { ...of('a', 'y'), key: 'other' }]))
      const told = new Set((await catalog().changes(before, 100))?.map(({ type, key }) => `${type}/${key}`))
      assert.deepEqual([...told].toSorted(), ['r20/a', 'r20/b', 'r21/a', 'r21/b'])
      await retype('r21', 'r20')
      assert.deepEqual([await keys('r20'), await keys('r21')], [['a', 'b', 'c'], []])
      assert.deepEqual(await catalog().holder('r20.name', 'b'), { type: 'r20', key: 'b' })
    })

    void it('check-childless is refused while a record has the parent', async () => {
      const check = () => catalog().commit([{ do: 'check-childless', type: 'r5', parent: 'p' }])
      await check()
      await catalog().commit([{ do: 'put-record', type: 'r5', key: 'k', parent: 'p', body: {} }])
      await refused('exists', check())
    })

    void it('a record names others only while they are there, and may keep those that it named before', async () => {
      const put = (...keys: string[]): Change => ({
        do: 'put-record',
        type: 'r22',
        key: 'k',
        names: keys.map((key) => ({ type: 'r22-named', key })),
        body: { of: keys },
      })
      const named = (key: string): Change => ({ do: 'put-record', type: 'r22-named', key, body: {} })
      const none = (...changes: Change[]) =>
        assert.rejects(catalog().commit(changes), { name: 'CommitRefused', reason: 'missing', scope: 'reference' })
      await none(put('a'))
      await catalog().commit([named('a'), put('a')])
      await none(put('a', 'b'))
      await catalog().commit([{ do: 'remove-record', type: 'r22-named', key: 'a' }, put('a')])
      await catalog().commit([named('b'), put('b')])
      await none(put('a', 'b'))
    })

    void it('check-unnamed is refused once a record of the types was written with the word after a revision', async () => {
      const put = (type: string, key: string, of: string) =>
        catalog().commit([{ do: 'put-record', type, key, body: { of } }])
      await put('r23', 'before', 'word "1"')
      const since = await catalog().revision()
      const check = () =>
        catalog().commit([{ do: 'check-unnamed', types: ['r23', 'r23-too'], word: 'word "1"', since }])
      await check()
      await put('r23', 'k', 'another')
      await put('r23-other', 'k', 'word "1"')
      await check()
      await put('r23-too', 'k', 'the word "1", in a text')
      await refused('stale', check())
      await catalog().commit([{ do: 'remove-record', type: 'r23-too', key: 'k' }])
      await check()
    })

    void it('check-unwritten is refused once a record of the types was written or removed after a revision', async () => {
      const put = (type: string, key: string, parent = '') =>
        catalog().commit([{ do: 'put-record', type, key, parent, body: {} }])
      await put('r24', 'k', 'p')
      const check = (since: number, parent?: string) =>
        catalog().commit([
          { do: 'check-unwritten', types: ['r24', 'r24-too'], since, ...(parent === undefined ? {} : { parent }) },
        ])
      const since = await catalog().revision()
      await put('r24-other', 'k', 'p')
      await check(since)
      await put('r24-too', 'k', 'p')
      await refused('stale', check(since))
      await check(since, 'q')
      const later = await catalog().revision()
      await check(later)
      const [outcome] = await catalog().commit([{ do: 'remove-record', type: 'r24', key: 'k' }])
      await refused('stale', check(later))
      await refused('stale', check(later, 'q'))
      await check(outcome?.revision ?? 0)
    })

    void it('promises to volumes and trees that are shared or left are in the feed', async () => {
      const since = async () => catalog().revision()
      const check = (type: string, from: number) =>
        catalog().commit([{ do: 'check-unwritten', types: [type], since: from }])
      const isWritten = async (type: string, change: Change) => {
        const from = await since()
        await catalog().commit([change])
        await refused('stale', check(type, from))
      }
      const isNot = async (type: string, change: Change) => {
        const from = await since()
        await catalog().commit([change])
        await check(type, from)
      }
      const place = (aggregate: string, isGuaranteed: boolean): Change => ({
        do: 'place-volume',
        volume: 'r25',
        aggregate,
        isGuaranteed,
      })
      const size = (sizeBytes: number): Change => ({ do: 'resize-volume', volume: 'r25', sizeBytes })
      await isNot(TREES, { do: 'open-volume', volume: 'r25', sizeBytes: 1000 })
      await isNot(PROMISES, place('r25-a', false))
      await isNot(PROMISES, size(2000))
      await isWritten(PROMISES, place('r25-a', true))
      await isWritten(PROMISES, place('r25-b', true))
      await isNot(PROMISES, place('r25-b', true))
      await isWritten(PROMISES, size(3000))
      await isNot(PROMISES, size(500))
      await isNot(PROMISES, place('r25-b', false))
      await isWritten(TREES, { do: 'open-volume', volume: 'r25-clone', sizeBytes: 1000, tree: 'r25' })
      await isWritten(TREES, { do: 'move-volume', volume: 'r25', tree: 'r25-next' })
      await isWritten(TREES, { do: 'end-move', volume: 'r25' })
      await isWritten(TREES, { do: 'close-volume', volume: 'r25' })
      await isWritten(TREES, { do: 'close-volume', volume: 'r25-clone' })
    })

    void it('a record comes under a parent only while that is there, and is changed whether it is or not', async () => {
      const put = (key: string, parent: string): Change => ({
        do: 'put-record',
        type: 'r10-child',
        key,
        parent,
        parentTypes: ['r10-one', 'r10-other'],
        body: {},
      })
      const none = (...changes: Change[]) =>
        assert.rejects(catalog().commit(changes), { name: 'CommitRefused', reason: 'missing', scope: 'parent' })
      await none(put('k', 'p'))
      await catalog().commit([
        { do: 'put-record', type: 'r10-other', key: 'p', body: {} },
        put('k', 'p'),
        put('free', ''),
      ])
      await none({ do: 'remove-record', type: 'r10-other', key: 'p' }, put('late', 'p'))
      await catalog().commit([{ do: 'remove-record', type: 'r10-other', key: 'p' }])
      await catalog().commit([put('k', 'p')])
      await none(put('k', 'q'))
      await none(put('free', 'p'))
    })

    void it('removing tells whether there was something', async () => {
      await catalog().commit([{ do: 'put-record', type: 'r6', key: 'k', body: {} }])
      const remove = { do: 'remove-record', type: 'r6', key: 'k' } as const
      const outcomes = await catalog().commit([remove, remove])
      assert.deepEqual(
        outcomes.map(({ found }) => found),
        [true, false],
      )
    })

    void it('a refused commit leaves nothing, whichever of its changes was refused', async () => {
      const before = await catalog().revision()
      const attempt = catalog().commit([
        { do: 'put-record', type: 'r7', key: 'a', body: {}, unique: { 'r7.name': 'a' } },
        { do: 'append-log', log: 'events', timeMs: 1, body: {}, keep: 10 },
        { do: 'count', table: 'r7', row: 'a', add: { n: 1 } },
        { do: 'check-record', type: 'r7', key: 'none', expect: 1 },
      ])
      await refused('stale', attempt, { change: 3 })
      assert.equal(await catalog().record('r7', 'a'), undefined)
      assert.equal(await catalog().holder('r7.name', 'a'), undefined)
      assert.equal(await catalog().revision(), before)
      assert.deepEqual(await catalog().log('events', { limit: 10 }), [])
      assert.equal((await catalog().counters('r7')).size, 0)
    })

    void it('the feed tells which records changed, and when it does not reach back far enough', async () => {
      const start = await catalog().revision()
      await catalog().commit([{ do: 'put-record', type: 'r8', key: 'a', body: {} }])
      await catalog().commit([
        { do: 'put-record', type: 'r8', key: 'b', body: {} },
        { do: 'remove-record', type: 'r8', key: 'a' },
      ])
      const changed = await catalog().changes(start, 10)
      assert.deepEqual(
        changed?.map(({ key }) => key),
        ['a', 'b', 'a'],
      )
      assert.deepEqual((await catalog().changes(start, 1))?.length, 1)
      assert.deepEqual(await catalog().changes(await catalog().revision(), 10), [])
      const many = Array.from({ length: 10_001 }, () => ({ do: 'put-record', type: 'r8', key: 'c', body: {} }) as const)
      await catalog().commit(many)
      assert.equal(await catalog().changes(start, 10), undefined)
      assert.equal((await catalog().changes((await catalog().revision()) - 5000, 10_000))?.length, 5000)
    })

    void it('pages of records end early where these are long, and a walk over them meets each once', async () => {
      const long = 'x'.repeat(100_000)
      const put = (n: number, parent: string) =>
        ({ do: 'put-record', type: 'r10', key: `k${n}`, parent, body: { n, long } }) as const
      for (let n = 0; n < 9; n++) await catalog().commit([put(n, n % 3 === 0 ? 'q' : 'p')])
      const walk = async (within: { parent?: string }) => {
        const keys: string[][] = []
        for (let after = ''; ;) {
          const page = await catalog().records('r10', { ...within, after, limit: 100 })
          if (page.length === 0) return keys
          keys.push(page.map(({ key }) => key))
          after = page.at(-1)?.key ?? after
        }
      }
      const all = await walk({})
      assert.deepEqual(all.flat(), ['k0', 'k1', 'k2', 'k3', 'k4', 'k5', 'k6', 'k7', 'k8'])
      assert.deepEqual((await walk({ parent: 'p' })).flat(), ['k1', 'k2', 'k4', 'k5', 'k7', 'k8'])
      for (const page of all) assert.ok(page.length <= 4, 'some hundred kilobytes at once')
      assert.equal((await catalog().records('r10', { parent: 'p', after: 'k4', limit: 1 })).length, 1)
    })

    void it('what was committed is there after opening again', async () => {
      await catalog().commit([{ do: 'put-record', type: 'r9', key: 'k', body: { a: 1 } }])
      const revision = await catalog().revision()
      const again = await reopen()
      assert.deepEqual((await again.record('r9', 'k'))?.body, { a: 1 })
      assert.equal(await again.revision(), revision)
    })
  })
}
