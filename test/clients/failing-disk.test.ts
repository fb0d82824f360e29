/**
 * A real disk that is full, read-only, and away, under load. It is a small file system in memory, mounted where only the
 * product sees it: that takes no rights on machines that let users have namespaces, and is skipped elsewhere.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { keys as credentials, send } from '../../src/s3/test-plane.ts'
import { asText, recordsOf } from '../support/body.ts'
import { startProduct, type Product } from '../support/product.ts'
import { RestClient } from '../support/rest-client.ts'
import { until } from './processes.ts'
import { describeUnless } from './programs.ts'

const OWN_MOUNTS = ['unshare', '--user', '--map-root-user', '--mount']
/** Less than all keys together take, however soon what is replaced goes. */
const DISK = 'size=6m'
const CLIENTS = 6
const KEYS = 8
const BODY_BYTES = 150_000
const FULL_ROUNDS = 10
const canMount = spawnSync('unshare', [...OWN_MOUNTS.slice(1), 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status === 0
const reason = canMount ? false : 'this machine lets nobody mount anything, even for themselves'

describeUnless(reason, 'a disk that fails under load', { timeout: 120_000 }, () => {
  let product: Product
  let rest: RestClient
  let volume: string
  const disk = mkdtempSync(join(tmpdir(), 'holdfast-disk-'))
  const place = join(disk, 'mounted')
  mkdirSync(place)
  /** What each key holds. */
  const kept = new Map<string, string>()

  before(async () => {
    product = await startProduct({
      through: OWN_MOUNTS,
      environment: {
        HOLDFAST_WORKERS: '2',
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      },
    })
    rest = new RestClient(product.management, `Basic ${Buffer.from(`admin:${product.password}`).toString('base64')}`)
    mount('-t', 'tmpfs', '-o', DISK, 'tmpfs', place)
    await ask('POST', '/storage/aggregates', { name: 'small', 'block_storage.path': join(place, 'aggregate') })
    await ask('PATCH', '/svm/svms?name=svm1', { aggregates: ['aggr1', 'small'] })
    const thin = { 'guarantee.type': 'none', 'snapshot_policy.name': 'none', size: '1g' }
    await ask('POST', '/storage/volumes', {
      name: 'tight',
      'svm.name': 'svm1',
      aggregates: [{ name: 'small' }],
      ...thin,
    })
    const { body } = await rest.get('/api/storage/volumes?name=tight&fields=uuid,svm.uuid')
    volume = asText(recordsOf(body)[0]?.['uuid'])
    const svm = asText(recordsOf(body)[0]?.['svm']?.['uuid'])
    await ask('PATCH', `/protocols/s3/services/${svm}`, { data_volumes: [{ name: 'vol1' }, { name: 'tight' }] })
    const bucket = { name: 'papers', 'svm.name': 'svm1', 'volume.name': 'tight', size: 2 ** 30 }
    await ask('POST', '/protocols/s3/buckets', bucket)
  })
  after(async () => {
    rest.close()
    await product.stop()
    rmSync(disk, { recursive: true, force: true })
  })

  /** In the product's own view of the file system. */
  function mount(...args: readonly string[]): void {
    const ran = inProduct('mount', args)
    assert.equal(ran.status, 0, ran.stderr.toString())
  }
  const inProduct = (program: string, args: readonly string[]) =>
    spawnSync('nsenter', [
      `--target=${product.pid}`,
      '--user',
      '--preserve-credentials',
      '--mount',
      '--',
      program,
      ...args,
    ])

  async function ask(method: string, path: string, body?: object): Promise<void> {
    const { status, text } = await rest.call(
      method,
      `/api${path}${path.includes('?') ? '&' : '?'}return_timeout=60`,
      body,
    )
    assert.ok(status < 300 && status !== 202, `${method} ${path}: ${status} ${text}`)
  }

  const s3 = (method: string, key: string, body?: Buffer) =>
    send({ url: product.s3Http ?? '' }, method, `/papers/${key}`, body === undefined ? {} : { body })

  /** Every client writes its keys over and over, and reads them. Gives how often each refusal was met. */
  async function load(rounds: number): Promise<Map<string, number>> {
    const refusals = new Map<string, number>()
    const client = async (number: number) => {
      for (let round = 0; round < rounds; round++) {
        const key = `${number}-${round % KEYS}`
        const letter = String.fromCodePoint(97 + ((round + number) % 26))
        const { status, text } = await s3('PUT', key, Buffer.alloc(BODY_BYTES, letter))
        if (status === 200) kept.set(key, letter)
        else note(refusals, `${status} ${/<Code>(.*?)<\/Code>/.exec(text)?.[1] ?? text}`)
        if (round % 3 === 0) await insistOn(key)
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)))
    return refusals
  }
  const note = (refusals: Map<string, number>, code: string) => refusals.set(code, (refusals.get(code) ?? 0) + 1)

  async function insistOn(key: string): Promise<void> {
    const letter = kept.get(key)
    const { status, text } = await s3('GET', key)
    if (letter === undefined) assert.equal(status, 404, key)
    else assert.ok(text === letter.repeat(BODY_BYTES), `${key}: ${status}, or other bytes`)
  }

  async function insistOnAll(): Promise<void> {
    for (const key of kept.keys()) await insistOn(key)
    const { text } = await s3('GET', '?list-type=2')
    const listed = [...text.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key ?? '')
    assert.deepEqual(listed.toSorted(), [...kept.keys()].toSorted())
  }

  /** Files on the disk, those of blobs alone. */
  function files(): number {
    const { stdout } = inProduct('find', [place, '-type', 'f', '-path', '*/objects/*'])
    return stdout.toString().split('\n').filter(Boolean).length
  }

  it('that is full says InsufficientStorage, loses nothing, and keeps nothing that was refused', async () => {
    await ask('POST', `/storage/volumes/${volume}/snapshots`, { name: 'empty' })
    const refusals = await load(FULL_ROUNDS)
    assert.deepEqual([...refusals.keys()], ['507 InsufficientStorage'])
    await insistOnAll()
    await until('only what was acknowledged is on the disk', () => files() === kept.size)
  })

  it('that is full takes a snapshot, and what is deleted makes room', async () => {
    await ask('POST', `/storage/volumes/${volume}/snapshots`, { name: 'full' })
    await ask('DELETE', `/storage/volumes/${volume}/snapshots/full`)
    for (const key of [...kept.keys()].slice(0, CLIENTS)) {
      assert.equal((await s3('DELETE', key)).status, 204)
      kept.delete(key)
    }
    await until('there is room', () => files() === kept.size)
    const refusals = await load(1)
    assert.deepEqual([...refusals.keys()], [])
    await insistOnAll()
  })

  it('that is read-only says ServiceUnavailable, is read all the same, and goes on when it is writable', async () => {
    mount('-o', 'remount,ro', place)
    const refusals = await load(3)
    assert.deepEqual([...refusals.keys()], ['503 ServiceUnavailable'])
    await insistOnAll()
    const made = await rest.call('POST', '/api/storage/volumes?return_timeout=60', {
      name: 'more',
      'svm.name': 'svm1',
      aggregates: [{ name: 'small' }],
      'guarantee.type': 'none',
    })
    assert.equal(made.status, 503, made.text)
    mount('-o', 'remount,rw', place)
    const [key = ''] = kept.keys()
    assert.equal((await s3('DELETE', key)).status, 204)
    kept.delete(key)
    await until('the housekeeping goes on', () => files() === kept.size)
    await insistOnAll()
  })

  it('goes back to a snapshot, and is empty then', async () => {
    await ask('PATCH', `/storage/volumes/${volume}?restore_to.snapshot.name=empty`, {})
    kept.clear()
    await insistOnAll()
    await until('nothing is on the disk', () => files() === 0)
    assert.deepEqual([...(await load(2)).keys()], [])
    await insistOnAll()
  })
})
