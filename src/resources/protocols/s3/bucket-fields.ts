import { type Fields, groups } from '../../../model/resource.ts'
import { usual } from '../../usual.ts'
import { bytes, count, flag, name, oneOf, only, text, time, uuid } from '../../../model/kinds/index.ts'
import { corsKind } from './cors.ts'
import { periodKind } from './retention.ts'
import { rulesKind } from './rules.ts'
import { RULES } from '../../../records/lifecycle-rules.ts'
import { statementsKind } from './statements.ts'

/** 100 TB: the specification, section 8. */
export const BUCKET_BYTES_MAX = 100 * 2 ** 40

/** What a bucket gets that is made without a size: 10 TB (the specification, section 8). */
export const BUCKET_BYTES_DEFAULT = 10 * 2 ** 40

/** Where a volume is made for a bucket that names none. */
export const aggregatesField = {
  aggregates: {
    doc: 'The aggregate in which a volume for the bucket is created. Default: the aggregate with the most free space.',
    refs: 'storage/aggregates',
    set: 'create',
    isInput: true,
  },
} as const satisfies Fields

const PROTECTION = 'protection_status'

const protectionFields = {
  [`${PROTECTION}.is_protected`]: {
    doc: 'Whether the bucket is replicated. Always false.',
    kind: flag(),
    since: '9.10.1',
  },
  [`${PROTECTION}.destination.is_ontap`]: {
    doc: 'Whether the bucket is replicated to another cluster. Always false.',
    kind: flag(),
    since: '9.10.1',
  },
  [`${PROTECTION}.destination.is_cloud`]: {
    doc: 'Whether the bucket is replicated to a cloud store. Always false.',
    kind: flag(),
    since: '9.10.1',
  },
} as const satisfies Fields

/** What is so of every bucket. */
export const bucketUsual = usual({
  'encryption.enabled': false,
  [`${PROTECTION}.is_protected`]: false,
  [`${PROTECTION}.destination.is_ontap`]: false,
  [`${PROTECTION}.destination.is_cloud`]: false,
})

/** What lists and forms show of buckets. */
export const bucketFaces = {
  columns: ['name', 'svm.name', 'volume.name', 'logical_used_size', 'size', 'object_count', 'versioning_state'],
  form: {
    Bucket: ['name', 'svm.name', 'volume.name', 'size', 'comment'],
    Protection: ['versioning_state', 'retention.mode', 'retention.default_period', 'snapshot_policy.name'],
    Performance: ['qos_policy.name'],
    Access: ['policy.statements', 'cors.rules'],
    Lifecycle: [RULES],
  },
  // A bucket goes when it is empty, and no other way.
  removal: 'undoable',
} as const

