/** Damage of a stored object, from the read that meets it to its end, in the product as it is started. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { keys as credentials, send } from '../../src/s3/test-plane.ts'
import { asText, recordsOf } from '../support/body.ts'
import { startProduct, type Product } from '../support/product.ts'
import { RestClient } from '../support/rest-client.ts'
import { until } from './processes.ts'

let product: Product
let api: RestClient
before(async () => {
  product = await startProduct({
    environment: {
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
  })
  const login = Buffer.from(`${product.user}:${product.password}`).toString('base64')
  api = new RestClient(product.management, `Basic ${login}`)
})
after(() => product.stop())

const s3 = (method: string, path: string, body?: Buffer) =>
  send({ url: product.s3Http ?? '' }, method, path, body === undefined ? {} : { body })
const damaged = async () => recordsOf((await api.call('GET', '/api/private/damaged-objects?fields=*')).body)

test('a damaged object is refused, listed, found by a scrub, and forgotten when it is replaced', async () => {
  assert.equal((await s3('PUT', '/papers')).status, 200)
  for (const key of ['read', 'unread'])
    assert.equal((await s3('PUT', `/papers/${key}`, randomBytes(200_000))).status, 200)
  const files = globSync(join(product.folder, 'aggr1/volumes/*/objects/*/*'))
  assert.equal(files.length, 2)
  for (const file of files) {
    const bytes = readFileSync(file)
    bytes[70_000] = (bytes[70_000] ?? 0) ^ 1
    writeFileSync(file, bytes)
  }
  assert.equal((await s3('HEAD', '/papers/read')).status, 200)
  assert.equal((await s3('GET', '/papers/read')).status, 500)
  await until('the read is told of', async () => (await damaged()).length === 1)
  const [record] = await damaged()
  assert.deepEqual([record?.['kind'], record?.['found_by'], record?.['key']], ['flipped', 'read', 'read'])
  assert.ok(files.includes(asText(record?.['file'])))
  assert.equal((await s3('HEAD', '/papers/read')).status, 500)
  assert.equal((await api.call('GET', '/api/cluster?fields=health')).body['health'], 'degraded')

  const begun = await api.call('POST', '/api/private/scrubs?return_timeout=60', { aggregate: { name: 'aggr1' } })
  assert.equal(begun.status, 201, JSON.stringify(begun.body))
  assert.deepEqual(new Set((await damaged()).map((one) => one['key'])), new Set(['read', 'unread']))
  const [scrub] = recordsOf((await api.call('GET', '/api/private/scrubs?fields=*')).body)
  assert.deepEqual([scrub?.['examined'], scrub?.['damaged']], [2, 2])

  for (const key of ['read', 'unread']) assert.equal((await s3('PUT', `/papers/${key}`, randomBytes(10))).status, 200)
  await until('what is not needed is forgotten', async () => (await damaged()).length === 0)
  assert.equal((await api.call('GET', '/api/cluster?fields=health')).body['health'], 'ok')
})
