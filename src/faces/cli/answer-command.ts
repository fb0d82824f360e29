/**
 * `/private/cli`: the commands of the shell as addresses. A command is another spelling of a resource, so each request
 * becomes requests of the REST interface, with what these may do and refuse, and the answers are spelled back.
 *
 *     GET private/cli/volume?fields=used&vserver=svm1  ─▶  GET storage/volumes?fields=space.used,svm.name,name&svm.name=svm1
 *     {"vserver": "svm1", "volume": "vol1", "used": 0} ◀─  {"svm": {"name": "svm1"}, "name": "vol1", "space": {"used": 0}}
 *
 * What lies within other things, as snapshots do, is asked for within each of them. Changes name records by query. What
 * no field says is made of fields where it is shown, and filtered by after that.
 */
import { compileFilter } from '../../model/filter.ts'
import { failure } from '../../model/failure.ts'
import { fieldAt } from '../../model/resource.ts'
import { isRecord, type Json, type Value } from '../../model/value.ts'
import type { Behaviour } from '../../core/behaviour.ts'
import { flagArgument } from '../../core/flag-argument.ts'
import type { RestReply, RestRequest } from '../rest/answer.ts'
import { parseJson } from '../rest/json.ts'
import { type Meaning, underscored } from './names.ts'
import { elementsOf, type Phrase } from './phrases.ts'
import type { Command, Source } from './tree.ts'

/** Asks the REST interface, with the credentials and headers of the request. */
export type Ask = (method: string, target: string, body?: unknown) => Promise<RestReply>

/** Things within which one request looks. */
const PARENTS_MAX = 10_000
/** Records that one request changes. */
const CHANGED_MAX = 10_000
const WAIT_SECONDS = 120

/** Arguments of pages, which go on as they are where the command has one collection. */
const PAGING = new Set(['max_records', 'offset', 'start'])
/** Whether names in `fields` that the command does not know are skipped, as in the REST interface. */
const LENIENT = 'ignore_unknown_fields'
/** Arguments that filter nothing. */
const IGNORED = new Set(['privilege_level', 'pretty', 'expand', 'return_records', 'return_timeout', LENIENT])

export async function answerCommand(
  ask: Ask,
  command: Command,
  behaviour: Behaviour,
  request: RestRequest,
): Promise<RestReply> {
  const asked = new Asked(ask, command, request)
  switch (request.method) {
    case 'OPTIONS':
      return { status: 200, headers: { allow: allowedFor(command, behaviour).join(', ') }, body: {} }
    case 'GET':
    case 'HEAD':
      return endingEarly(() => asked.show())
    case 'POST':
      if (command.prints !== undefined) return endingEarly(() => asked.print(command.prints ?? ''))
      return endingEarly(() => (command.part === undefined ? asked.create() : asked.createPart(command.part.set)))
    case 'PATCH':
      return endingEarly(() => asked.change('PATCH', asked.body()))
    case 'DELETE':
      return endingEarly(() =>
        command.part === undefined ? asked.change('DELETE', undefined) : asked.change('PATCH', asked.cleared()),
      )
    default:
      throw failure('methodUnsupported', { method: request.method, path: request.target })
  }
}

