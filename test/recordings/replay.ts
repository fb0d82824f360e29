/**
 * Replays what a real tool sent against a cluster in this process.
 *
 * A recording has `{uuid}` where the tool sent the UUID of an object that it had found or made just before. The replay
 * keeps, for each collection, the record that was answered last, and puts its keys in: after
 * `GET /storage/volumes?name=v1`, the volume of `PATCH /storage/volumes/{uuid}` is v1. Numbers and SIDs that the recorded
 * cluster had made up (of export policies, of local groups) get the keys of the record that was answered last when they
 * come first, and keep them.
 *
 * A recording holds each request once: where a tool made an object again, or looked at another one before, the request
 * is missing. `before` says what to ask ahead of a line to make up for that.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { textOf } from '../../src/model/value.ts'
import { asText, type Body } from '../support/body.ts'
import { type Answered, startTestCluster, type TestCluster } from '../support/cluster.ts'
import { insistOnSection } from '../support/page-section.ts'
import { complaints, type Expected, type Outcome } from './expectations.ts'
import { recordedSection } from './section.ts'

export type { Expectation, Request } from './expectations.ts'

export interface Recorded {
  /** Its line in the file, from 1 on. */
  readonly line: number
  readonly method: string
  readonly url: string
  readonly body?: string
  readonly agent: string
  /** What was answered when it was recorded. */
  readonly status: number
}

export function recording(tool: string): Recorded[] {
  const text = readFileSync(new URL(`${tool}.jsonl`, import.meta.url), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line, at) => Object.assign(JSON.parse(line) as Omit<Recorded, 'line'>, { line: at + 1 }))
}

/** Replays a file, and fails with all that is not as expected. */
export async function insistOnRecording(tool: string, expected: Expected): Promise<void> {
  const recorded = recording(tool)
  assert.ok(recorded.length > 0, `${tool}.jsonl is empty.`)
  const replay = new Replay(await startTestCluster(), expected)
  try {
    const outcomes: Outcome[] = []
    for (const each of recorded) outcomes.push(await replay.outcome(each))
    assert.deepEqual(complaints(outcomes, expected), [])
    if (expected.tool !== undefined) {
      const section = recordedSection(tool, outcomes, expected)
      await insistOnSection('docs/compatibility.md', `Recorded: ${expected.tool}`, section)
    }
  } finally {
    await replay.cluster.close()
  }
}

/** Codes are numbers in jobs, and strings in answers. */
function plain(value: Body | undefined): string {
  return textOf(value)
}

/** Stands where the recording has `***`. */
const PASSWORD = 'Replayed-passw0rd'
/** In texts that are no keys of anything. */
const NO_UUID = '5eed5eed-0000-4000-8000-000000000001'
const PLACEHOLDER = '{uuid}'
const JOB_MS_MAX = 20_000
/** What the recorded cluster made up: placeholders, numbers of export policies, SIDs. */
const MADE_UP = /^(\{uuid\}|\d{10,}|S-1-5-21-[\d-]+)$/

export class Replay {
  readonly cluster: TestCluster
  readonly #expected: Expected
  /** By type: the words that lead to the record that was answered last. */
  readonly #last = new Map<string, readonly string[]>()
  /** By what the recording has: the key that stands for it. */
  readonly #kept = new Map<string, string>()
  #next: string | undefined

  constructor(cluster: TestCluster, expected: Pick<Expected, 'before' | 'svmOf' | 'differences'>) {
    this.cluster = cluster
    this.#expected = expected
  }

  async outcome(recorded: Recorded): Promise<Outcome> {
    for (const [method, url, body] of this.#expected.before?.[recorded.line] ?? []) {
      const text = body === undefined ? undefined : JSON.stringify(body)
      const made = await this.#send({ ...recorded, method, url, ...(text === undefined ? {} : { body: text }) }, text)
      const { answered, failure } = made
      const reason = failure ?? (answered.status >= 400 ? answered.body['error'] : undefined)
      assert.equal(reason, undefined, `before line ${recorded.line}: ${method} ${url}: ${JSON.stringify(reason)}`)
    }
    const { answered, failure } = await this.#send(recorded, recorded.body)
    const error = failure ?? answered.body['error']
    return {
      line: recorded.line,
      request: `${recorded.method} ${recorded.url.split('?')[0] ?? ''}`,
      statusThen: recorded.status,
      status: answered.status,
      code: error === undefined ? undefined : plain(error['code']),
      message: error === undefined ? undefined : plain(error['message']),
    }
  }

