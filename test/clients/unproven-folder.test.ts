/** A data folder of a cluster that was killed, whose log nothing proves, and one whose aggregate is away for a while. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { after, before, it } from 'node:test'
import { send } from '../../src/s3/test-plane.ts'
import { recordsOf } from '../support/body.ts'
import { killAll, run, SMALL, startWith } from '../support/started.ts'
import { ENVIRONMENT, withoutSockets } from './damaged-folder/whole.ts'
import { canSeeProcesses, descendants, isAlive, until } from './processes.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const BLOB = /\/objects\/[0-9a-f]{2}\/[0-9a-f]{32}$/
const reason =
  reasonUnlessWhole('src/background/housekeeping.test.ts') ||
  (canSeeProcesses ? false : 'the processes of the product are found in /proc')

describeUnless(reason, 'the data folder of a cluster that was killed', {}, () => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-unproven-'))
  const whole = join(root, 'whole')
  let copies = 0

  before(async () => {
    const product = await startWith(['--data', whole], ENVIRONMENT)
    assert.equal((await send({ url: product.s3Http }, 'PUT', '/papers', {})).status, 200)
    assert.equal((await send({ url: product.s3Http }, 'PUT', '/papers/a', { body: 'a body' })).status, 200)
    // So large that it has a file of its own.
    const large = Buffer.alloc(2 ** 21, 'x')
    assert.equal((await send({ url: product.s3Http }, 'PUT', '/papers/large', { body: large })).status, 200)
    const pids = [product.pid, ...descendants(product.pid).map(({ pid }) => pid)]
    for (const pid of pids) process.kill(pid, 'SIGKILL')
    await until('all are gone', () => pids.every((pid) => !isAlive(pid)))
  })
  after(async () => {
    await killAll()
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  })

  function copyOf(): string {
    const folder = join(root, `copy-${copies++}`)
    cpSync(whole, folder, withoutSockets)
    return folder
  }

  const read = async ({ s3Http }: { s3Http: string }) => {
    const { status, text } = await send({ url: s3Http }, 'GET', '/papers/a', {})
    return status === 200 ? text : `${status} ${/<Code>(.*?)<\/Code>/.exec(text)?.[1] ?? ''}`
  }

  it('has blobs that no row knows kept for good when nothing proves its log, also by the start after one that was refused', async () => {
    const folder = copyOf()
    rmSync(join(folder, 'catalog/catalog.db-mark'))
    const volumes = join(folder, 'aggr1/volumes')
    const written = readdirSync(volumes, { recursive: true, encoding: 'utf8' }).find((path) => BLOB.test(path)) ?? ''
    const known = basename(written)
    // Made at the same time, in the same folder.
    const blob = `${known.slice(0, 20)}${known[20] === '0' ? '1' : '0'}${known.slice(21)}`
    cpSync(join(volumes, written), join(volumes, dirname(written), blob))
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const taken = `127.0.0.1:${(other.address() as AddressInfo).port}`
    const refused = run(['start', '--data', folder], { ...SMALL, HOLDFAST_MANAGEMENT: taken })
    assert.equal(await refused.ended, 1)
    await refused.gone
    other.close()
    assert.match(refused.said(), /in use by another program/)

    const product = await startWith(['--data', folder], ENVIRONMENT)
    const found = join(folder, 'aggr1/lost-and-found')
    const setAside = () =>
      readdirSync(found, { recursive: true, encoding: 'utf8' }).filter((path) => path.includes(blob))
    await until('it is set aside', () => existsSync(found) && setAside().length > 0)
    assert.match(setAside().join(), /^unknown\//)
    product.kill('SIGTERM')
    await product.ended
  })

  it('is served without the first aggregate, which is offline, while its folder is not there, and with it again', async () => {
    const folder = copyOf()
    renameSync(join(folder, 'aggr1'), join(folder, 'away'))
    const product = await startWith(['--data', folder], ENVIRONMENT)
    const states = async () => {
      const { body } = await product.rest.get('/api/storage/aggregates?fields=name,state')
      return recordsOf(body).map((row) => [row['name'], row['state']])
    }
    assert.deepEqual(await states(), [['aggr1', 'offline']])
    assert.equal(await read(product), '503 ServiceUnavailable')
    assert.equal((await product.rest.get('/readyz')).status, 200)
    assert.ok(!existsSync(join(folder, 'aggr1/volumes')), 'no empty folder takes its place')
    rmSync(join(folder, 'aggr1'), { recursive: true, force: true })
    renameSync(join(folder, 'away'), join(folder, 'aggr1'))
    assert.deepEqual(await states(), [['aggr1', 'online']])
    assert.equal(await read(product), 'a body')
    writeFileSync(join(folder, 'aggr1/aggregate.json'), 'no label')
    assert.deepEqual(await states(), [['aggr1', 'offline']])
    product.kill('SIGKILL')
    await product.ended
  })
})
