import { alone } from '../../../../../core/grounds.ts'
import { type Behaviour, define } from '../../../../../core/behaviour.ts'
import type { Cluster } from '../../../../../core/cluster.ts'
import { inline } from '../../../../../core/verb.ts'
import { failure } from '../../../../../model/failure.ts'
import { name } from '../../../../../model/kinds/index.ts'
import { resource } from '../../../../../model/resource.ts'
import type { Value } from '../../../../../model/value.ts'
import { AGGREGATES_LOCK, placed } from '../../../../storage/aggregates/space.ts'
import { aggregateOf } from '../../../../../storage/aggregate-of.ts'
import { insistOnSpace } from '../../../../storage/volumes/placement.ts'
import { broughtBack, RECOVERY_QUEUE, volumeOf } from '../../../../storage/volumes/recovery-queue.ts'
import { namedInQueue, queuedFields, vserver } from '../recovery-queue.ts'
import type { Volume } from '../../../../../records/rows.ts'
import type { RecordType } from '../../../../../model/rows.ts'

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
      const key = (await namedInQueue(cluster, draft))['uuid']
      return { key, input: { newname: draft['newname'] ?? null }, locks: [`volume:${key}`] }
    },
    step: { name: 'recover', run: (cluster, { key, input }) => recover(cluster, key, input['newname']) },
  }),
})

async function recover(cluster: Cluster, key: string, wanted: Value | undefined): Promise<void> {
  const record = await cluster.record(RECOVERY_QUEUE, key)
  if (record === undefined) throw failure('queuedVolumeNotFound', {}, { target: 'volume' })
  const before = volumeOf(record)
  const called = typeof wanted === 'string' ? wanted : before['name']
  const svm = before['svm.uuid']
  const isTaken = (await cluster.keyOfName(VOLUMES, called, svm)) !== undefined
  if (isTaken || cluster.locks.isHeld(`volume-name:${svm}/${called}`)) {
    throw failure('recoveredNameTaken', { name: called })
  }
  const volume: Volume = { ...(await withoutGone(cluster, before)), name: called, state: 'offline' }
  await alone(cluster, [AGGREGATES_LOCK], async (cluster) => {
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
async function withoutGone(cluster: Cluster, volume: Volume): Promise<Volume> {
  const { 'efficiency.policy.uuid': efficiency = '', 'nas.export_policy.id': exported, ...others } = volume
  const { 'qos.policy.uuid': ceiling = '', 'snapshot_policy.uuid': snapshots = '', ...row } = others
  const usually = (await cluster.keyOfName('storage/snapshot-policies', 'none')) ?? ''
  const isThere = async (type: RecordType, key: string) => (await cluster.find(type, key)) !== undefined
  const taken = (await isThere('storage/snapshot-policies', snapshots)) ? snapshots : usually
  return {
    ...row,
    ...((await isThere('storage/volume-efficiency-policies', efficiency))
      ? { 'efficiency.policy.uuid': efficiency }
      : {}),
    ...(exported !== undefined && (await isThere('protocols/nfs/export-policies', String(exported)))
      ? { 'nas.export_policy.id': exported }
      : {}),
    ...((await isThere('storage/qos/policies', ceiling)) ? { 'qos.policy.uuid': ceiling } : {}),
    ...(taken === '' ? {} : { 'snapshot_policy.uuid': taken }),
  }
}
