/** Failures of snapshots and restores. */
import { errno } from './errno.ts'
import { badValue, duplicate, inUse, invalid, notFound } from './forms.ts'

export const snapshots = {
  // Manila asks for a restore to a snapshot without a name to learn whether there are restores at all: this code says yes.
  snapshotNameRequired: badValue('{field}', '{problem}', 'Name a snapshot.', { code: '1638515' }),
  snapshotOfClone: inUse(
    undefined,
    'The snapshot is in use by {owners}. Release the snapshot first.',
    'Split or delete the clones first.',
    { code: '1638555' },
  ),
  snapshotInUse: inUse(
    undefined,
    'The snapshot is in use by {owners}. Release the snapshot first.',
    'Release the snapshot first.',
    { code: '1638543' },
  ),
  restorePathMalformed: invalid(
    'restore_to.path',
    'The volume has no such bucket. Say "/<bucket>", "/<bucket>/<prefix>/" or "/<bucket>/<key>".',
    'Give "/<bucket>", "/<bucket>/<prefix>/" or "/<bucket>/<key>".',
    { errno: errno.objectNotFound },
  ),
  restoreNothing: invalid(
    'restore_to.path',
    'The snapshot has nothing of that name.',
    'Name a bucket, a prefix or a key that the snapshot has.',
  ),
  restoreBreaksLocks: inUse(
    'restore_to.snapshot.name',
    'The restore would remove locked object versions. Copy objects out of the snapshot instead.',
    'Copy objects out of the snapshot instead.',
  ),
  restoreTooLarge: invalid(
    'restore_to.snapshot.name',
    'The restored objects exceed the size of the bucket. Raise the size first.',
    'Raise the size of the bucket first.',
  ),
  bucketBeingRestored: inUse(
    undefined,
    'The bucket is being restored to a snapshot. Try again when that has ended.',
    'Try again when the restore has ended.',
  ),
  snapshotWithoutBucket: invalid(
    'restore_to.snapshot.name',
    'The snapshot has no such bucket.',
    'Choose a snapshot that has the bucket.',
    { code: '524487', errno: errno.objectNotFound },
  ),
  restoreWithoutSnapshot: invalid(
    'restore_to.path',
    'Name the snapshot too: restore_to.snapshot.name.',
    'Name the snapshot, too.',
  ),
  restoreSnapshotMissing: invalid(
    'restore_to.snapshot.name',
    'Name a snapshot of the volume.',
    'Name a snapshot of the volume.',
    { code: '1638515' },
  ),
  restoreSnapshotUnknown: invalid(
    'restore_to.snapshot.name',
    'The volume has no such snapshot.',
    'Name a snapshot of the volume.',
    { code: '524487', errno: errno.objectNotFound },
  ),
  volumeOffline: inUse(undefined, 'The volume is offline.', 'Bring the volume online.', {
    code: '524479',
    errno: errno.volumeOffline,
  }),
  restoreBreaksBucketLocks: inUse(
    'restore_to.snapshot.name',
    'Bucket "{bucket}" has object locks, which a restore would break. Copy objects out of the snapshot instead.',
    'Copy objects out of the snapshot instead.',
  ),
  snapshotNotExpired: inUse(
    undefined,
    'The snapshot has not expired. It can be deleted from {until} on.',
    'Delete the snapshot when it has expired.',
    { code: '1638555' },
  ),
  snapshotVolumeOfOtherSvm: invalid(
    'svm.name',
    'The volume belongs to another SVM.',
    'Leave the SVM out, or name that of the volume.',
    { code: '2621706' },
  ),
  snapshotLimitReached: invalid(
    undefined,
    'The volume has {max} snapshots, which is the limit.',
    'Delete snapshots of the volume first.',
    { code: '525062' },
  ),
  snapshotNotFound: notFound('snapshot', 'uuid'),
  snapshotNameTaken: duplicate('A snapshot named "{name}"', 'name', { code: '525059' }),
} as const
