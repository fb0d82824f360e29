/** What is shown of a clone: where it came from, and what it still shares with that. */
import type { Derivation } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { ofRows } from '../../../core/read/of-rows.ts'
import type { Fields } from '../../../model/resource.ts'
import { bytes, flag, text, uuid } from '../../../model/kinds/index.ts'
import type { Row, Value } from '../../../model/value.ts'
import { SNAPSHOTS } from './snapshot-changes.ts'
import type { Volume } from '../../../records/rows.ts'

export const PARENT = 'clone.parent_volume.uuid'
export const BASE = 'clone.parent_snapshot.uuid'

export const cloneFields = {
  clone: { doc: 'The origin of a cloned volume.', isGroup: true },
  'clone.is_flexclone': {
    doc: 'Whether the volume is a clone. A clone starts with the data of its parent, or of a snapshot of the parent, without copying it.',
    kind: flag(),
    set: 'create',
    isInput: true,
  },
  'clone.parent_volume': { doc: 'The volume that this volume was cloned from.', isGroup: true },
  'clone.parent_volume.name': {
    when: { field: 'clone.is_flexclone', is: [true] },
    doc: 'The name of the volume that the volume is a clone of.',
    kind: text(),
    set: 'create',
    isInput: true,
  },
  'clone.parent_volume.uuid': {
    doc: 'The UUID of the volume that the volume is a clone of.',
    kind: uuid(),
    set: 'create',
    isInput: true,
  },
  'clone.parent_svm': { doc: 'The SVM of the volume that this volume was cloned from.', isGroup: true },
  'clone.parent_svm.name': {
    when: { field: 'clone.is_flexclone', is: [true] },
    doc: 'The name of the SVM of the parent volume. Default: the SVM of the clone.',
    kind: text(),
    set: 'create',
    isInput: true,
  },
  'clone.parent_svm.uuid': {
    doc: 'The UUID of the SVM of the parent volume.',
    kind: uuid(),
    set: 'create',
    isInput: true,
  },
  'clone.parent_snapshot': { doc: 'The snapshot that this volume was cloned from.', isGroup: true },
  'clone.parent_snapshot.name': {
    when: { field: 'clone.is_flexclone', is: [true] },
    doc: 'The name of the snapshot of the parent that the clone starts with. Default: a snapshot taken now.',
    kind: text(),
    set: 'create',
    isInput: true,
  },
  'clone.parent_snapshot.uuid': {
    doc: 'The UUID of the snapshot of the parent that the clone starts with.',
    kind: uuid(),
    set: 'create',
    isInput: true,
  },
  'clone.split_initiated': {
    doc: 'Whether to split the clone from its parent. Afterwards, the parent and its snapshot can be deleted.',
    kind: flag(),
    set: 'modify',
  },
  'clone.split_estimate': { doc: 'Bytes that the clone shares with its parent.', kind: bytes() },
  'clone.inherited_physical_used': {
    doc: 'Bytes that the clone got from its parent and still shares.',
    kind: bytes(),
    since: '9.12.1',
  },
  'clone.has_flexclone': { doc: 'Whether the volume has clones.', kind: flag(), since: '9.16.1' },
} as const satisfies Fields

export function isClone(volume: Volume): boolean {
  return volume['clone.is_flexclone'] === true
}

export const cloneReadings: readonly Derivation<Volume>[] = [
  {
    gives: ['clone.is_flexclone', 'clone.has_flexclone', 'clone.split_initiated'],
    async from(cluster, rows, once) {
      const parents = await once('parents of clones', async () => parentsIn(await cluster.shortRows('storage/volumes')))
      return rows.map((row) => ({
        'clone.is_flexclone': isClone(row),
        'clone.has_flexclone': parents.has(row['uuid']),
        'clone.split_initiated': false,
      }))
    },
  },
  {
    gives: ['clone.split_estimate', 'clone.inherited_physical_used'],
    async from(cluster, rows, once) {
      const counters = await once('counters', () => cluster.volumeSums.all())
      return rows.map((row): Row => {
        const shared = isClone(row) ? counters.get(row['uuid'])?.inheritedBytes : undefined
        return shared === undefined ? {} : { 'clone.split_estimate': shared, 'clone.inherited_physical_used': shared }
      })
    },
  },
  {
    gives: ['clone.parent_volume.name', 'clone.parent_svm', 'clone.parent_snapshot.name'],
    from: (cluster, rows) => Promise.all(rows.map((row) => parentage(cluster, row))),
  },
]

/** The uuids of volumes that have clones. */
const parentsIn = ofRows((volumes: readonly Volume[]): ReadonlySet<Value> => {
  const parents = new Set<Value>()
  for (const volume of volumes) if (isClone(volume)) parents.add(volume[PARENT] ?? '')
  return parents
})

async function parentage(cluster: Cluster, row: Volume): Promise<Row> {
  const parent = isClone(row) ? await cluster.find('storage/volumes', row[PARENT] ?? '') : undefined
  if (parent === undefined) return {}
  const [svm, snapshot] = await Promise.all([
    cluster.find('svm/svms', parent['svm.uuid']),
    cluster.find(SNAPSHOTS, row[BASE] ?? ''),
  ])
  return {
    'clone.parent_volume.name': parent['name'] ?? null,
    'clone.parent_svm.name': svm?.['name'] ?? null,
    'clone.parent_svm.uuid': parent['svm.uuid'] ?? null,
    'clone.parent_snapshot.name': snapshot?.['name'] ?? null,
  }
}
