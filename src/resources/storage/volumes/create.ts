import { alone } from '../../../core/grounds.ts'
import { aggregateOf } from '../../../storage/aggregate-of.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { noParent } from '../../../core/read/references.ts'
import { removeTree } from '../../../storage/removed-trees.ts'
import { treeOf } from '../../../storage/tree-of.ts'
import { job, uuidOfNew, type Work, type Making, type Verb, type VerbRequest } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { type Change } from '../../../ports/catalog.ts'
import { withExportPolicy } from '../../protocols/nfs/named-export-policy.ts'
import { AGGREGATES_LOCK, placed, volumesOfSvm } from '../aggregates/space.ts'
import { withAutosize } from './autosize.ts'
import { cloneOf, copyRows, dropRows, forgetBuckets, giveBackBase, nameBuckets, parentOf, takeBase } from './clone.ts'
import { isClone } from './clone-fields.ts'
import { reserveOf } from './reserve.ts'
import { EXPORT_POLICY, insistOnPath, usualNas, withPath } from './nas.ts'
import { withEfficiency } from './efficiency.ts'
import { VOLUME_BYTES_MAX, withSize } from './size.ts'
import { isReadOnly } from './types.ts'
import { insistOnRoom } from '../../svm/svm-fields.ts'
import type { Svm, Volume, VolumeDraft } from '../../../records/rows.ts'
import { chooseAggregate, insistOnSpace } from './placement.ts'

const GB = 2 ** 30

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
    efficient: {
      body: { name: 'efficient_example', 'svm.name': 'svm1', size: '64m', 'efficiency.compression': 'inline' },
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
    const size = draft['size'] ?? parent?.['size'] ?? GB
    const whole = withPath({ ...usually, ...draft, size, name, 'svm.uuid': svm, uuid: key })
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
  await alone(cluster, [AGGREGATES_LOCK, volumesOfSvm(input['svm.uuid'])], async (cluster) => {
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
  const sizeBytes = input['size']
  return [
    cluster.put('storage/volumes', input, { expect: 'absent' }),
    { do: 'open-volume', volume, sizeBytes, tree: treeOf(input) },
    { do: 'resize-volume', volume, sizeBytes, reserveBytes: reserveOf(input) },
    { do: 'protect-volume', volume, isReadOnly: isReadOnly(input) },
    placed(input),
    cluster.event('volume.created', { volume: input['name'] ?? '' }),
  ]
}

/** The tree of a planned volume. An aggregate that is deleted meanwhile takes it along, or has gone before it. */
export async function makeTree(cluster: Cluster, input: Volume): Promise<void> {
  const aggregate = aggregateOf(input)
  const engine = await cluster.volumesOf(aggregate)
  await engine.create(input['uuid'])
  if ((await cluster.record('storage/aggregates', aggregate)) !== undefined) return
  await engine.remove(input['uuid'])
  throw failure('aggregateMissing')
}

/** What a volume is where nothing is said of it: as its parent, if it has one. */
async function usual(cluster: Cluster, parent: Volume | undefined, svm: Svm | undefined): Promise<VolumeDraft> {
  const usually = svm?.['snapshot_policy.uuid'] ?? (await cluster.keyOfName('storage/snapshot-policies', 'default'))
  const exported = parent?.[`${EXPORT_POLICY}.id`]
  const kept = parent === undefined ? usually : parent['snapshot_policy.uuid']
  return {
    ...usualNas(parent),
    ...(exported === undefined ? {} : { [`${EXPORT_POLICY}.id`]: exported }),
    'guarantee.type': parent?.['guarantee.type'] ?? 'volume',
    ...(kept === undefined ? {} : { 'snapshot_policy.uuid': kept }),
  }
}
