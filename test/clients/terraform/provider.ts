/**
 * What the Terraform provider netapp-ontap does with a request and its answer. It cannot be built here, so its requests
 * are made by these tests, as its sources make them, and answers go through the same checks: a body that is a JSON object,
 * `error.code` as text, a job that is waited for, the record at `records[0]` of what was made, one record where one is
 * asked for, and values of exactly the types that its structures declare.
 */
import assert from 'node:assert/strict'
import { asText } from '../../support/body.ts'
import type { Product } from '../../support/product.ts'
import { RestClient, type Reply } from '../../support/rest-client.ts'
import { decode, type Decoded, type Shape } from '../../support/shape.ts'

export type Query = Readonly<Record<string, string | readonly string[]>>

const JOB_MS_MAX = 60_000

export class Provider {
  readonly #rest: RestClient
  /** The verbs that were called since this was last looked at. */
  #called = new Set<string>()

  constructor(product: Pick<Product, 'management' | 'user' | 'password'>) {
    const login = Buffer.from(`${product.user}:${product.password}`).toString('base64')
    this.#rest = new RestClient(product.management, `Basic ${login}`)
  }

  close(): void {
    this.#rest.close()
  }

  /** The verbs that were called, and forgets them. */
  takeCalled(): ReadonlySet<string> {
    const called = this.#called
    this.#called = new Set()
    return called
  }

  /** One record of a collection, or the record of a path. Nothing where there is none. */
  async find(path: string, query: Query, shape: Shape): Promise<Decoded | undefined> {
    const records = await this.#records(path, query)
    assert.ok(records.length <= 1, `${path} gave ${records.length} records where one was asked for`)
    const [record] = records
    return record === undefined ? undefined : decode(shape, record, path)
  }

  async read(path: string, query: Query, shape: Shape): Promise<Decoded> {
    const record = await this.find(path, query, shape)
    assert.ok(record !== undefined, `${path} gave no record for ${JSON.stringify(query)}`)
    return record
  }

  async list(path: string, query: Query, shape: Shape): Promise<Decoded[]> {
    return (await this.#records(path, query)).map((record) => decode(shape, record, path))
  }

  /** Makes something; gives the record that the answer has of it. */
  async create(path: string, body: unknown, shape: Shape, query: Query = { return_records: 'true' }): Promise<Decoded> {
    const answered = await this.#write('POST', path, body, query, 'create')
    await this.#wait(answered)
    const [record] = (answered['records'] ?? []) as readonly unknown[]
    if (query['return_records'] === undefined) return {}
    assert.ok(record !== undefined, `POST ${path} gave no record of what was made`)
    return decode(shape, record, `POST ${path}`)
  }

  /** Changes something; gives the record that the answer has of it, if it has one. */
  async update(path: string, body: unknown, shape: Shape = {}, query: Query = {}): Promise<Decoded | undefined> {
    const answered = await this.#write('PATCH', path, body, query, 'update')
    await this.#wait(answered)
    const [record] = (answered['records'] ?? []) as readonly unknown[]
    return record === undefined ? undefined : decode(shape, record, `PATCH ${path}`)
  }

  /** It does not wait for the job. */
  async remove(path: string, body?: unknown): Promise<void> {
    await this.#write('DELETE', path, body, {}, 'delete')
  }

  /** What the provider does not do itself, and what it is about to find needs. */
  async aside(method: 'POST' | 'DELETE', path: string, body?: unknown): Promise<Decoded> {
    const query = method === 'POST' ? { return_records: 'true' } : {}
    const called = this.#called
    this.#called = new Set()
    const answered = await this.#write(method, path, body, query, 'aside')
    this.#called = called
    const [record] = (answered['records'] ?? []) as readonly unknown[]
    return decode({ uuid: 'string' }, record, path)
  }

  /** The message of the error that a request ends with. */
  async refused(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<Decoded> {
    const reply = await this.#rest.call(method, target(path, { return_timeout: '60' }), body, HEADERS)
    assert.ok(reply.status >= 400, `${method} ${path} was answered ${reply.status}`)
    return decode(ERROR, reply.body, `${method} ${path}`)
  }

  async #records(path: string, query: Query): Promise<readonly unknown[]> {
    const answered = checked('GET', path, await this.#rest.call('GET', target(path, query), undefined, HEADERS))
    this.#called.add('read')
    const { records, num_records: count, error: _error, job: _job, jobs: _jobs, ...others } = answered
    if (records !== undefined) {
      assert.ok(Array.isArray(records), `${path}: records is no list`)
      assert.equal(count, records.length, `${path}: num_records`)
      return records as readonly unknown[]
    }
    // The record of a path stands where a collection has records.
    return Object.keys(others).length === 0 ? [] : [others]
  }

  async #write(method: string, path: string, body: unknown, query: Query, verb: string) {
    const whole = target(path, { ...query, return_timeout: '60' })
    const answered = checked(method, path, await this.#rest.call(method, whole, body, HEADERS))
    this.#called.add(verb)
    return answered
  }

  async #wait(answered: Answer): Promise<void> {
    const { job, jobs } = answered as { job?: { uuid?: unknown }; jobs?: readonly { uuid?: unknown }[] }
    for (const { uuid } of job === undefined ? (jobs ?? []) : [job]) {
      assert.equal(typeof uuid, 'string', 'a job has a uuid')
      for (const endMs = Date.now() + JOB_MS_MAX; ;) {
        const record = await this.read(`cluster/jobs/${uuid as string}`, {}, JOB)
        const state = asText(record['state'])
        if (state === 'success') break
        assert.ok(['queued', 'running', 'paused'].includes(state), `The job ended as ${JSON.stringify(record)}`)
        assert.ok(Date.now() < endMs, 'The job takes too long')
      }
    }
  }
}

type Answer = Readonly<Record<string, unknown>>

const HEADERS = { headers: { 'user-agent': 'Go-http-client/1.1', 'x-dot-client-app': 'Terraform-ONTAP' } }
const ERROR: Shape = { error: { code: 'string', message: 'string', target: 'string' } }
const JOB: Shape = { state: 'string', error: { message: 'string', code: 'string', target: 'string' } }

function target(path: string, query: Query): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    given.set(name, typeof value === 'string' ? value : value.join(','))
  return `/api/${path}${given.size === 0 ? '' : `?${given.toString()}`}`
}

/** An empty body, one that is no object, or an error, and the provider ends. */
function checked(method: string, path: string, reply: Reply): Answer {
  const body: unknown = reply.body
  assert.ok(typeof body === 'object' && body !== null && !Array.isArray(body), `${method} ${path}: ${reply.text}`)
  decode(ERROR, body, `${method} ${path}`)
  assert.ok(reply.status >= 200 && reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`)
  return body as Answer
}
