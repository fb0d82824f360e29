import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Catalog, Change } from '../../catalog.ts'
import { bytes, draft, listed, openBucket, part, put, refused, takeSnapshot } from '../fixtures.suite.ts'

export function proveReadOnly(catalog: () => Catalog, reopen: () => Promise<Catalog>): void {
  const protect = (volume: string, isReadOnly: boolean) =>
    catalog().commit([{ do: 'protect-volume', volume, isReadOnly }])

  /** Everything that a client or an administrator could want to change in the volume `<bucket>-v`. */
  const changes = (bucket: string): Change[] => [
    put(bucket, 'b', draft('b1')),
    { do: 'delete-object', bucket, key: bytes('a') },
    { do: 'amend-object', bucket, key: bytes('a'), nowMs: 1, legalHold: true },
    { do: 'open-upload', bucket, upload: { key: bytes('u'), upload: 'other', startedMs: 1, details: {} } },
    { do: 'put-part', bucket, upload: 'open', part: part(2, `${bucket}-p2`), maxTotalBytes: 1000 },
    {
      do: 'complete-upload',
      bucket,
      upload: 'open',
      parts: [{ number: 1, etag: `${bucket}-p1` }],
      object: draft('whole', 0),
    },
    { do: 'abort-upload', bucket, upload: 'open' },
    { do: 'limit-bucket', bucket, limitBytes: 5000 },
    { do: 'version-bucket', bucket, state: 'enabled' },
    { do: 'open-bucket', bucket: `${bucket}-second`, volume: `${bucket}-v`, limitBytes: 1000 },
    { do: 'close-bucket', bucket: `${bucket}-empty` },
    { do: 'take-snapshot', volume: `${bucket}-v`, snapshot: 'second', nowMs: 1 },
    { do: 'drop-snapshot', volume: `${bucket}-v`, snapshot: 'first' },
    { do: 'begin-restore', volume: `${bucket}-v`, snapshot: 'first' },
  ]

  async function prepare(bucket: string): Promise<void> {
    await openBucket(catalog(), bucket)
    await catalog().commit([
      { do: 'open-bucket', bucket: `${bucket}-empty`, volume: `${bucket}-v`, limitBytes: 1000 },
      put(bucket, 'a', draft(`${bucket}-a1`)),
      { do: 'open-upload', bucket, upload: { key: bytes('u'), upload: 'open', startedMs: 1, details: {} } },
      { do: 'put-part', bucket, upload: 'open', part: part(1, `${bucket}-p1`), maxTotalBytes: 1000 },
    ])
    await takeSnapshot(catalog(), `${bucket}-v`, 'first')
  }

  void describe('read-only volumes', () => {
    void it('nothing in a read-only volume is changed, also after a restart, and it is read as ever', async () => {
      await prepare('ro1')
      await protect('ro1-v', true)
      await protect('ro1-v', true)
      for (const change of changes('ro1')) await refused('read-only', catalog().commit([change]))
      await reopen()
      for (const change of changes('ro1')) await refused('read-only', catalog().commit([change]))
      assert.deepEqual(await listed(catalog(), 'ro1'), ['a=ro1-a1'])
      assert.equal((await catalog().snapshots('ro1-v')).length, 1)
    })

    void it('a commit of replication changes it, and only that commit and only that volume', async () => {
      for (const [n, change] of changes('ro0').entries()) {
        const bucket = `ro2-${n}`
        await prepare(bucket)
        await prepare(`${bucket}-other`)
        await protect(`${bucket}-v`, true)
        await protect(`${bucket}-other-v`, true)
        const wanted = changes(bucket)[n] ?? change
        const replicate: Change = { do: 'replicate-into', volume: `${bucket}-v` }
        await refused('read-only', catalog().commit([wanted, replicate]), { change: 0 })
        const elsewhere: Change = { do: 'replicate-into', volume: `${bucket}-other-v` }
        await refused('read-only', catalog().commit([elsewhere, wanted]), { change: 1 })
        await catalog().commit([replicate, wanted])
        await refused('read-only', catalog().commit([put(bucket, 'after', draft('after'))]))
      }
    })

    void it('it takes changes again when it is not read-only any more', async () => {
      await prepare('ro3')
      await protect('ro3-v', true)
      await protect('ro3-v', false)
      await catalog().commit([put('ro3', 'b', draft('ro3-b1'))])
      assert.deepEqual(await listed(catalog(), 'ro3'), ['a=ro3-a1', 'b=ro3-b1'])
    })

    void it('its size changes, and it is closed like any other', async () => {
      const volume = 'ro4-v'
      await catalog().commit([{ do: 'open-volume', volume, sizeBytes: 1000 }])
      await protect(volume, true)
      await catalog().commit([{ do: 'resize-volume', volume, sizeBytes: 2000 }])
      assert.equal((await catalog().volume(volume))?.sizeBytes, 2000)
      await catalog().commit([{ do: 'close-volume', volume }])
      assert.equal(await catalog().volume(volume), undefined)
    })

    void it('a volume on its way back to a snapshot does not become read-only half way', async () => {
      await prepare('ro5')
      await catalog().commit([{ do: 'begin-restore', volume: 'ro5-v', snapshot: 'first' }])
      await refused('restoring', protect('ro5-v', true))
      await refused('missing', protect('none', true))
    })
  })
}
