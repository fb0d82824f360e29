/**
 * How the drivers of Trident that speak REST talk to a cluster. They cannot be built here, so their requests are made by
 * these tests, as their sources make them. What they generated from the description of the interface takes an answer only
 * with a status that is described; then the drivers go on with one of these only: what changes a volume or a snapshot has
 * to be accepted as a job, which they ask for until it ends. `num_records` has to be there, and pages are followed.
 */
import assert from 'node:assert/strict'
import { asText, type Body } from '../../support/body.ts'
import type { Product } from '../../support/product.ts'
import { RestClient, type Reply } from '../../support/rest-client.ts'
import { decode, type Decoded, type Shape } from '../../support/shape.ts'

export type Query = Readonly<Record<string, string>>

const JOB_MS_MAX = 60_000
const HEADERS = { headers: { 'user-agent': 'Go-http-client/1.1', 'x-dot-client-app': 'Trident/25.06' } }
const ERROR: Shape = { error: { code: 'string', message: 'string', target: 'string' } }
const JOB: Shape = { uuid: 'string', state: 'string', code: 'int', message: 'string', error: { code: 'string' } }

export class Driver {
  readonly #rest: RestClient

  constructor(product: Pick<Product, 'management' | 'user' | 'password'>) {
    const login = Buffer.from(`${product.user}:${product.password}`).toString('base64')
    this.#rest = new RestClient(product.management, `Basic ${login}`)
  }

  close(): void {
    this.#rest.close()
  }

  /** One record, by its path. */
  async get(path: string, query: Query, shape: Shape): Promise<Decoded> {
    return decode(shape, await this.#answer('GET', path, query, undefined, [200]), path)
  }

  /** All records of all pages. */
  async list(path: string, query: Query, shape: Shape): Promise<Decoded[]> {
    const found: Decoded[] = []
    let target: string | undefined = targetOf(path, query)
    while (target !== undefined) {
      const body: Body = await this.#sent('GET', target, undefined, [200])
      const page = (body['records'] ?? []) as unknown as readonly unknown[]
      assert.equal(body['num_records'], page.length, `${target}: num_records`)
      found.push(...page.map((record) => decode(shape, record, path)))
      const next = body['_links']?.['next']?.['href']
      target = next === undefined ? undefined : asText(next)
    }
    return found
  }

  /** The one record that there is, or nothing. */
  async find(path: string, query: Query, shape: Shape): Promise<Decoded | undefined> {
    const found = await this.list(path, query, shape)
    assert.ok(found.length <= 1, `${path} has ${found.length} of ${JSON.stringify(query)}`)
    return found[0]
  }

  /** Something that has to be accepted as a job, which is waited for. */
  async accepted(method: string, path: string, body?: unknown, query: Query = {}): Promise<void> {
    await this.#wait(await this.#answer(method, path, query, body, [202]))
  }

  /** Something that may be done with the answer, or be accepted as a job. */
  async done(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown, query: Query = {}): Promise<Body> {
    const answer = await this.#answer(method, path, query, body, [method === 'POST' ? 201 : 200, 202])
    if (answer['job'] !== undefined) await this.#wait(answer)
    return answer
  }

  /** What is answered without a job, with a status of its own. */
  async answered(method: string, path: string, status: number, body?: unknown, query: Query = {}): Promise<Body> {
    return this.#answer(method, path, query, body, [status])
  }

  /** The code of the error by which something is refused, be it at once or by its job. */
  async refused(method: string, path: string, body?: unknown, query: Query = {}): Promise<string> {
    const reply = await this.#rest.call(method, targetOf(path, query), body, HEADERS)
    if (reply.status === 202) {
      const job = await this.#ended(asText(reply.body['job']?.['uuid']))
      assert.equal(job['state'], 'failure')
      return asText(job['error']?.['code'])
    }
    assert.ok(reply.status >= 400, `${method} ${path} was answered ${reply.status}`)
    return asText(decode(ERROR, reply.body, path)['error']?.['code'])
  }

  async #answer(method: string, path: string, query: Query, body: unknown, statuses: readonly number[]) {
    return this.#sent(method, targetOf(path, query), body, statuses)
  }

  async #sent(method: string, target: string, body: unknown, statuses: readonly number[]): Promise<Body> {
    const reply: Reply = await this.#rest.call(method, target, body, HEADERS)
    assert.ok(statuses.includes(reply.status), `${method} ${target}: ${reply.status} ${reply.text}`)
    // What has nothing to say may say nothing at all.
    return reply.text === '' ? {} : reply.body
  }

  async #wait(answer: Body): Promise<void> {
    const job = await this.#ended(asText(answer['job']?.['uuid']))
    assert.equal(job['state'], 'success', JSON.stringify(job))
  }

  /** It looks at the state until that says that the job has ended, and then at all there is. */
  async #ended(uuid: string): Promise<Decoded> {
    for (const endMs = Date.now() + JOB_MS_MAX; ;) {
      const { state } = await this.get(`cluster/jobs/${uuid}`, { fields: 'state' }, JOB)
      if (asText(state) === 'success' || asText(state) === 'failure') break
      assert.ok(Date.now() < endMs, 'The job takes too long')
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return this.get(`cluster/jobs/${uuid}`, { fields: '**' }, JOB)
  }
}

function targetOf(path: string, query: Query): string {
  const given = new URLSearchParams(query).toString()
  return `/api/${path}${given === '' ? '' : `?${given}`}`
}
