import { spells } from '../../../../../core/action.ts'
import { type Behaviour, define } from '../../../../../core/behaviour.ts'
import { name } from '../../../../../model/kinds/index.ts'
import { resource } from '../../../../../model/resource.ts'
import { recoverVolume } from '../../../../storage/volumes/recovery-actions.ts'
import { RECOVERY_QUEUE } from '../../../../storage/volumes/recovery-queue.ts'
import { namedInQueue, queuedFields, vserver } from '../recovery-queue.ts'

const recoveryFromQueueResource = resource({
  path: `/${RECOVERY_QUEUE}/recover`,
  noun: 'volume in the recovery queue',
  doc: 'Recovers a deleted volume by its name in the recovery queue. The recovered volume is offline.',
  key: ['uuid'],
  rowsOf: RECOVERY_QUEUE,
  nameWithin: false,
  fields: {
    ...queuedFields,
    newname: { doc: 'The new name of the volume. Default: the name before the deletion.', kind: name(), set: 'create' },
  },
})

export const recoveryFromQueue: Behaviour<typeof recoveryFromQueueResource> = define(recoveryFromQueueResource, {
  derive: [vserver],
  create: spells(RECOVERY_QUEUE, 'recover', {
    action: recoverVolume,
    example: { vserver: 'svm1', volume: 'vol1_1029' },
    named: namedInQueue,
  }),
})
