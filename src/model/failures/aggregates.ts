/** Failures of aggregates. */
import { errno } from './errno.ts'
import { badValue, duplicate, inUse, invalid, notFound } from './forms.ts'

export const aggregates = {
  aggregateNotFound: notFound('aggregate', 'uuid', { errno: errno.aggregateNotFound }),
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
    'The root folder of the machine cannot be an aggregate.',
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
    'The recovery queue holds {count} volumes of the aggregate. Purge them first, or wait until they are purged.',
    'Purge the volumes first, or wait until they are purged.',
    { code: '786435' },
  ),
  aggregateHasMove: inUse(
    undefined,
    'The volume "{volume}" is being moved to or from the aggregate. Wait for the end of the move.',
    'Wait for the end of the move.',
  ),
  aggregateBusy: inUse(
    undefined,
    'A volume of the aggregate is being created or deleted. Try again later.',
    'Try again when the volume has been created or deleted.',
  ),
  aggregateOfSvm: inUse(
    undefined,
    'The SVM "{svm}" names the aggregate. Take it off the SVM first.',
    'Remove the aggregate from the SVM first.',
  ),
} as const
