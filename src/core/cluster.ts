/** What verbs and derivations are given: the catalog, the volumes of each aggregate, time, chance and one another. */
import { failure, type Failure } from '../model/failure.ts'
import { nameScope } from '../model/name-scope.ts'
import { rowOrder } from '../model/query.ts'
import { registry, type Registry } from '../model/registry.ts'
import type { Release } from '../model/release.ts'
import { identityPaths, placingPaths, recordKey, type Resource, type TypeName } from '../model/resource.ts'
import { resourceAt } from '../model/resource-at.ts'
import type { RecordType, RowOf, SomeType } from '../model/rows.ts'
import { type Row, textOf } from '../model/value.ts'
import {
  CommitRefused,
  type Catalog,
  type Change,
  type Outcome,
  type RecordsWithin,
  type StoredRecord,
} from '../ports/catalog.ts'
import type { Certificates } from '../ports/certificates.ts'
import type { Machine } from '../ports/machine.ts'
import type { System } from '../ports/system.ts'
import type { Volumes } from '../ports/volumes.ts'
import { Background } from './tasks/background.ts'
import type { Behaviour } from './behaviour.ts'
import type { AnyEvent, EventParameters } from '../model/events/index.ts'
import { Faults } from './faults.ts'
import { Incarnation } from './incarnation.ts'
import { JobOrders } from './jobs/job-orders.ts'
import { isTaken } from './jobs/lock-claims.ts'
import { Locks } from './jobs/locks.ts'
import { Metrics } from './metrics/metrics.ts'
import { areWhole, SHARED_ROW_CHARACTERS, shortened } from './read/long-values.ts'
import { Mirror, type Keeping } from './read/mirror.ts'
import { recordPages } from './read/record-pages.ts'
import { noParent, noSuch } from './read/references.ts'
import type { Seeded } from './seed/apply.ts'
import { stored } from './stored-row.ts'
import { TaskClaims } from './tasks/task-claims.ts'
import { inTurns } from './time/turns.ts'
import { PageRoom, type PageBounds } from './read/page-room.ts'
import { VolumeSums } from '../storage/volume-sums.ts'
import { wholeRows } from './read/whole-rows.ts'

export interface ClusterParts {
  readonly catalog: Catalog
  readonly system: System
  readonly behaviours: ReadonlyMap<string, Behaviour>
  readonly release: Release
  /** The engine that holds the blobs of an aggregate, by the aggregate's record. */
  readonly volumesOf: (aggregate: Row) => Volumes
  readonly log: Log
  readonly secrets: Secrets
  /** Without it, certificates are neither made nor read. */
  readonly certificates?: Certificates
  /** Without it, there is no data plane. */
  readonly leaveTree?: LeaveTree
  /** What this node is called in records, where several share a catalog. Without it, the catalog is this node's alone. */
  readonly node?: string
  /** Without it, the node has no ports. */
  readonly machine?: Machine
  /** The address that the management interface is served at; all of the machine's where it is that of no one. */
  readonly managementAddress?: string
  /** How long a day of lifecycle rules is. Tests make it shorter; without it, a day. */
  readonly lifecycleDayMs?: number
  /** Bounds of pages of collections. */
  readonly pages?: PageBounds
}

export interface NamedRecord {
  readonly type: SomeType
  readonly key: string
}

export interface PutOptions {
  readonly expect?: 'absent' | number
  readonly unique?: Readonly<Record<string, string>>
  readonly isBeforeParent?: true
  /** Records that the notes of this one name: it is refused where one of them has gone. */
  readonly names?: readonly NamedRecord[]
}

/** Brings the cluster to what a seed file says. Fails with a `SeedError`. */
export type ApplySeed = (file: { readonly name: string; readonly text: string }) => Promise<Seeded>

/** Has the data plane begin no more writes of a volume to a tree, and tells whether one is still under way. */
export type LeaveTree = (volume: string, tree: string) => Promise<boolean>

export interface Log {
  debug(message: string, details?: Readonly<Record<string, unknown>>): void
  info(message: string, details?: Readonly<Record<string, unknown>>): void
  warn(message: string, details?: Readonly<Record<string, unknown>>): void
  error(message: string, details?: Readonly<Record<string, unknown>>): void
}

