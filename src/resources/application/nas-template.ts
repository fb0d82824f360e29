/** The template `nas`: parts of one or more volumes each, with who may mount them, and how they are protected. */
import type { Cluster } from '../../core/cluster.ts'
import { resolveReferences } from '../../core/read/references.ts'
import type { Making } from '../../core/verb.ts'
import { failure } from '../../model/failure.ts'
import {
  bytes,
  count,
  each,
  flag,
  group,
  name,
  oneOf,
  only,
  text,
  uuid,
  type ValueOf,
} from '../../model/kinds/index.ts'
import type { Fields } from '../../model/resource.ts'
import type { Row } from '../../model/value.ts'
import type { VolumeDraft } from '../../records/rows.ts'
import { withExportPolicy } from '../protocols/nfs/named-export-policy.ts'
import { chooseAggregate } from '../storage/volumes/placement.ts'
import { VOLUME_BYTES_MAX, VOLUME_BYTES_MIN } from '../storage/volumes/size.ts'
import { planVolumes, type PlannedVolumes } from './new-volumes.ts'
import type { Component } from './members.ts'

/** Parts of an application, and volumes of a part: the limits of the field. */
const COMPONENTS_MAX = 10
const SHARES_MAX = 10
const ACCESSES_MAX = 100

const named = (what: string) =>
  group({
    name: { kind: text({ charactersMax: 255 }), doc: `The name of ${what}.` },
    uuid: { kind: uuid(), doc: `The UUID of ${what}.` },
  })

const component = each(
  {
    name: { kind: name(), doc: 'The name of the component and of its volumes.', required: true },
    total_size: {
      kind: bytes({ min: VOLUME_BYTES_MIN, max: SHARES_MAX * VOLUME_BYTES_MAX }),
      doc: 'The total size of the component in bytes, divided among the volumes.',
      required: true,
    },
    share_count: {
      kind: count({ min: 1, max: SHARES_MAX }),
      doc: 'The number of volumes of the component. Default: 1.',
    },
    scale_out: {
      kind: only(false, flag(), 'a volume lies in one aggregate; there are no FlexGroups.'),
      doc: 'Whether a volume is spread over aggregates. Always false.',
    },
    storage_service: {
      kind: group({
        name: {
          kind: oneOf({ value: 'Low performance.', performance: 'High performance.', extreme: 'Highest performance.' }),
          doc: 'The name.',
        },
      }),
      doc: 'The storage service of the component. Stored without effect: use `qos` for limits.',
    },
    qos: {
      kind: group({ policy: { kind: named('the policy'), doc: 'The QoS policy.' } }),
      doc: 'The limits of throughput of the component.',
    },
    export_policy: {
      kind: group({
        name: { kind: text({ charactersMax: 256 }), doc: 'The name.' },
        id: { kind: count({ min: 0 }), doc: 'The ID of the export policy.' },
      }),
      doc: 'The export policy of the component. Replaces `nas.nfs_access`.',
    },
    tiering: {
      kind: group({
        control: {
          kind: oneOf({
            disallowed: 'A cloud tier must not be used.',
            best_effort: 'A cloud tier may be used.',
            required: 'A cloud tier must be used.',
          }),
          doc: 'Whether the component needs a cloud tier. `required` is refused: there is no cloud tier.',
        },
        policy: {
          kind: oneOf({
            none: 'No data.',
            auto: 'Data that was not read for a while.',
            snapshot_only: 'Data that only snapshots hold.',
            all: 'All data.',
          }),
          doc: 'Which data is tiered. Stored without effect.',
        },
      }),
      doc: 'The tiering of the component.',
    },
  },
  { elementsMax: COMPONENTS_MAX },
)

const REMOTE_RPOS = {
  none: 'The application is not replicated.',
  zero: 'At once.',
  hourly: 'Every hour.',
  '6_hourly': 'Every six hours.',
  daily: 'Every day.',
  weekly: 'Every week.',
} as const

