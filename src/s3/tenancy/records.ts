import type { TreePlace } from '../../storage/tree-of.ts'
import { meantSince, namesAt } from '../../records/namesakes.ts'
import { nameScope } from '../../model/name-scope.ts'
import type { RecordType } from '../../model/rows.ts'
import { replicaTypes } from '../../records/volume-types.ts'
import type { SnapshotAt } from '../../ports/catalog.ts'
import type { KeptBucket, StoredBucket } from '../../records/bucket-notes.ts'
import {
  findMember,
  findNumber,
  findText,
  findWord,
  is,
  list,
  type Stored,
  type StoredRow,
  text,
} from '../../records/stored.ts'
import { readSettings } from './bucket-settings.ts'
import type { BucketSettings } from './bucket-settings.ts'
import type { VersioningState } from '../config/versioning.ts'
import { statementOfRow } from '../../records/statements.ts'
import type { Statement } from '../../records/statements.ts'
import { objectBytesDefault } from '../../records/object-servers.ts'
import type { Storing } from '../objects/storing.ts'

/** The types of the records that the object store reads. Any change to one of them makes it look again. */
export const recordTypes = {
  svms: 'svm/svms',
  aggregates: 'storage/aggregates',
  interfaces: 'network/ip/interfaces',
  volumes: 'storage/volumes',
  servers: 'protocols/s3/services',
  buckets: 'protocols/s3/buckets',
  users: 'protocols/s3/services/{svm.uuid}/users',
  groups: 'protocols/s3/services/{svm.uuid}/groups',
  policies: 'protocols/s3/services/{svm.uuid}/policies',
  qosPolicies: 'storage/qos/policies',
  snapshots: 'storage/volumes/{volume.uuid}/snapshots',
  damage: 'private/damaged-objects',
  bucketSnapshots: 'protocols/s3/services/{svm.uuid}/buckets/{s3_bucket.uuid}/snapshots',
} as const satisfies Readonly<Record<string, RecordType>>

export const bucketNameScope = nameScope(recordTypes.buckets)
export const snapshotNameScope = nameScope(recordTypes.snapshots)
export const bucketSnapshotNameScope = nameScope(recordTypes.bucketSnapshots)

export interface User {
  readonly name: string
  readonly svm: string
  readonly secret: string
  /** When its keys are of use no more, if they have a time to live. */
  readonly expiresMs: number | undefined
  /** As in `meantSince`. */
  readonly since: number | undefined
}

export interface Server {
  readonly uuid: string
  readonly name: string
  readonly svm: string
  readonly isEnabled: boolean
  readonly isVirtualHosted: boolean
  readonly policy: string
  /** UUID of the certificate that it shows; '' for that of the cluster. */
  readonly certificate: string
  /** The most bytes an object may have. */
  readonly objectBytesMax: number
  /** Ports of the record: absent where it does not serve that way. */
  readonly httpPort: number | undefined
  readonly httpsPort: number | undefined
}

export interface Bucket {
  readonly uuid: string
  readonly name: string
  /** Set where it is shown as a snapshot of it or of its volume has it; `name` is then the name it is shown by. */
  readonly snapshot?: { readonly of: string; readonly at: SnapshotAt }
  readonly svm: string
  readonly server: string
  readonly volume: string
  readonly policy: string
  readonly statements: readonly Statement[]
  /** As in `namesAt`, of the statements. */
  readonly statementsAt: number
  /** The policy as S3 was given it, while nobody has changed the statements another way since. */
  readonly policyText: string | undefined
  readonly createdMs: number
  readonly versioning: VersioningState
  readonly settings: BucketSettings
  readonly sizeBytes: number
  /** UUID of its QoS policy, '' without. */
  readonly qosPolicy: string
}

export interface Volume {
  readonly sizeBytes: number
  /** The size up to which it grows by itself, if it does. */
  readonly growsToBytes: number | undefined
  /** How new blobs are stored in less, if they are. */
  readonly storing: Storing | undefined
  /** Nothing is to be done with its small blobs later that needs a file of each. */
  readonly mayPack: boolean
  /** Its quotas are on. */
  readonly hasQuotas: boolean
  /** UUID of its QoS policy, '' without. */
  readonly qosPolicy: string
  /** Where its blobs are. */
  readonly here: TreePlace
  /** Where those still are that it had before it was moved here, as long as they are not all here. */
  readonly before: TreePlace | undefined
  readonly isOnline: boolean
  /** Only replication changes what it holds. */
  readonly isReadOnly: boolean
}

export interface Group {
  readonly name: string
  readonly users: readonly string[]
  readonly policies: readonly string[]
  /** As in `meantSince` and `namesAt`. */
  readonly since: number | undefined
  readonly usersAt: number
}

