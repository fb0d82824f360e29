/** What an engine left that ended while it replaced the file of a blob, and what became of both files since. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { contents, newBlob } from '../../ports/volumes.suite.ts'
import { DirectoryVolumes } from './volumes.ts'

const BYTES = Buffer.from('what an object has. '.repeat(8000))

interface Left {
  readonly volumes: DirectoryVolumes
  readonly aggregate: string
  readonly blob: string
  readonly file: string
  readonly left: string
}

/** The file of a blob, and a sound one that was about to take its place. */
async function withLeft(use: (left: Left) => Promise<void>): Promise<void> {
  const aggregate = mkdtempSync(join(tmpdir(), 'left-'))
  const volumes = new DirectoryVolumes(aggregate)
  try {
    await volumes.create('v1')
    const blob = await store(volumes, BYTES)
    const file = volumes.fileOf('v1', blob)
    const left = `${file}.0123456789abcdef`
    writeFileSync(left, readFileSync(file))
    await use({ volumes, aggregate, blob, file, left })
  } finally {
    await volumes.close()
    await rm(aggregate, { recursive: true })
  }
}

async function store(volumes: DirectoryVolumes, bytes: Buffer): Promise<string> {
  const blob = newBlob()
  const writer = await volumes.write('v1', blob)
  await writer.write(bytes)
  await writer.commit(Buffer.from('label'))
  return blob
}

const lostIn = (aggregate: string) => {
  const folder = join(aggregate, 'lost-and-found/unknown/v1')
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
}
const flip = (file: string) => {
  const bytes = readFileSync(file)
  bytes[1000] = (bytes[1000] ?? 0) ^ 4
  writeFileSync(file, bytes)
}

void describe('a file that was about to take the place of a blob', () => {
  void it('is removed when the blob has the same bytes', () =>
    withLeft(async ({ volumes, aggregate, blob, left }) => {
      await Array.fromAsync(volumes.blobs('v1'))
      assert.ok(!existsSync(left))
      assert.deepEqual(lostIn(aggregate), [])
      assert.ok((await contents(volumes, 'v1', blob)).equals(BYTES))
    }))

  void it('is removed when it is damaged, whatever the blob is', () =>
    withLeft(async ({ volumes, aggregate, file, left }) => {
      flip(left)
      flip(file)
      const damaged = readFileSync(file)
      await Array.fromAsync(volumes.blobs('v1'))
      assert.ok(!existsSync(left))
      assert.ok(readFileSync(file).equals(damaged))
      assert.deepEqual(lostIn(aggregate), [])
    }))

  void it('takes the place of a damaged file, which is kept in lost-and-found', () =>
    withLeft(async ({ volumes, aggregate, blob, file, left }) => {
      flip(file)
      const damaged = readFileSync(file)
      await Array.fromAsync(volumes.blobs('v1'))
      assert.ok(!existsSync(left))
      assert.ok((await contents(volumes, 'v1', blob)).equals(BYTES))
      const [lost = '', ...others] = lostIn(aggregate)
      assert.deepEqual(others, [])
      assert.ok(readFileSync(lost).equals(damaged))
    }))

  void it('takes the place of a missing file', () =>
    withLeft(async ({ volumes, blob, file, left }) => {
      rmSync(file)
      await Array.fromAsync(volumes.blobs('v1'))
      assert.ok(!existsSync(left))
      assert.ok((await contents(volumes, 'v1', blob)).equals(BYTES))
    }))

  void it('goes to lost-and-found when the blob has other bytes', () =>
    withLeft(async ({ volumes, aggregate, blob, file, left }) => {
      const other = await store(volumes, Buffer.from('other bytes'))
      writeFileSync(file, readFileSync(volumes.fileOf('v1', other)))
      await Array.fromAsync(volumes.blobs('v1'))
      assert.ok(!existsSync(left))
      assert.equal((await contents(volumes, 'v1', blob)).toString(), 'other bytes')
      const [lost = ''] = lostIn(aggregate)
      assert.ok(statSync(lost).size > BYTES.length)
    }))

  void it('is looked at in turns, and what ends the look ends it as it is', () =>
    withLeft(async ({ volumes, left }) => {
      const ended = new Error('it ends')
      const between = () => Promise.reject(ended)
      await assert.rejects(Array.fromAsync(volumes.blobs('v1', { between })), (failure) => failure === ended)
      assert.ok(existsSync(left))
    }))
})
