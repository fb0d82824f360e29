/** A volume goes back and forth between aggregates under real clients, which notice nothing; and while all is killed. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { SimulatedRandom } from '../../src/engines/simulated/random.ts'
import { sign } from '../../src/s3/auth/sign.ts'
import { asText, recordsOf } from '../support/body.ts'
import { startProduct, type Product } from '../support/product.ts'
import { RestClient } from '../support/rest-client.ts'
import { seedOf } from '../support/seed.ts'
import { canSeeProcesses, killEverything, startAgain, until } from './processes.ts'
import { sdkFor, sha256OfObject } from './sdk.ts'
import { Writes } from './writes.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const BUCKET = 'papers'
const FIXED = 60
const PART = 5 * 2 ** 20
const WRITERS = 4
const WORKERS = { HOLDFAST_WORKERS: '2' }

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** A product with two aggregates, and a bucket in a volume of the first. */
class Moving {
  product!: Product
  rest!: RestClient
  /** Without a second try: a request that fails once is a failure. */
  s3!: S3Client
  volume = ''

  async start(): Promise<void> {
    this.#use(await startProduct({ environment: WORKERS }))
    const folder = join(this.product.folder, 'aggr2')
    await this.ask('POST', '/api/storage/aggregates', { name: 'aggr2', block_storage: { path: folder } })
    await this.ask('PATCH', '/api/svm/svms?name=svm1', { aggregates: ['aggr1', 'aggr2'] })
    this.volume = await this.uuidOf('/api/storage/volumes', 'vol1')
    await this.s3.send(new CreateBucketCommand({ Bucket: BUCKET }))
  }

  async restart(): Promise<void> {
    await killEverything(this.product)
    this.close()
    this.#use(await startAgain(this.product, WORKERS))
  }

  #use(product: Product): void {
    this.product = product
    this.s3 = sdkFor(product, { tries: 1 })
    const password = Buffer.from(`${product.user}:${product.password}`).toString('base64')
    this.rest = new RestClient(product.management, `Basic ${password}`)
  }

  close(): void {
    this.rest.close()
    this.s3.destroy()
  }

  async ask(method: string, target: string, body?: unknown): Promise<void> {
    const { status, text } = await this.rest.call(method, target, body)
    assert.ok(status < 300, `${method} ${target}: ${status} ${text}`)
  }

  async uuidOf(collection: string, name: string): Promise<string> {
    const { body } = await this.rest.get(`${collection}?name=${name}&fields=uuid`)
    return asText(recordsOf(body)[0]?.['uuid'])
  }

  move(to: string): Promise<void> {
    const movement = { destination_aggregate: { name: to } }
    return this.ask('PATCH', `/api/storage/volumes/${this.volume}?return_timeout=0`, { movement })
  }

  async state(): Promise<{ state: string; aggregate: string }> {
    const fields = 'movement.state,aggregates'
    const { body, text } = await this.rest.get(`/api/storage/volumes/${this.volume}?fields=${fields}`)
    const [aggregate] = (body['aggregates'] ?? []) as unknown as readonly { readonly name: string }[]
    assert.ok(aggregate !== undefined, text)
    const state = body['movement']?.['state']
    // The job may not have begun yet.
    return { state: state === undefined ? '' : asText(state), aggregate: aggregate.name }
  }

  async moved(to: string): Promise<void> {
    await until(`the volume is in ${to}`, async () => {
      const { state } = await this.state()
      assert.ok(!['failed', 'aborted'].includes(state), `${state}\n${this.product.log()}`)
      return state === 'success'
    })
    assert.equal((await this.state()).aggregate, to)
  }

  /** The files of an aggregate, without those of the root volume, which holds none. */
  files(aggregate: string): string[] {
    const folder = join(this.product.folder, aggregate, 'volumes')
    if (!existsSync(folder)) return []
    const all = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    return all.filter((file) => /[0-9a-f]{32}$/.test(file))
  }

  send(method: string, target: string, body?: Buffer) {
    const { host, hostname, port } = new URL(this.product.s3Http ?? '')
    const identity = { accessKey: this.product.accessKey, secret: this.product.secretKey, region: 'us-east-1' }
    const given = { host, ...(body === undefined ? {} : { 'content-length': String(body.length) }) }
    const signed = sign(
      { method, rawPath: target, rawQuery: '', headers: given },
      identity,
      new Date(),
      'UNSIGNED-PAYLOAD',
    )
    const sent = request({ hostname, port, method, path: target, headers: signed.headers })
    const answered = new Promise<IncomingMessage>((resolve, reject) => sent.on('response', resolve).on('error', reject))
    return { sent, answered }
  }

  /** Begins an upload, and gives the function that ends it. */
  slowPut(key: string, body: Buffer): () => Promise<number> {
    const { sent, answered } = this.send('PUT', `/${BUCKET}/${key}`, body)
    sent.write(body.subarray(0, body.length / 2))
    return async () => {
      sent.end(body.subarray(body.length / 2))
      const answer = await answered
      answer.resume()
      return answer.statusCode ?? 0
    }
  }

  /** Begins a download, and gives the function that takes what is left of it. */
  async slowGet(key: string): Promise<() => Promise<string>> {
    const { sent, answered } = this.send('GET', `/${BUCKET}/${key}`)
    sent.end()
    const answer = await answered
    assert.equal(answer.statusCode, 200)
    return async () => {
      const hash = createHash('sha256')
      for await (const piece of answer) hash.update(piece as Buffer)
      return hash.digest('hex')
    }
  }

  async uploadParts(key: string, parts: readonly Buffer[], between: () => Promise<void>): Promise<void> {
    const of = { Bucket: BUCKET, Key: key }
    const { UploadId } = await this.s3.send(new CreateMultipartUploadCommand(of))
    const Parts: { ETag: string | undefined; PartNumber: number }[] = []
    for (const [at, Body] of parts.entries()) {
      if (at === 1) await between()
      const { ETag } = await this.s3.send(new UploadPartCommand({ ...of, UploadId, PartNumber: at + 1, Body }))
      Parts.push({ ETag, PartNumber: at + 1 })
    }
    await this.s3.send(new CompleteMultipartUploadCommand({ ...of, UploadId, MultipartUpload: { Parts } }))
  }
}

