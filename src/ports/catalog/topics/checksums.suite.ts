/** The checksums of blobs, which go wherever rows name the blobs. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BlobDraft, Catalog, ObjectDraft } from '../../catalog.ts'
import { cloneOf } from './clones.suite.ts'
import { bytes, draft, openBucket, part, put, setVersioning, takeSnapshot } from '../fixtures.suite.ts'

/** The greatest there is, and one that is nothing. */
const [CRC, ZERO] = [4_294_967_295, 0]

function object(blobs: readonly BlobDraft[]): ObjectDraft {
  return { ...draft(blobs[0]?.blob ?? '', 10), blobs }
}

export function proveChecksums(catalog: () => Catalog): void {
  void describe('checksums of blobs', () => {
    void it('rows, versions and snapshots name blobs with them, and without where they are not known', async () => {
      await openBucket(catalog(), 'crc1')
      await setVersioning(catalog(), 'crc1', 'enabled')
      const blobs = [
        { blob: 'crc1-a', sizeBytes: 4, crc: CRC },
        { blob: 'crc1-b', sizeBytes: 3 },
        { blob: 'crc1-c', sizeBytes: 3, crc: ZERO },
      ]
      await catalog().commit([put('crc1', 'k', { ...object(blobs), version: 'v1' })])
      const epoch = await takeSnapshot(catalog(), 'crc1-v', 's')
      await catalog().commit([put('crc1', 'k', { ...draft('crc1-d'), version: 'v2' })])
      assert.deepEqual((await catalog().object('crc1', bytes('k'), undefined, 'v1'))?.blobs, blobs)
      assert.deepEqual((await catalog().object('crc1', bytes('k'), { epoch }))?.blobs, blobs)
      const { rows } = await catalog().scan('crc1', undefined, 10)
      assert.deepEqual(rows[1]?.blobs, blobs)
      assert.equal((await catalog().object('crc1', bytes('k')))?.blobs[0]?.crc, undefined)
    })

    void it('parts have them, and so has the object that is made of the parts', async () => {
      await openBucket(catalog(), 'crc2')
      const blobs = [{ blob: 'crc2-a', sizeBytes: 10, crc: CRC }]
      const upload = { upload: 'u', key: bytes('k'), startedMs: 1, details: {} }
      await catalog().commit([
        { do: 'open-upload', bucket: 'crc2', upload },
        { do: 'put-part', bucket: 'crc2', upload: 'u', part: { ...part(1, 'crc2-a'), blobs }, maxTotalBytes: 100 },
      ])
      assert.deepEqual((await catalog().parts('crc2', 'u', 0, 10))[0]?.blobs, blobs)
      const parts = [{ number: 1, etag: 'crc2-a' }]
      await catalog().commit([{ do: 'complete-upload', bucket: 'crc2', upload: 'u', parts, object: draft('whole', 0) }])
      assert.deepEqual((await catalog().object('crc2', bytes('k')))?.blobs, blobs)
    })

    void it('the index knows them of each blob, of clones and of what came during a move, and learns them later', async () => {
      await openBucket(catalog(), 'crc3')
      const volume = 'crc3-v'
      const [known, unknown] = [
        { blob: 'crc3-a', sizeBytes: 4, crc: CRC },
        { blob: 'crc3-b', sizeBytes: 4 },
      ]
      await catalog().commit([put('crc3', 'a', object([known])), put('crc3', 'b', object([unknown]))])
      await takeSnapshot(catalog(), volume, 's')
      await cloneOf(catalog(), 'crc3', 'crc3x', 's')
      const unverified = await catalog().unverifiedBlobs()
      await catalog().commit([{ do: 'note-blob', volume, blob: 'crc3-b', crc: 7 }])
      assert.equal(await catalog().unverifiedBlobs(), unverified - 1)
      const crcs = async (of: string) => (await catalog().storedBlobs(of, '', 10)).blobs.map(({ crc }) => crc)
      assert.deepEqual(await crcs(volume), [CRC, 7])
      assert.deepEqual(await crcs('crc3x-v'), [CRC, undefined])
      assert.deepEqual(await catalog().blobs(volume, '', 10), [known, { ...unknown, crc: 7 }])
      const arrived = { blob: 'crc3-c', sizeBytes: 4, crc: ZERO }
      await catalog().commit([{ do: 'begin-move', volume }, put('crc3', 'c', object([arrived]))])
      assert.deepEqual(await catalog().arrivals(volume, 10), [arrived])
    })
  })
}
