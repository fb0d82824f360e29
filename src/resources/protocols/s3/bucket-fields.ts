import type { Derivation } from '../../../core/behaviour.ts'
import { type FieldDeclaration, type Fields, groups } from '../../../model/resource.ts'
import { usual } from '../../usual.ts'
import { bytes, count, flag, name, oneOf, only, text, time, uuid } from '../../../model/kinds/index.ts'
import { corsKind } from './cors.ts'
import { periodKind } from './retention.ts'
import { RULES, rulesKind } from './rules.ts'
import { statementsKind } from './statements.ts'

/** 100 TB: the specification, section 8. */
export const BUCKET_BYTES_MAX = 100 * 2 ** 40

/** What a bucket gets that is made without a size: 10 TB (the specification, section 8). */
export const BUCKET_BYTES_DEFAULT = 10 * 2 ** 40

/** Where a volume is made for a bucket that names none. */
export const aggregatesField = {
  aggregates: {
    doc: 'The aggregate in which a volume is made for it. Without it, the one with most space.',
    refs: 'storage/aggregates',
    set: 'create',
    isOrder: true,
  },
} as const satisfies Fields

const PROTECTION = 'protection_status'

const protectionFields = {
  [`${PROTECTION}.is_protected`]: {
    doc: 'Whether it is mirrored elsewhere. It is not.',
    kind: flag(),
    since: '9.10.1',
  },
  [`${PROTECTION}.destination.is_ontap`]: { doc: 'The same, to another cluster.', kind: flag(), since: '9.10.1' },
  [`${PROTECTION}.destination.is_cloud`]: { doc: 'The same, to a cloud.', kind: flag(), since: '9.10.1' },
} as const satisfies Fields

/** What is so of every bucket. */
export const bucketUsual: Derivation = usual({
  'encryption.enabled': false,
  ...Object.fromEntries(Object.keys(protectionFields).map((path) => [path, false])),
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
export function bucketFields(options: { readonly volumeIsRequired: boolean }): Record<string, FieldDeclaration> {
  return {
    uuid: { doc: 'The UUID of the bucket.', kind: uuid() },
    ...groups({
      [PROTECTION]: 'Whether the bucket is replicated.',
      [`${PROTECTION}.destination`]: 'Where the bucket is replicated to.',
      lifecycle_management: 'When objects of the bucket expire.',
    }),
    name: {
      doc: 'The name of the bucket, unique within its SVM. It stays: a change may only repeat it, as some tools do.',
      kind: name({
        charactersMin: 3,
        charactersMax: 63,
        pattern: /^(?!\d+\.\d+\.\d+\.\d+$)(?!.*\.\.)[a-z0-9][a-z0-9.-]*[a-z0-9]$/,
        patternDoc: 'lower-case letters, digits, "." and "-", beginning and ending with a letter or digit',
      }),
      set: 'always',
      required: true,
    },
    svm: { doc: 'The SVM of its server.', ref: 'svm/svms', set: 'create', required: true },
    server: { doc: 'The object store server it is of.', ref: 'protocols/s3/services' },
    volume: {
      doc: 'The volume it lives in: one of the data volumes of its server.',
      ref: 'storage/volumes',
      set: 'create',
      required: options.volumeIsRequired,
    },
    size: {
      doc: 'The most bytes its objects may have together. It can shrink down to what they have.',
      kind: bytes({ min: 1, max: BUCKET_BYTES_MAX }),
      set: 'always',
      required: true,
    },
    logical_used_size: { doc: 'Bytes of its objects and of the parts of open uploads.', kind: bytes() },
    object_count: { doc: 'How many objects it has.', kind: count() },
    versioning_state: {
      danger: 'irreversible',
      doc: 'Whether replaced and deleted objects are kept as versions. Once enabled, it can only be suspended.',
      kind: oneOf('disabled', 'enabled', 'suspended'),
      set: 'always',
      default: 'disabled',
      since: '9.11.1',
    },
    comment: { doc: 'Whatever helps to tell it apart.', kind: text({ charactersMax: 256 }), set: 'always' },
    type: { doc: 'A bucket of objects.', kind: oneOf('s3'), set: 'create', default: 's3', since: '9.12.1' },
    nas_path: { doc: 'Where the files of a NAS bucket lie. There are none.', kind: text(), since: '9.12.1' },
    qos_policy: {
      doc: 'Its ceilings of throughput.',
      ref: 'storage/qos/policies',
      noneName: 'none',
      set: 'always',
      since: '9.8',
    },
    snapshot_policy: {
      doc: 'The policy that makes snapshots of it alone. Without it, none are made.',
      ref: 'storage/snapshot-policies',
      set: 'always',
      since: '9.16.1',
    },
    encryption: { doc: 'Encryption of the bucket.', isGroup: true },
    'encryption.enabled': {
      doc: 'Whether it is encrypted. It is not: encrypt the disk.',
      kind: only(false, flag(), 'buckets are not encrypted. Encrypt the disk that the aggregate lies on.'),
      set: 'always',
    },
    ...protectionFields,
    create_time: { doc: 'When it was made.', kind: time() },
    policy: { doc: 'The access policy of the bucket.', isGroup: true },
    'policy.name': {
      doc: 'A policy of the SVM whose statements hold for all requests to this bucket.',
      kind: text({ charactersMax: 128 }),
      set: 'always',
      default: 'default',
    },
    'policy.statements': {
      danger: 'disruptive',
      doc: 'Who may do what with it: the bucket policy of S3. An empty list takes it away.',
      kind: statementsKind(),
      set: 'always',
    },
    retention: { doc: 'The default retention of new objects in the bucket.', isGroup: true },
    'retention.mode': {
      danger: 'irreversible',
      doc: 'What holds for objects stored without a retention of their own. With one but `no_lock`, the bucket has locks.',
      kind: oneOf('no_lock', 'compliance', 'governance'),
      set: 'always',
      default: 'no_lock',
      since: '9.14.1',
    },
    'retention.default_period': {
      when: { field: 'retention.mode', is: ['compliance', 'governance'] },
      doc: 'How long it holds: up to 36500 days (`P30D`) or 100 years (`P7Y`).',
      kind: periodKind(),
      set: 'always',
      since: '9.14.1',
    },
    [RULES]: {
      doc: 'What is removed when it is old. An empty list takes them away.',
      kind: rulesKind(),
      set: 'always',
      since: '9.13.1',
    },
    cors: { doc: 'Which web origins may use the bucket.', isGroup: true },
    'cors.rules': {
      doc: 'What pages of other origins may do. An empty list takes them away.',
      kind: corsKind(),
      set: 'always',
      since: '9.16.1',
    },
    audit_event_selector: { doc: 'Which requests to the bucket are audited.', isGroup: true },
    'audit_event_selector.access': {
      doc: 'Which accesses are to be audited. It is kept; nothing is audited by it yet.',
      kind: oneOf('read', 'write', 'all', 'none'),
      set: 'always',
      since: '9.10.1',
    },
    'audit_event_selector.permission': {
      doc: 'Whether what was allowed or what was refused is to be audited. It is kept, as the above.',
      kind: oneOf('deny', 'allow', 'all', 'none'),
      set: 'always',
      since: '9.10.1',
    },
  }
}
