/**
 * NetApp Harvest polls a cluster with the templates that it comes with, and has nothing to log as an error: what it asks
 * is answered, records are told apart by what it takes for that, and its metrics find what they are made of. It logs in
 * with a role that may read what its documentation names. Harvest itself is not run; it is done here what it does
 * (`test/harvest/polls.ts`).
 */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { isServed, release } from '../../src/model/release.ts'
import { asText, type Body } from '../support/body.ts'
import { startProduct, type Product } from '../support/product.ts'
import { RestClient } from '../support/rest-client.ts'
import { harvestPolls, harvestReads, type Poll } from '../harvest/polls.ts'
import { sdkFor } from './sdk.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const skip = reasonUnlessWhole('test/recordings/harvest.test.ts')

/** How many records Harvest asks for at once. */
const BATCH = 500
/** The release from which on it has names ignored that nothing has. */
const LENIENT_FROM = '9.11.1'
const PLAIN_FIELD = /^([a-zA-Z_]\w*\.)*[a-zA-Z_]\w*$/
const UNKNOWN_API = 3
const PASSWORD = 'a password to poll with'

for (const served of ['9.16.1', '9.12.1']) {
  describeUnless(skip, `Harvest polls a cluster of the release ${served}`, {}, () => {
    let product: Product
    let harvest: Harvest
    before(async () => {
      product = await startProduct({ environment: { HOLDFAST_RELEASE: served } })
      harvest = new Harvest(product, served)
      await furnish(product)
    })
    after(async () => {
      harvest.close()
      await product.stop()
    })

    for (const poll of harvestPolls) {
      if (poll.since !== undefined && !isServed(poll.since, release(served))) continue
      it(`${poll.of} finds what it asks of ${poll.path}`, async () => {
        if (poll.isUnknown === true) return harvest.insistOnUnknown(poll)
        const records = await harvest.records(poll)
        if (poll.isEmpty === true) assert.deepEqual(records, [])
        else inspect(poll, served, records)
      })
    }

    it('records that come page by page are the same', async () => {
      for (const path of ['storage/volumes', 'cluster/schedules', 'network/ip/interfaces']) {
        const poll: Poll = { of: 'pages', path, keys: 'uuid', labels: 'name' }
        assert.deepEqual(await harvest.records(poll, 1), await harvest.records(poll))
      }
    })

    it('totals of operations grow by what clients do', async () => {
      const watched = harvestPolls.filter(
        ({ hidden, isEmpty, path, since }) =>
          hidden === 'statistics' &&
          isEmpty !== true &&
          path !== 'storage/qtrees' &&
          (since === undefined || isServed(since, release(served))),
      )
      const totals = async () => {
        const sums = new Map<string, number>()
        for (const poll of watched) {
          for (const field of wordsOf(poll.numbers)) {
            const values = (await harvest.records(poll)).map((record) => Number(found(record, field)))
            sums.set(
              `${poll.of} ${field}`,
              values.reduce((sum, value) => sum + value, 0),
            )
          }
        }
        return sums
      }
      const earlier = await totals()
      await work(product)
      const grown = async () => {
        const later = await totals()
        return [...earlier].filter(([name, value]) => (later.get(name) ?? 0) <= value).map(([name]) => name)
      }
      // Nobody lists or deletes here, and workers tell what they counted every now and then.
      const still = /\.(?:iops|latency|throughput)_raw\.other$/
      let left = await grown()
      for (const untilMs = Date.now() + 20_000; left.some((name) => !still.test(name)) && Date.now() < untilMs;) {
        await new Promise((resolve) => setTimeout(resolve, 500))
        left = await grown()
      }
      assert.deepEqual(
        left.filter((name) => !still.test(name)),
        [],
      )
    })
  })
}

/** Sends requests as Harvest does. */
class Harvest {
  readonly #rest: RestClient
  readonly #isLenient: boolean

  constructor({ management }: Product, served: string) {
    this.#rest = new RestClient(management, `Basic ${Buffer.from(`harvest:${PASSWORD}`).toString('base64')}`)
    this.#isLenient = isServed(LENIENT_FROM, release(served))
  }

  close(): void {
    this.#rest.close()
  }

  /** All records, from page to page. What is there once comes without a list. */
  async records(poll: Poll, batch = BATCH): Promise<readonly Body[]> {
    const records: Body[] = []
    let target: string | undefined = this.#target(poll, batch)
    while (target !== undefined) {
      const { status, body } = await this.#get(target)
      assert.equal(status, 200, `${target}: ${JSON.stringify(body)}`)
      records.push(...((body['records'] as unknown as readonly Body[] | undefined) ?? [body]))
      const next = body['_links']?.['next']?.['href']
      assert.notEqual(next, target)
      target = next === undefined ? undefined : asText(next)
    }
    return records
  }