export const nasFields = {
  'nas.application_components': { doc: 'The components of the application.', kind: component, set: 'create' },
  'nas.nfs_access': {
    doc: 'The NFS clients that may mount the volumes. The application gets its own export policy.',
    kind: each(
      {
        host: { kind: text({ charactersMin: 1, charactersMax: 4096 }), doc: 'The host, network or netgroup.' },
        access: {
          kind: oneOf({ none: 'No access.', ro: 'Read.', rw: 'Read and write.' }),
          doc: 'The access of the host. Default: `rw`.',
        },
      },
      { elementsMax: ACCESSES_MAX },
    ),
    set: 'create',
  },
  'nas.cifs_access': {
    doc: 'The SMB users that may use the volumes. Each volume gets a share with its name.',
    kind: each(
      {
        user_or_group: {
          kind: text({ charactersMin: 1, charactersMax: 256 }),
          doc: 'The user or group. Default: `Everyone`.',
        },
        access: {
          kind: oneOf({
            no_access: 'No access.',
            read: 'Read.',
            change: 'Read and write.',
            full_control: 'Read, write, and change permissions.',
          }),
          doc: 'The access of the user or group. Default: `full_control`.',
        },
      },
      { elementsMax: ACCESSES_MAX },
    ),
    set: 'create',
  },
  'nas.exclude_aggregates': {
    doc: 'The aggregates that are not used for volumes of the application.',
    refs: 'storage/aggregates',
    set: 'create',
    since: '9.9.1',
  },
  'nas.protection_type.local_rpo': {
    doc: 'How often snapshots are taken.',
    kind: oneOf({ none: 'No snapshots are taken.', hourly: 'Every hour.' }),
    set: 'create',
  },
  'nas.protection_type.local_policy': {
    doc: 'The name of the snapshot policy of the volumes.',
    kind: text({ charactersMax: 255 }),
    set: 'create',
  },
  'nas.protection_type.remote_rpo': {
    doc: 'How often the application is replicated. Always `none`.',
    kind: only('none', oneOf(REMOTE_RPOS), 'there is no replication yet.'),
    set: 'create',
  },
} as const satisfies Fields

export interface PlannedNas extends PlannedVolumes {
  readonly components: readonly Component[]
}

/** One part, as a request describes it. */
type Part = ValueOf<typeof component>[number]
type Draft = Making<'application/applications'>['draft']

/** The volumes that the template is made of, as they would be planned one by one. */
export async function planNas(cluster: Cluster, request: Making<'application/applications'>): Promise<PlannedNas> {
  const { draft } = request
  const given = draft['nas.application_components'] ?? []
  if (given.length === 0) throw failure('fieldRequired', { field: 'nas.application_components' })
  const drafts: { readonly component: string; readonly draft: VolumeDraft }[] = []
  for (const one of given) {
    if (drafts.some(({ component }) => component === one.name)) {
      throw failure('componentNameTaken', { name: one.name })
    }
    const shared = await volumeOf(cluster, draft, one)
    for (const share of sharesOf(one)) drafts.push({ component: one.name, draft: { ...shared, ...share } })
  }
  const planned = await planVolumes(
    cluster,
    request,
    drafts.map((one) => one.draft),
  )
  const components = given.map((one): Component => {
    const part = one.name
    const volumes = planned.rows.filter((_, at) => drafts[at]?.component === part).map((row) => row['uuid'])
    // Known by its first volume.
    return { uuid: volumes[0] ?? '', name: part, volumes }
  })
  return { ...planned, components }
}

/** What all volumes of a part have in common. */
async function volumeOf(cluster: Cluster, draft: Draft, part: Part): Promise<VolumeDraft> {
  const svm = { 'svm.uuid': draft['svm.uuid'] }
  const { name: policy, uuid: policyUuid } = part.qos?.policy ?? {}
  const { tiering, export_policy: exportPolicy } = part
  if (tiering?.control === 'required') {
    throw failure('cloudTierMissing')
  }
  const named: VolumeDraft = {
    ...svm,
    ...(policy === undefined ? {} : { 'qos.policy.name': policy }),
    ...(policyUuid === undefined ? {} : { 'qos.policy.uuid': policyUuid }),
    'snapshot_policy.name': snapshotPolicy(draft),
  }
  const resource = cluster.registry.resource('storage/volumes')
  const excluded = new Set((draft['nas.exclude_aggregates'] ?? []).map(({ uuid }) => uuid))
  const exported: Row = {
    'nas.export_policy.name': exportPolicy?.name ?? null,
    'nas.export_policy.id': exportPolicy?.id ?? null,
  }
  if (draft['nas.nfs_access'] !== undefined && Object.values(exported).some((value) => value !== null)) {
    throw failure('componentExportPolicyTwice')
  }
  return {
    ...(await resolveReferences(cluster, resource, named)),
    ...(await withExportPolicy(cluster, exported, 'nas.export_policy', draft['svm.uuid'])),
    ...(tiering?.policy === undefined ? {} : { 'tiering.policy': tiering.policy }),
    aggregates: [{ uuid: await chooseAggregate(cluster, svm, undefined, excluded) }],
  }
}

function snapshotPolicy(draft: Draft): string {
  const given = draft['nas.protection_type.local_policy'] ?? ''
  const rpo = draft['nas.protection_type.local_rpo'] ?? ''
  return given || (rpo === 'none' ? 'none' : 'default')
}

/** Name, size and place of each volume of a part. That of a part with one volume has its name, as tools expect it. */
function sharesOf({ name: base, share_count: shares = 1, total_size: bytes }: Part): VolumeDraft[] {
  return Array.from({ length: shares }, (_, at) => {
    const volume = shares === 1 ? base : `${base}_${at + 1}`
    return { name: volume, size: Math.ceil(bytes / shares), 'nas.path': `/${volume}` }
  })
}
