import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Catalog, Change, KeyRange, Outcome } from '../../catalog.ts'
import {
  bytes,
  draft,
  listed,
  openBucket,
  put,
  reclaimAll,
  refused,
  setVersioning,
  takeSnapshot,
  versionsListed,
} from '../fixtures.suite.ts'

export function proveRangeRestores(catalog: () => Catalog, reopen: () => Promise<Catalog>): void {
  const commit = (...changes: Change[]) => catalog().commit(changes)
  const remove = (bucket: string, key: string) => commit({ do: 'delete-object', bucket, key: bytes(key) })
  const begin = (bucket: string, snapshot: string, range: KeyRange, nowMs = 0): Change => {
    return { do: 'begin-range-restore', bucket, snapshot, range, nowMs }
  }
  const move = (bucket: string, limit: number): Change => ({ do: 'restore-range', bucket, limit })
  const finish = (bucket: string): Change => ({ do: 'finish-range-restore', bucket })
  /** All of it at once. */
  const goBack = (bucket: string, snapshot: string, range: KeyRange): Promise<readonly Outcome[]> => {
    return commit(begin(bucket, snapshot, range), move(bucket, 1000), finish(bucket))
  }
  const sums = async (bucket: string) => {
    const [counters, volume] = [await catalog().bucket(bucket), await catalog().volume(`${bucket}-v`)]
    return [counters?.usedBytes, counters?.objects, volume?.usedBytes, volume?.snapshotBytes]
  }

  void describe('ranges of keys', () => {
    void it('one key goes back in one commit, and newer snapshots show what they did', async () => {
      await openBucket(catalog(), 'range1')
      await commit(put('range1', 'a', draft('a1', 3)), put('range1', 'ab', draft('ab1', 5)))
      await takeSnapshot(catalog(), 'range1-v', 'first')
      await commit(put('range1', 'a', draft('a2', 7)), put('range1', 'ab', draft('ab2', 11)))
      const second = await takeSnapshot(catalog(), 'range1-v', 'second')
      await goBack('range1', 'first', { key: bytes('a') })
      assert.deepEqual(await listed(catalog(), 'range1'), ['a=a1', 'ab=ab2'])
      assert.deepEqual(await listed(catalog(), 'range1', { epoch: second }), ['a=a2', 'ab=ab2'])
      assert.deepEqual(await sums('range1'), [14, 2, 26, 12])
      await goBack('range1', 'second', { key: bytes('a') })
      assert.deepEqual(await listed(catalog(), 'range1'), ['a=a2', 'ab=ab2'])
      assert.deepEqual(await sums('range1'), [18, 2, 26, 8])
      for (const snapshot of ['first', 'second']) await commit({ do: 'drop-snapshot', volume: 'range1-v', snapshot })
      await reclaimAll(catalog(), 'range1-v')
      assert.deepEqual(await sums('range1'), [18, 2, 18, 0])
    })

    void it('a key that was deleted comes back, one that was made since goes', async () => {
      await openBucket(catalog(), 'range2')
      await commit(put('range2', 'gone', draft('g1')))
      await takeSnapshot(catalog(), 'range2-v', 's')
      await remove('range2', 'gone')
      await commit(put('range2', 'made', draft('m1')))
      await goBack('range2', 's', { key: bytes('gone') })
      await goBack('range2', 's', { key: bytes('made') })
      assert.deepEqual(await listed(catalog(), 'range2'), ['gone=g1'])
      assert.deepEqual(await sums('range2'), [10, 1, 10, 0])
    })

    void it('a prefix goes back in batches, while keys beside it are written', async () => {
      await openBucket(catalog(), 'range3')
      const keys = Array.from({ length: 40 }, (_, n) => `p/${String(n).padStart(2, '0')}`)
      await commit(...keys.map((key) => put('range3', key, draft(`${key}:1`))), put('range3', 'p', draft('p1')))
      await takeSnapshot(catalog(), 'range3-v', 's')
      await commit(...keys.slice(10, 30).map((key) => put('range3', key, draft(`${key}:2`))))
      await commit(put('range3', 'p/new', draft('new')), put('range3', 'q', draft('q1')))
      await remove('range3', 'p/05')
      const then = keys.map((key) => `${key}=${key}:1`)
      const now = await listed(catalog(), 'range3', { prefix: 'p/' })
      await commit(begin('range3', 's', { prefix: bytes('p/') }))
      const seen = new Set<boolean>()
      for (let n = 0, more = true; more; n++) {
        const [outcome] = await commit(move('range3', 2))
        more = outcome?.next !== undefined
        const isThen = outcome?.next !== 'look'
        seen.add(isThen)
        assert.deepEqual(await listed(catalog(), 'range3', { prefix: 'p/', limit: 7 }), isThen ? then : now)
        assert.equal((await catalog().object('range3', bytes('p/05')))?.etag, isThen ? 'p/05:1' : undefined)
        await refused('restoring', commit(put('range3', 'p/05', draft('never'))))
        await commit(put('range3', 'p0', draft(`beside ${n}`)))
        assert.equal((await catalog().object('range3', bytes('p0')))?.etag, `beside ${n}`)
      }
      assert.deepEqual(seen, new Set([false, true]))
      await commit(finish('range3'))
      await commit(finish('range3'))
      assert.equal((await catalog().bucket('range3'))?.objects, 43)
      await commit(put('range3', 'p/05', draft('after')))
      assert.equal((await catalog().object('range3', bytes('p/05')))?.etag, 'after')
    })

    void it('a catalog that is opened again amid it shows the same, and goes on where it was', async () => {
      await openBucket(catalog(), 'range10')
      const keys = Array.from({ length: 9 }, (_, n) => `k${n}`)
      await commit(...keys.map((key) => put('range10', key, draft(`${key}:1`))))
      await takeSnapshot(catalog(), 'range10-v', 's')
      await commit(...keys.map((key) => put('range10', key, draft(`${key}:2`))))
      const states = [1, 2].map((n) => keys.map((key) => `${key}=${key}:${n}`))
      await commit(begin('range10', 's', { prefix: bytes('k') }))
      const phases = new Set<string>()
      for (let next: string | undefined = 'look'; next !== undefined; phases.add(next ?? 'done')) {
        await reopen()
        await refused('restoring', commit(put('range10', 'k0', draft('never'))))
        assert.deepEqual(await listed(catalog(), 'range10'), next === 'look' ? states[1] : states[0])
        next = (await commit(move('range10', 1)))[0]?.next
      }
      assert.deepEqual([...phases], ['look', 'remove', 'copy', 'done'])
      await reopen()
      await commit(finish('range10'))
      assert.deepEqual(await sums('range10'), [90, 9, 90, 0])
    })

    void it('the versions of a key become those that the snapshot shows', async () => {
      await openBucket(catalog(), 'range4')
      await setVersioning(catalog(), 'range4', 'enabled')
      const version = (name: string) => put('range4', 'k', { ...draft(name), version: name })
      await commit(version('v1'), version('v2'))
      await takeSnapshot(catalog(), 'range4-v', 's')
      await commit({ do: 'delete-object', bucket: 'range4', key: bytes('k'), version: 'v1' }, version('v3'))
      const marker = { version: 'm', modifiedMs: 1 }
      await commit({ do: 'delete-object', bucket: 'range4', key: bytes('k'), marker })
      await goBack('range4', 's', { prefix: bytes('') })
      assert.deepEqual(await versionsListed(catalog(), 'range4'), ['k@v2*=v2', 'k@v1=v1'])
      assert.deepEqual(await sums('range4'), [20, 1, 20, 0])
    })

    void it('a row that was amended since is counted once, however small the batches', async () => {
      await openBucket(catalog(), 'range9')
      await setVersioning(catalog(), 'range9', 'enabled')
      for (const version of ['v1', 'v2', 'v3']) await commit(put('range9', 'k', { ...draft(version), version }))
      await takeSnapshot(catalog(), 'range9-v', 's')
      for (const version of ['v1', 'v3']) {
        const amend = { do: 'amend-object', bucket: 'range9', key: bytes('k'), version, nowMs: 0 } as const
        await commit({ ...amend, details: { tag: 'changed' } })
      }
      await commit(begin('range9', 's', { prefix: bytes('') }))
      for (let batches = 1, more = true; more; batches++) {
        assert.ok(batches < 20)
        const [outcome] = await commit(move('range9', 1))
        more = outcome?.next !== undefined
      }
      await commit(finish('range9'))
      assert.deepEqual((await catalog().object('range9', bytes('k')))?.details, {})
      assert.deepEqual(await sums('range9'), [30, 1, 30, 0])
    })

    void it('what is locked or held stays, and so does all else, unless the snapshot has it held as much', async () => {
      await openBucket(catalog(), 'range5')
      await setVersioning(catalog(), 'range5', 'enabled')
      const lock = { mode: 'compliance', untilMs: 50 } as const
      await commit(put('range5', 'a', { ...draft('a1'), version: 'a1', lock }))
      await commit(put('range5', 'b', { ...draft('b1'), version: 'b1' }))
      await takeSnapshot(catalog(), 'range5-v', 's')
      await commit(put('range5', 'b', { ...draft('b2'), version: 'b2', lock }))
      const all = { prefix: bytes('') }
      await commit(begin('range5', 's', all, 10))
      await refused('locked', commit(move('range5', 100)))
      await commit({ do: 'abandon-range-restore', bucket: 'range5' })
      assert.deepEqual(await versionsListed(catalog(), 'range5'), ['a@a1*=a1', 'b@b2*=b2', 'b@b1=b1'])
      await commit(begin('range5', 's', all, 50), move('range5', 100), finish('range5'))
      assert.deepEqual(await versionsListed(catalog(), 'range5'), ['a@a1*=a1', 'b@b1*=b1'])
      assert.equal((await catalog().object('range5', bytes('a')))?.lock?.untilMs, 50)

      const amend = { do: 'amend-object', bucket: 'range5', key: bytes('a'), nowMs: 0 } as const
      await commit({ ...amend, details: { tag: 'changed' } })
      await goBack('range5', 's', all)
      assert.deepEqual((await catalog().object('range5', bytes('a')))?.details, {})
      await commit({ ...amend, lock: { ...lock, untilMs: 60 } })
      await refused('locked', goBack('range5', 's', all))
      await commit({ ...amend, legalHold: true })
      await refused('locked', commit(begin('range5', 's', all, 99), move('range5', 100)))
    })

    void it('a bucket that would exceed its limit stays as it is', async () => {
      await openBucket(catalog(), 'range6')
      await commit(put('range6', 'a', draft('a1', 10)))
      await takeSnapshot(catalog(), 'range6-v', 's')
      await remove('range6', 'a')
      await commit(put('range6', 'b', draft('b1', 3)), { do: 'limit-bucket', bucket: 'range6', limitBytes: 12 })
      await refused('full', goBack('range6', 's', { key: bytes('a') }), { scope: 'bucket' })
      await goBack('range6', 's', { prefix: bytes('') })
      assert.deepEqual(await listed(catalog(), 'range6'), ['a=a1'])
    })

    void it('one at a time goes back, to a snapshot that has the bucket', async () => {
      await openBucket(catalog(), 'range7')
      await takeSnapshot(catalog(), 'range7-v', 's')
      await commit({ do: 'open-bucket', bucket: 'range7-later', volume: 'range7-v', limitBytes: 99 })
      const all = { prefix: bytes('') }
      await refused('missing', commit(begin('range7', 'none', all)), { scope: 'snapshot' })
      await refused('missing', commit(begin('range7-later', 's', all)), { scope: 'snapshot' })
      await commit(begin('range7', 's', all))
      await refused('restoring', commit(begin('range7', 's', { key: bytes('k') })))
      await refused('restoring', commit({ do: 'close-bucket', bucket: 'range7' }))
      await refused('restoring', commit({ do: 'begin-restore', volume: 'range7-v', snapshot: 's' }))
      await refused('not-empty', commit(finish('range7')))
      await commit({ do: 'abandon-range-restore', bucket: 'range7' })
      await commit({ do: 'abandon-range-restore', bucket: 'range7' })
      assert.deepEqual(await commit(move('range7', 1)), [{ restored: 0 }])
      await commit(begin('range7', 's', all), move('range7', 9))
      await refused('restoring', commit({ do: 'abandon-range-restore', bucket: 'range7' }))
      await commit(finish('range7'))
    })

    void it('an upload under way stays, and completes when its key may be written again', async () => {
      await openBucket(catalog(), 'range8')
      const upload = { upload: 'u', key: bytes('k'), startedMs: 1, details: {} }
      const part = { number: 1, sizeBytes: 4, etag: 'p', modifiedMs: 1, checksum: draft('').checksum }
      const blobs = [{ blob: 'part', sizeBytes: 4 }]
      await commit({ do: 'open-upload', bucket: 'range8', upload })
      await commit({ do: 'put-part', bucket: 'range8', upload: 'u', part: { ...part, blobs }, maxTotalBytes: 9 })
      await takeSnapshot(catalog(), 'range8-v', 's')
      await commit(begin('range8', 's', { prefix: bytes('') }), move('range8', 9))
      const parts = [{ number: 1, etag: 'p' }]
      const complete: Change = {
        do: 'complete-upload',
        bucket: 'range8',
        upload: 'u',
        parts,
        object: draft('whole', 0),
      }
      await refused('restoring', commit(complete))
      await commit(finish('range8'), complete)
      assert.deepEqual(await listed(catalog(), 'range8'), ['k=whole'])
    })
  })
}
