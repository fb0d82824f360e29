/**
 * A whole cluster in this process: the real catalog on a file, the real verbs, jobs and housekeeping, the real object
 * functions of the data plane; disks in memory, and a clock and chance that repeat themselves. It lives from life to
 * life: when one ends, however it ends, the catalog's files are taken as they lie there, and the next begins with them.
 */
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { TreeUses } from '../../../src/s3/objects/tree-uses.ts'
import { realSystem } from '../../../src/engines/system.ts'
import { Cluster, type Log } from '../../../src/core/cluster.ts'
import { Housekeeping } from '../../../src/background/housekeeping.ts'
import { Jobs } from '../../../src/core/jobs/jobs.ts'
import { Actions } from '../../../src/core/perform.ts'
import { SimulatedClock } from '../../../src/engines/simulated/clock.ts'
import type { SimulatedRandom } from '../../../src/engines/simulated/random.ts'
import { SimulatedVolumes } from '../../../src/engines/simulated/volumes.ts'
import { openSqliteCatalog } from '../../../src/engines/sqlite/catalog.ts'
import { answer, type RestFace } from '../../../src/faces/rest/answer.ts'
import { builtinRoles } from '../../../src/model/access.ts'
import { release } from '../../../src/model/release.ts'
import { type Row, textAt } from '../../../src/model/value.ts'
import type { Catalog } from '../../../src/ports/catalog.ts'
import type { Volumes } from '../../../src/ports/volumes.ts'
import { firstStart } from '../../../src/resources/first-start.ts'
import { behaviours } from '../../../src/resources/index.ts'
import { openBucket } from '../../../src/s3/exchange/open-bucket.ts'
import { s3Error } from '../../../src/s3/errors.ts'
import { explainFailure } from '../../../src/s3/objects/failures.ts'
import { PieceBuffers } from '../../../src/s3/objects/piece-buffers.ts'
import { Transfers } from '../../../src/s3/body/transfers.ts'
import { Pins } from '../../../src/s3/objects/pins.ts'
import type { ObjectStore, OpenBucket } from '../../../src/s3/objects/store.ts'
import { Tenancy } from '../../../src/s3/tenancy/tenancy.ts'
import type { Body } from '../../support/body.ts'
import { QuickSecrets } from '../../support/cluster.ts'
import { QUICK_DISK } from '../../support/quick-disk.ts'
import { Life, type Strike } from './life.ts'
import { allowAnyAggregate } from '../../support/any-aggregate.ts'

/** What became of a request. A refusal is known by its S3 error, or by the status of the management interface. */
export interface Answer {
  readonly refused?: string
  /** Of the object that was made or the marker that was added. */
  readonly version?: string
  /** Of the upload that was begun. */
  readonly upload?: string
}

export interface Reply {
  readonly status: number
  readonly body: Body
}

/** What a life is made of, but for the disks. */
interface Parts {
  readonly life: Life
  readonly clock: SimulatedClock
  readonly catalog: Catalog
  readonly actions: Actions
  readonly housekeeping: Housekeeping
  readonly store: ObjectStore
  readonly tenancy: Tenancy
  readonly face: RestFace
}

/** The database, and its log: what a process that is killed leaves. */
const FILES = ['', '-wal']
const [ADMIN] = builtinRoles

/** Reads the log that a process left, and empties it: else each life would copy the logs of all lives before it. */
function copyBackLog(file: string): void {
  const db = new DatabaseSync(file)
  try {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } finally {
    db.close()
  }
}

export class World {
  readonly random: SimulatedRandom
  readonly disks = new Map<string, SimulatedVolumes>()
  readonly secrets = new QuickSecrets()
  /** Messages of the present life that should not be. */
  readonly logged: string[] = []
  svm = ''
  #nowMs = Date.UTC(2026, 0, 1)
  #lives = 0
  readonly #folder = mkdtempSync(join(QUICK_DISK, 'holdfast-model-'))
  #parts: Parts

  private constructor(random: SimulatedRandom) {
    this.random = random
    this.#parts = this.#boot()
  }

  static async start(random: SimulatedRandom): Promise<World> {
    const world = new World(random)
    await world.run(async () => {
      await firstStart(world.actions, {
        adminPassword: 'a password for tests',
        accessKey: undefined,
        secretKey: undefined,
        isBare: false,
        aggregateFolder: 'disk1/aggr1',
        dataAddress: '127.0.0.1',
      })
      await allowAnyAggregate(world.cluster)
      world.svm = (await world.cluster.keyOfName('svm/svms', 'svm1')) ?? ''
      await world.insist('POST', '/storage/aggregates', { name: 'aggr2', 'block_storage.path': '/disk2/aggr2' })
    })
    return world
  }

  get cluster(): Cluster {
    return this.#parts.actions.cluster
  }
  get actions(): Actions {
    return this.#parts.actions
  }
  get life(): Life {
    return this.#parts.life
  }
  get store(): ObjectStore {
    return this.#parts.store
  }
  get housekeeping(): Housekeeping {
    return this.#parts.housekeeping
  }

  /** Lets time pass until it is done, or until the process has ended. Fails when everybody waits for nothing. */
  async run<Result>(act: () => Promise<Result>): Promise<Result | 'ended'> {
    const result = await this.#parts.clock.until(Promise.race([act(), this.life.ended]))
    this.#nowMs = this.#parts.clock.now()
    return result
  }

  async pass(ms: number): Promise<void> {
    await this.#parts.clock.advance(ms)
    this.#nowMs = this.#parts.clock.now()
  }

