/** Answers of the management interface that are long go out in pieces: what a client sees of that is nothing. */
import assert from 'node:assert/strict'
import { request } from 'node:https'
import { after, before, test } from 'node:test'
import { recordsOf, type Body } from '../support/body.ts'
import { startProduct, type Product } from '../support/product.ts'
import { RestClient } from '../support/rest-client.ts'

const SERVERS = 300
const LONG = '/api/cluster/ntp/servers?fields=**&max_records=10000'

let product: Product
let authorization: string

before(async () => {
  product = await startProduct()
  authorization = `Basic ${Buffer.from(`${product.user}:${product.password}`).toString('base64')}`
  const rest = new RestClient(product.management, authorization)
  const names = Array.from({ length: SERVERS }, (_, n) => `${'long-name-'.repeat(20)}${n}.example`)
  const made = await Promise.all(names.map((server) => rest.call('POST', '/api/cluster/ntp/servers', { server })))
  for (const { status, text } of made) assert.equal(status, 201, text)
  rest.close()
})

after(() => product.stop())

interface Got {
  readonly length: string | undefined
  readonly body: Buffer
}

/** Breaks the connection off after so many bytes. */
function get(method: string, breakAfter = Infinity): Promise<Got> {
  const { promise, resolve, reject } = Promise.withResolvers<Got>()
  const url = new URL(LONG, product.management)
  const call = request(url, { method, headers: { authorization }, rejectUnauthorized: false }, (reply) => {
    const pieces: Buffer[] = []
    let bytes = 0
    const done = () => resolve({ length: reply.headers['content-length'], body: Buffer.concat(pieces) })
    reply.on('data', (piece: Buffer) => {
      pieces.push(piece)
      bytes += piece.length
      if (bytes > breakAfter) {
        call.destroy()
        done()
      }
    })
    reply.on('end', done)
  })
  call.on('error', reject)
  call.end()
  return promise
}

test('a long answer is whole, and as long as it says; HEAD tells the same length', async () => {
  const { length, body } = await get('GET')
  assert.ok(body.length > 128 * 1024, `${body.length} bytes`)
  assert.equal(Number(length), body.length)
  assert.equal(recordsOf(JSON.parse(body.toString()) as Body).length, SERVERS)
  const head = await get('HEAD')
  assert.equal(head.length, length)
  assert.equal(head.body.length, 0)
})

test('a client that goes away amid a long answer disturbs nobody', async () => {
  for (let n = 0; n < 20; n++) await get('GET', 1000)
  const { length, body } = await get('GET')
  assert.equal(Number(length), body.length)
  assert.equal(product.log(), '')
})