/** What must not lie in the catalog in the clear. */
export interface Secrets {
  /** Encrypts under the cluster key what must be recovered (secret keys of object store users). */
  seal(secret: string): string
  unseal(sealed: string): string
  /** A slow hash of a password, with its salt. */
  hashPassword(password: string): Promise<string>
  /** What looks like such a hash and is that of no password, made at once. To check it is as slow. */
  decoyHash(): string
  checkPassword(password: string, hash: string): Promise<boolean>
  /** A fast hash, for secrets that are random themselves. */
  digest(secret: string): string
  /** Compares in constant time. */
  isEqual(a: string, b: string): boolean
}

export class Cluster {
  readonly catalog: Catalog
  readonly system: System
  readonly registry: Registry
  readonly behaviours: ReadonlyMap<string, Behaviour>
  readonly release: Release
  readonly log: Log
  readonly secrets: Secrets
  readonly certificates: Certificates
  readonly lifecycleDayMs: number
  readonly leaveTree: LeaveTree
  readonly machine: Machine
  readonly managementAddress: string | undefined
  readonly locks: Locks
  /** Who this process is where it claims work. */
  readonly incarnation: Incarnation
  readonly background: Background
  readonly faults: Faults
  readonly jobOrders: JobOrders
  readonly metrics: Metrics
  readonly volumeSums: VolumeSums
  readonly pages: PageRoom
  /** Set by those who call verbs: without them, nothing can be seeded. */
  applySeed: ApplySeed = () => Promise.reject(failure('seedingUnavailable'))
  readonly #volumesOf: (aggregate: Row) => Volumes
  readonly #mirror: Mirror
  readonly #startedMs: number
  readonly #parts: ClusterParts

