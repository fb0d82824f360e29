/** A cluster whose only disk is full: a small file system in memory, mounted where only the product sees it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { keys as credentials, send } from '../../src/s3/test-plane.ts'
import { killAll, startWith, type Started } from '../support/started.ts'
import { canSeeProcesses, descendants, until } from './processes.ts'
import { describeUnless } from './programs.ts'

const MIB = 2 ** 20
const DISK = 'size=48m'
const OWN_MOUNTS = ['unshare', '--user', '--map-root-user', '--mount']
const ON_A_DISK = [...OWN_MOUNTS, 'sh', '-c', `mount -t tmpfs -o ${DISK} tmpfs "$HOLDFAST_DATA" && exec "$@"`, 'sh']
const canMount = spawnSync('unshare', [...OWN_MOUNTS.slice(1), 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status === 0
const reason = canMount && canSeeProcesses ? false : 'this machine lets nobody mount anything, even for themselves'

describeUnless(reason, 'a cluster whose only disk is full', { timeout: 240_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-full-'))
  const environment = {
    HOLDFAST_DATA: folder,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  }
  after(async () => {
    await killAll()
    rmSync(folder, { recursive: true, force: true })
  })

  const inProduct = ({ pid }: Started, ...command: string[]) =>
    spawnSync('nsenter', [`--target=${pid}`, '--user', '--preserve-credentials', '--mount', '--', ...command])
  const s3 = async ({ s3Http }: Started, method: string, key: string, body?: Buffer) => {
    const answered = await send({ url: s3Http }, method, `/papers${key}`, body === undefined ? {} : { body })
    return `${answered.status} ${/<Code>(.*?)<\/Code>/.exec(answered.text)?.[1] ?? ''}`.trim()
  }
  const health = async (product: Started, path: string) => [
    (await fetch(`${product.s3Http}${path}`)).status,
    (await product.rest.get(path)).status,
  ]

  it('says so, lets its clients delete, loses nothing, and goes on by itself when there is space', async () => {
    const product = await startWith([], environment, ON_A_DISK)
    const put = (key: string, bytes: number) => s3(product, 'PUT', key, Buffer.alloc(bytes, 'x'))
    assert.equal(await s3(product, 'PUT', ''), '200')
    const reserve = join(folder, 'catalog/catalog.db-reserve')
    await until('there is a reserve', () => inProduct(product, 'test', '-s', reserve).status === 0)

    let stored = 0
    let answer = await put(`/large-${stored}`, MIB)
    while (answer === '200' && stored < 100) answer = await put(`/large-${++stored}`, MIB)
    assert.equal(answer, '507 InsufficientStorage')
    inProduct(product, 'sh', '-c', `cat /dev/zero > ${folder}/filler`)
    // Their rows need the catalog alone, which has a little space of its own yet.
    const refused = new Set<string>()
    for (let at = 0; at < 3000 && refused.size === 0; at++) {
      const small = await put(`/small-${at}`, 0)
      if (small !== '200') refused.add(small)
      else stored++
    }
    await until('it is not ready', async () => {
      refused.add(await put('/none', 0))
      return (await health(product, '/readyz')).every((status) => status === 503)
    })
    refused.delete('200')
    assert.deepEqual([...refused], ['507 InsufficientStorage'])
    assert.deepEqual(await health(product, '/livez'), [200, 200])
    const made = await product.rest.call('POST', '/api/storage/volumes?return_timeout=30', {
      name: 'more',
      'svm.name': 'svm1',
      size: '64m',
      aggregates: [{ name: 'aggr1' }],
      'guarantee.type': 'none',
    })
    assert.equal(made.status, 507, made.text)
    assert.equal(await s3(product, 'GET', '/large-0'), '200')
    assert.equal(await s3(product, 'DELETE', '/large-0'), '204')
    assert.equal(await s3(product, 'GET', '/large-0'), '404 NoSuchKey')
    assert.ok(!product.said().includes('writer ended'), product.said())

    // A writer that starts on the full disk knows that it is full.
    for (const { pid, part } of descendants(product.pid)) if (part === 'writer') process.kill(pid, 'SIGKILL')
    await until('another writer takes deletes', async () => (await s3(product, 'DELETE', '/large-1')) === '204')
    assert.equal(await put('/none', 0), '507 InsufficientStorage')

    for (let at = 3; at < 9; at++) assert.equal(await s3(product, 'DELETE', `/large-${at}`), '204')
    inProduct(product, 'rm', join(folder, 'filler'))
    await until('it is ready again', async () => (await health(product, '/readyz')).every((status) => status === 200))
    assert.equal(await put('/after', MIB), '200')
    assert.equal(await s3(product, 'GET', '/large-2'), '200')
    assert.equal(await s3(product, 'GET', '/none'), '404 NoSuchKey')
  })
})
