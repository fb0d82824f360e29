import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, open, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { newBlob, proveVolumes, refusedWith } from '../../ports/volumes.suite.ts'
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
