import { aggregateOf } from '../../storage/aggregate-of.ts'
import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Derivation } from '../../core/behaviour.ts'
import { name, text, time, uuid } from '../../model/kinds/index.ts'
import { groups, resource } from '../../model/resource.ts'
import { ofVolumes, operationFields } from '../metric-readings.ts'
import { tagFields } from '../tags.ts'
import { createAggregate, modifyAggregate, removeAggregate } from './aggregates/verbs.ts'
import { diskFields, diskReadings } from './aggregates/disk-fields.ts'
import { packFields, packReadings } from './aggregates/pack-fields.ts'
import { spaceFields, spaceReadings } from './aggregates/space-fields.ts'
import type { Aggregate } from '../../records/rows.ts'

const node: Derivation<Aggregate> = {
  gives: ['node', 'home_node'],
  async from(cluster, rows) {
    const { name = null, uuid: key = null } = (await cluster.rows('cluster/nodes'))[0] ?? {}
    return rows.map(() => ({
      'node.name': name,
      'node.uuid': key,
      'home_node.name': name,
      'home_node.uuid': key,
    }))
  },
}

const place: Derivation<Aggregate> = {
  gives: ['block_storage.path'],
  from: (cluster, rows) => Promise.resolve(rows.map((row) => ({ 'block_storage.path': cluster.engineOf(row).place }))),
}

const aggregatesResource = resource({
  path: '/storage/aggregates',
  noun: 'aggregate',
  doc: 'Aggregates store the data of volumes. Each is a folder on a disk, and has the space of that disk.',
  key: ['uuid'],
  columns: [
    'name',
    'state',
    'space.block_storage.used',
    'space.block_storage.size',
    'space.block_storage.used_percent',
    'volume_count',
    'node.name',
    'block_storage.path',
  ],
  form: { Aggregate: ['name', 'block_storage.path'] },
  fields: {
    ...groups({
      'space.block_storage': 'The space on the disks of the aggregate.',
      'space.efficiency': 'The savings of storage efficiency, including snapshots and clones.',
      'space.efficiency_without_snapshots': 'The savings of storage efficiency, without snapshots.',
      'space.efficiency_without_snapshots_flexclones':
        'The savings of storage efficiency, without snapshots and clones.',
      'space.cloud_storage': 'The space used in cloud stores.',
      'space.snapshot': 'The space of snapshots of the aggregate itself.',
      snapshot: 'Files in snapshots of the aggregate itself.',
    }),
    uuid: { doc: 'The UUID of the aggregate.', kind: uuid() },
    name: { doc: 'The name of the aggregate.', kind: name(), set: 'always', required: true },
    block_storage: { doc: 'The disks of the aggregate.', isGroup: true },
    'block_storage.path': {
      doc: 'The absolute path of the folder that stores the aggregate. The folder is created if missing, and must be empty. Default: a new folder next to that of the oldest aggregate.',
      kind: text({ pattern: /^\//, patternDoc: 'a path that begins with "/"' }),
      set: 'create',
    },
    ...diskFields,
    create_time: { doc: 'When the aggregate was created.', kind: time() },
    node: { doc: 'The node that serves the aggregate.', isGroup: true },
    'node.name': { doc: 'The name of the node that serves the aggregate.', kind: text(), set: 'create' },
    'node.uuid': { doc: 'The UUID of the node that serves the aggregate.', kind: uuid() },
    home_node: { doc: 'The node that the aggregate belongs to.', isGroup: true },
    'home_node.name': { doc: 'The name of the node that the aggregate belongs to.', kind: text() },
    'home_node.uuid': { doc: 'The UUID of the node that the aggregate belongs to.', kind: uuid() },
    ...spaceFields,
    ...packFields,
    ...operationFields,
    ...tagFields,
  },
})

export const aggregates: Behaviour<typeof aggregatesResource> = define(aggregatesResource, {
  derive: [node, place, diskReadings, ...spaceReadings, packReadings, ...ofVolumes(aggregateOf)],
  create: createAggregate,
  modify: modifyAggregate,
  remove: removeAggregate,
})
