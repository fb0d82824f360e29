/** Volumes that share a tree: each counts what it needs, and a blob is needed as long as one of them needs it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Catalog, Change } from '../../catalog.ts'
import {
  bytes,
  draft,
  listed,
  openBucket,
  part,
  put,
  reclaimAll,
  refused,
  setVersioning,
  takeSnapshot,
  versionsListed,
} from '../fixtures.suite.ts'

/** Gives the clone `<to>-v` of the volume `<from>-v`, with one bucket `<to>`, all rows of the snapshot. */
export async function cloneOf(catalog: Catalog, from: string, to: string, snapshot: string, limit = 1): Promise<void> {
  await catalog.commit([
    { do: 'open-volume', volume: `${to}-v`, sizeBytes: 1e9, tree: `${from}-v` },
    { do: 'open-bucket', bucket: to, volume: `${to}-v`, limitBytes: 1e9 },
  ])
  await copyRows(catalog, from, to, snapshot, limit)
}

export async function copyRows(catalog: Catalog, from: string, to: string, snapshot: string, limit: number) {
  for (let after: string | undefined; ;) {
    const change: Change = { do: 'clone-rows', bucket: to, from, snapshot, limit, ...(after && { after }) }
    const [outcome] = await catalog.commit([change])
    after = outcome?.next
    if (after === undefined) return
  }
}

