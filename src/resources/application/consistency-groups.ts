import { alone } from '../../core/grounds.ts'
import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Cluster, NamedRecord } from '../../core/cluster.ts'
import { job, uuidOfNew, type Work } from '../../core/verb.ts'
import { failure } from '../../model/failure.ts'
import { groups, resource } from '../../model/resource.ts'
import { bytes, flag, name, uuid } from '../../model/kinds/index.ts'
import type { DraftOf } from '../../model/rows.ts'
import type { Volume } from '../../records/rows.ts'
import { AGGREGATES_LOCK, volumesOfSvm } from '../storage/aggregates/space.ts'
import { tagFields } from '../tags.ts'
import { groupVolumes, insistOnFree, memberKind, planMembers } from './group-volumes.ts'
import { goneGroup, type Group, GROUPS, MEMBERS_LOCK } from './members.ts'
import { makeTrees, commitWithVolumes } from './new-volumes.ts'
import { refused } from './refused.ts'

const consistencyGroupsResource = resource({
  path: `/${GROUPS}`,
  noun: 'consistency group',
  doc: 'Consistency groups are volumes of an SVM whose snapshots are taken at the same instant. A volume is in at most one group.',
  since: '9.10.1',
  key: ['uuid'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  columns: ['name', 'svm.name', 'volumes.name', 'space.used', 'space.size'],
  form: { 'Consistency group': ['name', 'svm.name', 'volumes'], Performance: ['qos.policy.name'] },
  removal: 'undoable',
  within: { 'qos.policy': 'blocks' },
  fields: {
    ...groups({
      qos: 'Quality of service of the volumes in the consistency group.',
      space: 'The space of the volumes in the consistency group.',
    }),
    uuid: { doc: 'The UUID of the group.', kind: uuid() },
    name: {
      doc: 'The name of the group, unique within its SVM. Default: the name of its only volume.',
      kind: name(),
      set: 'always',
    },
    svm: { doc: 'The SVM that the group belongs to.', ref: 'svm/svms', set: 'create', required: true },
    volumes: {
      doc: 'The volumes of the group. A change lists the volumes to add and to remove.',
      kind: memberKind,
      set: 'always',
    },
    'qos.policy': {
      doc: 'The QoS policy of volumes created for the group.',
      ref: 'storage/qos/policies',
      noneName: 'none',
      set: 'create',
    },
    snapshot_policy: {
      doc: 'Refused: snapshots of groups are made on request. Volumes have policies of their own.',
      kind: refused('snapshots of a group are made on request alone. Give its volumes policies.'),
      set: 'always',
    },
    luns: { doc: 'Refused: there are no LUNs.', kind: refused('there are no LUNs.'), set: 'always' },
    namespaces: {
      doc: 'Refused: there are no namespaces.',
      kind: refused('there are no NVMe namespaces.'),
      set: 'always',
    },
    consistency_groups: {
      doc: 'Refused: groups have no groups in them.',
      kind: refused('a group has volumes, and no other groups.'),
      set: 'always',
    },
    restore_to: {
      doc: 'Refused: volumes are taken back one by one.',
      kind: refused('take each volume back, at /storage/volumes.'),
      set: 'modify',
    },
    'space.size': { doc: 'The total size of the volumes, in bytes.', kind: bytes() },
    'space.used': { doc: 'Bytes used in the volumes.', kind: bytes() },
    'space.available': { doc: 'Bytes available in the volumes.', kind: bytes() },
    replicated: { doc: 'Whether the group is replicated. Always false.', kind: flag() },
    replication_source: { doc: 'Whether the group is the source of a replication. Always false.', kind: flag() },
    ...tagFields,
  },
})

export const consistencyGroups: Behaviour<typeof consistencyGroupsResource> = define(consistencyGroupsResource, {
  derive: [
    groupVolumes,
    {
      gives: ['replicated', 'replication_source'],
      from: (_cluster, rows) => Promise.resolve(rows.map(() => ({ replicated: false, replication_source: false }))),
    },
  ],
  create: job({
    example: {
      name: 'group_example',
      'svm.name': 'svm1',
      volumes: [{ name: 'group_volume', space: { size: '64m' }, provisioning_options: { action: 'create', count: 2 } }],
    },
    async plan(cluster, request) {
      const { volumes, ...draft } = request.draft
      const given = volumes ?? []
      if (given.length === 0) throw failure('groupWithoutVolumes')
      const wished = (draft['name'] ?? '') || (given.length === 1 ? (given[0]?.name ?? '') : '')
      if (wished === '') throw failure('fieldRequired', { field: 'name' })
      const group = { ...draft, name: wished, uuid: uuidOfNew(cluster, draft), $volumes: [] }
      await insistOnName(cluster, group)
      const planned = await planMembers(cluster, request, group, given)
      if (planned.members.length === 0) {
        throw failure('groupWithoutVolumes')
      }
      return {
        key: group.uuid,
        input: { ...group, $volumes: planned.members, $new: planned.rows },
        locks: [`group-name:${group['svm.uuid']}/${wished}`, ...planned.locks],
      }
    },
    steps: [
      makeTrees,
      {
        name: 'write records',
        async run(cluster, work) {
          if ((await cluster.find(GROUPS, work.key)) !== undefined) return
          const volumes = volumesOfSvm(work.input['svm.uuid'])
          await alone(cluster, [AGGREGATES_LOCK, volumes, MEMBERS_LOCK], async (cluster) => {
            const { $new: _rows, ...group } = work.input
            await insistOnName(cluster, group)
            const coming = await insistOnVolumes(cluster, work, [])
            await commitWithVolumes(cluster, work, async () => [
              cluster.put(GROUPS, group, { expect: 'absent', names: coming }),
              cluster.event('application.consistency_group.created', { group: group['name'] ?? '' }),
            ])
          })
        },
      },
    ],
  }),
  modify: job({
    example: {
      name: 'group_renamed',
      volumes: [{ name: 'another_volume', space: { size: '64m' }, provisioning_options: { action: 'create' } }],
    },
    async plan(cluster, request) {
      const { volumes, ...draft } = request.draft
      const before = request.row
      const key = before['uuid']
      await insistOnName(cluster, { ...before, ...draft })
      const planned = await planMembers(cluster, request, before, volumes ?? [])
      return {
        key,
        input: {
          'svm.uuid': before['svm.uuid'],
          $change: draft,
          $before: before.$volumes,
          $volumes: planned.members,
          $new: planned.rows,
        },
        locks: [`group:${key}`, ...planned.locks],
      }
    },
    steps: [
      makeTrees,
      {
        name: 'write records',
        async run(cluster, work) {
          const volumes = volumesOfSvm(work.input['svm.uuid'])
          await alone(cluster, [AGGREGATES_LOCK, volumes, MEMBERS_LOCK], (cluster) => changeGroup(cluster, work))
        },
      },
    ],
  }),
  remove: job({
    plan: (_cluster, { row }) => {
      const key = row['uuid']
      const { 'svm.uuid': svm, name: called = '' } = row
      return Promise.resolve({ key, input: { 'svm.uuid': svm, name: called }, locks: [`group:${key}`] })
    },
    steps: [
      {
        // Its volumes stay, and so do their snapshots.
        name: 'remove record',
        async run(cluster, { key, input }) {
          await alone(cluster, [MEMBERS_LOCK], async (cluster) => {
            if ((await cluster.find(GROUPS, key)) === undefined) return
            await cluster.commit([
              ...(await goneGroup(cluster, key)),
              cluster.event('application.consistency_group.deleted', { group: input['name'] ?? '' }),
            ])
          })
        },
      },
    ],
  }),
})

/** A job that makes volumes for a group: those that it has then, and the new ones among them. */
type GroupWork = Work<{ readonly $volumes: readonly string[]; readonly $new: readonly Volume[] }>

type ChangeWork = Work<
  GroupWork['input'] & { readonly $change: DraftOf<typeof GROUPS>; readonly $before: readonly string[] }
>

async function changeGroup(cluster: Cluster, work: ChangeWork): Promise<void> {
  const record = await cluster.record(GROUPS, work.key)
  if (record === undefined) throw failure('groupNotFound')
  const before = record.body
  const { $before: old, $volumes: wanted, $change } = work.input
  const now = before.$volumes
  // Repeated after a crash: it was done.
  if (madeBy(work).some((volume) => now.includes(volume))) return
  // Those that went meanwhile stay away.
  const members = wanted.filter((volume) => !old.includes(volume) || now.includes(volume))
  const coming = await insistOnVolumes(cluster, work, old)
  const after = { ...before, ...$change, $volumes: members }
  await insistOnName(cluster, after)
  await commitWithVolumes(cluster, work, async () =>
    members.length === 0
      ? goneGroup(cluster, work.key)
      : [cluster.put(GROUPS, after, { expect: record.revision, names: coming })],
  )
}

/** The volumes that come into the group, and are not made for it, are still there and in no other. Gives them. */
async function insistOnVolumes(cluster: Cluster, work: GroupWork, before: readonly string[]): Promise<NamedRecord[]> {
  const made = madeBy(work)
  const coming: NamedRecord[] = []
  for (const key of work.input.$volumes) {
    if (made.includes(key) || before.includes(key)) continue
    await insistOnFree(cluster, await cluster.row('storage/volumes', key), work.key)
    coming.push({ type: 'storage/volumes', key })
  }
  return coming
}

function madeBy(work: GroupWork): string[] {
  return work.input.$new.map(({ uuid }) => uuid)
}

async function insistOnName(cluster: Cluster, group: Pick<Group, 'uuid' | 'name' | 'svm.uuid'>): Promise<void> {
  const { name: wanted = '' } = group
  const holder = await cluster.keyOfName(GROUPS, wanted, group['svm.uuid'])
  if (holder === undefined || holder === group['uuid']) return
  throw failure('groupNameTaken', { name: wanted })
}