/** The fields of a bucket: the same rows are shown at two paths. */
export function bucketFields(options: { readonly volumeIsRequired: boolean }) {
  return {
    uuid: { doc: 'The UUID of the bucket.', kind: uuid() },
    ...groups({
      [PROTECTION]: 'Whether the bucket is replicated.',
      [`${PROTECTION}.destination`]: 'Where the bucket is replicated to.',
      lifecycle_management: 'When objects of the bucket expire.',
    }),
    name: {
      doc: 'The name of the bucket, unique within its SVM. A bucket cannot be renamed: a change may only repeat the name.',
      kind: name({
        charactersMin: 3,
        charactersMax: 63,
        pattern: /^(?!\d+\.\d+\.\d+\.\d+$)(?!.*\.\.)[a-z0-9][a-z0-9.-]*[a-z0-9]$/,
        patternDoc: 'lower-case letters, digits, "." and "-", beginning and ending with a letter or digit',
      }),
      set: 'always',
      required: true,
    },
    svm: { doc: 'The SVM of the bucket.', ref: 'svm/svms', set: 'create', required: true },
    server: { doc: 'The object store server of the bucket.', ref: 'protocols/s3/services' },
    volume: {
      doc: 'The volume that stores the bucket: one of the data volumes of the server.',
      ref: 'storage/volumes',
      set: 'create',
      required: options.volumeIsRequired,
    },
    size: {
      doc: 'The maximum number of bytes in the bucket. The size cannot be set below the bytes in use.',
      kind: bytes({ min: 1, max: BUCKET_BYTES_MAX }),
      set: 'always',
      required: true,
    },
    logical_used_size: { doc: 'Bytes used by objects and by parts of open uploads.', kind: bytes() },
    object_count: { doc: 'The number of objects in the bucket.', kind: count() },
    versioning_state: {
      danger: 'irreversible',
      doc: 'Whether replaced and deleted objects are kept as versions. Once enabled, versioning can only be suspended.',
      kind: oneOf({
        disabled: 'Replaced and deleted objects are lost.',
        enabled: 'Replaced and deleted objects are kept as versions.',
        suspended: 'Existing versions are kept, and no further ones are made.',
      }),
      set: 'always',
      default: 'disabled',
      since: '9.11.1',
    },
    comment: { doc: 'A comment that describes the bucket.', kind: text({ charactersMax: 256 }), set: 'always' },
    type: {
      doc: 'The type of the bucket. Always `s3`.',
      kind: oneOf({ s3: 'A bucket of objects.' }),
      set: 'create',
      default: 's3',
      since: '9.12.1',
    },
    nas_path: {
      doc: 'The path of the files of a NAS bucket. Not set, as there are no NAS buckets.',
      kind: text(),
      since: '9.12.1',
    },
    qos_policy: {
      doc: 'The QoS policy that limits the throughput of the bucket.',
      ref: 'storage/qos/policies',
      noneName: 'none',
      set: 'always',
      since: '9.8',
    },
    snapshot_policy: {
      doc: 'The policy that takes snapshots of the bucket alone. Without one, only the volume has snapshots.',
      ref: 'storage/snapshot-policies',
      set: 'always',
      since: '9.16.1',
    },
    encryption: { doc: 'Encryption of the bucket.', isGroup: true },
    'encryption.enabled': {
      doc: 'Whether the bucket is encrypted. Always false: encrypt the disk below the aggregate.',
      kind: only(false, flag(), 'buckets are not encrypted. Encrypt the disk that the aggregate lies on.'),
      set: 'always',
    },
    ...protectionFields,
    create_time: { doc: 'When the bucket was created.', kind: time() },
    policy: { doc: 'The access policy of the bucket.', isGroup: true },
    'policy.name': {
      doc: 'A policy of the SVM whose statements apply to all requests to the bucket.',
      kind: text({ charactersMax: 128 }),
      set: 'always',
      default: 'default',
    },
    'policy.statements': {
      danger: 'disruptive',
      doc: 'The statements of the bucket policy: who may do what with the bucket. An empty list removes the policy.',
      kind: statementsKind(),
      set: 'always',
    },
    retention: { doc: 'The default retention of new objects in the bucket.', isGroup: true },
    'retention.mode': {
      danger: 'irreversible',
      doc: 'How new objects without a retention of their own are locked. A mode other than `no_lock` turns object lock on.',
      kind: oneOf({
        no_lock: 'Objects are not locked.',
        compliance: 'Nobody can delete a locked version before its time.',
        governance: 'Only users with a special permission can delete a locked version before its time.',
      }),
      set: 'always',
      default: 'no_lock',
      since: '9.14.1',
    },
    'retention.default_period': {
      when: { field: 'retention.mode', is: ['compliance', 'governance'] },
      doc: 'How long new objects are locked: up to 36500 days (`P30D`) or 100 years (`P7Y`).',
      kind: periodKind(),
      set: 'always',
      since: '9.14.1',
    },
    [RULES]: {
      doc: 'The lifecycle rules of the bucket, which remove old objects. An empty list removes all rules.',
      kind: rulesKind(),
      set: 'always',
      since: '9.13.1',
    },
    cors: { doc: 'Which web origins may use the bucket.', isGroup: true },
    'cors.rules': {
      doc: 'The CORS rules of the bucket, which allow requests from web pages of other origins. An empty list removes all rules.',
      kind: corsKind(),
      set: 'always',
      since: '9.16.1',
    },
    audit_event_selector: { doc: 'Which requests to the bucket are audited.', isGroup: true },
    'audit_event_selector.access': {
      doc: 'Which accesses are audited. Stored without effect.',
      kind: oneOf({ read: 'Reads.', write: 'Writes.', all: 'Reads and writes.', none: 'No accesses.' }),
      set: 'always',
      since: '9.10.1',
    },
    'audit_event_selector.permission': {
      doc: 'Which results of requests are audited. Stored without effect.',
      kind: oneOf({
        deny: 'Refused requests.',
        allow: 'Allowed requests.',
        all: 'All requests.',
        none: 'No requests.',
      }),
      set: 'always',
      since: '9.10.1',
    },
  } as const satisfies Fields
}
