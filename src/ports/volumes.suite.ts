/** What every engine for volumes must do. `proveVolumes` runs it against one. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { crc32 } from 'node:zlib'
import { VolumesFailure } from './volumes.ts'
import type { BlobReader, Volumes, VolumesReason } from './volumes.ts'

export interface OpenedVolumes {
  readonly volumes: Volumes
  /** Another engine over the same storage, as after a restart. */
  reopen(): Promise<Volumes>
  close(): Promise<void>
}

const LABEL = Buffer.from('{"bucket":"b","key":"k"}')
let counted = 0

export function proveVolumes(name: string, open: () => Promise<OpenedVolumes>): void {
  void describe(`volumes: ${name}`, () => {
    let opened: OpenedVolumes
    let volumes: Volumes

    before(async () => {
      opened = await open()
      volumes = opened.volumes
    })
    after(() => opened.close())

    const newVolume = async () => {
      const volume = `volume-${++counted}`
      await volumes.create(volume)
      return volume
    }
    const stored = async (volume: string, bytes: Uint8Array, label: Uint8Array = LABEL, how = {}) => {
      const blob = newBlob()
      const writer = await volumes.write(volume, blob, how)
      await writer.write(bytes)
      await writer.commit(label)
      return blob
    }

    void it('a volume is listed from its creation to its removal', async () => {
      const volume = await newVolume()
      assert.ok((await volumes.list()).includes(volume))
      await volumes.remove(volume)
      assert.ok(!(await volumes.list()).includes(volume))
    })

    void it('creating a volume twice keeps its blobs', async () => {
      const volume = await newVolume()
      const blob = await stored(volume, Buffer.from('abc'))
      await volumes.create(volume)
      assert.equal(String(await contents(volumes, volume, blob)), 'abc')
    })

    void it('removing a volume takes its blobs, and removing it again is fine', async () => {
      const volume = await newVolume()
      const blob = await stored(volume, Buffer.from('abc'))
      await volumes.remove(volume)
      await volumes.remove(volume)
      await refusedWith('missing', volumes.open(volume, blob))
      await refusedWith('missing', volumes.write(volume, newBlob()))
      await volumes.create(volume)
      assert.deepEqual(await Array.fromAsync(volumes.blobs(volume)), [])
      await refusedWith('missing', volumes.open(volume, blob))
      await stored(volume, Buffer.from('abc'))
    })

    for (const size of [0, 1, 4096, 65_535, 65_536, 65_537, 1_000_000]) {
      void it(`a blob of ${size} bytes reads as it was written, and its label beside it`, async () => {
        const volume = await newVolume()
        const bytes = randomBytes(size)
        const blob = await stored(volume, bytes)
        const reader = await volumes.open(volume, blob)
        assert.equal(reader.sizeBytes, size)
        assert.ok((await reader.read(0, size)).equals(bytes))
        assert.deepEqual(Buffer.from(await reader.label()), LABEL)
        const middle = size >> 1
        assert.ok((await reader.read(middle, size - middle)).equals(bytes.subarray(middle)))
        await reader.close()
      })
    }

    void it('chunks of any sizes make one blob', async () => {
      const volume = await newVolume()
      const blob = newBlob()
      const writer = await volumes.write(volume, blob)
      const sizes = [0, 1, 100, 40_000, 40_000, 3, 70_000, 65_536, 5]
      const expected: Buffer[] = []
      for (const [i, size] of sizes.entries()) {
        const chunk = Buffer.alloc(size, i)
        expected.push(chunk)
        await writer.write(chunk)
      }
      await writer.commit(LABEL)
      assert.ok((await contents(volumes, volume, blob)).equals(Buffer.concat(expected)))
    })

    void it('a label may be empty and may have 32 KiB', async () => {
      const volume = await newVolume()
      for (const label of [Buffer.alloc(0), randomBytes(32 * 1024)]) {
        const reader = await volumes.open(volume, await stored(volume, Buffer.from('abc'), label))
        assert.ok(label.equals(await reader.label()))
        await reader.close()
      }
    })

    void it('a name can be used once', async () => {
      const volume = await newVolume()
      const blob = await stored(volume, Buffer.from('first'))
      await refusedWith('exists', volumes.write(volume, blob))
      assert.equal(String(await contents(volumes, volume, blob)), 'first')
    })

    void it('a blob that was given up is not there, and its name is free', async () => {
      const volume = await newVolume()
      const blob = newBlob()
      const writer = await volumes.write(volume, blob)
      await writer.write(randomBytes(100_000))
      await writer.abort()
      await refusedWith('missing', volumes.open(volume, blob))
      assert.deepEqual(await Array.fromAsync(volumes.blobs(volume)), [])
      await (await volumes.write(volume, blob)).commit(LABEL)
    })

    void it('giving up after the end changes nothing', async () => {
      const volume = await newVolume()
      const blob = newBlob()
      const writer = await volumes.write(volume, blob)
      await writer.write(Buffer.from('abc'))
      await writer.commit(LABEL)
      await writer.abort()
      assert.equal(String(await contents(volumes, volume, blob)), 'abc')
    })

    void it('a blob being written is among the blobs', async () => {
      const volume = await newVolume()
      const done = await stored(volume, Buffer.from('abc'))
      const open = newBlob()
      const writer = await volumes.write(volume, open)
      assert.deepEqual(new Set(await Array.fromAsync(volumes.blobs(volume))), new Set([done, open]))
      await writer.abort()
    })

    void it('a blob is gone after unlink, but who has it open reads on', async () => {
      const volume = await newVolume()
      const bytes = randomBytes(200_000)
      const blob = await stored(volume, bytes)
      const reader = await volumes.open(volume, blob)
      await volumes.unlink(volume, blob)
      await volumes.unlink(volume, blob)
      await refusedWith('missing', volumes.open(volume, blob))
      assert.ok((await reader.read(0, 200_000)).equals(bytes))
      await reader.close()
    })

    void it('a blob that is set aside is not among the blobs, and goes later only where nobody was answered for it', async () => {
      const volume = await newVolume()
      const [kept, unanswered] = [await stored(volume, randomBytes(100)), await stored(volume, randomBytes(100))]
      await volumes.setAside(volume, kept, { nowMs: 1000, isUnacknowledged: false })
      assert.equal(await volumes.setAside(volume, unanswered, { nowMs: 1000, isUnacknowledged: true }), true)
      assert.equal(await volumes.setAside(volume, unanswered, { nowMs: 2000, isUnacknowledged: true }), false)
      assert.deepEqual(await Array.fromAsync(volumes.blobs(volume)), [])
      await refusedWith('missing', volumes.open(volume, kept))
      assert.equal(await volumes.removeSetAside(1000), 0)
      assert.equal(await volumes.removeSetAside(1001), 1)
      assert.equal(await volumes.removeSetAside(5000), 0)
    })

    void it('committed blobs are there after a restart', async () => {
      const volume = await newVolume()
      const bytes = randomBytes(5000)
      const blobs = await Promise.all(Array.from({ length: 40 }, () => stored(volume, bytes)))
      const again = await opened.reopen()
      assert.deepEqual(new Set(await Array.fromAsync(again.blobs(volume))), new Set(blobs))
      for (const blob of blobs) assert.ok((await contents(again, volume, blob)).equals(bytes))
    })

    void it('a volume that is not there has no blobs to tell', async () => {
      await refusedWith('missing', Array.fromAsync(volumes.blobs('volume-never')))
      await refusedWith('missing', volumes.open('volume-never', newBlob()))
      await volumes.unlink('volume-never', newBlob())
    })

    void it('space is consistent with itself', async () => {
      const { sizeBytes, usedBytes, availableBytes } = await volumes.space()
      assert.ok(sizeBytes > 0 && usedBytes >= 0 && availableBytes >= 0)
      assert.ok(usedBytes + availableBytes <= sizeBytes)
    })

    void it('reading outside of a blob is an error of the caller', async () => {
      const volume = await newVolume()
      const reader = await volumes.open(volume, await stored(volume, Buffer.from('abc')))
      await assert.rejects(reader.read(2, 2), RangeError)
      await reader.close()
    })

    for (const size of [0, 1, 65_535, 65_536, 65_537, 1_000_000]) {
      void it(`the checksum of ${size} bytes is told when they are written and read, however they are stored`, async () => {
        const volume = await newVolume()
        for (const bytes of [randomBytes(size), textOf(size), Buffer.concat([textOf(size), randomBytes(size * 7)])]) {
          for (const compress of [false, true]) {
            const blob = newBlob()
            const writer = await volumes.write(volume, blob, { compress })
            for (let at = 0; at < bytes.length; at += 50_000) await writer.write(bytes.subarray(at, at + 50_000))
            const { crc } = await writer.commit(LABEL)
            assert.equal(crc, crc32(bytes))
            const reader = await volumes.open(volume, blob, { sizeBytes: bytes.length, crc })
            assert.equal(reader.crc, crc)
            assert.ok((await reader.read(0, bytes.length)).equals(bytes))
            await reader.close()
          }
        }
      })
    }

    void it('a blob that is not the expected one is refused when it is opened', async () => {
      const volume = await newVolume()
      const bytes = randomBytes(100_000)
      const blob = await stored(volume, bytes)
      const [sizeBytes, crc] = [bytes.length, crc32(bytes)]
      await refusedWith('damaged', volumes.open(volume, blob, { sizeBytes: sizeBytes + 1, crc }))
      await refusedWith('damaged', volumes.open(volume, blob, { sizeBytes, crc: crc ^ 1 }))
      for (const expected of [{ sizeBytes, crc }, { sizeBytes }])
        await (await volumes.open(volume, blob, expected)).close()
    })

    void it('compressing and sharing keep the checksum', async () => {
      const volume = await newVolume()
      const bytes = textOf(500_000)
      const expected = { sizeBytes: bytes.length, crc: crc32(bytes) }
      const [blob, twin] = [await stored(volume, bytes), await stored(volume, bytes)]
      await volumes.compress(volume, blob)
      await (await volumes.open(volume, blob, expected)).close()
      assert.equal(await volumes.share(volume, twin, blob), 'shared')
      await (await volumes.open(volume, twin, expected)).close()
    })

    const compressed = (volume: string, bytes: Uint8Array) => stored(volume, bytes, LABEL, { compress: true })
    const storedBytesOf = async (volume: string, blob: string) => {
      const reader = await volumes.open(volume, blob)
      await reader.close()
      return reader.storedBytes
    }

    for (const size of [0, 1, 4096, 20_000, 65_535, 65_536, 65_537, 131_072, 1_000_000]) {
      void it(`${size} bytes of text that are compressed read as they were written, in any piece`, async () => {
        const volume = await newVolume()
        const bytes = textOf(size)
        const reader = await volumes.open(volume, await compressed(volume, bytes))
        assert.equal(reader.sizeBytes, size)
        assert.ok(size < 10_000 ? reader.storedBytes === size : reader.storedBytes < size / 2)
        assert.ok((await reader.read(0, size)).equals(bytes))
        assert.deepEqual(Buffer.from(await reader.label()), LABEL)
        await readAnywhere(reader, bytes)
        await reader.close()
      })
    }

    void it('what does not shrink is stored as it is, be it all or only the end', async () => {
      const volume = await newVolume()
      const noise = randomBytes(700_000)
      for (const bytes of [noise, Buffer.concat([textOf(300_000), noise]), Buffer.concat([noise, textOf(300_000)])]) {
        const reader = await volumes.open(volume, await compressed(volume, bytes))
        assert.ok(reader.storedBytes <= reader.sizeBytes)
        assert.ok((await reader.read(0, bytes.length)).equals(bytes))
        await readAnywhere(reader, bytes)
        await reader.close()
      }
      assert.equal(await storedBytesOf(volume, await compressed(volume, noise)), noise.length)
    })

    void it('pieces of any sizes make one compressed blob, and commit tells the bytes it is stored in', async () => {
      const volume = await newVolume()
      const seed = newSeed()
      const below = randomBelow(seed)
      const blob = newBlob()
      const writer = await volumes.write(volume, blob, { compress: true })
      const expected: Buffer[] = []
      for (let piece = 0; piece < 40; piece++) {
        // What the blob begins with decides whether it is compressed at all.
        const bytes = piece > 0 && below(4) === 0 ? randomBytes(below(90_000)) : textOf(150_000 + below(150_000))
        expected.push(bytes)
        await writer.write(bytes)
      }
      const { storedBytes: told, crc } = await writer.commit(LABEL)
      assert.equal(crc, crc32(Buffer.concat(expected)), seed)
      const reader = await volumes.open(volume, blob)
      const whole = Buffer.concat(expected)
      assert.equal(told, reader.storedBytes, seed)
      assert.ok(told < whole.length, seed)
      assert.ok((await reader.read(0, whole.length)).equals(whole), seed)
      await readAnywhere(reader, whole)
      await reader.close()
    })

    void it('a blob is compressed later, and who has it open reads on', async () => {
      const volume = await newVolume()
      const bytes = textOf(600_000)
      const blob = await stored(volume, bytes)
      const before = await volumes.open(volume, blob)
      const told = await volumes.compress(volume, blob)
      assert.ok(told < bytes.length / 2)
      assert.equal(await volumes.compress(volume, blob), told)
      assert.ok((await before.read(1000, 500_000)).equals(bytes.subarray(1000, 501_000)))
      await before.close()
      const after = await (await opened.reopen()).open(volume, blob)
      assert.equal(after.storedBytes, told)
      assert.ok((await after.read(0, bytes.length)).equals(bytes))
      assert.deepEqual(Buffer.from(await after.label()), LABEL)
      await after.close()
      assert.deepEqual(await Array.fromAsync(volumes.blobs(volume)), [blob])
    })

    void it('compressing what does not shrink changes nothing', async () => {
      const volume = await newVolume()
      for (const bytes of [randomBytes(300_000), textOf(4000), Buffer.alloc(0)]) {
        const blob = await stored(volume, bytes)
        assert.equal(await volumes.compress(volume, blob), bytes.length)
        assert.ok((await contents(volumes, volume, blob)).equals(bytes))
      }
      await refusedWith('missing', volumes.compress(volume, newBlob()))
    })

    void it('compressing and sharing end at once when they are told to, and have changed nothing', async () => {
      const volume = await newVolume()
      const bytes = textOf(2_000_000)
      const [blob, twin] = [await stored(volume, bytes), await stored(volume, bytes)]
      const enough = new Error('enough')
      const stop = () => Promise.reject(enough)
      for (const manner of [{ between: stop }, { beforePlacing: stop }]) {
        await assert.rejects(volumes.compress(volume, blob, manner), enough)
        await assert.rejects(volumes.share(volume, blob, twin, manner), enough)
      }
      assert.equal(await storedBytesOf(volume, blob), bytes.length)
      assert.deepEqual(new Set(await Array.fromAsync(volumes.blobs(volume))), new Set([blob, twin]))
    })

    void it('twins share their place, and each lives as long as its own name', async () => {
      const volume = await newVolume()
      const bytes = textOf(400_000)
      const twin = await compressed(volume, bytes)
      const blobs = [await stored(volume, bytes), await stored(volume, bytes)]
      for (const blob of blobs) {
        assert.equal(await volumes.share(volume, blob, twin), 'shared')
        assert.equal(await volumes.share(volume, blob, twin), 'shared')
        assert.equal(await storedBytesOf(volume, blob), await storedBytesOf(volume, twin))
      }
      await volumes.unlink(volume, twin)
      const again = await opened.reopen()
      for (const blob of blobs) {
        assert.ok((await contents(again, volume, blob)).equals(bytes))
        await again.unlink(volume, blob)
        await refusedWith('missing', again.open(volume, blob))
      }
    })

    void it('a blob is written anew from its own file or that of a twin, and who has it open reads on', async () => {
      const volume = await newVolume()
      const bytes = textOf(400_000)
      const [crc, md5] = [crc32(bytes), createHash('md5').update(bytes).digest('hex')]
      const [blob, twin] = [await stored(volume, bytes), await compressed(volume, bytes)]
      const before = await volumes.open(volume, blob)
      for (const from of [blob, twin]) {
        const reader = await volumes.open(volume, from)
        const label = Buffer.from(`from ${from}`)
        const committed = await volumes.rewrite(volume, blob, reader, { label, crc, md5 })
        assert.deepEqual(committed, { blob, storedBytes: reader.storedBytes, crc })
        await reader.close()
        const after = await (await opened.reopen()).open(volume, blob, { sizeBytes: bytes.length, crc })
        assert.equal(after.storedBytes, committed.storedBytes)
        assert.ok((await after.read(0, bytes.length)).equals(bytes))
        assert.deepEqual(Buffer.from(await after.label()), label)
        await after.close()
      }
      assert.ok((await before.read(1000, 300_000)).equals(bytes.subarray(1000, 301_000)))
      await before.close()
      await volumes.unlink(volume, blob)
      const reader = await volumes.open(volume, twin)
      await volumes.rewrite(volume, blob, reader, { label: LABEL, md5 })
      assert.ok((await contents(volumes, volume, blob)).equals(bytes))
      for (const wrong of [{ crc: crc ^ 1 }, { md5: md5.replaceAll(/[0-7]/g, '9') }]) {
        await refusedWith('damaged', volumes.rewrite(volume, blob, reader, { label: LABEL, ...wrong }))
      }
      const enough = new Error('enough')
      const stop = () => Promise.reject(enough)
      for (const manner of [{ between: stop }, { beforePlacing: stop }]) {
        await assert.rejects(volumes.rewrite(volume, blob, reader, { label: LABEL, crc }, manner), enough)
      }
      await reader.close()
      assert.deepEqual(new Set(await Array.fromAsync(volumes.blobs(volume))), new Set([blob, twin]))
    })

    void it('blobs with other bytes are never shared', async () => {
      const volume = await newVolume()
      const bytes = textOf(300_000)
      const other = Buffer.from(bytes)
      other[299_999] = (other[299_999] ?? 0) ^ 1
      const blob = await stored(volume, bytes)
      for (const unlike of [other, bytes.subarray(1), Buffer.concat([bytes, bytes])]) {
        assert.equal(await volumes.share(volume, blob, await compressed(volume, unlike)), 'different')
      }
      assert.ok((await contents(volumes, volume, blob)).equals(bytes))
      await refusedWith('missing', volumes.share(volume, blob, newBlob()))
    })
  })
}