export function readServer(server: StoredRow<typeof recordTypes.servers>): Server {
  return {
    uuid: text(server, 'uuid'),
    name: text(server, 'name'),
    svm: text(server, 'svm.uuid'),
    isEnabled: !is(server, 'enabled', false),
    isVirtualHosted: is(server, 'bucket_endpoint_style', 'virtual_hosted_style'),
    policy: text(server, 'policy.name'),
    certificate: text(server, 'certificate.uuid'),
    objectBytesMax: findNumber(server, 'object_size_max') ?? objectBytesDefault,
    httpPort: is(server, 'is_http_enabled', false) ? undefined : findNumber(server, 'port'),
    httpsPort: is(server, 'is_https_enabled', false) ? undefined : findNumber(server, 'secure_port'),
  }
}

/** What a listing of buckets shows of one: all of their settings in memory would be very much. */
export type ListedBucket = Pick<Bucket, 'name' | 'createdMs'>

export function listedBucket(bucket: StoredBucket): ListedBucket {
  return { name: text(bucket, 'name'), createdMs: findNumber(bucket, 'create_time') ?? 0 }
}

export function readBucket(bucket: StoredBucket): Bucket {
  const name = text(bucket, 'name')
  return {
    uuid: text(bucket, 'uuid'),
    name,
    svm: text(bucket, 'svm.uuid'),
    server: text(bucket, 'server.uuid'),
    volume: text(bucket, 'volume.uuid'),
    policy: text(bucket, 'policy.name'),
    statements: readStatements(list(bucket, 'policy.statements'), [name, `${name}/*`]),
    statementsAt: findNumber(bucket, namesAt) ?? 0,
    policyText: findText(bucket, '$policy'),
    createdMs: findNumber(bucket, 'create_time') ?? 0,
    versioning: findWord(bucket, 'versioning_state', ['enabled', 'suspended']) ?? 'unversioned',
    settings: readSettings(bucket),
    sizeBytes: findNumber(bucket, 'size') ?? 0,
    qosPolicy: text(bucket, 'qos_policy.uuid'),
  }
}

type StoredVolume = StoredRow<typeof recordTypes.volumes>

function readPlace(place: Stored<TreePlace> | undefined): TreePlace | undefined {
  return place === undefined ? undefined : { aggregate: text(place, 'aggregate'), tree: text(place, 'tree') }
}

export function readVolume(volume: StoredVolume): Volume {
  return {
    here: {
      aggregate: list(volume, 'aggregates').map((one) => text(one, 'uuid'))[0] ?? '',
      tree: text(volume, '$tree') || text(volume, 'uuid'),
    },
    before: readPlace(findMember(volume, '$before')),
    isOnline: findWord(volume, 'state', ['offline', 'restricted']) === undefined,
    isReadOnly: findWord(volume, 'type', replicaTypes) !== undefined,
    sizeBytes: findNumber(volume, 'size') ?? 0,
    storing: readStoring(volume),
    mayPack: readMayPack(volume),
    hasQuotas: is(volume, 'quota.enabled', true),
    growsToBytes:
      findWord(volume, 'autosize.mode', ['grow', 'grow_shrink']) === undefined
        ? undefined
        : findNumber(volume, 'autosize.maximum'),
    qosPolicy: text(volume, 'qos.policy.uuid'),
  }
}

function readStoring(volume: StoredVolume): Storing | undefined {
  const findTwin = findWord(volume, 'efficiency.dedupe', ['inline', 'both']) !== undefined
  const storing = {
    compress: findWord(volume, 'efficiency.compression', ['inline', 'both']) !== undefined,
    keepDigest: findTwin || is(volume, 'efficiency.dedupe', 'background'),
    findTwin,
  }
  return storing.compress || storing.keepDigest ? storing : undefined
}

function readMayPack(volume: StoredVolume): boolean {
  const dedupe = findText(volume, 'efficiency.dedupe') ?? 'none'
  return !is(volume, 'efficiency.compression', 'background') && dedupe === 'none'
}

export function readGroup(group: StoredRow<typeof recordTypes.groups>): Group {
  const names = (named: readonly Stored<{ readonly name: string }>[]): string[] => named.map((one) => text(one, 'name'))
  return {
    name: text(group, 'name'),
    users: names(list(group, 'users')),
    policies: names(list(group, 'policies')),
    since: findNumber(group, meantSince),
    usersAt: findNumber(group, namesAt) ?? 0,
  }
}

type StatementRows = readonly Stored<NonNullable<KeptBucket['policy.statements']>[number]>[]

/** Statements without resources are about everything their policy can reach. */
export function readStatements(rows: StatementRows, everything: readonly string[]): Statement[] {
  return rows.map((row) => statementOfRow(row, everything))
}
