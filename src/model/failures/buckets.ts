/** Failures of buckets, their rules and snapshots. */
import { errno } from './errno.ts'
import { duplicate, inUse, internal, invalid, notFound } from './forms.ts'

export const buckets = {
  corsMethodsUnfit: invalid('cors.rules', '{problem}', 'Correct the rule.', { code: '92406211' }),
  corsHeadersUnfit: invalid('cors.rules', '{problem}', 'Correct the rule.', { code: '92406217' }),
  versioningUnfit: invalid('{field}', '{problem}', 'Leave versioning as it is.', { code: '92406014' }),
  bucketSettingUnfit: invalid('{field}', '{problem}', 'Correct the value.'),
  policyStatementSidUnfit: statement('92405898'),
  policyStatementPrincipalsUnfit: statement('92405897'),
  policyStatementResourcesUnfit: statement('92405891'),
  policyStatementListTooLong: statement('92405894'),
  policyStatementUnfit: statement('92405863'),
  restoreWithChanges: invalid(
    'restore_to.snapshot.name',
    'Change fields of the bucket in a request of their own.',
    'Send two requests.',
  ),
  bucketVolumeOffline: inUse(
    undefined,
    'The volume of the bucket is offline.',
    'Bring the volume of the bucket online.',
    { code: '524479', errno: errno.volumeOffline },
  ),
  bucketSnapshotPrefixUnfit: invalid(
    'snapshot_policy.name',
    'The prefixes of the policy cannot name bucket snapshots. Choose a policy with different prefixes of at most 14 characters.',
    'Choose a policy with different prefixes of at most 14 characters.',
  ),
  bucketSnapshotUnknown: invalid(
    'restore_to.snapshot.name',
    'The bucket has no such snapshot.',
    'Name a snapshot of the bucket.',
    { code: '524487', errno: errno.objectNotFound },
  ),
  bucketNameTaken: duplicate('A bucket named "{name}"', 'name', { code: '92405777' }),
  bucketLimitReached: invalid(
    undefined,
    'The cluster has {max} buckets, which is the limit.',
    'Delete buckets first.',
    { code: '92405811' },
  ),
  bucketNotFound: notFound('bucket', 'uuid'),
  bucketTooSmall: invalid(
    'size',
    'Size is below what the bucket holds ({used}). Delete objects first.',
    'Delete objects first, or choose a larger size.',
    { code: '92405778' },
  ),
  bucketNotEmpty: inUse('name', 'The bucket {state} first.', 'Empty the bucket first.', { code: '92405779' }),
  versioningTransition: invalid(
    'versioning_state',
    'Versioning that is {from} cannot become {to}.',
    'Suspend versioning instead of disabling it.',
    { code: '92406014' },
  ),
  objectStoreMissing: invalid(
    'svm.name',
    'The SVM has no object store server.',
    'Make an object store server in the SVM first.',
    { code: '92405861' },
  ),
  bucketVolumeUnfit: invalid(
    'volume.name',
    'The volume is not a data volume of the object store server.',
    'Name a data volume of the object store server.',
  ),
  dataVolumesFull: invalid(
    'volume.name',
    'No data volume of the object store server has room.',
    'Enlarge a data volume, or add one.',
    { code: '92405812' },
  ),
  bucketAggregatesTwice: invalid(
    'aggregates',
    'The volume decides in which aggregate the bucket lies. Name the volume or the aggregates, not both.',
    'Name the aggregates or the volume, not both.',
  ),
  tooManyCorsRules: invalid(
    'cors.rules',
    'Cross-origin rules of a bucket have at most {limits}.',
    'Send fewer rules.',
    { code: '92406228' },
  ),
  corsRuleIncomplete: invalid(
    'cors.rules',
    'A cross-origin rule needs an origin and a method.',
    'Give each rule an origin and a method.',
    { code: '92406224' },
  ),
  lifecycleRunFailed: internal(
    'The lifecycle rules of {count} bucket(s) could not be applied. The cluster retries them in an hour; the log has the details.',
    'Read the log. The cluster retries the rules in an hour.',
  ),
  retentionModeMissing: invalid(
    'retention.default_period',
    'A default period needs "retention.mode" to be governance or compliance.',
    'Set the mode to governance or compliance.',
    { code: '92406170' },
  ),
  retentionWithoutVersioning: invalid(
    'retention.mode',
    'Object lock needs versioning. Set "versioning_state" to enabled first.',
    'Enable versioning first.',
  ),
  lifecycleRuleLimit: invalid(
    'lifecycle_management.rules',
    'A bucket has at most {max} lifecycle rules.',
    'Send fewer rules.',
  ),
  lifecycleRuleRepeated: invalid(
    'lifecycle_management.rules',
    'Two rules are named "{name}".',
    'Give each rule a name of its own.',
  ),
  lifecycleRuleConflict: invalid(
    'lifecycle_management.rules',
    'A rule has one of {fields}.',
    'Give one of the fields.',
  ),
  lifecycleDaysMissing: invalid(
    'lifecycle_management.rules',
    'A rule with new_non_current_versions needs non_current_days.',
    'Give non_current_days.',
  ),
  lifecycleRuleNameTaken: duplicate('A lifecycle rule named "{name}"', 'name'),
  lifecycleRuleNotFound: notFound('lifecycle rule', 'name'),
  bucketSnapshotTaken: duplicate('A snapshot named "{name}"', 'name'),
  bucketSnapshotVolumeTaken: duplicate('A snapshot of the volume named "{name}"', 'name'),
  bucketSnapshotLimit: invalid(
    undefined,
    'The bucket has {max} snapshots, which is the limit.',
    'Delete snapshots of the bucket first.',
  ),
  tooManyPolicyStatements: invalid(
    '{field}',
    'Statements of a policy have at most {limits}.',
    'Send fewer statements.',
    { code: '92405894' },
  ),
} as const

function statement(code: string) {
  return invalid('{field}', 'Invalid value for field "{field}": {problem}', 'Correct the statement.', { code })
}
