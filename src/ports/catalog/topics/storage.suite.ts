/** How blobs are stored, and what is counted of it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SHARING_BLOBS_MAX } from '../../catalog.ts'
import type { BlobDraft, Catalog, ObjectDraft } from '../../catalog.ts'
import { bytes, draft, openBucket, part, put, reclaimAll, refused, takeSnapshot } from '../fixtures.suite.ts'

/** An object of one blob that is stored in some way. */
function stored(blob: string, sizeBytes: number, how: Omit<BlobDraft, 'blob' | 'sizeBytes'>): ObjectDraft {
  return { ...draft(blob, sizeBytes), blobs: [{ blob, sizeBytes, ...how }] }
}

export function proveStorage(catalog: () => Catalog): void {
  const remove = (bucket: string, key: string) => catalog().commit([{ do: 'delete-object', bucket, key: bytes(key) }])
  /** Used, of these by snapshots alone, saved by compression, saved by deduplication. */
  const sums = async (bucket: string) => {
    const counters = await catalog().volume(`${bucket}-v`)
    assert.ok(counters)
    const { usedBytes, snapshotBytes, savedByCompressionBytes, savedByDedupeBytes } = counters
    return [usedBytes, snapshotBytes, savedByCompressionBytes, savedByDedupeBytes]
  }
  const storeBlobs = (bucket: string, blobs: readonly string[], storedBytes: number) =>
    catalog().commit([{ do: 'store-blobs', volume: `${bucket}-v`, blobs, storedBytes }])

  void describe('how blobs are stored', () => {
    void it('a volume counts what blobs are stored in, a bucket what clients see', async () => {
      await openBucket(catalog(), 't1', 50, 1000)
      await catalog().commit([put('t1', 'a', stored('a', 100, { storedBytes: 30 }))])
      assert.deepEqual(await sums('t1'), [30, 0, 70, 0])
      assert.equal((await catalog().bucket('t1'))?.usedBytes, 100)
      assert.equal((await catalog().object('t1', bytes('a')))?.blobs[0]?.sizeBytes, 100)
      await refused('full', catalog().commit([put('t1', 'b', stored('b', 100, { storedBytes: 21 }))]), {
        scope: 'volume',
      })
      await catalog().commit([put('t1', 'b', stored('b', 100, { storedBytes: 20 }))])
      await remove('t1', 'a')
      assert.deepEqual(await sums('t1'), [20, 0, 80, 0])
    })

    void it('twins in one file count once, as long as one of them is needed', async () => {
      await openBucket(catalog(), 't2')
      await catalog().commit([put('t2', 'a', stored('a', 100, { storedBytes: 40 }))])
      await catalog().commit([put('t2', 'b', stored('b', 100, { storedBytes: 40, twin: 'a' }))])
      await catalog().commit([put('t2', 'c', stored('c', 100, { storedBytes: 40, twin: 'b' }))])
      assert.deepEqual(await sums('t2'), [40, 0, 60, 200])
      await remove('t2', 'a')
      assert.deepEqual(await sums('t2'), [40, 0, 60, 100])
      await remove('t2', 'c')
      await remove('t2', 'b')
      assert.deepEqual(await sums('t2'), [0, 0, 0, 0])
    })

    void it('a blob counts on its own when its twin is gone, or is stored otherwise by now', async () => {
      await openBucket(catalog(), 't3')
      await catalog().commit([put('t3', 'a', draft('a', 100))])
      const looked = { twin: 'a', tried: { compression: true, dedupe: true } }
      await catalog().commit([put('t3', 'b', stored('b', 100, { storedBytes: 30, ...looked }))])
      // It has yet to find the one it can share with.
      assert.deepEqual((await catalog().storedBlob('t3-v', 'b'))?.tried, { compression: true, dedupe: false })
      await catalog().commit([
        put('t3', 'c', stored('c', 90, { twin: 'a' })),
        put('t3', 'd', stored('d', 5, { twin: 'x' })),
      ])
      assert.deepEqual(await sums('t3'), [225, 0, 70, 0])
      await remove('t3', 'a')
      await catalog().commit([put('t3', 'e', stored('e', 100, { twin: 'a' }))])
      assert.deepEqual(await sums('t3'), [225, 0, 70, 0])
    })

    void it('blobs become one file, or are stored in less, and all who shared a file go along', async () => {
      await openBucket(catalog(), 't4')
      for (const key of ['a', 'b', 'c']) await catalog().commit([put('t4', key, draft(key, 100))])
      await storeBlobs('t4', ['a', 'b', 'never'], 100)
      assert.deepEqual(await sums('t4'), [200, 0, 0, 100])
      await refused('stale', storeBlobs('t4', ['a', 'c'], 100))
      await storeBlobs('t4', ['a', 'b', 'c'], 10)
      await storeBlobs('t4', ['a', 'b', 'c'], 10)
      assert.deepEqual(await sums('t4'), [10, 0, 90, 200])
      await remove('t4', 'a')
      await storeBlobs('t4', ['a', 'b', 'c'], 20)
      assert.deepEqual(await sums('t4'), [20, 0, 80, 100])
      await remove('t4', 'b')
      await storeBlobs('t4', ['c'], 100)
      assert.deepEqual(await sums('t4'), [100, 0, 0, 0])
    })

    void it('a blob joins the file of its twin, and leaves who shared one with it; a twin that is gone has none', async () => {
      await openBucket(catalog(), 't9')
      const volume = 't9-v'
      const share = (blob: string, twin: string) => catalog().commit([{ do: 'share-blob', volume, blob, twin }])
      for (const key of ['a', 'b', 'c', 'd', 'e']) {
        await catalog().commit([put('t9', key, stored(key, 100, { digest: 'd' }))])
      }
      await storeBlobs('t9', ['b'], 30)
      await share('a', 'b')
      await share('a', 'b')
      assert.deepEqual(await sums('t9'), [330, 0, 70, 100])
      await share('c', 'd')
      await share('c', 'b')
      assert.deepEqual(await sums('t9'), [230, 0, 70, 200])
      await share('c', 'd')
      await refused('missing', share('e', 'never'), { scope: 'blob' })
      await remove('t9', 'e')
      await refused('missing', share('a', 'e'))
      await refused('missing', share('e', 'a'), { scope: 'blob' })
      const members = await catalog().twins(volume, { digest: 'd', sizeBytes: 100, group: 'b' }, 10)
      assert.deepEqual(
        members.map(({ blob, storedBytes }) => [blob, storedBytes]),
        [
          ['b', 30],
          ['a', 30],
        ],
      )
      assert.deepEqual(await sums('t9'), [130, 0, 70, 200])
    })

    void it('a shared file is held by snapshots alone when none of its blobs lives', async () => {
      await openBucket(catalog(), 't5')
      await catalog().commit([put('t5', 'a', stored('a', 100, { storedBytes: 40 }))])
      await catalog().commit([put('t5', 'b', stored('b', 100, { storedBytes: 40, twin: 'a' }))])
      await takeSnapshot(catalog(), 't5-v', 'one')
      await remove('t5', 'a')
      assert.deepEqual(await sums('t5'), [40, 0, 60, 100])
      await takeSnapshot(catalog(), 't5-v', 'two')
      await remove('t5', 'b')
      assert.deepEqual(await sums('t5'), [40, 40, 60, 100])
      assert.deepEqual(Object.fromEntries(await catalog().snapshotBytes('t5-v')), { one: 0, two: 40 })
      await catalog().commit([{ do: 'drop-snapshot', volume: 't5-v', snapshot: 'one' }])
      await reclaimAll(catalog(), 't5-v')
      assert.deepEqual(await sums('t5'), [40, 40, 60, 0])
      await catalog().commit([put('t5', 'c', stored('c', 100, { storedBytes: 40, twin: 'b' }))])
      assert.deepEqual(await sums('t5'), [40, 0, 60, 100])
    })

    void it('parts are stored in some way too, and objects made of them keep it', async () => {
      await openBucket(catalog(), 't6')
      const [bucket, upload] = ['t6', 'u']
      const row = { upload, key: bytes('k'), startedMs: 1, details: {} }
      await catalog().commit([{ do: 'open-upload', bucket, upload: row }])
      for (const [number, twin] of [[1], [2, 'p1']] as const) {
        const blob = { blob: `p${number}`, sizeBytes: 100, storedBytes: 10, ...(twin === undefined ? {} : { twin }) }
        const draftOfPart = { ...part(number, blob.blob, 100), blobs: [blob] }
        await catalog().commit([{ do: 'put-part', bucket, upload, part: draftOfPart, maxTotalBytes: 1000 }])
      }
      assert.deepEqual(await sums('t6'), [10, 0, 90, 100])
      const parts = [1, 2].map((number) => ({ number, etag: `p${number}` }))
      await catalog().commit([{ do: 'complete-upload', bucket, upload, parts, object: draft('whole', 0) }])
      assert.deepEqual(await sums('t6'), [10, 0, 90, 100])
      assert.equal((await catalog().bucket('t6'))?.usedBytes, 200)
      await remove('t6', 'k')
      assert.deepEqual(await sums('t6'), [0, 0, 0, 0])
    })

    void it(`no more than ${SHARING_BLOBS_MAX} blobs share a file; the next one begins another`, async () => {
      await openBucket(catalog(), 't7')
      const name = (n: number) => `b${String(n).padStart(4, '0')}`
      for (let n = 0; n <= SHARING_BLOBS_MAX; n++) {
        await catalog().commit([put('t7', name(n), stored(name(n), 1, { twin: name(n - 1) }))])
      }
      assert.deepEqual(await sums('t7'), [2, 0, 0, SHARING_BLOBS_MAX - 1])
      const all = Array.from({ length: SHARING_BLOBS_MAX + 1 }, (_, n) => name(n))
      await refused('exists', storeBlobs('t7', all, 1))
    })

    void it('digest and what was tried are kept with the blob, and needed twins are found by the digest', async () => {
      await openBucket(catalog(), 't8')
      const volume = 't8-v'
      await catalog().commit([put('t8', 'a', stored('a', 5, { digest: 'd', tried: { compression: true } }))])
      await catalog().commit([put('t8', 'b', draft('b', 5)), put('t8', 'c', stored('c', 6, { digest: 'd' }))])
      await catalog().commit([
        { do: 'note-blob', volume, blob: 'b', digest: 'd', tried: { dedupe: true } },
        { do: 'note-blob', volume, blob: 'never', digest: 'd' },
      ])
      const names = async () =>
        (await catalog().twins(volume, { digest: 'd', sizeBytes: 5 }, 10)).map(({ blob }) => blob)
      assert.deepEqual(await names(), ['b', 'a'])
      const { blobs, next } = await catalog().storedBlobs(volume, 'a', 1)
      assert.deepEqual(blobs, [
        { blob: 'b', sizeBytes: 5, storedBytes: 5, digest: 'd', tried: { compression: false, dedupe: true } },
      ])
      assert.equal(next, 'b')
      assert.deepEqual(await catalog().storedBlob(volume, 'b'), blobs[0])
      await remove('t8', 'b')
      assert.deepEqual(await names(), ['a'])
      assert.equal(await catalog().storedBlob(volume, 'b'), undefined)
      assert.deepEqual(
        (await catalog().storedBlobs(volume, '', 10)).blobs.map(({ blob, tried }) => [blob, tried]),
        [
          ['a', { compression: true, dedupe: false }],
          ['c', { compression: false, dedupe: false }],
        ],
      )
    })
  })
}
