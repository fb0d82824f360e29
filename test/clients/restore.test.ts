import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { setTimeout as wait } from 'node:timers/promises'
import { keys as credentials, send } from '../../src/s3/test-plane.ts'
import { asText, recordsOf } from '../support/body.ts'
import { startProduct, type Product, type ProductOptions } from '../support/product.ts'
import { RestClient } from '../support/rest-client.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const OBJECTS = 1500
const environment: ProductOptions['environment'] = {
  HOLDFAST_WORKERS: '2',
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
}

const skip = reasonUnlessWhole('test/simulation/volumes-model.test.ts')
describeUnless(skip, 'a volume that is taken back to a snapshot', {}, () => {
  let product: Product
  let rest: RestClient
  let volume: string

  async function connect(folder?: string): Promise<void> {
    product = await startProduct({ environment: environment ?? {}, ...(folder === undefined ? {} : { folder }) })
    const password = Buffer.from(`${product.user}:${product.password}`).toString('base64')
    rest = new RestClient(product.management, `Basic ${password}`)
  }
  before(async () => {
    await connect()
    const { body } = await rest.call('GET', '/api/storage/volumes?name=vol1&fields=uuid')
    volume = `/api/storage/volumes/${asText(recordsOf(body)[0]?.['uuid'])}`
    assert.equal((await s3('PUT', '/papers')).status, 200)
  })
  after(async () => {
    rest.close()
    await product.stop()
  })

  const s3 = (method: string, target: string, body?: string) =>
    send({ url: product.s3Http ?? '' }, method, target, body === undefined ? {} : { body })

  /** Keys and ETags of a page of a thousand. */
  async function page(after: string): Promise<string[]> {
    const { text, status } = await s3('GET', `/papers?list-type=2&start-after=${after}`)
    assert.equal(status, 200)
    return [...text.matchAll(/<Key>(.*?)<\/Key>.*?<ETag>(.*?)<\/ETag>/gs)].map(([, key, etag]) => `${key} ${etag}`)
  }

  async function listing(): Promise<string[]> {
    const lines: string[] = []
    for (;;) {
      const next = await page(lines.at(-1)?.split(' ')[0] ?? '')
      lines.push(...next)
      if (next.length < 1000) return lines
    }
  }

  async function writeAll(body: string, from: number, to: number): Promise<void> {
    for (let at = from; at < to; at += 50) {
      const batch = Array.from({ length: Math.min(50, to - at) }, (_, n) => s3('PUT', `/papers/k${at + n}`, body))
      for (const { status } of await Promise.all(batch)) assert.equal(status, 200)
    }
  }

  async function snapshot(name: string): Promise<void> {
    const { status, text } = await rest.call('POST', `${volume}/snapshots?return_timeout=15`, { name })
    assert.ok(status < 300, text)
  }

  it('shows the old state or that of the snapshot to whoever reads meanwhile, and survives a kill', async () => {
    await writeAll('first', 0, OBJECTS)
    await snapshot('before')
    const then = await listing()
    await writeAll('second', 0, OBJECTS / 2)
    await writeAll('new', OBJECTS, OBJECTS + 500)
    await snapshot('later')
    for (let at = OBJECTS / 2; at < OBJECTS / 2 + 100; at += 1) await s3('DELETE', `/papers/k${at}`)
    const now = await listing()
    assert.notDeepEqual(now, then)

    const restored = await rest.call('PATCH', `${volume}?restore_to.snapshot.name=before&return_timeout=0`, {})
    assert.equal(restored.status, 202, restored.text)
    const seen: string[][] = []
    for (let looks = 0; looks < 5; looks += 1) seen.push(await page(''))
    await product.stop({ signal: 'SIGKILL', keepFolder: true })
    rest.close()
    await connect(product.folder)

    // Taken up by itself, and only then can be written again.
    for (let tries = 0; tries < 100; tries += 1) {
      seen.push(await page(''))
      if ((await s3('PUT', '/papers/after', 'x')).status === 200) break
      await wait(50)
    }
    // The kill may have come before the restore was on disk as begun, never in between.
    for (const one of seen) assert.ok([now, then].some((all) => isDeepStrictEqual(one, all.slice(0, 1000))))
    assert.deepEqual(
      (await listing()).filter((line) => !line.startsWith('after ')),
      then,
    )
    for (const [key, body] of [
      ['k0', 'first'],
      [`k${OBJECTS / 2 + 5}`, 'first'],
      [`k${OBJECTS + 5}`, undefined],
    ] as const) {
      const { status, text } = await s3('GET', `/papers/${key}`)
      if (body === undefined) assert.equal(status, 404, key)
      else assert.equal(text, body, key)
    }
    const { body } = await rest.call('GET', `${volume}/snapshots?fields=name`)
    assert.deepEqual(
      recordsOf(body).map(({ name }) => name),
      ['before'],
    )
    const buckets = await rest.call('GET', '/api/protocols/s3/buckets?name=papers&fields=object_count')
    assert.equal(recordsOf(buckets.body)[0]?.['object_count'], OBJECTS + 1)
  })

  it('of a snapshot that is not there says so', async () => {
    const { status, text } = await rest.call('PATCH', `${volume}?restore_to.snapshot.name=none`, {})
    assert.equal(status, 422, text)
  })

  it('with a bucket that has locks stays as it is', async () => {
    const headers = { 'x-amz-bucket-object-lock-enabled': 'true' }
    assert.equal((await send({ url: product.s3Http ?? '' }, 'PUT', '/locked', { headers })).status, 200)
    const { status, text } = await rest.call('PATCH', `${volume}?restore_to.snapshot.name=before`, {})
    assert.equal(status, 409, text)
  })
})
