/**
 * From a request under /api to its answer: a plain function without a socket, so that tests, a simulator and other
 * faces can call it.
 */
import type { Behaviour, VerbName } from '../../core/behaviour.ts'
import { explainFailure } from '../../core/explain.ts'
import { describe, failureOf, isActive } from '../../core/jobs.ts'
import type { Actions, Performed } from '../../core/perform.ts'
import { derive, findInstance, hasAll, insistOnParents, readCollection, readInstance } from '../../core/read.ts'
import { inTurns } from '../../core/turns.ts'
import type { Caller } from '../../core/verb.ts'
import { mayDo, type Role } from '../../model/access.ts'
import { Failure, failures } from '../../model/failure.ts'
import { selectFields } from '../../model/query.ts'
import type { PathMatch } from '../../model/registry.ts'
import type { Resource } from '../../model/resource.ts'
import { isServed } from '../../model/release.ts'
import { flatten, nester } from '../../model/shape.ts'
import { type Json, type Row, textAt } from '../../model/value.ts'
import { commandBody, commandQuery, isCommandLine } from './command-line.ts'
import {
  changeArguments,
  encodePlace,
  keyFields,
  readArguments,
  writeArguments,
  type WriteArguments,
} from './arguments.ts'
import { chooseDialect, statusOf, type Dialect } from './dialects.ts'
import { parseJson } from './json.ts'
import { collectionPath, jobPath, recordPath } from './links.ts'

export interface RestRequest {
  readonly method: string
  /** The target as it came: path and query. */
  readonly target: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
  readonly from: string
}

export interface RestReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, Json>>
}

/** Tells who calls, or fails with `unauthenticated` or `limited`. */
export type Authenticate = (authorization: string | undefined, from: string) => Promise<{ caller: Caller; role: Role }>

export interface RestFace {
  readonly actions: Actions
  readonly authenticate: Authenticate
  /** The cluster option `wire_dialect`. */
  readonly wireDialect: () => Promise<string>
}

export async function answer(face: RestFace, request: RestRequest): Promise<RestReply> {
  let dialect = chooseDialect('auto', request.headers['x-dot-client-app'], request.headers['user-agent'])
  try {
    const { caller, role } = await face.authenticate(request.headers['authorization'], request.from)
    dialect = chooseDialect(
      await face.wireDialect(),
      request.headers['x-dot-client-app'],
      request.headers['user-agent'],
    )
    return await new Exchange(face, request, dialect, caller, role).replyAudited()
  } catch (cause) {
    return failed(face, request, dialect, cause)
  }
}

function failed(face: RestFace, request: RestRequest, dialect: Dialect, cause: unknown): RestReply {
  const failure = explainFailure(cause)
  if (failure.kind === 'internal') {
    face.actions.cluster.log.error('A request failed.', {
      method: request.method,
      path: pathOf(request),
      cause: describe(cause),
    })
  }
  const { target, retryAfterSeconds } = failure
  return {
    status: statusOf(failure.kind, dialect),
    headers: {
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      ...(failure.kind === 'unauthenticated' ? { 'www-authenticate': 'Basic realm="cluster", charset="UTF-8"' } : {}),
    },
    body: {
      error: {
        message: failure.message,
        code: dialect.errorCode(failure.code),
        ...(target === undefined ? {} : { target }),
      },
    },
  }
}

function pathOf(request: RestRequest): string {
  return request.target.split('?', 1)[0] ?? ''
}

const TARGET_CHARACTERS_MAX = 16 * 1024
const WRITES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

class Exchange {
  readonly #face: RestFace
  readonly #request: RestRequest
  readonly #dialect: Dialect
  readonly #caller: Caller
  readonly #role: Role
  readonly #path: string
  #query: URLSearchParams
  /** The verb was called, and has written its entry in the audit trail. */
  #isPerformed = false

  constructor(face: RestFace, request: RestRequest, dialect: Dialect, caller: Caller, role: Role) {
    this.#face = face
    this.#request = request
    this.#dialect = dialect
    this.#caller = caller
    this.#role = role
    const mark = request.target.indexOf('?')
    this.#path = mark < 0 ? request.target : request.target.slice(0, mark)
    this.#query = new URLSearchParams(mark < 0 ? '' : request.target.slice(mark + 1))
  }

