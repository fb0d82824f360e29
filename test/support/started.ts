/** The product as somebody starts it: with flags, and what it prints. For tests of the command line. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { PROGRAM } from './program.ts'
import { RestClient } from './rest-client.ts'

/** Machines that test are busy. */
const READY_MS = 120_000

/** Any free ports, and no more than a test needs. */
export const SMALL: Readonly<Record<string, string>> = {
  HOLDFAST_MANAGEMENT: '127.0.0.1:0',
  HOLDFAST_S3: '',
  HOLDFAST_S3_HTTP: '127.0.0.1:0',
  HOLDFAST_WORKERS: '1',
  HOLDFAST_LOG: 'warn',
  HOLDFAST_ADMIN_PASSWORD: 'a password for tests',
}

export interface Run {
  readonly pid: number
  /** What it has printed so far, on both streams. */
  readonly said: () => string
  readonly ended: Promise<number | NodeJS.Signals | null>
  /** Settles when those that it started have ended, too, and all that they said is there. */
  readonly gone: Promise<void>
  kill(signal: NodeJS.Signals): void
}

const running = new Set<Run>()

/** Kills what is still running: after each test, so that one that fails leaves nothing. */
export async function killAll(): Promise<void> {
  const left = [...running]
  for (const one of left) one.kill('SIGKILL')
  await Promise.all(left.map(({ ended }) => ended))
}

/** Runs a command of the product. It is killed with the test process. */
export function run(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  /** A program with its arguments that becomes the command, such as one that gives it mounts of its own. */
  through: readonly string[] = [],
): Run {
  const [program = '', ...rest] = [...through, process.execPath, PROGRAM, ...args]
  const child = spawn(program, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      NODE_NO_WARNINGS: '1',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      ...environment,
    },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (said += piece.toString()))
  const kill = (signal: NodeJS.Signals) => void child.kill(signal)
  const killed = () => kill('SIGKILL')
  process.on('exit', killed)
  const gone = once(child, 'close').then(() => undefined)
  // Not 'close': processes that it leaves for a moment have its streams open.
  const ended = once(child, 'exit').then(([code, signal]) => {
    process.off('exit', killed)
    running.delete(begun)
    return (signal ?? code) as number | NodeJS.Signals | null
  })
  const begun: Run = { pid: child.pid ?? 0, said: () => said, ended, gone, kill }
  running.add(begun)
  return begun
}

export interface Started extends Run {
  readonly rest: RestClient
  readonly management: string
  /** The folder with its state. */
  readonly folder: string
  readonly s3Http: string
}

/** Starts a cluster and waits until it is ready. */
export function startWith(
  flags: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  through: readonly string[] = [],
): Promise<Started> {
  return ready(run(['start', ...flags], { ...SMALL, ...environment }, through), environment['HOLDFAST_ADMIN_PASSWORD'])
}

/** Waits until a start that was run is ready. */
export async function ready(begun: Run, password = SMALL['HOLDFAST_ADMIN_PASSWORD']): Promise<Started> {
  const isOver = await Promise.race([
    begun.ended.then(() => 'ended'),
    new Promise<string>((resolve) => setTimeout(() => resolve('late'), READY_MS).unref()),
    waitFor(() => begun.said().includes('/docs/api')).then(() => ''),
  ])
  if (isOver !== '') {
    begun.kill('SIGKILL')
    throw new Error(`The cluster ${isOver} before it was ready:\n${begun.said()}`)
  }
  const said = (label: string) => new RegExp(`^  ${label} +(\\S+)$`, 'm').exec(begun.said())?.[1] ?? ''
  const login = Buffer.from(`admin:${password}`)
  return {
    ...begun,
    management: said('Management'),
    rest: new RestClient(said('Management'), `Basic ${login.toString('base64')}`),
    folder: said('Data'),
    s3Http: said('S3 without TLS'),
  }
}

async function waitFor(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20).unref())
}
