import { DAMAGED_BLOBS } from '../../storage/damage.ts'
import { recordPages } from '../../core/read/record-pages.ts'
import type { Charged } from '../../core/qos/ledger.ts'
import type { ObjectIndex, Records, SnapshotRow, VolumeIndex } from '../../ports/catalog.ts'
import type { Volumes } from '../../ports/volumes.ts'
import { BoundedMap } from './bounded-map.ts'
import type { IsDamaged } from '../objects/store.ts'
import type { Lookup } from '../policy/pattern.ts'
import { combineDecisions, compilePolicy, conditionKeysOf, isPublicPolicy } from '../policy/statements.ts'
import type { Decision, Policy, Principal } from '../policy/statements.ts'
import type { Statement } from '../../records/statements.ts'
import { splitSnapshotName } from '../request/keys.ts'
import { floorOf, limitOf, readQosPolicy } from '../qos/limits.ts'
import type { QosAssignment } from '../qos/limits.ts'
import { accessKeyScope, sealedSecret } from '../../records/access-keys.ts'
import { findNumber, findText, is, list, storedRow, text } from '../../records/stored.ts'
import { findHolder, findRow, findRows } from './stored-rows.ts'
import {
  bucketSnapshotNameScope,
  bucketNameScope,
  listedBucket,
  readBucket,
  readGroup,
  readServer,
  readStatements,
  readVolume,
  snapshotNameScope,
  recordTypes,
} from './records.ts'
import { meantSince, namesAt } from '../../records/namesakes.ts'
import type { Bucket, Group, ListedBucket, Server, User, Volume } from './records.ts'

/**
 * Who may do what with which bucket, from the records of the cluster. Every request takes a view and asks it alone. A view
 * remembers what it has read and is thrown away when a record it may rest on has changed, which one cheap read for each
 * request finds out: so a changed policy, key or state holds from the next request on.
 */
export class Tenancy {
  readonly #catalog: TenancyIndex
  readonly #unseal: (sealed: string) => string
  #view: TenancyView | undefined
  #revision = -1

  constructor(catalog: TenancyIndex, unseal: (sealed: string) => string) {
    this.#catalog = catalog
    this.#unseal = unseal
  }

  async view(): Promise<TenancyView> {
    const revision = await this.#catalog.revision()
    if (this.#view !== undefined && revision <= this.#revision) return this.#view
    if (this.#view === undefined || (await this.#hasChanged())) {
      this.#view = new TenancyView(this.#catalog, this.#unseal)
    }
    // Whatever changes from here on has a higher revision, and is noticed by the next request.
    this.#revision = Math.max(revision, this.#revision)
    return this.#view
  }

  /** Records of other types, such as jobs, are written all the time. */
  async #hasChanged(): Promise<boolean> {
    const changes = await this.#catalog.changes(this.#revision, changesMax)
    return changes === undefined || changes.length >= changesMax || changes.some(({ type }) => watchedTypes.has(type))
  }
}

const changesMax = 100
const watchedTypes: ReadonlySet<string> = new Set(Object.values(recordTypes))

/** Of a bucket that no QoS policy is about. */
const unpoliced: Charged = { limits: [], floors: [] }

/** Entries a view remembers of each sort. */
const entriesMax = 10_000

/** Who asks: nobody in particular, or a user. */
export type Caller = User | undefined

/** Who asks, and of which server and bucket. */
export interface Asker {
  readonly caller: Caller
  readonly server: Server
  readonly bucket: Bucket | undefined
}

/** What it reads of the catalog: records, and what volumes and buckets hold. */
type TenancyIndex = Records & VolumeIndex & Pick<ObjectIndex, 'bucket'>

export class TenancyView {
  readonly #catalog: TenancyIndex
  readonly #unseal: (sealed: string) => string
  readonly #users = new BoundedMap<User | undefined>(entriesMax)
  readonly #buckets = new BoundedMap<Bucket | undefined>(entriesMax)
  readonly #volumes = new BoundedMap<Volume | undefined>(entriesMax)
  readonly #damaged = new BoundedMap<boolean>(entriesMax)
  readonly #svms = new BoundedMap<boolean>(entriesMax)
  readonly #servers = new BoundedMap<readonly Server[]>(entriesMax)
  readonly #bucketLists = new BoundedMap<readonly ListedBucket[]>(100)
  readonly #memberships = new BoundedMap<Membership>(entriesMax)
  readonly #statements = new BoundedMap<SetStatements>(entriesMax)
  readonly #rules = new BoundedMap<Rules>(entriesMax)
  readonly #assignments = new BoundedMap<readonly QosAssignment[]>(entriesMax)
  readonly #engines = new BoundedMap<Volumes>(entriesMax)

