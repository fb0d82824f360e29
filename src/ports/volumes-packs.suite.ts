/** What every engine for volumes must do with small blobs that it may store together. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { contents, newBlob, refusedWith, textOf } from './volumes.suite.ts'
import type { OpenedVolumes } from './volumes.suite.ts'
import type { CompactManner, Volumes, WriteHow } from './volumes.ts'

const LABEL = Buffer.from('{"bucket":"b","key":"k"}')
const ALWAYS: CompactManner = { deadShare: 0, all: true }
let counted = 0

export function provePacks(name: string, open: () => Promise<OpenedVolumes>): void {
  void describe(`packs of volumes: ${name}`, () => {
    let opened: OpenedVolumes
    let volumes: Volumes

    before(async () => {
      opened = await open()
      volumes = opened.volumes
    })
    after(() => opened.close())

    const newVolume = async (engine = volumes) => {
      const volume = `packs-${++counted}`
      await engine.create(volume)
      return volume
    }
    const packed = async (volume: string, bytes: Uint8Array, how: WriteHow = {}, label: Uint8Array = LABEL) => {
      const writer = await volumes.write(volume, newBlob(), { sizeBytes: bytes.length, packs: true, ...how })
      await writer.write(bytes)
      return (await writer.commit(label)).blob
    }
    const blobsOf = async (volume: string, engine = volumes) => new Set(await Array.fromAsync(engine.blobs(volume)))

    for (const size of [0, 1, 4096, 65_535, 65_536]) {
      void it(`a small blob of ${size} bytes reads as it was written under the name it got, and its label beside it`, async () => {
        const volume = await newVolume()
        const bytes = randomBytes(size)
        const blob = await packed(volume, bytes)
        const reader = await volumes.open(volume, blob)
        assert.equal(reader.sizeBytes, size)
        assert.equal(reader.storedBytes, size)
        assert.ok((await reader.read(0, size)).equals(bytes))
        const middle = size >> 1
        assert.ok((await reader.read(middle, size - middle)).equals(bytes.subarray(middle)))
        await assert.rejects(reader.read(1, size), RangeError)
        assert.deepEqual(Buffer.from(await reader.label()), LABEL)
        await reader.close()
        assert.deepEqual(await blobsOf(volume), new Set([blob]))
      })
    }

    void it('names of small blobs are not those of others, of any size, tree or engine', async () => {
      const volume = await newVolume()
      const names = await Promise.all(Array.from({ length: 50 }, () => packed(volume, Buffer.from('abc'))))
      const others = await Promise.all(Array.from({ length: 50 }, async () => packed(await newVolume(), LABEL)))
      assert.equal(new Set([...names, ...others]).size, 100)
    })

    void it('a large blob that may be stored with others has the name it was begun with', async () => {
      const volume = await newVolume()
      const blob = newBlob()
      const bytes = randomBytes(1_000_000)
      const writer = await volumes.write(volume, blob, { sizeBytes: bytes.length, packs: true })
      await writer.write(bytes)
      assert.equal((await writer.commit(LABEL)).blob, blob)
      assert.ok((await contents(volumes, volume, blob)).equals(bytes))
    })

    void it('pieces make one small blob, and may be reused after their promises', async () => {
      const volume = await newVolume()
      const writer = await volumes.write(volume, newBlob(), { sizeBytes: 6000, packs: true })
      const piece = Buffer.alloc(2000)
      for (const nth of [1, 2, 3]) await writer.write(piece.fill(nth))
      piece.fill(9)
      const { blob } = await writer.commit(LABEL)
      const expected = Buffer.concat([1, 2, 3].map((nth) => Buffer.alloc(2000, nth)))
      assert.ok((await contents(volumes, volume, blob)).equals(expected))
    })

    void it('labels of small blobs may be empty and may have 32 KiB', async () => {
      const volume = await newVolume()
      for (const label of [Buffer.alloc(0), randomBytes(32 * 1024)]) {
        const reader = await volumes.open(volume, await packed(volume, Buffer.from('abc'), {}, label))
        assert.ok(label.equals(await reader.label()))
        await reader.close()
      }
    })

    void it('text in a small blob is stored in less where that is said, and noise as it is', async () => {
      const volume = await newVolume()
      for (const size of [4096, 60_000]) {
        const bytes = textOf(size)
        const writer = await volumes.write(volume, newBlob(), { sizeBytes: size, packs: true, compress: true })
        await writer.write(bytes)
        const { blob, storedBytes } = await writer.commit(LABEL)
        const reader = await volumes.open(volume, blob)
        assert.equal(reader.storedBytes, storedBytes)
        assert.ok(storedBytes < size / 2)
        assert.ok((await reader.read(0, size)).equals(bytes))
        assert.ok((await reader.read(7, size - 9)).equals(bytes.subarray(7, size - 2)))
        await reader.close()
        assert.equal(await volumes.compress(volume, blob), storedBytes)
      }
      const noise = await volumes.open(volume, await packed(volume, randomBytes(5000), { compress: true }))
      assert.equal(noise.storedBytes, 5000)
      await noise.close()
    })

    void it('a small blob that was given up is not there', async () => {
      const volume = await newVolume()
      const writer = await volumes.write(volume, newBlob(), { sizeBytes: 3, packs: true })
      await writer.write(Buffer.from('abc'))
      await writer.abort()
      await refusedWith('io', writer.write(Buffer.from('abc')))
      assert.deepEqual(await blobsOf(volume), new Set())
    })

    void it('a small blob is gone after unlink, but who has it open reads on', async () => {
      const volume = await newVolume()
      const bytes = randomBytes(20_000)
      const [blob, other] = [await packed(volume, bytes), await packed(volume, bytes)]
      const reader = await volumes.open(volume, blob)
      await volumes.unlink(volume, blob)
      await volumes.unlink(volume, blob)
      await refusedWith('missing', volumes.open(volume, blob))
      assert.ok((await reader.read(0, 20_000)).equals(bytes))
      await reader.close()
      assert.deepEqual(await blobsOf(volume), new Set([other]))
      const again = await opened.reopen()
      await refusedWith('missing', again.open(volume, blob))
      assert.deepEqual(await blobsOf(volume, again), new Set([other]))
    })

    void it('many small blobs written at once are all there after a restart', async () => {
      const volume = await newVolume()
      const bodies = Array.from({ length: 200 }, (_, nth) => randomBytes(nth * 50))
      const blobs = await Promise.all(bodies.map((bytes) => packed(volume, bytes)))
      const again = await opened.reopen()
      assert.deepEqual(await blobsOf(volume, again), new Set(blobs))
      for (const [nth, blob] of blobs.entries()) {
        assert.ok((await contents(again, volume, blob)).equals(bodies[nth] ?? Buffer.alloc(0)))
      }
    })

    void it('a small blob that is set aside is not among the blobs, and goes later', async () => {
      const volume = await newVolume()
      const [kept, aside] = [await packed(volume, randomBytes(100)), await packed(volume, randomBytes(100))]
      assert.equal(await volumes.setAside(volume, aside, { nowMs: 1000, isUnacknowledged: true }), true)
      assert.equal(await volumes.setAside(volume, aside, { nowMs: 2000, isUnacknowledged: true }), false)
      assert.deepEqual(await blobsOf(volume), new Set([kept]))
      await refusedWith('missing', volumes.open(volume, aside))
      assert.equal(await volumes.removeSetAside(1000), 0)
      assert.equal(await volumes.removeSetAside(1001), 1)
    })

    void it('small blobs go with their volume, and no more come to it', async () => {
      const volume = await newVolume()
      const blob = await packed(volume, Buffer.from('abc'))
      await volumes.remove(volume)
      await refusedWith('missing', volumes.open(volume, blob))
      await refusedWith('missing', volumes.write(volume, newBlob(), { sizeBytes: 3, packs: true }))
      await volumes.unlink(volume, blob)
      await volumes.create(volume)
      await refusedWith('missing', volumes.open(volume, blob))
      await packed(volume, Buffer.from('abc'))
    })

    void it('small blobs are copied to another tree under their names, each once', async () => {
      const [from, to] = [await newVolume(), await newVolume()]
      const bodies = Array.from({ length: 30 }, (_, nth) => randomBytes(1000 + nth))
      const blobs = await Promise.all(bodies.map((bytes) => packed(from, bytes)))
      const copy = async (blob: string, bytes: Buffer) => {
        const writer = await volumes.write(to, blob, { sizeBytes: bytes.length })
        await writer.write(bytes)
        assert.equal((await writer.commit(LABEL)).blob, blob)
      }
      await Promise.all(blobs.toReversed().map((blob) => copy(blob, bodies[blobs.indexOf(blob)] ?? LABEL)))
      for (const blob of blobs) await refusedWith('exists', volumes.write(to, blob, { sizeBytes: 10 }))
      for (const engine of [volumes, await opened.reopen()]) {
        assert.deepEqual(await blobsOf(to, engine), new Set(blobs))
        for (const [nth, blob] of blobs.entries()) {
          assert.ok((await contents(engine, to, blob)).equals(bodies[nth] ?? LABEL))
        }
      }
      const [first = '', ...rest] = blobs
      await volumes.unlink(to, first)
      await refusedWith('missing', volumes.open(to, first))
      assert.ok((await contents(volumes, from, first)).equals(bodies[0] ?? LABEL))
      assert.deepEqual(await blobsOf(to), new Set(rest))
    })

    void it('small blobs have no place that others could share', async () => {
      const volume = await newVolume()
      const bytes = textOf(20_000)
      const [one, other] = [await packed(volume, bytes), await packed(volume, bytes)]
      assert.equal(await volumes.share(volume, one, other), 'unable')
      assert.ok((await contents(volumes, volume, one)).equals(bytes))
    })

    void it('compaction keeps every small blob that was not unlinked, whoever reads and unlinks meanwhile', async () => {
      const volume = await newVolume()
      const bodies = new Map<string, Buffer>()
      const add = async () => {
        const bytes = randomBytes(3000)
        bodies.set(await packed(volume, bytes), bytes)
      }
      await Promise.all(Array.from({ length: 300 }, add))
      const names = [...bodies.keys()]
      const isUnlinked = (nth: number) => nth % 3 === 0
      for (const [nth, blob] of names.entries()) if (isUnlinked(nth) && nth < 150) await volumes.unlink(volume, blob)
      await volumes.close()
      const other = await opened.reopen()
      const compactor = await opened.reopen()
      const compaction = { isOver: false }
      const compacting = (async () => {
        for (let rounds = 0; rounds < 5; rounds++) await compactor.compact(volume, ALWAYS)
        compaction.isOver = true
      })()
      const reading = (async () => {
        while (!compaction.isOver) {
          for (const [nth, blob] of names.entries()) {
            if (!isUnlinked(nth)) assert.ok((await contents(other, volume, blob)).equals(bodies.get(blob) ?? LABEL))
          }
        }
      })()
      const unlinking = (async () => {
        for (const [nth, blob] of names.entries()) if (isUnlinked(nth)) await other.unlink(volume, blob)
      })()
      await Promise.all([compacting, reading, unlinking])
      await compactor.compact(volume, ALWAYS)
      const left = names.filter((_, nth) => !isUnlinked(nth))
      for (const engine of [other, compactor, await opened.reopen()]) {
        assert.deepEqual(await blobsOf(volume, engine), new Set(left))
        for (const blob of left) assert.ok((await contents(engine, volume, blob)).equals(bodies.get(blob) ?? LABEL))
        for (const [nth, blob] of names.entries())
          if (isUnlinked(nth)) await refusedWith('missing', engine.open(volume, blob))
      }
    })
  })
}
