/** Failures of aggregates. */
import { errno } from './errno.ts'
import { badValue, duplicate, inUse, invalid, notFound } from './forms.ts'

export const aggregates = {
  aggregateNotFound: notFound('aggregate', 'uuid', { errno: errno.aggregateNotFound }),
  scrubEnding: inUse(
    undefined,
    'A scrub of the aggregate is ending. Try again when it has.',
    'Try again when the scrub has ended.',
  ),
  aggregateFolderUnfit: invalid(
    'block_storage.path',
    '{problem} Choose an empty folder that the service may write to.',
    'Choose an empty folder that the service may write to.',
  ),
  nodeUnknown: invalid('node.name', 'There is no node "{name}".', 'Name a node of the cluster.', {
    errno: errno.objectNotFound,
  }),
  aggregateFolderParent: badValue(
    'block_storage.path',
    'It has ".." in it. Name the folder itself.',
    'Name the folder itself.',
  ),
  aggregateFolderRoot: badValue(
    'block_storage.path',
    'The whole machine is no folder of an aggregate.',
    'Choose a folder for the aggregate.',
  ),
  aggregateNameTaken: duplicate('An aggregate named "{name}"', 'name', { code: '786439' }),
  aggregateHasVolumes: inUse(
    undefined,
    'The aggregate has {count} volumes. Delete or move them first.',
    'Delete or move the volumes first.',
    { code: '786435' },
  ),
  aggregateHasQueuedVolumes: inUse(
    undefined,
    'The recovery queue has {count} volumes of the aggregate. Purge them first, or wait until their time is over.',
    'Purge the volumes first, or wait until they are purged.',
    { code: '786435' },
  ),
  aggregateHasMove: inUse(
    undefined,
    'The volume "{volume}" is being moved to or from it. Wait for the end of that.',
    'Wait for the end of the move.',
  ),
  aggregateBusy: inUse(
    undefined,
    'A volume of the aggregate is being made or removed. Try again when that has ended.',
    'Try again when the volume is made or removed.',
  ),
  aggregateOfSvm: inUse(
    undefined,
    'The SVM "{svm}" names the aggregate. Take it off the SVM first.',
    'Take the aggregate off the SVM first.',
  ),
} as const
