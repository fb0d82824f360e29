/** The processes beside the product: the generator, the bare server, nginx, the loop over the disk. */
import { fork, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, connect, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { BareAddresses, BareOrder } from './bare.ts'
import type { DurableOrder } from './durable.ts'
import type { FlowLoads, FlowOrder } from './flows.ts'
import type { Load, Order } from './order.ts'
import type { ScaleLoad, ScaleOrder } from './scale-catalog.ts'

const FILE_THREADS = '16'
const program = (name: string) => fileURLToPath(new URL(`${name}.ts`, import.meta.url))

/** A process that is given one order at a time and answers each. */
class Helper<Told, Reply> {
  readonly #child: ChildProcess

  constructor(name: string, nodeOptions: readonly string[] = []) {
    this.#child = fork(program(name), [], {
      serialization: 'advanced',
      execArgv: [...process.execArgv, ...nodeOptions],
      env: { ...process.env, UV_THREADPOOL_SIZE: FILE_THREADS },
    })
  }

  ask(order: Told): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const ended = () => reject(new Error('A process of the benchmark ended.'))
      this.#child.once('exit', ended)
      this.#child.once('message', (reply) => {
        this.#child.off('exit', ended)
        resolve(reply as Reply)
      })
      this.#child.send(order as object)
    })
  }

  end(): void {
    this.#child.disconnect()
  }
}

type Answer<Done> = { readonly load: Done } | { readonly failure: string }

export class Worker<Told, Done> {
  readonly #helper: Helper<Told, Answer<Done>>

  constructor(name: 'generator' | 'flows' | 'durable' | 'scale-catalog' | 'speed/sender') {
    this.#helper = new Helper(name)
  }

  async run(order: Told): Promise<Done> {
    const answer = await this.#helper.ask(order)
    if ('failure' in answer) throw new Error(answer.failure)
    return answer.load
  }

  end(): void {
    this.#helper.end()
  }
}

export const startGenerator = () => new Worker<Order, Load>('generator')
export const startFlows = () => new Worker<FlowOrder, FlowLoads>('flows')
export const startDurable = () => new Worker<DurableOrder, Load>('durable')
export const startScale = () => new Worker<ScaleOrder, ScaleLoad>('scale-catalog')

export interface Bare extends BareAddresses {
  end(): void
}

export async function startBare(certificate: BareOrder, nodeOptions: readonly string[] = []): Promise<Bare> {
  const helper = new Helper<BareOrder, BareAddresses>('bare', nodeOptions)
  const addresses = await helper.ask(certificate)
  return { ...addresses, end: () => helper.end() }
}

export interface Nginx {
  readonly base: string
  /** The folder it serves. */
  readonly root: string
  end(): void
}

/** Reference line 2, where nginx is installed. */
export async function startNginx(folder: string): Promise<Nginx | undefined> {
  const found = ['nginx', '/usr/sbin/nginx'].find((name) => spawnSync(name, ['-v']).status === 0)
  if (found === undefined) return undefined
  const port = await freePort()
  const root = join(folder, 'nginx', 'root')
  mkdirSync(root, { recursive: true })
  const config = join(folder, 'nginx', 'nginx.conf')
  writeFileSync(
    config,
    `${process.getuid?.() === 0 ? 'user root;\n' : ''}daemon off; worker_processes auto; pid ${folder}/nginx/pid; error_log stderr error;
events { worker_connections 512; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000; default_type application/octet-stream;
  client_body_temp_path ${folder}/nginx/a; proxy_temp_path ${folder}/nginx/b; fastcgi_temp_path ${folder}/nginx/c;
  uwsgi_temp_path ${folder}/nginx/d; scgi_temp_path ${folder}/nginx/e;
  server { listen 127.0.0.1:${port}; root ${root}; }
}
`,
  )
  const child = spawn(found, ['-p', join(folder, 'nginx'), '-c', config], { stdio: ['ignore', 'ignore', 'inherit'] })
  process.on('exit', () => child.kill('SIGTERM'))
  for (let tries = 0; tries < 100 && !(await answers(port)); tries++) await wait(50)
  return { base: `http://127.0.0.1:${port}`, root, end: () => child.kill('SIGTERM') }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
