/**
 * `holdfast replay`: sends the requests of a trace to a cluster, one after the other, and tells where the answers have
 * another status than the recorded ones. A job that an answer names is waited for, as the client may have done.
 */
import { createReadStream, readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Replay, type ReplayRequest } from '../src/faces/rest/replay.ts'
import type { TraceEntry } from '../src/faces/rest/trace.ts'
import { isRecord, type Json } from '../src/model/value.ts'
import { SettingsError } from './settings.ts'

const JOB_MS_MAX = 120_000
const JOB_LOOK_MS = 50
const ACTIVE: ReadonlySet<unknown> = new Set(['queued', 'running', 'paused'])
const ANSWER_MS_MAX = 180_000

interface Answer {
  readonly status: number
  readonly body: Json
}

/** Gives the exit code: 0 when every answer has the status that was recorded. */
export async function replayCommand(
  environment: NodeJS.ProcessEnv,
  flags: readonly string[],
  folder: string,
): Promise<number> {
  const { file, to, user, insecure } = readFlags(flags)
  const password = environment['HOLDFAST_ADMIN_PASSWORD'] || passwordIn(environment['HOLDFAST_ADMIN_PASSWORD_FILE'])
  if (!password) throw new SettingsError('Say the password of the user in HOLDFAST_ADMIN_PASSWORD.')
  const client = new Client(new URL(to), `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`, insecure)
  const replay = new Replay()
  const counts = { same: 0, others: 0 }
  try {
    let number = 0
    for await (const line of createInterface({ input: createReadStream(resolve(folder, file)) })) {
      number++
      if (line.trim() === '') continue
      const entry = readEntry(line, `${file}:${number}`)
      const asked = replay.request(entry)
      const answer = await client.send(asked, entry.status !== 401)
      replay.learn(entry.answer, answer.body)
      await client.jobOf(answer)
      if (answer.status === entry.status) counts.same++
      else {
        counts.others++
        process.stdout.write(
          `${file}:${number}: ${asked.method} ${asked.target}: ${entry.status}, now ${tell(answer)}\n`,
        )
      }
    }
  } catch (failure) {
    if (failure instanceof SettingsError) throw failure
    throw new SettingsError(`The replay ended early: ${(failure as Error).message}`)
  } finally {
    client.close()
  }
  process.stdout.write(`${counts.same} answered as recorded, ${counts.others} otherwise.\n`)
  return counts.others === 0 ? 0 : 1
}

function tell({ status, body }: Answer): string {
  const error = isRecord(body) && isRecord(body['error']) ? body['error'] : {}
  return typeof error['message'] === 'string' ? `${status}: ${error['message']}` : String(status)
}

function readFlags(flags: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...flags],
      allowPositionals: true,
      options: {
        to: { type: 'string' },
        user: { type: 'string', default: 'admin' },
        insecure: { type: 'boolean', default: false },
      },
    })
    const [file, ...more] = positionals
    if (file === undefined || more.length > 0) throw new Error('Name one trace.')
    if (values.to === undefined || !values.to.startsWith('https://')) throw new Error('Say --to https://HOST:PORT.')
    return { file, to: values.to, user: values.user, insecure: values.insecure }
  } catch (failure) {
    throw new SettingsError((failure as Error).message)
  }
}

function passwordIn(file: string | undefined): string {
  return file === undefined || file === '' ? '' : readFileSync(file, 'utf8').trim()
}

function readEntry(line: string, place: string): TraceEntry {
  try {
    const entry = JSON.parse(line) as TraceEntry
    if (typeof entry.method === 'string' && typeof entry.target === 'string' && typeof entry.status === 'number')
      return entry
  } catch {
    // Told below, like everything else that is no entry.
  }
  throw new SettingsError(`${place}: It is no line of a trace.`)
}

class Client {
  readonly #to: URL
  readonly #authorization: string
  readonly #agent: Agent

  constructor(to: URL, authorization: string, isInsecure: boolean) {
    this.#to = to
    this.#authorization = authorization
    this.#agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: !isInsecure })
  }

  send({ method, target, headers, body }: ReplayRequest, isLoggedIn: boolean): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const asked = request(
        {
          agent: this.#agent,
          host: this.#to.hostname,
          port: this.#to.port || 443,
          method,
          path: target,
          headers: { ...headers, ...(isLoggedIn ? { authorization: this.#authorization } : {}) },
          timeout: ANSWER_MS_MAX,
        },
        (answer) => {
          const pieces: Buffer[] = []
          answer.on('data', (piece: Buffer) => pieces.push(piece))
          answer.on('error', reject)
          answer.on('end', () =>
            resolve({ status: answer.statusCode ?? 0, body: parsed(Buffer.concat(pieces).toString()) }),
          )
        },
      )
      asked.on('error', reject)
      asked.on('timeout', () => asked.destroy(new Error(`No answer in ${ANSWER_MS_MAX / 1000} s.`)))
      asked.end(body)
    })
  }

  async jobOf({ status, body }: Answer): Promise<void> {
    if (status !== 202 || !isRecord(body) || !isRecord(body['job'])) return
    const { uuid } = body['job']
    if (typeof uuid !== 'string') return
    for (let waitedMs = 0; waitedMs < JOB_MS_MAX; waitedMs += JOB_LOOK_MS) {
      const target = `/api/cluster/jobs/${uuid}?fields=state`
      const job = await this.send({ method: 'GET', target, headers: {}, body: undefined }, true)
      if (!isRecord(job.body) || !ACTIVE.has(job.body['state'])) return
      await wait(JOB_LOOK_MS)
    }
  }

  close(): void {
    this.#agent.destroy()
  }
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return null
  }
}
