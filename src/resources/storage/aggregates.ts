import { aggregateOf } from '../../core/aggregate-of.ts'
import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Derivation } from '../../core/behaviour.ts'
import { name, text, time, uuid } from '../../model/kinds/index.ts'
import { groups, resource } from '../../model/resource.ts'
import { ofVolumes, operationFields } from '../metric-readings.ts'
import { tagFields } from '../tags.ts'
import { createAggregate, modifyAggregate, removeAggregate } from './aggregate-verbs.ts'
import { diskFields, diskReadings } from './aggregates/disk-fields.ts'
import { packFields, packReadings } from './aggregates/pack-fields.ts'
import { spaceFields, spaceReadings } from './aggregates/space-fields.ts'

const node: Derivation = {
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

const place: Derivation = {
  gives: ['block_storage.path'],
  from: (cluster, rows) => Promise.resolve(rows.map((row) => ({ 'block_storage.path': cluster.engineOf(row).place }))),
}

const aggregatesResource = resource({
  path: '/storage/aggregates',
  noun: 'aggregate',
  doc: 'Folders on disks that hold the data of volumes. Their space is what the disk says.',
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
      'space.efficiency': 'What storage efficiency saves, snapshots and clones included.',
      'space.efficiency_without_snapshots': 'What storage efficiency saves, without snapshots.',
      'space.efficiency_without_snapshots_flexclones': 'What storage efficiency saves, without snapshots and clones.',
      'space.cloud_storage': 'The space used in cloud stores.',
      'space.snapshot': 'The space of snapshots of the aggregate itself.',
      snapshot: 'Files in snapshots of the aggregate itself.',
    }),
    uuid: { doc: 'The UUID of the aggregate.', kind: uuid() },
    name: { doc: 'The name of the aggregate.', kind: name(), set: 'always', required: true },
    block_storage: { doc: 'The disks of the aggregate.', isGroup: true },
    'block_storage.path': {
      doc: 'The folder of the machine that it is: an absolute path. It is made when it is not there, and must be empty. Without it, a new one beside that of the oldest aggregate.',
      kind: text({ pattern: /^\//, patternDoc: 'a path that begins with "/"' }),
      set: 'create',
    },
    ...diskFields,
    create_time: { doc: 'When it was made.', kind: time() },
    node: { doc: 'The node that serves the aggregate.', isGroup: true },
    'node.name': { doc: 'The node that serves it.', kind: text(), set: 'create' },
    'node.uuid': { doc: 'The UUID of that node.', kind: uuid() },
    home_node: { doc: 'The node that the aggregate belongs to.', isGroup: true },
    'home_node.name': { doc: 'The node that it belongs to.', kind: text() },
    'home_node.uuid': { doc: 'The UUID of that node.', kind: uuid() },
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
