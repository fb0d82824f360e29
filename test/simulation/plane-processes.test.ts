/**
 * Two complete management planes, each a process of its own, on one catalog and the same disks: random requests go to both
 * while clients write and read objects, and now and then one of the two is killed and started again. Afterwards the cluster
 * is whole: nothing is left over, nothing is promised twice, no job is under way, and every object that was acknowledged is
 * there. [two-planes.test.ts](two-planes.test.ts) does the same in one process, interleaved by a seed. This one prints its
 * seed too; what happens when is up to the machine.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keys } from '../../src/s3/test-plane.ts'
import { asText, recordsOf } from '../support/body.ts'
import type { Answered } from '../support/cluster.ts'
import { seedOf } from '../support/seed.ts'
import { timeLimit } from '../support/time-limit.ts'
import { isWhole } from '../support/whole.ts'
import { numbersOf } from './histories/client.ts'
import { PeerGone } from './planes/channel.ts'
import { Traffic, type TrafficBucket } from './planes/traffic.ts'
import { type PlaneProcess, World } from './planes/world.ts'
import { CONFIGURATION_DEEDS, type Kept, resumeAll } from './requests/configuration.ts'
import { EFFICIENCY_DEEDS } from './requests/efficiency.ts'
import {
  AGGREGATES,
  type Ask,
  type Asked,
  BUCKETS,
  INTERFACES,
  keyOf,
  NAMES,
  randomAsk,
  SERVICES,
  STORAGE_DEEDS,
  SVMS,
  toolsOf,
  VOLUMES,
} from './requests/storage.ts'

const DEEDS = { ...STORAGE_DEEDS, ...CONFIGURATION_DEEDS, ...EFFICIENCY_DEEDS }
/** Half of the requests are about the volumes that have objects. */
const OF_VOLUMES = [
  'move volume',
  'move volume',
  'steer move',
  'make snapshot',
  'drop snapshot',
  'restore volume',
  'clone volume',
  'split clone',
  'drop volume',
  'drop volume for good',
  'make volume',
  'recover volume',
  'resize volume',
  'set efficiency',
  'run efficiency',
  'scrub',
]
const ROUNDS = isWhole ? 8 : 2
const ASKS = isWhole ? 120 : 60
const ASKERS = 4
const CLIENTS = 3
const BUCKETS_MIN = 3
const LIMIT_MS = 120_000
const QUIET_LOOKS_MAX = 600
const LOOK_MS = 100
/** What is wrong for so long is no job's last step. */
const SETTLE_LOOKS = 20

/** In this SVM are the servers that clients ask: it is not taken away. */
const [SVM = ''] = NAMES

class Run {
  readonly world: World
  readonly traffic: Traffic
  readonly kept: Kept[] = []
  buckets: readonly TrafficBucket[] = []
  readonly #random: () => number
  readonly #guarded = new Set<string>()
  readonly #killed = new Set<string>()
  #interface = ''
  #server = ''
  #made = 0

  constructor(world: World, random: () => number) {
    this.world = world
    this.#random = random
    this.traffic = new Traffic({
      random,
      urls: () => world.planes.filter((plane) => plane.isRunning).map(({ url }) => url),
      wasKilled: (url) => this.#killed.has(url),
    })
  }

  get first(): PlaneProcess {
    const [first] = this.world.planes
    assert.ok(first)
    return first
  }

