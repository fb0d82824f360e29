/**
 * `/private/cli`: the commands of the shell as addresses. A command is another spelling of a resource, so each request
 * becomes requests of the REST interface, with what these may do and refuse, and the answers are spelled back.
 *
 *     GET private/cli/volume?fields=used&vserver=svm1  ─▶  GET storage/volumes?fields=space.used,svm.name,name&svm.name=svm1
 *     {"vserver": "svm1", "volume": "vol1", "used": 0} ◀─  {"svm": {"name": "svm1"}, "name": "vol1", "space": {"used": 0}}
 *
 * What lies within other things, as snapshots do, is asked for within each of them. Changes name records by query.
 */
import { Failure, failures } from '../../model/failure.ts'
import { fieldAt } from '../../model/resource.ts'
import { isRecord, type Json } from '../../model/value.ts'
import type { Behaviour } from '../../core/behaviour.ts'
import type { RestReply, RestRequest } from '../rest/answer.ts'
import { parseJson } from '../rest/json.ts'
import type { Command } from './tree.ts'

/** Asks the REST interface, with the credentials and headers of the request. */
export type Ask = (method: string, target: string, body?: unknown) => Promise<RestReply>

/** Things within which one request looks. */
const PARENTS_MAX = 10_000
/** Records that one request changes. */
const CHANGED_MAX = 10_000
const WAIT_SECONDS = 120

/** Arguments that go on as they are. */
const PASSED = new Set(['max_records', 'offset', 'start', 'return_records', 'return_timeout'])
/** Arguments that are taken and change nothing here. */
const IGNORED = new Set(['privilege_level', 'pretty', 'expand'])

export async function answerCommand(
  ask: Ask,
  command: Command,
  behaviour: Behaviour,
  request: RestRequest,
): Promise<RestReply> {
  const asked = new Asked(ask, command, request)
  switch (request.method) {
    case 'OPTIONS':
      return { status: 200, headers: { allow: allowedFor(behaviour).join(', ') }, body: {} }
    case 'GET':
    case 'HEAD':
      return asked.show()
    case 'POST':
      return asked.create()
    case 'PATCH':
      return asked.change('PATCH', asked.body())
    case 'DELETE':
      return asked.change('DELETE', undefined)
    default:
      throw failures.unsupported(request.method, request.target)
  }
}

function allowedFor({ create, modify, remove }: Behaviour): string[] {
  return [
    'GET',
    'HEAD',
    'OPTIONS',
    ...(create === undefined ? [] : ['POST']),
    ...(modify === undefined ? [] : ['PATCH']),
    ...(remove === undefined ? [] : ['DELETE']),
  ]
}

/** A reply that ends what was begun. */
class Refused extends Error {
  readonly reply: RestReply

  constructor(reply: RestReply) {
    super('refused')
    this.reply = reply
  }
}

class Asked {
  readonly #ask: Ask
  readonly #command: Command
  readonly #request: RestRequest
  readonly #query: URLSearchParams

  constructor(ask: Ask, command: Command, request: RestRequest) {
    const mark = request.target.indexOf('?')
    this.#ask = ask
    this.#command = command
    this.#request = request
    this.#query = new URLSearchParams(mark < 0 ? '' : request.target.slice(mark + 1))
  }