export function proveClones(catalog: () => Catalog): void {
  const remove = (bucket: string, key: string) => catalog().commit([{ do: 'delete-object', bucket, key: bytes(key) }])
  const sums = async (volume: string) => {
    const counters = await catalog().volume(volume)
    return [counters?.usedBytes, counters?.snapshotBytes, counters?.inheritedBytes]
  }
  const unneeded = async (volume: string) => [...(await catalog().unneededBlobs(volume, 100))].toSorted()

  void describe('clones', () => {
    void it('a clone has what the snapshot shows, and goes its own way from there', async () => {
      await openBucket(catalog(), 'c1')
      await catalog().commit([put('c1', 'a', draft('a1')), put('c1', 'b', draft('b1', 5)), put('c1', 'c', draft('c1'))])
      await takeSnapshot(catalog(), 'c1-v', 's')
      await catalog().commit([put('c1', 'a', draft('a2')), put('c1', 'd', draft('d1'))])
      await remove('c1', 'b')
      await cloneOf(catalog(), 'c1', 'c1x', 's')
      assert.deepEqual(await listed(catalog(), 'c1x'), ['a=a1', 'b=b1', 'c=c1'])
      assert.deepEqual(await sums('c1x-v'), [25, 0, 25])
      const { usedBytes, objects, versions } = (await catalog().bucket('c1x')) ?? {}
      assert.deepEqual([usedBytes, objects, versions], [25, 3, 0])

      await catalog().commit([put('c1x', 'a', draft('a3')), put('c1x', 'e', draft('e1'))])
      assert.deepEqual(await listed(catalog(), 'c1x'), ['a=a3', 'b=b1', 'c=c1', 'e=e1'])
      assert.deepEqual(await listed(catalog(), 'c1'), ['a=a2', 'c=c1', 'd=d1'])
      assert.deepEqual(await sums('c1x-v'), [35, 0, 15])
      assert.deepEqual(await sums('c1-v'), [45, 15, 0])
      assert.deepEqual(await unneeded('c1-v'), [])
      assert.deepEqual(await unneeded('c1x-v'), [])
    })

    void it('versions and delete markers come with their order, locks and holds stay behind', async () => {
      await openBucket(catalog(), 'c2')
      await setVersioning(catalog(), 'c2', 'enabled')
      const lock = { mode: 'compliance', untilMs: 1e12 } as const
      await catalog().commit([
        put('c2', 'k', { ...draft('k1'), version: 'v1', lock, legalHold: true }),
        put('c2', 'k', { ...draft('k2'), version: 'v0' }),
        { do: 'delete-object', bucket: 'c2', key: bytes('k'), marker: { version: 'm', modifiedMs: 2 } },
        put('c2', 'l', { ...draft('l1'), version: 'v1' }),
      ])
      await takeSnapshot(catalog(), 'c2-v', 's')
      await cloneOf(catalog(), 'c2', 'c2x', 's')
      const all = ['k@m*!', 'k@v0=k2', 'k@v1=k1', 'l@v1*=l1']
      assert.deepEqual(await versionsListed(catalog(), 'c2x'), all)
      const row = await catalog().object('c2x', bytes('k'), undefined, 'v1')
      assert.deepEqual([row?.lock, row?.legalHold], [undefined, undefined])
      const { objects, versions } = (await catalog().bucket('c2x')) ?? {}
      assert.deepEqual([objects, versions], [1, 3])
      await catalog().commit([{ do: 'delete-object', bucket: 'c2x', key: bytes('k'), version: 'v1', nowMs: 1 }])
    })

    void it('rows that change while they are copied are those of the snapshot, however often they did', async () => {
      await openBucket(catalog(), 'c3')
      for (const key of ['a', 'b', 'c', 'd']) await catalog().commit([put('c3', key, draft(`${key}1`))])
      await takeSnapshot(catalog(), 'c3-v', 's')
      await catalog().commit([
        { do: 'open-volume', volume: 'c3x-v', sizeBytes: 1e9, tree: 'c3-v' },
        { do: 'open-bucket', bucket: 'c3x', volume: 'c3x-v', limitBytes: 1e9 },
      ])
      for (let after: string | undefined, n = 0; ; n++) {
        const change: Change = { do: 'clone-rows', bucket: 'c3x', from: 'c3', snapshot: 's', limit: 1 }
        const [outcome] = await catalog().commit([{ ...change, ...(after && { after }) }])
        after = outcome?.next
        if (after === undefined) break
        // The same row in many states: each is buried for a snapshot of its own.
        for (let i = 0; i < 20; i++) {
          await catalog().commit([
            { do: 'amend-object', bucket: 'c3', key: bytes('d'), nowMs: 1, details: { tag: `${n} ${i}` } },
            { do: 'take-snapshot', volume: 'c3-v', snapshot: `t${n} ${i}`, nowMs: 1 },
          ])
        }
        await remove('c3', ['a', 'b', 'c'][n % 3] ?? 'a')
      }
      assert.deepEqual(await listed(catalog(), 'c3x'), ['a=a1', 'b=b1', 'c=c1', 'd=d1'])
      const row = await catalog().object('c3x', bytes('d'))
      assert.deepEqual(row?.details, {})
      // Repeated from the beginning, as after a crash, it changes nothing.
      await copyRows(catalog(), 'c3', 'c3x', 's', 2)
      assert.deepEqual(await sums('c3x-v'), [40, 0, 40])
    })

    void it('a blob is unneeded when neither needs it any more, whichever lets go last', async () => {
      await openBucket(catalog(), 'c4')
      await catalog().commit([put('c4', 'a', draft('a1')), put('c4', 'b', draft('b1'))])
      await takeSnapshot(catalog(), 'c4-v', 's')
      await cloneOf(catalog(), 'c4', 'c4x', 's', 100)
      await remove('c4x', 'a')
      await remove('c4', 'b')
      assert.deepEqual(await sums('c4x-v'), [10, 0, 10])
      await catalog().commit([
        { do: 'count-as-own', volume: 'c4x-v' },
        { do: 'count-as-own', volume: 'gone' },
        { do: 'drop-snapshot', volume: 'c4-v', snapshot: 's' },
      ])
      await reclaimAll(catalog(), 'c4-v')
      assert.deepEqual([await unneeded('c4-v'), await unneeded('c4x-v')], [[], []])
      assert.deepEqual(
        [await sums('c4-v'), await sums('c4x-v')],
        [
          [10, 0, 0],
          [10, 0, 0],
        ],
      )
      assert.deepEqual(await catalog().knownBlobs('c4x-v', ['a1', 'b1', 'z']), new Set(['a1', 'b1']))
      await remove('c4', 'a')
      await remove('c4x', 'b')
      assert.deepEqual([await unneeded('c4-v'), await unneeded('c4x-v')], [['a1'], ['b1']])
      await catalog().commit([{ do: 'drop-blobs', volume: 'c4-v', blobs: ['a1'] }])
      assert.deepEqual(await catalog().knownBlobs('c4x-v', ['a1', 'b1']), new Set(['b1']))
    })

    void it('a file that was given up is named by no volume of its tree any more, and what one knows is not given up', async () => {
      await openBucket(catalog(), 'c9')
      await catalog().commit([put('c9', 'a', draft('a1'))])
      await takeSnapshot(catalog(), 'c9-v', 's')
      await cloneOf(catalog(), 'c9', 'c9x', 's', 100)
      await catalog().commit([put('c9x', 'b', draft('b1'))])
      const giveUp = (tree: string): Change => ({ do: 'give-up-blobs', volume: 'c9-v', tree, blobs: ['a1', 'b1', 'f'] })
      await refused('moved', catalog().commit([giveUp('elsewhere')]))
      const sumsBefore = [await sums('c9-v'), await sums('c9x-v')]
      const [first] = await catalog().commit([giveUp('c9-v')])
      const [again] = await catalog().commit([giveUp('c9-v')])
      assert.deepEqual([first?.blobs, again?.blobs], [['f'], []])
      for (const to of ['c9', 'c9x']) {
        await refused('missing', catalog().commit([put(to, 'f', draft('f'))]))
        assert.deepEqual(await catalog().givenUpBlobs(`${to}-v`, 10), ['f'])
        assert.deepEqual(await unneeded(`${to}-v`), ['f'])
      }
      assert.deepEqual([await sums('c9-v'), await sums('c9x-v')], sumsBefore)
      await remove('c9x', 'b')
      assert.deepEqual(await catalog().givenUpBlobs('c9x-v', 10), ['f'])
      await catalog().commit([{ do: 'drop-blobs', volume: 'c9-v', blobs: ['f'] }])
      await catalog().commit([{ do: 'drop-blobs', volume: 'c9x-v', blobs: ['f'] }])
      assert.deepEqual(await catalog().knownBlobs('c9-v', ['f']), new Set())
    })

    void it('a volume that goes leaves to those it shared with what they need, and the rest to be unlinked', async () => {
      await openBucket(catalog(), 'c5')
      await catalog().commit([put('c5', 'a', draft('a1')), put('c5', 'b', draft('b1'))])
      await takeSnapshot(catalog(), 'c5-v', 's')
      await cloneOf(catalog(), 'c5', 'c5x', 's', 100)
      await catalog().commit([put('c5', 'own', draft('own')), put('c5x', 'b', draft('b2'))])
      await catalog().commit([
        { do: 'open-upload', bucket: 'c5', upload: { upload: 'u', key: bytes('u'), startedMs: 1, details: {} } },
        { do: 'put-part', bucket: 'c5', upload: 'u', part: part(1, 'part'), maxTotalBytes: 100 },
      ])
      await refused('not-empty', catalog().commit([{ do: 'close-volume', volume: 'c5-v' }]))
      await catalog().commit([
        { do: 'count-as-own', volume: 'c5x-v' },
        { do: 'close-volume', volume: 'c5-v', withBuckets: true },
      ])
      await refused('missing', catalog().commit([put('c5', 'late', draft('late'))]))
      // The sweep goes along with other commits.
      for (let i = 0; i < 5; i++) await catalog().commit([put('c5x', `more ${i}`, draft(`more${i}`, 1))])
      assert.deepEqual(await unneeded('c5x-v'), ['b1', 'own', 'part'])
      assert.deepEqual(await listed(catalog(), 'c5x', { limit: 2 }), [
        'a=a1',
        'b=b2',
        ...[0, 1, 2, 3, 4].map((i) => `more ${i}=more${i}`),
      ])
      // What the two shared is its own now.
      assert.deepEqual(await sums('c5x-v'), [25, 0, 0])
      await catalog().commit([{ do: 'close-volume', volume: 'c5x-v', withBuckets: true }])
      assert.equal(await catalog().bucket('c5x'), undefined)
    })

    void it('a clone of another tree, of no snapshot, or of no bucket is refused', async () => {
      await openBucket(catalog(), 'c6')
      await openBucket(catalog(), 'c6x')
      await takeSnapshot(catalog(), 'c6-v', 's')
      const rows = { do: 'clone-rows', bucket: 'c6x', from: 'c6', snapshot: 's', limit: 1 } as const
      await refused('missing', catalog().commit([rows]), { scope: 'blob' })
      await refused('missing', catalog().commit([{ ...rows, snapshot: 'none' }]), { scope: 'snapshot' })
      await refused('missing', catalog().commit([{ ...rows, from: 'none' }]), { scope: 'from' })
    })
  })
}
