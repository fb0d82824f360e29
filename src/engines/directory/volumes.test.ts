import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, open, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { contents, newBlob, proveVolumes, refusedWith, textOf } from '../../ports/volumes.suite.ts'
import { DirectoryVolumes } from './volumes.ts'

proveVolumes('a directory', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'volumes-'))
  return {
    volumes: new DirectoryVolumes(join(folder, 'aggregate')),
    reopen: async () => new DirectoryVolumes(join(folder, 'aggregate')),
    close: () => rm(folder, { recursive: true }),
  }
})

void describe('volumes in a directory', () => {
  async function withVolume(use: (volumes: DirectoryVolumes, aggregate: string) => Promise<void>): Promise<void> {
    const aggregate = await mkdtemp(join(tmpdir(), 'volumes-'))
    try {
      const volumes = new DirectoryVolumes(aggregate)
      await volumes.create('v1')
      await use(volumes, aggregate)
    } finally {
      await rm(aggregate, { recursive: true })
    }
  }

  async function store(volumes: DirectoryVolumes, blob: string, text: string): Promise<void> {
    const writer = await volumes.write('v1', blob)
    await writer.write(Buffer.from(text))
    await writer.commit(Buffer.from('label'))
  }

  const pathOf = (aggregate: string, blob: string) => join(aggregate, 'volumes/v1/objects', blob.slice(-2), blob)

  void it('blobs are spread over folders by the last two digits of their names', () =>
    withVolume(async (volumes, aggregate) => {
      const blob = newBlob()
      await store(volumes, blob, 'abc')
      assert.ok(existsSync(pathOf(aggregate, blob)))
    }))

  void it('a file begins with the bytes of its blob', () =>
    withVolume(async (volumes, aggregate) => {
      const blob = newBlob()
      await store(volumes, blob, 'abc')
      const file = await open(pathOf(aggregate, blob))
      assert.equal((await file.read(Buffer.alloc(3))).buffer.toString(), 'abc')
      await file.close()
    }))

  void it('a file that was cut short, emptied or never finished is damaged', () =>
    withVolume(async (volumes, aggregate) => {
      for (const bytes of [0, 10, 31]) {
        const blob = newBlob()
        await store(volumes, blob, 'abc')
        await truncate(pathOf(aggregate, blob), bytes)
        await refusedWith('damaged', volumes.open('v1', blob))
      }
    }))

  void it('a changed label is damaged, the bytes are still to be read', () =>
    withVolume(async (volumes, aggregate) => {
      const blob = newBlob()
      await store(volumes, blob, 'abc')
      const file = await open(pathOf(aggregate, blob), 'r+')
      await file.write(Buffer.from('X'), 0, 1, 4)
      await file.close()
      const reader = await volumes.open('v1', blob)
      assert.equal(String(await reader.read(0, 3)), 'abc')
      await refusedWith('damaged', reader.label())
      await reader.close()
    }))

  async function storeCompressed(volumes: DirectoryVolumes, bytes: Buffer): Promise<string> {
    const blob = newBlob()
    const writer = await volumes.write('v1', blob, { compress: true })
    await writer.write(bytes)
    await writer.commit(Buffer.from('label'))
    return blob
  }

  void it('a flipped bit of a compressed blob is damage, wherever it is', () =>
    withVolume(async (volumes, aggregate) => {
      // A chunk that is stored as it is lies between others.
      const text = textOf(900_000)
      const bytes = Buffer.concat([text, randomBytes(65_536 * 3), text])
      const blob = await storeCompressed(volumes, bytes)
      const file = await readFile(pathOf(aggregate, blob))
      const label = 'label'.length
      for (let flips = 0; flips < 60; flips++) {
        const at = flips < 45 ? flips : Math.floor((file.length * (flips - 45)) / 15)
        const place = flips < 45 ? file.length - 1 - at : at
        if (place >= file.length - 40 - label && place < file.length - 40) continue
        const changed = Buffer.from(file)
        changed[place] = (changed[place] ?? 0) ^ (1 << (flips % 8))
        await writeFile(pathOf(aggregate, blob), changed)
        await refusedWith(
          'damaged',
          volumes.open('v1', blob).then(async (reader) => {
            try {
              await reader.read(0, reader.sizeBytes)
              await reader.label()
            } finally {
              await reader.close()
            }
          }),
        )
      }
      await writeFile(pathOf(aggregate, blob), file)
      assert.ok((await contents(volumes, 'v1', blob)).equals(bytes))
    }))

  void it('a compressed file that was cut short is damaged', () =>
    withVolume(async (volumes, aggregate) => {
      const blob = await storeCompressed(volumes, textOf(300_000))
      const { size } = statSync(pathOf(aggregate, blob))
      for (const bytes of [size - 1, size - 40, size - 60, 100, 0]) {
        await truncate(pathOf(aggregate, blob), bytes)
        await refusedWith('damaged', volumes.open('v1', blob))
      }
    }))

  void it('files of the release before compression are read', () =>
    withVolume(async (volumes, aggregate) => {
      const blob = newBlob()
      await store(volumes, blob, 'to make the folder')
      await writeFile(
        pathOf(aggregate, blob),
        Buffer.from('6162636c6162656c0000000500000000000000031d2ab092484f4c44424c4231', 'hex'),
      )
      const reader = await volumes.open('v1', blob)
      assert.equal(String(await reader.read(0, reader.sizeBytes)), 'abc')
      assert.equal(reader.storedBytes, 3)
      assert.equal(String(await reader.label()), 'label')
      await reader.close()
    }))

  void it('blobs that share their place are one file of the disk', () =>
    withVolume(async (volumes, aggregate) => {
      const [one, other] = [newBlob(), newBlob()]
      await store(volumes, one, 'abc')
      await store(volumes, other, 'abc')
      assert.equal(await volumes.share('v1', one, other), 'shared')
      assert.equal(statSync(pathOf(aggregate, one)).ino, statSync(pathOf(aggregate, other)).ino)
      assert.equal(statSync(pathOf(aggregate, one)).nlink, 2)
    }))

  void it('what interrupted compressing left is gone after the next look at all blobs, what is under way stays', () =>
    withVolume(async (volumes, aggregate) => {
      const blob = newBlob()
      const writer = await volumes.write('v1', blob)
      await writer.write(textOf(3_000_000))
      await writer.commit(Buffer.from('label'))
      const left = `${pathOf(aggregate, blob)}.0123456789abcdef`
      await writeFile(left, 'half of it')
      let looks = 0
      const between = async () => {
        looks++
        assert.deepEqual(await Array.fromAsync(volumes.blobs('v1')), [blob])
        assert.ok(!existsSync(left))
      }
      await volumes.compress('v1', blob, { between })
      assert.ok(looks > 1)
      assert.deepEqual(readdirSync(join(aggregate, 'volumes/v1/objects', blob.slice(-2))), [blob])
    }))

  void it('names that are not of blobs or volumes never reach the file system', () =>
    withVolume(async (volumes) => {
      for (const name of ['', '..', '../../etc/passwd', 'A'.repeat(32), `${'a'.repeat(31)}/`]) {
        await assert.rejects(volumes.write('v1', name), RangeError)
      }
      for (const name of ['', '.', '..', 'a/b', 'a\0']) await assert.rejects(volumes.create(name), RangeError)
    }))

  void it('what an interrupted removal left is gone soon after the next list', () =>
    withVolume(async (volumes, aggregate) => {
      const left = join(aggregate, 'removing/v0.0/objects/aa')
      await mkdir(left, { recursive: true })
      await writeFile(join(left, newBlob()), 'x')
      assert.deepEqual(await volumes.list(), ['v1'])
      for (let i = 0; i < 200 && readdirSync(join(aggregate, 'removing')).length > 0; i++) {
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      assert.deepEqual(readdirSync(join(aggregate, 'removing')), [])
    }))

  void it('two processes may write into the same new folder', () =>
    withVolume(async (volumes, aggregate) => {
      const other = new DirectoryVolumes(aggregate)
      const names = Array.from({ length: 64 }, () => `${newBlob().slice(0, 30)}7f`)
      await Promise.all(names.map((name, i) => store(i % 2 === 0 ? volumes : other, name, 'abc')))
      assert.equal((await Array.fromAsync(volumes.blobs('v1'))).length, 64)
    }))

  void it('a volume that was removed and made again by another process takes blobs', () =>
    withVolume(async (volumes, aggregate) => {
      const blob = newBlob()
      await store(volumes, blob, 'abc')
      const other = new DirectoryVolumes(aggregate)
      await other.remove('v1')
      await refusedWith('missing', volumes.write('v1', blob))
      await other.create('v1')
      await store(volumes, blob, 'abc')
    }))
})