  async insistOnUnknown(poll: Poll): Promise<void> {
    const { status, body } = await this.#get(this.#target(poll, BATCH))
    assert.deepEqual([status, Number(body['error']?.['code'])], [404, UNKNOWN_API], JSON.stringify(body))
    assert.equal(typeof body['error']?.['message'], 'string')
  }

  #get(target: string) {
    return this.#rest.get(target, { headers: { accept: 'application/json' } })
  }

  #target(poll: Poll, batch: number): string {
    const names = askedOf(poll)
    const isByName = this.#isLenient && names.every((name) => PLAIN_FIELD.test(name))
    const fields = poll.isPlugin === true ? names.map((name) => name.replaceAll('.#', '')) : isByName ? names : ['*']
    const query = new URLSearchParams({ return_records: 'true', max_records: String(batch) })
    if (fields.length > 0) query.set('fields', [...fields, ...wordsOf(poll.hidden)].join(','))
    for (const filter of poll.filters ?? []) {
      const [name = '', value = ''] = filter.split(/=(.*)/s, 2)
      query.append(name, value)
    }
    if (this.#isLenient && poll.isPlugin !== true) query.set('ignore_unknown_fields', 'true')
    query.sort()
    return `/api/${poll.path}?${query.toString()}`
  }
}

/** Whether records have what metrics are made of. */
function inspect(poll: Poll, served: string, records: readonly Body[]): void {
  assert.ok(records.length > 0, 'There is a record.')
  const fits = (words: string | undefined, of: (value: unknown) => boolean, how: 'every' | 'some') => {
    for (const field of wordsOf(words, served)) {
      const values = records.map((record) => found(record, field))
      const set = values.filter((value) => value !== undefined)
      assert.ok(how === 'every' ? set.length === values.length : set.length > 0, `${field} is there.`)
      assert.ok(set.every(of), `${field} is not ${JSON.stringify(set)}.`)
    }
  }
  const isNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value)
  fits(poll.numbers, isNumber, 'every')
  fits(poll.sometimes, isNumber, 'some')
  fits(poll.times, (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)), 'every')
  fits(poll.labels, (value) => value !== null, 'some')
  const keys = wordsOf(poll.keys)
  const instances = records.map((record) => keys.map((key) => textOf(found(record, key))).join(''))
  if (keys.length === 0) return
  assert.ok(
    instances.every((instance) => instance !== ''),
    'Records have what tells them apart.',
  )
  assert.equal(new Set(instances).size, instances.length, `${poll.keys} tells records apart: ${instances.join(' ')}`)
  const status = records.map((record) => record['statistics']?.['status'])
  if (poll.hidden === 'statistics') assert.deepEqual(new Set(status), new Set(['ok']))
}

/** As keys of records are joined: what is not set is nothing. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
}

function askedOf({ keys, labels, numbers, times, sometimes, absent }: Poll): readonly string[] {
  return [keys, labels, numbers, times, sometimes, absent].flatMap((words) => wordsOf(words))
}

/** The words of a text, without those that a release does not have. Without a release, all. */
function wordsOf(words = '', served?: string): readonly string[] {
  return words
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => word.split('@'))
    .filter(([, since]) => served === undefined || isServed(since, release(served)))
    .map(([word = '']) => word)
}

/** What a path of Harvest leads to: of a list, a word after `#` is that of each, and `#` at the end how many there are. */
function found(record: unknown, path: string): unknown {
  let at: unknown = record
  const words = path.split('.')
  for (const [index, word] of words.entries()) {
    if (word === '#') {
      if (!Array.isArray(at)) return undefined
      const rest = words.slice(index + 1).join('.')
      return rest === '' ? at.length : at.map((one) => found(one, rest)).filter((one) => one !== undefined)
    }
    at = (at as Record<string, unknown> | null | undefined)?.[word]
    if (at === undefined || at === null) return undefined
  }
  return at
}

