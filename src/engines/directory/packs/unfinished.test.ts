/** What an interrupted compaction left, and what became of the files of its pack since. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { contents } from '../../../ports/volumes.suite.ts'
import type { DirectoryVolumes } from '../volumes.ts'
import { addressOf } from './names.ts'
import { ALL, store, withTree } from './test-tree.ts'

interface Left {
  readonly volumes: DirectoryVolumes
  readonly folder: string
  readonly bodies: Map<string, Buffer>
  readonly whole: string
  readonly unfinished: string
  readonly compact: () => ReturnType<DirectoryVolumes['compact']>
}

/** A pack of three blobs, and all of it in a file that was to become one of the pack. */
const withLeft = (use: (left: Left) => Promise<void>): Promise<void> =>
  withTree(async ({ folder, engine }) => {
    const writer = engine()
    const bodies = new Map<string, Buffer>()
    for (let nth = 0; nth < 3; nth++) {
      const bytes = randomBytes(100 + nth)
      bodies.set(await store(writer, bytes), bytes)
    }
    await writer.close()
    const [blob = ''] = bodies.keys()
    const whole = join(folder, addressOf(blob)?.pack ?? '')
    const unfinished = `${whole}.0123456700ff.new`
    writeFileSync(unfinished, readFileSync(whole))
    const volumes = engine()
    const needed = async function* (beginning: string) {
      for (const one of bodies.keys()) if (one.startsWith(beginning)) yield one
    }
    await use({ volumes, folder, bodies, whole, unfinished, compact: () => volumes.compact('v1', { ...ALL, needed }) })
  })

async function allAreWhole({ volumes, bodies }: Left): Promise<void> {
  for (const [blob, bytes] of bodies) assert.ok((await contents(volumes, 'v1', blob)).equals(bytes), blob)
}

const leftIn = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.new'))

void describe('what an interrupted compaction left', () => {
  void it('is removed when the pack has all that is needed', () =>
    withLeft(async (left) => {
      await left.compact()
      assert.equal(readdirSync(left.folder).length, 1)
      await allAreWhole(left)
    }))

  void it('becomes part of a pack whose file is missing', () =>
    withLeft(async (left) => {
      rmSync(left.whole)
      await left.compact()
      assert.deepEqual(leftIn(left.folder), [])
      await allAreWhole(left)
    }))

  void it('becomes part of a pack in which a needed body is damaged, and unlinked blobs stay unlinked', () =>
    withLeft(async (left) => {
      const { volumes, folder, bodies, whole } = left
      const [first = '', second = '', third = ''] = bodies.keys()
      const file = readFileSync(whole)
      const last = addressOf(second)
      const at = (last?.offset ?? 0) + (last?.length ?? 0) - 8
      file[at] = (file[at] ?? 0) ^ 1
      writeFileSync(whole, file)
      await volumes.unlink('v1', third)
      bodies.delete(third)
      const { damaged } = await left.compact()
      assert.deepEqual(damaged, [])
      assert.deepEqual(leftIn(folder), [])
      assert.deepEqual(new Set(await Array.fromAsync(volumes.blobs('v1'))), new Set([first, second]))
      await allAreWhole(left)
    }))

  void it('becomes part of a pack that it was swapped with when it was half done', () =>
    withLeft(async (left) => {
      const file = readFileSync(left.whole)
      writeFileSync(left.unfinished, file)
      writeFileSync(left.whole, file.subarray(0, file.length / 2))
      await left.compact()
      assert.deepEqual(leftIn(left.folder), [])
      await allAreWhole(left)
    }))
})