  get #cluster() {
    return this.#face.actions.cluster
  }

  /** Writes that are refused before their verb is called are in the audit trail too. */
  async replyAudited(): Promise<RestReply> {
    try {
      return await this.reply()
    } catch (failure) {
      if (!this.#isPerformed && WRITES.has(this.#request.method)) {
        const message = failure instanceof Failure ? failure.message : 'internal error'
        await this.#face.actions.audit(this.#caller, `${this.#request.method} ${this.#path}`, 'error', message)
      }
      throw failure
    }
  }

  async reply(): Promise<RestReply> {
    const { method } = this.#request
    if (this.#request.target.length > TARGET_CHARACTERS_MAX)
      throw failures.badArgument('query', 'the address is too long.')
    if (this.#query.has('password') || this.#query.has('secret_key')) {
      throw new Failure('malformed', 262202, 'A secret must not be in the address. Send it in the body.')
    }
    const segments = this.#segments()
    if (!mayDo(this.#role, `/${['api', ...segments].join('/')}`, method)) {
      throw failures.denied(method, this.#path, this.#role.name)
    }
    const match = this.#cluster.registry.match(segments)
    const behaviour = match === undefined ? undefined : this.#cluster.behaviours.get(match.resource.type)
    if (match === undefined || behaviour === undefined || !isServed(match.resource.since, this.#cluster.release)) {
      throw failures.noSuchPath(this.#path)
    }
    const isInstance = match.resource.isSingleton || match.instance.length > 0
    const allowed = allowedMethods(behaviour, isInstance).filter(
      // What is made has its keys in the body.
      (each) => match.isNarrowed !== true || each !== match.resource.createMethod,
    )
    if (!allowed.includes(method)) {
      const failure = failures.unsupported(method, this.#path)
      const reply = failed(this.#face, this.#request, this.#dialect, failure)
      return { ...reply, headers: { ...reply.headers, allow: allowed.join(', ') } }
    }
    if (isCommandLine(match.resource)) {
      this.#query = commandQuery(this.#query, method === 'DELETE' && !isInstance ? this.#body() : {})
    }
    switch (method) {
      case 'OPTIONS':
        return { status: 200, headers: { allow: allowed.join(', ') }, body: {} }
      case 'GET':
      case 'HEAD':
        return isInstance ? this.#getInstance(behaviour, match) : this.#getCollection(behaviour, match)
      case 'POST':
      case 'PUT':
        return this.#create(behaviour, match)
      case 'PATCH':
        return this.#change(behaviour, match, 'modify')
      default:
        return this.#change(behaviour, match, 'remove')
    }
  }

  /** Doubled and trailing slashes are forgiven, as clients send them; encoded ones are data. */
  #segments(): string[] {
    const segments = this.#path.split('/').filter((segment) => segment !== '')
    if (segments.shift() !== 'api') throw failures.noSuchPath(this.#path)
    try {
      return segments.map((segment) => {
        const decoded = decodeURIComponent(segment)
        if (decoded.includes('\0')) throw failures.noSuchPath(this.#path)
        return decoded
      })
    } catch (failure) {
      if (failure instanceof URIError) throw new Failure('malformed', 39387137, 'The address has an invalid escape.')
      throw failure
    }
  }

  async #getInstance(behaviour: Behaviour, match: PathMatch): Promise<RestReply> {
    const { resource } = behaviour
    const args = readArguments(resource, this.#query, this.#dialect, this.#cluster.release, false)
    const row = await readInstance(this.#cluster, behaviour, match.pathValues, match.instance, args.fields)
    return {
      status: 200,
      headers: {},
      body: this.#printer(behaviour, args.fields, collectionPath(resource, match.pathValues))(row),
    }
  }

  async #getCollection(behaviour: Behaviour, match: PathMatch): Promise<RestReply> {
    const { resource } = behaviour
    const { release } = this.#cluster
    const args = readArguments(resource, this.#query, this.#dialect, release, true, behaviour.readArgs)
    const page = await readCollection(this.#cluster, behaviour, { path: match.pathValues, ...args })
    const at = collectionPath(resource, match.pathValues)
    const links: Record<string, Json> = this.#isHal ? { self: { href: this.#request.target } } : {}
    if (page.next !== undefined) {
      const next = new URLSearchParams(this.#query)
      next.delete('offset')
      next.set('start', encodePlace(page.next))
      if (!next.has('max_records') && !next.has('limit')) next.set('max_records', String(args.limit))
      links['next'] = { href: `${this.#path}?${next.toString()}` }
    }
    const print = this.#printer(behaviour, args.fields, at)
    const records: Json[] = []
    for await (const rows of inTurns(this.#cluster.system, page.rows)) records.push(...rows.map(print))
    return {
      status: 200,
      headers: {},
      body: {
        ...(args.returnRecords ? { records } : {}),
        num_records: page.rows.length,
        ...(Object.keys(links).length === 0 ? {} : { _links: links }),
      },
    }
  }

  async #create(behaviour: Behaviour, match: PathMatch): Promise<RestReply> {
    const { resource } = behaviour
    const args = writeArguments(resource, this.#query, this.#dialect, behaviour.create?.args ?? {})
    const body = this.#body()
    await insistOnParents(this.#cluster, behaviour, match.pathValues)
    const draft = flatten(resource, this.#spelled(resource, body), 'create', this.#cluster.release)
    const performed = await this.#perform(behaviour, 'create', this.#call({ draft, match, args }))
    return this.#written(behaviour, match, performed, args, 'create')
  }

  async #change(behaviour: Behaviour, match: PathMatch, verb: 'modify' | 'remove'): Promise<RestReply> {
    const { resource } = behaviour
    const { release } = this.#cluster
    const args = changeArguments(resource, this.#query, this.#dialect, release, behaviour[verb]?.args ?? {})
    const body = this.#body()
    const row = await findInstance(this.#cluster, behaviour, match.pathValues, match.instance)
    if (row === undefined || !(await hasAll(this.#cluster, behaviour, row, args.filters))) {
      throw failures.notFound(resource.noun, resource.key[0])
    }
    const draft =
      verb === 'modify' ? flatten(resource, this.#spelled(resource, body), 'modify', this.#cluster.release) : {}
    if (verb === 'modify' && Object.keys(draft).length === 0 && Object.keys(args.args).length === 0) {
      throw failures.nothingToApply()
    }
    const performed = await this.#perform(behaviour, verb, this.#call({ draft, row, match, args }))
    return this.#written(behaviour, match, performed, args, verb)
  }

  #perform(behaviour: Behaviour, verb: VerbName, call: Parameters<Actions['perform']>[2]): Promise<Performed> {
    this.#isPerformed = true
    return this.#face.actions.perform(behaviour, verb, call)
  }

  #call(of: { draft: Row; row?: Row; match: PathMatch; args: WriteArguments }) {
    return {
      caller: this.#caller,
      draft: of.draft,
      ...(of.row === undefined ? {} : { row: of.row }),
      path: of.match.pathValues,
      args: of.args.args,
      description: `${this.#request.method} ${this.#path}`,
    }
  }

  async #written(
    behaviour: Behaviour,
    match: PathMatch,
    performed: Performed,
    args: WriteArguments,
    verb: VerbName,
  ): Promise<RestReply> {
    const { resource } = behaviour
    const { job } = performed
    const ended =
      job === undefined
        ? undefined
        : await this.#face.actions.jobs.wait(textAt(job, 'uuid'), args.returnTimeoutSeconds * 1000)
    if (ended?.['state'] === 'failure') throw failureOf(ended)
    const isDone = ended === undefined || !isActive(ended)
    const row =
      verb === 'remove'
        ? undefined
        : behaviour.rows === undefined
          ? await this.#cluster.find(resource.rowsOf, performed.key)
          : await findInstance(this.#cluster, behaviour, match.pathValues, instanceOf(resource, performed.key))
    const path = collectionPath(resource, match.pathValues)
    const body: Record<string, Json> = {}
    const headers: Record<string, string> = {}
    if (job !== undefined) {
      const uuid = textAt(job, 'uuid')
      body['job'] = { uuid, _links: { self: { href: jobPath(uuid) } } }
      if (!isDone) headers['location'] = jobPath(uuid)
    }
    // What is shown once is shown in any case: the answer is the only place that has it.
    const isShown = verb === 'create' && (args.returnRecords || resource.createMethod === 'PUT')
    if (row !== undefined && (isShown || Object.keys(performed.reveal).length > 0)) {
      const fields = selectFields(resource, ['*'], this.#cluster.release)
      for (const revealed of Object.keys(performed.reveal)) fields.add(revealed)
      const [derived = row] = await derive(this.#cluster, behaviour, [row], fields)
      const record = this.#printer(behaviour, fields, path)({ ...derived, ...performed.reveal })
      Object.assign(body, resource.createMethod === 'PUT' ? record : { num_records: 1, records: [record] })
    }
    // What leaves no record behind has its answer alone.
    const revealed = new Set(Object.keys(performed.reveal))
    if (row === undefined && revealed.size > 0) {
      Object.assign(body, { num_records: 1, records: [nester(resource, revealed)(performed.reveal)] })
    }
    if (row !== undefined && verb === 'create' && (isDone || this.#dialect.location === 'resource')) {
      headers['location'] = recordPath(resource, path, row)
    } else if (verb === 'create' && !isDone && this.#dialect.location === 'resource' && resource.key.length === 1) {
      headers['location'] = `${path}/${encodeURIComponent(performed.key)}`
    }
    const created = verb === 'create' && !performed.wasDone ? 201 : 200
    return { status: isDone && !(job !== undefined && args.returnTimeoutSeconds === 0) ? created : 202, headers, body }
  }

  /** Prints rows of a collection, with links where the client takes them. */
  #printer(behaviour: Behaviour, fields: ReadonlySet<string>, collection: string): (row: Row) => Record<string, Json> {
    const { resource } = behaviour
    const print = nester(resource, fields)
    const hasLinks =
      this.#isHal &&
      keyFields(resource, this.#cluster.release).some((path) => fields.has(path) || this.#dialect.keysAlways)
    if (!hasLinks) return print
    return (row) => Object.assign(print(row), { _links: { self: { href: recordPath(resource, collection, row) } } })
  }

  /** Links are given unless the client accepts only plain JSON. */
  get #isHal(): boolean {
    const accept = this.#request.headers['accept']
    return accept === undefined || accept.includes('*/*') || accept.includes('hal')
  }

  #spelled(resource: Resource, body: unknown): unknown {
    if (isCommandLine(resource)) return commandBody(body)
    const isBucket = this.#request.method !== 'PATCH' && resource.rowsOf === 'protocols/s3/buckets'
    if (!isBucket || typeof body !== 'object' || body === null || Array.isArray(body) || 'size' in body) return body
    return { ...body, size: this.#dialect.bucketSizeBytes }
  }

  #body(): unknown {
    const { method, body } = this.#request
    if (body.trim() === '') {
      if (method === 'DELETE') return {}
      throw failures.malformedJson('The body is missing. Send a JSON object.')
    }
    // Whatever the content type says: curl's -d says it is a form, and the field's own examples leave it so.
    return parseJson(body)
  }
}

/** The words of a path that lead to a record, by its key. */
function instanceOf(resource: Resource, key: string): string[] {
  return resource.key.length === 1 ? [key] : key.split('/')
}

export function allowedMethods(behaviour: Behaviour, isInstance: boolean): string[] {
  const { create, modify, remove, resource } = behaviour
  const methods = ['GET', 'HEAD', 'OPTIONS']
  if (!isInstance && create !== undefined) methods.push(resource.createMethod)
  if (isInstance && modify !== undefined) methods.push('PATCH')
  if (isInstance && remove !== undefined) methods.push('DELETE')
  return methods
}
