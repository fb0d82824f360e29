import { type Behaviour, define, type Derivation } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { bytes, each, group, list, name, oneOf, text, time, uuid } from '../../../model/kinds/index.ts'
import { groups, resource } from '../../../model/resource.ts'
import type { RowIn, RowOf } from '../../../model/rows.ts'
import type { Row } from '../../../model/value.ts'
import { EXPORT_POLICIES } from '../../protocols/nfs/export-policies.ts'
import { CIFS_SHARES } from '../../protocols/cifs/shares.ts'
import { APPLICATIONS } from '../members.ts'
import type { Volume } from '../../../records/rows.ts'

const VOLUME_TYPES = {
  rw: 'Clients read and write.',
  dp: 'The destination of a replication; clients only read.',
  ls: 'A load-sharing mirror; clients only read.',
} as const

const backing = group({
  type: { kind: oneOf({ volume: 'A volume.' }), doc: 'The type of the storage below the path.' },
  uuid: { kind: uuid(), doc: 'The UUID of the volume.' },
})

const applicationComponentsResource = resource({
  path: `/${APPLICATIONS}/{application.uuid}/components`,
  noun: 'application component',
  doc: 'The components of an application, with their volumes and paths.',
  key: ['uuid'],
  nameWithin: 'application.uuid',
  fields: {
    ...groups({
      backing_storage: 'The storage that holds the component.',
      qos: 'Quality of service of the component.',
      snapshot_policy: 'The snapshot policy of the component.',
    }),
    uuid: { doc: 'The UUID of the component.', kind: uuid() },
    name: { doc: 'The name of the component.', kind: name() },
    application: { doc: 'The application.', ref: APPLICATIONS },
    svm: { doc: 'The SVM of the application.', ref: 'svm/svms' },
    'backing_storage.volumes': {
      doc: 'The volumes of the component.',
      kind: each({
        uuid: { kind: uuid(), doc: 'The UUID of the volume.' },
        name: { kind: name(), doc: 'The name.' },
        size: { kind: bytes(), doc: 'The size of the volume in bytes.' },
        comment: { kind: text(), doc: 'The comment on the volume.' },
        creation_timestamp: { kind: time(), doc: 'When the volume was created.' },
        type: { kind: oneOf(VOLUME_TYPES), doc: 'The type of the volume.' },
      }),
    },
    nfs_access: {
      doc: 'The NFS access to the volumes of the component.',
      kind: each({
        path: { kind: text(), doc: 'The path of the volume.' },
        export_policy: {
          kind: group({ name: { kind: text(), doc: 'The name.' } }),
          doc: 'The export policy of the volume.',
        },
        backing_storage: { kind: backing, doc: 'The storage below the path.' },
      }),
    },
    cifs_access: {
      doc: 'The SMB access to the volumes of the component.',
      kind: each({
        path: { kind: text(), doc: 'The path of the volume.' },
        share: { kind: group({ name: { kind: text(), doc: 'The name.' } }), doc: 'The share.' },
        permissions: {
          kind: each({
            access: { kind: text(), doc: 'The access of the user or group.' },
            user_or_group: { kind: text(), doc: 'The user or group.' },
          }),
          doc: 'The permissions of the share.',
        },
        backing_storage: { kind: backing, doc: 'The storage below the path.' },
      }),
    },
    'qos.policy': { doc: 'The QoS policy of the volumes.', ref: 'storage/qos/policies' },
    'snapshot_policy.name': { doc: 'The name of the snapshot policy of the volumes.', kind: text() },
    aggregates: { doc: 'The names of the aggregates that store the volumes.', kind: list(text()) },
  },
})

async function volumesOf(cluster: Cluster, uuids: readonly string[]): Promise<Volume[]> {
  const found = await Promise.all(uuids.map((uuid) => cluster.find('storage/volumes', uuid)))
  return found.filter((volume) => volume !== undefined)
}

const at = (volume: Volume) => ({ type: 'volume', uuid: volume['uuid'] }) as const

