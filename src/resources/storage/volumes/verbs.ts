import { typesWithin, unusedSince } from '../../../core/within.ts'
import { SNAPSHOTS } from './snapshot-changes.ts'
import { aggregateOf } from '../../../storage/aggregate-of.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { flagArgument } from '../../../core/flag-argument.ts'
import { noParent } from '../../../core/read/references.ts'
import { removeOwedTree, removeTree } from '../../../storage/removed-trees.ts'
import { treeOf } from '../../../storage/tree-of.ts'
import { job, uuidOfNew, type Work, type Changing, type Making, type Verb, type VerbRequest } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { printSize } from '../../../model/kinds/index.ts'
import { isRecord, type Row, textAt } from '../../../model/value.ts'
import { CommitRefused, type Change } from '../../../ports/catalog.ts'
import { departureChanges, MEMBERS_LOCK } from '../../application/members.ts'
import { EXPORT_POLICIES_LOCK } from '../../protocols/nfs/export-policies.ts'
import { withExportPolicy } from '../../protocols/nfs/named-export-policy.ts'
import { quotaLock, switchChanges } from '../quota/limits.ts'
import { QUOTA_NOTES } from '../../../background/quota-watch.ts'
import { plannedRestore, restore, restoreArgs, restoreOf, undoRestore } from './restore.ts'
import { AGGREGATES_LOCK, availableIn, DisksSeen, ownedBytes, placed, queuedBytes } from '../aggregates/space.ts'
import { FULLNESS } from '../../../background/volume-watch.ts'
import { withAutosize } from './autosize.ts'
import {
  bucketsIn,
  cloneOf,
  copyRows,
  dropRows,
  forgetBuckets,
  giveBackBase,
  insistOnNoClones,
  nameBuckets,
  parentOf,
  plannedSplit,
  splitClone,
  takeBase,
} from './clone.ts'
import { releaseBase } from './clone-base.ts'
import { isClone } from './clone-fields.ts'
import { chargedTo, reserveOf } from './reserve.ts'
import { insistOnPath, usualNas, withPath } from './nas.ts'
import { plannedMove } from './move.ts'
import { forgetMoves, insistOnNoMove, movementOf, steerMove, wishOf } from './movement.ts'
import { isEfficiencyOn, withEfficiency } from './efficiency.ts'
import { askForRun, EFFICIENCY_NOTES } from './efficiency-notes.ts'
import { notOn } from './efficiency-runs.ts'
import { NOTES } from './owed-snapshots.ts'
import { forgetChanges, insistOnNothingKept, queueChanges, retentionHours } from './recovery-queue.ts'
import { withSize } from './size.ts'
import { TREES_LOCK } from './tree-sharers.ts'
import { isReadOnly } from './types.ts'
import { insistOnStorage, storageOf } from '../../svm/storage-limit.ts'
import { insistOnRoom } from '../../svm/svm-fields.ts'
import type { Svm, Volume, VolumeDraft } from '../../rows.ts'

const MB = 2 ** 20
const EXPORT_POLICY = 'nas.export_policy' as const
export const VOLUME_BYTES_MIN = MB
export const VOLUME_BYTES_MAX = 300 * 2 ** 40

export const createVolume: Verb<VerbRequest, Volume> = job({
  example: {
    name: 'vol_example',
    'svm.name': 'svm1',
    aggregates: [{ name: 'aggr1' }],
    size: '64m',
    type: 'rw',
    'guarantee.type': 'volume',
    'snapshot_policy.name': 'none',
  },
  moreExamples: {
    clone: {
      body: {
        name: 'clone_example',
        'svm.name': 'svm1',
        'clone.is_flexclone': true,
        'clone.parent_volume.name': 'vol1',
      },
    },
  },
  async plan(cluster, { draft: given }: Making<'storage/volumes'>) {
    const name = given['name']
    const svm = given['svm.uuid']
    const draft = await withExportPolicy(cluster, withSize(given), EXPORT_POLICY, svm)
    if ((await cluster.keyOfName('storage/volumes', name, svm)) !== undefined) {
      throw failure('volumeNameTaken', { name })
    }
    const lock = `volume-name:${svm}/${name}`
    if (cluster.locks.isHeld(lock)) throw failure('volumeBeingMade', { name })
    const owner = await cluster.find('svm/svms', svm)
    const parent = await parentOf(cluster, draft)
    const aggregate = await chooseAggregate(cluster, draft, parent)
    const key = uuidOfNew(cluster, draft)
    const usually = await usual(cluster, parent, owner)
    const whole = withPath({ ...usually, ...draft, name, 'svm.uuid': svm, uuid: key })
    const made = await withEfficiency(cluster, withAutosize(whole, draft, VOLUME_BYTES_MAX), draft)
    const input: Volume = {
      ...(parent === undefined ? made : await cloneOf(cluster, made, parent)),
      aggregates: [{ uuid: aggregate }],
      create_time: cluster.now(),
    }
    await insistOnRoom(cluster, owner, [input])
    await insistOnSpace(cluster, aggregate, input)
    return { key, input, locks: [lock] }
  },
  steps: [
    { name: 'hold snapshot of the parent', isCancellable: true, run: takeBase, undo: giveBackBase },
    {
      name: 'make tree',
      isCancellable: true,
      async run(cluster, { input }) {
        if (!isClone(input)) await makeTree(cluster, input)
      },
      async undo(cluster, { input }) {
        // The tree of a clone is that of its parent.
        if (!isClone(input)) await removeTree(cluster, input)
      },
    },
    { name: 'copy rows of the parent', isCancellable: true, isPausable: true, run: copyRows, undo: dropRows },
    { name: 'name buckets', isCancellable: true, isPausable: true, run: nameBuckets, undo: forgetBuckets },
    { name: 'write record', run: writeRecord },
  ],
})

