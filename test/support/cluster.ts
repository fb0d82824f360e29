/** A whole cluster in this process, without a socket: catalog in memory, volumes in memory, a clock that can be set. */
import assert from 'node:assert/strict'
import { createHmac, createSecretKey, type KeyObject, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { SECOND_COMMIT } from '../../src/core/access/audited-commit.ts'
import type { Behaviour } from '../../src/core/behaviour.ts'
import { Cluster, type LeaveTree, type Log, type Secrets } from '../../src/core/cluster.ts'
import { Jobs, type JobHooks } from '../../src/core/jobs/jobs.ts'
import { Login } from '../../src/core/access/login.ts'
import { Actions } from '../../src/core/perform.ts'
import { realCertificates } from '../../src/engines/certificates.ts'
import { SimulatedRandom } from '../../src/engines/simulated/random.ts'
import { SimulatedVolumes } from '../../src/engines/simulated/volumes.ts'
import { realSystem } from '../../src/engines/system.ts'
import { openSqliteCatalog } from '../../src/engines/sqlite/catalog.ts'
import { answer, type RestFace, type RestReply } from '../../src/faces/rest/answer.ts'
import { release } from '../../src/model/release.ts'
import { textAt, textOf, type Row } from '../../src/model/value.ts'
import type { Catalog } from '../../src/ports/catalog.ts'
import type { Machine, MachinePort } from '../../src/ports/machine.ts'
import type { Clock, System } from '../../src/ports/system.ts'
import type { Volumes } from '../../src/ports/volumes.ts'
import { firstStart } from '../../src/resources/first-start.ts'
import { behaviours as allBehaviours } from '../../src/resources/index.ts'
import { asText, recordsOf, type Body } from './body.ts'

/** Of jobs when a cluster is closed. Only one that hangs takes so long: machines that test are busy. */
const DRAIN_MS = 60_000

/** What was told to end may take so long to. */
const SETTLE_MS = 2000
const LOOK_MS = 5

export const ADMIN_PASSWORD = 'a password for tests'
export const ADMIN = basic('admin', ADMIN_PASSWORD)

export interface TestClusterOptions {
  readonly release?: string
  readonly hooks?: JobHooks
  readonly isBare?: boolean
  /** Of the disk of the first aggregate. */
  readonly capacityBytes?: number
  /** Resources beside those of the product. */
  readonly extra?: readonly Behaviour[]
  readonly catalog?: Catalog
  readonly secrets?: Secrets
  /** Without it, one with a loopback and two ports. */
  readonly machine?: Machine
  readonly managementAddress?: string
  /** What happens between two pieces of something long. */
  readonly turn?: () => Promise<void>
  /** The catalog has been started before. */
  readonly isUsed?: boolean
  /** What this node is called, where several share a catalog. */
  readonly node?: string
  /** Time and chance, where the test has its own. `clock` of the test cluster moves nothing then. */
  readonly system?: System
  /** The engines of the aggregates, where several clusters share them. */
  readonly volumesOf?: (aggregate: Row) => Volumes
  /** Where there is a data plane. */
  readonly leaveTree?: LeaveTree
}

/** What came back, as a client sees it. */
export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly from?: string
}

export class TestCluster {
  readonly cluster: Cluster
  readonly jobs: Jobs
  readonly actions: Actions
  readonly login: Login
  readonly clock: TestClock
  readonly volumes: SimulatedVolumes
  readonly logged: { level: string; message: string; details: unknown }[]
  readonly #face: RestFace