function allowedFor({ part, prints }: Command, { create, modify, remove }: Behaviour): string[] {
  return [
    'GET',
    'HEAD',
    'OPTIONS',
    ...(create === undefined && part === undefined && prints === undefined ? [] : ['POST']),
    ...(modify === undefined ? [] : ['PATCH']),
    ...(remove === undefined && part === undefined ? [] : ['DELETE']),
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

type Wanted = readonly (readonly [name: string, meaning: Meaning])[]

/** A filter on what is made of fields. */
interface Condition {
  readonly phrase: Phrase
  readonly isMet: (value: Json | undefined) => boolean
}

interface Filters {
  /** Those that the REST interface takes. */
  readonly plain: readonly (readonly [path: string, expression: string])[]
  readonly conditions: readonly Condition[]
}

/** The place of a page: where it begins, and in which of the collections. */
interface Start {
  readonly parent: string
  readonly place: string
}

class Asked {
  readonly #ask: Ask
  readonly #command: Command
  readonly #request: RestRequest
  readonly #query: URLSearchParams
  readonly #seen = new Map<string, Promise<readonly Json[]>>()

  constructor(ask: Ask, command: Command, request: RestRequest) {
    const mark = request.target.indexOf('?')
    this.#ask = ask
    this.#command = command
    this.#request = request
    this.#query = new URLSearchParams(mark < 0 ? '' : request.target.slice(mark + 1))
    // What is to be removed may be named in the body as well (seen in the vendor's Ansible collection, 2026-11).
    if (request.method === 'DELETE') {
      for (const [name, value] of Object.entries(this.#given())) this.#query.append(name, literal(value))
    }
  }

  async show(): Promise<RestReply> {
    const wanted = this.#wanted(this.#command)
    const filters = this.#filters(this.#command)
    const given = this.#reading(wanted, filters)
    const order = this.#query.get('order_by')
    if (order !== null) given.push(['order_by', this.#order(order)])
    const { records, next } = await this.#pages(given)
    const spelled = await this.#spell(records, wanted, filters.conditions)
    if (!this.#query.has('start'))
      for (const other of this.#command.others) spelled.push(...(await this.#beside(other)))
    const links = next === undefined ? {} : { _links: { next: { href: this.#from(next) } } }
    return { status: 200, headers: {}, body: { records: spelled, num_records: spelled.length, ...links } }
  }

  /** Runs a command that only tells something: its records, and what the shell would print of them. */
  async print(name: string): Promise<RestReply> {
    const reply = await this.show()
    const printed = elementsOf(reply.body['records']).map((record) => (isRecord(record) ? inWords(record[name]) : ''))
    return { ...reply, body: { ...reply.body, cli_output: `${printed.join('\n')}\n` } }
  }

  async create(): Promise<RestReply> {
    const draft = this.body()
    const [collection, ...others] = await this.#collections(draft)
    const parent = this.#parent()
    if (collection === undefined || others.length > 0) {
      const base = parent?.base ?? 'name'
      if (draft[`${base}.name`] === undefined) throw failure('fieldRequired', { field: base })
      throw base === 'svm' ? failure('svmNotFound') : failure('recordNotFound', { noun: base }, { target: base })
    }
    // The path says these.
    const inPath = parent === undefined ? [] : [`${parent.base}.name`, 'svm.name']
    const fields = Object.fromEntries(Object.entries(draft).filter(([path]) => !inPath.includes(path)))
    return this.#must('POST', `${collection.path}?return_timeout=${WAIT_SECONDS}`, fields)
  }

  /** Makes a part of a record that is there without it. The body says which record. */
  async createPart(set: Readonly<Record<string, Json>>): Promise<RestReply> {
    const draft = this.body()
    const isKey = new Set(this.#command.names.keys.map(([, meaning]) => meaning))
    const plain = Object.entries(draft).flatMap(([path, value]): [string, string][] =>
      isKey.has(path) ? [[path, literal(value)]] : [],
    )
    const whole = await this.#found({ plain, conditions: [] })
    const [address] = whole
    if (address === undefined) throw failure('recordNotFound', { noun: this.#command.resource.noun })
    const own = this.#filters(this.#command, new URLSearchParams())
    if ((await this.#found({ plain, conditions: own.conditions })).length > 0) {
      throw failure('partNameTaken', { part: this.#command.words.at(-1) ?? 'part' })
    }
    const fields = Object.fromEntries(Object.entries(draft).filter(([path]) => !isKey.has(path)))
    await this.#must('PATCH', `${address}?return_timeout=${WAIT_SECONDS}`, { ...this.#served(set), ...fields })
    return { status: 201, headers: {}, body: { num_records: 1 } }
  }

  /** Changes what the query names, one after the other. The first failure ends it. */
  async change(method: 'PATCH' | 'DELETE', draft: Readonly<Record<string, unknown>> | undefined): Promise<RestReply> {
    const { resource, where } = this.#command
    const filters = this.#filters(this.#command)
    const said = filters.plain.length + filters.conditions.length - Object.keys(where).length
    if (said === 0 && !resource.isSingleton) {
      throw failure('commandTargetMissing')
    }
    const addresses = await this.#found(filters)
    if (addresses.length === 0) throw failure('recordNotFound', { noun: resource.noun })
    for (const address of addresses) await this.#must(method, `${address}?return_timeout=${WAIT_SECONDS}`, draft)
    return { status: 200, headers: {}, body: { num_records: addresses.length } }
  }

  /** The body, with fields of the model. */
  body(): Record<string, unknown> {
    const draft: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(this.#given())) {
      const meaning = this.#meaning(this.#command, name)
      if (typeof meaning === 'string') draft[meaning] = value
      else if (meaning.read === undefined) throw failure('fieldNotModifiable', { field: name })
      else Object.assign(draft, this.#served(meaning.read(value)))
    }
    return draft
  }

  #given(): Readonly<Record<string, unknown>> {
    const given = this.#request.body.trim() === '' ? {} : parseJson(this.#request.body)
    if (!isRecord(given)) throw failure('bodyNotObject')
    return given
  }

  /** What takes a part of a record back. */
  cleared(): Record<string, null> {
    const paths = this.#command.part?.clear ?? []
    return this.#served(Object.fromEntries(paths.map((path): [string, null] => [path, null])))
  }

  /** Without what says no of a field that the release does not have. */
  #served<Given>(fields: Readonly<Record<string, Given>>): Record<string, Given> {
    const { names } = this.#command
    return Object.fromEntries(Object.entries(fields).filter(([path, value]) => Boolean(value) || names.isServed(path)))
  }

  #reading(wanted: Wanted, { plain, conditions }: Filters, source: Source = this.#command): [string, string][] {
    const meanings = [...wanted.map(([, meaning]) => meaning), ...conditions.map(({ phrase }) => phrase)]
    const paths = meanings.flatMap((meaning) => (typeof meaning === 'string' ? [meaning] : meaning.from))
    const asked = new Set(wanted.map(([, meaning]) => meaning))
    const fields = [...new Set(paths)].filter((path) => asked.has(path) || source.names.isServed(path))
    return [['fields', fields.join(',')], ...plain.map(([path, expression]): [string, string] => [path, expression])]
  }

  /** A page of the records, from one collection after the other. */
  async #pages(given: readonly [string, string][]): Promise<{ records: Json[]; next: Start | undefined }> {
    const limit = this.#query.get('max_records')
    const start = readStart(this.#query.get('start'))
    const records: Json[] = []
    let left = limit === null ? Infinity : Number(limit)
    for (const { path, parent } of await this.#collections()) {
      if (start !== undefined && parent < start.parent) continue
      if (left <= 0) return { records, next: { parent, place: '' } }
      const own: [string, string][] = [...given]
      if (limit !== null) own.push(['max_records', Number.isNaN(left) ? limit : String(left)])
      const offset = this.#query.get('offset')
      if (offset !== null) own.push(['offset', offset])
      if (start?.parent === parent && start.place !== '') own.push(['start', start.place])
      const { body } = await this.#must('GET', `${path}?${new URLSearchParams(own).toString()}`)
      const found = this.#command.resource.isSingleton ? [body] : elementsOf(body['records'])
      records.push(...found)
      left -= found.length
      const place = startIn(body)
      if (place !== undefined) return { records, next: { parent, place } }
    }
    return { records, next: undefined }
  }

  /** What is shown beside the command's own records. Filters that it does not know are of the others. */
  async #beside(source: Source): Promise<Json[]> {
    const unknown = [...this.#query.keys()].filter((name) => this.#isField(name))
    if (unknown.some((name) => source.names.meaningOf(name) === undefined)) return []
    const keys = this.#command.names.keys.map(([name]) => name)
    const asked = this.#wanted(this.#command).map(([name]) => name)
    const wanted = [...new Set([...keys, ...asked])].flatMap((name): [string, Meaning][] => {
      const meaning = source.names.meaningOf(name)
      return meaning === undefined ? [] : [[name, meaning]]
    })
    const filters = this.#filters(source)
    const query = new URLSearchParams(this.#reading(wanted, filters, source))
    const { body } = await this.#must('GET', `/api${source.resource.path}?${query.toString()}`)
    return this.#spell(source.resource.isSingleton ? [body] : elementsOf(body['records']), wanted, filters.conditions)
  }

  async #spell(records: readonly Json[], wanted: Wanted, conditions: readonly Condition[]): Promise<Json[]> {
    const seen = new Map<Phrase, readonly Json[]>()
    for (const meaning of [...wanted.map(([, one]) => one), ...conditions.map(({ phrase }) => phrase)]) {
      if (typeof meaning !== 'string') seen.set(meaning, await this.#seenBy(meaning))
    }
    const say = (record: Json, meaning: Meaning) =>
      typeof meaning === 'string'
        ? pick(record, meaning)
        : meaning.show((path) => wholeAt(record, path), seen.get(meaning) ?? [])
    return records
      .filter((record) => conditions.every((condition) => condition.isMet(say(record, condition.phrase))))
      .map((record) => {
        const shown: Record<string, Json> = {}
        for (const [name, meaning] of wanted) {
          const value = say(record, meaning)
          if (value !== undefined) shown[name] = value
        }
        return shown
      })
  }

  async #seenBy({ sees }: Phrase): Promise<readonly Json[]> {
    if (sees === undefined) return []
    const known = this.#seen.get(sees)
    if (known !== undefined) return known
    const found = this.#must('GET', `/api/${sees}`).then(({ body }) => elementsOf(body['records']))
    this.#seen.set(sees, found)
    return found
  }

  /** The addresses of the records that pass. */
  async #found(filters: Filters): Promise<string[]> {
    const { resource } = this.#command
    const wanted = resource.key.map((path) => [path, path] as const)
    const query = new URLSearchParams([['max_records', String(CHANGED_MAX)], ...this.#reading(wanted, filters)])
    const addresses: string[] = []
    for (const { path } of await this.#collections(undefined, filters)) {
      const { body } = await this.#must('GET', `${path}?${resource.isSingleton ? '' : query.toString()}`)
      const found = resource.isSingleton ? [body] : elementsOf(body['records'])
      for (const record of found) {
        if ((await this.#spell([record], [], filters.conditions)).length === 0) continue
        const key = resource.key.map((one) => encodeURIComponent(inWords(pick(record, one))))
        addresses.push([path, ...key].join('/'))
      }
    }
    return addresses
  }

  /** The names that are asked for, and those that every record has, with what they mean. */
  #wanted(source: Source): Wanted {
    const names = this.#query.getAll('fields').flatMap((list) => list.split(','))
    const asked = names.map((name) => name.trim()).filter((name) => name !== '')
    if (asked.some((name) => name.includes('*'))) {
      throw failure('allFieldsRefused')
    }
    const { names: known, resource } = source
    // Of what there is one of, nothing else would say what it is.
    const wanted = new Map<string, Meaning>(resource.isSingleton && asked.length === 0 ? known.all : known.keys)
    for (const name of this.#isLenient() ? asked.filter((one) => known.meaningOf(one) !== undefined) : asked) {
      wanted.set(underscored(name), this.#meaning(source, name))
    }
    return [...wanted]
  }

  #isLenient(): boolean {
    return flagArgument(Object.fromEntries(this.#query), LENIENT)
  }

  #filters(source: Source, query = this.#query): Filters {
    const plain: [string, string][] = []
    const conditions: Condition[] = []
    const given = [...query].filter(([name]) => this.#isField(name))
    for (const [name, expression] of [...Object.entries(source.where), ...given]) {
      const meaning = this.#meaning(source, name)
      if (typeof meaning === 'string') plain.push([meaning, expression])
      else conditions.push(conditionOn(name, meaning, expression))
    }
    return { plain, conditions }
  }

  #isField(name: string): boolean {
    return !PAGING.has(name) && !IGNORED.has(name) && name !== 'fields' && name !== 'order_by'
  }

  #order(given: string): string {
    return given
      .split(',')
      .map((part) => part.trim().split(/\s+/))
      .map(([name = '', ...direction]) => {
        const meaning = this.#meaning(this.#command, name)
        if (typeof meaning !== 'string') throw failure('orderByUnknown', { name })
        return [meaning, ...direction].join(' ')
      })
      .join(',')
  }

  #meaning(source: Source, name: string): Meaning {
    const meaning = source.names.meaningOf(name)
    if (meaning === undefined) throw failure('argumentUnexpected', { name })
    return meaning
  }

  /** The kind of thing that these lie within: its type, and what their fields call it. */
  #parent(): { readonly type: string; readonly base: string; readonly key: string } | undefined {
    const { resource } = this.#command
    const [key, ...more] = resource.pathKeys
    if (key === undefined) return undefined
    const reference = fieldAt(resource, key)?.field.reference
    if (reference?.part !== 'uuid' || more.length > 0) throw failure('apiNotFound', { path: this.#request.target })
    return { type: reference.type, base: reference.base, key }
  }

  /** The collections that the request is about: one, or one within each parent that it does not exclude. */
  async #collections(
    draft?: Readonly<Record<string, unknown>>,
    filters = this.#filters(this.#command),
  ): Promise<{ readonly path: string; readonly parent: string }[]> {
    const path = `/api${this.#command.resource.path}`
    const parent = this.#parent()
    if (parent === undefined) return [{ path, parent: '' }]
    const said =
      draft === undefined
        ? filters.plain
        : Object.entries(draft).map(([at, value]): [string, string] => [at, inWords(value)])
    const query = new URLSearchParams({ fields: 'uuid', order_by: 'uuid', max_records: String(PARENTS_MAX) })
    for (const [at, value] of said) {
      if (at === `${parent.base}.name`) query.append('name', value)
      else if (at === 'svm.name' && parent.base !== 'svm') query.append('svm.name', value)
    }
    const { body } = await this.#must('GET', `/api/${parent.type}?${query.toString()}`)
    return elementsOf(body['records']).map((one) => {
      const uuid = inWords(pick(one, 'uuid'))
      return { path: path.replace(`{${parent.key}}`, uuid), parent: uuid }
    })
  }

  async #must(method: string, target: string, body?: unknown): Promise<RestReply> {
    const reply = await this.#ask(method, target, body)
    if (reply.status >= 400) throw new Refused(reply)
    return reply
  }

  /** The same request from a place on. */
  #from({ parent, place }: Start): string {
    const query = new URLSearchParams(this.#query)
    query.delete('offset')
    query.set('start', `${parent}~${place}`)
    return `${this.#request.target.split('?', 1)[0] ?? ''}?${query.toString()}`
  }
}

function readStart(given: string | null): Start | undefined {
  if (given === null) return undefined
  const mark = given.indexOf('~')
  if (mark < 0) throw failure('pageUnknown')
  return { parent: given.slice(0, mark), place: given.slice(mark + 1) }
}

function conditionOn(name: string, phrase: Phrase, expression: string): Condition {
  const test = compileFilter(name, phrase.kind, expression)
  return {
    phrase,
    isMet: (value) => test(value === undefined ? [] : Array.isArray(value) ? (value as readonly Value[]) : [value]),
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

/** The value at a dotted path as it stands, list or not. */
function wholeAt(record: Json, path: string): Json | undefined {
  return path
    .split('.')
    .reduce<Json | undefined>(
      (of, word) => (isRecord(of) ? (of as Readonly<Record<string, Json>>)[word] : undefined),
      record,
    )
}

const inWords = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')

/** As a filter that means just this. */
const literal = (value: unknown) => `"${inWords(value)}"`

/** The place at which the next page begins. */
function startIn(body: Readonly<Record<string, Json>>): string | undefined {
  const href = wholeAt(body, '_links.next.href')
  if (typeof href !== 'string') return undefined
  return new URLSearchParams(href.slice(href.indexOf('?') + 1)).get('start') ?? undefined
}
