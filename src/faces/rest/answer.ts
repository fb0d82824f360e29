/**
 * From a request under /api to its answer: a plain function without a socket, so that tests, a simulator and other
 * faces can call it.
 */
import type { Actions } from '../../core/perform.ts'
import type { Caller } from '../../core/verb.ts'
import type { Role } from '../../model/access.ts'
import { failure } from '../../model/failure.ts'
import type { Json } from '../../model/value.ts'
import { answerAsCommand } from '../cli/route-command.ts'
import { admit, allowedMethods, Attempt, audited, isInstance } from '../requests/admission.ts'
import { insistOnAddress, insistOnNoSecret } from './address.ts'
import { commandQuery, isCommandLine } from './command-line.ts'
import { withNamed } from './named-in-body.ts'
import { chooseDialect } from './dialects.ts'
import { type Asked, Exchange, type LetIn, visitorOf } from './exchange.ts'
import { failed } from './failed.ts'
import { getCollection, getInstance } from './read.ts'
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
    const letIn = { face, dialect, caller, role }
    return (await answerAsCommand(letIn, request)) ?? (await answerResource(letIn, request))
  } catch (cause) {
    return failed(face, request, dialect, cause)
  }
}

/** The resource that is asked for, where the caller may; and what it answers. Refused writes are in the audit trail. */
function answerResource(letIn: LetIn, request: RestRequest): Promise<RestReply> {
  const asked = askedOf(letIn, request)
  const attempt = new Attempt(visitorOf(letIn, request), request.method, asked.path)
  return audited(attempt, async () => reply(await route(asked, attempt)))
}

function askedOf(letIn: LetIn, request: RestRequest): Asked {
  const mark = request.target.indexOf('?')
  const path = mark < 0 ? request.target : request.target.slice(0, mark)
  const query = new URLSearchParams(mark < 0 ? '' : request.target.slice(mark + 1))
  return { ...letIn, request, path, query }
}

async function route(asked: Asked, attempt: Attempt): Promise<Exchange> {
  const { face, request, path, query } = asked
  insistOnAddress(request.target)
  insistOnNoSecret(query)
  const segments = segmentsOf(path)
  const admission = await admit(attempt, segments, face.actions.cluster.registry.match(segments))
  const exchange = new Exchange(asked, admission)
  const named = request.method === 'DELETE' && !isInstance(admission.match) ? exchange.body() : {}
  return exchange.asking(isCommandLine(admission.resource) ? commandQuery(query, named) : withNamed(query, named))
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
  const { behaviour, match } = exchange
  const isOne = isInstance(match)
  switch (exchange.asked.request.method) {
    case 'OPTIONS': {
      const headers = { ...exchange.headers(), allow: allowedMethods(behaviour, isOne).join(', ') }
      return Promise.resolve({ status: 200, headers, body: {} })
    }
    case 'GET':
    case 'HEAD':
      insistOnNoBody(exchange)
      return isOne ? getInstance(exchange) : getCollection(exchange)
    case 'POST':
    case 'PUT':
      return write(exchange, 'create', isOne)
    case 'PATCH':
      return write(exchange, 'modify', isOne)
    default:
      return write(exchange, 'remove', isOne)
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
