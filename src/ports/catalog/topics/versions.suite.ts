import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Catalog, Change, DeleteCondition } from '../../catalog.ts'
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
  setVersioning,
  shortly,
  takeSnapshot,
  text,
  versionsListed,
} from '../fixtures.suite.ts'

export function proveVersions(catalog: () => Catalog): void {
  const commit = (...changes: Change[]) => catalog().commit(changes)
  const version = (key: string, id: string, bucket: string, sizeBytes = 10) =>
    put(bucket, key, { ...draft(`${bucket}:${id}`, sizeBytes), version: id, modifiedMs: Number(id.slice(1)) * 1000 })
  const mark = (bucket: string, key: string, id: string): Change => ({
    do: 'delete-object',
    bucket,
    key: bytes(key),
    marker: { version: id, modifiedMs: Number(id.slice(1)) * 1000 },
  })
  const drop = (bucket: string, key: string, id: string, condition?: DeleteCondition): Change => ({
    do: 'delete-object',
    bucket,
    key: bytes(key),
    version: id,
    ...(condition === undefined ? {} : { condition }),
  })
  const counts = async (bucket: string) => {
    const counters = await catalog().bucket(bucket)
    return [counters?.objects, counters?.versions, counters?.usedBytes]
  }
  const open = async (bucket: string) => {
    await openBucket(catalog(), bucket)
    await setVersioning(catalog(), bucket, 'enabled')
  }

  void describe('versions', () => {
    void it('the versioning of a bucket is told, and goes with it', async () => {
      await openBucket(catalog(), 'v1')
      const state = async () => (await catalog().bucket('v1'))?.versioning
      assert.equal(await state(), 'off')
      await setVersioning(catalog(), 'v1', 'enabled')
      assert.equal(await state(), 'enabled')
      await setVersioning(catalog(), 'v1', 'suspended')
      assert.equal((await catalog().buckets()).get('v1')?.versioning, 'suspended')
      await commit({ do: 'close-bucket', bucket: 'v1' })
      await openBucket(catalog(), 'v1')
      assert.equal(await state(), 'off')
      await refused('missing', commit({ do: 'version-bucket', bucket: 'never', state: 'enabled' }))
    })

    void it('while enabled, every write adds a row, and all of them count', async () => {
      await open('v2')
      assert.deepEqual(await commit(version('k', 'v1', 'v2'), version('k', 'v2', 'v2', 20)), [
        { replaced: false, version: 'v1' },
        { replaced: true, version: 'v2' },
      ])
      assert.deepEqual(await versionsListed(catalog(), 'v2'), ['k@v2*=v2:v2', 'k@v1=v2:v1'])
      assert.deepEqual(await listed(catalog(), 'v2'), ['k=v2:v2'])
      assert.deepEqual(await counts('v2'), [1, 1, 30])
      assert.equal((await catalog().volume('v2-v'))?.usedBytes, 30)
      await refused('exists', commit(version('k', 'v1', 'v2')), { scope: 'version' })
      await refused('missing', commit(put('v2', 'k', draft('n'))), { scope: 'version' })
    })

    void it('a delete adds a marker, also for a key that is not there; the key then has no object', async () => {
      await open('v3')
      await commit(version('k', 'v1', 'v3'))
      assert.deepEqual(await commit(mark('v3', 'k', 'v2'), mark('v3', 'n', 'v3'), mark('v3', 'k', 'v4')), [
        { found: true, marker: true, version: 'v2' },
        { found: false, marker: true, version: 'v3' },
        { found: false, marker: true, version: 'v4' },
      ])
      assert.deepEqual(await versionsListed(catalog(), 'v3'), ['k@v4*!', 'k@v2!', 'k@v1=v3:v1', 'n@v3*!'])
      assert.deepEqual(await listed(catalog(), 'v3'), [])
      assert.deepEqual(await counts('v3'), [0, 4, 10])
      const row = await catalog().object('v3', bytes('k'))
      assert.deepEqual([row?.isMarker, row?.isCurrent, row?.version, row?.modifiedMs], [true, true, 'v4', 4000])
      await refused(
        'absent',
        commit(put('v3', 'k', { ...draft('x'), version: 'v9' }, { condition: { ifMatch: ['*'] } })),
      )
      await commit({ ...version('k', 'v5', 'v3'), condition: { ifNoneMatch: ['*'] } })
      assert.deepEqual(await counts('v3'), [1, 4, 20])
      await refused('missing', commit({ do: 'delete-object', bucket: 'v3', key: bytes('k') }), { scope: 'marker' })
    })

    void it('a version can be deleted on condition that a newer one hides it, be it an object or a marker', async () => {
      await open('v40')
      const hidden = { ifNoncurrent: true }
      await commit(version('k', 'v1', 'v40'), mark('v40', 'k', 'v2'), version('k', 'v3', 'v40'))
      await refused('condition', commit(drop('v40', 'k', 'v3', hidden)))
      assert.deepEqual(await commit(drop('v40', 'k', 'v2', hidden)), [{ found: true, marker: true, version: 'v2' }])
      await refused('absent', commit(drop('v40', 'k', 'v2', hidden)))
      await commit(drop('v40', 'k', 'v3'))
      await refused('condition', commit(drop('v40', 'k', 'v1', hidden)))
      assert.deepEqual(await versionsListed(catalog(), 'v40'), ['k@v1*=v40:v1'])
    })

    void it('deleting a version removes that row and no other; the one before is current again', async () => {
      await open('v4')
      await commit(version('k', 'v1', 'v4'), version('k', 'v2', 'v4'), mark('v4', 'k', 'v3'))
      assert.deepEqual(await commit(drop('v4', 'k', 'v3')), [{ found: true, marker: true, version: 'v3' }])
      assert.deepEqual(await listed(catalog(), 'v4'), ['k=v4:v2'])
      assert.deepEqual(await commit(drop('v4', 'k', 'v2')), [{ found: true, marker: false, version: 'v2' }])
      assert.deepEqual(await versionsListed(catalog(), 'v4'), ['k@v1*=v4:v1'])
      assert.deepEqual(await commit(drop('v4', 'k', 'v2')), [{ found: false }])
      assert.deepEqual(await counts('v4'), [1, 0, 10])
      assert.deepEqual(await catalog().unneededBlobs('v4-v', 9), ['v4:v2'])
      await refused('not-empty', commit({ do: 'close-bucket', bucket: 'v4' }))
      await commit(mark('v4', 'k', 'v4'), drop('v4', 'k', 'v1'))
      await refused('not-empty', commit({ do: 'close-bucket', bucket: 'v4' }))
      await commit(drop('v4', 'k', 'v4'), { do: 'close-bucket', bucket: 'v4' })
    })

    void it('while suspended, writes and deletes replace the row null wherever it stands, and leave the others', async () => {
      await openBucket(catalog(), 'v5')
      await commit(put('v5', 'k', draft('v5:old', 5)))
      await setVersioning(catalog(), 'v5', 'enabled')
      await commit(version('k', 'v1', 'v5'), version('l', 'v2', 'v5'))
      assert.equal((await catalog().object('v5', bytes('k'), undefined, 'null'))?.isCurrent, false)
      await setVersioning(catalog(), 'v5', 'suspended')
      assert.deepEqual(await commit(put('v5', 'k', { ...draft('v5:new', 7), version: 'v8' })), [
        { replaced: true, version: 'null' },
      ])
      assert.deepEqual(await versionsListed(catalog(), 'v5', { prefix: 'k' }), ['k@null*=v5:new', 'k@v1=v5:v1'])
      assert.deepEqual(await counts('v5'), [2, 1, 27])
      assert.deepEqual(await commit(mark('v5', 'k', 'v9'), mark('v5', 'l', 'v9')), [
        { found: true, marker: true, version: 'null' },
        { found: true, marker: true, version: 'null' },
      ])
      const expected = ['k@null*!', 'k@v1=v5:v1', 'l@null*!', 'l@v2=v5:v2']
      assert.deepEqual(await versionsListed(catalog(), 'v5', { limit: 1 }), expected)
      await setVersioning(catalog(), 'v5', 'enabled')
      await commit(version('k', 'v3', 'v5'), drop('v5', 'k', 'null'))
      assert.deepEqual(await versionsListed(catalog(), 'v5', { prefix: 'k' }), ['k@v3*=v5:v3', 'k@v1=v5:v1'])
    })

    void it('conditions of a delete may name size and time, and look at the version it names', async () => {
      await open('v6')
      await commit(version('k', 'v1', 'v6', 11), version('k', 'v2', 'v6', 12))
      await refused('condition', commit(drop('v6', 'k', 'v1', { ifMatch: ['v6:v2'] })))
      await refused('condition', commit(drop('v6', 'k', 'v1', { ifSizeBytes: 12 })))
      await refused('condition', commit(drop('v6', 'k', 'v1', { ifModifiedMs: 2000 })))
      await refused('absent', commit(drop('v6', 'k', 'v9', { ifSizeBytes: 11 })))
      const condition = { ifMatch: ['v6:v1'], ifSizeBytes: 11, ifModifiedMs: 1999 }
      await commit(drop('v6', 'k', 'v1', condition))
      await refused('condition', commit({ ...mark('v6', 'k', 'v3'), condition } as Change))
      await commit({ ...mark('v6', 'k', 'v3'), condition: { ifMatch: ['*'], ifSizeBytes: 12 } } as Change)
      await refused('absent', commit({ ...mark('v6', 'k', 'v4'), condition: { ifMatch: ['*'] } } as Change))
    })

    void it('a completed upload becomes a version', async () => {
      await open('v7')
      await commit(version('k', 'v1', 'v7'))
      const upload = { upload: 'u', key: bytes('k'), startedMs: 7, details: {} }
      await commit({ do: 'open-upload', bucket: 'v7', upload })
      await commit({ do: 'put-part', bucket: 'v7', upload: 'u', part: part(1, 'v7:p', 30), maxTotalBytes: 99 })
      const parts = [{ number: 1, etag: 'v7:p' }]
      const object = { ...draft('v7:whole', 0), version: 'v2' }
      assert.deepEqual(await commit({ do: 'complete-upload', bucket: 'v7', upload: 'u', parts, object }), [
        { replaced: true, version: 'v2' },
      ])
      assert.deepEqual(await versionsListed(catalog(), 'v7'), ['k@v2*=v7:whole', 'k@v1=v7:v1'])
      assert.deepEqual(await counts('v7'), [1, 1, 40])
    })

    void it('a limit counts all versions', async () => {
      await openBucket(catalog(), 'v8', 1000, 25)
      await setVersioning(catalog(), 'v8', 'enabled')
      await commit(version('k', 'v1', 'v8'), version('k', 'v2', 'v8'))
      await refused('full', commit(version('k', 'v3', 'v8')), { scope: 'bucket' })
      await commit(mark('v8', 'k', 'v4'), drop('v8', 'k', 'v1'), version('k', 'v3', 'v8'))
    })

    void it('a snapshot shows the versions and markers of its time', async () => {
      await open('v9')
      await commit(version('k', 'v1', 'v9'), version('k', 'v2', 'v9'), version('l', 'v3', 'v9'), mark('v9', 'l', 'v4'))
      const epoch = await takeSnapshot(catalog(), 'v9-v', 's')
      const then = ['k@v2*=v9:v2', 'k@v1=v9:v1', 'l@v4*!', 'l@v3=v9:v3']
      await commit(drop('v9', 'k', 'v2'), version('k', 'v5', 'v9'), drop('v9', 'l', 'v4'), drop('v9', 'l', 'v3'))
      for (const limit of [1, 2, 3, 1000]) {
        assert.deepEqual(await versionsListed(catalog(), 'v9', { epoch, limit }), then)
        assert.deepEqual(await versionsListed(catalog(), 'v9', { limit }), ['k@v5*=v9:v5', 'k@v1=v9:v1'])
      }
      assert.deepEqual(await listed(catalog(), 'v9', { epoch }), ['k=v9:v2'])
      const at = async (key: string, id?: string) => {
        const row = await catalog().object('v9', bytes(key), { epoch }, id)
        return row === undefined ? undefined : [row.version, row.isCurrent, row.isMarker]
      }
      assert.deepEqual(await at('k'), ['v2', true, false])
      assert.deepEqual(await at('k', 'v1'), ['v1', false, false])
      assert.deepEqual(await at('l'), ['v4', true, true])
      assert.equal(await at('k', 'v5'), undefined)
      assert.deepEqual(await counts('v9'), [1, 1, 20])
      await commit({ do: 'drop-snapshot', volume: 'v9-v', snapshot: 's' })
      assert.equal(await reclaimAll(catalog(), 'v9-v'), 3)
    })
  })

  void describe('listings of versions', () => {
    void it('a page goes on amid a key by key and version, also when that row has been deleted', async () => {
      await open('w1')
      await commit(...[1, 2, 3, 4, 5].map((n) => version('k', `v${n}`, 'w1')), version('l', 'v6', 'w1'))
      const first = await catalog().scan('w1', undefined, 2)
      assert.deepEqual(first.rows.map(shortly), ['k@v5*=w1:v5', 'k@v4=w1:v4'])
      await commit(drop('w1', 'k', 'v4'))
      const second = await catalog().scan('w1', first.next, 2)
      assert.deepEqual(
        second.rows.map((row) => [row.version, row.noncurrentSinceMs]),
        [
          ['v3', 5000],
          ['v2', 3000],
        ],
      )
      const query = { bucket: 'w1', prefix: bytes(''), delimiter: bytes(''), limit: 9 }
      const gone = await catalog().versions({ ...query, afterKey: bytes('k'), afterVersion: 'v4' })
      assert.deepEqual(
        gone.versions.map((row) => row.version),
        ['v5', 'v3', 'v2', 'v1', 'v6'],
      )
      const behind = await catalog().versions({ ...query, afterKey: bytes('k') })
      assert.deepEqual(behind.versions.map(shortly), ['l@v6*=w1:v6'])
      await commit(drop('w1', 'k', 'v5'))
      const last = await catalog().scan('w1', first.next, 1)
      assert.deepEqual(last.rows.map(shortly), ['k@v3*=w1:v3'], 'what came behind a row may be current since')
    })

    void it('keys fold into common prefixes, also those that are all deleted; listings of objects do not show these', async () => {
      await open('w2')
      await commit(mark('w2', 'a/1', 'v1'), version('b/1', 'v2', 'w2'), mark('w2', 'b/1', 'v3'))
      await commit(version('b/2', 'v4', 'w2'), mark('w2', 'c', 'v5'), version('d', 'v6', 'w2'))
      const rows = ['a/…', 'b/…', 'c@v5*!', 'd@v6*=w2:v6']
      assert.deepEqual(await versionsListed(catalog(), 'w2', { delimiter: '/', limit: 1 }), rows)
      assert.deepEqual(await listed(catalog(), 'w2', { delimiter: '/', limit: 1 }), ['b/…', 'd=w2:v6'])
      assert.equal((await page(catalog(), 'w2', { delimiter: '/', limit: 2 })).next, undefined)
    })

    void it('very many markers in a row cost a page nothing; at a snapshot they end it, and it says where it goes on', async () => {
      await open('w3')
      const keys = Array.from({ length: 2500 }, (_, i) => `d/${String(i).padStart(4, '0')}`)
      await commit(...keys.map((key) => mark('w3', key, 'v1')), version('d/9', 'v2', 'w3'), version('e', 'v3', 'w3'))
      const whole = await page(catalog(), 'w3', { delimiter: '/' })
      assert.deepEqual([whole.objects.length, whole.prefixes.map(text), whole.next], [1, ['d/'], undefined])
      const epoch = await takeSnapshot(catalog(), 'w3-v', 's')
      const folded = await page(catalog(), 'w3', { delimiter: '/', epoch })
      assert.deepEqual([folded.objects, folded.prefixes, folded.within], [[], [], true])
      assert.ok(folded.next !== undefined && text(folded.next).startsWith('d/'))
      assert.deepEqual(await listed(catalog(), 'w3', { delimiter: '/', epoch }), ['d/…', 'e=w3:v3'].toReversed())
      for (const at of [{}, { epoch }]) {
        assert.deepEqual(await listed(catalog(), 'w3', { delimiter: '/', limit: 1, ...at }), ['d/…', 'e=w3:v3'])
        assert.deepEqual(await listed(catalog(), 'w3', at), ['d/9=w3:v2', 'e=w3:v3'])
        assert.deepEqual((await page(catalog(), 'w3', { prefix: 'd/', ...at })).within, undefined)
      }
    })

    void it('a bucket that gets versions when it holds objects, loses them to markers and gets some back shows what it has', async () => {
      await openBucket(catalog(), 'w4')
      const keys = Array.from({ length: 60 }, (_, i) => `k${String(i).padStart(2, '0')}`)
      await commit(...keys.map((key) => put('w4', key, draft('w4:null'))))
      await commit({ do: 'version-bucket', bucket: 'w4', state: 'enabled' })
      await commit(...keys.slice(5, 55).map((key) => mark('w4', key, 'v1')))
      const shown = async () => (await listed(catalog(), 'w4')).map((entry) => entry.slice(0, 3))
      assert.deepEqual(await shown(), [...keys.slice(0, 5), ...keys.slice(55)])
      await commit(drop('w4', 'k30', 'v1'), version('k40', 'v2', 'w4'), mark('w4', 'k58', 'v2'))
      await commit({ do: 'version-bucket', bucket: 'w4', state: 'suspended' })
      await commit(put('w4', 'k20', draft('w4:again')), mark('w4', 'k59', 'v3'))
      const left = [...keys.slice(0, 5), 'k20', 'k30', 'k40', 'k55', 'k56', 'k57']
      assert.deepEqual(await shown(), left)
    })
  })
}
