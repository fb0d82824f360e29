import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { blobLabel, readLabel, type BlobLabel } from './labels.ts'

const label: BlobLabel = {
  blob: '019aa4c1b2d05e1c0f9a7b3d2244aa01',
  bucket: '11111111-1111-4111-8111-111111111111',
  key: Buffer.from([0, 0xff, 0x2f]),
  sizeBytes: 4096,
  etag: 'd41d8cd98f00b204e9800998ecf8427e',
  checksum: { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: 'AAAAAAAAAAA=' },
  timeMs: 1_795_245_436_000,
}
const object = {
  version: '019aa4c1b2d05e1c0f9a7b3d2244aa02',
  details: { contentType: 'text/plain', user: { who: 'me' }, owner: 'o', tags: [['a', 'b']] },
  storageClass: 'GLACIER',
  lock: { mode: 'governance', untilMs: 1_800_000_000_000 },
  legalHold: true,
} as const

describe('labels of blobs', () => {
  for (const [what, of] of Object.entries({
    'an object': { object },
    'a part': { part: { upload: 'u', number: 7 } },
  })) {
    it(`tell all of ${what}`, () => {
      const { key, ...rest } = readLabel(blobLabel({ ...label, ...of })) ?? label
      assert.deepEqual([...key], [0, 0xff, 0x2f])
      const { key: _, ...wanted } = label
      assert.deepEqual(rest, { ...wanted, ...of })
    })
  }

  it('leave out details that do not fit into 32 KiB', () => {
    const details = { user: { long: 'x'.repeat(32 * 1024) } }
    const bytes = blobLabel({ ...label, object: { ...object, details } })
    assert.ok(bytes.length <= 32 * 1024)
    assert.equal(readLabel(bytes)?.object, undefined)
    assert.equal(readLabel(bytes)?.etag, label.etag)
  })

  it('of an earlier release are read, and others are not', () => {
    const { key: _, ...old } = JSON.parse(Buffer.from(blobLabel(label)).toString()) as Record<string, unknown>
    delete old['blob']
    const read = readLabel(Buffer.from(JSON.stringify({ ...old, key: 'AA==' })))
    assert.deepEqual([read?.blob, read?.sizeBytes, read?.checksum.algorithm], ['', 4096, 'CRC64NVME'])
    assert.equal(readLabel(Buffer.from(JSON.stringify(old))), undefined)
    assert.equal(readLabel(Buffer.from('no label')), undefined)
  })
})
