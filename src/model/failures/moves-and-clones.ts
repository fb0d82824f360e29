/** Failures of clones and of volumes on the move. */
import { errno } from './errno.ts'
import { badArgument, badValue, duplicate, inUse, invalid, tooMany, unavailable } from './forms.ts'

export const movesAndClones = {
  volumeBeingCloned: inUse(
    undefined,
    'A clone of the volume is being created. Wait until it is complete.',
    'Wait until the clone is complete.',
    { code: '524486' },
  ),
  cloneParentMoved: inUse(
    undefined,
    'The parent was moved to another aggregate meanwhile. Repeat the request.',
    'Repeat the request.',
    { code: '524486' },
  ),
  cloneParentSnapshotLimit: invalid(
    undefined,
    'The parent has {max} snapshots, which is the limit.',
    'Delete snapshots of the parent first.',
    { code: '525062' },
  ),
  cloneBucketTaken: duplicate('A bucket named "{bucket}-{suffix}"', 'name'),
  cloneWithoutObjectStore: invalid(
    'svm.name',
    'The parent has buckets, and the SVM has no object store server that could serve them.',
    'Make an object store server in the SVM first.',
    { code: '92405861' },
  ),
  cloneParentNotFound: invalid(
    'clone.parent_volume.name',
    'There is no volume "{name}".',
    'Name a volume that exists.',
    { code: '917525', errno: errno.objectNotFound },
  ),
  cloneParentOffline: inUse('clone.parent_volume.name', 'The parent is offline.', 'Bring the parent online.', {
    code: '524479',
    errno: errno.volumeOffline,
  }),
  cloneParentSvmNotFound: invalid('clone.parent_svm.name', 'There is no SVM "{name}".', 'Name an SVM that exists.', {
    code: '2621462',
    errno: errno.svmNotFound,
  }),
  cloneSnapshotUnknown: invalid(
    'clone.parent_snapshot.name',
    'The parent has no such snapshot.',
    'Name a snapshot of the parent.',
    { code: '524487', errno: errno.objectNotFound },
  ),
  cloneTooSmall: invalid('size', 'Size is below what the parent holds ({used}).', 'Choose a larger size.', {
    code: '917534',
  }),
  volumeHasClones: inUse(
    undefined,
    'The volume has clones. Delete or split them first.',
    'Delete or split the clones first.',
    { code: '524615' },
  ),
  volumeNotClone: invalid('clone.split_initiated', 'The volume "{volume}" is not a clone.', 'Split clones alone.', {
    errno: errno.volumeNotClone,
  }),
  validateOnlyWithoutMove: badArgument(
    'validate_only',
    'it is for moves to another aggregate.',
    'Leave validate_only out.',
  ),
  moveWithChanges: invalid(
    'movement.destination_aggregate',
    'A request that moves a volume cannot change anything else. Send two requests.',
    'Send two requests.',
  ),
  moveStartState: badValue(
    'movement.state',
    'a move begins with replicating or cutover_wait.',
    'Begin with replicating or cutover_wait.',
  ),
  moveToSameAggregate: invalid(
    'movement.destination_aggregate',
    'The volume is in this aggregate already.',
    'Name another aggregate.',
  ),
  tooManyMoves: tooMany(
    '{max} volumes are being moved. Move this one when one of them has arrived.',
    'Repeat the request when one of the volumes has arrived.',
    60,
  ),
  moveSvmWithoutAggregate: invalid(
    'movement.destination_aggregate',
    'The SVM "{svm}" may not have volumes in the aggregate.',
    'Let the SVM have volumes in the aggregate.',
    { code: '787140' },
  ),
  moveAggregateTooSmall: invalid(
    'movement.destination_aggregate',
    'The aggregate has {available} available, but the volume needs {needed}. Choose another aggregate, or free space in it.',
    'Choose another aggregate, or free space in it.',
    { code: '1245212' },
  ),
  moveAggregateOverpromised: invalid(
    'movement.destination_aggregate',
    'The aggregate lacks {lacking} to keep its guarantees. Free space in it, or choose another aggregate.',
    'Free space in the aggregate, or choose another.',
    { code: '1245212' },
  ),
  moveAborted: inUse('movement.state', 'The move was aborted.', 'Start the move again when it is wanted.'),
  moveDiskFull: invalid(
    'movement.destination_aggregate',
    'The disk of the aggregate is full. Free space in it, then move the volume again.',
    'Free space in the aggregate, then move the volume again.',
  ),
  moveUnreadable: inUse(
    'movement.destination_aggregate',
    'A part of the volume cannot be read, so it stays where it is: {problem}',
    'Repair or delete the damaged object, then move the volume again.',
  ),
  moveDiskFailed: unavailable(
    'A disk failed during the move: {problem} Try again when the disk works.',
    'Try again when the disk works.',
  ),
  volumeBeingMoved: inUse(
    undefined,
    'The volume is being moved to another aggregate. Wait for the end of the move, or abort it: {"movement.state": "aborted"}.',
    'Wait for the end of the move, or abort it.',
    { code: '524486' },
  ),
  moveStateUnfit: badValue('movement.state', 'it can be set to {states}.', 'Choose one of the states.'),
  moveClearing: inUse(
    'movement.state',
    'Clients use the new aggregate already; the move only clears the old one.',
    'Wait until the old aggregate is cleared.',
    { code: '524486' },
  ),
  volumeNotMoving: invalid(
    'movement.state',
    'The volume is not being moved. Name movement.destination_aggregate to move it.',
    'Name movement.destination_aggregate to move it.',
  ),
} as const
