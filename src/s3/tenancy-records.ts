import { beforeOf, placeOf } from '../storage/tree-of.ts'
import type { TreePlace } from '../storage/tree-of.ts'
import type { Fields, FieldValue, SnapshotAt } from '../ports/catalog.ts'
import { readSettings } from './bucket-settings.ts'
import type { BucketSettings } from './bucket-settings.ts'
import type { VersioningState } from './config/versioning.ts'
import { statementOfRow } from './policy/statement-rows.ts'
import type { Statement } from './policy/statements.ts'
import { objectBytesDefault } from './objects/limits.ts'
import type { Storing } from './objects/storing.ts'
import { field, list, number, text } from './record-values.ts'

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
} as const

/** Of a user or group that took a name which another had: the revision at which that one gave it up. */
export const meantSince = '$meantSince'
/** Of what names users or groups: the revision at which the names were set. Without it, before all others. */
export const namesAt = '$namesAt'

export const accessKeyScope = 's3:access-key'
export const bucketNameScope = `${recordTypes.buckets}:name`
export const snapshotNameScope = `${recordTypes.snapshots}:name`
export const bucketSnapshotNameScope = `${recordTypes.bucketSnapshots}:name`

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

export function readServer(body: Fields): Server {
  return {
    uuid: text(body['uuid']),
    name: text(body['name']),
    svm: text(body['svm.uuid']),
    isEnabled: body['enabled'] !== false,
    isVirtualHosted: body['bucket_endpoint_style'] === 'virtual_hosted_style',
    policy: text(body['policy.name']),
    certificate: text(body['certificate.uuid']),
    objectBytesMax: number(body['object_size_max']) ?? objectBytesDefault,
    httpPort: body['is_http_enabled'] === false ? undefined : number(body['port']),
    httpsPort: body['is_https_enabled'] === false ? undefined : number(body['secure_port']),
  }
}

/** What a listing of buckets shows of one: all of their settings in memory would be very much. */
export type ListedBucket = Pick<Bucket, 'name' | 'createdMs'>

export function listedBucket(body: Fields): ListedBucket {
  return { name: text(body['name']), createdMs: number(body['create_time']) ?? 0 }
}

export function readBucket(body: Fields): Bucket {
  const name = text(body['name'])
  const policyText = body['$policy']
  return {
    uuid: text(body['uuid']),
    name,
    svm: text(body['svm.uuid']),
    server: text(body['server.uuid']),
    volume: text(body['volume.uuid']),
    policy: text(body['policy.name']),
    statements: readStatements(body['policy.statements'], [name, `${name}/*`]),
    statementsAt: number(body[namesAt]) ?? 0,
    policyText: typeof policyText === 'string' ? policyText : undefined,
    createdMs: number(body['create_time']) ?? 0,
    versioning: versioningOf(text(body['versioning_state'])),
    settings: readSettings(body),
    sizeBytes: number(body['size']) ?? 0,
    qosPolicy: text(body['qos_policy.uuid']),
  }
}

function versioningOf(state: string): VersioningState {
  return state === 'enabled' || state === 'suspended' ? state : 'unversioned'
}

export function readVolume(body: Fields): Volume {
  return {
    here: placeOf(body),
    before: beforeOf(body),
    isOnline: body['state'] !== 'offline' && body['state'] !== 'restricted',
    isReadOnly: body['type'] === 'dp' || body['type'] === 'ls',
    sizeBytes: number(body['size']) ?? 0,
    storing: readStoring(body),
    mayPack: readMayPack(body),
    hasQuotas: body['quota.enabled'] === true,
    growsToBytes: text(body['autosize.mode']).startsWith('grow') ? number(body['autosize.maximum']) : undefined,
    qosPolicy: text(body['qos.policy.uuid']),
  }
}

function readStoring(body: Fields): Storing | undefined {
  const [compression, dedupe] = [text(body['efficiency.compression']), text(body['efficiency.dedupe'])]
  const isInline = (when: string) => when === 'inline' || when === 'both'
  const keepDigest = isInline(dedupe) || dedupe === 'background'
  const storing = { compress: isInline(compression), keepDigest, findTwin: isInline(dedupe) }
  return storing.compress || storing.keepDigest ? storing : undefined
}

function readMayPack(body: Fields): boolean {
  const [compression, dedupe] = [text(body['efficiency.compression']), text(body['efficiency.dedupe'])]
  return compression !== 'background' && (dedupe === '' || dedupe === 'none')
}

export function readGroup(body: Fields): Group {
  const names = (value: FieldValue | undefined): string[] => list(value).map((one) => text(field(one, 'name')))
  return {
    name: text(body['name']),
    users: names(body['users']),
    policies: names(body['policies']),
    since: number(body[meantSince]),
    usersAt: number(body[namesAt]) ?? 0,
  }
}

/** Statements without resources are about everything their policy can reach. */
export function readStatements(value: FieldValue | undefined, everything: readonly string[]): Statement[] {
  return list(value).map((one) => statementOfRow(one, everything))
}
