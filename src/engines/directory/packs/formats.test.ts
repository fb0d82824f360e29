/** Packs as earlier releases wrote them. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { contents, refusedWith } from '../../../ports/volumes.suite.ts'
import { SAMPLE_BLOBS, SAMPLE_DEAD, SAMPLE_LABEL, sampleBody, samplePacks } from './kept-samples.ts'
import type { DirectoryVolumes } from '../volumes.ts'
import { addressOf } from './names.ts'
import { ALL, namesIn, withTree } from './test-tree.ts'

function putSample(folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, bytes] of samplePacks()) writeFileSync(join(folder, name), bytes)
}

async function isWhole(volumes: DirectoryVolumes, without?: string): Promise<void> {
  const blobs = new Map([...SAMPLE_BLOBS].filter(([blob]) => blob !== without))
  assert.deepEqual(await namesIn(volumes), new Set(blobs.keys()))
  for (const [blob, nth] of blobs) {
    assert.ok((await contents(volumes, 'v1', blob)).equals(sampleBody(nth)))
    const reader = await volumes.open('v1', blob)
    assert.equal(String(await reader.label()), SAMPLE_LABEL)
    assert.equal(reader.storedBytes < reader.sizeBytes, nth === 1 || nth === 6)
  }
  await refusedWith('missing', volumes.open('v1', SAMPLE_DEAD))
}

void describe('packs of format 1', () => {
  void it('are read, and upgraded when they are looked at after a start, whatever is dead in them', () =>
    withTree(async ({ folder, engine }) => {
      putSample(folder)
      const reader = engine()
      await isWhole(reader)
      const { misread, damaged } = await engine().compact('v1', { deadShare: 1, all: true })
      assert.deepEqual([misread, damaged], [0, []])
      await isWhole(reader)
      await isWhole(engine())
      const files = readdirSync(folder)
      assert.equal(files.length, 2)
      for (const name of files) assert.equal(readFileSync(join(folder, name)).toString('latin1', 0, 8), 'HOLDPCK2')
      assert.equal((await engine().compact('v1', { deadShare: 1, all: true })).freedBytes, 0)
      assert.deepEqual(readdirSync(folder), files)
    }))

  void it('are unlinked from, and what was unlinked is not in the upgraded ones', () =>
    withTree(async ({ folder, engine }) => {
      putSample(folder)
      const [gone = ''] = SAMPLE_BLOBS.keys()
      const volumes = engine()
      await volumes.unlink('v1', gone)
      await isWhole(engine(), gone)
      await volumes.compact('v1', { deadShare: 1, all: true })
      await isWhole(engine(), gone)
    }))

  void it('keep what is needed when a bit of a flag has flipped', () =>
    withTree(async ({ folder, engine }) => {
      for (let bit = 0; bit < 8; bit++) {
        putSample(folder)
        const [blob = ''] = SAMPLE_BLOBS.keys()
        const { pack = '', offset = 0 } = addressOf(blob) ?? {}
        const file = readFileSync(join(folder, pack))
        file[offset + 4] = 1 << bit
        writeFileSync(join(folder, pack), file)
        const needed = async function* (beginning: string) {
          for (const one of SAMPLE_BLOBS.keys()) if (one.startsWith(beginning)) yield one
        }
        const volumes = engine()
        const { damaged, misread } = await volumes.compact('v1', { ...ALL, needed })
        // One bit says that it is not needed, and one that it is elsewhere.
        assert.deepEqual(damaged, bit < 2 ? [{ blob, isNeeded: true }] : [])
        assert.equal(misread, bit < 2 ? 0 : 1)
        if (bit < 2) assert.ok(readFileSync(join(folder, pack)).equals(file))
        else await isWhole(engine())
        for (const name of readdirSync(folder)) writeFileSync(join(folder, name), '')
        await engine().compact('v1', ALL)
      }
    }))
})
