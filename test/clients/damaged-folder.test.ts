/**
 * Damage and absence of the files in the data folder of a cluster that was killed. A start ends with one sentence, and
 * changes nothing, or it goes on because the file can be made anew and nothing is lost.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { keys as credentials, send } from '../../src/s3/test-plane.ts'
import { recordsOf } from '../support/body.ts'
import { killAll, run, SMALL, startWith } from '../support/started.ts'
import { canSeeProcesses, descendants, isAlive, until } from './processes.ts'

const isWhole = process.env['HOLDFAST_TEST_WHOLE'] === '1'
const environment = {
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
}

const DAMAGES = {
  removed: (file: string) => rmSync(file),
  emptied: (file: string) => truncateSync(file, 0),
  truncated: (file: string) => truncateSync(file, Math.floor(statSync(file).size / 2)),
  changed(file: string) {
    const bytes = readFileSync(file)
    // Of the catalog that is what says what the file is; of a log a page that was acknowledged.
    const at = file.endsWith('.db') ? 3 : Math.floor(bytes.length / 8)
    bytes[at] = (bytes[at] ?? 0) ^ 0x04
    writeFileSync(file, bytes)
  },
  'replaced by a folder'(file: string) {
    rmSync(file)
    mkdirSync(file)
  },
} as const

/** What says so is to be named, so that its reader finds it. */
const ENDS: Readonly<Record<string, readonly (keyof typeof DAMAGES)[]>> = {
  'cluster.key': ['removed', 'emptied', 'truncated', 'changed', 'replaced by a folder'],
  'catalog/catalog.db': ['removed', 'emptied', 'truncated', 'changed', 'replaced by a folder'],
  'catalog/catalog.db-wal': ['removed', 'emptied', 'truncated', 'changed', 'replaced by a folder'],
  'certificates/server.key': ['removed', 'emptied', 'truncated', 'changed', 'replaced by a folder'],
  'certificates/server.crt': ['removed', 'emptied', 'truncated', 'changed', 'replaced by a folder'],
  'holdfast.lock': ['replaced by a folder'],
  'catalog/catalog.db.lock': ['replaced by a folder'],
}
/** The rest is for the whole run: each takes a start. */
const PLAIN: ReadonlySet<string> = new Set(['removed', 'changed'])
const BLOB = /\/objects\/[0-9a-f]{2}\/[0-9a-f]{32}$/
const skip = canSeeProcesses ? false : 'the processes of the product are found in /proc'

describe('the data folder of a cluster that was killed', { skip }, () => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-damaged-'))
  const whole = join(root, 'whole')
  let copies = 0

  before(async () => {
    const product = await startWith(['--data', whole], environment)
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
    cpSync(whole, folder, { recursive: true, filter: (file) => !file.endsWith('.sock') })
    return folder
  }
  /** What the log has hides what is damaged in the catalog itself, and replaces it. */
  function copyLogBack(folder: string): void {
    const catalog = new DatabaseSync(join(folder, 'catalog/catalog.db'))
    catalog.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    catalog.close()
    rmSync(join(folder, 'catalog/catalog.db-mark'))
  }
  const digest = (file: string) =>
    existsSync(file) && statSync(file).isFile() ? createHash('sha256').update(readFileSync(file)).digest('hex') : ''
  const stateOf = (folder: string) =>
    Object.keys(ENDS)
      .filter((file) => !file.endsWith('.lock'))
      .map((file) => `${file} ${digest(join(folder, file))}`)

  for (const [file, damages] of Object.entries(ENDS)) {
    for (const damage of damages.filter((one) => isWhole || PLAIN.has(one))) {
      it(`ends the start with one sentence, and is left as it is, when ${file} is ${damage}`, async () => {
        const folder = copyOf()
        if (file === 'catalog/catalog.db') copyLogBack(folder)
        DAMAGES[damage](join(folder, file))
        const state = stateOf(folder)
        const begun = run(['start', '--data', folder], SMALL)
        assert.equal(await begun.ended, 1, begun.said())
        // The catalog writer ends after the process that began it.
        await begun.gone
        assert.match(begun.said(), /^[^\n]+\.\n$/)
        const name =
          file
            .split('/')
            .at(-1)
            ?.replace(/-wal|server\.(?=key)/, '') ?? ''
        assert.ok(begun.said().includes(name) || begun.said().includes('certificates'), begun.said())
        assert.deepEqual(stateOf(folder), state)
        rmSync(folder, { recursive: true })
      })
    }
  }

  const read = async ({ s3Http }: { s3Http: string }) => {
    const { status, text } = await send({ url: s3Http }, 'GET', '/papers/a', {})
    return status === 200 ? text : `${status} ${/<Code>(.*?)<\/Code>/.exec(text)?.[1] ?? ''}`
  }

  it('is served as ever when what can be made anew is damaged or gone', async () => {
    const folder = copyOf()
    for (const file of ['endpoints.json', 'catalog/catalog.db-mark', 'catalog/catalog.db-reserve']) {
      rmSync(join(folder, file), { force: true })
    }
    for (const file of ['catalog/catalog.db-shm', 'holdfast.lock', 'catalog/catalog.db.lock']) {
      writeFileSync(join(folder, file), 'what was never written there '.repeat(50))
    }
    rmSync(join(folder, 'run'), { recursive: true, force: true })
    const product = await startWith(['--data', folder], environment)
    assert.equal(await read(product), 'a body')
    assert.ok(existsSync(join(folder, 'endpoints.json')))
    product.kill('SIGTERM')
    assert.equal(await product.ended, 0)
  })

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

    const product = await startWith(['--data', folder], environment)
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
    const product = await startWith(['--data', folder], environment)
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