/** Bytes that shrink. */
export function textOf(sizeBytes: number): Buffer {
  const words = Array.from({ length: 50 }, () => randomBytes(4).toString('hex'))
  const text = Buffer.alloc(sizeBytes)
  for (let at = 0, n = 0; at < sizeBytes; n++) at += text.write(`${words[(n * 7 + (n >> 3)) % 50] ?? ''} `, at)
  return text
}

async function readAnywhere(reader: BlobReader, bytes: Buffer): Promise<void> {
  const seed = newSeed()
  const below = randomBelow(seed)
  for (let n = 0; n < 30; n++) {
    const start = below(bytes.length + 1)
    const length = below(bytes.length - start + 1)
    const read = await reader.read(start, length)
    assert.ok(read.equals(bytes.subarray(start, start + length)), `${start}+${length} ${seed}`)
  }
}

function newSeed(): string {
  return `seed ${process.env['HOLDFAST_TEST_SEED'] ?? randomBytes(4).toString('hex')}`
}

function randomBelow(seed: string): (limit: number) => number {
  let state = createHash('sha256').update(seed).digest().readUInt32BE(0)
  return (limit) => {
    // Of Steele and Vigna, "Computationally easy, spectrally good multipliers": enough to choose places.
    state = (Math.imul(state, 0xadb4a92d) + 1) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

export function newBlob(): string {
  return randomBytes(16).toString('hex')
}

export async function contents(volumes: Volumes, volume: string, blob: string): Promise<Buffer> {
  const reader = await volumes.open(volume, blob)
  try {
    return await reader.read(0, reader.sizeBytes)
  } finally {
    await reader.close()
  }
}

export async function refusedWith(reason: VolumesReason, attempt: Promise<unknown>): Promise<void> {
  await assert.rejects(attempt, (failure) => failure instanceof VolumesFailure && failure.reason === reason)
}
