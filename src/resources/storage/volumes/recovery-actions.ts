/** What can be done with a deleted volume while it is in the recovery queue. */
import { type Acting, action } from '../../../core/action.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { alone } from '../../../core/grounds.ts'
import { failure } from '../../../model/failure.ts'
import { name } from '../../../model/kinds/index.ts'
import type { Fields } from '../../../model/resource.ts'
import type { RecordType } from '../../../model/rows.ts'
import type { Value } from '../../../model/value.ts'
import type { Volume } from '../../../records/rows.ts'
import { aggregateOf } from '../../../storage/aggregate-of.ts'
import { AGGREGATES_LOCK, placed } from '../aggregates/space.ts'
import { insistOnSpace } from './placement.ts'
import { broughtBack, purgeVolume, RECOVERY_QUEUE, volumeOf } from './recovery-queue.ts'

const VOLUMES = 'storage/volumes'

const recoveryArgs = {
  newname: { doc: 'The new name of the volume. Default: the name before the deletion.', kind: name() },
} as const satisfies Fields

export const recoverVolume = action({
  doc: 'Recovers the deleted volume. It is offline afterwards.',
  danger: 'harmless',
  args: recoveryArgs,
  example: { newname: 'vol_recovered' },
  needs: 'a deleted volume',
  plan: (_cluster, { row, args }: Acting<typeof RECOVERY_QUEUE, typeof recoveryArgs>) => {
    const key = row['uuid']
    return Promise.resolve({ key, input: { newname: args.newname ?? null }, locks: [`volume:${key}`] })
  },
  step: { name: 'recover', run: (cluster, { key, input }) => recover(cluster, key, input['newname']) },
})

/** One commit: the tree is removed after it, beside requests. */
export const purgeStep = {
  name: 'purge',
  run: (cluster: Cluster, { key }: { readonly key: string }) => purgeVolume(cluster, key, 'asked'),
}

export const purgeQueuedVolume = action({
  doc: 'Purges the deleted volume. It cannot be recovered afterwards.',
  danger: 'irreversible',
  example: {},
  needs: 'a deleted volume',
  plan: (_cluster, { row }: Acting<typeof RECOVERY_QUEUE>) => {
    const key = row['uuid']
    return Promise.resolve({ key, input: {}, locks: [`volume:${key}`] })
  },
  step: purgeStep,
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