  async show(): Promise<RestReply> {
    const wanted = this.#wanted()
    const { resource } = this.#command
    const given: [string, string][] = [['fields', wanted.map(([, path]) => path).join(',')], ...this.#filters()]
    for (const [name, value] of this.#query) if (PASSED.has(name)) given.push([name, value])
    const order = this.#query.get('order_by')
    if (order !== null) given.push(['order_by', this.#order(order)])
    return endingEarly(async () => {
      const records: Json[] = []
      let next: string | undefined
      for (const collection of await this.#collections()) {
        const { body } = await this.#must('GET', `${collection}?${new URLSearchParams(given).toString()}`)
        const found = resource.isSingleton ? [body] : listOf(body['records'])
        for (const record of found) records.push(spell(record, wanted))
        next ??= startIn(body)
      }
      const links = next === undefined ? {} : { _links: { next: { href: this.#from(next) } } }
      return { status: 200, headers: {}, body: { records, num_records: records.length, ...links } }
    })
  }

  async create(): Promise<RestReply> {
    return endingEarly(async () => {
      const draft = this.body()
      const [collection, ...others] = await this.#collections(draft)
      if (collection === undefined || others.length > 0) throw failures.missing(this.#parent()?.base ?? 'name')
      const parent = this.#parent()
      // The path says these.
      const inPath = parent === undefined ? [] : [`${parent.base}.name`, 'svm.name']
      const fields = Object.fromEntries(Object.entries(draft).filter(([path]) => !inPath.includes(path)))
      return this.#must('POST', `${collection}?return_timeout=${WAIT_SECONDS}`, fields)
    })
  }

  /** Changes what the query names, one after the other. The first failure ends it. */
  async change(method: 'PATCH' | 'DELETE', draft: Readonly<Record<string, unknown>> | undefined): Promise<RestReply> {
    const filters = this.#filters()
    const { resource } = this.#command
    if (filters.length === 0 && !resource.isSingleton) {
      throw failures.badArgument('query', 'name what is to be changed, as in ?vserver=svm1&volume=vol1.')
    }
    return endingEarly(async () => {
      const addresses: string[] = []
      for (const collection of await this.#collections()) {
        if (resource.isSingleton) addresses.push(collection)
        else addresses.push(...(await this.#addresses(collection, filters)))
      }
      if (addresses.length === 0) throw failures.notFound(resource.noun)
      for (const address of addresses) await this.#must(method, `${address}?return_timeout=${WAIT_SECONDS}`, draft)
      return { status: 200, headers: {}, body: { num_records: addresses.length } }
    })
  }

  /** The body, with fields of the model. */
  body(): Record<string, unknown> {
    const given = this.#request.body.trim() === '' ? {} : parseJson(this.#request.body)
    if (!isRecord(given)) throw failures.malformedJson('The body is not a JSON object.')
    return Object.fromEntries(Object.entries(given).map(([name, value]) => [this.#path(name), value]))
  }

  async #addresses(collection: string, filters: [string, string][]): Promise<string[]> {
    const { resource } = this.#command
    const fields = resource.key.join(',')
    const query = new URLSearchParams([['fields', fields], ['max_records', String(CHANGED_MAX)], ...filters])
    const { body } = await this.#must('GET', `${collection}?${query.toString()}`)
    return listOf(body['records']).map((record) => {
      const key = resource.key.map((path) => encodeURIComponent(inWords(pick(record, path))))
      return `${collection}/${key.join('/')}`
    })
  }

  /** The names that are asked for, and those that every record has, with their fields. */
  #wanted(): (readonly [name: string, path: string])[] {
    const names = this.#query.getAll('fields').flatMap((list) => list.split(','))
    const asked = names.map((name) => name.trim()).filter((name) => name !== '')
    if (asked.some((name) => name.includes('*'))) {
      throw new Failure('malformed', 262220, '"*" is not taken here. Name the fields.', { target: 'fields' })
    }
    const { names: known, resource } = this.#command
    // Of what there is one of, nothing else would say what it is.
    const wanted = new Map(resource.isSingleton && asked.length === 0 ? known.all : known.keys)
    for (const name of asked) wanted.set(name.replaceAll('-', '_'), this.#path(name))
    return [...wanted]
  }

  #filters(): [string, string][] {
    return [...this.#query]
      .filter(([name]) => !PASSED.has(name) && !IGNORED.has(name) && name !== 'fields' && name !== 'order_by')
      .map(([name, value]) => [this.#path(name), value])
  }

  #order(given: string): string {
    return given
      .split(',')
      .map((part) => part.trim().split(/\s+/))
      .map(([name = '', ...direction]) => [this.#path(name), ...direction].join(' '))
      .join(',')
  }

  #path(name: string): string {
    const path = this.#command.names.pathOf(name)
    if (path === undefined) throw failures.unexpected(name)
    return path
  }

  /** The kind of thing that these lie within: its type, and what their fields call it. */
  #parent(): { readonly type: string; readonly base: string; readonly key: string } | undefined {
    const { resource } = this.#command
    const [key, ...more] = resource.pathKeys
    if (key === undefined) return undefined
    const reference = fieldAt(resource, key)?.field.reference
    if (reference?.part !== 'uuid' || more.length > 0) throw failures.noSuchPath(this.#request.target)
    return { type: reference.type, base: reference.base, key }
  }

  /** The collections that the request is about: one, or one within each parent that it does not exclude. */
  async #collections(draft?: Readonly<Record<string, unknown>>): Promise<string[]> {
    const path = `/api${this.#command.resource.path}`
    const parent = this.#parent()
    if (parent === undefined) return [path]
    const said =
      draft === undefined
        ? this.#filters()
        : Object.entries(draft).map(([at, value]): [string, string] => [at, inWords(value)])
    const query = new URLSearchParams({ fields: 'uuid', max_records: String(PARENTS_MAX) })
    for (const [at, value] of said) {
      if (at === `${parent.base}.name`) query.append('name', value)
      else if (at === 'svm.name' && parent.base !== 'svm') query.append('svm.name', value)
    }
    const { body } = await this.#must('GET', `/api/${parent.type}?${query.toString()}`)
    return listOf(body['records']).map((one) => path.replace(`{${parent.key}}`, inWords(pick(one, 'uuid'))))
  }

  async #must(method: string, target: string, body?: unknown): Promise<RestReply> {
    const reply = await this.#ask(method, target, body)
    if (reply.status >= 400) throw new Refused(reply)
    return reply
  }

  /** The same request from a place on. */
  #from(start: string): string {
    const query = new URLSearchParams(this.#query)
    query.delete('offset')
    query.set('start', start)
    return `${this.#request.target.split('?', 1)[0] ?? ''}?${query.toString()}`
  }
}

async function endingEarly(act: () => Promise<RestReply>): Promise<RestReply> {
  try {
    return await act()
  } catch (cause) {
    if (cause instanceof Refused) return cause.reply
    throw cause
  }
}

function spell(record: Json, wanted: readonly (readonly [string, string])[]): Json {
  const spelled: Record<string, Json> = {}
  for (const [name, path] of wanted) {
    const value = pick(record, path)
    if (value !== undefined) spelled[name] = value
  }
  return spelled
}

/** The value at a dotted path. Of a list, that of each element; of a list with one, its own. */
function pick(record: Json, path: string): Json | undefined {
  const [word = '', ...rest] = path.split('.')
  if (Array.isArray(record)) {
    const values = (record as readonly Json[]).map((one) => pick(one, path)).filter((one) => one !== undefined)
    return values.length === 1 ? values[0] : values
  }
  if (!isRecord(record)) return undefined
  const value = (record as Readonly<Record<string, Json>>)[word]
  return rest.length === 0 || value === undefined ? value : pick(value, rest.join('.'))
}

const listOf = (value: Json | undefined) => (Array.isArray(value) ? (value as readonly Json[]) : [])

const inWords = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')

/** The place at which the next page begins. */
function startIn(body: Readonly<Record<string, Json>>): string | undefined {
  const href = pick(body, '_links.next.href')
  if (typeof href !== 'string') return undefined
  return new URLSearchParams(href.slice(href.indexOf('?') + 1)).get('start') ?? undefined
}