  constructor(catalog: TenancyIndex, unseal: (sealed: string) => string) {
    this.#catalog = catalog
    this.#unseal = unseal
  }

  /** The user of an access key, of whatever SVM: keys are unique in the cluster and work with all its servers. */
  user(accessKey: string): Promise<User | undefined> {
    return this.#users.get(accessKey, async () => {
      const user = await findHolder(this.#catalog, recordTypes.users, accessKeyScope, accessKey)
      if (user === undefined) return undefined
      const sealed = findText(user, sealedSecret)
      if (sealed === undefined) return undefined
      return {
        name: text(user, 'name'),
        svm: text(user, 'svm.uuid'),
        secret: this.#unseal(sealed),
        expiresMs: findNumber(user, 'key_expiry_time'),
        since: findNumber(user, meantSince),
      }
    })
  }

  /** The same, unless its keys are of use no more. */
  async userAt(accessKey: string, nowMs: number): Promise<User | undefined> {
    const user = await this.user(accessKey)
    return user?.expiresMs !== undefined && user.expiresMs <= nowMs ? undefined : user
  }

  isRunning(svm: string): Promise<boolean> {
    return this.#svms.get(svm, async () => {
      const row = await findRow(this.#catalog, recordTypes.svms, svm)
      return row !== undefined && !is(row, 'state', 'stopped')
    })
  }

  /** The servers of an SVM, ordered by name. */
  servers(svm: string): Promise<readonly Server[]> {
    return this.#servers.get(svm, async () => {
      const rows = await findRows(this.#catalog, recordTypes.servers, { parent: svm })
      return rows.map(readServer).toSorted((a, b) => (a.name < b.name ? -1 : 1))
    })
  }

  bucket(svm: string, name: string): Promise<Bucket | undefined> {
    return this.#buckets.get(`${svm}/${name}`, async () => {
      const row = await findHolder(this.#catalog, recordTypes.buckets, bucketNameScope, `${svm}/${name}`)
      return row === undefined ? this.#snapshotBucket(svm, name) : readBucket(row)
    })
  }

  /** `papers-s3snap-before`: what the bucket `papers` had when its snapshot `before`, or that of its volume, was taken. */
  async #snapshotBucket(svm: string, name: string): Promise<Bucket | undefined> {
    const parts = splitSnapshotName(name)
    if (parts === undefined) return undefined
    const bucket = await this.bucket(svm, parts.bucket)
    if (bucket === undefined || bucket.snapshot !== undefined) return undefined
    const row =
      (await this.#ownSnapshot(bucket, parts.snapshot)) ?? (await this.#volumeSnapshot(bucket, parts.snapshot))
    // A bucket that was made later is not in it.
    if (row === undefined || row.createdMs < bucket.createdMs) return undefined
    return { ...bucket, name, snapshot: { of: bucket.name, at: { epoch: row.epoch } } }
  }

  async #ownSnapshot({ volume, uuid }: Bucket, name: string): Promise<SnapshotRow | undefined> {
    const holder = await this.#catalog.holder(bucketSnapshotNameScope, `${uuid}/${name}`)
    if (holder === undefined) return undefined
    const rows = await this.#catalog.bucketSnapshots(volume, uuid)
    return rows.find(({ snapshot }) => snapshot === holder.key)
  }

  async #volumeSnapshot({ volume }: Bucket, name: string): Promise<SnapshotRow | undefined> {
    const holder = await this.#catalog.holder(snapshotNameScope, `${volume}/${name}`)
    if (holder === undefined) return undefined
    const rows = await this.#catalog.snapshots(volume)
    return rows.find(({ snapshot }) => snapshot === holder.key)
  }

  /** The buckets of an SVM, ordered by name. */
  buckets(svm: string): Promise<readonly ListedBucket[]> {
    return this.#bucketLists.get(svm, async () => {
      const found: ListedBucket[] = []
      for await (const page of recordPages(this.#catalog, recordTypes.buckets)) {
        const rows = page.map(({ body }) => storedRow(recordTypes.buckets, body))
        found.push(...rows.filter((row) => is(row, 'svm.uuid', svm)).map(listedBucket))
      }
      return found.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    })
  }

  /** The ceilings and floors that hold for requests to a bucket: those of the bucket, of its volume, and of its SVM. */
  async charged(bucket: Bucket): Promise<Charged> {
    const assignments = await this.#assignments.get(bucket.uuid, () => this.#assignmentsOf(bucket))
    if (assignments.length === 0) return unpoliced
    const limits = await Promise.all(assignments.map(limitOf))
    const floors = await Promise.all(assignments.map(floorOf))
    return {
      limits: limits.filter((limit) => limit !== undefined),
      floors: floors.filter((floor) => floor !== undefined),
    }
  }

  async #assignmentsOf(bucket: Bucket): Promise<readonly QosAssignment[]> {
    const volume = await this.volume(bucket.volume)
    const svm = await findRow(this.#catalog, recordTypes.svms, bucket.svm)
    const volumeUsed = async (): Promise<number> => (await this.#catalog.volume(bucket.volume))?.usedBytes ?? 0
    const bucketUsed = async (): Promise<number> => (await this.#catalog.bucket(bucket.uuid))?.usedBytes ?? 0
    const volumeBytes = volume?.sizeBytes ?? 0
    const wanted = [
      [bucket.qosPolicy, bucket.uuid, bucket.sizeBytes, bucketUsed],
      [volume?.qosPolicy ?? '', bucket.volume, volumeBytes, volumeUsed],
      // An SVM has no size of its own: adaptive policies go by the volume that is asked for.
      [svm === undefined ? '' : text(svm, 'qos_policy.uuid'), bucket.svm, volumeBytes, volumeUsed],
    ] as const
    const assignments: QosAssignment[] = []
    for (const [uuid, object, sizeBytes, usedBytes] of wanted) {
      const row = uuid === '' ? undefined : await findRow(this.#catalog, recordTypes.qosPolicies, uuid)
      if (row !== undefined) assignments.push({ policy: readQosPolicy(row), object, sizeBytes, usedBytes })
    }
    return assignments
  }

  volume(uuid: string): Promise<Volume | undefined> {
    return this.#volumes.get(uuid, async () => {
      const row = await findRow(this.#catalog, recordTypes.volumes, uuid)
      return row === undefined ? undefined : readVolume(row)
    })
  }

  /** The engine to read blobs of an aggregate with, found by the record of the aggregate: to look it up costs more than a read. */
  readingEngine(aggregate: string, find: (aggregate: string) => Promise<Volumes>): Promise<Volumes> {
    return this.#engines.get(aggregate, () => find(aggregate))
  }

  /** Tells which blobs of a volume are known to be damaged, where any are. There may be thousands: they are not all read. */
  async damaged(volume: string): Promise<IsDamaged | undefined> {
    const hasAny = await this.#damaged.get(volume, async () => {
      const first = await this.#catalog.records(recordTypes.damage, { parent: volume, after: '', limit: 1 })
      return first.length > 0
    })
    if (!hasAny) return undefined
    return async (blob) => (await this.#catalog.holder(DAMAGED_BLOBS, `${volume}/${blob}`)) !== undefined
  }

  /**
   * What policies say of somebody doing something: only `allow` allows it. A user works with every server of the cluster, but groups and statements for "all
   * users" mean those of their own SVM: from elsewhere a user is who a statement of this server or bucket names, unless the
   * server's SVM has a user of that name itself. `resource` is a bucket, `bucket/key`, or `*` for the service. What counts together:
   * the policies of the user's groups, that of the server, that which the bucket names, and the bucket's own statements.
   * `context` is asked for only where some statement has a condition or a variable, with the keys that conditions name.
   */
  async decide(
    who: Asker,
    action: string,
    resource: string,
    context: (keys: ReadonlySet<string>) => Promise<Lookup> | Lookup,
  ): Promise<{ readonly decision: Decision; readonly hasGroups: boolean }> {
    const { policies, keys, hasGroups } = await this.#rulesOf(who)
    const lookup = keys.size === 0 ? undefined : await context(keys)
    const decision = combineDecisions(
      policies.map(({ decides, principal }) => decides(principal, action, resource, lookup)),
    )
    return { decision, hasGroups }
  }

  /** The condition keys that decisions about these may look at. */
  async conditionKeys(who: Asker): Promise<ReadonlySet<string>> {
    return (await this.#rulesOf(who)).keys
  }

  #rulesOf({ caller, server, bucket }: Asker): Promise<Rules> {
    const userKey = caller === undefined ? '' : `${caller.svm}/${caller.name}`
    return this.#rules.get(`${userKey} ${server.uuid} ${bucket?.uuid ?? ''}`, async () => {
      const isOwn = caller?.svm === server.svm
      const membership = caller === undefined || !isOwn ? nobody : await this.#membership(caller)
      const name =
        caller === undefined || (!isOwn && (await this.#hasUser(server.svm, caller.name))) ? undefined : caller.name
      const lists = [
        ...membership.policies.map(({ svm, name }) => this.#policy(svm, name)),
        this.#policy(server.svm, server.policy),
        ...(bucket === undefined ? [] : [this.#policy(bucket.svm, bucket.policy)]),
      ]
      const own = { statements: bucketStatements(bucket, isOwn), at: bucket?.statementsAt ?? 0 }
      const all = [...(await Promise.all(lists)), own]
      const heard = isOwn ? all : all.map(({ statements, at }) => ({ statements: statements.filter(isForAnybody), at }))
      const principalAt = (at: number): Principal =>
        name === undefined
          ? {}
          : {
              name,
              isNamesake: isLater(caller?.since, at),
              groups: membership.groups.filter(({ since }) => !isLater(since, at)).map((group) => group.name),
            }
      return {
        policies: heard.map(({ statements, at }) => ({
          decides: compilePolicy(statements),
          principal: principalAt(at),
        })),
        hasGroups: name !== undefined && membership.groups.length > 0,
        keys: conditionKeysOf(heard.flatMap(({ statements }) => statements)),
      }
    })
  }

  async #hasUser(svm: string, name: string): Promise<boolean> {
    return (await this.#catalog.record(recordTypes.users, `${svm}/${name}`)) !== undefined
  }

  #membership({ svm, name, since }: User): Promise<Membership> {
    return this.#memberships.get(`${svm}/${name}`, async () => {
      const rows = await findRows(this.#catalog, recordTypes.groups, { parent: svm })
      const groups = rows.map(readGroup).filter((group) => group.users.includes(name) && !isLater(since, group.usersAt))
      return {
        groups,
        policies: [...new Set(groups.flatMap((group) => group.policies))].map((policy) => ({ svm, name: policy })),
      }
    })
  }

  #policy(svm: string, name: string): Promise<SetStatements> {
    return this.#statements.get(`${svm}/${name}`, async () => {
      const row = await findRow(this.#catalog, recordTypes.policies, `${svm}/${name}`)
      if (row === undefined) return { statements: [], at: 0 }
      return { statements: readStatements(list(row, 'statements'), ['*']), at: findNumber(row, namesAt) ?? 0 }
    })
  }
}