async function writeRecord(cluster: Cluster, { key, input }: Work<Volume>): Promise<void> {
  if ((await cluster.find('storage/volumes', key)) !== undefined) return
  // Between the look at the space and the commit nobody else may promise it away.
  await cluster.locks.with([AGGREGATES_LOCK], async () => {
    await insistOnSpace(cluster, aggregateOf(input), input)
    await insistOnPath(cluster, input)
    const svm = await cluster.record('svm/svms', input['svm.uuid'])
    if (svm === undefined) throw noParent(cluster, 'storage/volumes', input['svm.uuid'])
    await insistOnRoom(cluster, svm.body, [input])
    await cluster.commit([
      { do: 'check-record', type: svm.type, key: svm.key, expect: svm.revision },
      ...newVolumeChanges(cluster, input),
    ])
  })
}

/** What makes a planned volume known, when its tree is there. To be committed with `AGGREGATES_LOCK` held. */
export function newVolumeChanges(cluster: Cluster, input: Volume): Change[] {
  const volume = input['uuid']
  const sizeBytes = Number(input['size'])
  return [
    cluster.put('storage/volumes', input, { expect: 'absent' }),
    { do: 'open-volume', volume, sizeBytes, tree: treeOf(input) },
    { do: 'resize-volume', volume, sizeBytes, reserveBytes: reserveOf(input) },
    { do: 'protect-volume', volume, isReadOnly: isReadOnly(input) },
    placed(input),
    cluster.event('volume.created', { volume: input['name'] ?? '' }),
  ]
}

/** The tree of a planned volume. An aggregate that is deleted meanwhile has the tree, and stays; or has gone before it. */
export async function makeTree(cluster: Cluster, input: Volume): Promise<void> {
  await cluster.locks.with([AGGREGATES_LOCK], async () => {
    await (await cluster.volumesOf(aggregateOf(input))).create(input['uuid'])
  })
}

