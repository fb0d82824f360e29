import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Change, WriteCondition } from '../catalog.ts'
import {
  bytes,
  draft,
  listed,
  openBucket,
  page,
  part,
  put,
  reclaimAll,
  refused,
  takeSnapshot,
  text,
  type Proof,
} from './fixtures.suite.ts'
import { provePages } from './topics/pages.suite.ts'
import { proveRetention } from './topics/retention.suite.ts'
import { proveVersions } from './topics/versions.suite.ts'

/** What every engine must do with objects of buckets, their versions and open uploads. */
export function proveObjects({ catalog, runs }: Proof): void {
  proveVersions(catalog)
  proveRetention(catalog)
  provePages(catalog, runs)
  const usage = async (bucket: string) => {
    const [b, v] = [await catalog().bucket(bucket), await catalog().volume(`${bucket}-v`)]
    return { objects: b?.objects, bucket: b?.usedBytes, volume: v?.usedBytes, snapshots: v?.snapshotBytes }
  }

  void describe('objects', () => {
    void it('a storage class is shown wherever the object is, and stays with what snapshots show', async () => {
      await openBucket(catalog(), 'class')
      const cold = { ...draft('a1'), storageClass: 'STANDARD_IA' }
      await catalog().commit([put('class', 'a', cold), put('class', 'b', draft('b1'))])
      const epoch = await takeSnapshot(catalog(), 'class-v', 's')
      const tagged = { do: 'amend-object', bucket: 'class', key: bytes('a'), nowMs: 1, details: { tag: 'x' } } as const
      await catalog().commit([tagged])
      const asked = { bucket: 'class', prefix: bytes(''), delimiter: bytes(''), limit: 10 }
      for (const at of [{}, { at: { epoch } }]) {
        const { objects } = await catalog().list({ ...asked, ...at, after: bytes('') })
        const { versions } = await catalog().versions({ ...asked, ...at, afterKey: bytes('') })
        for (const rows of [objects, versions]) {
          assert.deepEqual(
            rows.map(({ storageClass }) => storageClass),
            ['STANDARD_IA', undefined],
          )
        }
      }
      assert.equal((await catalog().object('class', bytes('a')))?.storageClass, 'STANDARD_IA')
      await catalog().commit([put('class', 'a', draft('a2'))])
      assert.equal((await catalog().object('class', bytes('a')))?.storageClass, undefined)
      assert.equal((await catalog().object('class', bytes('a'), { epoch }))?.storageClass, 'STANDARD_IA')
    })

    void it('an object reads as it was written', async () => {
      await openBucket(catalog(), 'o1')
      const object = {
        ...draft('blob', 30, { 'content-type': 'text/plain', tags: [{ a: 'b' }] }),
        parts: [{ number: 1, sizeBytes: 30, checksum: 'abc=' }],
      }
      assert.deepEqual(await catalog().commit([put('o1', 'a/b', object)]), [{ replaced: false, version: 'null' }])
      const row = await catalog().object('o1', bytes('a/b'))
      assert.deepEqual(
        { ...row, key: text(row?.key ?? bytes('')) },
        { ...object, key: 'a/b', isMarker: false, isCurrent: true },
      )
      assert.equal(await catalog().object('o1', bytes('a')), undefined)
    })

    void it('replacing and deleting keep the sums, and free the blobs in their order', async () => {
      await openBucket(catalog(), 'o2')
      await catalog().commit([put('o2', 'k', draft('one', 10))])
      assert.deepEqual(await catalog().commit([put('o2', 'k', draft('two', 25))]), [
        { replaced: true, version: 'null' },
      ])
      assert.deepEqual(await usage('o2'), { objects: 1, bucket: 25, volume: 25, snapshots: 0 })
      const remove = { do: 'delete-object', bucket: 'o2', key: bytes('k') } as const
      assert.deepEqual(await catalog().commit([remove, remove]), [{ found: true }, { found: false }])
      assert.deepEqual(await usage('o2'), { objects: 0, bucket: 0, volume: 0, snapshots: 0 })
      assert.deepEqual(await catalog().unneededBlobs('o2-v', 10), ['one', 'two'])
      await catalog().commit([{ do: 'drop-blobs', volume: 'o2-v', blobs: ['one', 'never'] }])
      assert.deepEqual(await catalog().unneededBlobs('o2-v', 10), ['two'])
      assert.deepEqual(await catalog().knownBlobs('o2-v', ['one', 'two', 'never']), new Set(['two']))
    })

    void it('a copy shares the blob, which counts once and goes with the last of its objects', async () => {
      await openBucket(catalog(), 'o3')
      await catalog().commit([put('o3', 'a', draft('blob', 10))])
      await catalog().commit([put('o3', 'b', draft('blob', 10), { shares: true })])
      await catalog().commit([put('o3', 'b', draft('blob', 10), { shares: true })])
      assert.deepEqual(await usage('o3'), { objects: 2, bucket: 20, volume: 10, snapshots: 0 })
      await catalog().commit([{ do: 'delete-object', bucket: 'o3', key: bytes('a') }])
      assert.deepEqual(await catalog().unneededBlobs('o3-v', 10), [])
      await catalog().commit([{ do: 'drop-blobs', volume: 'o3-v', blobs: ['blob'] }])
      assert.ok((await catalog().knownBlobs('o3-v', ['blob'])).has('blob'), 'a needed blob is not dropped')
      await catalog().commit([{ do: 'delete-object', bucket: 'o3', key: bytes('b') }])
      assert.deepEqual(await catalog().unneededBlobs('o3-v', 10), ['blob'])
    })

    void it('a blob that nothing needs any more cannot be named again', async () => {
      await openBucket(catalog(), 'o4')
      await catalog().commit([put('o4', 'a', draft('gone'))])
      await catalog().commit([{ do: 'delete-object', bucket: 'o4', key: bytes('a') }])
      await refused('missing', catalog().commit([put('o4', 'b', draft('gone'))]), { scope: 'blob' })
      await refused('missing', catalog().commit([put('o4', 'b', draft('gone'), { shares: true })]), { scope: 'blob' })
      await catalog().commit([{ do: 'drop-blobs', volume: 'o4-v', blobs: ['gone'] }])
      await refused('missing', catalog().commit([put('o4', 'b', draft('gone'), { shares: true })]), { scope: 'blob' })
      assert.deepEqual(await listed(catalog(), 'o4'), [])
    })

    void it('conditions hold for writes and deletes alike', async () => {
      await openBucket(catalog(), 'o5')
      const attempts = (condition: WriteCondition): Change[] => [
        put('o5', 'k', draft('other'), { condition }),
        { do: 'delete-object', bucket: 'o5', key: bytes('k'), condition },
      ]
      for (const change of attempts({ ifMatch: ['*'] })) await refused('absent', catalog().commit([change]))
      await catalog().commit([put('o5', 'k', draft('etag'), { condition: { ifNoneMatch: ['*'] } })])
      for (const change of attempts({ ifNoneMatch: ['*'] })) await refused('condition', catalog().commit([change]))
      for (const change of attempts({ ifNoneMatch: ['x', 'etag'] }))
        await refused('condition', catalog().commit([change]))
      for (const change of attempts({ ifMatch: ['x', 'y'] })) await refused('condition', catalog().commit([change]))
      assert.deepEqual(await listed(catalog(), 'o5'), ['k=etag'])
      await catalog().commit([
        put('o5', 'k', draft('new'), { condition: { ifMatch: ['x', 'etag'], ifNoneMatch: ['z'] } }),
      ])
      const condition = { ifMatch: ['new'] }
      await catalog().commit([{ do: 'delete-object', bucket: 'o5', key: bytes('k'), condition }])
    })

    void it('what is not there is missing', async () => {
      await refused('missing', catalog().commit([put('never', 'k', draft('b'))]))
      await refused('missing', catalog().commit([{ do: 'delete-object', bucket: 'never', key: bytes('k') }]))
      await refused('missing', catalog().commit([{ do: 'open-bucket', bucket: 'x', volume: 'never', limitBytes: 1 }]))
      await refused('missing', catalog().commit([{ do: 'take-snapshot', volume: 'never', snapshot: 's', nowMs: 1 }]))
      await refused('missing', catalog().commit([{ do: 'limit-bucket', bucket: 'never', limitBytes: 1 }]))
      await openBucket(catalog(), 'o6')
      const putPart = { do: 'put-part', bucket: 'o6', upload: 'never', part: part(1, 'b'), maxTotalBytes: 100 } as const
      await refused('missing', catalog().commit([putPart]))
      assert.deepEqual(await page(catalog(), 'never'), { objects: [], prefixes: [] })
      assert.equal(await catalog().volume('never'), undefined)
      assert.equal(await catalog().bucket('never'), undefined)
    })

    void it('of writers at the edge of a limit exactly those that fit are taken', async () => {
      for (const [name, volumeBytes, bucketBytes, scope] of [
        ['o7', 95, 1000, 'volume'],
        ['o8', 1000, 95, 'bucket'],
      ] as const) {
        await openBucket(catalog(), name, volumeBytes, bucketBytes)
        const attempts = Array.from({ length: 30 }, (_, i) =>
          catalog().commit([put(name, `k${i}`, draft(`b${i}`, 10))]),
        )
        const settled = await Promise.allSettled(attempts)
        assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 9)
        await refused('full', catalog().commit([put(name, 'more', draft('more', 6))]), { scope })
        await catalog().commit([put(name, 'more', draft('more2', 5))])
        assert.equal((await catalog().bucket(name))?.usedBytes, 95)
        assert.equal((await catalog().volume(`${name}-v`))?.usedBytes, 95)
        await catalog().commit([put(name, 'k-none', draft('', 0)), put(name, 'more', draft('more3', 4))])
      }
    })

    void it('a volume or bucket cannot become smaller than what it holds', async () => {
      await openBucket(catalog(), 'o9', 100, 100)
      await catalog().commit([put('o9', 'k', draft('b', 50))])
      const resize = (sizeBytes: number) => catalog().commit([{ do: 'resize-volume', volume: 'o9-v', sizeBytes }])
      const limit = (limitBytes: number) => catalog().commit([{ do: 'limit-bucket', bucket: 'o9', limitBytes }])
      await refused('full', resize(49), { scope: 'volume' })
      await refused('full', limit(49), { scope: 'bucket' })
      await resize(50)
      await limit(50)
      assert.equal((await catalog().volume('o9-v'))?.sizeBytes, 50)
      assert.equal((await catalog().bucket('o9'))?.limitBytes, 50)
      await refused('full', catalog().commit([put('o9', 'l', draft('c', 1))]))
      await resize(51)
      await limit(51)
      await catalog().commit([put('o9', 'l', draft('c', 1))])
    })

    void it('what is reserved for snapshots is not for objects, and what snapshots need beyond it is', async () => {
      await openBucket(catalog(), 'o12', 100)
      const resize = (sizeBytes: number, reserveBytes?: number) =>
        catalog().commit([
          { do: 'resize-volume', volume: 'o12-v', sizeBytes, ...(reserveBytes === undefined ? {} : { reserveBytes }) },
        ])
      await resize(100, 30)
      await refused('full', catalog().commit([put('o12', 'a', draft('a', 71))]), { scope: 'volume' })
      await catalog().commit([put('o12', 'a', draft('a1', 40)), put('o12', 'b', draft('b1', 30))])
      await catalog().commit([{ do: 'take-snapshot', volume: 'o12-v', snapshot: 's', nowMs: 1 }])
      await catalog().commit([put('o12', 'b', draft('b2', 30))])
      await catalog().commit([{ do: 'delete-object', bucket: 'o12', key: bytes('a') }])
      // Of what the snapshot alone holds, 30 are in the reserve, and 40 are not.
      await refused('full', catalog().commit([put('o12', 'a', draft('a2', 1))]), { scope: 'volume' })
      await refused('full', resize(99))
      await catalog().commit([{ do: 'drop-snapshot', volume: 'o12-v', snapshot: 's' }])
      await reclaimAll(catalog(), 'o12-v')
      await refused('full', resize(59), { scope: 'volume' })
      await resize(60)
      assert.equal((await catalog().volume('o12-v'))?.reserveBytes, 30)
      await refused('full', catalog().commit([put('o12', 'c', draft('c1', 1))]), { scope: 'volume' })
      await resize(60, 29)
      await catalog().commit([put('o12', 'c', draft('c2', 1))])
    })

    void it('a bucket with objects or uploads stays, and so does a volume with buckets', async () => {
      await openBucket(catalog(), 'o10')
      const closeBucket = () => catalog().commit([{ do: 'close-bucket', bucket: 'o10' }])
      const closeVolume = () => catalog().commit([{ do: 'close-volume', volume: 'o10-v' }])
      await catalog().commit([put('o10', 'k', draft('b'))])
      await refused('not-empty', closeBucket())
      await refused('not-empty', closeVolume())
      await catalog().commit([{ do: 'delete-object', bucket: 'o10', key: bytes('k') }])
      const upload = { upload: 'u', key: bytes('k'), startedMs: 1, details: {} }
      await catalog().commit([{ do: 'open-upload', bucket: 'o10', upload }])
      await refused('not-empty', closeBucket())
      await catalog().commit([{ do: 'abort-upload', bucket: 'o10', upload: 'u' }])
      await closeBucket()
      await closeBucket()
      assert.equal(await catalog().bucket('o10'), undefined)
      assert.ok(!(await catalog().buckets()).has('o10'))
      await closeVolume()
      await closeVolume()
      assert.ok(!(await catalog().volumes()).has('o10-v'))
      assert.deepEqual(await catalog().knownBlobs('o10-v', ['b']), new Set())
      await openBucket(catalog(), 'o10')
      assert.deepEqual(await usage('o10'), { objects: 0, bucket: 0, volume: 0, snapshots: 0 })
    })

    void it('opening a volume or bucket again changes nothing', async () => {
      await openBucket(catalog(), 'o11', 100, 50)
      await openBucket(catalog(), 'o11', 7, 7)
      assert.equal((await catalog().volume('o11-v'))?.sizeBytes, 100)
      assert.equal((await catalog().bucket('o11'))?.limitBytes, 50)
      await catalog().commit([{ do: 'open-volume', volume: 'o11-w', sizeBytes: 9 }])
      const elsewhere = { do: 'open-bucket', bucket: 'o11', volume: 'o11-w', limitBytes: 1 } as const
      await refused('exists', catalog().commit([elsewhere]))
    })
  })

  void describe('multipart uploads', () => {
    const open = (bucket: string, upload: string, key = 'k') =>
      catalog().commit([
        { do: 'open-upload', bucket, upload: { upload, key: bytes(key), startedMs: 7, details: { a: 'b' } } },
      ])
    const putPart = (bucket: string, upload: string, number: number, blob: string, size = 10, maxTotalBytes = 1000) =>
      catalog().commit([{ do: 'put-part', bucket, upload, part: part(number, blob, size), maxTotalBytes }])

    void it('parts count while the upload is open; the object is made of those named, in order', async () => {
      await openBucket(catalog(), 'm1')
      await open('m1', 'u')
      for (const [number, blob] of [
        [3, 'c'],
        [1, 'a'],
        [2, 'b'],
      ] as const)
        await putPart('m1', 'u', number, blob)
      await putPart('m1', 'u', 2, 'b2', 20)
      assert.deepEqual(await usage('m1'), { objects: 0, bucket: 40, volume: 40, snapshots: 0 })
      assert.deepEqual(
        (await catalog().parts('m1', 'u', 1, 1)).map(({ number, etag }) => [number, etag]),
        [[2, 'b2']],
      )
      const named = [
        { number: 1, etag: 'a' },
        { number: 2, etag: 'b2' },
      ]
      const complete = {
        do: 'complete-upload',
        bucket: 'm1',
        upload: 'u',
        parts: named,
        object: draft('whole', 0),
      } as const
      assert.deepEqual(await catalog().commit([complete]), [{ replaced: false, version: 'null' }])
      const row = await catalog().object('m1', bytes('k'))
      assert.deepEqual(row?.blobs, [
        { blob: 'a', sizeBytes: 10 },
        { blob: 'b2', sizeBytes: 20 },
      ])
      assert.equal(row.sizeBytes, 30)
      assert.equal(row.etag, 'whole')
      assert.deepEqual(await usage('m1'), { objects: 1, bucket: 30, volume: 30, snapshots: 0 })
      assert.deepEqual(await catalog().unneededBlobs('m1-v', 10), ['b', 'c'])
      assert.equal(await catalog().upload('m1', 'u'), undefined)
      await refused('missing', catalog().commit([complete]))
    })

    void it('a part that is not there with its ETag refuses the completion and leaves the upload', async () => {
      await openBucket(catalog(), 'm2')
      await open('m2', 'u')
      await putPart('m2', 'u', 1, 'a')
      const complete = (parts: { number: number; etag: string }[], condition?: WriteCondition) =>
        catalog().commit([
          {
            do: 'complete-upload',
            bucket: 'm2',
            upload: 'u',
            parts,
            object: draft('w', 10),
            ...(condition === undefined ? {} : { condition }),
          },
        ])
      await refused('parts', complete([{ number: 1, etag: 'x' }]), { scope: '1' })
      await refused(
        'parts',
        complete([
          { number: 1, etag: 'a' },
          { number: 2, etag: 'a' },
        ]),
        { scope: '2' },
      )
      await refused('absent', complete([{ number: 1, etag: 'a' }], { ifMatch: ['*'] }))
      assert.equal((await catalog().parts('m2', 'u', 0, 10)).length, 1)
      await complete([{ number: 1, etag: 'a' }], { ifNoneMatch: ['*'] })
    })

    void it('parts are refused beyond the largest object, the bucket and the volume', async () => {
      await openBucket(catalog(), 'm3', 100, 60)
      await open('m3', 'u')
      await refused('too-large', putPart('m3', 'u', 1, 'a', 50, 49))
      await putPart('m3', 'u', 1, 'a', 50, 50)
      await putPart('m3', 'u', 1, 'a1', 50, 50)
      await refused('too-large', putPart('m3', 'u', 2, 'b', 1, 50))
      await refused('full', putPart('m3', 'u', 2, 'b', 11), { scope: 'bucket' })
      await catalog().commit([{ do: 'limit-bucket', bucket: 'm3', limitBytes: 1000 }])
      await refused('full', putPart('m3', 'u', 2, 'b', 51), { scope: 'volume' })
      await putPart('m3', 'u', 2, 'b', 50)
      assert.deepEqual(await usage('m3'), { objects: 0, bucket: 100, volume: 100, snapshots: 0 })
    })

    void it('giving up an upload frees its parts; giving up what is not there is fine', async () => {
      await openBucket(catalog(), 'm4')
      await open('m4', 'u')
      await putPart('m4', 'u', 1, 'a')
      const abort = { do: 'abort-upload', bucket: 'm4', upload: 'u' } as const
      assert.deepEqual(await catalog().commit([abort, abort]), [{ found: true }, { found: false }])
      assert.deepEqual(await usage('m4'), { objects: 0, bucket: 0, volume: 0, snapshots: 0 })
      assert.deepEqual(await catalog().unneededBlobs('m4-v', 10), ['a'])
    })

    void it('open uploads are told in the order of key and upload, from a position on', async () => {
      await openBucket(catalog(), 'm5')
      for (const [key, upload] of [
        ['b', 'u1'],
        ['a', 'u2'],
        ['b', 'u0'],
        ['a\xff', 'u3'],
      ] as const) {
        await open('m5', upload, key)
      }
      const all = await catalog().uploads('m5', undefined, 10)
      assert.deepEqual(
        all.map(({ upload }) => upload),
        ['u2', 'u3', 'u0', 'u1'],
      )
      const rest = await catalog().uploads('m5', { key: bytes('b'), upload: 'u0' }, 10)
      assert.deepEqual(
        rest.map(({ upload }) => upload),
        ['u1'],
      )
      const one = await catalog().upload('m5', 'u2')
      assert.deepEqual(
        { ...one, key: text(one?.key ?? bytes('')) },
        { upload: 'u2', key: 'a', startedMs: 7, details: { a: 'b' } },
      )
    })
  })
}
