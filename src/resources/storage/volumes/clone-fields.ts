/** What is shown of a clone: where it came from, and what it still shares with that. */
import type { Derivation } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { ofRows } from '../../../core/of-rows.ts'
import type { Fields } from '../../../model/resource.ts'
import { bytes, flag, text, uuid } from '../../../model/kinds/index.ts'
import { type Row, textAt, type Value } from '../../../model/value.ts'
import { SNAPSHOTS } from './snapshot-changes.ts'

export const PARENT = 'clone.parent_volume.uuid'
export const BASE = 'clone.parent_snapshot.uuid'

export const cloneFields = {
  clone: { doc: 'What the volume is a clone of.', isGroup: true },
  'clone.is_flexclone': {
    doc: 'Whether it is a clone. It begins with what its parent has, or had in a snapshot, and copies no bytes for it.',
    kind: flag(),
    set: 'create',
    isOrder: true,
  },
  'clone.parent_volume': { doc: 'The volume that this volume was cloned from.', isGroup: true },
  'clone.parent_volume.name': {
    when: { field: 'clone.is_flexclone', is: [true] },
    doc: 'The volume it is a clone of.',
    kind: text(),
    set: 'create',
    isOrder: true,
  },
  'clone.parent_volume.uuid': { doc: 'The same by its UUID.', kind: uuid(), set: 'create', isOrder: true },
  'clone.parent_svm': { doc: 'The SVM of the volume that this volume was cloned from.', isGroup: true },
  'clone.parent_svm.name': {
    when: { field: 'clone.is_flexclone', is: [true] },
    doc: 'The SVM of its parent. Without it, its own.',
    kind: text(),
    set: 'create',
    isOrder: true,
  },
  'clone.parent_svm.uuid': { doc: 'The same by its UUID.', kind: uuid(), set: 'create', isOrder: true },
  'clone.parent_snapshot': { doc: 'The snapshot that this volume was cloned from.', isGroup: true },
  'clone.parent_snapshot.name': {
    when: { field: 'clone.is_flexclone', is: [true] },
    doc: 'The snapshot of its parent that it begins with. Without it, one is taken now.',
    kind: text(),
    set: 'create',
    isOrder: true,
  },
  'clone.parent_snapshot.uuid': { doc: 'The same by its UUID.', kind: uuid(), set: 'create', isOrder: true },
  'clone.split_initiated': {
    danger: 'irreversible',
    doc: 'Makes it a volume of its own: its parent and the snapshot that it began with may then go.',
    kind: flag(),
    set: 'modify',
    isOrder: true,
  },
  'clone.split_estimate': { doc: 'Bytes that it shares with its parent.', kind: bytes() },
  'clone.inherited_physical_used': {
    doc: 'Bytes that it shares with its parent: those it began with and still holds.',
    kind: bytes(),
    since: '9.12.1',
  },
  'clone.has_flexclone': { doc: 'Whether there are clones of it.', kind: flag(), since: '9.16.1' },
} as const satisfies Fields

export function isClone(volume: Row): boolean {
  return volume['clone.is_flexclone'] === true
}

export const cloneReadings: readonly Derivation[] = [
  {
    gives: ['clone.is_flexclone', 'clone.has_flexclone', 'clone.split_initiated'],
    async from(cluster, rows, once) {
      const parents = await once('parents of clones', async () => parentsIn(await cluster.shortRows('storage/volumes')))
      return rows.map((row) => ({
        'clone.is_flexclone': isClone(row),
        'clone.has_flexclone': parents.has(textAt(row, 'uuid')),
        'clone.split_initiated': false,
      }))
    },
  },
  {
    gives: ['clone.split_estimate', 'clone.inherited_physical_used'],
    async from(cluster, rows, once) {
      const counters = await once('counters', () => cluster.volumeSums.all())
      return rows.map((row): Row => {
        const shared = isClone(row) ? counters.get(textAt(row, 'uuid'))?.inheritedBytes : undefined
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
const parentsIn = ofRows((volumes): ReadonlySet<Value> => {
  const parents = new Set<Value>()
  for (const volume of volumes) if (isClone(volume)) parents.add(volume[PARENT] ?? '')
  return parents
})

async function parentage(cluster: Cluster, row: Row): Promise<Row> {
  const parent = isClone(row) ? await cluster.find('storage/volumes', textAt(row, PARENT)) : undefined
  if (parent === undefined) return {}
  const [svm, snapshot] = await Promise.all([
    cluster.find('svm/svms', textAt(parent, 'svm.uuid')),
    cluster.find(SNAPSHOTS, textAt(row, BASE)),
  ])
  return {
    'clone.parent_volume.name': parent['name'] ?? null,
    'clone.parent_svm.name': svm?.['name'] ?? null,
    'clone.parent_svm.uuid': parent['svm.uuid'] ?? null,
    'clone.parent_snapshot.name': snapshot?.['name'] ?? null,
  }
}
