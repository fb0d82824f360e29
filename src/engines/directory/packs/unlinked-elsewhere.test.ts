import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { PACK_BYTES } from './appender.ts'
import { ALL, namesIn, store, withTree } from './test-tree.ts'

void it('the space of what one process writes and takes back comes back in another, again and again', () =>
  withTree(async ({ folder, engine }) => {
    const compactor = engine({ isWriting: () => true })
    const kept = await store(compactor, randomBytes(100))
    await compactor.compact('v1', ALL)
    const told: string[] = []
    const writer = engine({ onUnlinked: (_, blobs) => told.push(...blobs) })
    const body = randomBytes(64 * 1024)
    const bytesOf = () => readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
    let most = 0
    for (let written = 0; written < 2 * PACK_BYTES; written += 64 * body.length) {
      const blobs = await Promise.all(Array.from({ length: 64 }, () => store(writer, body)))
      for (const blob of blobs) await writer.unlink('v1', blob)
      assert.deepEqual(new Set(told), new Set(blobs))
      compactor.noteUnlinked('v1', told.splice(0))
      await compactor.compact('v1', { deadShare: 0.3 })
      most = Math.max(most, bytesOf())
    }
    assert.ok(most < 1.3 * PACK_BYTES, `${most}`)
    assert.deepEqual(await namesIn(compactor), new Set([kept]))
    await writer.unlink('v1', kept)
    assert.deepEqual(told, [kept])
  }))
