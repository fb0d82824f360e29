import { createHash } from 'node:crypto'
import type { Agent } from 'node:http'
import { send } from '../../../src/s3/test-plane.ts'
import type { Call } from './checker.ts'
import type { Answer, Condition, Operation, Row, Versioning } from './model.ts'

/** One number after the other of a seed (mulberry32), each from 0 to under 1. */
export function numbersOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export interface History {
  readonly url: string
  readonly agent: Agent
  readonly bucket: string
  readonly versioning: Versioning
  readonly hasLocks: boolean
  /** What is known of each key so far, for operations to name: they are to meet, not to miss. */
  readonly calls: Map<string, Call[]>
}

/** Makes one random request and writes down what came of it. */
export async function act(history: History, random: () => number, keys: readonly string[]): Promise<void> {
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)]
  const key = pick(keys) ?? ''
  const calls = history.calls.get(key) ?? []
  history.calls.set(key, calls)
  const etags = calls.flatMap(({ answer }) => answer.etag ?? [])
  const versions = calls.flatMap(({ answer }) => answer.version ?? [])
  const condition = (): Condition => {
    const dice = random()
    const etag = pick(etags.slice(-3))
    if (dice < 0.2) return { if: 'new' }
    return dice < 0.45 && etag !== undefined ? { if: 'match', etag } : { if: 'none' }
  }
  const lock = (): Row['lock'] =>
    history.hasLocks ? (pick(['none', 'none', 'governance', 'compliance'] as const) ?? 'none') : 'none'
  const version = pick(versions.slice(-4))
  const dice = random()
  const onVersion = history.versioning !== 'off' && version !== undefined
  let operation: Operation
  if (dice < 0.3)
    operation = { do: 'put', condition: condition(), lock: lock(), tag: String(Math.floor(random() * 1e6)) }
  else if (dice < 0.5) operation = { do: 'get' }
  else if (dice < 0.6)
    operation = { do: 'delete', condition: random() < 0.5 ? { if: 'none' } : withoutNew(condition()) }
  else if (dice < 0.67) operation = { do: 'tag', tag: String(Math.floor(random() * 1e6)) }
  else if (dice < 0.74) operation = { do: 'read-tag' }
  else if (dice < 0.8 && onVersion) operation = { do: 'get', version }
  else if (dice < 0.9 && onVersion) operation = { do: 'delete-version', version, isBypassing: random() < 0.5 }
  else if (dice < 0.95 && onVersion && history.hasLocks) operation = { do: 'hold', version, isHeld: random() < 0.5 }
  else operation = { do: 'versions' }
  const maker = random() < 0.15 ? 'parts' : random() < 0.2 ? 'copy' : 'put'
  const call = await perform(history, key, operation, { maker, nonce: random() })
  if (call !== undefined) calls.push(call)
}

function withoutNew(condition: Condition): Condition {
  return condition.if === 'new' ? { if: 'none' } : condition
}

type Maker = 'put' | 'parts' | 'copy'

/** Sends the operation. Nothing: the store asked to try again, which promises that nothing was done. */
export async function perform(
  history: History,
  key: string,
  operation: Operation,
  how: { readonly maker: Maker; readonly nonce: number },
): Promise<Call | undefined> {
  const prepared = operation.do === 'put' ? await prepare(history, key, operation, how) : undefined
  const calledAt = performance.now()
  const answer = await (prepared?.() ?? ask(history, key, operation))
  const answeredAt = performance.now()
  if (answer.status === 409) return undefined
  return { operation, answer, calledAt, answeredAt }
}

