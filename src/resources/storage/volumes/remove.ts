import { alone } from '../../../core/grounds.ts'
import { serversLock } from '../../protocols/s3/server-verbs.ts'
import { typesWithin, unusedSince } from '../../../core/within.ts'
import { SNAPSHOTS } from './snapshot-changes.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { removeOwedTree } from '../../../storage/removed-trees.ts'
import { treeOf } from '../../../storage/tree-of.ts'
import { job, type Work, type Changing } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { flag } from '../../../model/kinds/index.ts'
import type { Fields } from '../../../model/resource.ts'
import { type Change } from '../../../ports/catalog.ts'
import { departureChanges, MEMBERS_LOCK } from '../../application/members.ts'
import { EXPORT_POLICIES_LOCK } from '../../protocols/nfs/export-policies.ts'
import { quotaLock } from '../quota/limits.ts'
import { QUOTA_NOTES } from '../../../records/quota-notes.ts'
import { AGGREGATES_LOCK } from '../aggregates/space.ts'
import { FULLNESS } from '../../../records/volume-fullness.ts'
import { bucketsIn, insistOnNoClones } from './clone.ts'
import { releaseBase } from './clone-base.ts'
import { isClone } from './clone-fields.ts'
import { forgetMoves, insistOnNoMove } from './movement.ts'
import { EFFICIENCY_NOTES } from './efficiency-notes.ts'
import { NOTES } from './owed-snapshots.ts'
import { forgetChanges, insistOnNothingKept, queueChanges, retentionHours } from './recovery-queue.ts'
import { TREES_LOCK } from './tree-sharers.ts'

const BUCKETS = 'protocols/s3/buckets'

const removalArgs = {
  force: {
    doc: 'Whether to delete the volume immediately, without the recovery queue.',
    kind: flag(),
    default: false,
  },
} as const satisfies Fields

/** What the steps know of the volume, which has no record any more after the first one. */
export type RemovedVolume = {
  readonly 'svm.uuid': string
  readonly name: string
  readonly $tree: string
  readonly $hours: number
}

/** The tree as it was when the records went: the volume may have been moved since the plan. */
type RemoveWork = Work<RemovedVolume, { readonly tree: string }>

export const removeVolume = job({
  moreExamples: { clone: { body: {}, of: 'clone' } },
  args: removalArgs,
  exampleArgs: [{}, { force: true }],
  async plan(cluster, { row, args }: Changing<'storage/volumes', typeof removalArgs>) {
    const key = row['uuid']
    await insistOnUnused(cluster, key)
    insistOnNoMove(row)
    await insistOnNothingKept(cluster, key)
    const hours = args.force ? 0 : retentionHours(await cluster.find('svm/svms', row['svm.uuid']))
    return {
      key,
      input: {
        'svm.uuid': row['svm.uuid'],
        name: row['name'],
        $tree: treeOf(row),
        $hours: hours,
      },
      locks: [`volume:${key}`],
    }
  },
  steps: [
    {
      name: 'remove records',
      async run(cluster, { key, input, memo }: RemoveWork) {
        // No server may take the volume between the look and the commit, nobody change its size,
        // share its tree, or make a qtree or a rule in it.
        const locks = [
          serversLock(input['svm.uuid']),
          AGGREGATES_LOCK,
          TREES_LOCK,
          quotaLock(key),
          MEMBERS_LOCK,
          EXPORT_POLICIES_LOCK,
        ]
        await alone(cluster, locks, async (cluster) => {
          const since = await cluster.catalog.revision()
          const volume = await cluster.find('storage/volumes', key)
          if (volume === undefined) return
          insistOnNoMove(volume)
          // It may have been moved since this was planned.
          memo.tree = treeOf(volume)
          await insistOnUnused(cluster, key)
          await insistOnNothingKept(cluster, key)
          const { own } = await bucketsIn(cluster, key)
          // Clones do not get into the queue: their buckets go with them, and what they began with is held by the parent.
          const hours = isClone(volume) || own.length > 0 ? 0 : input.$hours
          const changes: Change[] = [
            ...own.flatMap(({ uuid }): Change[] => [
              { do: 'remove-record', type: BUCKETS, key: uuid },
              { do: 'remove-record', type: NOTES, key: uuid },
            ]),
            ...unusedSince(cluster, 'storage/volumes', key, since),
            ...(hours > 0
              ? queueChanges(cluster, volume, hours, withinVolumes(cluster))
              : await forgetChanges(cluster, volume, withinVolumes(cluster))),
            { do: 'remove-record', type: 'storage/volumes', key },
            ...forgetMoves(key),
            { do: 'remove-record', type: NOTES, key },
            { do: 'remove-record', type: EFFICIENCY_NOTES, key },
            { do: 'remove-record', type: FULLNESS, key },
            { do: 'drop-counters', table: 'volume', row: key },
            ...(await departureChanges(cluster, key)),
            cluster.event('volume.deleted', { volume: input['name'] }),
          ]
          if (isClone(volume)) await releaseBase(cluster, volume, changes)
          else await cluster.commit(changes)
        })
      },
    },
    {
      name: 'remove tree',
      run: removeTreeOf,
      // The records are gone, so there is no way back: what is left is cleared away, now or by the housekeeping.
      undo: removeTreeOf,
    },
  ],
})

async function removeTreeOf(cluster: Cluster, { input, memo }: RemoveWork): Promise<void> {
  await removeOwedTree(cluster, memo.tree ?? input.$tree)
}

/** What goes with its volume, beside its snapshots. */
function withinVolumes(cluster: Cluster): readonly string[] {
  return [...typesWithin(cluster, 'storage/volumes', 'deleted').filter((type) => type !== SNAPSHOTS), QUOTA_NOTES]
}

async function insistOnUnused(cluster: Cluster, key: string): Promise<void> {
  await insistOnNoClones(cluster, key)
  if ((await bucketsIn(cluster, key)).others.length > 0) {
    throw failure('volumeHasBuckets')
  }
  for (const server of await cluster.rows('protocols/s3/services')) {
    if (server['root_volume.uuid'] === key) {
      throw failure('volumeIsRootVolume', { server: server['name'] })
    }
    if (server['data_volumes']?.some(({ uuid }) => uuid === key) === true) {
      throw failure('volumeIsDataVolume', { server: server['name'] })
    }
  }
}
