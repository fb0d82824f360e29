import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { keys as credentials, send } from '../../src/s3/test-plane.ts'
import { asNumber, asText, recordsOf } from '../support/body.ts'
import { startProduct, type Product } from '../support/product.ts'
import { RestClient } from '../support/rest-client.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const MB = 2 ** 20
const WRITERS = 8
const OBJECTS = 40
const SHRUNK_MS = 120_000

const skip = reasonUnlessWhole('src/resources/storage/volumes/autosize.test.ts')
describeUnless(skip, 'a volume that chooses its size itself, over two worker processes', {}, () => {
  let product: Product
  let rest: RestClient
  let volume: string

  before(async () => {
    product = await startProduct({
      environment: {
        HOLDFAST_WORKERS: '2',
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      },
    })
    const password = Buffer.from(`${product.user}:${product.password}`).toString('base64')
    rest = new RestClient(product.management, `Basic ${password}`)
    await ask('POST', '/api/storage/volumes', {
      name: 'small',
      svm: 'svm1',
      size: '4m',
      'snapshot_policy.name': 'none',
      autosize: { mode: 'grow_shrink', minimum: '4m', maximum: '64m' },
    })
    volume = `/api/storage/volumes/${await uuidOf('/api/storage/volumes', 'small')}`
    const server = `/api/protocols/s3/services/${await uuidOf('/api/svm/svms', 'svm1')}`
    await ask('PATCH', server, { data_volumes: ['small'] })
    await ask('POST', '/api/protocols/s3/buckets', { name: 'growing', svm: 'svm1', volume: 'small', size: '1t' })
  })
  after(async () => {
    rest.close()
    await product.stop()
  })

  const s3 = (method: string, target: string, body?: string) =>
    send({ url: product.s3Http ?? '' }, method, target, body === undefined ? {} : { body })

  async function ask(method: string, target: string, body?: unknown): Promise<void> {
    const { status, text } = await rest.call(method, target, body)
    assert.ok(status < 300, `${method} ${target}: ${status} ${text}`)
  }

  async function uuidOf(collection: string, name: string): Promise<string> {
    const { body } = await rest.get(`${collection}?name=${name}&fields=uuid`)
    return asText(recordsOf(body)[0]?.['uuid'])
  }

  const size = async () => asNumber((await rest.get(`${volume}?fields=size`)).body['size'])

  it('takes what fits into its maximum from writers that are faster than it grows, and refuses none of it', async () => {
    const body = 'x'.repeat(1.5 * MB)
    let next = 0
    await Promise.all(
      Array.from({ length: WRITERS }, async () => {
        while (next < OBJECTS) {
          const { status, text } = await s3('PUT', `/growing/k${next++}`, body)
          assert.equal(status, 200, text)
        }
      }),
    )
    assert.ok((await size()) >= OBJECTS * body.length)
    const full = await s3('PUT', '/growing/more', 'x'.repeat(6 * MB))
    assert.deepEqual([full.status, /<Code>(.*?)<\/Code>/.exec(full.text)?.[1]], [403, 'QuotaExceeded'])
    assert.ok((await size()) <= 64 * MB)
  })

  it('shrinks to its minimum when it is emptied, and tells of all of it', async () => {
    for (let at = 0; at < OBJECTS; at++) assert.equal((await s3('DELETE', `/growing/k${at}`)).status, 204)
    const untilMs = Date.now() + SHRUNK_MS
    while ((await size()) > 4 * MB) {
      assert.ok(Date.now() < untilMs, `It has ${await size()} bytes still.`)
      await wait(100)
    }
    const { body } = await rest.get('/api/support/ems/events?fields=message.name&max_records=1000')
    const names = new Set(recordsOf(body).map((event) => asText(event['message']?.['name'])))
    assert.ok(names.has('volume.autosize.grown') && names.has('volume.autosize.shrunk'))
  })

  it('answers 503 while it is restricted or offline, to reads and writes, and serves again afterwards', async () => {
    assert.equal((await s3('PUT', '/growing/kept', 'kept')).status, 200)
    for (const state of ['restricted', 'offline']) {
      await ask('PATCH', volume, { state })
      for (const { status, text } of [await s3('GET', '/growing/kept'), await s3('PUT', '/growing/other', 'x')]) {
        assert.deepEqual([status, /<Code>(.*?)<\/Code>/.exec(text)?.[1]], [503, 'ServiceUnavailable'])
      }
      const { status } = await rest.call('POST', `${volume}/snapshots`, { name: state })
      assert.equal(status, state === 'restricted' ? 201 : 409)
    }
    await ask('PATCH', volume, { state: 'online', name: 'renamed' })
    assert.equal((await s3('GET', '/growing/kept')).text, 'kept')
  })
})