  constructor(
    parts: { cluster: Cluster; volumes: SimulatedVolumes; clock: TestClock; logged: TestCluster['logged'] },
    hooks: JobHooks,
  ) {
    this.cluster = parts.cluster
    this.volumes = parts.volumes
    this.clock = parts.clock
    this.logged = parts.logged
    this.jobs = new Jobs(this.cluster, hooks)
    this.actions = new Actions(this.cluster, this.jobs)
    this.login = new Login(this.cluster)
    this.#face = {
      actions: this.actions,
      authenticate: (authorization, from) => this.login.authenticate(authorization, from),
      wireDialect: async () => textOf((await this.cluster.rows('cluster'))[0]?.['wire_dialect'] ?? 'auto'),
    }
  }

  /** One request, as `admin` unless the headers say otherwise. */
  async call(method: string, target: string, body?: unknown, options: CallOptions = {}): Promise<Answered> {
    const reply = await this.reply(method, target, body, options)
    const text = JSON.stringify(reply.body)
    assert.equal(reply.text ?? text, text)
    return { status: reply.status, headers: reply.headers, body: JSON.parse(text) as Body }
  }

  /** The same with the answer as it is before it is printed, which of a long one takes a while. */
  reply(method: string, target: string, body?: unknown, options: CallOptions = {}): Promise<RestReply> {
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
    const length = text === '' ? {} : { 'content-length': String(Buffer.byteLength(text)) }
    return answer(this.#face, {
      method,
      target,
      headers: { authorization: ADMIN, ...length, ...options.headers },
      body: text,
      from: options.from ?? '192.0.2.1',
    })
  }

  /** The UUID of the record with this name, at a collection path. */
  async uuidOf(collection: string, name: string): Promise<string> {
    const { body } = await this.call('GET', `${collection}?fields=uuid&name=${encodeURIComponent(name)}`)
    const [found] = recordsOf(body)
    if (found === undefined) throw new Error(`${collection} has no "${name}".`)
    return asText(found['uuid'])
  }

  /** The path of an account of the cluster. */
  async account(name: string): Promise<string> {
    const { body } = await this.call('GET', '/api/cluster?fields=uuid')
    return `/api/security/accounts/${asText(body['uuid'])}/${name}`
  }

  async close(): Promise<void> {
    await this.jobs.drain(DRAIN_MS)
    const sleeper = await this.clock.sleeper()
    this.clock.stop()
    await this.cluster.catalog.close()
    if (sleeper !== undefined) throw new Error('The cluster was closed while somebody slept.', { cause: sleeper })
    const defect = this.logged.find(({ message }) => message === SECOND_COMMIT)
    if (defect !== undefined) throw new Error(`${SECOND_COMMIT} ${JSON.stringify(defect.details)}`)
  }
}

export async function startTestCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const volumes = new SimulatedVolumes({
    random: new SimulatedRandom(1),
    capacityBytes: options.capacityBytes ?? 2 ** 50,
    place: 'aggr1',
  })
  const clock = new TestClock()
  const logged: TestCluster['logged'] = []
  const behaviours = [...allBehaviours, ...(options.extra ?? [])]
  const cluster = new Cluster({
    catalog: options.catalog ?? openSqliteCatalog({ file: ':memory:', commit: 'in-process' }),
    system: options.system ?? {
      clock,
      random: { bytes: (count) => randomBytes(count), uuid: () => randomUUID() },
      turn: options.turn ?? realSystem.turn,
    },
    behaviours: new Map(behaviours.map((behaviour) => [behaviour.resource.type, behaviour])),
    release: release(options.release ?? '9.16.1'),
    machine: options.machine ?? testMachine(TEST_PORTS),
    managementAddress: options.managementAddress ?? '192.0.2.7',
    ...(options.node === undefined ? {} : { node: options.node }),
    ...(options.leaveTree === undefined ? {} : { leaveTree: options.leaveTree }),
    volumesOf: options.volumesOf ?? simulatedByFolder(volumes),
    log: logInto(logged),
    certificates: realCertificates,
    secrets: options.secrets ?? new QuickSecrets(),
  })
  const test = new TestCluster({ cluster, volumes, clock, logged }, options.hooks ?? {})
  if (options.isUsed !== true) {
    await firstStart(test.actions, {
      adminPassword: ADMIN_PASSWORD,
      accessKey: undefined,
      secretKey: undefined,
      isBare: options.isBare ?? false,
      aggregateFolder: 'aggr1',
      dataAddress: '127.0.0.1',
    })
  }
  return test
}

