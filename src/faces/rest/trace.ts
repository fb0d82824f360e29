/**
 * A trace of requests, to be read by people and replayed against another cluster: what was asked and what was answered,
 * one line of JSON each, without secrets. What could be one is left out by three rules, as one alone may miss it:
 *
 * - of the headers, only those that change an answer and cannot hold credentials;
 * - values of fields that are declared secret or are kept so that reads do not show them, and of all whose name says so (`password`, `secret_key`, `token`);
 * - these values, wherever else they stand in the same request or its answer.
 */
import type { Behaviour } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { isRecord, type Json, textOf } from '../../model/value.ts'
import type { RestReply, RestRequest } from './answer.ts'

export interface TraceEntry {
  readonly time: string
  readonly ms: number
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Json
  readonly status: number
  readonly answer?: Json
  /** In place of a body or an answer that is no JSON, or too long. */
  readonly bodyBytes?: number
  readonly answerBytes?: number
}

type Declarations = Pick<Cluster, 'registry' | 'behaviours'>

/** Takes one entry; must not throw, and must not wait. */
export type Trace = (entry: TraceEntry) => void

export const REDACTED = '***'
/** What one entry keeps of a body and of an answer. */
const JSON_CHARACTERS_MAX = 64 * 1024
const HEADERS = ['accept', 'content-type', 'user-agent', 'x-dot-client-app', 'x-dot-svm-name', 'x-dot-svm-uuid']
const SECRET_NAME =
  /pass(?:word|phrase|wd)|secret|token|credential|authorization|cookie|communit|pre_?shared|(?:^|[._-])(?:access_|private_|api_|host_)?keys?$/i
/** Shorter ones are found in too many places by chance. */
const MASKED_CHARACTERS_MIN = 4

export function traceEntry(
  cluster: Declarations,
  request: Pick<RestRequest, 'method' | 'target' | 'headers' | 'body'>,
  reply: RestReply,
  at: { readonly timeMs: number; readonly tookMs: number },
): TraceEntry {
  const declared = secretFields(cluster, request.target)
  const found = new Set<string>()
  const redact = (value: Json) => redacted(value, '', declared, found)
  const [path = '', query = ''] = request.target.split(/\?(.*)/s, 2)
  const args = redactedQuery(query, declared, found)
  const body = redact(parsed(request.body))
  // The answer as the client sees it, not as it is held here.
  const answer = redact(parsed(JSON.stringify(reply.body)))
  const mask = (text: string) => [...found].reduce((masked, secret) => masked.replaceAll(secret, REDACTED), text)
  const entry: TraceEntry = {
    time: new Date(at.timeMs).toISOString(),
    ms: Math.round(at.tookMs),
    method: request.method,
    target: args === '' ? path : `${path}?${args}`,
    headers: Object.fromEntries(
      HEADERS.flatMap((name) => (request.headers[name] === undefined ? [] : [[name, request.headers[name]]])),
    ),
    ...kept('body', body, request.body.length),
    status: reply.status,
    ...kept('answer', answer, 0),
  }
  return found.size === 0 ? entry : (masked(entry as unknown as Json, mask) as unknown as TraceEntry)
}

function kept(name: 'body' | 'answer', value: Json, bytes: number): Record<string, Json> {
  if (value === null) return bytes === 0 ? {} : { [`${name}Bytes`]: bytes }
  const { length } = JSON.stringify(value)
  return length > JSON_CHARACTERS_MAX ? { [`${name}Bytes`]: length } : { [name]: value }
}

function parsed(text: string): Json {
  if (text.trim() === '') return null
  try {
    return JSON.parse(text) as Json
  } catch {
    return null
  }
}

/**
 * The dotted paths that the resource of a request declares as secret. A command of the shell calls fields by names of their
 * last words, so there it is those of all resources.
 */
function secretFields({ registry, behaviours }: Declarations, target: string): ReadonlySet<string> {
  const segments = (target.split('?', 1)[0] ?? '').split('/').filter((segment) => segment !== '')
  const behaviour = behaviours.get(registry.match(segments.slice(1))?.resource.type ?? '')
  if (behaviour !== undefined) return new Set(secretPaths(behaviour))
  const all = [...behaviours.values()].flatMap(secretPaths)
  return new Set(all.flatMap((path) => [path.replaceAll('.', '_'), path.slice(path.lastIndexOf('.') + 1)]))
}

function secretPaths({ resource, secrets = {} }: Behaviour): readonly string[] {
  const fields = [...resource.fields.values()].filter(({ kind, shownOnce }) => shownOnce || kind.isSecret === true)
  return [...fields.map(({ path }) => path), ...Object.keys(secrets)]
}

function redacted(value: Json, base: string, declared: ReadonlySet<string>, found: Set<string>): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((one) => redacted(one, base, declared, found))
  if (!isRecord(value)) return value
  const clean: Record<string, Json> = {}
  for (const [name, one] of Object.entries(value as Readonly<Record<string, Json>>)) {
    const path = base === '' ? name : `${base}.${name}`
    // Records of collections have the paths of their resource.
    const within = base === '' && name === 'records' ? '' : path
    clean[name] = isSecret(path, declared) ? hidden(one, found) : redacted(one, within, declared, found)
  }
  return clean
}

function isSecret(path: string, declared: ReadonlySet<string>): boolean {
  return declared.has(path) || SECRET_NAME.test(path.slice(path.lastIndexOf('.') + 1))
}

/** All that is below a secret name is secret, but for whether it is there. */
function hidden(value: Json, found: Set<string>): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((one) => hidden(one, found))
  if (isRecord(value)) {
    const inner = Object.entries(value as Readonly<Record<string, Json>>)
    return Object.fromEntries(inner.map(([name, one]) => [name, hidden(one, found)]))
  }
  if (value === null || typeof value === 'boolean') return value
  const text = textOf(value)
  if (text.length >= MASKED_CHARACTERS_MIN && text !== REDACTED) found.add(text)
  return REDACTED
}

function redactedQuery(query: string, declared: ReadonlySet<string>, found: Set<string>): string {
  return query
    .split('&')
    .map((pair) => {
      const [name = '', value] = pair.split(/=(.*)/s, 2)
      if (value === undefined || !isSecret(decoded(name), declared)) return pair
      hidden(decoded(value), found)
      return `${name}=${REDACTED}`
    })
    .join('&')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

function masked(value: Json, mask: (text: string) => string): Json {
  if (typeof value === 'string') return mask(value)
  if (Array.isArray(value)) return (value as readonly Json[]).map((one) => masked(one, mask))
  if (!isRecord(value)) return value
  const entries = Object.entries(value as Readonly<Record<string, Json>>)
  return Object.fromEntries(entries.map(([name, one]) => [name, masked(one, mask)]))
}
