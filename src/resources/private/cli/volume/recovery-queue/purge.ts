import { spells } from '../../../../../core/action.ts'
import { type Behaviour, define } from '../../../../../core/behaviour.ts'
import { resource } from '../../../../../model/resource.ts'
import { purgeQueuedVolume } from '../../../../storage/volumes/recovery-actions.ts'
import { RECOVERY_QUEUE } from '../../../../storage/volumes/recovery-queue.ts'
import { namedInQueue, queuedFields, vserver } from '../recovery-queue.ts'

const purgeOfQueueResource = resource({
  path: `/${RECOVERY_QUEUE}/purge`,
  noun: 'volume in the recovery queue',
  doc: 'Purges a deleted volume by its name in the recovery queue. A purged volume cannot be recovered.',
  key: ['uuid'],
  rowsOf: RECOVERY_QUEUE,
  nameWithin: false,
  fields: queuedFields,
})

export const purgeOfQueue: Behaviour<typeof purgeOfQueueResource> = define(purgeOfQueueResource, {
  derive: [vserver],
  create: spells(RECOVERY_QUEUE, 'purge', {
    action: purgeQueuedVolume,
    example: { vserver: 'svm1', volume: 'vol1_1029' },
    named: namedInQueue,
  }),
})
