import { type Behaviour, define } from '../../../../../core/behaviour.ts'
import type { Cluster } from '../../../../../core/cluster.ts'
import { inline } from '../../../../../core/verb.ts'
import { failure } from '../../../../../model/failure.ts'
import { name } from '../../../../../model/kinds/index.ts'
import { resource } from '../../../../../model/resource.ts'
import { type Row, textAt, type Value } from '../../../../../model/value.ts'
import { AGGREGATES_LOCK, placed } from '../../../../storage/aggregate-space.ts'
import { aggregateOf } from '../../../../../core/aggregate-of.ts'
import { insistOnSpace } from '../../../../storage/volume-verbs.ts'
import { broughtBack, RECOVERY_QUEUE, volumeOf } from '../../../../storage/volumes/recovery-queue.ts'
import { namedInQueue, queuedFields, vserver } from '../recovery-queue.ts'

const VOLUMES = 'storage/volumes'

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
  create: inline({
    example: { vserver: 'svm1', volume: 'vol1_1029' },
    async plan(cluster, { draft }) {
      const key = textAt(await namedInQueue(cluster, draft), 'uuid')
      return { key, input: { newname: draft['newname'] ?? null }, locks: [`volume:${key}`] }
    },
    step: { name: 'recover', run: (cluster, { key, input }) => recover(cluster, key, input['newname']) },
  }),
})

async function recover(cluster: Cluster, key: string, wanted: Value | undefined): Promise<void> {
  const record = await cluster.record(RECOVERY_QUEUE, key)
  if (record === undefined) throw failure('queuedVolumeNotFound', {}, { target: 'volume' })
  const before = volumeOf(record)
  const called = typeof wanted === 'string' ? wanted : textAt(before, 'name')
  const svm = textAt(before, 'svm.uuid')
  const isTaken = (await cluster.keyOfName(VOLUMES, called, svm)) !== undefined
  if (isTaken || cluster.locks.isHeld(`volume-name:${svm}/${called}`)) {
    throw failure('recoveredNameTaken', { name: called })
  }
  const volume: Row = { ...(await withoutGone(cluster, before)), name: called, state: 'offline' }
  await cluster.locks.with([AGGREGATES_LOCK], async () => {
    await insistOnSpace(cluster, aggregateOf(volume), volume)
    await cluster.commit([
      { do: 'remove-record', type: RECOVERY_QUEUE, key, expect: record.revision },
      cluster.put(VOLUMES, volume, { expect: 'absent' }),
      placed(volume),
      ...broughtBack(cluster, record),
      cluster.event('volume.recovered', { volume: called }),
    ])
  })
}

/** Policies may have been deleted while only a deleted volume had them. */
async function withoutGone(cluster: Cluster, volume: Row): Promise<Row> {
  const row: Record<string, Value> = { ...volume }
  if (
    (await cluster.find('storage/volume-efficiency-policies', textAt(volume, 'efficiency.policy.uuid'))) === undefined
  ) {
    row['efficiency.policy.uuid'] = null
  }
  if ((await cluster.find('protocols/nfs/export-policies', textAt(volume, 'nas.export_policy.id'))) === undefined) {
    row['nas.export_policy.id'] = null
  }
  if ((await cluster.find('storage/qos/policies', textAt(volume, 'qos.policy.uuid'))) === undefined) {
    row['qos.policy.uuid'] = null
  }
  if ((await cluster.find('storage/snapshot-policies', textAt(volume, 'snapshot_policy.uuid'))) === undefined) {
    row['snapshot_policy.uuid'] = (await cluster.keyOfName('storage/snapshot-policies', 'none')) ?? null
  }
  return row
}
