/**
 * Aggregates are made of folders. The folder is claimed first, then the record is written; it is given back when the
 * record is gone. One at a time, so that of two folders within one another only one is claimed.
 */
import { aggregateOf } from '../../../storage/aggregate-of.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { alone } from '../../../core/grounds.ts'
import { removeRecord } from '../../../core/plain.ts'
import { isActive, JOBS } from '../../../core/jobs/jobs.ts'
import { placesOf } from '../../../storage/tree-of.ts'
import { job, uuidOfNew, type Work, type Changing, type Making } from '../../../core/verb.ts'
import type { InUse } from '../../../core/within.ts'
import { failure } from '../../../model/failure.ts'
import { textOf } from '../../../model/value.ts'
import { VolumesFailure } from '../../../ports/volumes.ts'
import { AGGREGATES_LOCK } from './space.ts'
import { SCRUB_NOTES } from '../scrub/notes.ts'
import { RECOVERY_QUEUE } from '../volumes/recovery-queue.ts'
import type { Aggregate } from '../../../records/rows.ts'

const AGGREGATES = 'storage/aggregates'
const CLAIMS_LOCK = 'aggregate-folders'
const PATH = 'block_storage.path'
const NODE = 'node.name'

export const createAggregate = job({
  example: { name: 'aggr_example', 'block_storage.path': '/srv/aggr_example' },
  async plan(cluster, { draft }: Making<typeof AGGREGATES>) {
    const name = draft['name']
    await insistOnName(cluster, name, undefined)
    await insistOnNode(cluster, draft[NODE] ?? '')
    const { [PATH]: path, [NODE]: _node, ...others } = draft
    const key = uuidOfNew(cluster, draft)
    const input = {
      ...others,
      uuid: key,
      name,
      state: 'online' as const,
      create_time: cluster.now(),
      $folder: folderOf(textOf(path) || (await besideOldest(cluster, key))),
      $claimed: true,
    }
    return { key, input, locks: [CLAIMS_LOCK] }
  },
  steps: [
    { name: 'claim folder', run: claim, undo: release },
    {
      name: 'write record',
      async run(cluster, { key, input }) {
        if ((await cluster.find(AGGREGATES, key)) !== undefined) return
        await cluster.commit([
          cluster.put(AGGREGATES, input, { expect: 'absent' }),
          cluster.event('aggregate.created', { aggregate: input['name'] ?? '' }),
        ])
      },
    },
  ],
})

export const modifyAggregate = job({
  example: { name: 'aggr_renamed' },
  async plan(cluster, { row, draft }: Changing<typeof AGGREGATES>) {
    const key = row['uuid']
    if (draft['name'] !== undefined) await insistOnName(cluster, draft['name'] ?? '', key)
    return { key, input: { $change: draft }, locks: [`aggregate:${key}`] }
  },
  steps: [
    {
      name: 'write record',
      async run(cluster, { key, input }) {
        const record = await cluster.record(AGGREGATES, key)
        if (record === undefined) throw failure('aggregateNotFound')
        const changed = { ...record.body, ...input.$change }
        const isRenamed = changed['name'] !== record.body['name']
        await cluster.commit([
          cluster.put(AGGREGATES, changed, { expect: record.revision }),
          ...(isRenamed ? [cluster.event('aggregate.renamed', { aggregate: changed['name'] })] : []),
        ])
      },
    },
  ],
})

export const removeAggregate = job({
  async plan(cluster, { row }: Changing<typeof AGGREGATES>) {
    const key = row['uuid']
    await insistOnUnused(cluster, row)
    return { key, input: { ...row }, locks: [`aggregate:${key}`] }
  },
  steps: [
    {
      name: 'remove record',
      async run(cluster, { key, input }) {
        if ((await cluster.find(AGGREGATES, key)) === undefined) return
        await alone(cluster, [AGGREGATES_LOCK], async (cluster) => {
          await insistOnUnused(cluster, input)
          await removeRecord(cluster, AGGREGATES, key, {
            inUse,
            goesWith: () => [
              { do: 'remove-record', type: SCRUB_NOTES, key },
              cluster.event('aggregate.deleted', { aggregate: input['name'] ?? '' }),
            ],
          })
        })
      },
    },
    // The record is gone, so there is no way back.
    { name: 'remove trees', run: removeTrees, undo: removeTrees },
    { name: 'release folder', run: release, undo: release },
  ],
})

