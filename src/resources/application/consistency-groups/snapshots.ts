import { alone } from '../../../core/grounds.ts'
import { type Behaviour, define, type Derivation } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { job, uuidOfNew } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { bytes, each, flag, group, name, oneOf, text, time, uuid } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import type { Row } from '../../../model/value.ts'
import type { Change } from '../../../ports/catalog.ts'
import { dropChanges, SNAPSHOTS, SNAPSHOTS_MAX, takeChanges, whyKept } from '../../storage/volumes/snapshot-changes.ts'
import { insistOnReadWrite } from '../../storage/volumes/types.ts'
import { GROUP_SNAPSHOTS, GROUPS, MEMBERS_LOCK } from '../members.ts'
import type { NewOf, RowOf } from '../../../model/rows.ts'
import type { Snapshot } from '../../../records/rows.ts'

const VOLUMES = 'storage/volumes'

/** The snapshot of one of the volumes, as the record keeps it. */
type Part = { readonly volume: string; readonly snapshot: string }

declare module '../../../model/rows.ts' {
  interface NoteTypes {
    readonly 'application/consistency-groups/{consistency_group.uuid}/snapshots': { readonly $parts: readonly Part[] }
  }
}

type GroupSnapshot = RowOf<typeof GROUP_SNAPSHOTS>

const named = (what: string) =>
  group({
    name: { kind: text(), doc: `The name of the ${what}.` },
    uuid: { kind: uuid(), doc: `The UUID of the ${what}.` },
  })

const parts: Derivation<GroupSnapshot> = {
  gives: ['snapshot_volumes', 'missing_volumes', 'is_partial', 'size'],
  async from(cluster, rows) {
    const derived: Row[] = []
    for (const row of rows) {
      const [present, missing]: [Row[], Row[]] = [[], []]
      let size = 0
      for (const { volume, snapshot } of row.$parts) {
        const [owner, taken] = await Promise.all([cluster.find(VOLUMES, volume), cluster.find(SNAPSHOTS, snapshot)])
        const its = { name: owner?.['name'] ?? null, uuid: volume }
        if (taken === undefined) missing.push(its)
        else {
          present.push({ volume: its, snapshot: { name: taken['name'] ?? null, uuid: snapshot } })
          size += (await cluster.catalog.snapshotBytes(volume)).get(snapshot) ?? 0
        }
      }
      derived.push({ snapshot_volumes: present, missing_volumes: missing, is_partial: missing.length > 0, size })
    }
    return derived
  },
}

const groupSnapshotsResource = resource({
  path: `/${GROUP_SNAPSHOTS}`,
  noun: 'snapshot of a consistency group',
  doc: 'Snapshots of a consistency group. All volumes get a snapshot of the same name at the same instant.',
  since: '9.10.1',
  isContent: true,
  key: ['uuid'],
  alsoBy: 'name',
  parent: 'consistency_group.uuid',
  nameWithin: 'consistency_group.uuid',
  columns: ['name', 'create_time', 'size', 'is_partial', 'comment'],
  form: { Snapshot: ['name', 'comment', 'consistency_type', 'snapmirror_label'] },
  fields: {
    uuid: { doc: 'The UUID of the snapshot.', kind: uuid() },
    name: {
      doc: 'The name of the snapshot and of the snapshots of the volumes.',
      kind: name({
        charactersMax: 255,
        pattern: /^[A-Za-z0-9_.][A-Za-z0-9_.:+@-]*$/,
        patternDoc: 'letters, digits, "_", ".", ":", "+", "@" and "-"',
      }),
      set: 'create',
      required: true,
    },
    comment: { doc: 'A comment that describes the snapshot.', kind: text({ charactersMax: 255 }), set: 'create' },
    snapmirror_label: {
      doc: 'The label by which replication selects snapshots.',
      kind: text({ charactersMax: 31 }),
      set: 'create',
    },
    consistency_type: {
      doc: 'Whether applications were prepared for the snapshot. Stored without effect.',
      kind: oneOf({ crash: 'Applications were not prepared.', application: 'Applications were prepared.' }),
      set: 'create',
      default: 'crash',
    },
    write_fence: {
      doc: 'Whether writes are held while the snapshot is taken. Stored without effect: all volumes are captured at once.',
      kind: flag(),
      set: 'create',
      default: true,
      since: '9.14.1',
    },
    consistency_group: { doc: 'The group.', ref: GROUPS },
    svm: { isAlwaysSet: true, doc: 'The SVM of the group.', ref: 'svm/svms' },
    create_time: { doc: 'When the snapshot was created.', kind: time() },
    size: { doc: 'Bytes that only the snapshots of the volumes use.', kind: bytes() },
    is_partial: { doc: 'Whether snapshots of some volumes were deleted.', kind: flag() },
    snapshot_volumes: {
      doc: 'The volumes of the snapshot, each with its own snapshot.',
      kind: each({
        volume: { kind: named('volume'), doc: 'The volume.' },
        snapshot: { kind: named('snapshot'), doc: 'The snapshot of the volume.' },
      }),
    },
    missing_volumes: {
      doc: 'The volumes whose snapshots were deleted.',
      kind: each({
        name: { kind: text(), doc: 'The name of the volume.' },
        uuid: { kind: uuid(), doc: 'The UUID of the volume.' },
      }),
    },
  },
})

