import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, open, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { crc32 } from 'node:zlib'
import { contents, newBlob, proveVolumes, refusedWith, textOf } from '../../ports/volumes.suite.ts'
import { provePacks } from '../../ports/volumes-packs.suite.ts'
import { SAMPLE_CONTENT, sampleOfFormat1, sampleOfFormat2 } from './kept-samples.ts'
import { DirectoryVolumes } from './volumes.ts'

const inFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'volumes-'))
  const engines: DirectoryVolumes[] = []
  const reopen = async () => {
    const engine = new DirectoryVolumes(join(folder, 'aggregate'))
    engines.push(engine)
    return engine
  }
  return {
    volumes: await reopen(),
    reopen,
    async close() {
      for (const engine of engines) await engine.close()
      await rm(folder, { recursive: true })
    },
  }
}
proveVolumes('a directory', inFolder)
provePacks('a directory', inFolder)

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

  void it('a blob of any size, with any label, is read as it was written, whether its size is known or not', () =>
    withVolume(async (volumes) => {
      const sizes = [0, 1, 6143, 6144, 6145, 8191, 8192, 65_535, 65_536, 65_537, 1_048_577]
      for (const sizeBytes of sizes) {
        for (const labelBytes of [0, 200, 8192, 32_768]) {
          const blob = newBlob()
          const [content, label] = [randomBytes(sizeBytes), randomBytes(labelBytes)]
          const writer = await volumes.write('v1', blob)
          await writer.write(content)
          const { crc } = await writer.commit(label)
          for (const expected of [undefined, { sizeBytes, crc }]) {
            const reader = await volumes.open('v1', blob, expected)
            assert.ok((await reader.read(0, sizeBytes)).equals(content))
            assert.ok(label.equals(await reader.label()))
            await reader.close()
          }
          await refusedWith('damaged', volumes.open('v1', blob, { sizeBytes: sizeBytes + 1, crc }))
          if (sizeBytes > 0) await refusedWith('damaged', volumes.open('v1', blob, { sizeBytes: sizeBytes - 1, crc }))
        }
      }
    }))

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

  const kinds: readonly (readonly [string, boolean, Buffer])[] = [
    ['plain blob of one block', false, randomBytes(20_000)],
    ['plain blob of several blocks', false, randomBytes(300_000)],
    // Chunks that are stored as they are lie between others.
    ['compressed blob', true, Buffer.concat([textOf(900_000), randomBytes(65_536 * 3), textOf(900_000)])],
    ['blob that is compressed in part', true, Buffer.concat([textOf(200_000), randomBytes(600_000)])],
  ]
  for (const [kind, compress, bytes] of kinds) {
    void it(`a flipped bit of a ${kind} is damage, wherever it is`, () =>
      withVolume(async (volumes, aggregate) => {
        const blob = newBlob()
        const writer = await volumes.write('v1', blob, { compress })
        await writer.write(bytes)
        await writer.commit(Buffer.from('label'))
        const file = await readFile(pathOf(aggregate, blob))
        const ends = Array.from({ length: 90 }, (_, n) => file.length - 1 - n)
        const across = Array.from({ length: 20 }, (_, n) => Math.floor((file.length * n) / 20))
        const handle = await open(pathOf(aggregate, blob), 'r+')
        for (const [n, place] of [...ends, ...across].entries()) {
          const byte = file[place] ?? 0
          await handle.write(Buffer.of(byte ^ (1 << (n % 8))), 0, 1, place)
          await refusedWith('damaged', readAll(volumes, blob))
          await handle.write(Buffer.of(byte), 0, 1, place)
        }
        await handle.close()
        assert.ok((await contents(volumes, 'v1', blob)).equals(bytes))
      }))
  }

  async function readAll(volumes: DirectoryVolumes, blob: string): Promise<void> {
    const reader = await volumes.open('v1', blob)
    try {
      await reader.read(0, reader.sizeBytes)
      await reader.label()
    } finally {
      await reader.close()
    }
  }

  void it('a range is damaged when one of its blocks is, and only then', () =>
    withVolume(async (volumes, aggregate) => {
      const bytes = randomBytes(400_000)
      const blob = newBlob()
      const writer = await volumes.write('v1', blob)
      await writer.write(bytes)
      await writer.commit(Buffer.from('label'))
      const file = await open(pathOf(aggregate, blob), 'r+')
      await file.write(Buffer.of((bytes[150_000] ?? 0) ^ 1), 0, 1, 150_000)
      await file.close()
      const reader = await volumes.open('v1', blob)
      // The third block: from 131,072 to 196,608.
      for (const [start, end] of [
        [0, 131_072],
        [196_608, 400_000],
        [300_000, 300_001],
      ] as const) {
        assert.ok((await reader.read(start, end - start)).equals(bytes.subarray(start, end)))
      }
      for (const [start, end] of [
        [131_072, 131_073],
        [196_607, 196_608],
        [0, 400_000],
        [150_000, 150_001],
      ] as const) {
        await refusedWith('damaged', reader.read(start, end - start))
      }
      await reader.close()
    }))

  void it('the checksums of a large blob are read in pieces', () =>
    withVolume(async (volumes, aggregate) => {
      const piece = Buffer.alloc(1024 * 1024, 'x')
      const blob = newBlob()
      const writer = await volumes.write('v1', blob)
      for (let n = 0; n < 150; n++) await writer.write(piece)
      await writer.commit(Buffer.from('label'))
      const reader = await volumes.open('v1', blob)
      for (const n of [0, 149, 70, 63, 64, 1, 62.5, 127.5]) {
        assert.ok((await reader.read(n * piece.length, piece.length)).equals(piece), String(n))
      }
      await reader.close()
      const file = await open(pathOf(aggregate, blob), 'r+')
      await file.write(Buffer.from('y'), 0, 1, 100 * piece.length)
      await file.close()
      const again = await volumes.open('v1', blob)
      await refusedWith('damaged', again.read(100 * piece.length, 1))
      await again.close()
    }))

  void it('files that were swapped, and an older copy of a file, are found when they are opened', () =>
    withVolume(async (volumes, aggregate) => {
      const [one, other] = [newBlob(), newBlob()]
      await store(volumes, one, 'abc')
      await store(volumes, other, 'xyz')
      const [crc, crcOther] = [crc32('abc'), crc32('xyz')]
      await (await volumes.open('v1', one, { sizeBytes: 3, crc })).close()
      await copyFile(pathOf(aggregate, other), pathOf(aggregate, one))
      await refusedWith('damaged', volumes.open('v1', one, { sizeBytes: 3, crc }))
      await (await volumes.open('v1', other, { sizeBytes: 3, crc: crcOther })).close()
    }))

  void it('a compressed file that was cut short is damaged', () =>
    withVolume(async (volumes, aggregate) => {
      const blob = await storeCompressed(volumes, textOf(300_000))
      const { size } = statSync(pathOf(aggregate, blob))
      for (const bytes of [size - 1, size - 48, size - 60, 100, 0]) {
        await truncate(pathOf(aggregate, blob), bytes)
        await refusedWith('damaged', volumes.open('v1', blob))
      }
    }))

  for (const [format, sample] of [
    [1, sampleOfFormat1()],
    [2, sampleOfFormat2()],
  ] as const) {
    void it(`files of format ${format} are read, and upgraded by writing them anew`, () =>
      withVolume(async (volumes, aggregate) => {
        const blob = newBlob()
        await store(volumes, blob, 'to make the folder')
        await writeFile(pathOf(aggregate, blob), sample)
        const reader = await volumes.open('v1', blob, { sizeBytes: SAMPLE_CONTENT.length })
        assert.ok((await reader.read(0, reader.sizeBytes)).equals(SAMPLE_CONTENT))
        assert.ok((await reader.read(70_000, 9)).equals(SAMPLE_CONTENT.subarray(70_000, 70_009)))
        assert.equal(reader.storedBytes < reader.sizeBytes, format === 2)
        assert.equal(reader.crc, undefined)
        assert.equal(String(await reader.label()).includes('"size":150000'), true)
        await reader.close()
        const old = await volumes.open('v1', blob)
        const md5 = createHash('md5').update(SAMPLE_CONTENT).digest('hex')
        const { crc } = await volumes.rewrite('v1', blob, old, { label: await old.label(), md5 })
        await old.close()
        assert.equal(crc, crc32(SAMPLE_CONTENT))
        const upgraded = await volumes.open('v1', blob, { sizeBytes: SAMPLE_CONTENT.length, crc })
        assert.equal(upgraded.storedBytes, old.storedBytes)
        assert.ok((await upgraded.read(0, upgraded.sizeBytes)).equals(SAMPLE_CONTENT))
        await upgraded.close()
        const truncated = sample.subarray(0, -1)
        await writeFile(pathOf(aggregate, blob), truncated)
        await refusedWith('damaged', volumes.open('v1', blob))
      }))
  }

  void it('a file of a later format is refused by name', () =>
    withVolume(async (volumes, aggregate) => {
      const blob = newBlob()
      await store(volumes, blob, 'abc')
      const file = await readFile(pathOf(aggregate, blob))
      file.write('HOLDBLB4', file.length - 8, 'latin1')
      await writeFile(pathOf(aggregate, blob), file)
      await assert.rejects(volumes.open('v1', blob), /has format 4, which this release does not know/)
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
