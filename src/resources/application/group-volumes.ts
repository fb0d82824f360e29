/** The volumes of a consistency group: those that a request makes, adds or takes out, and how all are shown. */
import type { Cluster } from '../../core/cluster.ts'
import type { Derivation } from '../../core/behaviour.ts'
import { resolveReferences } from '../../core/read/references.ts'
import type { VerbRequest } from '../../core/verb.ts'
import { failure } from '../../model/failure.ts'
import { bytes, count, each, group, name, oneOf, text, uuid, type ValueOf } from '../../model/kinds/index.ts'
import type { Row, Value } from '../../model/value.ts'
import { VOLUME_BYTES_MAX, VOLUME_BYTES_MIN } from '../storage/volumes/size.ts'
import { chargedTo, reserveOf } from '../storage/volumes/reserve.ts'
import { isReadOnly } from '../storage/volumes/types.ts'
import { type Group, groupOf } from './members.ts'
import { type NewVolume, planVolumes, type PlannedVolumes } from './new-volumes.ts'
import type { Volume, VolumeDraft } from '../../records/rows.ts'

const VOLUMES = 'storage/volumes'
/** Volumes of one group: the limit of the field. */
export const MEMBERS_MAX = 80

const reference = (what: string) =>
  group({
    name: { kind: text({ charactersMax: 255 }), doc: `The name of ${what}.` },
    uuid: { kind: uuid(), doc: `The UUID of ${what}.` },
  })

export const memberKind = each(
  {
    name: { kind: name(), doc: 'The name of the volume.' },
    uuid: { kind: uuid(), doc: 'The UUID of the volume.' },
    space: {
      kind: group({
        size: {
          kind: bytes({ min: VOLUME_BYTES_MIN, max: VOLUME_BYTES_MAX }),
          doc: 'The size of the volume in bytes.',
        },
        used: { kind: bytes(), doc: 'Bytes used in the volume.', readOnly: true },
        available: { kind: bytes(), doc: 'Bytes available in the volume.', readOnly: true },
      }),
      doc: 'The space of the volume.',
    },
    snapshot_policy: { kind: reference('the policy'), doc: 'The snapshot policy of the volume.' },
    qos: {
      kind: group({ policy: { kind: reference('the policy'), doc: 'The QoS policy.' } }),
      doc: 'The limits of throughput of the volume.',
    },
    comment: { kind: text({ charactersMax: 1023 }), doc: 'A comment that describes the volume.' },
    provisioning_options: {
      kind: group({
        action: {
          kind: oneOf({
            create: 'Create the volume.',
            add: 'Add an existing volume.',
            remove: 'Remove the volume from the group.',
          }),
          doc: 'The action on the volume. Default: an existing volume is added, and a volume with a size is created.',
        },
        count: {
          kind: count({ min: 1, max: MEMBERS_MAX }),
          doc: 'The number of volumes to create. Each is named with the name, "_" and a number.',
        },
      }),
      doc: 'The action on the volume.',
    },
  },
  { elementsMax: MEMBERS_MAX },
)

/** What a request says of one volume of a group. */
export type Member = ValueOf<typeof memberKind>[number]

type Named = { readonly name?: string; readonly uuid?: string }
type Space = { readonly size: number; readonly used: number; readonly available: number }

/** A group whose record may not be there yet. */
export type GroupToBe = Pick<Group, 'uuid' | 'svm.uuid' | 'qos.policy.uuid' | '$volumes'>

export interface PlannedMembers extends PlannedVolumes {
  /** The UUIDs of all volumes that the group has then. */
  readonly members: readonly string[]
}

/** What becomes of the volumes of a group by what a request says of some of them. */
export async function planMembers(
  cluster: Cluster,
  request: VerbRequest,
  group: GroupToBe,
  given: readonly Member[],
): Promise<PlannedMembers> {
  const [members, drafts]: [string[], NewVolume[]] = [[...group.$volumes], []]
  const svm = group['svm.uuid']
  for (const one of given) {
    const volume = await volumeNamed(cluster, svm, one)
    const asked = one.provisioning_options?.action
    const size = one.space?.size
    const isThere = volume !== undefined && members.includes(volume['uuid'])
    const action = asked ?? (isThere ? 'keep' : volume === undefined && size !== undefined ? 'create' : 'add')
    if (action === 'create') {
      drafts.push(...(await newMembers(cluster, group, one)))
      continue
    }
    if (volume === undefined) {
      throw failure('memberVolumeNotFound', { name: nameOf(one) })
    }
    await insistOnSame(cluster, volume, one)
    const key = volume['uuid']
    if (action === 'remove') {
      if (!isThere) throw failure('volumeNotMember', { name: nameOf(one) })
      members.splice(members.indexOf(key), 1)
    } else if (!isThere) {
      await insistOnFree(cluster, volume, group['uuid'])
      members.push(key)
    }
  }
  const planned = await planVolumes(cluster, request, drafts)
  members.push(...planned.rows.map((row) => row['uuid']))
  if (members.length > MEMBERS_MAX) {
    throw failure('tooManyMembers', { max: MEMBERS_MAX })
  }
  return { ...planned, members }
}