export const groupSnapshots: Behaviour<typeof groupSnapshotsResource> = define(groupSnapshotsResource, {
  derive: [parts],
  create: job({
    example: { name: 'group_snapshot', comment: 'before the change' },
    async plan(cluster, { draft, path }) {
      const key = uuidOfNew(cluster, draft)
      const group = await cluster.row(GROUPS, path['consistency_group.uuid'] ?? '')
      const volumes = group.$volumes
      await insistOnName(cluster, draft, group['uuid'])
      for (const volume of volumes) await insistOnTakeable(cluster, volume, draft['name'])
      const input = {
        ...draft,
        uuid: key,
        'svm.uuid': group['svm.uuid'],
        'consistency_group.uuid': group['uuid'],
      }
      return { key, input, locks: volumes.map((volume) => `volume:${volume}`) }
    },
    steps: [
      {
        // All of them are taken by one commit: that is what makes it consistent.
        name: 'take snapshots',
        async run(cluster, { key, input }) {
          if ((await cluster.find(GROUP_SNAPSHOTS, key)) !== undefined) return
          await alone(cluster, [MEMBERS_LOCK], async (cluster) => {
            const group = await cluster.row(GROUPS, input['consistency_group.uuid'])
            await insistOnName(cluster, input, group['uuid'])
            const changes: Change[] = []
            const taken: Part[] = []
            for (const volume of group.$volumes) {
              await insistOnTakeable(cluster, volume, input['name'])
              const snapshot = cluster.system.random.uuid()
              taken.push({ volume, snapshot })
              changes.push(...takeChanges(cluster, snapshotOf(cluster, input, volume, snapshot)))
            }
            const record: GroupSnapshot = { ...input, create_time: cluster.now(), $parts: taken }
            await cluster.commit([...changes, cluster.put(GROUP_SNAPSHOTS, record, { expect: 'absent' })])
          })
        },
      },
    ],
  }),
  remove: job({
    async plan(cluster, { row }) {
      await deletable(cluster, row)
      const { 'svm.uuid': svm, name: called } = row
      return {
        key: row['uuid'],
        input: { 'svm.uuid': svm, name: called },
        locks: row.$parts.map(({ volume }) => `volume:${volume}`),
      }
    },
    steps: [
      {
        name: 'drop snapshots',
        async run(cluster, { key }) {
          const row = await cluster.find(GROUP_SNAPSHOTS, key)
          if (row === undefined) return
          const left = await deletable(cluster, row)
          await cluster.commit([
            ...left.flatMap((snapshot) => dropChanges(cluster, snapshot)),
            { do: 'remove-record', type: GROUP_SNAPSHOTS, key },
          ])
        },
      },
    ],
  }),
})

function snapshotOf(
  cluster: Cluster,
  input: NewOf<typeof GROUP_SNAPSHOTS> & { readonly 'svm.uuid': string },
  volume: string,
  uuid: string,
): Snapshot {
  const { name: called, comment, snapmirror_label: label } = input
  return {
    uuid,
    name: called,
    'volume.uuid': volume,
    'svm.uuid': input['svm.uuid'],
    create_time: cluster.now(),
    ...(comment === undefined ? {} : { comment }),
    ...(label === undefined ? {} : { snapmirror_label: label }),
  }
}

/** The snapshots of volumes that it still has; fails where one of them may not go now. */
async function deletable(cluster: Cluster, row: GroupSnapshot): Promise<Snapshot[]> {
  const left: Snapshot[] = []
  for (const { snapshot } of row.$parts) {
    const taken = await cluster.find(SNAPSHOTS, snapshot)
    if (taken === undefined) continue
    const why = whyKept(taken, cluster.now())
    if (why !== undefined) throw why
    left.push(taken)
  }
  return left
}

async function insistOnTakeable(cluster: Cluster, key: string, called: string): Promise<void> {
  const volume = await cluster.row(VOLUMES, key)
  const whose = `The volume "${volume['name']}"`
  insistOnReadWrite(volume, 'volumeProtected')
  if (volume['state'] === 'offline') throw failure('memberOffline', { volume: whose })
  if ((await cluster.keyOfName(SNAPSHOTS, called, key)) !== undefined) {
    throw failure('memberSnapshotTaken', { volume: whose })
  }
  if ((await cluster.catalog.snapshots(key)).length < SNAPSHOTS_MAX) return
  throw failure('memberSnapshotLimit', { volume: whose, max: SNAPSHOTS_MAX })
}

async function insistOnName(
  cluster: Cluster,
  { name: called }: { readonly name: string },
  group: string,
): Promise<void> {
  if ((await cluster.keyOfName(GROUP_SNAPSHOTS, called, group)) === undefined) return
  throw failure('groupSnapshotTaken', { name: called })
}
