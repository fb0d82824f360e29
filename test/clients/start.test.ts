/** What a start does with a data folder, its lock and its ports; and what it prints of secrets. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { RestClient } from '../support/rest-client.ts'
import { until } from './processes.ts'
import { killAll, ready, run, SMALL, startWith, type Run, type Started } from '../support/started.ts'

const { HOLDFAST_ADMIN_PASSWORD: _given, ...ANY_PORTS } = SMALL
const folders: string[] = []
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-start-'))
  folders.push(folder)
  return folder
}
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

/** One sentence, or a few, on one line. */
const ONE_LINE = /^[^\n]+\.\n$/

const KEYS = {
  AWS_ACCESS_KEY_ID: 'GIVENACCESSKEY000001',
  AWS_SECRET_ACCESS_KEY: 'a-given-secret-key-0000000000000000000',
}

describe('a start', () => {
  /** Two starts at the same instant, of which one is there for the other tests. */
  const folder = newFolder()
  let loser: Run
  let loserCode: number | NodeJS.Signals | null
  let first: Started
  before(async () => {
    const both = [0, 1].map(() => run(['start', '--data', folder], { ...SMALL, ...KEYS }))
    const [ended] = await Promise.race(both.map(async (one) => [one, await one.ended] as const))
    loser = ended
    loserCode = await ended.ended
    const winner = both.find((one) => one !== ended)
    assert.ok(winner)
    first = await ready(winner)
  })
  after(killAll)

  it('at the same instant as another: one is ready, the other ends', () => {
    assert.equal(loserCode, 1)
    assert.match(loser.said(), /in use/)
    assert.match(loser.said(), ONE_LINE)
    assert.match(first.said(), /Holdfast is ready/)
  })

  it('does not print the secrets that it was given', () => {
    for (const secret of [...Object.values(KEYS), SMALL['HOLDFAST_ADMIN_PASSWORD'] ?? '']) {
      assert.ok(!first.said().includes(secret), first.said())
    }
    assert.match(first.said(), /curl -k -u "admin:\$HOLDFAST_ADMIN_PASSWORD"/)
  })

  it('that comes second ends with one sentence and leaves the cluster that runs as it is', async () => {
    const second = run(['start', '--data', folder], SMALL)
    assert.equal(await second.ended, 1)
    assert.match(second.said(), /^The data folder .* is in use by a cluster that runs\. Stop it first/)
    assert.match(second.said(), ONE_LINE)
    const made = await first.rest.call('POST', '/api/svm/svms?return_timeout=30', { name: 'after' })
    assert.equal(made.status, 201, made.text)
  })

  it('on an address that is in use ends with one sentence that names the setting', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const address = `127.0.0.1:${(other.address() as AddressInfo).port}`
    try {
      const begun = run(['start', '--data', newFolder()], { ...SMALL, HOLDFAST_MANAGEMENT: address })
      assert.equal(await begun.ended, 1)
      assert.match(
        begun.said(),
        new RegExp(`^The address ${address} is in use by another program.*HOLDFAST_MANAGEMENT`),
      )
      assert.match(begun.said(), ONE_LINE)
    } finally {
      other.close()
    }
  })

  it('on the data address of another cluster ends, and does not take its clients', async () => {
    const address = first.s3Http.slice('http://'.length)
    const other = run(['start', '--data', newFolder()], { ...SMALL, HOLDFAST_S3_HTTP: address })
    assert.equal(await other.ended, 1)
    assert.match(other.said(), new RegExp(`^The address ${address} is in use by another program.*HOLDFAST_S3_HTTP`))
  })

  it('after a cluster that was killed has all of it, and is not ready until its data address is free', async () => {
    first.kill('SIGKILL')
    await first.ended
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const address = `127.0.0.1:${(other.address() as AddressInfo).port}`
    const begun = await startWith(['--data', folder], { HOLDFAST_S3: '127.0.0.1:0', HOLDFAST_S3_HTTP: address })
    const readyz = async () => (await begun.rest.get('/readyz')).status
    assert.deepEqual([await readyz(), (await begun.rest.get('/livez')).status], [503, 200])
    assert.equal((await begun.rest.get('/api/svm/svms?name=after')).body['num_records'], 1)
    await new Promise((resolve) => other.close(resolve))
    await until('it is ready', async () => (await readyz()) === 200)
    assert.equal((await fetch(`http://${address}/readyz`)).status, 200)
  })

  it('keeps what it makes up from whoever keeps its output, in a private folder', async () => {
    const folder = join(newFolder(), 'made/for it')
    const begun = run(['start', '--data', folder], ANY_PORTS)
    for (let tries = 0; !begun.said().includes('/docs/api') && tries < 1800; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const file = /^ {2}Credentials +(.*)$/m.exec(begun.said())?.[1] ?? ''
    assert.equal(file, join(folder, 'credentials.env'))
    const secrets = Object.fromEntries(
      [...readFileSync(file, 'utf8').matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value]),
    ) as Record<string, string>
    assert.deepEqual(Object.keys(secrets), ['HOLDFAST_ADMIN_PASSWORD', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])
    for (const secret of Object.values(secrets)) assert.ok(!begun.said().includes(secret))
    const management = /^ {2}Management +(\S+)$/m.exec(begun.said())?.[1] ?? ''
    const login = Buffer.from(`admin:${secrets['HOLDFAST_ADMIN_PASSWORD']}`).toString('base64')
    const rest = new RestClient(management, `Basic ${login}`)
    assert.equal((await rest.get('/api/cluster')).status, 200)
    rest.close()
    const mode = (place: string) => (statSync(join(folder, place)).mode & 0o777).toString(8)
    for (const place of ['.', 'catalog', 'run', 'certificates', 'aggr1']) assert.equal(mode(place), '700', place)
    for (const suffix of ['', '-wal', '-shm', '.lock']) assert.equal(mode(`catalog/catalog.db${suffix}`), '600', suffix)
    for (const place of ['cluster.key', 'certificates/server.key', 'credentials.env']) assert.equal(mode(place), '600')
  })
})
