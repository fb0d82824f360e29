/** rclone beyond copying: what people mirror and move data with, and its own comparison of both sides. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { appendFile, mkdir, mkdtemp, rm, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, it } from 'node:test'
import { startProduct, type Product } from '../support/product.ts'
import { describeUnless, reasonWithoutTime, runnerFor, type Run } from './programs.ts'
import { compareTree, sha256OfFile, type TreeFile } from './tree.ts'

const MIB = 2 ** 20
const skip = reasonWithoutTime('rclone', 'test/clients/tools.test.ts', ['version'])

/** Paths and sizes: two levels, an empty file, and one that goes up in parts. */
const sources: readonly (readonly [key: string, sizeBytes: number])[] = [
  ['empty', 0],
  ['a/one', 1],
  ['a/two', 70_000],
  ['a/b/three', 3 * MIB],
  ['with space/ünd + more', 500],
  ['large', 31 * MIB + 7],
]

describeUnless(skip, 'rclone mirrors and moves', { timeout: 180_000 }, () => {
  let product: Product
  let work: string
  let from: string
  const files: TreeFile[] = []
  let run: Run

  const rclone = async (...args: readonly string[]) => (await run('rclone', args)).stdout
  const listed = async (place: string) => {
    const text = await rclone('lsf', '-R', '--files-only', place)
    return text
      .split('\n')
      .filter((line) => line !== '')
      .toSorted()
  }
  const uploadedAt = async (key: string) => {
    const text = await rclone('lsjson', '--use-server-modtime', `here:mirror/${key}`)
    return (JSON.parse(text) as { ModTime: string }[])[0]?.ModTime
  }
  const keys = () => files.map((file) => file.key).toSorted()

  before(async () => {
    work = await mkdtemp(join(tmpdir(), 'holdfast-rclone-'))
    from = join(work, 'from')
    for (const [key, sizeBytes] of sources) {
      const path = join(from, key)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, randomBytes(sizeBytes))
      files.push({ key, path, sizeBytes })
    }
    product = await startProduct({ environment: { HOLDFAST_WORKERS: '2' } })
    run = runnerFor(product, work, {
      RCLONE_CONFIG: join(work, 'rclone.conf'),
      RCLONE_CONFIG_HERE_TYPE: 's3',
      RCLONE_CONFIG_HERE_PROVIDER: 'Other',
      RCLONE_CONFIG_HERE_ENV_AUTH: 'true',
      RCLONE_CONFIG_HERE_FORCE_PATH_STYLE: 'true',
      RCLONE_CONFIG_HERE_ENDPOINT: product.s3Http ?? '',
      // The large file goes up in seven parts, four at a time, and is copied on the server in parts too.
      RCLONE_CONFIG_HERE_UPLOAD_CUTOFF: '5Mi',
      RCLONE_CONFIG_HERE_CHUNK_SIZE: '5Mi',
      RCLONE_CONFIG_HERE_COPY_CUTOFF: '12Mi',
    })
    await writeFile(join(work, 'rclone.conf'), '')
    await rclone('mkdir', 'here:mirror')
    await rclone('mkdir', 'here:other')
  })
  after(async () => {
    await product.stop()
    await rm(work, { recursive: true, force: true })
  })

  it('sync makes the bucket equal to the folder', async () => {
    await rclone('sync', from, 'here:mirror')
    assert.deepEqual(await listed('here:mirror'), keys())
  })

  it('check agrees by hash, and by reading all bytes', async () => {
    await rclone('check', from, 'here:mirror')
    await rclone('check', '--download', from, 'here:mirror')
  })

  it('check notices a byte that differs', async () => {
    const odd = join(work, 'odd')
    await rclone('copy', from, odd)
    await writeFile(join(odd, 'a/two'), randomBytes(70_000))
    await assert.rejects(rclone('check', odd, 'here:mirror'), /1 differences found/)
    await assert.rejects(rclone('check', '--download', odd, 'here:mirror'), /1 differences found/)
  })

  it('sync uploads what changed, removes what is gone, and leaves the rest alone', async () => {
    const before = await uploadedAt('large')
    await appendFile(join(from, 'a/one'), 'more')
    await unlink(join(from, 'a/two'))
    files.splice(
      files.findIndex((file) => file.key === 'a/two'),
      1,
    )
    await rclone('sync', from, 'here:mirror')
    assert.deepEqual(await listed('here:mirror'), keys())
    await rclone('check', '--download', from, 'here:mirror')
    assert.equal(await uploadedAt('large'), before)
  })

  it('keeps the time of a file with the object', async () => {
    const [there] = JSON.parse(await rclone('lsjson', 'here:mirror/large')) as { ModTime: string }[]
    const [here] = JSON.parse(await rclone('lsjson', join(from, 'large'))) as { ModTime: string }[]
    assert.equal(Date.parse(there?.ModTime ?? ''), Date.parse(here?.ModTime ?? ''))
  })

  it('copies between buckets on the server, the large object in parts', async () => {
    await rclone('copy', '--metadata', 'here:mirror', 'here:other/copied')
    await rclone('check', '--download', 'here:mirror', 'here:other/copied')
  })

  it('moves a prefix: everything arrives, and nothing is left', async () => {
    await rclone('move', 'here:other/copied', 'here:other/moved')
    assert.deepEqual(await listed('here:other/copied'), [])
    assert.deepEqual(await listed('here:other/moved'), keys())
    const to = join(work, 'to')
    await rclone('copy', 'here:other/moved', to)
    await compareTree(files, to)
  })

  it('moves one object to another name', async () => {
    await rclone('moveto', 'here:other/moved/large', 'here:other/renamed')
    await rclone('copyto', 'here:other/renamed', join(work, 'renamed'))
    assert.equal(await sha256OfFile(join(work, 'renamed')), await sha256OfFile(join(from, 'large')))
  })

  it('uploads what has no length beforehand', async () => {
    await run('sh', ['-c', 'head -c 11000000 "$1" | rclone rcat here:other/streamed', 'sh', join(from, 'large')])
    const [entry] = JSON.parse(await rclone('lsjson', 'here:other/streamed')) as { Size: number }[]
    assert.equal(entry?.Size, 11_000_000)
  })

  it('gives a link that anyone may follow until it ends', async () => {
    const link = (await rclone('link', '--expire', '1h', 'here:other/renamed')).trim()
    const answer = await fetch(link)
    assert.equal(answer.status, 200)
    assert.equal((await answer.arrayBuffer()).byteLength, 31 * MIB + 7)
  })

  it('purges a bucket', async () => {
    await rclone('purge', 'here:other')
    assert.doesNotMatch(await rclone('lsd', 'here:'), /other/)
  })
})
