/** Damage of what has no checksum in packs, and of their headers: nothing that was answered is lost or hidden by it. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { contents, refusedWith } from '../../../ports/volumes.suite.ts'
import type { DirectoryVolumes } from '../volumes.ts'
import { addressOf } from './names.ts'
import { FILE_HEADER_BYTES, RECORD_HEADER_BYTES } from './record.ts'
import { ALL, LABEL, namesIn, store, withTree } from './test-tree.ts'

const [RECORD_STATE, FILE_STATE] = [4, 8]
const isState = (at: number, state: number) => at >= state && at < state + 4

async function storeThree(volumes: DirectoryVolumes): Promise<Map<string, Buffer>> {
  const bodies = new Map<string, Buffer>()
  for (let nth = 0; nth < 3; nth++) {
    const bytes = randomBytes(100 + nth)
    bodies.set(await store(volumes, bytes), bytes)
  }
  return bodies
}

async function allAreWhole(volumes: DirectoryVolumes, bodies: ReadonlyMap<string, Buffer>): Promise<void> {
  for (const [blob, bytes] of bodies) assert.ok((await contents(volumes, 'v1', blob)).equals(bytes), blob)
  assert.deepEqual(await namesIn(volumes), new Set(bodies.keys()))
}

/** The file with each of its bits flipped, from one byte up to another. */
function* flips(file: Buffer, from: number, to: number): Generator<readonly [at: number, file: Buffer, bit: number]> {
  for (let bit = from * 8; bit < to * 8; bit++) {
    const at = bit >> 3
    const changed = Buffer.from(file)
    changed[at] = (changed[at] ?? 0) ^ (1 << (bit & 7))
    yield [at, changed, bit & 7]
  }
}

/** Names of blobs that somebody needs, as `compact` asks for them. */
const needing = (blobs: Iterable<string>) => ({
  async *needed(beginning: string) {
    for (const blob of blobs) if (blob.startsWith(beginning)) yield blob
  },
})

