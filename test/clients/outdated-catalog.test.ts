/** A catalog that is older than what it stands beside, or has damaged pages, ends the start; nothing is changed by that. */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, openSync, closeSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { keys as credentials, send } from '../../src/s3/test-plane.ts'
import { recordsOf } from '../support/body.ts'
import { killAll, run, SMALL, startWith, type Started } from '../support/started.ts'
import { canSeeProcesses, descendants, isAlive } from './processes.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const environment = {
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
}
const skip =
  reasonUnlessWhole('src/engines/sqlite/log-check.test.ts') ||
  (canSeeProcesses ? false : 'the processes of the product are found in /proc')

describeUnless(skip, 'an outdated or damaged catalog', {}, () => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-outdated-'))
  /** Stopped in order, then once more after further writes, and killed after that. */
  const [old, newer, killed] = [join(root, 'old'), join(root, 'newer'), join(root, 'killed')]
  const data = join(root, 'data')
  let copies = 0

  const put = async (cluster: Started, key: string) =>
    assert.equal((await send({ url: cluster.s3Http }, 'PUT', `/papers/${key}`, { body: 'a body' })).status, 200)
  const get = async (cluster: Started, key: string) =>
    (await send({ url: cluster.s3Http }, 'GET', `/papers/${key}`, {})).status
  const stop = async (cluster: Started) => {
    cluster.kill('SIGTERM')
    assert.equal(await cluster.ended, 0)
  }
  const copy = (from: string, to = join(root, `copy-${copies++}`)) => {
    cpSync(from, to, { recursive: true, filter: (file) => !file.endsWith('.sock') })
    return to
  }
  const refused = async (folder: string) => {
    const before = readFileSync(join(folder, 'catalog/catalog.db'))
    const begun = run(['start', '--data', folder], SMALL)
    assert.equal(await begun.ended, 1, begun.said())
    assert.match(begun.said(), /^[^\n]+\.\n$/)
    assert.ok(before.equals(readFileSync(join(folder, 'catalog/catalog.db'))), 'the catalog is as it was')
    return begun.said()
  }

  before(async () => {
    const first = await startWith(['--data', data], environment)
    assert.equal((await send({ url: first.s3Http }, 'PUT', '/papers', {})).status, 200)
    await put(first, 'a')
    await stop(first)
    copy(data, old)
    const second = await startWith(['--data', data], environment)
    await put(second, 'b')
    await stop(second)
    copy(data, newer)
    const third = await startWith(['--data', data], environment)
    await put(third, 'c')
    const pids = [third.pid, ...descendants(third.pid).map(({ pid }) => pid)]
    for (const pid of pids) process.kill(pid, 'SIGKILL')
    while (pids.some((pid) => isAlive(pid))) await wait(25)
    copy(data, killed)
  })
  after(async () => {
    await killAll()
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  })

  it('is noticed by its mark when the catalog alone is an older one', async () => {
    const folder = copy(newer)
    cpSync(join(old, 'catalog/catalog.db'), join(folder, 'catalog/catalog.db'))
    assert.match(await refused(folder), /catalog\.db is older than the one that was there last: .*holdfast restore/)
  })

  it('is noticed by the aggregate when all but the blobs is older; a start that accepts it goes on from there', async () => {
    const folder = copy(old)
    rmSync(join(folder, 'aggr1'), { recursive: true })
    copy(join(newer, 'aggr1'), join(folder, 'aggr1'))
    assert.match(await refused(folder), /older than the aggregate aggr1, .*holdfast restore .*HOLDFAST_ACCEPT_LOSS=1/)
    const cluster = await startWith(['--data', folder, '--accept-loss'], environment)
    assert.equal(await get(cluster, 'a'), 200)
    assert.equal(await get(cluster, 'b'), 404)
    const { body } = await cluster.rest.get('/api/support/ems/events?message.name=cluster.loss.accepted')
    assert.equal(recordsOf(body).length, 1)
    await stop(cluster)
    const again = await startWith(['--data', folder], environment)
    assert.equal(await get(again, 'a'), 200)
    await stop(again)
  })

  it('is noticed after a stop that was none when a page of it makes no sense', async () => {
    const folder = copy(killed)
    const file = join(folder, 'catalog/catalog.db')
    const catalog = new DatabaseSync(file)
    catalog.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    const { root: page } = catalog
      .prepare("SELECT rootpage AS root FROM sqlite_schema WHERE name = 'objects'")
      .get() as {
      root: number
    }
    catalog.close()
    rmSync(`${file}-mark`)
    const bytes = openSync(file, 'r+')
    writeSync(bytes, Buffer.alloc(100, 0x55), 0, 100, (page - 1) * 8192)
    closeSync(bytes)
    assert.match(await refused(folder), /catalog\.db is damaged \(objects.*holdfast restore/)
    assert.ok(statSync(file).size > 0)
  })

  it('is none when nothing was put back: after an orderly stop, and after a kill', async () => {
    for (const from of [newer, killed]) {
      const cluster = await startWith(['--data', copy(from)], environment)
      assert.equal(await get(cluster, 'b'), 200)
      await stop(cluster)
    }
  })
})