const skip = reasonUnlessWhole('test/simulation/move-killed.test.ts')
describeUnless(skip, 'a volume that moves while clients work', { timeout: 180_000 }, () => {
  const moving = new Moving()
  const fixed = Array.from({ length: FIXED }, (_, at) => randomBytes(at % 10 === 0 ? 1_500_000 : 2000 + at))
  const parts = Array.from({ length: 3 }, () => randomBytes(PART))
  const whole = sha256(Buffer.concat(parts))

  before(() => moving.start())
  after(async () => {
    moving.close()
    await moving.product.stop()
  })

  /** Reads objects, and ranges of them, again and again. */
  async function read(isOver: () => boolean): Promise<number> {
    let reads = 0
    for (let at = 0; !isOver(); at = (at + 7) % FIXED, reads += 1) {
      const bytes = fixed[at] ?? Buffer.alloc(0)
      const start = at % 3 === 0 ? 1000 : 0
      const Range = start === 0 ? {} : { Range: `bytes=${start}-` }
      const { Body } = await moving.s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: `fixed/${at}`, ...Range }))
      assert.equal(sha256((await Body?.transformToByteArray()) ?? Buffer.alloc(0)), sha256(bytes.subarray(start)))
      if (at % 5 === 0) {
        const CopySource = `${BUCKET}/fixed/${at}`
        await moving.s3.send(new CopyObjectCommand({ Bucket: BUCKET, Key: `copies/${at}`, CopySource }))
      }
    }
    return reads
  }

  it('is moved back and forth, and nobody notices', async () => {
    for (const [at, Body] of fixed.entries()) {
      await moving.s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: `fixed/${at}`, Body }))
    }
    await moving.uploadParts('large', parts, async () => {})
    await moving.uploadParts('replaced', parts, async () => {})
    await moving.ask('POST', `/api/storage/volumes/${moving.volume}/snapshots?return_timeout=15`, { name: 'before' })
    const writes = new Writes(moving.s3, BUCKET, 'written/', WRITERS)
    const over = { is: false }
    const readers = [read(() => over.is), read(() => over.is)]
    const journeys = ['aggr2', 'aggr1'] as const
    for (const [n, to] of journeys.entries()) {
      const from = to === 'aggr1' ? 'aggr2' : 'aggr1'
      const slow = randomBytes(3_000_000)
      const endPut = moving.slowPut(`slow/${n}`, slow)
      const gets = [await moving.slowGet('large'), await moving.slowGet('replaced')]
      await moving.uploadParts(`over/${n}`, parts.slice(0, 2), async () => {
        await moving.move(to)
        await moving.uploadParts('replaced', parts, async () => {})
        const hasSwitched = async () => (await moving.state()).aggregate === to
        await until('the volume has switched', hasSwitched)
      })
      // A write that began before is waited for, so the old tree is still there.
      await wait(300)
      assert.equal((await moving.state()).state, 'cutover')
      assert.equal(await endPut(), 200)
      for (const end of gets) assert.equal(await end(), whole)
      await moving.moved(to)
      assert.deepEqual(moving.files(from), [], 'nothing is left where it was')
      assert.equal(await sha256OfObject(moving.s3, BUCKET, `slow/${n}`), sha256(slow))
      assert.equal(await sha256OfObject(moving.s3, BUCKET, `over/${n}`), sha256(Buffer.concat(parts.slice(0, 2))))
      await moving.ask('POST', `/api/storage/volumes/${moving.volume}/snapshots?return_timeout=15`, {
        name: `after${n}`,
      })
    }
    over.is = true
    await writes.stop()
    const reads = await Promise.all(readers)
    assert.equal(writes.unanswered, 0, moving.product.log())
    assert.ok(writes.acknowledged > 50 && reads.every((one) => one > 10))
    await writes.verify(moving.s3)
    for (const [at, bytes] of fixed.entries()) {
      for (const bucket of [BUCKET, `${BUCKET}-s3snap-before`]) {
        assert.equal(await sha256OfObject(moving.s3, bucket, `fixed/${at}`), sha256(bytes))
      }
    }
    assert.equal(await sha256OfObject(moving.s3, `${BUCKET}-s3snap-before`, 'large'), whole)
  })

  it('goes back to a snapshot that it took before it moved', async () => {
    await moving.ask(
      'PATCH',
      `/api/storage/volumes/${moving.volume}?restore_to.snapshot.name=before&return_timeout=60`,
      {},
    )
    for (const [at, bytes] of fixed.entries()) {
      assert.equal(await sha256OfObject(moving.s3, BUCKET, `fixed/${at}`), sha256(bytes))
    }
    assert.equal(await sha256OfObject(moving.s3, BUCKET, 'slow/0'), undefined)
  })
})

