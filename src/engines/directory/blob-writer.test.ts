import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { DirectoryVolumes } from './volumes.ts'

const KIB = 1024
const PIECE = 512 * KIB

for (const compress of [false, true]) {
  const how = compress ? 'compressed where that helps' : 'stored as it is'
  test(`memory that a blob is done with may be used again at once, when it is ${how}`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-blob-writer-'))
    t.after(() => rm(folder, { recursive: true }))
    const volumes = new DirectoryVolumes(folder)
    await volumes.create('v1')
    // Some shrinks, and what does not is written from the memory it came in.
    const body = Buffer.concat([Buffer.alloc(400 * KIB, 'a'), randomBytes(2000 * KIB + 77)])
    const blob = '0'.repeat(32)
    const writer = await volumes.write('v1', blob, { compress, sizeBytes: body.length })
    let spent = 0
    for (let at = 0; at < body.length; at += PIECE) {
      const piece = Buffer.from(body.subarray(at, at + PIECE))
      await writer.write(piece, () => {
        spent++
        piece.fill(0xee)
      })
    }
    await writer.commit(Buffer.alloc(0))
    assert.ok(spent > 0)
    const reader = await volumes.open('v1', blob)
    assert.ok((await reader.read(0, reader.sizeBytes)).equals(body))
    await reader.close()
    await volumes.close()
  })
}