  /** The SVM with a server of objects that everybody's keys open. */
  async prepare(): Promise<void> {
    const plane = this.first
    const made = async (method: string, path: string, body: object) => {
      const { status, body: said } = await plane.call(method, `${path}?return_timeout=60&return_records=true`, body)
      assert.ok(status < 300, `${method} ${path}: ${JSON.stringify(said)}`)
      return said
    }
    await made('POST', AGGREGATES, { name: 'aggr2', block_storage: { path: '/disk2/a' } })
    for (const name of NAMES) await made('POST', SVMS, { name })
    const svm = asText(recordsOf((await plane.call('GET', `${SVMS}?name=${SVM}`)).body)[0]?.['uuid'])
    await made('POST', INTERFACES, { name: 'clients', svm: { name: SVM }, ip: { address: '127.0.0.1', netmask: '8' } })
    const { body } = await plane.call('GET', `${INTERFACES}?name=clients`)
    this.#interface = keyOf(recordsOf(body)[0])
    this.#server = `${SERVICES}/${svm}`
    await made('POST', SERVICES, { name: 's3.example.com', svm: { name: SVM }, enabled: true })
    await made('POST', `${SERVICES}/${svm}/users`, {
      name: 'client',
      access_key: keys.accessKeyId,
      secret_key: keys.secretAccessKey,
    })
    await made('POST', `${SERVICES}/${svm}/groups`, {
      name: 'clients',
      users: [{ name: 'client' }],
      policies: [{ name: 'FullAccess' }],
    })
    for (const path of [`${SVMS}/${svm}`, this.#server, `${INTERFACES}/${this.#interface}`]) this.#guarded.add(path)
    for (const each of this.world.planes) await each.serve(this.#interface)
  }

  /** Buckets for the clients, where some have gone. */
  async makeBuckets(): Promise<void> {
    for (let tries = 0; tries < BUCKETS_MIN; tries++) {
      await this.lookForBuckets()
      if (this.buckets.length >= BUCKETS_MIN) return
      await this.#makeBucket(++this.#made)
    }
    await this.lookForBuckets()
  }

  /** In one of the volumes that most requests are about, or in a volume of its own. */
  async #makeBucket(number: number): Promise<void> {
    const plane = this.first
    const bucket = { name: `objects${number}`, svm: { name: SVM } }
    if (number % 3 === 0) {
      await plane.call('POST', `${BUCKETS}?return_timeout=60`, { ...bucket, size: '90g' })
      return
    }
    const name = NAMES[number % NAMES.length]
    await plane.call('POST', `${VOLUMES}?return_timeout=60`, { name, svm: { name: SVM }, size: '40m' })
    const data_volumes = [...this.buckets.map(({ volume }) => ({ uuid: volume })), { name }]
    await plane.call('PATCH', this.#server, { data_volumes })
    await plane.call('POST', `${BUCKETS}?return_timeout=60`, { ...bucket, volume: { name }, size: '90g' })
  }

  async lookForBuckets(): Promise<void> {
    const { body } = await this.first.call('GET', `${BUCKETS}?svm.name=${SVM}&name=objects*&fields=name,volume.uuid`)
    // A clone has buckets of its own, `objects1-<clone>`, with bodies that were sent to those of its parent.
    this.buckets = recordsOf(body)
      .map((one) => ({ name: asText(one['name']), volume: asText(one['volume']?.['uuid']) }))
      .filter(({ name }) => /^objects\d+$/.test(name))
  }

  /** Asks a plane, but not for what would take the clients' server away. */
  #through(plane: PlaneProcess): Asked {
    return {
      call: async (method, target, body): Promise<Answered> => {
        const isKept = method !== 'GET' && [...this.#guarded].some((path) => target.startsWith(path))
        if (isKept) return { status: 409, headers: {}, body: {} }
        const restored = /^\/api\/storage\/volumes\/([-0-9a-f]+)\?restore_to/.exec(target)?.[1]
        if (restored !== undefined) this.traffic.noteRestore(restored)
        return plane.call(method, target, body)
      },
    }
  }

  async ask(): Promise<void> {
    const plane = this.world.planes[Math.floor(this.#random() * this.world.planes.length)]
    if (plane === undefined) return
    const does = this.#random() < 0.5 ? OF_VOLUMES : Object.keys(DEEDS)
    const ask: Ask = randomAsk(does, this.#random)
    try {
      if (this.#random() < 0.02) await this.#dropBucket(plane)
      const result = await DEEDS[ask.does]?.(toolsOf(this.#through(plane), ask), ask)
      if (typeof result === 'function') this.kept.push(result as Kept)
    } catch (failure) {
      // The plane was killed: what was asked was done or not.
      if (!(failure instanceof PeerGone)) throw failure
    }
  }

  async #dropBucket(plane: PlaneProcess): Promise<void> {
    const [bucket] = this.buckets
    if (bucket === undefined) return
    this.buckets = this.buckets.slice(1)
    await this.traffic.empty(bucket)
    const { body } = await plane.call('GET', `${BUCKETS}?name=${bucket.name}&fields=uuid,svm.uuid`)
    const [record] = recordsOf(body)
    if (record !== undefined)
      await plane.call('DELETE', `${BUCKETS}/${asText(record['svm']?.['uuid'])}/${keyOf(record)}`)
  }

  async kill(plane: PlaneProcess): Promise<void> {
    this.#killed.add(plane.url)
    await plane.kill()
  }

  async restart(plane: PlaneProcess): Promise<void> {
    await plane.start()
    await plane.serve(this.#interface)
  }

  /** What is asked of jobs to halt does not keep others waiting for long. */
  async resumeAll(until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      for (const plane of this.world.planes) await resumeAll(plane).catch(unlessGone)
      await sleep(500)
    }
  }

  async isQuiet(): Promise<void> {
    for (let looks = 0; looks < QUIET_LOOKS_MAX; looks++) {
      const { body } = await this.first.call(
        'GET',
        '/api/cluster/jobs?state=queued|running|paused|pausing&fields=state,message,description',
      )
      const active = await Promise.all(this.world.planes.map((plane) => plane.other.activeJobs()))
      const left = recordsOf(body)
      if (left.length === 0 && active.every((count) => count === 0)) return
      if (looks === QUIET_LOOKS_MAX - 1)
        assert.fail(`Jobs do not end: ${JSON.stringify(left)} ${JSON.stringify(active)}`)
      await resumeAll(this.first)
      await sleep(LOOK_MS)
    }
  }

  /** What is wrong, and stays so. */
  async wrong(): Promise<string[]> {
    const { body } = await this.first.call('GET', `${VOLUMES}?state=offline&fields=uuid`)
    for (const volume of recordsOf(body))
      await this.first.call('PATCH', `${VOLUMES}/${keyOf(volume)}`, { state: 'online' })
    await this.isQuiet()
    let wrong: string[] = []
    for (let looks = 0; looks < SETTLE_LOOKS; looks++) {
      wrong = (await Promise.all(this.world.planes.map((plane) => plane.other.wrong()))).flat()
      if (wrong.length === 0) break
      await sleep(LOOK_MS)
    }
    for (const plane of this.world.planes) {
      for (const each of this.kept) wrong.push((await each(plane)) ?? '')
    }
    await this.lookForBuckets()
    await this.traffic.check(this.buckets)
    wrong.push(...(await this.first.other.lost()), ...this.traffic.wrong)
    return wrong.filter((each) => each !== '')
  }
}

function unlessGone(failure: unknown): void {
  if (!(failure instanceof PeerGone)) throw failure
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

async function round(run: Run, random: () => number, isKilling: boolean): Promise<void> {
  await run.makeBuckets()
  const over = new AbortController()
  const clients = Array.from({ length: CLIENTS }, () => run.traffic.client(() => run.buckets, over.signal))
  const resuming = run.resumeAll(over.signal)
  let left = ASKS
  const killsAt = isKilling ? Math.floor(ASKS * (0.3 + 0.5 * random())) : -1
  const victim = run.world.planes[Math.floor(random() * run.world.planes.length)]
  let killing: Promise<void> | undefined
  const asker = async () => {
    while (left-- > 0) {
      if (left < killsAt && killing === undefined && victim !== undefined) killing = run.kill(victim)
      await run.ask()
    }
  }
  await Promise.all(Array.from({ length: ASKERS }, asker))
  await killing
  if (victim !== undefined && !victim.isRunning) await run.restart(victim)
  over.abort()
  await Promise.all([...clients, resuming])
  await run.isQuiet()
  assert.deepEqual(await run.wrong(), [])
}

test('two processes with management planes on one catalog leave it whole, killed or not', async (context) => {
  const seed = seedOf(context)
  const random = numbersOf(seed)
  const isOver = timeLimit(isWhole ? LIMIT_MS : Infinity)
  const world = await World.start(['n1', 'n2'])
  try {
    const run = new Run(world, random)
    await run.prepare()
    for (let rounds = 0; rounds < ROUNDS && !isOver(); rounds++) await round(run, random, rounds % 2 === 0)
    context.diagnostic(JSON.stringify(run.traffic.counts))
  } finally {
    await world.close()
  }
})