export const modifyVolume = job({
  args: {
    ...restoreArgs,
    validate_only: 'Whether to check only if the volume can be moved, without moving it.',
    sizing_method: 'How the size of constituents is changed. Accepted without effect: a volume has no constituents.',
  },
  example: { size: '96m', comment: 'grown' },
  moreExamples: { split: { body: { 'clone.split_initiated': true }, of: 'clone' } },
  async plan(cluster, { row, draft: asGiven, args: givenArgs }: Changing<'storage/volumes'>) {
    const key = row['uuid']
    const { args, draft: given } = restoreOf(givenArgs, asGiven)
    const draft = await withExportPolicy(cluster, withSize(given), EXPORT_POLICY, row['svm.uuid'])
    const move = await plannedMove(cluster, row, draft, args)
    if (move !== undefined) return move
    const { asked, others } = movementOf(draft)
    if (Object.keys(asked).some((path) => path !== 'movement.state')) {
      throw failure('fieldRequired', { field: 'movement.destination_aggregate' })
    }
    const wish = textAt(asked, 'movement.state')
    await insistOnPath(cluster, { ...row, ...draft })
    const planned = await plannedRestore(cluster, row, args)
    const split = plannedSplit(row, others)
    const after = await withEfficiency(cluster, { ...row, ...draft }, draft)
    if (draft['efficiency.scanner.state'] === 'active' && !isEfficiencyOn(after)) throw notOn()
    return {
      key,
      input: {
        'svm.uuid': row['svm.uuid'] ?? '',
        name: row['name'] ?? '',
        $change: { ...split.draft },
        ...planned,
        ...(wish === '' ? {} : { $wish: wishOf(row, wish) }),
        ...(split.isSplit ? { $split: true } : {}),
      },
      locks: [`volume:${key}`],
    }
  },
  steps: [
    {
      name: 'apply',
      async run(cluster, { key, input }) {
        const wish = textAt(input, '$wish')
        if (wish !== '') await steerMove(cluster, key, wish)
        const change = input['$change']
        if (isRecord(change) && Object.keys(change).length === 0) return
        await cluster.locks.with([AGGREGATES_LOCK, quotaLock(key)], async () => {
          const record = await cluster.record('storage/volumes', key)
          if (record === undefined) throw failure('volumeNotFound')
          const before = record.body
          const given: Row = isRecord(change) ? change : {}
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
            { do: 'resize-volume', volume: key, sizeBytes: Number(after['size']), reserveBytes: reserveOf(after) },
            placed(after),
            cluster.put('storage/volumes', after, { expect: record.revision }),
            ...(await switchChanges(cluster, before, after)),
            cluster.event('volume.modified', { volume: after['name'] ?? '' }),
          ])
          await askForRun(cluster, key, given)
        })
      },
    },
    { name: 'restore', run: restore, undo: undoRestore },
    { name: 'split', run: splitClone },
  ],
})