/** The shares of the paths of volumes. An SVM may have many with long lists: no more than those are kept. */
const sharing: Derivation<RowIn<typeof applicationComponentsResource>> = {
  gives: ['cifs_access'],
  async from(cluster, rows) {
    const volumes = new Map<string, Volume[]>()
    for (const { uuid, 'application.uuid': application } of rows) {
      const parts = (await cluster.find(APPLICATIONS, application ?? ''))?.$components ?? []
      volumes.set(uuid, await volumesOf(cluster, parts.find((part) => part.uuid === uuid)?.volumes ?? []))
    }
    const paths = new Set([...volumes.values()].flat().map((volume) => volume['nas.path'] ?? ''))
    const shares: RowOf<typeof CIFS_SHARES>[] = []
    for (const svm of new Set(rows.map((row) => row['svm.uuid'])))
      for await (const page of cluster.rowPages(CIFS_SHARES, svm))
        shares.push(...page.filter(({ path }) => paths.has(path)))
    return rows.map(({ uuid }) => ({
      cifs_access: (volumes.get(uuid) ?? []).flatMap((volume) =>
        shares.filter((share) => share['path'] === volume['nas.path']).map((share) => accessBy(share, volume)),
      ),
    }))
  },
}

function accessBy(share: RowOf<typeof CIFS_SHARES>, volume: Volume) {
  return {
    path: share['path'] ?? null,
    share: { name: share['name'] ?? null },
    permissions: (share['acls'] ?? []).map((acl) => ({
      access: acl['permission'] ?? null,
      user_or_group: acl['user_or_group'] ?? null,
    })),
    backing_storage: at(volume),
  }
}

/** What is read of the volumes of a part, as they are now. */
async function readings(cluster: Cluster, uuids: readonly string[]): Promise<Row> {
  const volumes = await volumesOf(cluster, uuids)
  const [first] = volumes
  const policies = await cluster.rows(EXPORT_POLICIES)
  const policyOf = (volume: Volume) =>
    policies.find(({ id }) => id === volume['nas.export_policy.id']) ??
    policies.find((policy) => policy['name'] === 'default' && policy['svm.uuid'] === volume['svm.uuid'])
  const aggregates = new Set<string>()
  for (const volume of volumes) {
    for (const { uuid: aggregate } of volume['aggregates'] ?? []) {
      const row = await cluster.find('storage/aggregates', aggregate)
      aggregates.add(row?.['name'] ?? '')
    }
  }
  const snapshotPolicy = await cluster.find('storage/snapshot-policies', first?.['snapshot_policy.uuid'] ?? '')
  return {
    'backing_storage.volumes': volumes.map((volume) => ({
      uuid: volume['uuid'] ?? null,
      name: volume['name'] ?? null,
      size: volume['size'] ?? null,
      comment: volume['comment'] ?? null,
      creation_timestamp: volume['create_time'] ?? null,
      type: volume['type'] ?? null,
    })),
    nfs_access: volumes
      .filter((volume) => (volume['nas.path'] ?? '') !== '')
      .map((volume) => ({
        path: volume['nas.path'] ?? null,
        export_policy: { name: policyOf(volume)?.['name'] ?? null },
        backing_storage: at(volume),
      })),
    'qos.policy.uuid': first?.['qos.policy.uuid'] ?? null,
    'snapshot_policy.name': snapshotPolicy?.['name'] ?? null,
    aggregates: [...aggregates],
  }
}

export const applicationComponents: Behaviour<typeof applicationComponentsResource> = define(
  applicationComponentsResource,
  {
    async rows(cluster, path) {
      const application = await cluster.find(APPLICATIONS, path['application.uuid'] ?? '')
      if (application === undefined) return []
      return Promise.all(
        application.$components.map(async (component) => {
          const { uuid: key, name: part, volumes } = component
          const { uuid: application_uuid, 'svm.uuid': svm } = application
          const keys = { uuid: key, name: part, 'application.uuid': application_uuid, 'svm.uuid': svm }
          return Object.assign(keys, await readings(cluster, volumes))
        }),
      )
    },
    derive: [sharing],
  },
)