/** Those of volumes that were deleted while the disk was away, and of some that were being made. Nobody else has the folder yet. */
async function removeTrees(cluster: Cluster, { input }: Work<Aggregate>): Promise<void> {
  const engine = cluster.engineOf(input)
  for (const tree of await engine.list()) await engine.remove(tree)
}

/** Something took the aggregate since the look that tells everything. */
const inUse: InUse = ({ resource, name }) => {
  if (resource.type === 'svm/svms') return failure('aggregateOfSvm', { svm: name })
  return failure(resource.type === RECOVERY_QUEUE ? 'aggregateHasQueuedVolumes' : 'aggregateHasVolumes', { count: 1 })
}

async function claim(cluster: Cluster, { key, input }: Work): Promise<void> {
  const others = (await cluster.rows(AGGREGATES)).filter((row) => row['uuid'] !== key)
  try {
    await cluster.engineOf(input).claim(
      key,
      others.map((row) => cluster.engineOf(row).place),
    )
  } catch (cause) {
    if (!(cause instanceof VolumesFailure)) throw cause
    throw failure('aggregateFolderUnfit', { problem: cause.message })
  }
}

async function release(cluster: Cluster, { key, input }: Work<Aggregate>): Promise<void> {
  await cluster.engineOf(input).release(key)
}

/** Where an aggregate lies that names no folder: in the one that the folder of the oldest aggregate lies in. */
async function besideOldest(cluster: Cluster, key: string): Promise<string> {
  const byAge = (await cluster.rows(AGGREGATES)).toSorted((a, b) => (a['create_time'] ?? 0) - (b['create_time'] ?? 0))
  const place = byAge.map((row) => cluster.engineOf(row).place).find((one) => one.lastIndexOf('/') > 0)
  if (place === undefined) throw failure('fieldRequired', { field: PATH })
  return `${place.slice(0, place.lastIndexOf('/'))}/aggregate-${key}`
}

async function insistOnNode(cluster: Cluster, name: string): Promise<void> {
  if (name === '' || (await cluster.rows('cluster/nodes')).some((node) => node['name'] === name)) return
  throw failure('nodeUnknown', { name })
}

/** As it is kept: without what means nothing in it. */
function folderOf(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) throw failure('aggregateFolderParent')
  if (parts.length === 0) throw failure('aggregateFolderRoot')
  return `/${parts.join('/')}`
}

async function insistOnName(cluster: Cluster, name: string, self: string | undefined): Promise<void> {
  const holder = await cluster.keyOfName(AGGREGATES, name)
  if (holder !== undefined && holder !== self) throw failure('aggregateNameTaken', { name })
}

async function insistOnUnused(cluster: Cluster, aggregate: Aggregate): Promise<void> {
  const key = aggregate['uuid']
  const held = (await cluster.rows('storage/volumes')).filter((volume) => aggregateOf(volume) === key)
  if (held.length > 0) {
    throw failure('aggregateHasVolumes', { count: held.length })
  }
  const queued = (await cluster.rows(RECOVERY_QUEUE)).filter((volume) => aggregateOf(volume) === key)
  if (queued.length > 0) {
    throw failure('aggregateHasQueuedVolumes', { count: queued.length })
  }
  const moved = (await cluster.rows('storage/volumes')).find((volume) =>
    placesOf(volume).some((place) => place.aggregate === key),
  )
  if (moved !== undefined) {
    throw failure('aggregateHasMove', { volume: moved['name'] })
  }
  const active = new Set((await cluster.rows(JOBS)).filter(isActive).map((job) => job['$key']))
  if ((await cluster.engineOf(aggregate).list()).some((tree) => active.has(tree))) {
    throw failure('aggregateBusy')
  }
  const user = (await cluster.rows('svm/svms')).find((svm) => svm['aggregates']?.some(({ uuid }) => uuid === key))
  if (user !== undefined) {
    throw failure('aggregateOfSvm', { svm: user['name'] })
  }
}