  /** Sends one request, and waits for the job that it starts, as tools do. */
  async #send(recorded: Recorded, body: string | undefined): Promise<{ answered: Answered; failure?: Body }> {
    const target = this.#target(recorded)
    const svm = this.#expected.svmOf?.(recorded.line)
    const headers = { 'user-agent': recorded.agent, ...(svm === undefined ? {} : { 'x-dot-svm-name': svm }) }
    const answered = await this.cluster.call(recorded.method, target, this.#body(body), { headers })
    const job = answered.body['job']?.['uuid']
    if (job !== undefined) {
      this.#learnPath(`/api/cluster/jobs/${asText(job)}`)
      const ended = await this.cluster.jobs.wait(asText(job), JOB_MS_MAX)
      if (ended?.['state'] !== 'success') {
        return { answered, failure: { code: ended?.['code'], message: ended?.['message'] } as unknown as Body }
      }
    }
    this.#learn(target, answered)
    return { answered }
  }

  #target({ url }: Recorded): string {
    const [path = '', query] = url.split('?')
    const filled = this.#path(path)
    if (query === undefined) return filled
    const asked = query.split('&').map((pair) => this.#argument(pair, filled))
    return `${filled}?${asked.join('&')}`
  }

  #path(path: string): string {
    const words = path.split('/').map((word) => decodeURIComponent(word))
    const filled = words.map((word, at) => {
      if (!MADE_UP.test(word)) return word
      const kept = this.#kept.get(word)
      if (kept !== undefined) return kept
      const key = this.#key(words, at)
      if (word !== PLACEHOLDER) this.#kept.set(word, key)
      return key
    })
    return filled.map((word) => encodeURIComponent(word)).join('/')
  }

  /** The key at a place of a path: of the record, or of the one that it lives under. */
  #key(words: readonly string[], at: number): string {
    const plain = words.slice(2).filter((word) => word !== '')
    const place = at - 2
    for (let end = place + 1; end <= plain.length; end++) {
      const match = this.cluster.cluster.registry.match(plain.slice(0, end))
      if (match === undefined || match.instance.length === 0) continue
      const known = this.#last.get(match.resource.type)?.[place]
      const field = match.resource.key[place - (end - match.resource.key.length)] ?? ''
      return known ?? this.#named(field, '')
    }
    return NO_UUID
  }

  #argument(pair: string, path: string): string {
    const equals = pair.indexOf('=')
    const [name, value] = [pair.slice(0, equals), decodeURIComponent(pair.slice(equals + 1))]
    if (name === 'start' && this.#next !== undefined) return `start=${encodeURIComponent(this.#next)}`
    if (!value.includes(PLACEHOLDER)) return pair
    return `${name}=${encodeURIComponent(value.replaceAll(PLACEHOLDER, this.#named(name, path)))}`
  }

  #body(body: string | undefined): string | undefined {
    if (body === undefined) return undefined
    if (!body.includes(PLACEHOLDER) && !body.includes('***')) return body
    const filled = (value: unknown, name: string): unknown => {
      if (Array.isArray(value)) return value.map((each) => filled(each, name))
      if (typeof value === 'string')
        return value.replaceAll(PLACEHOLDER, this.#named(name, '')).replace('***', PASSWORD)
      if (typeof value !== 'object' || value === null) return value
      const prefix = name === '' ? '' : `${name}.`
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each, prefix + key)]))
    }
    return JSON.stringify(filled(JSON.parse(body), ''))
  }

  /** The UUID that a field means: `svm.uuid`, `owner.uuid`, or `uuid` of what the path leads to. */
  #named(name: string, path: string): string {
    const type = TYPES[name] ?? (name === 'uuid' ? path.split('/').slice(2).join('/') : undefined)
    return (type === undefined ? undefined : this.#last.get(type)?.at(-1)) ?? NO_UUID
  }

  #learn(target: string, { status, headers, body }: Answered): void {
    if (status >= 400) return
    const [path = ''] = target.split('?')
    const { location } = headers
    if (location !== undefined && !location.includes('/cluster/jobs/')) this.#learnPath(location)
    const next = body['_links']?.['next']?.['href']
    this.#next = next === undefined ? undefined : (new URLSearchParams(asText(next).split('?')[1]).get('start') ?? '')
    const records = body['records'] as unknown as readonly Body[] | undefined
    if (records?.length !== 1) {
      this.#learnPath(path)
      return
    }
    const href = records[0]?.['_links']?.['self']?.['href']
    if (href !== undefined) this.#learnPath(asText(href))
  }

  /** Notes the record that a path leads to, and those that it lives under. */
  #learnPath(path: string): void {
    const [plain = ''] = path.split('?')
    const words = plain
      .split('/')
      .slice(2)
      .map((word) => decodeURIComponent(word))
      .filter((word) => word !== '')
    for (let end = 1; end <= words.length; end++) {
      const match = this.cluster.cluster.registry.match(words.slice(0, end))
      if (match !== undefined && match.instance.length > 0) this.#last.set(match.resource.type, words.slice(0, end))
    }
  }
}

const TYPES: Readonly<Record<string, string>> = {
  'svm.uuid': 'svm/svms',
  'owner.uuid': 'svm/svms',
  'volume.uuid': 'storage/volumes',
  job_results_uuid: 'cluster/jobs',
}
