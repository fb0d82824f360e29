import assert from 'node:assert/strict'
import { it } from 'node:test'
import { CatalogUnavailable, CommitRefused } from '../../ports/catalog.ts'
import type { Change, ObjectDraft } from '../../ports/catalog.ts'
import { frame, FrameReader, readAnswer, readCommit, writeAnswer, writeCommit } from './wire.ts'
import type { Settled } from './writer.ts'

const allBytes = Uint8Array.from({ length: 256 }, (_, byte) => byte)

const object: ObjectDraft = {
  sizeBytes: 2 ** 53 - 1,
  etag: 'd41d8cd98f00b204e9800998ecf8427e',
  modifiedMs: 1_795_438_800_123,
  version: 'v1',
  details: { 'content-type': 'text/plain; "ü\u0000\ud800"', owner: 'anna', 'meta.x': null },
  checksum: { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: 'AAAAAAAAAAA=' },
  parts: null,
  blobs: [{ blob: 'b', sizeBytes: 5, storedBytes: 3, crc: 4_294_967_295, tried: { compression: true } }],
  lock: { mode: 'governance', untilMs: 1_795_438_900_000 },
  legalHold: false,
}

void it('a commit arrives as it was sent, whatever the bytes of its keys and texts', () => {
  const key = allBytes.subarray(1, 200)
  const commits: readonly (readonly Change[])[] = [
    [],
    [{ do: 'put-object', bucket: 'b', key, object, nowMs: 1, condition: { ifNoneMatch: ['*'] }, tree: 't' }],
    [
      {
        do: 'delete-object',
        bucket: 'b',
        key: allBytes,
        marker: { version: 'm', modifiedMs: 7, details: { a: ['ß'] } },
      },
    ],
    [{ do: 'delete-object', bucket: 'b', key, version: 'v', condition: { ifMatch: ['"e"'] }, bypassGovernance: true }],
    [
      { do: 'delete-object', bucket: 'b', key },
      { do: 'put-object', bucket: 'b', key, object },
    ],
    [{ do: 'amend-object', bucket: 'b', key, nowMs: 1, lock: null }],
    [{ do: 'check-space' }],
  ]
  for (const commit of commits) assert.deepEqual(plain(readCommit(writeCommit(commit))), plain(commit))
})

void it('an answer arrives as it was given, outcomes and failures alike', () => {
  const outcomes = [{ found: true, version: 'null' }, {}, { blobs: ['a', 'b'], next: 'ü' }]
  assert.deepEqual(readAnswer(writeAnswer(outcomes)), outcomes)
  const failures: Settled[] = [
    new CommitRefused('full', 3, 'quota:user'),
    new CatalogUnavailable('The disk failed.'),
    new Error('"quoted"'),
  ]
  for (const failure of failures) {
    const arrived = readAnswer(writeAnswer(failure))
    assert.ok(arrived instanceof Error)
    assert.deepEqual([arrived.constructor, arrived.message], [failure.constructor, (failure as Error).message])
  }
  const refused = readAnswer(writeAnswer(new CommitRefused('full', 3, 'quota:user')))
  assert.ok(refused instanceof CommitRefused)
  assert.deepEqual([refused.reason, refused.change, refused.scope], ['full', 3, 'quota:user'])
})

void it('frames arrive whole, however their bytes are cut', () => {
  const commits: readonly (readonly Change[])[] = [[{ do: 'delete-object', bucket: 'b', key: allBytes }], []]
  const sent = Buffer.concat(commits.map((commit, id) => frame(id + 1, writeCommit(commit))))
  for (const pieceBytes of [1, 7, sent.length]) {
    const reader = new FrameReader()
    const arrived = Array.from({ length: Math.ceil(sent.length / pieceBytes) }, (_, at) =>
      reader.push(sent.subarray(at * pieceBytes, (at + 1) * pieceBytes)),
    ).flat()
    assert.deepEqual(
      arrived.map(({ id, body }) => [id, plain(readCommit(body))]),
      commits.map((commit, id) => [id + 1, plain(commit)]),
    )
  }
})

/** Bytes of keys as numbers: who reads them does not mind what kind of array they are in. */
function plain(changes: readonly Change[]): unknown {
  return changes.map((change) =>
    'key' in change && typeof change.key !== 'string' ? { ...change, key: [...change.key] } : change,
  )
}