  /** A request to the management interface, that waits for its job. */
  async rest(method: string, path: string, body?: object): Promise<Reply> {
    const { face } = this.#parts
    const target = `/api${path}${path.includes('?') ? '&' : '?'}${method === 'GET' ? '' : 'return_timeout=120'}`
    const text = body === undefined ? '' : JSON.stringify(body)
    const reply = await answer(face, { method, target, headers: {}, body: text, from: 'test' })
    return { status: reply.status, body: JSON.parse(JSON.stringify(reply.body)) as Body }
  }

  /** The same, as an answer. */
  async ask(method: string, path: string, body?: object): Promise<Answer> {
    const { status, body: reply } = await this.rest(method, path, body)
    assert.notEqual(status, 202, `${method} ${path}: the job goes on and on.`)
    return status < 300 ? {} : { refused: `${status} ${JSON.stringify(reply['error'])}` }
  }

  async insist(method: string, path: string, body?: object): Promise<void> {
    assert.deepEqual(await this.ask(method, path, body), {})
  }

  /** A request to the data plane, from where its bucket is looked up on. */
  async s3(act: (store: ObjectStore) => Promise<Answer>): Promise<Answer> {
    try {
      return await act(this.store)
    } catch (failure) {
      const { code, status, cause } = explainFailure(failure)
      if (status === 500) this.logged.push(`InternalError: ${String(cause)}`)
      return { refused: code }
    }
  }

  /** A bucket by its name, or by that of what a snapshot shows of it. */
  async bucket(name: string): Promise<OpenBucket> {
    const view = await this.#parts.tenancy.view()
    const record = await view.bucket(this.svm, name)
    if (record === undefined) throw s3Error('NoSuchBucket')
    return openBucket({ store: this.store, volumesOf: (aggregate) => this.cluster.volumesOf(aggregate) }, view, record)
  }

  async volumeUuid(name: string): Promise<string> {
    return (await this.cluster.keyOfName('storage/volumes', name, this.svm)) ?? 'none'
  }

  async bucketUuid(name: string): Promise<string> {
    return (await this.cluster.keyOfName('protocols/s3/buckets', name, this.svm)) ?? 'none'
  }

  /** Something may go wrong from now on. */
  arm(strike: Strike | undefined): void {
    this.life.arm(strike)
  }

  /** Ends the process, if that has not happened, and begins again as the product does: jobs go on, rubbish is set aside. */
  async restart(): Promise<void> {
    const { life, catalog } = this.#parts
    life.end()
    await life.settled()
    for (const disk of this.disks.values()) disk.crash()
    const from = this.#file
    this.#lives++
    for (const end of FILES) if (existsSync(from + end)) copyFileSync(from + end, this.#file + end)
    await catalog.close()
    for (const end of [...FILES, '-shm', '.lock']) rmSync(from + end, { force: true })
    copyBackLog(this.#file)
    this.#nowMs++
    this.#parts = this.#boot()
    const begunMs = this.#nowMs
    const over = await this.run(async () => {
      await this.actions.jobs.resume()
      while (this.actions.jobs.activeCount > 0) await nextTurn()
      // The catalog's files are taken as they lie, with all that was acknowledged.
      await this.housekeeping.sweep(begunMs, true)
      await this.housekeeping.round()
    })
    assert.notEqual(over, 'ended')
  }

  async close(): Promise<void> {
    await this.#parts.catalog.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  get #file(): string {
    return join(this.#folder, `catalog-${this.#lives}.db`)
  }

  #boot(): Parts {
    const life = new Life()
    const clock = new SimulatedClock(this.#nowMs, () => life.isBusy())
    const system = { clock, random: this.random, turn: realSystem.turn }
    const catalog = openSqliteCatalog({ file: this.#file, commit: 'in-process' })
    const engines = new Map<string, Volumes>()
    const volumesOf = (aggregate: Row): Volumes => {
      const place = textAt(aggregate, '$folder')
      const engine = engines.get(place) ?? life.volumes(this.#disk(place))
      engines.set(place, engine)
      return engine
    }
    const cluster = new Cluster({
      catalog: life.catalog(catalog),
      system,
      behaviours: new Map(behaviours.map((behaviour) => [behaviour.resource.type, behaviour])),
      release: release('9.16.1'),
      volumesOf,
      log: this.#log(),
      secrets: this.secrets,
    })
    const jobs = new Jobs(cluster)
    const actions = new Actions(cluster, jobs)
    const pins = new Pins()
    const caller = { user: 'admin', role: 'admin', from: 'test' }
    assert.ok(ADMIN)
    return {
      life,
      clock,
      catalog,
      actions,
      housekeeping: new Housekeeping(cluster, jobs, {
        stillReading: (blobs) => Promise.resolve(new Set(pins.among(blobs))),
      }),
      store: {
        catalog: cluster.catalog,
        system,
        pins,
        buffers: new PieceBuffers(),
        bodyBuffers: PieceBuffers.forBodies(),
        transfers: new Transfers(),
        trees: new TreeUses(),
        grow: () => Promise.resolve(false),
        tellDamage: () => undefined,
        countCompression: () => {},
      },
      tenancy: new Tenancy(cluster.catalog, (sealed) => this.secrets.unseal(sealed)),
      face: {
        actions,
        authenticate: () => Promise.resolve({ caller, role: ADMIN }),
        wireDialect: () => Promise.resolve('spec'),
      },
    }
  }

  #disk(place: string): SimulatedVolumes {
    const disk = place.split('/').find((part) => part !== '') ?? ''
    const engine = this.disks.get(place) ?? new SimulatedVolumes({ random: this.random, place, disk })
    this.disks.set(place, engine)
    return engine
  }

  #log(): Log {
    const note = (message: string, details?: unknown) => void this.logged.push(`${message} ${JSON.stringify(details)}`)
    return { debug: () => {}, info: () => {}, warn: note, error: note }
  }
}
