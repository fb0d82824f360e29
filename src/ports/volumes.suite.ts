/** What every engine for volumes must do. `proveVolumes` runs it against one. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { VolumesFailure } from './volumes.ts'
import type { Volumes, VolumesReason } from './volumes.ts'

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
    const stored = async (volume: string, bytes: Uint8Array, label: Uint8Array = LABEL) => {
      const blob = newBlob()
      const writer = await volumes.write(volume, blob)
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

    void it('chunks of any sizes make one blob, and a chunk may be reused after its promise', async () => {
      const volume = await newVolume()
      const blob = newBlob()
      const writer = await volumes.write(volume, blob)
      const sizes = [0, 1, 100, 40_000, 40_000, 3, 70_000, 65_536, 5]
      const expected: Buffer[] = []
      const chunk = Buffer.alloc(70_000)
      for (const [i, size] of sizes.entries()) {
        chunk.fill(i)
        expected.push(Buffer.from(chunk.subarray(0, size)))
        await writer.write(chunk.subarray(0, size))
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
  })
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