/** Whether a user or group has its name only since after this was set: then somebody else was meant. */
function isLater(since: number | undefined, setAt: number): boolean {
  return since !== undefined && since > setAt
}

/** Statements of one policy, and the revision at which they were set. */
interface SetStatements {
  readonly statements: readonly Statement[]
  readonly at: number
}

interface Membership {
  readonly groups: readonly Group[]
  readonly policies: readonly { readonly svm: string; readonly name: string }[]
}

interface Rules {
  /** Whom each policy takes the caller for. */
  readonly policies: readonly { readonly decides: Policy; readonly principal: Principal }[]
  readonly hasGroups: boolean
  readonly keys: ReadonlySet<string>
}

const nobody: Membership = { groups: [], policies: [] }

/** A statement without principals grants to all users. Who brings no credentials is none, but may well be refused. */
function isForAnybody({ effect, principals }: Statement): boolean {
  return effect === 'deny' || principals !== undefined
}

/** With `RestrictPublicBuckets`, a policy that lets everybody in grants nothing to those from outside of the SVM. */
function bucketStatements(bucket: Bucket | undefined, isOwn: boolean): readonly Statement[] {
  if (bucket === undefined) return []
  const { statements, settings } = bucket
  const isRestricted = settings.publicAccessBlock?.restrictPublicBuckets === true && !isOwn
  return isRestricted && isPublicPolicy(statements) ? statements.filter(({ effect }) => effect === 'deny') : statements
}
