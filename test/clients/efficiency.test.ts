/** Everything is killed while clients write what is compressed and shared, and a run does the same beside them. */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { textOf } from '../../src/ports/volumes.suite.ts'
import { asNumber, asText, recordsOf, type Body } from '../support/body.ts'
import { startProduct, type Product } from '../support/product.ts'
import { RestClient } from '../support/rest-client.ts'
import { canSeeProcesses, killEverything, startAgain, until } from './processes.ts'
import { sdkFor } from './sdk.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const Bucket = 'less'
const WORKERS = { HOLDFAST_WORKERS: '2' }
const WRITERS = 6
const KEYS = 60
const timeout = 180_000
const skip =
  reasonUnlessWhole('test/simulation/efficiency-killed.test.ts') ||
  (canSeeProcesses ? false : 'processes can be found on Linux only')
/** Few enough that most writes have a twin. */
const bodies = Array.from({ length: 5 }, (_, n) => textOf(20_000 + n * 90_000))

describeUnless(skip, 'a volume that stores in less survives a power cut', { timeout }, () => {
  let product: Product
  let client: S3Client
  let rest: RestClient
  let volume: string
  /** What a key may hold: bodies, or nothing. */
  const possible = new Map<string, Set<Buffer | undefined>>()
  let acknowledged = 0

  const use = (started: Product) => {
    product = started
    client = sdkFor(product)
    rest = new RestClient(product.management, `Basic ${Buffer.from(`admin:${product.password}`).toString('base64')}`)
  }
  before(async () => {
    use(await startProduct({ environment: WORKERS }))
    const made = { name: 'less', svm: 'svm1', size: '1g', 'guarantee.type': 'none', 'snapshot_policy.name': 'none' }
    await ask('POST', '/api/storage/volumes', made)
    volume = await uuidOf('/api/storage/volumes', 'less')
    await ask('PATCH', `/api/protocols/s3/services/${await uuidOf('/api/svm/svms', 'svm1')}`, {
      data_volumes: ['less'],
    })
    await ask('POST', '/api/protocols/s3/buckets', { name: Bucket, svm: 'svm1', volume: 'less', size: '1t' })
  })
  after(async () => {
    rest.close()
    client.destroy()
    await product.stop()
  })

  async function ask(method: string, target: string, body: unknown): Promise<void> {
    const { status, text } = await rest.call(method, `${target}?return_timeout=60`, body)
    assert.ok(status < 300, `${method} ${target}: ${status} ${text}`)
  }
  async function uuidOf(collection: string, name: string): Promise<string> {
    return asText(recordsOf((await rest.get(`${collection}?name=${name}&fields=uuid`)).body)[0]?.['uuid'])
  }
  const shown = async (): Promise<Body> =>
    (await rest.get(`/api/storage/volumes/${volume}?fields=space,efficiency`)).body

  /** Puts and deletes until the product is gone, and keeps what each key may hold. */
  async function write(writer: number, from: S3Client): Promise<void> {
    for (;;) {
      const Key = `${writer}/${randomInt(KEYS)}`
      const Body = randomInt(6) === 0 ? undefined : bodies[randomInt(bodies.length)]
      const before = possible.get(Key) ?? new Set([undefined])
      possible.set(Key, new Set([...before, Body]))
      try {
        if (Body === undefined) await from.send(new DeleteObjectCommand({ Bucket, Key }))
        else await from.send(new PutObjectCommand({ Bucket, Key, Body }))
      } catch {
        return
      }
      possible.set(Key, new Set([Body]))
      acknowledged++
    }
  }

  async function contentOf(Key: string): Promise<Buffer | undefined> {
    try {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }))
      return Buffer.from((await Body?.transformToByteArray()) ?? [])
    } catch (failure) {
      if (failure instanceof Error && failure.name === 'NoSuchKey') return undefined
      throw failure
    }
  }

  it('everything is killed while clients write and a run is on, with efficiency turned on meanwhile', async () => {
    const writing = sdkFor(product, { tries: 1 })
    const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer, writing))
    await until('plain writes are acknowledged', () => acknowledged > 100)
    await ask('PATCH', `/api/storage/volumes/${volume}`, { efficiency: { compression: 'both', dedupe: 'both' } })
    await ask('PATCH', `/api/storage/volumes/${volume}`, { 'efficiency.scanner.state': 'active' })
    const mark = acknowledged
    await until('the run has begun', async () => asText((await shown())['efficiency']?.['op_state']) === 'active')
    await until('some writes went on beside it', () => acknowledged > mark + 40)
    await killEverything(product)
    await Promise.all(writers)
    writing.destroy()
    rest.close()
    client.destroy()
    use(await startAgain(product, WORKERS))
  })

  it('every key holds what was acknowledged last, or what had no answer', async () => {
    for (const [key, allowed] of possible) {
      const found = await contentOf(key)
      assert.ok(
        [...allowed].some((body) => (body === undefined ? found === undefined : found?.equals(body))),
        key,
      )
    }
  })

  it('the run is taken up and ends, and the next one finds nothing wrong', async () => {
    const isIdle = async () => asText((await shown())['efficiency']?.['op_state']) === 'idle'
    await until('the run has ended', isIdle)
    await ask('POST', `/api/storage/volumes/${volume}/efficiency-runs`, {})
    const { space, efficiency } = await shown()
    const used = asNumber(space?.['used'])
    const saved = asNumber(efficiency?.['space_savings']?.['total'])
    const held = await Promise.all([...possible.keys()].map(contentOf))
    const whole = held.reduce((sum, body) => sum + (body?.length ?? 0), 0)
    assert.equal(used + saved, whole)
    assert.ok(used < bodies.reduce((sum, body) => sum + body.length, 0), 'each body is there once, and compressed')
  })

  it('the disk has no more files than there are bodies, once what nobody needs is gone', async () => {
    const tree = join(product.folder, 'aggr1/volumes', volume, 'objects')
    const files = () => {
      const names = readdirSync(tree, { recursive: true, encoding: 'utf8' }).map((name) => join(tree, name))
      return new Set(
        names
          .map((name) => statSync(name, { throwIfNoEntry: false }))
          .map((one) => (one?.isFile() === true ? one.ino : 0)),
      )
    }
    await until('files that nobody needs are gone', () => files().size - 1 <= bodies.length)
  })
})