/** Something of all that there can be. */
async function furnish(product: Product): Promise<void> {
  const rest = new RestClient(
    product.management,
    `Basic ${Buffer.from(`admin:${product.password}`).toString('base64')}`,
  )
  const call = async (method: string, path: string, body?: object) => {
    const answered = await rest.call(method, `/api/${path}?return_timeout=60&return_records=true`, body)
    assert.ok(answered.status < 300, `${method} ${path}: ${answered.text}`)
    return answered.body
  }
  const uuidOf = async (path: string, name: string) =>
    asText((await rest.get(`/api/${path}?name=${name}&fields=uuid`)).body['records']?.[0]?.['uuid'])
  await call('POST', 'svm/svms', { name: 'svm2', aggregates: [{ name: 'aggr1' }] })
  await call('POST', 'network/ip/interfaces', { name: 'lif1', svm: 'svm2', ip: { address: '127.0.0.9', netmask: '8' } })
  await call('POST', 'network/ip/routes', { svm: 'svm2', gateway: '127.0.0.254' })
  await call('POST', 'network/ip/subnets', {
    name: 'local',
    broadcast_domain: { name: 'Default' },
    subnet: { address: '127.0.0.0', netmask: '8' },
    ip_ranges: [{ start: '127.0.0.1', end: '127.0.0.99' }],
    fail_if_lifs_conflict: false,
  })
  for (const svm of ['svm1', 'svm2']) {
    const small = { svm, size: '1g', guarantee: { type: 'none' } }
    await call('POST', 'storage/volumes', { name: 'analysed', ...small, analytics: { state: 'on' } })
    await call('POST', 'storage/qtrees', { name: 'q1', svm, volume: 'analysed' })
    const limits = { space: { hard_limit: '512m', soft_limit: '256m' }, files: { hard_limit: 1000, soft_limit: 500 } }
    for (const qtree of ['', 'q1']) {
      await call('POST', 'storage/quota/rules', {
        svm,
        volume: 'analysed',
        type: 'tree',
        qtree: { name: qtree },
        ...limits,
      })
    }
    const volumes = await rest.get(`/api/storage/volumes?svm.name=${svm}&name=analysed&fields=uuid`)
    const volume = asText(volumes.body['records']?.[0]?.['uuid'])
    await call('PATCH', `storage/volumes/${volume}`, { quota: { enabled: true } })
    await call('POST', `storage/volumes/${volume}/snapshots`, { name: 'first' })
    await call('POST', 'protocols/nfs/services', { svm })
    await call('POST', 'protocols/cifs/services', {
      svm,
      name: `CIFS${svm.at(-1)}`,
      ad_domain: { fqdn: 'example.com' },
    })
    await call('POST', 'security/certificates', { svm, type: 'server', common_name: `${svm}.example.com` })
    await call('PATCH', `security/login/messages/${await uuidOf('svm/svms', svm)}`, { banner: 'Hello.' })
  }
  const privileges = harvestReads.map((path) => ({ path: `/api/${path}`, access: 'readonly' }))
  await call('POST', 'security/roles', { name: 'harvest-rest-role', privileges })
  await call('POST', 'security/accounts', { name: 'harvest', password: PASSWORD, role: 'harvest-rest-role' })
  await call('POST', 'cluster/ntp/servers', { server: 'time.example.com' })
  await call('POST', 'support/ems/destinations', { name: 'mail', type: 'email', destination: 'a@example.com' })
  await call('PATCH', `cluster/nodes/${await uuidOf('cluster/nodes', 'node1')}`, { location: 'cellar' })
  await call('POST', 'storage/qos/policies', { name: 'slow', svm: 'svm1', fixed: { max_throughput_iops: 100_000 } })
  const s3 = sdkFor(product)
  await s3.send(new CreateBucketCommand({ Bucket: 'polled' }))
  await s3.send(new PutObjectCommand({ Bucket: 'polled', Key: 'first', Body: 'first' }))
  s3.destroy()
  const bucket = (await rest.get('/api/protocols/s3/buckets?name=polled&fields=uuid,svm.uuid')).body['records']?.[0]
  const path = `protocols/s3/buckets/${asText(bucket?.['svm']?.['uuid'])}/${asText(bucket?.['uuid'])}`
  await call('PATCH', path, { qos_policy: { name: 'slow' } })
  rest.close()
}

/** Reads and writes that are counted. */
async function work(product: Product): Promise<void> {
  const s3 = sdkFor(product)
  for (const at of [1, 2, 3, 4, 5]) {
    await s3.send(new PutObjectCommand({ Bucket: 'polled', Key: `object-${at}`, Body: Buffer.alloc(100_000, at) }))
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'polled', Key: `object-${at}` }))
    assert.equal((await Body?.transformToByteArray())?.length, 100_000)
  }
  s3.destroy()
}
