/**
 * From a request under /api to its answer: a plain function without a socket, so that tests, a simulator and other
 * faces can call it.
 */
import type { Behaviour } from '../../core/behaviour.ts'
import type { Actions } from '../../core/perform.ts'
import type { Caller } from '../../core/verb.ts'
import { hasMethod, mayDo, type Role } from '../../model/access.ts'
import { Failure, failure } from '../../model/failure.ts'
import { isServed } from '../../model/release.ts'
import type { Json } from '../../model/value.ts'
import { answerAsCommand } from '../cli/route-command.ts'
import { commandQuery, isCommandLine } from './command-line.ts'
import { withNamed } from './named-in-body.ts'
import { chooseDialect } from './dialects.ts'
import { Exchange, type Asked } from './exchange.ts'
import { failed } from './failed.ts'
import { getCollection, getInstance } from './read.ts'
import { svmScope } from './svm-scope.ts'
import { listedRecords, writeListed } from './write-listed.ts'
import { changeMany } from './write-many.ts'
import { changeOne, createOne } from './write-one.ts'
import { faultOf } from './faulty.ts'
import { traceEntry, type Trace } from './trace.ts'

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
  /** The body in JSON, where it is written sooner than made. */
  readonly text?: string
}

/** Tells who calls, or fails with `unauthenticated` or `limited`. */
export type Authenticate = (authorization: string | undefined, from: string) => Promise<{ caller: Caller; role: Role }>

export interface RestFace {
  readonly actions: Actions
  readonly authenticate: Authenticate
  /** The cluster option `wire_dialect`. */
  readonly wireDialect: () => Promise<string>
  /** Is told of each request and its answer. Without it, nothing is recorded. */
  readonly trace?: Trace
}

export async function answer(face: RestFace, request: RestRequest): Promise<RestReply> {
  const { trace } = face
  if (trace === undefined) return answerOf(face, request)
  const { cluster } = face.actions
  const { system } = cluster
  const [timeMs, begun] = [system.clock.now(), system.clock.elapsed()]
  const reply = await answerOf(face, request)
  trace(traceEntry(cluster, request, reply, { timeMs, tookMs: system.clock.elapsed() - begun }))
  return reply
}

async function answerOf(face: RestFace, request: RestRequest): Promise<RestReply> {
  const { headers } = request
  let dialect = chooseDialect('auto', headers['x-dot-client-app'], headers['user-agent'])
  try {
    const { caller, role } = await face.authenticate(headers['authorization'], request.from)
    dialect = chooseDialect(await face.wireDialect(), headers['x-dot-client-app'], headers['user-agent'])
    const fault = await faultOf(face, request, dialect, caller)
    if (fault !== undefined) return fault
    const answerInner = (inner: RestRequest) => answerFor({ face, dialect, caller, role }, inner)
    const command = await answerAsCommand(face, request, role, answerInner)
    return command ?? (await audited(askedOf({ face, dialect, caller, role }, request)))
  } catch (cause) {
    return failed(face, request, dialect, cause)
  }
}

type LetIn = Pick<Asked, 'face' | 'dialect' | 'caller' | 'role'>

/** What a command asks for somebody who was let in with it. What each may do is looked at as for any other. */
async function answerFor(letIn: LetIn, request: RestRequest): Promise<RestReply> {
  const { face, dialect, caller } = letIn
  try {
    return (await faultOf(face, request, dialect, caller)) ?? (await audited(askedOf(letIn, request)))
  } catch (cause) {
    return failed(face, request, dialect, cause)
  }
}

function askedOf(letIn: LetIn, request: RestRequest): Asked {
  const mark = request.target.indexOf('?')
  const path = mark < 0 ? request.target : request.target.slice(0, mark)
  const query = new URLSearchParams(mark < 0 ? '' : request.target.slice(mark + 1))
  return { ...letIn, request, path, query }
}

const TARGET_CHARACTERS_MAX = 16 * 1024
const WRITES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Writes that are refused before their verb is called are in the audit trail too. */
async function audited(asked: Asked): Promise<RestReply> {
  let exchange: Exchange | undefined
  try {
    const routed = await route(asked)
    if (!(routed instanceof Exchange)) return routed
    exchange = routed
    return await reply(exchange)
  } catch (failure) {
    const { method } = asked.request
    if (exchange?.isPerformed !== true && WRITES.has(method)) {
      const message = failure instanceof Failure ? failure.message : 'internal error'
      await asked.face.actions.audit(asked.caller, `${method} ${asked.path}`, 'error', message)
    }
    throw failure
  }
}

