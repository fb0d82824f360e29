/** A sync that fails: what the system had in memory may be gone, and the next sync says nothing of it. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { fstatSync, readdirSync, readlinkSync, writeSync } from 'node:fs'
import { describe, it } from 'node:test'
import { contents, refusedWith } from '../../../ports/volumes.suite.ts'
import { datasyncRaw } from './raw.ts'
import { addressOf } from './names.ts'
import { ALL, LABEL, namesIn, store, withTree } from './test-tree.ts'

/** Syncs of which some fail, as one whose disk fails: what was not synced before is lost, and later syncs succeed. */
function failingDisk() {
  const synced = new Map<string, number>()
  const failed = new Set<string>()
  const disk = {
    /** Which of the next syncs fail. */
    plan: [] as boolean[],
    code: 'EIO',
    /** Syncs of files of which one had failed. */
    afterFailure: 0,
    datasync: async (fd: number): Promise<void> => {
      const { size } = fstatSync(fd)
      // A file that is new gets its name when it is whole.
      const path = readlinkSync(`/proc/self/fd/${fd}`).replace(/\.new$/, '')
      if (failed.has(path)) disk.afterFailure++
      if (disk.plan.shift() === true) {
        failed.add(path)
        const from = synced.get(path) ?? 0
        writeSync(fd, Buffer.alloc(size - from), 0, size - from, from)
        throw Object.assign(new Error(`${disk.code}: ${path}`), { code: disk.code })
      }
      synced.set(path, size)
      await datasyncRaw(fd)
    },
  }
  return disk
}

void describe('a failed sync of a pack', () => {
  void it('refuses all that it was for, and nothing is answered in that file any more', () =>
    withTree(async ({ folder, engine }) => {
      const disk = failingDisk()
      const volumes = engine({ datasync: disk.datasync })
      const bodies = new Map<string, Buffer>()
      let refused = 0
      for (let rounds = 0; rounds < 4; rounds++) {
        disk.plan = Array.from({ length: rounds }, () => true)
        await Promise.all(
          Array.from({ length: 8 }, async () => {
            const bytes = randomBytes(500)
            const blob = await store(volumes, bytes).catch(() => undefined)
            if (blob === undefined) refused++
            else bodies.set(blob, bytes)
          }),
        )
      }
      assert.ok(refused > 0)
      assert.equal(disk.afterFailure, 0)
      assert.ok(new Set([...bodies.keys()].map((blob) => addressOf(blob)?.pack)).size > 1)
      disk.plan = []
      const last = await store(volumes, Buffer.from('abc'))
      for (const look of [volumes, engine()]) {
        for (const [blob, bytes] of bodies) assert.ok((await contents(look, 'v1', blob)).equals(bytes))
        assert.deepEqual(await namesIn(look), new Set([...bodies.keys(), last]))
      }
      // All but the last file are finished, and are compacted as any other.
      await volumes.unlink('v1', last)
      for (const blob of bodies.keys()) await volumes.unlink('v1', blob)
      await volumes.close()
      await engine().compact('v1', ALL)
      assert.deepEqual(readdirSync(folder), [])
    }))

  void it('leaves a copy of a blob unwritten, and the next try goes to another file', () =>
    withTree(async ({ engine }) => {
      const source = engine()
      const bytes = randomBytes(700)
      const blobs = [await store(source, bytes), await store(source, bytes)]
      await source.create('v2')
      const disk = failingDisk()
      const copier = engine({ datasync: disk.datasync })
      const copy = async (blob: string) => {
        const writer = await copier.write('v2', blob, { sizeBytes: bytes.length })
        await writer.write(bytes)
        return writer.commit(LABEL)
      }
      const [first = '', second = ''] = blobs
      await copy(first)
      disk.plan = [true]
      await refusedWith('io', copy(second))
      await copy(second)
      assert.equal(disk.afterFailure, 0)
      for (const blob of blobs) assert.ok((await contents(engine(), 'v2', blob)).equals(bytes))
    }))

  void it('leaves a pack that is compacted as it was', () =>
    withTree(async ({ engine }) => {
      const writer = engine()
      const bodies = Array.from({ length: 10 }, () => randomBytes(600))
      const blobs: string[] = []
      for (const bytes of bodies) blobs.push(await store(writer, bytes))
      await writer.close()
      const disk = failingDisk()
      const compactor = engine({ datasync: disk.datasync })
      for (const blob of blobs.slice(0, 5)) await compactor.unlink('v1', blob)
      disk.plan = [true]
      await refusedWith('io', compactor.compact('v1', ALL))
      for (let rounds = 0; rounds < 2; rounds++) {
        for (let nth = 5; nth < 10; nth++) {
          assert.ok((await contents(engine(), 'v1', blobs[nth] ?? '')).equals(bodies[nth] ?? LABEL))
        }
        await compactor.compact('v1', ALL)
      }
      assert.equal(disk.afterFailure, 0)
    }))

  void it('ends a file that a pack is made shorter into on a full disk, and what is left goes to another', () =>
    withTree(async ({ folder, engine }) => {
      const writer = engine()
      const bodies = Array.from({ length: 96 }, () => randomBytes(60_000))
      const blobs: string[] = []
      for (const bytes of bodies) blobs.push(await store(writer, bytes))
      await writer.close()
      const disk = failingDisk()
      disk.code = 'ENOSPC'
      const compactor = engine({ datasync: disk.datasync })
      for (const blob of blobs.slice(0, 40)) await compactor.unlink('v1', blob)
      // That of a copy of the whole pack, and of the second step of making it shorter.
      disk.plan = [true, false, true]
      await compactor.compact('v1', ALL)
      assert.equal(disk.afterFailure, 0)
      assert.equal(readdirSync(folder).length, 2)
      for (const look of [compactor, engine()]) {
        assert.deepEqual(await namesIn(look), new Set(blobs.slice(40)))
        for (let nth = 40; nth < blobs.length; nth++) {
          assert.ok((await contents(look, 'v1', blobs[nth] ?? '')).equals(bodies[nth] ?? LABEL))
        }
      }
    }))
})
