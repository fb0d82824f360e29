/** Failures of snapshot, efficiency and QoS policies. */
import { errno } from './errno.ts'
import { badValue, duplicate, inUse, invalid, notFound } from './forms.ts'

export const policies = {
  qosFixedAndAdaptive: invalid(
    'adaptive',
    'A QoS policy is either fixed or adaptive.',
    'Give fixed or adaptive, not both.',
    { code: '8454277' },
  ),
  qosPeakTooLow: invalid(
    'adaptive.peak_iops',
    'The peak must not be below expected_iops.',
    'Choose a peak that is not below expected_iops.',
    { code: '8454260' },
  ),
  qosFloorAboveCeiling: invalid(
    'fixed.min_throughput_{unit}',
    'The minimum throughput is above the maximum.',
    'Choose a minimum below the maximum.',
    { code: '8454260' },
  ),
  throughputMalformed: badValue(
    '{field}',
    '"{given}" is not a throughput such as 1000IOPS or 50MB/s.',
    'Give a throughput such as 1000IOPS or 50MB/s.',
  ),
  qosPolicyInUse: inUse('name', 'The {noun} "{name}" uses the QoS policy.', 'Give it another QoS policy first.', {
    code: '8454286',
  }),
  snapshotPolicyNameTaken: duplicate('A snapshot policy named "{name}"', 'name', { code: '1638527' }),
  builtInSnapshotPolicy: inUse(
    undefined,
    'The snapshot policy is built in and cannot be deleted.',
    'Delete other snapshot policies.',
    { code: '1638431' },
  ),
  snapshotPolicyInUse: inUse(
    undefined,
    'The {noun} "{name}" has this snapshot policy. Give it another one first.',
    'Give it another snapshot policy first.',
    { code: '1638415' },
  ),
  snapshotPolicyNotFound: notFound('snapshot policy'),
  snapshotPolicyEmpty: invalid(
    'copies',
    'A snapshot policy has at least one schedule.',
    'Give the policy at least one schedule.',
    { code: '1638411' },
  ),
  snapshotPolicyEnabledEmpty: invalid(
    'enabled',
    'A snapshot policy without schedules cannot be enabled.',
    'Give the policy a schedule first.',
    { code: '1638414' },
  ),
  snapshotCopyMalformed: badValue('copies', 'each element is an object.', 'Send an object for each schedule.'),
  snapshotPolicyScheduleLimit: invalid(
    'copies',
    'A snapshot policy has {max} schedules at most.',
    'Give fewer schedules.',
  ),
  snapshotPolicyScheduleTwice: invalid(
    'copies.schedule',
    'The snapshot policy has this schedule already.',
    'Name each schedule once.',
  ),
  snapshotPrefixTwice: invalid(
    'copies.prefix',
    'Two schedules of a snapshot policy cannot have the same prefix.',
    'Give each schedule a prefix of its own.',
  ),
  snapshotPolicyCountLimit: invalid(
    'copies.count',
    'A snapshot policy keeps {max} snapshots at most, all together.',
    'Keep fewer snapshots.',
    { code: '1638451' },
  ),
  snapshotScheduleUnknown: invalid(
    'copies.schedule',
    'There is no schedule "{name}".',
    'Name a schedule that exists.',
    { code: '1638413', errno: errno.objectNotFound },
  ),
  snapshotScheduleMismatch: invalid(
    'copies.schedule',
    'The name and the UUID name different schedules.',
    'Send the name or the UUID, or both of one schedule.',
    { code: '1638413' },
  ),
  snapshotPolicyScheduleGone: invalid(
    undefined,
    'The schedule was removed from the snapshot policy.',
    'Add the schedule to the policy again.',
    { code: '1638412' },
  ),
  efficiencyPolicyNameTaken: duplicate('An efficiency policy named "{name}"', 'name'),
  efficiencyPolicyNotFound: notFound('efficiency policy'),
  efficiencyPolicyInUse: inUse(
    undefined,
    'The volume "{volume}" uses the efficiency policy. Give the volume another policy first.',
    'Give the volume another efficiency policy first.',
    { code: '6881431' },
  ),
  efficiencyPolicyFieldUnfit: invalid('{field}', 'A {type} policy has no "{field}".', 'Leave the field out.'),
  efficiencyThresholdTooLow: invalid(
    'start_threshold_percent',
    'The threshold is at least 1 percent.',
    'Choose a threshold of at least 1 percent.',
    { code: '6881362' },
  ),
  efficiencyScheduleUnknown: invalid('schedule.name', 'There is no such schedule.', 'Name a schedule that exists.', {
    code: '6881341',
    errno: errno.objectNotFound,
  }),
  builtInEfficiencyPolicy: inUse(
    undefined,
    'The efficiency policy is built in and cannot be changed or deleted.',
    'Make a policy of your own.',
  ),
} as const
