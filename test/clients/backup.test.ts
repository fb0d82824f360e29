/**
 * Backups of a cluster that runs and of one that was stopped, put back after damage: what was acknowledged before a backup
 * is there after it was restored, and what is newer or gone is told.
 */
import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { keys as credentials, send } from '../../src/s3/test-plane.ts'
import { killAll, run, SMALL, startWith, type Started } from '../support/started.ts'
import { canSeeProcesses, descendants, isAlive } from './processes.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const environment = {
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
}
const skip =
  reasonUnlessWhole('test/guide-to-backups.test.ts') ||
  (canSeeProcesses ? false : 'the processes of the product are found in /proc')

describeUnless(skip, 'backups', {}, () => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-backup-'))
  const data = join(root, 'data')
  const backups = join(root, 'backups')
  /** Acknowledged before the first backup began. */
  const early = new Map<string, string>()
  /** Acknowledged after the last backup ended. */
  const late = new Map<string, string>()
  const gone = 'gone-since'
  let folders = 0

  const fresh = (what: string) => join(root, `${what}-${folders++}`)
  const put = async (cluster: Started, key: string, body: string) => {
    const { status } = await send({ url: cluster.s3Http }, 'PUT', `/papers/${key}`, { body })
    assert.equal(status, 200)
  }
  const get = async (cluster: Started, key: string) => {
    const { status, text } = await send({ url: cluster.s3Http }, 'GET', `/papers/${key}`, {})
    return status === 200 ? text : String(status)
  }
  const holdfast = async (...args: string[]) => {
    const begun = run(args, SMALL)
    return { code: await begun.ended, said: begun.said() }
  }
  const listOf = (folder: string) => readdirSync(join(folder, 'backups')).toSorted()
  const piecesOf = (folder: string) =>
    readdirSync(join(folder, 'pieces')).flatMap((two) => readdirSync(join(folder, 'pieces', two)))
  const killWhole = async (cluster: Started) => {
    const pids = [cluster.pid, ...descendants(cluster.pid).map(({ pid }) => pid)]
    for (const pid of pids) process.kill(pid, 'SIGKILL')
    while (pids.some((pid) => isAlive(pid))) await wait(25)
  }
  const copyOf = (folder: string) => {
    const copy = fresh('copy')
    cpSync(folder, copy, { recursive: true, filter: (file) => !file.endsWith('.sock') })
    return copy
  }

  before(async () => {
    const cluster = await startWith(['--data', data], environment)
    assert.equal((await send({ url: cluster.s3Http }, 'PUT', '/papers', {})).status, 200)
    for (let n = 0; n < 40; n++) {
      early.set(`early-${n}`, `body ${n}`)
      await put(cluster, `early-${n}`, `body ${n}`)
    }
    await put(cluster, gone, large('it is deleted later'))
    const over = new AbortController()
    let during = 0
    const writing = (async () => {
      while (!over.signal.aborted) await put(cluster, `during-${during++}`, 'written meanwhile')
    })()
    for (let n = 0; n < 3; n++) {
      const { code, said } = await holdfast('backup', '--data', data, '--to', backups)
      assert.equal(code, 0, said)
      assert.match(said, /holds the keys of the cluster/)
    }
    over.abort()
    await writing
    assert.ok(during > 0)
    for (let n = 0; n < 5; n++) {
      late.set(`late-${n}`, large(`later ${n}`))
      await put(cluster, `late-${n}`, large(`later ${n}`))
    }
    assert.equal((await send({ url: cluster.s3Http }, 'DELETE', `/papers/${gone}`, {})).status, 204)
    // The blob of the deleted object goes a moment later.
    while (blobsIn(data) !== 5) await wait(25)
    await killWhole(cluster)
  })
  after(async () => {
    await killAll()
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  })

  /** A body that has a file of its own. */
  const large = (text: string) => text.padEnd(200_000, '.')
  const blobsIn = (folder: string) =>
    readdirSync(join(folder, 'aggr1/volumes'), { recursive: true, withFileTypes: true }).filter(
      (one) => one.isFile() && one.parentPath.includes('/objects/'),
    ).length

  it('are readable by their owner alone, share what is the same, and verify', async () => {
    assert.equal(listOf(backups).length, 3)
    for (const entry of readdirSync(backups, { recursive: true, withFileTypes: true })) {
      const place = join(entry.parentPath, entry.name)
      assert.equal(statSync(place).mode & 0o777, entry.isDirectory() ? 0o700 : 0o600, place)
    }
    const { code, said } = await holdfast('backup', 'verify', backups)
    assert.equal(code, 0, said)
    assert.equal(said.match(/whole$/gm)?.length, 3)
  })

  it('restore to the damaged data folder: old objects are there, newer blobs are kept, lost ones are told', async () => {
    const folder = copyOf(data)
    truncateSync(join(folder, 'catalog/catalog.db'), 8192)
    rmSync(join(folder, 'cluster.key'))
    assert.equal(await run(['start', '--data', folder], SMALL).ended, 1)

    const refused = await holdfast('restore', '--from', backups, '--data', folder)
    assert.equal(refused.code, 1)
    assert.match(refused.said, /not empty .* --move-aside .*\n$/)

    const restored = await holdfast('restore', '--from', backups, '--data', folder, '--move-aside')
    assert.equal(restored.code, 0, restored.said)
    assert.match(restored.said, /newer than the backup: \d+\. They stay/)
    assert.match(restored.said, /gone since the backup: 1\. .*: 1\.\n {2}papers\/gone-since\n/)
    assert.match(
      readFileSync(join(folder, 'restore-report.txt'), 'utf8'),
      /^\{"bucket":"papers","key":"gone-since",.*\}\n$/,
    )
    const aside = readdirSync(folder).find((name) => name.startsWith('replaced-')) ?? ''
    assert.equal(statSync(join(folder, aside, 'catalog/catalog.db')).size, 8192)

    const cluster = await startWith(['--data', folder], environment)
    for (const [key, body] of early) assert.equal(await get(cluster, key), body)
    for (const key of late.keys()) assert.equal(await get(cluster, key), '404')
    assert.notEqual(await get(cluster, gone), large('it is deleted later'))
    await put(cluster, 'new', 'after it')
    assert.equal(await get(cluster, 'new'), 'after it')
    await killWhole(cluster)
    const again = await startWith(['--data', folder], environment)
    assert.equal(await get(again, 'new'), 'after it')
    assert.equal(blobsIn(folder), 5, 'blobs of objects that the backup does not have stay')
    assert.ok(!existsSync(join(folder, 'aggr1/lost-and-found')))
    again.kill('SIGTERM')
    assert.equal(await again.ended, 0)
  })

  it('restore to a new folder, without blobs, and tell which objects have none; the cluster takes new ones', async () => {
    const folder = fresh('new')
    const { code, said } = await holdfast('restore', '--from', backups, '--data', folder)
    assert.equal(code, 0, said)
    assert.match(said, /gone since the backup: \d+\./)
    const cluster = await startWith(['--data', folder], environment)
    assert.notEqual(await get(cluster, 'early-1'), 'body 1')
    await put(cluster, 'early-1', 'once more')
    assert.equal(await get(cluster, 'early-1'), 'once more')
    cluster.kill('SIGTERM')
    assert.equal(await cluster.ended, 0)

    const stopped = await holdfast('backup', '--data', folder, '--to', backups, '--keep', '2')
    assert.equal(stopped.code, 0, stopped.said)
    assert.match(stopped.said, /Removed older backups: 2\./)
    assert.equal(listOf(backups).length, 2)
    assert.equal((await holdfast('backup', 'verify', backups)).code, 0)
  })

  it('take no space for what is the same', async () => {
    const to = fresh('backups')
    for (let n = 0; n < 2; n++) assert.equal((await holdfast('backup', '--data', data, '--to', to)).code, 0)
    const pieces = piecesOf(to).length
    const { said } = await holdfast('backup', '--data', data, '--to', to)
    assert.match(said, /of which 0\.0 MB are new/)
    assert.equal(piecesOf(to).length, pieces)
  })

  it('are refused of a catalog that is damaged, and into a folder of something else', async () => {
    const folder = copyOf(data)
    truncateSync(join(folder, 'catalog/catalog.db-wal'))
    const damaged = await holdfast('backup', '--data', folder, '--to', backups)
    assert.equal(damaged.code, 1)
    assert.match(damaged.said, /The log .* is missing or empty/)
    const { code, said } = await holdfast('backup', '--data', folder, '--to', join(data, 'certificates'))
    assert.equal(code, 1)
    assert.match(said, /holds something else/)
    const within = await holdfast('backup', '--data', data, '--to', join(data, 'backups'))
    assert.match(within.said, /lies in the data folder/)
    assert.equal(within.code, 1)
  })

  it('that are damaged are told by verify, are not restored, and are made whole by the next one', async () => {
    const to = fresh('backups')
    assert.equal((await holdfast('backup', '--data', data, '--to', to)).code, 0)
    const [name = ''] = listOf(to)
    const manifest = JSON.parse(readFileSync(join(to, 'backups', name), 'utf8').split('\n')[0] ?? '') as {
      catalog: { pieces: string[] }
    }
    const [piece = ''] = manifest.catalog.pieces
    const place = join(to, 'pieces', piece.slice(0, 2), piece)
    const bytes = readFileSync(place)
    bytes[100] = (bytes[100] ?? 0) ^ 1
    writeFileSync(place, bytes)
    const verified = await holdfast('backup', 'verify', to)
    assert.equal(verified.code, 1)
    assert.match(verified.said, /damaged: a piece of catalog\/catalog.db is missing or damaged/)
    const folder = fresh('new')
    const restored = await holdfast('restore', '--from', join(to, 'backups', name), '--data', folder)
    assert.equal(restored.code, 1)
    assert.match(restored.said, /cannot be restored/)
    assert.equal((await holdfast('backup', '--data', data, '--to', to)).code, 0)
    assert.equal((await holdfast('backup', 'verify', to)).code, 0)
  })

  it('that are interrupted leave the earlier ones whole', async () => {
    const to = fresh('backups')
    assert.equal((await holdfast('backup', '--data', data, '--to', to)).code, 0)
    const folder = copyOf(data)
    const cluster = await startWith(['--data', folder], environment)
    for (let n = 0; n < 20; n++) await put(cluster, `more-${n}`, 'more')
    const begun = run(['backup', '--data', folder, '--to', to], SMALL)
    const known = piecesOf(to).length
    while (piecesOf(to).length === known && isAlive(begun.pid)) await wait(5)
    begun.kill('SIGKILL')
    await begun.ended
    assert.equal((await holdfast('backup', 'verify', to)).code, 0)
    assert.equal((await holdfast('backup', '--data', folder, '--to', to)).code, 0)
    assert.equal((await holdfast('backup', 'verify', to)).code, 0)
    cluster.kill('SIGTERM')
    assert.equal(await cluster.ended, 0)
  })
})