void describe('damage of packs', () => {
  void it('a flipped bit of the state of a record changes nothing, and the pack is written anew', () =>
    withTree(async ({ folder, engine }) => {
      const writer = engine()
      const bodies = await storeThree(writer)
      const [, blob = ''] = bodies.keys()
      await writer.close()
      const { pack = '', offset = 0 } = addressOf(blob) ?? {}
      const file = readFileSync(join(folder, pack))
      for (const [, changed] of flips(file, offset + RECORD_STATE, offset + RECORD_STATE + 4)) {
        const volumes = engine()
        writeFileSync(join(folder, pack), changed)
        await allAreWhole(volumes, bodies)
        const { misread, damaged } = await volumes.compact('v1', { ...ALL, ...needing(bodies.keys()) })
        assert.deepEqual([misread, damaged], [1, []])
        await allAreWhole(volumes, bodies)
        assert.equal((await volumes.compact('v1', ALL)).misread, 0)
        await volumes.close()
        for (const name of readdirSync(folder)) rmSync(join(folder, name))
      }
    }))

  void it('a flipped bit of a mark does not hide a blob that is needed, and unlinking it again marks it', () =>
    withTree(async ({ folder, engine }) => {
      const volumes = engine()
      const bodies = await storeThree(volumes)
      const [, blob = ''] = bodies.keys()
      await volumes.unlink('v1', blob)
      const { pack = '', offset = 0 } = addressOf(blob) ?? {}
      const file = readFileSync(join(folder, pack))
      for (const [, changed] of flips(file, offset + RECORD_STATE, offset + RECORD_STATE + 4)) {
        writeFileSync(join(folder, pack), changed)
        await allAreWhole(volumes, bodies)
        await volumes.unlink('v1', blob)
        await refusedWith('missing', volumes.open('v1', blob))
      }
    }))

  void it('a flipped bit anywhere else in a header of a record is told of, and drops nothing', () =>
    withTree(async ({ folder, engine }) => {
      const writer = engine()
      const bodies = await storeThree(writer)
      const blobs = [...bodies.keys()]
      await writer.close()
      const { pack = '' } = addressOf(blobs[0] ?? '') ?? {}
      const file = readFileSync(join(folder, pack))
      const volumes = engine()
      for (const blob of blobs) {
        const { offset = 0 } = addressOf(blob) ?? {}
        for (const [at, changed, bit] of flips(file, offset, offset + RECORD_HEADER_BYTES)) {
          if (isState(at - offset, RECORD_STATE)) continue
          writeFileSync(join(folder, pack), changed)
          await refusedWith('damaged', contents(volumes, 'v1', blob))
          // Looking at all of the pack takes longer: one bit of each byte of one record.
          if (bit !== at % 8 || blob !== blobs.at(-1)) continue
          const { damaged, freedBytes } = await volumes.compact('v1', { ...ALL, deadShare: 0, ...needing(blobs) })
          assert.deepEqual(new Set(damaged.filter(({ isNeeded }) => isNeeded)), new Set([{ blob, isNeeded: true }]))
          assert.equal(freedBytes, 0)
          assert.ok(readFileSync(join(folder, pack)).equals(changed))
        }
      }
    }))

  void it('a file that is appended to is left alone whatever bit of its header flips, and written anew later', () =>
    withTree(async ({ folder, engine }) => {
      const compactor = engine({ isWriting: () => true })
      for (let at = 0; at < FILE_HEADER_BYTES; at += FILE_STATE) {
        const writer = engine()
        const bodies = await storeThree(writer)
        const [pack = ''] = readdirSync(folder)
        const file = readFileSync(join(folder, pack))
        for (const [, changed] of flips(file, at, Math.min(at + FILE_STATE, FILE_HEADER_BYTES))) {
          writeFileSync(join(folder, pack), changed)
          const { waiting, freedBytes } = await compactor.compact('v1', { ...ALL, deadShare: 0 })
          assert.deepEqual([waiting, freedBytes], [1, 0])
        }
        const late = randomBytes(50)
        bodies.set(await store(writer, late), late)
        await allAreWhole(engine(), bodies)
        // Its writer ends without sealing it.
        const open = readFileSync(join(folder, pack))
        await writer.close()
        writeFileSync(join(folder, pack), open)
        const after = engine()
        const { misread } = await after.compact('v1', { ...ALL, ...needing(bodies.keys()) })
        assert.equal(misread, 1)
        await allAreWhole(after, bodies)
        for (const blob of bodies.keys()) await after.unlink('v1', blob)
        await after.compact('v1', { deadShare: 0.3 })
        assert.deepEqual(readdirSync(folder), [])
      }
    }))

  void it('damaged bytes of a blob that nobody needs go with its pack, and stop nothing', () =>
    withTree(async ({ folder, engine }) => {
      const writer = engine()
      const bodies = await storeThree(writer)
      const [, blob = ''] = bodies.keys()
      await writer.close()
      const { pack = '', offset = 0 } = addressOf(blob) ?? {}
      const file = readFileSync(join(folder, pack))
      const at = offset + RECORD_HEADER_BYTES + LABEL.length + 20
      file[at] = (file[at] ?? 0) ^ 1
      writeFileSync(join(folder, pack), file)
      const volumes = engine()
      await volumes.unlink('v1', blob)
      bodies.delete(blob)
      const { damaged, freedBytes } = await volumes.compact('v1', { ...ALL, deadShare: 0, ...needing(bodies.keys()) })
      assert.deepEqual(damaged, [])
      assert.ok(freedBytes > 0)
      await allAreWhole(volumes, bodies)
    }))

  void it('a copy of a damaged record is refused as the record was, and those beside it are whole', () =>
    withTree(async ({ folder, engine }) => {
      const writer = engine()
      const bodies = await storeThree(writer)
      const [first = '', blob = ''] = bodies.keys()
      await writer.close()
      const { pack = '', offset = 0 } = addressOf(blob) ?? {}
      const file = readFileSync(join(folder, pack))
      const at = offset + RECORD_HEADER_BYTES + LABEL.length + 20
      file[at] = (file[at] ?? 0) ^ 1
      writeFileSync(join(folder, pack), file)
      const volumes = engine()
      await refusedWith('damaged', contents(volumes, 'v1', blob))
      await volumes.unlink('v1', first)
      bodies.delete(first)
      const { freedBytes } = await volumes.compact('v1', { ...ALL, deadShare: 0, ...needing(bodies.keys()) })
      assert.ok(freedBytes > 0)
      for (const one of [volumes, engine()]) {
        await refusedWith('damaged', contents(one, 'v1', blob))
        assert.deepEqual(await namesIn(one), new Set(bodies.keys()))
      }
      bodies.delete(blob)
      for (const [sound, bytes] of bodies) assert.ok((await contents(volumes, 'v1', sound)).equals(bytes))
      // Nor is it sound when a scrub sets it aside, because its row went.
      assert.equal(await volumes.setAside('v1', blob, { nowMs: 1, isUnacknowledged: false }), true)
      await allAreWhole(volumes, bodies)
    }))

  void it('the last record of a file that nobody sealed is not taken for an unfinished one while it is needed', () =>
    withTree(async ({ folder, engine }) => {
      const writer = engine({ writer: 'aaaaaaaa' })
      const blobs = [await store(writer, randomBytes(100))]
      const [pack = ''] = readdirSync(folder)
      const file = readFileSync(join(folder, pack))
      file[FILE_HEADER_BYTES + 20] = (file[FILE_HEADER_BYTES + 20] ?? 0) ^ 1
      writeFileSync(join(folder, pack), file)
      for (const needed of [blobs, []]) {
        const { damaged } = await engine().compact('v1', { ...ALL, ...needing(needed) })
        assert.deepEqual(
          damaged,
          needed.map((blob) => ({ blob, isNeeded: true })),
        )
        assert.equal(readdirSync(folder).length, needed.length)
      }
    }))

  void it('a blob that is needed is not dropped because its record is marked', () =>
    withTree(async ({ folder, engine }) => {
      const writer = engine()
      const bodies = await storeThree(writer)
      const blobs = [...bodies.keys()]
      await writer.close()
      const volumes = engine()
      for (const blob of blobs) await volumes.unlink('v1', blob)
      const needed = needing(blobs.slice(1, 2))
      const { damaged, freedBytes } = await volumes.compact('v1', { ...ALL, ...needed })
      assert.deepEqual([damaged, freedBytes], [[{ blob: blobs[1], isNeeded: true }], 0])
      assert.equal(readdirSync(folder).length, 1)
      assert.ok((await volumes.compact('v1', ALL)).freedBytes > 0)
    }))

  void it('a blob that was written anew with the label of a twin is still listed under its name', () =>
    withTree(async ({ engine }) => {
      const volumes = engine()
      const bytes = randomBytes(300)
      const blob = await store(volumes, bytes)
      const twin = await store(volumes, bytes, undefined, Buffer.from('{"key":"a longer one"}'))
      const { pack = '', offset = 0 } = addressOf(blob) ?? {}
      const path = volumes.fileOf('v1', blob)
      const file = readFileSync(path)
      file[offset + RECORD_HEADER_BYTES + 20] = (file[offset + RECORD_HEADER_BYTES + 20] ?? 0) ^ 1
      writeFileSync(path, file)
      const reader = await volumes.open('v1', twin)
      const committed = await volumes.rewrite('v1', blob, reader, { label: await reader.label(), crc: reader.crc ?? 0 })
      assert.equal(committed.blob, blob)
      assert.equal(pack, addressOf(twin)?.pack)
      await volumes.close()
      const after = engine()
      for (let rounds = 0; rounds < 2; rounds++) {
        assert.deepEqual(await namesIn(after), new Set([blob, twin]))
        await after.compact('v1', { ...ALL, deadShare: 0 })
      }
      assert.ok((await contents(after, 'v1', blob)).equals(bytes))
    }))

  void it('a pack of a later format is refused by name, and left as it is', () =>
    withTree(async ({ folder, engine }) => {
      const writer = engine()
      const [blob = ''] = (await storeThree(writer)).keys()
      await writer.close()
      const [pack = ''] = readdirSync(folder)
      const file = readFileSync(join(folder, pack))
      file.write('HOLDPCK3', 0, 'latin1')
      file.write('HFR3', FILE_HEADER_BYTES, 'latin1')
      file.writeUInt32BE(7, FILE_HEADER_BYTES - 4)
      writeFileSync(join(folder, pack), file)
      const volumes = engine()
      await assert.rejects(volumes.open('v1', blob), /has format 3, which this release does not know/)
      const { freedBytes, damaged } = await volumes.compact('v1', { ...ALL, deadShare: 0 })
      assert.deepEqual([freedBytes, damaged], [0, []])
      assert.equal(statSync(join(folder, pack)).size, file.length)
    }))
})

void it('labels of any length keep records in their places', () =>
  withTree(async ({ engine }) => {
    const volumes = engine()
    const bodies = new Map<string, Buffer>()
    for (let nth = 0; nth < 16; nth++) {
      const bytes = randomBytes(nth)
      bodies.set(await store(volumes, bytes, undefined, LABEL.subarray(0, nth % 5)), bytes)
    }
    for (const blob of bodies.keys()) assert.equal((addressOf(blob)?.offset ?? 1) % 4, 0)
    await allAreWhole(engine(), bodies)
  }))