const skipKilled = skip || (canSeeProcesses ? false : 'processes can be found on Linux only')

describeUnless(skipKilled, 'a volume that moves while everything is killed', { timeout: 180_000 }, () => {
  const moving = new Moving()
  before(() => moving.start())
  after(async () => {
    moving.close()
    await moving.product.stop()
  })

  it('arrives, with all that was acknowledged, and leaves nothing behind', async (context) => {
    const random = new SimulatedRandom(seedOf(context))
    const fixed = Array.from({ length: 300 }, () => randomBytes(500 + random.below(60_000)))
    const store = async ([at, Body]: [number, Buffer]) => {
      await moving.s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: `fixed/${at}`, Body }))
    }
    const left = fixed.entries()
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (const one of left) await store(one)
      }),
    )
    for (const [n, to] of (['aggr2', 'aggr1'] as const).entries()) {
      const writes: Writes[] = []
      await moving.move(to)
      for (let kills = 0; kills < 2; kills += 1) {
        const load = new Writes(moving.s3, BUCKET, `load${n}-${kills}/`, WRITERS)
        writes.push(load)
        await wait(random.below(700))
        context.diagnostic(`killed in ${(await moving.state()).state}`)
        const killing = moving.restart()
        await wait(100)
        await load.stop()
        await killing
      }
      await moving.moved(to)
      for (const load of writes) await load.verify(moving.s3)
      for (const [at, bytes] of fixed.entries()) {
        assert.equal(await sha256OfObject(moving.s3, BUCKET, `fixed/${at}`), sha256(bytes), `fixed/${at}`)
      }
      await until('nothing is left where it was', () => moving.files(to === 'aggr1' ? 'aggr2' : 'aggr1').length === 0)
    }
  })
})
