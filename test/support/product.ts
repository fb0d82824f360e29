/**
 * The real product, as a child process over a folder of its own: every port is free to choose, and nothing of it is
 * left when the test process ends, however it ends.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { asText, recordsOf } from './body.ts'
import { PROGRAM } from './program.ts'
import { RestClient } from './rest-client.ts'

/** Machines that test are busy. */
const READY_MS = 120_000
const STOP_MS = 60_000

export interface Product {
  readonly management: string
  readonly s3: string | undefined
  readonly s3Http: string | undefined
  readonly user: string
  readonly password: string
  readonly accessKey: string
  readonly secretKey: string
  readonly folder: string
  readonly pid: number
  /** What it wrote to stderr so far. */
  readonly log: () => string
  /** Ends it, and removes its folder unless it is to be started again. */
  stop(options?: { readonly signal?: NodeJS.Signals; readonly keepFolder?: boolean }): Promise<void>
}

export interface ProductOptions {
  readonly environment?: Readonly<Record<string, string>>
  /** A folder that an earlier product was stopped in. */
  readonly folder?: string
  /** A program with its arguments that becomes the product, such as one that gives it mounts of its own. */
  readonly through?: readonly string[]
  /** In place of that of this checkout. */
  readonly program?: string
}

const running = new Set<{ child: ChildProcess; folder: string }>()

process.on('exit', () => {
  for (const { child, folder } of running) {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

export async function startProduct(options: ProductOptions = {}): Promise<Product> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'holdfast-test-'))
  const password = 'a password for tests'
  const accessKey = 'TESTACCESSKEY0000001'
  const secretKey = 'a-secret-key-for-tests-0000000000000000'
  const endpointsFile = join(folder, 'endpoints.json')
  rmSync(endpointsFile, { force: true })
  const [program, ...args] = [...(options.through ?? []), process.execPath, options.program ?? PROGRAM, 'start']
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      NODE_NO_WARNINGS: '1',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      HOLDFAST_DATA: folder,
      HOLDFAST_MANAGEMENT: '127.0.0.1:0',
      HOLDFAST_S3: '127.0.0.1:0',
      HOLDFAST_S3_HTTP: '127.0.0.1:0',
      HOLDFAST_WORKERS: '1',
      HOLDFAST_LOG: 'warn',
      HOLDFAST_ADMIN_PASSWORD: password,
      AWS_ACCESS_KEY_ID: accessKey,
      AWS_SECRET_ACCESS_KEY: secretKey,
      ...options.environment,
    },
  })
  const entry = { child, folder }
  running.add(entry)
  let log = ''
  let isGone = false
  child.stdout.resume()
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()))
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      isGone = true
      resolve()
    })
  })
  const stop: Product['stop'] = async ({ signal = 'SIGTERM', keepFolder = false } = {}) => {
    if (!isGone) {
      child.kill(signal)
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      await ended
      clearTimeout(late)
    }
    running.delete(entry)
    if (!keepFolder) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }

  try {
    for (const fromMs = Date.now(); !existsSync(endpointsFile); await wait(20)) {
      if (isGone) throw new Error(`The product ended before it was ready:\n${log}`)
      if (Date.now() - fromMs > READY_MS) throw new Error(`The product was not ready in ${READY_MS} ms:\n${log}`)
    }
  } catch (failure) {
    await stop({ signal: 'SIGKILL' })
    throw failure
  }
  const endpoints = JSON.parse(readFileSync(endpointsFile, 'utf8')) as Record<string, string | undefined>
  const management = endpoints['management'] ?? ''
  if (options.folder === undefined) {
    const login = `admin:${options.environment?.['HOLDFAST_ADMIN_PASSWORD'] ?? password}`
    await takeNoSnapshots(management, login)
  }
  return {
    management,
    s3: endpoints['s3'],
    s3Http: endpoints['s3_http'],
    user: 'admin',
    password,
    accessKey,
    secretKey,
    folder,
    pid: child.pid ?? 0,
    log: () => log,
    stop,
  }
}

/** A name that no other test uses. */
export function fresh(prefix: string): string {
  return `${prefix}_${randomBytes(4).toString('hex')}`
}

/** A test that runs while the hour's snapshots are due is to see the same as at any other time. */
export async function takeNoSnapshots(management: string, login: string): Promise<void> {
  const rest = new RestClient(management, `Basic ${Buffer.from(login).toString('base64')}`)
  const { body } = await rest.call('GET', '/api/storage/volumes?fields=uuid')
  for (const { uuid } of recordsOf(body)) {
    await rest.call('PATCH', `/api/storage/volumes/${asText(uuid)}?return_timeout=30`, {
      'snapshot_policy.name': 'none',
    })
  }
}