const port = (name: string, address: string): MachinePort => ({
  name,
  isUp: true,
  isLoopback: name === 'lo',
  mtuBytes: 1500,
  addresses: [address],
})

export const TEST_PORTS: readonly MachinePort[] = [
  port('eth0', '192.0.2.7'),
  port('eth1', '198.51.100.7'),
  port('lo', '127.0.0.1'),
]

/** A machine whose processors are busy half of the time. */
export function testMachine(ports: readonly MachinePort[]): Machine {
  return {
    ports: () => Promise.resolve(ports),
    processors: () => ({ busyMs: Math.round(performance.now()), wholeMs: Math.round(2 * performance.now()) }),
    facts: () => Promise.resolve({ processors: 2, processorName: 'Test', memoryBytes: 2 ** 33, firmware: '1.0' }),
  }
}

export function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

/** The first aggregate is the engine given. Others have disks of their own, one for each first part of their paths. */
export function simulatedByFolder(first: SimulatedVolumes): (aggregate: Row) => SimulatedVolumes {
  const engines = new Map([['aggr1', first]])
  return (aggregate) => {
    const place = textAt(aggregate, '$folder')
    const [, disk = ''] = place.split('/')
    const engine =
      engines.get(place) ??
      new SimulatedVolumes({ random: new SimulatedRandom(1), capacityBytes: 2 ** 50, place, disk })
    engines.set(place, engine)
    return engine
  }
}

/** The machine's time, moved by as much as a test says. Sleeps are real. */
export class TestClock implements Clock {
  aheadMs = 0
  /** Each with the place that it sleeps at. */
  readonly #timers = new Map<NodeJS.Timeout, Error>()
  #isStopped = false

  /** Nobody who sleeps wakes any more: for a cluster whose process has ended, as its test says. */
  stop(): void {
    this.#isStopped = true
    for (const timer of this.#timers.keys()) clearTimeout(timer)
    this.#timers.clear()
  }

  /** Who still sleeps, though all that was begun should have ended: it would go on in the middle of another test. */
  async sleeper(): Promise<Error | undefined> {
    const endMs = performance.now() + SETTLE_MS
    while (this.#timers.size > 0 && performance.now() < endMs)
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    return this.#timers.values().next().value
  }

  now(): number {
    return Date.now() + this.aheadMs
  }

  elapsed(): number {
    return performance.now()
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve()
        return
      }
      if (this.#isStopped) return
      const timer = setTimeout(() => {
        this.#timers.delete(timer)
        resolve()
      }, ms)
      this.#timers.set(timer, new Error('Somebody sleeps here.'))
      signal?.addEventListener('abort', () => {
        clearTimeout(timer)
        this.#timers.delete(timer)
        resolve()
      })
    })
  }
}

/** Secrets without the slowness that real ones have on purpose. Counts the checks of passwords. */
export class QuickSecrets implements Secrets {
  checks = 0
  readonly #key: KeyObject

  /** Clusters that share accounts share the key. */
  constructor(key = randomBytes(32)) {
    this.#key = createSecretKey(key)
  }

  seal(secret: string): string {
    return Buffer.from(secret).toString('hex')
  }

  unseal(sealed: string): string {
    return Buffer.from(sealed, 'hex').toString()
  }

  hashPassword(password: string): Promise<string> {
    return Promise.resolve(`quick:${randomUUID()}:${this.digest(password)}`)
  }

  decoyHash(): string {
    return `quick:${randomUUID()}:`
  }

  checkPassword(password: string, hash: string): Promise<boolean> {
    this.checks++
    return Promise.resolve(this.isEqual(hash.split(':')[2] ?? '', this.digest(password)))
  }

  digest(secret: string): string {
    return createHmac('sha256', this.#key).update(secret).digest('base64')
  }

  isEqual(a: string, b: string): boolean {
    const [left, right] = [Buffer.from(a), Buffer.from(b)]
    return left.length === right.length && timingSafeEqual(left, right)
  }
}

function logInto(logged: TestCluster['logged']): Log {
  const at = (level: string) => (message: string, details?: unknown) => void logged.push({ level, message, details })
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
