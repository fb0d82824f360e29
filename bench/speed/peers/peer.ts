/** What the servers of other makes have in common: how one is found, started and ended. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { descendants } from '../../../test/clients/processes.ts'
import type { SpeedRow } from '../rows.ts'

/** A server that runs and is measured. */
export interface Target {
  readonly name: string
  readonly version: string
  readonly base: string
  readonly accessKey: string
  readonly secretKey: string
  readonly region: string
  /** Whether it compiles what its requests run on while they come, so that the first thousands cost several times as much. */
  readonly compiles?: boolean
  /** Rows it has no operation for. */
  readonly cannot: readonly SpeedRow['name'][]
  /** All of its processes, with what each is. */
  processes(): readonly { readonly pid: number; readonly part: string }[]
  end(): Promise<void>
}

/** Where a server of another make is started. */
export interface Place {
  /** A folder of its own, which is there. */
  readonly folder: string
  /** Where `.ci/peers` put programs that no package of the system has. */
  readonly programs: string
  /** Of a server that speaks TLS; without it, it speaks plain HTTP. */
  readonly certificate: Certificate | undefined
}

export interface Certificate {
  readonly certFile: string
  readonly keyFile: string
}

export interface Peer {
  readonly name: string
  /** Whether a PUT is synced before it is answered, and by what. */
  readonly syncs: string
  readonly isDurable: boolean
  /** Fails with `Missing` where it cannot be measured. */
  start(place: Place): Promise<Target>
}

/** Why a server is not measured: one plain sentence. */
export class Missing extends Error {}

export const HOST = '127.0.0.1'
const READY_MS = 60_000
const END_MS = 20_000

/** The program of that name, of those that `.ci/peers` installed or the system has. */
export function findProgram(name: string, programs: string): string {
  const path = [join(programs, 'bin'), ...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/usr/bin']
  const found = path.map((folder) => join(folder, name)).find((file) => existsSync(file))
  if (found === undefined) {
    const log = join(programs, `${name}.log`)
    const why = existsSync(log)
      ? `.ci/peers could not install it: ${lastLine(log)}`
      : '.ci/peers installs it where it can.'
    throw new Missing(`${name} is not there. ${why}`)
  }
  return found
}

export interface Started {
  readonly pid: number
  end(): Promise<void>
}

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a program that stays, and waits until its port answers. What it says is in `<folder>/<name>.log`. */
export async function startProgram(
  name: string,
  program: string,
  args: readonly string[],
  { folder, port, environment = {} }: { folder: string; port?: number; environment?: Record<string, string> },
): Promise<Started> {
  const logFile = join(folder, `${name}.log`)
  const log = openSync(logFile, 'a')
  const child = spawn(program, args, {
    stdio: ['ignore', log, log],
    cwd: folder,
    env: { ...process.env, ...environment },
  })
  closeSync(log)
  running.add(child)
  let isGone = false
  const gone = new Promise<void>((resolve) => {
    const leave = () => {
      isGone = true
      running.delete(child)
      resolve()
    }
    child.once('exit', leave)
    child.once('error', leave)
  })
  const end = async () => {
    if (isGone) return
    child.kill('SIGTERM')
    const late = setTimeout(() => child.kill('SIGKILL'), END_MS)
    await gone
    clearTimeout(late)
  }
  const isReady = async () => port === undefined || (await answers(port))
  for (const fromMs = performance.now(); !(await isReady()); await wait(50)) {
    if (!isGone && performance.now() - fromMs < READY_MS) continue
    await end()
    throw new Missing(`${name} did not start: ${lastLine(logFile)}`)
  }
  return { pid: child.pid ?? 0, end }
}

/** Runs a program to its end. What it prints is the answer. */
export function runProgram(program: string, args: readonly string[], environment: Record<string, string> = {}): string {
  const done = spawnSync(program, args, {
    encoding: 'utf8',
    timeout: READY_MS,
    env: { ...process.env, ...environment },
  })
  if (done.status === 0) return done.stdout
  const said = `${done.stderr}${done.stdout}`.trim().split('\n').at(-1) ?? ''
  throw new Missing(`${program.split('/').at(-1)} ${args[0]} failed: ${said || String(done.error)}`)
}

/** The first version that a text names. */
export function versionIn(text: string): string {
  return /\d+\.\d+[\d.]*|20\d\d-\d\d-\d\d/.exec(text)?.[0] ?? 'unknown'
}

/** A server of one process and its children. */
export function targetOf(started: Started, target: Omit<Target, 'processes' | 'end'>): Target {
  return {
    ...target,
    processes: () => [
      { pid: started.pid, part: 'server' },
      ...descendants(started.pid).map(({ pid }) => ({ pid, part: 'server' })),
    ],
    end: () => started.end(),
  }
}

export function baseOf(port: number, certificate: Certificate | undefined): string {
  return `${certificate === undefined ? 'http' : 'https'}://${HOST}:${port}`
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, HOST, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

function lastLine(file: string): string {
  return readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? ''
}
