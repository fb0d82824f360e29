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

const s3 = (method: string, path: string, body?: Buffer | string) =>
  send({ url: product.s3Http ?? '' }, method, path, body === undefined ? {} : { body })
const damaged = async (query = '') =>
  recordsOf((await api.call('GET', `/api/private/damaged-objects?fields=*${query}`)).body)

/** Flips a bit of each file under the data folder that has these bytes, within them. Gives the paths. */
function flip(content: Buffer): string[] {
  const flipped: string[] = []
  for (const file of globSync(join(product.folder, 'aggr1/volumes/*/{objects/*,packs}/*'))) {
    const bytes = readIfThere(file)
    const at = bytes.indexOf(content.subarray(0, 100))
    if (at === -1) continue
    const middle = at + (content.length >> 1)
    bytes[middle] = (bytes[middle] ?? 0) ^ 1
    writeFileSync(file, bytes)
    flipped.push(file)
  }
  return flipped
}

/** Housekeeping may have unlinked what nothing needs any more since it was listed. */
function readIfThere(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code !== 'ENOENT') throw failure
    return Buffer.alloc(0)
  }
}

const events = async (key: string) => {
  const { body } = await api.call('GET', '/api/support/ems/events?fields=*&message.name=object.damaged&max_records=100')
  return recordsOf(body).filter((event) => JSON.stringify(event).includes(`"${key}"`))
}

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

test('damage of small and large objects that data-plane processes meet is an event and a record each', async () => {
  for (const [key, size] of [
    ['packed', 5000],
    ['in-a-file', 150_000],
  ] as const) {
    const content = randomBytes(size)
    assert.equal((await s3('PUT', `/papers/${key}`, content)).status, 200)
    const files = flip(content)
    assert.equal(files.length, 1)
    assert.equal((await s3('GET', `/papers/${key}`)).status, 500)
    await until('the read is told of', async () => (await damaged(`&key=${key}`)).length === 1)
    const [record] = await damaged(`&key=${key}`)
    assert.deepEqual([record?.['kind'], record?.['found_by'], record?.['file']], ['flipped', 'read', files[0]])
    assert.equal((await events(key)).length, 1)
    assert.equal((await s3('DELETE', `/papers/${key}`)).status, 204)
  }
  await until('what is not needed is forgotten', async () => (await damaged()).length === 0)
})

for (const [what, query, size] of [
  ['a volume', '', 150_000],
  ['a volume of small objects', '', 5000],
  ['an object', '&restore_to.path=/papers/lost', 150_000],
  ['a small object', '&restore_to.path=/papers/lost', 5000],
] as const) {
  test(`${what} is restored to a snapshot with damage: the damage is refused and listed, and all else is back`, async () => {
    const { body } = await api.call('GET', '/api/storage/volumes?name=vol1')
    const volume = `/api/storage/volumes/${asText(recordsOf(body)[0]?.['uuid'])}`
    const contents = { lost: randomBytes(size), sound: randomBytes(size) }
    for (const [key, content] of Object.entries(contents)) {
      assert.equal((await s3('PUT', `/papers/${key}`, content)).status, 200)
    }
    const taken = await api.call('POST', `${volume}/snapshots?return_timeout=60`, { name: 'before' })
    assert.equal(taken.status, 201, taken.text)
    for (const key of Object.keys(contents)) assert.equal((await s3('PUT', `/papers/${key}`, 'new')).status, 200)
    assert.equal(flip(contents.lost).length, 1)
    const restored = await api.call('PATCH', `${volume}?restore_to.snapshot.name=before${query}&return_timeout=60`, {})
    assert.equal(restored.status, 200, restored.text)
    assert.equal((await s3('GET', '/papers/lost')).status, 500)
    const sound = await s3('GET', '/papers/sound')
    assert.deepEqual([sound.status, sound.text], [200, query === '' ? contents.sound.toString() : 'new'])
    await until('the read is told of', async () => (await damaged('&key=lost')).length === 1)
    assert.equal((await s3('HEAD', '/papers/lost')).status, 500)
    assert.equal((await damaged()).length, 1)
    for (const key of Object.keys(contents)) assert.equal((await s3('DELETE', `/papers/${key}`)).status, 204)
    const dropped = await api.call('DELETE', `${volume}/snapshots?name=before&return_timeout=60`)
    assert.equal(dropped.status, 200, dropped.text)
    await until('what is not needed is forgotten', async () => (await damaged()).length === 0)
  })
}