async function ask(history: History, key: string, operation: Exclude<Operation, { do: 'put' }>): Promise<Answer>
async function ask(history: History, key: string, operation: Operation): Promise<Answer>
async function ask({ url, agent, bucket, versioning }: History, key: string, operation: Operation): Promise<Answer> {
  const path = `/${bucket}/${key}`
  const go = (method: string, target: string, options: Parameters<typeof send>[3] = {}): ReturnType<typeof send> =>
    send({ url }, method, target, { ...options, agent })
  switch (operation.do) {
    case 'put':
      throw new Error('Objects are made by prepare.')
    case 'get': {
      const { status, headers } = await go(
        'GET',
        operation.version === undefined ? path : `${path}?versionId=${operation.version}`,
      )
      return { status, ...etagOf(headers['etag']) }
    }
    case 'delete': {
      const { status, headers } = await go('DELETE', path, { headers: conditionHeaders(operation.condition) })
      const version = headers['x-amz-version-id']
      return {
        status,
        isMarker: headers['x-amz-delete-marker'] === 'true',
        ...(typeof version === 'string' && status === 204 ? { version } : {}),
      }
    }
    case 'delete-version': {
      const headers = operation.isBypassing ? { 'x-amz-bypass-governance-retention': 'true' } : {}
      return { status: (await go('DELETE', `${path}?versionId=${operation.version}`, { headers })).status }
    }
    case 'hold': {
      const body = `<LegalHold><Status>${operation.isHeld ? 'ON' : 'OFF'}</Status></LegalHold>`
      const target = `${path}?legal-hold&versionId=${operation.version}`
      return { status: (await go('PUT', target, { body, headers: md5Header(body) })).status }
    }
    case 'tag': {
      const body = `<Tagging><TagSet><Tag><Key>t</Key><Value>${operation.tag}</Value></Tag></TagSet></Tagging>`
      return { status: (await go('PUT', `${path}?tagging`, { body, headers: md5Header(body) })).status }
    }
    case 'read-tag': {
      const { status, text } = await go('GET', `${path}?tagging`)
      return { status, tag: /<Value>(\d*)<\/Value>/.exec(text)?.[1] ?? '' }
    }
    case 'versions': {
      const { status, text } = await go('GET', `/${bucket}?versions&prefix=${key}`)
      const rows = [...text.matchAll(/<(Version|DeleteMarker)>(.*?)<\/\1>/gs)].map(
        ([, , row = '']) =>
          [
            versioning === 'off' ? 'null' : (/<VersionId>(.*?)<\/VersionId>/.exec(row)?.[1] ?? ''),
            /<ETag>(?:&quot;|")?([0-9a-f-]+)/.exec(row)?.[1] ?? '',
          ] as const,
      )
      return { status, rows }
    }
  }
}

/** Everything that comes before the request that makes the object, so that only this one counts. */
async function prepare(
  { url, agent, bucket }: History,
  key: string,
  { condition, lock, tag }: Extract<Operation, { do: 'put' }>,
  { maker, nonce }: { readonly maker: Maker; readonly nonce: number },
): Promise<() => Promise<Answer>> {
  const body = `${key} ${nonce}`
  const go = (method: string, target: string, options: Parameters<typeof send>[3] = {}): ReturnType<typeof send> =>
    send({ url }, method, target, { ...options, agent })
  const until = new Date(Date.now() + 86_400_000).toISOString()
  const about = {
    'x-amz-tagging': `t=${tag}`,
    ...(lock === 'none'
      ? {}
      : { 'x-amz-object-lock-mode': lock.toUpperCase(), 'x-amz-object-lock-retain-until-date': until }),
  }
  const path = `/${bucket}/${key}`
  const conditions = conditionHeaders(condition)
  const answerOf = (sent: Awaited<ReturnType<typeof send>>, etag: string | undefined): Answer => {
    const version = sent.headers['x-amz-version-id']
    if (sent.status !== 200) return { status: sent.status }
    return { status: 200, ...(typeof version === 'string' ? { version } : {}), ...etagOf(etag) }
  }
  if (maker === 'parts') {
    const begun = await go('POST', `${path}?uploads`, { headers: about })
    const upload = /<UploadId>(.*?)<\/UploadId>/.exec(begun.text)?.[1] ?? ''
    const part = await go('PUT', `${path}?uploadId=${upload}&partNumber=1`, { body })
    const list = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${part.headers['etag'] ?? ''}</ETag></Part></CompleteMultipartUpload>`
    return async () => {
      const sent = await go('POST', `${path}?uploadId=${upload}`, { body: list, headers: conditions })
      return answerOf(sent, /<ETag>(?:&quot;|")([0-9a-f-]+)/.exec(sent.text)?.[1])
    }
  }
  if (maker === 'copy') {
    // Of an object that nobody else knows, so that only its target is written.
    const source = `/${bucket}/source-${nonce}`
    await go('PUT', source, { body })
    const headers = { ...about, ...conditions, 'x-amz-copy-source': source, 'x-amz-tagging-directive': 'REPLACE' }
    return async () => {
      const sent = await go('PUT', path, { headers })
      return answerOf(sent, /<ETag>(?:&quot;|")([0-9a-f-]+)/.exec(sent.text)?.[1])
    }
  }
  return async () => {
    // A write with a lock has to say what it writes.
    const sent = await go('PUT', path, { body, headers: { ...about, ...conditions, ...md5Header(body) } })
    return answerOf(sent, sent.headers['etag'])
  }
}

function conditionHeaders(condition: Condition): Record<string, string> {
  if (condition.if === 'new') return { 'if-none-match': '*' }
  return condition.if === 'match' ? { 'if-match': `"${condition.etag}"` } : {}
}

function etagOf(header: string | undefined): { etag?: string } {
  return header === undefined ? {} : { etag: header.replaceAll('"', '') }
}

function md5Header(body: string): Record<string, string> {
  return { 'content-md5': createHash('md5').update(body).digest('base64') }
}
