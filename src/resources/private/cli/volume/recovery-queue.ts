import { type Behaviour, define, type Derivation } from '../../../../core/behaviour.ts'
import type { Cluster } from '../../../../core/cluster.ts'
import { inline } from '../../../../core/verb.ts'
import { failure } from '../../../../model/failure.ts'
import { bytes, count, text, time, uuid } from '../../../../model/kinds/index.ts'
import { resource } from '../../../../model/resource.ts'
import { type Row, textAt, textOf } from '../../../../model/value.ts'
import type { QueuedVolume } from '../../../../records/rows.ts'
import { purgeQueuedVolume, purgeStep, recoverVolume } from '../../../storage/volumes/recovery-actions.ts'
import { RECOVERY_QUEUE, RETENTION_HOURS_MAX } from '../../../storage/volumes/recovery-queue.ts'

/** What the command line calls an SVM. */
export const vserver: Derivation<Row, 'vserver'> = {
  gives: ['vserver'],
  from: (cluster, rows) =>
    Promise.all(
      rows.map(async (row) => ({
        vserver: (await cluster.find('svm/svms', textOf(row['svm.uuid'])))?.['name'] ?? null,
      })),
    ),
}

const recoveryQueueResource = resource({
  path: `/${RECOVERY_QUEUE}`,
  noun: 'volume in the recovery queue',
  doc: 'Deleted volumes that can still be recovered, by their names in the recovery queue.',
  key: ['uuid'],
  parent: 'svm.uuid',
  nameWithin: false,
  within: { svm: 'blocks', aggregates: 'blocks' },
  fields: {
    uuid: { doc: 'The UUID of the volume, the same as before and after.', kind: uuid() },
    vserver: { doc: 'The name of the SVM.', kind: text() },
    volume: {
      isAlwaysSet: true,
      doc: 'The name of the volume in the recovery queue: its name before, and a number.',
      kind: text(),
    },
    svm: { isAlwaysSet: true, doc: 'The SVM that the volume belongs to.', ref: 'svm/svms' },
    aggregates: { isAlwaysSet: true, doc: 'The aggregate that stores the deleted volume.', refs: 'storage/aggregates' },
    size: { isAlwaysSet: true, doc: 'The size of the deleted volume in bytes.', kind: bytes() },
    deletion_request_time: { isAlwaysSet: true, doc: 'When the volume was deleted.', kind: time() },
    retention_hours: {
      isAlwaysSet: true,
      danger: 'irreversible',
      doc: 'How many hours the deleted volume stays recoverable. 0 purges the volume immediately.',
      kind: count({ min: 0, max: RETENTION_HOURS_MAX, unit: 'hours' }),
      set: 'modify',
    },
  },
})

export const recoveryQueue: Behaviour<typeof recoveryQueueResource> = define(recoveryQueueResource, {
  derive: [vserver],
  modify: inline({
    example: { retention_hours: 24 },
    plan: (_cluster, { row, draft }) => Promise.resolve({ ...about(row), input: { ...draft } }),
    step: {
      name: 'write record',
      async run(cluster, { key, input }) {
        const record = await cluster.record(RECOVERY_QUEUE, key)
        if (record === undefined) throw failure('queuedVolumeNotFound')
        const queued = { ...record.body, ...input }
        await cluster.commit([cluster.put(RECOVERY_QUEUE, queued, { expect: record.revision })])
      },
    },
  }),
  remove: inline({
    plan: (_cluster, { row }) => Promise.resolve({ ...about(row), input: {} }),
    step: purgeStep,
  }),
  actions: { recover: recoverVolume, purge: purgeQueuedVolume },
})

function about(row: QueuedVolume) {
  const key = row['uuid']
  return { key, locks: [`volume:${key}`] }
}

export const queuedFields = {
  uuid: { doc: 'The UUID of the volume.', kind: uuid() },
  vserver: { doc: 'The name of its SVM.', kind: text(), set: 'create', required: true },
  volume: { doc: 'The name of the volume in the recovery queue.', kind: text(), set: 'create', required: true },
} as const

/** The volume that a draft names as the command line does. */
export async function namedInQueue(cluster: Cluster, { draft }: { readonly draft: Row }) {
  const { vserver: _, volume: __, uuid: ___, ...args } = draft
  const svm = await cluster.keyOfName('svm/svms', textAt(draft, 'vserver'))
  if (svm === undefined) throw failure('svmNotFound')
  const [found, other] = (await cluster.rows(RECOVERY_QUEUE, svm)).filter((row) => row['volume'] === draft['volume'])
  if (found === undefined) throw failure('queuedVolumeNotFound', {}, { target: 'volume' })
  if (other !== undefined) throw failure('queuedVolumeAmbiguous')
  return { row: found, args }
}