export const removeVolume = job({
  moreExamples: { clone: { body: {}, of: 'clone' } },
  args: { force: 'Whether to delete the volume immediately, without the recovery queue.' },
  exampleArgs: [{}, { force: 'true' }],
  async plan(cluster, { row, args }: Changing<'storage/volumes'>) {
    const key = row['uuid']
    const isForced = flagArgument(args, 'force')
    await insistOnUnused(cluster, key)
    if (row !== undefined) insistOnNoMove(row)
    await insistOnNothingKept(cluster, key)
    const hours = isForced ? 0 : retentionHours(await cluster.find('svm/svms', row['svm.uuid']))
    return {
      key,
      input: {
        'svm.uuid': row?.['svm.uuid'] ?? '',
        name: row?.['name'] ?? '',
        $tree: treeOf(row ?? {}),
        $hours: hours,
      },
      locks: [`volume:${key}`],
    }
  },
  steps: [
    {
      name: 'remove records',
      async run(cluster, { key, input, memo }) {
        // No server may take the volume between the look and the commit, nobody change its size,
        // share its tree, or make a qtree or a rule in it.
        const locks = [
          `servers:${textAt(input, 'svm.uuid')}`,
          AGGREGATES_LOCK,
          TREES_LOCK,
          quotaLock(key),
          MEMBERS_LOCK,
          EXPORT_POLICIES_LOCK,
        ]
        await cluster.locks.with(locks, async () => {
          const since = await cluster.catalog.revision()
          const volume = await cluster.find('storage/volumes', key)
          if (volume === undefined) return
          insistOnNoMove(volume)
          // It may have been moved since this was planned.
          memo['tree'] = treeOf(volume)
          await insistOnUnused(cluster, key)
          await insistOnNothingKept(cluster, key)
          const { own } = await bucketsIn(cluster, key)
          // Clones do not get into the queue: their buckets go with them, and what they began with is held by the parent.
          const hours = isClone(volume) || own.length > 0 ? 0 : Number(input['$hours'])
          const changes: Change[] = [
            ...own.map((bucket): Change => ({ do: 'remove-record', type: BUCKETS, key: bucket['uuid'] })),
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
            cluster.event('volume.deleted', { volume: input['name'] ?? '' }),
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

const BUCKETS = 'protocols/s3/buckets'

const GB = 2 ** 30

/** What a volume is where nothing is said of it: as its parent, if it has one. */
async function usual(cluster: Cluster, parent: Volume | undefined, svm: Svm | undefined): Promise<VolumeDraft> {
  const usually = svm?.['snapshot_policy.uuid'] ?? (await cluster.keyOfName('storage/snapshot-policies', 'default'))
  const exported = parent?.[`${EXPORT_POLICY}.id`]
  const kept = parent === undefined ? usually : parent['snapshot_policy.uuid']
  return {
    ...usualNas(parent),
    ...(exported === undefined ? {} : { [`${EXPORT_POLICY}.id`]: exported }),
    size: parent?.['size'] ?? GB,
    'guarantee.type': parent?.['guarantee.type'] ?? 'volume',
    ...(kept === undefined ? {} : { 'snapshot_policy.uuid': kept }),
  }
}

async function removeTreeOf(cluster: Cluster, { input, memo }: Work): Promise<void> {
  await removeOwedTree(cluster, textAt(memo, 'tree') || textAt(input, '$tree'))
}

/** What goes with its volume, beside its snapshots. */
function withinVolumes(cluster: Cluster): readonly string[] {
  return [...typesWithin(cluster, 'storage/volumes', 'deleted').filter((type) => type !== SNAPSHOTS), QUOTA_NOTES]
}

/** The aggregate that a volume is to lie in: the one named, that of its parent, or of all but these one with most space. */
export async function chooseAggregate(
  cluster: Cluster,
  draft: Pick<VolumeDraft, 'aggregates' | 'svm.uuid'>,
  parent: Volume | undefined,
  excluded: ReadonlySet<string> = new Set(),
): Promise<string> {
  const given = draft['aggregates']
  if (given !== undefined && given.length > 1) {
    throw failure('tooManyVolumeAggregates')
  }
  const named = given?.[0]?.['uuid']
  const svm = await cluster.find('svm/svms', draft['svm.uuid'] ?? '')
  const allowed = ((svm?.['aggregates'] ?? []) as readonly Row[]).map((row) => row['uuid'])
  const isAllowed = (uuid: string) => allowed.length === 0 || allowed.includes(uuid)
  if (parent !== undefined && typeof named === 'string' && named !== aggregateOf(parent)) {
    throw failure('cloneAggregateFixed')
  }
  if (parent !== undefined) return aggregateOf(parent)
  if (typeof named === 'string') {
    if (isAllowed(named)) return named
    throw failure('svmWithoutAggregates', { svm: svm?.['name'] ?? '' })
  }
  let best: { uuid: string; availableBytes: number } | undefined
  // Those on one disk have the same to give, whoever writes to it between two looks: the first of them by name is taken.
  const disks = new Set<string>()
  const seen = new DisksSeen(cluster)
  for (const aggregate of await cluster.rows('storage/aggregates')) {
    const uuid = aggregate['uuid']
    if (!isAllowed(uuid) || excluded.has(uuid)) continue
    const disk = (await seen.diskOf(uuid))?.disk ?? uuid
    if (disks.has(disk)) continue
    const availableBytes = await availableIn(cluster, uuid, seen)
    if (availableBytes > 0) disks.add(disk)
    if (best === undefined || availableBytes > best.availableBytes) best = { uuid, availableBytes }
  }
  if (best === undefined) throw failure('aggregateMissing')
  return best.uuid
}

/** A guarantee is given only when the aggregate has what the volume does not hold yet. */
export async function insistOnSpace(cluster: Cluster, aggregate: string, volume: Volume): Promise<void> {
  if (volume['guarantee.type'] !== 'volume') return
  const [availableBytes, counters, before] = await Promise.all([
    availableIn(cluster, aggregate),
    cluster.catalog.volume(volume['uuid']),
    cluster.find('storage/volumes', volume['uuid']),
  ])
  const used = ownedBytes(counters)
  const promisedNow = before?.['guarantee.type'] === 'volume' ? Math.max(0, Number(before['size']) - used) : 0
  const wanted = Math.max(0, Number(volume['size']) - used) - promisedNow
  if (wanted > availableBytes) {
    throw failure('aggregateTooSmall', {
      available: printSize(availableBytes),
      needed: printSize(wanted),
      hint: await queueHint(cluster, aggregate),
    })
  }
}

/** Deleted volumes are not sacrificed to a guarantee unasked. */
async function queueHint(cluster: Cluster, aggregate: string): Promise<string> {
  const queued = await queuedBytes(cluster, aggregate)
  return queued === 0 ? '' : ` Deleted volumes in the recovery queue hold ${printSize(queued)}: purge it to have that.`
}

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

async function insistOnUnused(cluster: Cluster, key: string): Promise<void> {
  await insistOnNoClones(cluster, key)
  if ((await bucketsIn(cluster, key)).others.length > 0) {
    throw failure('volumeHasBuckets')
  }
  for (const server of await cluster.rows('protocols/s3/services')) {
    if (server['root_volume.uuid'] === key) {
      throw failure('volumeIsRootVolume', { server: server['name'] })
    }
    const data = (server['data_volumes'] ?? []) as readonly Row[]
    if (data.some((volume) => volume['uuid'] === key)) {
      throw failure('volumeIsDataVolume', { server: server['name'] })
    }
  }
}