  /** With `seenFrom`, it is the same cluster as that, but for its commits: see `through`. */
  constructor(parts: ClusterParts, seenFrom?: { readonly cluster: Cluster; readonly commit: Catalog['commit'] }) {
    const same = seenFrom?.cluster
    this.#parts = parts
    this.catalog = seenFrom === undefined ? parts.catalog : withCommit(parts.catalog, seenFrom.commit)
    this.system = parts.system
    this.release = parts.release
    this.behaviours = same?.behaviours ?? behavioursAt(parts)
    this.registry = same?.registry ?? registry([...this.behaviours.values()].map(({ resource }) => resource))
    this.log = parts.log
    this.secrets = parts.secrets
    this.certificates = parts.certificates ?? noCertificates
    this.lifecycleDayMs = parts.lifecycleDayMs ?? 86_400_000
    this.leaveTree = same?.leaveTree ?? parts.leaveTree ?? (() => Promise.resolve(false))
    this.machine = parts.machine ?? NO_MACHINE
    this.managementAddress = parts.managementAddress
    this.#startedMs = same === undefined ? parts.system.clock.elapsed() : same.#startedMs
    this.locks = same?.locks ?? new Locks()
    this.incarnation = same?.incarnation ?? new Incarnation(parts.node ?? ONLY_NODE, parts.system.random)
    this.background = same?.background ?? backgroundOf(parts, this.incarnation)
    this.metrics = same?.metrics ?? new Metrics(parts.catalog)
    this.faults = same?.faults ?? new Faults(parts.system)
    this.jobOrders = same?.jobOrders ?? new JobOrders(parts.catalog, parts.system.clock)
    this.volumeSums = same?.volumeSums ?? new VolumeSums(parts.catalog, parts.system)
    this.pages = same?.pages ?? new PageRoom(parts.pages)
    this.#volumesOf = parts.volumesOf
    this.#mirror =
      same === undefined ? new Mirror(parts.catalog, parts.system, (type) => this.#keeping(type)) : same.#mirror
    if (same !== undefined) this.applySeed = same.applySeed
  }

  /** This cluster with all its state, for somebody whose commits go through the function given. */
  through(commit: Catalog['commit']): Cluster {
    return new Cluster(this.#parts, { cluster: this, commit })
  }

  /** Commits what only makes way for the commit of a verb, and is not yet what was asked for. It goes through nothing. */
  async prepare(changes: readonly Change[]): Promise<void> {
    await this.#parts.catalog.commit(changes)
  }

  /** Whether somebody here, or a job of any process, has a lock. */
  isTaken = (lock: string): Promise<boolean> => isTaken(this, lock)

  now(): number {
    return this.system.clock.now()
  }

  /** How long the cluster has been running since its last start. */
  upSeconds(): number {
    return Math.floor((this.system.clock.elapsed() - this.#startedMs) / 1000)
  }

  behaviour(type: string): Behaviour {
    const found = this.behaviours.get(type)
    if (found === undefined) throw new Error(`No resource has the type ${type}.`)
    return found
  }

  /** The stored fields of a record, or nothing. */
  find<Type extends RecordType>(type: Type, key: string): Promise<RowOf<Type> | undefined>
  find(type: SomeType, key: string): Promise<Row | undefined>
  find(type: string, key: string): Promise<Row | undefined> {
    return this.#mirror.find(type, key)
  }

  /** The record itself, with its revision: read from the catalog, for those who change it. */
  record<Type extends RecordType>(type: Type, key: string): Promise<StoredRecord<RowOf<Type>> | undefined>
  record(type: SomeType, key: string): Promise<StoredRecord<Row> | undefined>
  async record(type: string, key: string): Promise<StoredRecord<Row> | undefined> {
    return this.catalog.record(type, key)
  }

  /** All records of a type, or those that are asked for, with their revisions: see `Records.records`. */
  records<Type extends RecordType>(type: Type, within?: RecordsWithin): Promise<StoredRecord<RowOf<Type>>[]>
  records(type: SomeType, within?: RecordsWithin): Promise<StoredRecord<Row>[]>
  records(type: string, within?: RecordsWithin): Promise<StoredRecord<Row>[]> {
    return this.catalog.records(type, within)
  }

  /** What `find` gives of a record that is in memory; nothing where one has to wait for it. */
  findNow(type: SomeType, key: string): Row | undefined {
    return this.#mirror.findNow(type, key)
  }

  /** The stored fields of a record that a request names. */
  row<Type extends RecordType>(type: Type, key: string): Promise<RowOf<Type>>
  row(type: SomeType, key: string): Promise<Row>
  async row(type: string, key: string): Promise<Row> {
    const row = await this.find(type as TypeName, key)
    if (row === undefined) throw failure('recordNotFound', { noun: this.registry.resource(type).noun })
    return row
  }

  /**
   * The stored fields of all records of a type, or of those under one parent. Types that are asked for as a whole are
   * kept in memory; those that are only asked for by parent are read.
   */
  rows<Type extends RecordType>(type: Type, parent?: string): Promise<RowOf<Type>[]>
  rows(type: SomeType, parent?: string): Promise<Row[]>
  rows(type: string, parent?: string): Promise<Row[]> {
    const known = parent === undefined ? this.#mirror.rowsNow(type) : undefined
    return known !== undefined && areWhole(known) ? Promise.resolve(known) : this.#rowsAnew(type, parent)
  }

  async #rowsAnew(type: string, parent: string | undefined): Promise<Row[]> {
    const rows = await this.shortRows(type as TypeName, parent)
    if (areWhole(rows)) return rows
    const whole: Row[] = []
    for await (const some of wholeRows(this, this.registry.resource(type), rows, 'all')) {
      whole.push(...some.map(({ row }) => row))
    }
    return whole
  }

  /** How many records a type has. It is kept in memory from then on, as by `rows`. */
  count(type: SomeType): Promise<number> {
    return this.#mirror.count(type)
  }

  /**
   * The same rows, of which long ones may lack their long values (see `long-values.ts`), but never what names them, orders
   * them or refers to others: all of a collection in memory are to be these.
   */
  shortRows<Type extends RecordType>(type: Type, parent?: string): Promise<RowOf<Type>[]>
  shortRows(type: SomeType, parent?: string): Promise<Row[]>
  async shortRows(type: string, parent?: string): Promise<Row[]> {
    if (parent === undefined || this.#mirror.holds(type)) return this.#mirror.rows(type, parent)
    const rows: Row[] = []
    const { shorten } = this.#keeping(type)
    for await (const page of recordPages(this.catalog, type, parent)) {
      rows.push(...page.map(({ body }) => shorten(body as Row)))
    }
    return rows
  }

  /** The same rows, long or short, some at a time: those that are read are not all in memory at once. */
  rowPages<Type extends RecordType>(type: Type, parent?: string): AsyncGenerator<readonly RowOf<Type>[], void, void>
  rowPages(type: SomeType, parent?: string): AsyncGenerator<readonly Row[], void, void>
  async *rowPages(type: string, parent?: string): AsyncGenerator<readonly Row[], void, void> {
    if (parent === undefined || this.#mirror.holds(type)) {
      yield* inTurns(this.system, await this.#mirror.rows(type, parent))
      return
    }
    for await (const page of recordPages(this.catalog, type, parent)) yield page.map(({ body }) => body as Row)
  }

  /** The key of the record with this name; `within` is the value of the field that names are unique within. */
  async keyOfName(type: SomeType, name: string, within = ''): Promise<string | undefined> {
    return (await this.catalog.holder(nameScope(type), `${within}/${name}`))?.key
  }

  async volumesOf(aggregate: string): Promise<Volumes> {
    return this.#volumesOf(await this.row('storage/aggregates', aggregate))
  }

  /** The same by the record of the aggregate, be it stored yet, still, or not. */
  engineOf(aggregate: Row): Volumes {
    return this.#volumesOf(aggregate)
  }

  /** Commits; a refusal for a taken name becomes the failure that clients know. */
  async commit(changes: readonly Change[]): Promise<readonly Outcome[]> {
    try {
      return await this.catalog.commit(changes)
    } catch (failure) {
      throw failure instanceof CommitRefused ? await this.explain(failure, changes) : failure
    }
  }

  /**
   * The change that writes the record of a row: with its parent, its unique name, and without what is derived. It is
   * refused where the record is new and what it is to live under has gone meanwhile, or with `isBeforeParent` is still to
   * come; and where it names a record anew that has gone.
   */
  put(type: TypeName, row: Row, options?: PutOptions): Change
  put<Type extends RecordType>(type: Type, row: RowOf<Type>, options?: PutOptions): Change
  put(type: SomeType, row: Row, options: PutOptions = {}): Change {
    const resource = this.registry.resource(type)
    const name = row['name']
    const within = typeof resource.nameWithin === 'string' ? textOf(row[resource.nameWithin]) : ''
    const names = [...(options.isBeforeParent ? [] : namedBy(resource, row)), ...(options.names ?? [])]
    return {
      do: 'put-record',
      type,
      key: recordKey(resource, row),
      parent: resource.parent === undefined ? '' : textOf(row[resource.parent]),
      ...(resource.parentTypes.length === 0 || options.isBeforeParent ? {} : { parentTypes: resource.parentTypes }),
      ...(names.length === 0 ? {} : { names }),
      body: stored(resource, row),
      unique: {
        ...(typeof name === 'string' && resource.nameWithin !== false
          ? { [nameScope(type)]: `${within}/${name}` }
          : {}),
        ...options.unique,
      },
      ...(resource.isInSnapshots ? { isInSnapshots: true } : {}),
      ...(options.expect === undefined ? {} : { expect: options.expect }),
    }
  }

  /** The change that adds an event to the cluster's log. */
  event<Of extends AnyEvent>(of: Of, parameters: EventParameters<Of>): Change {
    const name = typeof of === 'string' ? of : of.name
    return { do: 'append-log', log: 'events', timeMs: this.now(), body: { name, ...parameters }, keep: EVENTS_KEPT }
  }

  async #isGone({ parent = '', parentTypes = [] }: PutRecord): Promise<boolean> {
    for (const type of parentTypes) if ((await this.find(type as TypeName, parent)) !== undefined) return false
    return true
  }

  /** The failure for a record that names another one which has gone. */
  async #lost({ type, body, names = [] }: PutRecord): Promise<Failure | undefined> {
    for (const named of names) {
      if ((await this.catalog.record(named.type, named.key)) !== undefined) continue
      const naming = this.registry
        .resource(type)
        .within.find((one) => one.type === named.type && one.keys(body).includes(named.key))
      return noSuch(this, named.type, naming?.path ?? '', named.key.slice(named.key.lastIndexOf('/') + 1))
    }
    return undefined
  }

  /** Of what is no resource there is no order, and nothing is left out. */
  #keeping(type: string): Keeping {
    const resource = this.behaviours.get(type)?.resource
    if (resource === undefined) return { order: rowOrder([]), shorten: (row) => row }
    const kept = placingPaths(resource)
    return { order: rowOrder(identityPaths(resource)), shorten: (row) => shortened(row, kept, SHARED_ROW_CHARACTERS) }
  }

  /** The failure that clients know for a refused commit. */
  async explain(refused: CommitRefused, changes: readonly Change[]): Promise<Failure> {
    const change = changes[refused.change]
    const type = change !== undefined && 'type' in change ? change.type : undefined
    const noun = type === undefined ? 'object' : (this.behaviours.get(type)?.resource.noun ?? 'object')
    const orphan = orphanOf(refused, changes)
    const isOrphan = orphan !== undefined && (refused.reason === 'missing' || (await this.#isGone(orphan)))
    if (isOrphan) return noParent(this, orphan.type, orphan.parent ?? '')
    const lost = change?.do === 'put-record' && refused.scope === 'reference' ? await this.#lost(change) : undefined
    if (lost !== undefined) return lost
    // Of what is looked for below another record, one that is there is in the way.
    if (change?.do === 'check-childless') return failure('childrenRemain', { noun })
    if (refused.reason === 'full' && refused.scope === 'aggregate') return failure('aggregateSizesOverLimit')
    switch (refused.reason) {
      case 'taken':
      case 'exists':
        return failure('recordNameTaken', {
          noun,
          field: refused.scope.endsWith(':name') ? 'name' : refused.scope || 'name',
        })
      case 'stale':
        return failure('recordChanged', { noun }, { cause: refused })
      case 'missing':
        return failure('recordNotFound', { noun })
      case 'not-empty':
        return failure('recordNotEmpty', { noun })
      case 'restoring':
        return failure('volumeBeingRestored')
      case 'read-only':
        return failure('dataProtected')
      case 'no-space':
        return failure('catalogDiskFull', {}, { cause: refused })
      case 'moved':
        return failure('volumeMoved')
      case 'full':
      case 'condition':
      case 'absent':
      case 'too-large':
      case 'parts':
      case 'locked':
        return failure(
          'recordRefuses',
          { noun, reason: refused.reason },
          { target: refused.scope === '' ? undefined : refused.scope },
        )
    }
  }
}

type PutRecord = Extract<Change, { do: 'put-record' }>

/**
 * The record that was to live under something which is not there, or is not as it was. It need not be the change that was
 * refused: others of the commit that are about its parent may come before it.
 */
function orphanOf({ reason, scope, change }: CommitRefused, changes: readonly Change[]): PutRecord | undefined {
  const met = changes[change]
  if (met?.do === 'put-record') return reason === 'missing' && scope === 'parent' ? met : undefined
  if (met === undefined || (reason !== 'missing' && reason !== 'stale')) return undefined
  const parents = new Set([
    ...('volume' in met ? [met.volume] : []),
    ...('bucket' in met ? [met.bucket] : []),
    ...(met.do === 'check-record' ? [met.key] : []),
  ])
  return changes.find(
    (one): one is PutRecord =>
      one.do === 'put-record' && one.parentTypes !== undefined && parents.has(one.parent ?? ''),
  )
}

/** The records that a row names and that have to be there, beside its parent. */
function namedBy({ within }: Resource, row: Row): { type: string; key: string }[] {
  return within
    .filter(({ isLoose, isParent }) => isLoose !== true && !isParent)
    .flatMap(({ type, keys }) => keys(row).map((key) => ({ type, key })))
}

/** Alone on a catalog, every claim of an earlier process is this node's own. */
const ONLY_NODE = 'only'

function backgroundOf({ catalog, system, log }: ClusterParts, self: Incarnation): Background {
  return new Background({ clock: system.clock, log, claims: new TaskClaims(catalog, system.clock, self) })
}

function behavioursAt({ behaviours, release }: ClusterParts): ReadonlyMap<string, Behaviour> {
  return new Map(
    [...behaviours].map(([type, behaviour]) => [
      type,
      { ...behaviour, resource: resourceAt(behaviour.resource, release) },
    ]),
  )
}

function withCommit(catalog: Catalog, commit: Catalog['commit']): Catalog {
  return new Proxy(catalog, {
    get(target, name: keyof Catalog) {
      return name === 'commit' ? commit : target[name].bind(target)
    },
  })
}

const NO_MACHINE: Machine = {
  ports: () => Promise.resolve([]),
  processors: () => ({ busyMs: 0, wholeMs: 0 }),
  facts: () => Promise.resolve({ processors: 0, memoryBytes: 0 }),
}

const noCertificates: Certificates = {
  makeSelfSigned: () => Promise.reject(failure('certificatesUnavailable')),
  makeSigningRequest: () => Promise.reject(failure('signingRequestsUnavailable')),
  read: () => undefined,
  isKeyOf: () => undefined,
}

export const EVENTS_KEPT = 100_000
export const AUDIT_KEPT = 100_000

/** Set in a record that was made for another one, and comes with it: the other's key. A volume for a bucket has it. */
export const MADE_FOR = '$madeFor'
/** Set in a record that every cluster comes with. */
export const BUILT_IN = '$isBuiltIn'
