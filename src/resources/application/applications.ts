import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { count, flag, name, oneOf, time, uuid } from '../../model/kinds/index.ts'
import { groups, resource } from '../../model/resource.ts'
import type { FieldDeclaration } from '../../model/resource.ts'
import type { Row } from '../../model/value.ts'
import { chargedTo, reserveOf } from '../storage/volumes/reserve.ts'
import { createApplication, removeApplication } from './application-verbs.ts'
import { APPLICATIONS, type Component } from './members.ts'
import { nasFields } from './nas-template.ts'
import { refused } from './refused.ts'

/** Templates that are made of what this cluster does not have, and why. */
const OTHERS: Readonly<Record<string, string>> = {
  san: 'there are no LUNs',
  nvme: 'there are no namespaces',
  s3_bucket: 'make buckets at /protocols/s3/buckets',
  maxdata_on_san: 'there are no LUNs',
  mongo_db_on_san: 'there are no LUNs',
  oracle_on_nfs: 'the template nas makes volumes of any use',
  oracle_on_san: 'there are no LUNs',
  oracle_rac_on_nfs: 'the template nas makes volumes of any use',
  oracle_rac_on_san: 'there are no LUNs',
  sql_on_san: 'there are no LUNs',
  sql_on_smb: 'the template nas makes volumes of any use',
  vdi_on_nas: 'the template nas makes volumes of any use',
  vdi_on_san: 'there are no LUNs',
  vsi_on_nas: 'the template nas makes volumes of any use',
  vsi_on_san: 'there are no LUNs',
}

const otherTemplates = Object.fromEntries(
  Object.entries(OTHERS).map(([template, why]): [string, FieldDeclaration] => [
    template,
    { doc: `Refused: ${why}.`, kind: refused(`this template is not offered: ${why}.`), set: 'create' },
  ]),
)

const applicationsResource = resource({
  path: `/${APPLICATIONS}`,
  noun: 'application',
  doc: 'Applications are volumes that are created from a template, and deleted together.',
  // Exports have the volumes: these cannot be made a second time with an application.
  isContent: true,
  key: ['uuid'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  columns: ['name', 'svm.name', 'state', 'statistics.space.used', 'statistics.space.provisioned', 'creation_timestamp'],
  fields: {
    ...groups({
      template: 'The template that the application was made from.',
      nas: 'The parts of an application of the template nas.',
      'nas.protection_type': 'How the parts of the application are protected.',
      statistics: 'The space of the application.',
      'statistics.space': 'The space of the volumes of the application.',
    }),
    uuid: { doc: 'The UUID of the application.', kind: uuid() },
    name: {
      doc: 'The name of the application, unique within its SVM.',
      kind: name(),
      set: 'create',
      required: true,
    },
    svm: { doc: 'The SVM that the application belongs to.', ref: 'svm/svms', set: 'create', required: true },
    smart_container: {
      doc: 'Whether the application is managed as a unit. Stored without effect: it always is.',
      kind: flag(),
      set: 'create',
      default: false,
    },
    'template.name': {
      doc: 'The template of the application.',
      kind: oneOf({ nas: 'Volumes for NFS and SMB.' }),
      set: 'create',
    },
    'template.protocol': { doc: 'The protocol of the application.', kind: oneOf({ nas: 'NFS and SMB.' }) },
    ...nasFields,
    ...otherTemplates,
    state: { doc: 'Whether the application can be used.', kind: oneOf({ online: 'The application can be used.' }) },
    generation: {
      doc: 'The number of the generation of the application. Applications of generation 2 and later can have snapshots.',
      kind: count(),
    },
    protection_granularity: {
      doc: 'The unit of snapshots of the application.',
      kind: oneOf({ component: 'A component of the application.' }),
    },
    creation_timestamp: { doc: 'When the application was created.', kind: time() },
    'statistics.space.provisioned': {
      doc: 'The total size of the volumes, in bytes.',
      kind: count({ unit: 'bytes' }),
    },
    'statistics.space.used': { doc: 'Bytes used in the volumes.', kind: count({ unit: 'bytes' }) },
    'statistics.space.available': { doc: 'Bytes available in the volumes.', kind: count({ unit: 'bytes' }) },
    'statistics.shared_storage_pool': { doc: 'Whether other applications share the volumes.', kind: flag() },
  },
})

export const applications: Behaviour<typeof applicationsResource> = define(applicationsResource, {
  derive: [
    {
      gives: ['state', 'generation', 'protection_granularity', 'template.protocol'],
      from: (_cluster, rows) =>
        Promise.resolve(
          rows.map(() => ({
            state: 'online',
            generation: 2,
            protection_granularity: 'component',
            'template.protocol': 'nas',
          })),
        ),
    },
    {
      gives: ['statistics'],
      async from(cluster, rows) {
        const derived: Row[] = []
        for (const row of rows) {
          const spaces = await Promise.all(row.$components.map((component) => spaceOf(cluster, component)))
          const sum = (path: keyof Space) => spaces.reduce((all, space) => all + space[path], 0)
          derived.push({
            'statistics.space.provisioned': sum('provisioned'),
            'statistics.space.used': sum('used'),
            'statistics.space.available': sum('available'),
            'statistics.shared_storage_pool': false,
          })
        }
        return derived
      },
    },
  ],
  create: createApplication,
  remove: removeApplication,
})

interface Space {
  readonly provisioned: number
  readonly used: number
  readonly available: number
}

/** What the volumes of a part have together. */
async function spaceOf(cluster: Cluster, { volumes }: Component): Promise<Space> {
  const sums = await cluster.volumeSums.all()
  let [provisioned, used, available] = [0, 0, 0]
  for (const uuid of volumes) {
    const volume = await cluster.find('storage/volumes', uuid)
    if (volume === undefined) continue
    const held = sums.get(volume['uuid']) ?? { usedBytes: 0, snapshotBytes: 0 }
    const size = volume['size']
    provisioned += size
    used += chargedTo(volume, held) - reserveOf(volume)
    available += Math.max(0, size - chargedTo(volume, held))
  }
  return { provisioned, used, available }
}