async function newMembers(cluster: Cluster, group: GroupToBe, one: Member): Promise<NewVolume[]> {
  const svm = group['svm.uuid']
  const size = one.space?.size
  const base = one.name ?? ''
  if (size === undefined || base === '') {
    throw failure('newMemberIncomplete')
  }
  const times = one.provisioning_options?.count
  const policies: Row = {
    'svm.uuid': svm,
    ...referenceTo('snapshot_policy', one.snapshot_policy),
    ...referenceTo('qos.policy', one.qos?.policy),
  }
  const shared = await resolveReferences(cluster, cluster.registry.resource(VOLUMES), policies)
  const ceiling = group['qos.policy.uuid']
  const common: VolumeDraft = {
    ...(ceiling === undefined ? {} : { 'qos.policy.uuid': ceiling }),
    ...shared,
    size,
    ...(one.comment === undefined ? {} : { comment: one.comment }),
  }
  if (times === undefined) return [{ name: base, ...common }]
  return Array.from({ length: times }, (): NewVolume => ({ name: base, $numbered: base, ...common }))
}

function referenceTo(base: 'snapshot_policy' | 'qos.policy', { name: named, uuid: key }: Named = {}): Row {
  return {
    ...(named === undefined ? {} : { [`${base}.name`]: named }),
    ...(key === undefined ? {} : { [`${base}.uuid`]: key }),
  }
}

async function volumeNamed(cluster: Cluster, svm: string, one: Member): Promise<Volume | undefined> {
  const key = one.uuid ?? (await cluster.keyOfName(VOLUMES, one.name ?? '', svm)) ?? ''
  const volume = await cluster.find(VOLUMES, key)
  if (volume === undefined || volume['svm.uuid'] !== svm) return undefined
  if (one.name !== undefined && one.name !== volume['name']) {
    throw failure('memberNameMismatch')
  }
  return volume
}

/** A volume that is there is changed at its own place: what is said of it here has to be as it is. */
async function insistOnSame(cluster: Cluster, volume: Volume, one: Member): Promise<void> {
  const said: readonly (readonly [string, Value | undefined, Value | undefined])[] = [
    ['space.size', one.space?.size, volume['size']],
    ['comment', one.comment, volume['comment']],
    ...(await policySaid(cluster, 'snapshot_policy', 'storage/snapshot-policies', volume, one.snapshot_policy)),
    ...(await policySaid(cluster, 'qos.policy', 'storage/qos/policies', volume, one.qos?.policy)),
  ]
  const other = said.find(([, given, is]) => given !== undefined && given !== is)
  if (other === undefined) return
  throw failure('memberFieldFixed', { field: other[0], volume: volume['name'] })
}

async function policySaid(
  cluster: Cluster,
  base: 'qos.policy' | 'snapshot_policy',
  type: Policies,
  volume: Volume,
  given: Named | undefined,
) {
  if (given === undefined) return []
  const is = await named(cluster, type, volume[`${base}.uuid`])
  return (['name', 'uuid'] as const).map((part) => [`${base}.${part}`, given[part], is?.[part]] as const)
}

/** That a volume may come into a group: it is in no other, and snapshots can be taken of it. */
export async function insistOnFree(cluster: Cluster, volume: Volume, group: string): Promise<void> {
  const other = await groupOf(cluster, volume['uuid'])
  if (other !== undefined && other['uuid'] !== group) {
    throw failure('volumeInAnotherGroup', { volume: volume['name'], group: other['name'] ?? '' })
  }
  if (!isReadOnly(volume)) return
  throw failure('memberReadOnly', { volume: volume['name'] })
}

function nameOf(one: Member): string {
  return (one.name ?? one.uuid ?? '').slice(0, 80)
}

/** The volumes of groups as they are now, and what they have together. */
export const groupVolumes: Derivation<Group> = {
  gives: ['volumes', 'space'],
  async from(cluster, rows, once) {
    const sums = await once('counters', () => cluster.volumeSums.all())
    const derived: Row[] = []
    for (const row of rows) {
      const volumes: (Row & { readonly space: Space })[] = []
      for (const key of row.$volumes) {
        const volume = await cluster.find(VOLUMES, key)
        if (volume === undefined) continue
        const held = sums.get(key) ?? { usedBytes: 0, snapshotBytes: 0 }
        const size = volume['size']
        const used = chargedTo(volume, held) - reserveOf(volume)
        const available = Math.max(0, size - chargedTo(volume, held))
        const snapshotPolicy = await named(cluster, 'storage/snapshot-policies', volume['snapshot_policy.uuid'])
        const ceiling = await named(cluster, 'storage/qos/policies', volume['qos.policy.uuid'])
        volumes.push({
          name: volume['name'],
          uuid: key,
          space: { size, used, available },
          ...(snapshotPolicy === undefined ? {} : { snapshot_policy: snapshotPolicy }),
          ...(ceiling === undefined ? {} : { qos: { policy: ceiling } }),
          ...(volume['comment'] === undefined ? {} : { comment: volume['comment'] }),
        })
      }
      const sum = (path: keyof Space) => volumes.reduce((all, { space }) => all + space[path], 0)
      derived.push({
        volumes,
        'space.size': sum('size'),
        'space.used': sum('used'),
        'space.available': sum('available'),
      })
    }
    return derived
  },
}

type Policies = 'storage/snapshot-policies' | 'storage/qos/policies'

async function named(cluster: Cluster, type: Policies, key: string | undefined): Promise<Named | undefined> {
  if (key === undefined) return undefined
  const row = await cluster.find(type, key)
  return row === undefined ? undefined : { name: row['name'], uuid: key }
}