test('the job of a restore says how many of the restored objects are known to be damaged', async () => {
  const { body } = await api.call('GET', '/api/storage/volumes?name=vol1')
  const volume = `/api/storage/volumes/${asText(recordsOf(body)[0]?.['uuid'])}`
  const buckets = await api.call('GET', '/api/protocols/s3/buckets?name=papers&fields=svm.uuid,uuid')
  const [found] = recordsOf(buckets.body)
  const bucket = `/api/protocols/s3/services/${asText(found?.['svm']?.['uuid'])}/buckets/${asText(found?.['uuid'])}`
  const contents = new Map<string, Buffer>()
  for (const [key, size] of [
    ['a/lost', 150_000],
    ['a/small and lost', 5000],
    ['a/sound', 5000],
    ['b/lost', 150_000],
    ['b/sound', 150_000],
  ] as const) {
    contents.set(key, randomBytes(size))
    assert.equal((await s3('PUT', `/papers/${encodeURI(key)}`, contents.get(key))).status, 200)
  }
  assert.equal((await api.call('POST', `${volume}/snapshots?return_timeout=60`, { name: 'known' })).status, 201)
  for (const key of contents.keys()) assert.equal((await s3('DELETE', `/papers/${encodeURI(key)}`)).status, 204)
  for (const [key, content] of contents) if (key.endsWith('lost')) assert.equal(flip(content).length, 1)
  const begun = await api.call('POST', '/api/private/scrubs?return_timeout=60', { aggregate: { name: 'aggr1' } })
  assert.equal(begun.status, 201, begun.text)
  assert.equal((await damaged()).length, 3)

  const told = async (url: string) => {
    const reply = await api.call('PATCH', `${url}&return_timeout=60`, {})
    assert.equal(reply.status, 200, reply.text)
    const job = asText((reply.body['job'] as Record<string, never>)['uuid'])
    const { state, message } = (await api.call('GET', `/api/cluster/jobs/${job}?fields=*`)).body
    assert.equal(state, 'success')
    return message
  }
  const where = 'Damaged objects are listed at /private/damaged-objects.'
  const restore = `${volume}?restore_to.snapshot.name=known`
  assert.equal(await told(`${restore}&restore_to.path=/papers/b/sound`), 'success')
  assert.equal(
    await told(`${restore}&restore_to.path=/papers/b/lost`),
    `The snapshot was restored. 1 restored object is damaged: papers/b/lost. ${where}`,
  )
  assert.equal(
    await told(`${restore}&restore_to.path=/papers/a/`),
    `The snapshot was restored. 2 restored objects are damaged, such as papers/a/lost. ${where}`,
  )
  const all = `The snapshot was restored. 3 restored objects are damaged, such as papers/a/lost. ${where}`
  assert.equal(await told(`${bucket}?restore_to.snapshot.name=known`), all)
  assert.equal(await told(restore), all)
  assert.deepEqual(
    new Set((await damaged()).map((one) => one['key'])),
    new Set(['a/lost', 'a/small and lost', 'b/lost']),
    'objects that only the snapshot had have names now',
  )
  for (const [key, content] of contents) {
    const got = await s3('GET', `/papers/${encodeURI(key)}`)
    if (key.endsWith('lost')) assert.equal(got.status, 500, key)
    else assert.deepEqual([got.status, got.text], [200, content.toString()], key)
    assert.equal((await s3('HEAD', `/papers/${encodeURI(key)}`)).status, key.endsWith('lost') ? 500 : 200)
    assert.equal((await s3('DELETE', `/papers/${encodeURI(key)}`)).status, 204)
  }
  const dropped = await api.call('DELETE', `${volume}/snapshots?name=known&return_timeout=60`)
  assert.equal(dropped.status, 200, dropped.text)
  await until('what is not needed is forgotten', async () => (await damaged()).length === 0)
})

test('an object of a snapshot that is damaged is not copied back, and its record gets the name that a read tells', async () => {
  const { body } = await api.call('GET', '/api/storage/volumes?name=vol1')
  const volume = `/api/storage/volumes/${asText(recordsOf(body)[0]?.['uuid'])}`
  const content = randomBytes(150_000)
  assert.equal((await s3('PUT', '/papers/kept', content)).status, 200)
  assert.equal((await api.call('POST', `${volume}/snapshots?return_timeout=60`, { name: 'kept' })).status, 201)
  assert.equal((await s3('DELETE', '/papers/kept')).status, 204)
  assert.equal(flip(content).length, 1)
  const begun = await api.call('POST', '/api/private/scrubs?return_timeout=60', { aggregate: { name: 'aggr1' } })
  assert.equal(begun.status, 201, begun.text)
  assert.deepEqual(
    (await damaged()).map((one) => [one['kind'], one['key']]),
    [['flipped', undefined]],
  )
  const headers = { 'x-amz-copy-source': '/papers-s3snap-kept/kept' }
  assert.equal((await send({ url: product.s3Http ?? '' }, 'PUT', '/papers/back', { headers })).status, 500)
  assert.equal((await s3('HEAD', '/papers/back')).status, 404)
  assert.equal((await s3('GET', '/papers-s3snap-kept/kept')).status, 500)
  await until('the read is told of', async () => (await damaged('&key=kept')).length === 1)
  assert.equal((await damaged()).length, 1)
})
