/** A client of the management interface, for commands that talk to a running cluster. */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { ReplayRequest } from '../src/faces/rest/replay.ts'
import { isRecord, type Json } from '../src/model/value.ts'
import { SettingsError } from './settings.ts'

const JOB_MS_MAX = 120_000
const JOB_LOOK_MS = 50
const ACTIVE: ReadonlySet<unknown> = new Set(['queued', 'running', 'paused'])
const ANSWER_MS_MAX = 180_000

export interface Answer {
  readonly status: number
  readonly body: Json
}

export interface ClientFlags {
  readonly file: string
  readonly to: string
  readonly user: string
  readonly insecure: boolean
}

/** A client as flags and environment say. */
export function clientOf(
  environment: NodeJS.ProcessEnv,
  { to, user, insecure }: ClientFlags,
  answerMsMax?: number,
): Client {
  const password = environment['HOLDFAST_ADMIN_PASSWORD'] || passwordIn(environment['HOLDFAST_ADMIN_PASSWORD_FILE'])
  if (!password) throw new SettingsError('Say the password of the user in HOLDFAST_ADMIN_PASSWORD.')
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  return new Client(new URL(to), authorization, insecure, answerMsMax)
}

export function tell({ status, body }: Answer): string {
  const error = isRecord(body) && isRecord(body['error']) ? body['error'] : {}
  return typeof error['message'] === 'string' ? `${status}: ${error['message']}` : String(status)
}

export function readClientFlags(flags: readonly string[], which: string): ClientFlags {
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
    if (file === undefined || more.length > 0) throw new Error(which)
    if (values.to === undefined || !values.to.startsWith('https://')) throw new Error('Say --to https://HOST:PORT.')
    return { file, to: values.to, user: values.user, insecure: values.insecure }
  } catch (failure) {
    throw new SettingsError((failure as Error).message)
  }
}

function passwordIn(file: string | undefined): string {
  return file === undefined || file === '' ? '' : readFileSync(file, 'utf8').trim()
}

export class Client {
  readonly #to: URL
  readonly #authorization: string
  readonly #agent: Agent
  readonly #answerMsMax: number

  constructor(to: URL, authorization: string, isInsecure: boolean, answerMsMax = ANSWER_MS_MAX) {
    this.#to = to
    this.#authorization = authorization
    this.#answerMsMax = answerMsMax
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
          timeout: this.#answerMsMax,
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
      asked.on('timeout', () => asked.destroy(new Error(`No answer in ${this.#answerMsMax / 1000} s.`)))
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
