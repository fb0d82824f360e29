/** restic as it comes: a backup program that trusts the store with its only copy, and reads all of it back. */
import assert from 'node:assert/strict'
import { appendFile, mkdtemp, rm, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { startProduct, type Product } from '../support/product.ts'
import { describeUnless, reasonWithoutTime, runnerFor, type Run } from './programs.ts'
import { compareTree, isWhole, makeTree, type TreeFile } from './tree.ts'

const MIB = 2 ** 20
const skip = reasonWithoutTime('restic', 'test/clients/tools.test.ts', ['version'])

interface Backup {
  readonly message_type: string
  readonly files_new: number
  readonly files_changed: number
  readonly files_unmodified: number
  readonly snapshot_id: string
}

describeUnless(skip, 'restic keeps backups', { timeout: isWhole ? 600_000 : 180_000 }, () => {
  let product: Product
  let work: string
  let from: string
  let files: TreeFile[]
  let run: Run
  let first: Backup

  const restic = (...args: readonly string[]) => run('restic', args, { folder: from })
  const backup = async (): Promise<Backup> => {
    const { stdout } = await restic('backup', '--json', '.')
    const lines = stdout.trim().split('\n')
    return JSON.parse(lines.at(-1) ?? '') as Backup
  }

  before(async () => {
    work = await mkdtemp(join(tmpdir(), 'holdfast-restic-'))
    from = join(work, 'from')
    files = await makeTree(from, { filesMax: isWhole ? 5000 : 800, ...(isWhole ? {} : { bytesMax: 40 * MIB }) })
    product = await startProduct({ environment: { HOLDFAST_WORKERS: '2' } })
    run = runnerFor(product, work, {
      RESTIC_REPOSITORY: `s3:${product.s3Http}/backups/machine`,
      RESTIC_PASSWORD: 'a password for tests',
      RESTIC_CACHE_DIR: join(work, 'cache'),
    })
  })
  after(async () => {
    await product.stop()
    await rm(work, { recursive: true, force: true })
  })

  it('makes the bucket and the repository', async () => {
    await restic('init')
    await assert.rejects(restic('init'), /already/, 'a second repository in the same place is refused')
  })

  it('backs a tree up', async () => {
    first = await backup()
    assert.equal(first.message_type, 'summary')
    assert.equal(first.files_new, files.length)
  })

  it('backs up only what changed, the second time', async () => {
    const [changed, gone] = [files[3], files[5]]
    assert.ok(changed !== undefined && gone !== undefined)
    // Files of the tree may be hard links into node_modules: a changed file is a new one.
    await unlink(changed.path)
    await writeFile(changed.path, 'changed since')
    await appendFile(join(from, 'new'), 'new since')
    await unlink(gone.path)
    files = [...files.filter((file) => file !== gone), { key: 'new', path: join(from, 'new'), sizeBytes: 9 }]
    const second = await backup()
    assert.deepEqual([second.files_new, second.files_changed], [1, 1])
    assert.equal(second.files_unmodified, files.length - 2)
  })

  it('lists the snapshots', async () => {
    const { stdout } = await restic('snapshots', '--json')
    assert.equal((JSON.parse(stdout) as unknown[]).length, 2)
  })

  it('finds no damage when it reads all data', async () => {
    const { stdout } = await restic('check', '--read-data')
    assert.match(stdout, /no errors were found/)
  })

  it('restores what was backed up last, byte for byte', async () => {
    const to = join(work, 'to')
    await restic('restore', 'latest', '--target', to)
    await compareTree(files, to)
  })

  it('forgets a snapshot, removes what only it held, and what is left is whole', async () => {
    await restic('forget', '--prune', '--max-unused', '0', first.snapshot_id)
    const { stdout } = await restic('snapshots', '--json')
    assert.equal((JSON.parse(stdout) as unknown[]).length, 1)
    assert.match((await restic('check', '--read-data')).stdout, /no errors were found/)
    const to = join(work, 'after-prune')
    await restic('restore', 'latest', '--target', to)
    await compareTree(files, to)
  })
})
