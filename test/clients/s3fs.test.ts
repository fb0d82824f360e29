/** s3fs as it comes: a bucket mounted as a folder, and what programs do to folders. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { accessSync, constants, readFileSync } from 'node:fs'
import {
  appendFile,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3'
import { startProduct, type Product } from '../support/product.ts'
import { describeUnless, reasonWithoutTime, runnerFor } from './programs.ts'
import { listAll, sdkFor, sha256OfObject } from './sdk.ts'

const MIB = 2 ** 20
const skip = reasonWithoutTime('s3fs', 'test/clients/tools.test.ts') || reasonWithoutFuse()
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

describeUnless(skip, 'a bucket is mounted with s3fs', { timeout: 120_000 }, () => {
  let product: Product
  let client: S3Client
  let work: string
  let place: string

  before(async () => {
    work = await mkdtemp(join(tmpdir(), 'holdfast-s3fs-'))
    place = join(work, 'mounted')
    await mkdir(place)
    product = await startProduct({ environment: { HOLDFAST_WORKERS: '2' } })
    client = sdkFor(product)
    await client.send(new CreateBucketCommand({ Bucket: 'folder' }))
    const options = [`url=${product.s3Http}`, 'use_path_request_style', 'multipart_size=10', 'stat_cache_expire=1']
    const run = runnerFor(product, work)
    // Also when the tests are interrupted: a mount outlives the process that asked for it.
    process.once('exit', () => unmount(place))
    await run('s3fs', ['folder', place, ...options.flatMap((option) => ['-o', option])])
  })
  after(async () => {
    unmount(place)
    client.destroy()
    await product.stop()
    await rm(work, { recursive: true, force: true })
  })

  it('the folder is a mount', async () => {
    assert.ok(isMounted(place))
    assert.deepEqual(await readdir(place), [])
  })

  it('a file that is written is an object, and reads back', async () => {
    await writeFile(join(place, 'note.txt'), 'written through the mount')
    assert.equal(await readFile(join(place, 'note.txt'), 'utf8'), 'written through the mount')
    assert.equal(await sha256OfObject(client, 'folder', 'note.txt'), digest(Buffer.from('written through the mount')))
  })

  it('a file larger than a part goes up in parts and comes back the same', async () => {
    const bytes = randomBytes(33 * MIB + 5)
    await writeFile(join(place, 'large'), bytes)
    assert.equal(await sha256OfObject(client, 'folder', 'large'), digest(bytes))
    assert.match((await listAll(client, 'folder', 'large')).get('large')?.etag ?? '', /-\d+"$/)
    assert.equal(digest(await readFile(join(place, 'large'))), digest(bytes))
  })

  it('a part of a file is read, changed and appended to', async () => {
    const path = join(place, 'edited')
    await writeFile(path, '0123456789')
    const file = await open(path, 'r+')
    await file.write('ABC', 4)
    await file.close()
    await appendFile(path, '!')
    assert.equal(await readFile(path, 'utf8'), '0123ABC789!')
    assert.equal(await sha256OfObject(client, 'folder', 'edited'), digest(Buffer.from('0123ABC789!')))
  })

  it('a file is renamed, a large one too', async () => {
    await rename(join(place, 'note.txt'), join(place, 'renamed.txt'))
    await rename(join(place, 'large'), join(place, 'larger'))
    const listed = await listAll(client, 'folder')
    assert.deepEqual([...listed.keys()].toSorted(), ['edited', 'larger', 'renamed.txt'])
    assert.equal(listed.get('larger')?.sizeBytes, 33 * MIB + 5)
  })

  it('folders are made, filled, listed, renamed and removed', async () => {
    await mkdir(join(place, 'one', 'two'), { recursive: true })
    for (const name of ['a', 'b', 'ü with space']) await writeFile(join(place, 'one', 'two', name), name)
    assert.deepEqual((await readdir(join(place, 'one', 'two'))).toSorted(), ['a', 'b', 'ü with space'])
    await rename(join(place, 'one'), join(place, 'first'))
    assert.deepEqual((await readdir(join(place, 'first', 'two'))).toSorted(), ['a', 'b', 'ü with space'])
    assert.equal(await readFile(join(place, 'first', 'two', 'ü with space'), 'utf8'), 'ü with space')
    await assert.rejects(rmdir(join(place, 'first')), /ENOTEMPTY/)
    await rm(join(place, 'first'), { recursive: true })
    assert.deepEqual((await readdir(place)).toSorted(), ['edited', 'larger', 'renamed.txt'])
  })

  it('owner, mode and time of a file are kept', async () => {
    const path = join(place, 'mode')
    await writeFile(path, 'x', { mode: 0o640 })
    const { mode, size, mtimeMs } = await stat(path)
    assert.equal(mode & 0o777, 0o640)
    assert.equal(size, 1)
    assert.ok(Math.abs(mtimeMs - Date.now()) < 60_000)
  })
})

/** Mounts need the device and a right that containers often lack, so one is tried. */
function reasonWithoutFuse(): string | false {
  try {
    accessSync('/dev/fuse', constants.R_OK | constants.W_OK)
  } catch {
    return '/dev/fuse cannot be opened'
  }
  const isRoot = process.getuid?.() === 0
  const helper = spawnSync('fusermount', ['-V'])
  if (!isRoot && helper.status !== 0) return 'fusermount is not installed'
  if (!isRoot) return false
  // CAP_SYS_ADMIN is bit 21 of the effective capabilities.
  const effective = /^CapEff:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'
  return (BigInt(`0x${effective}`) >> 21n) & 1n ? false : 'this process may not mount'
}

function isMounted(place: string): boolean {
  return readFileSync('/proc/self/mounts', 'utf8').includes(` ${place} fuse.s3fs `)
}

function unmount(place: string): void {
  if (!isMounted(place)) return
  for (const [program, ...args] of [
    ['fusermount', '-u', place],
    ['umount', '-l', place],
  ] as const) {
    if (spawnSync(program, args).status === 0) return
  }
}
