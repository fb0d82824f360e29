/** Command-line clients as they come, where they are installed: a tree up, a listing, the tree down, every byte. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { startProduct, type Product } from '../support/product.ts'
import { reasonUnlessWhole, reasonWithout, runnerFor } from './programs.ts'
import { compareTree, isWhole, makeTree } from './tree.ts'

/** Of what `npm test` moves: enough for uploads in parts. */
const BYTES_MAX = 10 * 2 ** 20

interface Tool {
  readonly name: string
  readonly program: string
  readonly version: string
  /** Files of node_modules in a short run. Some of the tools take a while for each file. */
  readonly filesMax: number
  /** Like the others, and slow. */
  readonly isForCi?: boolean
  readonly environment?: (product: Product) => Readonly<Record<string, string>>
  /** Makes a bucket. */
  readonly make: (product: Product, bucket: string) => readonly string[]
  readonly up: (product: Product, folder: string, bucket: string) => readonly string[]
  readonly down: (product: Product, bucket: string, folder: string) => readonly string[]
  /** Its output names every key. */
  readonly list: (product: Product, bucket: string) => readonly string[]
}

const aws = (product: Product) => ['--endpoint-url', product.s3Http ?? '']
const s3cmd = (product: Product) => ['-c', join(product.folder, 's3cmd.cfg')]
const rclone = (product: Product, bucket: string) =>
  `:s3,provider=Other,env_auth=true,force_path_style=true,endpoint="${product.s3Http}":${bucket}`

const tools: readonly Tool[] = [
  {
    name: 'aws',
    program: '/usr/bin/aws',
    version: '--version',
    filesMax: 20,
    make: (product, bucket) => [...aws(product), 's3', 'mb', `s3://${bucket}`],
    up: (product, folder, bucket) => [
      ...aws(product),
      's3',
      'cp',
      '--recursive',
      '--only-show-errors',
      folder,
      `s3://${bucket}`,
    ],
    down: (product, bucket, folder) => [...aws(product), 's3', 'sync', '--only-show-errors', `s3://${bucket}`, folder],
    list: (product, bucket) => [...aws(product), 's3', 'ls', '--recursive', `s3://${bucket}`],
  },
  {
    name: 's3cmd',
    program: 's3cmd',
    version: '--version',
    filesMax: 60,
    isForCi: true,
    make: (product, bucket) => [...s3cmd(product), 'mb', `s3://${bucket}`],
    up: (product, folder, bucket) => [
      ...s3cmd(product),
      'sync',
      '--no-progress',
      '-q',
      `${folder}/`,
      `s3://${bucket}/`,
    ],
    down: (product, bucket, folder) => [
      ...s3cmd(product),
      'sync',
      '--no-progress',
      '-q',
      `s3://${bucket}/`,
      `${folder}/`,
    ],
    list: (product, bucket) => [...s3cmd(product), 'ls', '--recursive', `s3://${bucket}`],
  },
  {
    name: 'rclone',
    program: 'rclone',
    version: 'version',
    filesMax: 50,
    make: (product, bucket) => ['mkdir', rclone(product, bucket)],
    up: (product, folder, bucket) => ['copy', '--transfers', '8', folder, rclone(product, bucket)],
    down: (product, bucket, folder) => ['copy', '--transfers', '8', rclone(product, bucket), folder],
    list: (product, bucket) => ['lsf', '-R', '--files-only', rclone(product, bucket)],
  },
]

describe('command-line clients move a real tree', () => {
  let product: Product
  let work: string

  before(async () => {
    work = await mkdtemp(join(tmpdir(), 'holdfast-tools-'))
    product = await startProduct({ environment: { HOLDFAST_WORKERS: '2' } })
    await writeFile(join(product.folder, 's3cmd.cfg'), s3cmdConfiguration(product))
  })
  after(async () => {
    await product.stop()
    await rm(work, { recursive: true, force: true })
  })

  for (const tool of tools) {
    const skip =
      (tool.isForCi === true && reasonUnlessWhole('test/clients/tools.test.ts')) ||
      reasonWithout(tool.program, [tool.version])
    const timeout = isWhole ? 900_000 : 120_000
    it(`${tool.name} uploads, lists and downloads, and every byte is the same`, { skip, timeout }, async () => {
      const bucket = `tree-${tool.name}`
      const [from, to] = [join(work, tool.name, 'from'), join(work, tool.name, 'to')]
      const files = await makeTree(from, {
        filesMax: isWhole && tool.name !== 's3cmd' ? Infinity : tool.filesMax,
        ...(isWhole ? {} : { bytesMax: BYTES_MAX }),
      })
      const run = runnerFor(product, join(work, tool.name))
      const call = (args: readonly string[]) => run(tool.program, args, { timeoutMs: timeout })
      await call(tool.make(product, bucket))
      await call(tool.up(product, from, bucket))
      const { stdout } = await call(tool.list(product, bucket))
      for (const file of files) assert.ok(stdout.includes(file.key), `the listing has ${file.key}`)
      assert.equal(stdout.trim().split('\n').length, files.length)
      await call(tool.down(product, bucket, to))
      await compareTree(files, to)
    })
  }
})

function s3cmdConfiguration(product: Product): string {
  const host = new URL(product.s3Http ?? '').host
  return `[default]
access_key = ${product.accessKey}
secret_key = ${product.secretKey}
host_base = ${host}
host_bucket = ${host}
use_https = False
bucket_location = us-east-1
`
}
