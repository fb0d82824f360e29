import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Catalog, Change } from '../../catalog.ts'
import { bytes, draft, listed, openBucket, put, reclaimAll, refused, takeSnapshot } from '../fixtures.suite.ts'

export function proveSnapshots(catalog: () => Catalog): void {
  const drop = (volume: string, snapshot: string) => catalog().commit([{ do: 'drop-snapshot', volume, snapshot }])
  const remove = (bucket: string, key: string) => catalog().commit([{ do: 'delete-object', bucket, key: bytes(key) }])
  const sums = async (volume: string) => {
    const counters = await catalog().volume(volume)
    return [counters?.usedBytes, counters?.snapshotBytes]
  }

  void describe('snapshots', () => {
    void it('a snapshot shows what was there, whatever is overwritten, deleted or added later', async () => {
      await openBucket(catalog(), 's1')
      await catalog().commit([put('s1', 'a', draft('a1')), put('s1', 'b', draft('b1')), put('s1', 'c', draft('c1'))])
      const epoch = await takeSnapshot(catalog(), 's1-v', 'first')
      await catalog().commit([put('s1', 'a', draft('a2')), put('s1', 'd', draft('d1'))])
      await remove('s1', 'b')
      const second = await takeSnapshot(catalog(), 's1-v', 'second')
      await remove('s1', 'a')
      assert.deepEqual(await listed(catalog(), 's1', { epoch }), ['a=a1', 'b=b1', 'c=c1'])
      assert.deepEqual(await listed(catalog(), 's1', { epoch: second, limit: 1 }), ['a=a2', 'c=c1', 'd=d1'])
      assert.deepEqual(await listed(catalog(), 's1'), ['c=c1', 'd=d1'])
      const etag = async (key: string, at?: { epoch: number }) => (await catalog().object('s1', bytes(key), at))?.etag
      assert.deepEqual(
        [await etag('a', { epoch }), await etag('a', { epoch: second }), await etag('a')],
        ['a1', 'a2', undefined],
      )
      assert.deepEqual([await etag('b', { epoch }), await etag('b', { epoch: second })], ['b1', undefined])
      assert.equal(await etag('d', { epoch }), undefined)
      assert.deepEqual(
        (await catalog().snapshots('s1-v')).map(({ snapshot, createdMs }) => [snapshot, createdMs]),
        [
          ['first', 5],
          ['second', 5],
        ],
      )
    })

    void it('a volume goes back to a snapshot, and then goes on', async () => {
      await openBucket(catalog(), 's9')
      await catalog().commit([put('s9', 'a', draft('a1')), put('s9', 'b', draft('b1'))])
      await takeSnapshot(catalog(), 's9-v', 'first')
      await catalog().commit([put('s9', 'a', draft('a2')), put('s9', 'c', draft('c1'))])
      await remove('s9', 'b')
      await takeSnapshot(catalog(), 's9-v', 'second')
      await catalog().commit([put('s9', 'd', draft('d1'))])
      const restore = (change: Change) => catalog().commit([change])
      await restore({ do: 'begin-restore', volume: 's9-v', snapshot: 'first' })
      assert.deepEqual(await listed(catalog(), 's9'), ['a=a1', 'b=b1'])
      await refused('restoring', catalog().commit([put('s9', 'e', draft('e1'))]))
      await refused('restoring', drop('s9-v', 'first'))
      let after: string | undefined
      do {
        const [outcome] = await restore({ do: 'restore-rows', volume: 's9-v', limit: 1, ...(after && { after }) })
        after = outcome?.next
        assert.deepEqual(await listed(catalog(), 's9'), ['a=a1', 'b=b1'])
      } while (after !== undefined)
      await restore({ do: 'finish-restore', volume: 's9-v' })
      assert.deepEqual(await listed(catalog(), 's9'), ['a=a1', 'b=b1'])
      const counters = await catalog().bucket('s9')
      assert.deepEqual([counters?.objects, counters?.versions], [2, 0])
      assert.deepEqual(
        (await catalog().snapshots('s9-v')).map(({ snapshot }) => snapshot),
        ['first'],
      )
      await catalog().commit([put('s9', 'a', draft('a3'))])
      assert.deepEqual(await listed(catalog(), 's9'), ['a=a3', 'b=b1'])
      await refused('missing', restore({ do: 'begin-restore', volume: 's9-v', snapshot: 'second' }), {
        scope: 'snapshot',
      })
    })

    void it('the uuid of a snapshot is used once, and dropping it twice is fine', async () => {
      await openBucket(catalog(), 's2')
      await takeSnapshot(catalog(), 's2-v', 's')
      const again = { do: 'take-snapshot', volume: 's2-v', snapshot: 's', nowMs: 1 } as const
      await refused('exists', catalog().commit([again]))
      await drop('s2-v', 's')
      await drop('s2-v', 's')
      assert.deepEqual(await catalog().snapshots('s2-v'), [])
    })

    void it('bytes that only snapshots hold are counted, and freed when the last lets go', async () => {
      await openBucket(catalog(), 's3')
      await catalog().commit([put('s3', 'a', draft('a1', 10)), put('s3', 'b', draft('shared', 5))])
      await catalog().commit([put('s3', 'c', draft('shared', 5), { shares: true })])
      await takeSnapshot(catalog(), 's3-v', 'one')
      await takeSnapshot(catalog(), 's3-v', 'two')
      await catalog().commit([put('s3', 'a', draft('a2', 1))])
      assert.deepEqual(await sums('s3-v'), [16, 10])
      await remove('s3', 'b')
      assert.deepEqual(await sums('s3-v'), [16, 10], 'the other copy lives')
      await remove('s3', 'c')
      assert.deepEqual(await sums('s3-v'), [16, 15])
      assert.deepEqual(Object.fromEntries(await catalog().snapshotBytes('s3-v')), { one: 0, two: 15 })
      await drop('s3-v', 'two')
      assert.equal(await reclaimAll(catalog(), 's3-v'), 0)
      assert.deepEqual(Object.fromEntries(await catalog().snapshotBytes('s3-v')), { one: 15 })
      await drop('s3-v', 'one')
      assert.equal(await reclaimAll(catalog(), 's3-v', 1), 3)
      assert.deepEqual(await sums('s3-v'), [1, 0])
      assert.deepEqual(new Set(await catalog().unneededBlobs('s3-v', 9)), new Set(['a1', 'shared']))
    })

    void it('what no snapshot saw leaves at once', async () => {
      await openBucket(catalog(), 's4')
      await takeSnapshot(catalog(), 's4-v', 's')
      await catalog().commit([put('s4', 'a', draft('a1'))])
      await remove('s4', 'a')
      assert.deepEqual(await sums('s4-v'), [0, 0])
      assert.deepEqual(await catalog().unneededBlobs('s4-v', 9), ['a1'])
    })

    void it('a snapshot between two others can be dropped; the others are unchanged', async () => {
      await openBucket(catalog(), 's5')
      const epochs: number[] = []
      for (const n of [1, 2, 3, 4]) {
        await catalog().commit([put('s5', 'k', draft(`k${n}`)), put('s5', `only${n}`, draft(`o${n}`))])
        epochs.push(await takeSnapshot(catalog(), 's5-v', `s${n}`))
        await remove('s5', `only${n}`)
      }
      await drop('s5-v', 's2')
      await drop('s5-v', 's3')
      assert.equal(await reclaimAll(catalog(), 's5-v', 3), 4)
      const at = (n: number) => listed(catalog(), 's5', { epoch: epochs[n - 1] ?? 0 })
      assert.deepEqual(await at(1), ['k=k1', 'only1=o1'])
      assert.deepEqual(await at(4), ['k=k4', 'only4=o4'])
      assert.deepEqual(new Set(await catalog().unneededBlobs('s5-v', 9)), new Set(['k2', 'k3', 'o2', 'o3']))
    })

    void it('a closed bucket is still seen by the snapshots of its volume, until the last is gone', async () => {
      await openBucket(catalog(), 's6')
      await catalog().commit([put('s6', 'a', draft('a1'))])
      const epoch = await takeSnapshot(catalog(), 's6-v', 's')
      await remove('s6', 'a')
      await catalog().commit([{ do: 'close-bucket', bucket: 's6' }])
      assert.equal(await catalog().bucket('s6'), undefined)
      assert.deepEqual(await listed(catalog(), 's6', { epoch }), ['a=a1'])
      assert.equal((await catalog().object('s6', bytes('a'), { epoch }))?.etag, 'a1')
      assert.deepEqual(await listed(catalog(), 's6'), [])
      await refused('missing', catalog().commit([put('s6', 'b', draft('b1'))]))

      await catalog().commit([{ do: 'open-bucket', bucket: 's6', volume: 's6-v', limitBytes: 77 }])
      assert.deepEqual(await catalog().bucket('s6'), {
        volume: 's6-v',
        limitBytes: 77,
        usedBytes: 0,
        objects: 0,
        versions: 0,
        versioning: 'off',
      })
      assert.deepEqual(await listed(catalog(), 's6', { epoch }), ['a=a1'])
      await catalog().commit([{ do: 'close-bucket', bucket: 's6' }])
      await drop('s6-v', 's')
      await reclaimAll(catalog(), 's6-v')
      assert.deepEqual(await listed(catalog(), 's6', { epoch }), [])
      assert.deepEqual(await sums('s6-v'), [0, 0])
    })

    void it('a volume with snapshots closes with all it has, and its names are free again', async () => {
      await openBucket(catalog(), 's7')
      await catalog().commit([put('s7', 'a', draft('a1'))])
      const epoch = await takeSnapshot(catalog(), 's7-v', 's')
      await remove('s7', 'a')
      await catalog().commit([{ do: 'close-bucket', bucket: 's7' }])
      await catalog().commit([{ do: 'close-volume', volume: 's7-v' }])
      assert.deepEqual(await listed(catalog(), 's7', { epoch }), [])
      assert.deepEqual(await catalog().snapshots('s7-v'), [])
      await openBucket(catalog(), 's7')
      assert.deepEqual(await catalog().snapshots('s7-v'), [])
      await catalog().commit([put('s7', 'a', draft('a1'))])
      assert.deepEqual(await sums('s7-v'), [10, 0])
    })

    void it('snapshots hold what a quota counts: an overwrite needs room for both', async () => {
      await openBucket(catalog(), 's8', 15)
      await catalog().commit([put('s8', 'a', draft('a1', 10))])
      await takeSnapshot(catalog(), 's8-v', 's')
      await refused('full', catalog().commit([put('s8', 'a', draft('a2', 10))]), { scope: 'volume' })
      assert.deepEqual(await listed(catalog(), 's8'), ['a=a1'])
      assert.deepEqual(await sums('s8-v'), [10, 0])
      await drop('s8-v', 's')
      await catalog().commit([put('s8', 'a', draft('a2', 10))])
      assert.deepEqual(await sums('s8-v'), [10, 0])
    })

    void it('a snapshot of one bucket sees nothing of the others', async () => {
      await openBucket(catalog(), 's10')
      const open: Change = { do: 'open-bucket', bucket: 's10-other', volume: 's10-v', limitBytes: 1e9 }
      await catalog().commit([open, put('s10', 'a', draft('a1')), put('s10-other', 'b', draft('b1'))])
      const taken = { do: 'take-snapshot', volume: 's10-v', bucket: 's10', snapshot: 'own', nowMs: 7 } as const
      const [outcome] = await catalog().commit([taken])
      const epoch = outcome?.epoch ?? 0
      await catalog().commit([put('s10', 'a', draft('a2')), put('s10-other', 'b', draft('b2'))])
      assert.deepEqual(await listed(catalog(), 's10', { epoch }), ['a=a1'])
      assert.deepEqual(await sums('s10-v'), [30, 10])
      assert.deepEqual(await catalog().unneededBlobs('s10-v', 9), ['b1'])
      const row = { snapshot: 'own', epoch, createdMs: 7, bucket: 's10' }
      assert.deepEqual(await catalog().bucketSnapshots('s10-v'), [row])
      assert.deepEqual(await catalog().bucketSnapshots('s10-v', 's10'), [row])
      assert.deepEqual(await catalog().bucketSnapshots('s10-v', 's10-other'), [])
      assert.deepEqual(await catalog().snapshots('s10-v'), [])
      assert.deepEqual(Object.fromEntries(await catalog().snapshotBytes('s10-v')), { own: 10 })
      await refused('missing', catalog().commit([{ ...taken, bucket: 'none', snapshot: 'x' }]))
      await openBucket(catalog(), 's10-far')
      await refused('missing', catalog().commit([{ ...taken, bucket: 's10-far', snapshot: 'x' }]))
      await drop('s10-v', 'own')
      assert.equal(await reclaimAll(catalog(), 's10-v'), 1)
      assert.deepEqual(await sums('s10-v'), [20, 0])
    })

    void it('what a snapshot of the volume and one of a bucket see stays until both are gone, in either order', async () => {
      for (const order of [
        ['volume', 'bucket'],
        ['bucket', 'volume'],
      ]) {
        const name = `s11-${order[0]}`
        await openBucket(catalog(), name)
        await catalog().commit([put(name, 'a', draft(`${name}1`))])
        await takeSnapshot(catalog(), `${name}-v`, 'volume')
        const own: Change = { do: 'take-snapshot', volume: `${name}-v`, bucket: name, snapshot: 'bucket', nowMs: 1 }
        await catalog().commit([own])
        await remove(name, 'a')
        await drop(`${name}-v`, order[0] ?? '')
        assert.equal(await reclaimAll(catalog(), `${name}-v`, 1), 0)
        assert.deepEqual(await sums(`${name}-v`), [10, 10])
        await drop(`${name}-v`, order[1] ?? '')
        assert.equal(await reclaimAll(catalog(), `${name}-v`, 1), 1)
        assert.deepEqual(await sums(`${name}-v`), [0, 0])
      }
    })

    void it('reclaiming goes on behind rows that snapshots of buckets still see', async () => {
      await openBucket(catalog(), 's12')
      const open: Change = { do: 'open-bucket', bucket: 's12-other', volume: 's12-v', limitBytes: 1e9 }
      const keys = Array.from({ length: 60 }, (_, n) => `k${n}`)
      await catalog().commit([open, ...keys.map((key) => put('s12', key, draft(key, 1)))])
      await catalog().commit([put('s12-other', 'x', draft('x1'))])
      await takeSnapshot(catalog(), 's12-v', 'all')
      await catalog().commit([{ do: 'take-snapshot', volume: 's12-v', bucket: 's12', snapshot: 'own', nowMs: 1 }])
      for (const key of keys) await remove('s12', key)
      await remove('s12-other', 'x')
      await drop('s12-v', 'all')
      const [first] = await catalog().commit([{ do: 'reclaim', volume: 's12-v', limit: 1 }])
      assert.equal(first?.reclaimed, 0)
      assert.notEqual(first?.next, undefined)
      assert.equal(await reclaimAll(catalog(), 's12-v', 1), 1)
      assert.deepEqual(await sums('s12-v'), [60, 60])
    })

    void it('a bucket with snapshots of its own does not close, and they go when the volume goes back past them', async () => {
      await openBucket(catalog(), 's13')
      await catalog().commit([put('s13', 'a', draft('a1'))])
      await takeSnapshot(catalog(), 's13-v', 'all')
      await remove('s13', 'a')
      const own: Change = { do: 'take-snapshot', volume: 's13-v', bucket: 's13', snapshot: 'own', nowMs: 1 }
      await catalog().commit([own])
      const close = (): Promise<unknown> => catalog().commit([{ do: 'close-bucket', bucket: 's13' }])
      await refused('not-empty', catalog().commit([{ do: 'close-bucket', bucket: 's13' }]), { scope: 'snapshot' })
      const back = (change: Change): Promise<unknown> => catalog().commit([change])
      await back({ do: 'begin-restore', volume: 's13-v', snapshot: 'all' })
      assert.deepEqual(await catalog().bucketSnapshots('s13-v'), [])
      await back({ do: 'restore-rows', volume: 's13-v', limit: 9 })
      await back({ do: 'restore-rows', volume: 's13-v', limit: 9, after: 'dead' })
      await back({ do: 'finish-restore', volume: 's13-v' })
      assert.deepEqual(await listed(catalog(), 's13'), ['a=a1'])
      await remove('s13', 'a')
      await close()
    })
  })
}
