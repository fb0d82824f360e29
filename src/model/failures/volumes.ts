/** Failures of volumes. */
import { duplicate, inUse, internal, invalid, notFound } from './forms.ts'

export const volumes = {
  volumeProtected: inUse(
    undefined,
    'The volume "{volume}" has the type {type}: only replication changes it.',
    'Break the replication off first.',
    { code: '1638461' },
  ),
  snapshotsProtected: inUse(
    undefined,
    'The volume "{volume}" has the type {type}: only replication changes it.',
    'Break the replication off first.',
    { code: '1638521' },
  ),
  bucketVolumeProtected: inUse(
    undefined,
    'The volume "{volume}" has the type {type}: only replication changes it.',
    'Choose a read-write volume.',
  ),
  queuedVolumeNotFound: notFound('volume in the recovery queue', 'uuid'),
  queuedVolumeAmbiguous: invalid(
    'volume',
    'Several volumes in the recovery queue have this name.',
    'Use the name that the recovery queue shows.',
  ),
  recoveredNameTaken: duplicate('A volume named "{name}"', 'newname', { code: '917526' }),
  volumeBeingMade: duplicate('A volume named "{name}", still being made,', 'name', { code: '13107405' }),
  volumeNotFound: notFound('volume', 'uuid'),
  tooManyVolumeAggregates: invalid(
    'aggregates',
    'A volume lies in one aggregate; name only one.',
    'Name one aggregate.',
    { code: '918242' },
  ),
  cloneAggregateFixed: invalid(
    'aggregates',
    'A clone is created in the aggregate of its parent. Move the clone later.',
    'Create the clone without an aggregate, then move it.',
    { code: '918242' },
  ),
  svmWithoutAggregates: invalid(
    'aggregates',
    'The SVM "{svm}" may not have volumes in the aggregate.',
    'Let the SVM have volumes in the aggregate.',
    { code: '787140' },
  ),
  aggregateMissing: invalid(
    'aggregates',
    'The cluster has no aggregate for the volume.',
    'Create an aggregate first.',
    { code: '787140' },
  ),
  aggregateTooSmall: invalid(
    'size',
    "The aggregate has {available} to give, the volume's guarantee needs {needed}. Choose a smaller size, or guarantee.type none.{hint}",
    'Choose a smaller size, or guarantee.type none.',
    { code: '1245212' },
  ),
  volumeNameTaken: duplicate('A volume named "{name}"', 'name', { code: '917526' }),
  volumeTooSmall: invalid(
    'size',
    'Size is below what the volume holds ({used}). Delete objects or snapshots first.',
    'Delete objects or snapshots first, or choose a larger size.',
    { code: '917534' },
  ),
  volumeChanged: inUse(
    undefined,
    'The volume was changed by another request. Repeat the request.',
    'Repeat the request.',
    { code: '524486' },
  ),
  volumeHasBuckets: inUse(undefined, 'The volume holds buckets. Delete them first.', 'Delete the buckets first.', {
    code: '524486',
  }),
  volumeIsRootVolume: inUse(
    undefined,
    'The volume is the root volume of the object store server "{server}". Delete the server first.',
    'Delete the object store server first.',
    { code: '524486' },
  ),
  volumeIsDataVolume: inUse(
    undefined,
    'The volume is a data volume of the object store server "{server}". Take it off the server first.',
    'Remove the volume from the object store server first.',
    { code: '524486' },
  ),
  fullThresholdsReversed: invalid(
    'space.nearly_full_threshold_percent',
    'It is above space.full_threshold_percent. A volume is nearly full before it is full.',
    'Choose a nearly full threshold that is not above the full one.',
  ),
  autosizeThresholdsTooClose: invalid(
    'autosize.grow_threshold',
    'It must be at least {points} points above autosize.shrink_threshold, so that the size does not oscillate.',
    'Raise the grow threshold, or lower the shrink threshold.',
  ),
  autosizeMaximumTooLow: invalid(
    'autosize.maximum',
    'It is below the size of the volume.',
    'Choose a maximum that is not below the size.',
  ),
  autosizeMinimumTooHigh: invalid(
    'autosize.minimum',
    'It is above the size of the volume.',
    'Choose a minimum that is not above the size.',
  ),
  efficiencyOff: inUse(
    'efficiency.state',
    'Efficiency is not on in the volume. Set efficiency.compression or efficiency.dedupe first.',
    'Set efficiency.compression or efficiency.dedupe first.',
    { code: '6881332' },
  ),
  efficiencyRunEndedEarly: internal('The run has ended early: {problem}', 'Start the run again.'),
  efficiencyDisabled: invalid(
    '{field}',
    'It cannot be turned on while efficiency.state is disabled.',
    'Enable efficiency.state first.',
  ),
  mountPathTaken: invalid('nas.path', 'Volume "{volume}" is mounted at "{path}" already.', 'Choose another path.', {
    code: '918252',
  }),
  sizesDiffer: invalid('space.size', '"size" and "space.size" are different. Give one of them.', 'Give one of them.'),
} as const
