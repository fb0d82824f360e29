import { alone } from '../../../core/grounds.ts'
import { aggregateOf } from '../../../storage/aggregate-of.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { job, type Changing } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { printSize, text } from '../../../model/kinds/index.ts'
import type { Fields } from '../../../model/resource.ts'
import { CommitRefused, type Change } from '../../../ports/catalog.ts'
import { withExportPolicy } from '../../protocols/nfs/named-export-policy.ts'
import { quotaLock, switchChanges } from '../quota/limits.ts'
import { restoreArgs } from './restore.ts'
import { AGGREGATES_LOCK, placed, volumesOfSvm } from '../aggregates/space.ts'
import { withAutosize } from './autosize.ts'
import { chargedTo, reserveOf } from './reserve.ts'
import { EXPORT_POLICY, insistOnPath, withPath } from './nas.ts'
import { validateOnly } from './move.ts'
import { withEfficiency } from './efficiency.ts'
import { VOLUME_BYTES_MAX, withSize } from './size.ts'
import { insistOnStorage, storageOf, sameLimit } from '../../svm/storage-limit.ts'
import type { Volume, VolumeDraft } from '../../../records/rows.ts'
import { insistOnSpace } from './placement.ts'

const modifyArgs = {
  ...restoreArgs,
  ...validateOnly,
  sizing_method: {
    doc: 'How the size of constituents is changed. Accepted without effect: a volume has no constituents.',
    kind: text(),
  },
} as const satisfies Fields

export const modifyVolume = job({
  args: modifyArgs,
  example: { size: '96m', comment: 'grown' },
  async plan(cluster, { row, draft: given, args }: Changing<'storage/volumes', typeof modifyArgs>) {
    if (args.validate_only) throw failure('validateOnlyWithoutMove')
    if (Object.keys(given).some((path) => path.startsWith('movement.'))) {
      throw failure('fieldRequired', { field: 'movement.destination_aggregate' })
    }
    const key = row['uuid']
    const draft: VolumeDraft = await withExportPolicy(cluster, withSize(given), EXPORT_POLICY, row['svm.uuid'])
    await insistOnPath(cluster, { ...row, ...draft })
    return {
      key,
      input: { 'svm.uuid': row['svm.uuid'], name: row['name'], $change: draft },
      after: await withEfficiency(cluster, { ...row, ...draft }, draft),
      locks: [`volume:${key}`],
    }
  },
  steps: [
    {
      name: 'apply',
      async run(cluster, { key, input }) {
        const { $change: given } = input
        if (Object.keys(given).length === 0) return
        const held = [AGGREGATES_LOCK, volumesOfSvm(input['svm.uuid']), quotaLock(key)]
        await alone(cluster, held, async (cluster) => {
          const record = await cluster.record('storage/volumes', key)
          if (record === undefined) throw failure('volumeNotFound')
          const before = record.body
          const unchanged = await sameLimit(cluster, before['svm.uuid'])
          const sized = withAutosize(withPath({ ...before, ...given }), given, VOLUME_BYTES_MAX)
          const after = await withEfficiency(cluster, sized, given)
          const aggregate = aggregateOf(before)
          if (after['size'] !== before['size'] || after['guarantee.type'] !== before['guarantee.type']) {
            const svm = await cluster.find('svm/svms', after['svm.uuid'])
            await insistOnStorage(cluster, svm, storageOf([after]) - storageOf([before]))
            await insistOnSpace(cluster, aggregate, after)
          }
          await insistOnName(cluster, after)
          await insistOnPath(cluster, after)
          await commitSize(cluster, key, after, [
            ...(after['size'] > before['size'] ? [unchanged] : []),
            { do: 'resize-volume', volume: key, sizeBytes: after['size'], reserveBytes: reserveOf(after) },
            placed(after),
            cluster.put('storage/volumes', after, { expect: record.revision }),
            ...(await switchChanges(cluster, before, after)),
            cluster.event('volume.modified', { volume: after['name'] }),
          ])
        })
      },
    },
  ],
})

async function insistOnName(cluster: Cluster, volume: Volume): Promise<void> {
  const holder = await cluster.keyOfName('storage/volumes', volume['name'], volume['svm.uuid'])
  if (holder !== undefined && holder !== volume['uuid']) {
    throw failure('volumeNameTaken', { name: volume['name'] })
  }
}

async function commitSize(cluster: Cluster, key: string, volume: Volume, changes: readonly Change[]): Promise<void> {
  try {
    await cluster.catalog.commit(changes)
  } catch (cause) {
    if (!(cause instanceof CommitRefused)) throw cause
    if (cause.reason === 'full' && cause.scope === 'aggregate') throw failure('aggregateSizesOverLimit')
    if (cause.reason === 'full') {
      const counters = await cluster.catalog.volume(key)
      const used = counters === undefined ? 0 : chargedTo(volume, counters)
      throw failure('volumeTooSmall', { used: printSize(used) })
    }
    if (cause.reason === 'taken') throw failure('volumeNameTaken', { name: volume['name'] })
    throw failure('volumeChanged')
  }
}
