/**
 * Asks as NetApp Harvest does. Every target begins with `return_records=true`, arguments stand in the order of their
 * names, and the JSON is taken as its collectors take it. What these log as an error fails; what they take as the sign
 * that there is nothing to poll (a path that is not there, a counter table that is not there) is told apart.
 */
import assert from 'node:assert/strict'
import { keys as credentials, send } from '../../src/s3/test-plane.ts'
import { asText, type Body, recordsOf } from '../support/body.ts'
import { startProduct, type Product } from '../support/product.ts'
import { type Reply, RestClient } from '../support/rest-client.ts'

/** Records of a page that it asks for. */
const PAGE = 500
/** The codes that it takes for nothing to poll, as its older sources say: no such path, no such table. */
const NOTHING_TO_POLL = new Set([3, 8585320])

export type Arguments = Readonly<Record<string, string>>

export class Poller {
  readonly product: Product
  readonly rest: RestClient
  readonly #accept = { accept: 'application/json', 'user-agent': 'Harvest/25.11.0' }

  constructor(product: Product, rest: RestClient) {
    this.product = product
    this.rest = rest
  }

  ask(path: string, given: Arguments = {}): Promise<Reply> {
    const query = Object.entries({ return_records: 'true', ...given }).toSorted(([a], [b]) => (a < b ? -1 : 1))
    return this.rest.get(`/api/${path}?${new URLSearchParams(query).toString()}`, { headers: this.#accept })
  }

  /** All pages of a collection. */
  async records(path: string, given: Arguments = {}): Promise<readonly Body[]> {
    const found: Body[] = []
    let reply = await this.ask(path, { max_records: String(PAGE), ...given })
    for (;;) {
      assert.equal(reply.status, 200, `${path}: ${reply.text}`)
      found.push(...recordsOf(reply.body))
      const next = reply.body['_links']?.['next']?.['href']
      if (next === undefined) return found
      reply = await this.rest.get(asText(next), { headers: this.#accept })
    }
  }

  /** Whether it takes the answer as the sign that there is nothing to poll. */
  async hasNothing(path: string, given: Arguments = {}): Promise<boolean> {
    const { status, body } = await this.ask(path, { max_records: String(PAGE), ...given })
    return status === 404 && NOTHING_TO_POLL.has(Number(body['error']?.['code']))
  }

  async close(): Promise<void> {
    this.rest.close()
    await this.product.stop()
  }
}

/** A cluster that has something of all that it can have, and traffic. */
export async function startPoller(release?: string): Promise<Poller> {
  const product = await startProduct({
    environment: {
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      ...(release === undefined ? {} : { HOLDFAST_RELEASE: release }),
    },
  })
  const poller = new Poller(product, clientOf(product))
  try {
    await fill(poller, release !== '9.12.1')
  } catch (failure) {
    await poller.close()
    throw failure
  }
  return poller
}

function clientOf(product: Product): RestClient {
  const login = Buffer.from(`${product.user}:${product.password}`).toString('base64')
  return new RestClient(product.management, `Basic ${login}`)
}

async function fill({ product, rest }: Poller, hasTags: boolean): Promise<void> {
  const make = async (path: string, body: object, method = 'POST') => {
    const reply = await rest.call(method, `/api/${path}?return_timeout=60`, body)
    assert.ok(reply.status < 300, `${method} ${path}: ${reply.text}`)
  }
  const svm = { name: 'svm1' }
  await make('storage/qos/policies', { name: 'fixed1', svm, fixed: { max_throughput: '1000IOPS' } })
  await make('storage/qos/policies', { name: 'adaptive1', svm, adaptive: { peak_iops: 500, expected_iops: 100 } })
  await make('storage/volumes', {
    name: 'busy1',
    svm,
    aggregates: [{ name: 'aggr1' }],
    size: 2 ** 30,
    nas: { path: '/busy1' },
    qos: { policy: { name: 'fixed1' } },
    space: { snapshot: { reserve_percent: 10 }, logical_space: { enforcement: true, reporting: true } },
    autosize: { mode: 'grow', maximum: 2 ** 31, grow_threshold: 90 },
    files: { maximum: 100_000 },
    efficiency: { compression: 'inline' },
    ...(hasTags ? { _tags: ['team:storage'] } : {}),
  })
  const [volume] = recordsOf((await rest.get('/api/storage/volumes?name=busy1&fields=uuid')).body)
  await make(`storage/volumes/${asText(volume?.['uuid'])}/snapshots`, { name: 'snap1', snapmirror_label: 'daily' })
  await make('storage/volumes', {
    name: 'clone1',
    svm,
    clone: { parent_volume: { name: 'busy1' }, parent_snapshot: { name: 'snap1' }, is_flexclone: true },
  })
  await make('security/certificates', { svm, type: 'server', common_name: 'svm1.example.com' })
  await make('storage/qtrees', { name: 'tree1', svm, volume: { name: 'busy1' } })
  await make('storage/quota/rules', {
    svm,
    volume: { name: 'busy1' },
    type: 'tree',
    qtree: { name: 'tree1' },
    space: { hard_limit: 2 ** 29, soft_limit: 2 ** 28 },
    files: { hard_limit: 1000, soft_limit: 500 },
  })
  await make(`storage/volumes/${asText(volume?.['uuid'])}`, { quota: { enabled: true } }, 'PATCH')
  const s3 = { url: product.s3Http ?? '' }
  for (const request of [
    ['PUT', '/bucket1'],
    ['PUT', '/bucket1/object1', 'hello'],
    ['GET', '/bucket1/object1'],
    ['GET', '/bucket1?list-type=2'],
  ] as const) {
    const [method, target, body] = request
    const { status } = await send(s3, method, target, ...(body === undefined ? [] : [{ body }]))
    assert.equal(status, 200, `${method} ${target}`)
  }
  const [bucket] = recordsOf((await rest.get('/api/protocols/s3/buckets?name=bucket1&fields=uuid,svm.uuid')).body)
  const statement = { effect: 'allow', actions: ['GetObject'], principals: ['demo'], resources: ['bucket1/*'] }
  await make(
    `protocols/s3/buckets/${asText(bucket?.['svm']?.['uuid'])}/${asText(bucket?.['uuid'])}`,
    { policy: { statements: [statement] } },
    'PATCH',
  )
}