/** The resource that is asked for, where the caller may; or the answer that it does not have the method. */
async function route(asked: Asked): Promise<Exchange | RestReply> {
  const { face, request, role, path, query } = asked
  const { cluster } = face.actions
  if (request.target.length > TARGET_CHARACTERS_MAX) throw failure('addressTooLong')
  if (query.has('password') || query.has('secret_key')) {
    throw failure('secretInAddress')
  }
  const segments = segmentsOf(path)
  // A slash within a word is data: it must not make the path look like another one.
  const words = segments.map((segment) => segment.replaceAll('/', '%2F'))
  // A method that no path has is refused by any path, whoever asks.
  const isGiven = hasMethod(request.method)
  if (isGiven && !mayDo(role, `/${['api', ...words].join('/')}`, request.method)) {
    throw failure('roleDenies', { role: role.name, method: request.method, path })
  }
  const match = cluster.registry.match(segments)
  const behaviour = match === undefined ? undefined : cluster.behaviours.get(match.resource.type)
  if (match === undefined || behaviour === undefined || !isServed(match.resource.since, cluster.release)) {
    throw failure('apiNotFound', { path })
  }
  const isInstance = match.resource.isSingleton || match.instance.length > 0
  const allowed = allowedMethods(behaviour, isInstance).filter(
    // What is made has its keys in the body.
    (each) => match.isNarrowed !== true || each !== match.resource.createMethod,
  )
  if (!allowed.includes(request.method)) {
    const refused = failed(face, request, asked.dialect, failure('methodUnsupported', { method: request.method, path }))
    return { ...refused, headers: { ...refused.headers, allow: allowed.join(', ') } }
  }
  const exchange = new Exchange(asked, behaviour, match, await svmScope(cluster, request.headers))
  const named = request.method === 'DELETE' && !isInstance ? exchange.body() : {}
  return exchange.asking(isCommandLine(match.resource) ? commandQuery(query, named) : withNamed(query, named))
}

/** Doubled and trailing slashes are forgiven, as clients send them; encoded ones are data. */
function segmentsOf(path: string): string[] {
  const segments = path.split('/').filter((segment) => segment !== '')
  if (segments.shift() !== 'api') throw failure('apiNotFound', { path })
  try {
    return segments.map((segment) => {
      const decoded = decodeURIComponent(segment)
      if (decoded.includes('\0')) throw failure('apiNotFound', { path })
      return decoded
    })
  } catch (cause) {
    if (cause instanceof URIError) throw failure('addressEscapeInvalid')
    throw cause
  }
}

function reply(exchange: Exchange): Promise<RestReply> {
  const { behaviour, resource, match } = exchange
  const isInstance = resource.isSingleton || match.instance.length > 0
  switch (exchange.asked.request.method) {
    case 'OPTIONS': {
      const headers = { ...exchange.headers(), allow: allowedMethods(behaviour, isInstance).join(', ') }
      return Promise.resolve({ status: 200, headers, body: {} })
    }
    case 'GET':
    case 'HEAD':
      insistOnNoBody(exchange)
      return isInstance ? getInstance(exchange) : getCollection(exchange)
    case 'POST':
    case 'PUT':
      return write(exchange, 'create', isInstance)
    case 'PATCH':
      return write(exchange, 'modify', isInstance)
    default:
      return write(exchange, 'remove', isInstance)
  }
}

/** What is sent with a read would be passed over. Nothing, `null` and `{}` say nothing, and some clients send these. */
function insistOnNoBody({ asked: { request } }: Exchange): void {
  const characters = Math.max(request.body.trim().length, Number(request.headers['content-length'] ?? 0))
  if (characters <= 'null'.length) return
  throw failure('bodyNotTaken', { method: request.method })
}

/** Of one record, of those that a body lists, or of those that a query chooses. */
async function write(
  exchange: Exchange,
  verb: 'create' | 'modify' | 'remove',
  isInstance: boolean,
): Promise<RestReply> {
  const body = exchange.body()
  const records = isInstance ? undefined : listedRecords(exchange, body)
  if (records !== undefined) return writeListed(exchange, verb, records)
  if (verb === 'create') return createOne(exchange, body)
  return isInstance ? changeOne(exchange, verb, body) : changeMany(exchange, verb, body)
}

export function allowedMethods(behaviour: Behaviour, isInstance: boolean): string[] {
  const { create, modify, remove, resource } = behaviour
  const methods = ['GET', 'HEAD', 'OPTIONS']
  if (!isInstance && create !== undefined) methods.push(resource.createMethod)
  if (modify !== undefined) methods.push('PATCH')
  if (remove !== undefined) methods.push('DELETE')
  return methods
}
