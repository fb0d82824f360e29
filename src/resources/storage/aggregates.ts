import { aggregateOf } from '../../core/aggregate-of.ts'
import { define } from '../../core/behaviour.ts'
import type { Derivation } from '../../core/behaviour.ts'
import { bytes, count, decimal, flag, name, oneOf, only, text, time, uuid } from '../../model/kinds/index.ts'
import type { FieldDeclaration } from '../../model/resource.ts'
import { type Row, textAt } from '../../model/value.ts'
import { tagFields } from '../tags.ts'
import { spaceOf } from './aggregate-space.ts'
import { ratio } from './volumes/efficiency.ts'
import { createAggregate, modifyAggregate, removeAggregate } from './aggregate-verbs.ts'

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

/** A snapshot is no copy here, so there is one figure with snapshots and without. */
const EFFICIENCY = ['space.efficiency', 'space.efficiency_without_snapshots'] as const

const efficiency: Derivation = {
  gives: EFFICIENCY.flatMap((base) => [`${base}.logical_used`, `${base}.savings`, `${base}.ratio`]),
  async from(cluster, rows, once) {
    const counters = await once('counters', () => cluster.volumeSums.all())
    const held = new Map<string, { whole: number; stored: number }>()
    for (const volume of await cluster.rows('storage/volumes')) {
      const counted = counters.get(textAt(volume, 'uuid'))
      if (counted === undefined) continue
      const sums = held.get(aggregateOf(volume)) ?? { whole: 0, stored: 0 }
      sums.stored += counted.usedBytes
      sums.whole += counted.usedBytes + counted.savedByCompressionBytes + counted.savedByDedupeBytes
      held.set(aggregateOf(volume), sums)
    }
    return rows.map((row) => {
      const { whole, stored } = held.get(textAt(row, 'uuid')) ?? { whole: 0, stored: 0 }
      return Object.fromEntries(
        EFFICIENCY.flatMap((base) => [
          [`${base}.logical_used`, whole],
          [`${base}.savings`, whole - stored],
          [`${base}.ratio`, ratio(whole, stored)],
        ]),
      )
    })
  },
}

const efficiencyFields = Object.fromEntries(
  EFFICIENCY.flatMap((base) => [
    [
      `${base}.logical_used`,
      { doc: 'Bytes that its volumes hold, a shared body as often as it is there.', kind: bytes() },
    ],
    [`${base}.savings`, { doc: 'Of these, bytes that compression and deduplication save.', kind: bytes() }],
    [`${base}.ratio`, { doc: 'Bytes held for each byte that this takes.', kind: decimal() }],
  ]),
)

const space: Derivation = {
  gives: [
    'state',
    'space.block_storage.size',
    'space.block_storage.used',
    'space.block_storage.available',
    'space.block_storage.used_percent',
    'space.footprint',
    'space.total_provisioned_space',
    'volume-count',
  ],
  from: (cluster, rows) =>
    Promise.all(
      rows.map(async (row): Promise<Row> => {
        const found = await spaceOf(cluster, textAt(row, 'uuid'))
        const used = found.sizeBytes - found.availableBytes
        return {
          state: found.isThere ? 'online' : 'offline',
          'space.block_storage.size': found.sizeBytes,
          'space.block_storage.used': used,
          'space.block_storage.available': found.availableBytes,
          'space.block_storage.used_percent': found.sizeBytes === 0 ? 0 : Math.round((used / found.sizeBytes) * 100),
          'space.footprint': found.footprintBytes,
          'space.total_provisioned_space': found.provisionedBytes,
          'volume-count': found.volumes,
        }
      }),
    ),
}

/** What tools say of the disks of an aggregate. They are the machine's, so there is little that can be said. */
const diskFields: Record<string, FieldDeclaration> = {
  'block_storage.primary.disk_count': {
    doc: 'Of how many disks it is to be. Kept: disks are those of the machine.',
    kind: count({ min: 1, max: 10_000 }),
    set: 'always',
  },
  'block_storage.primary.raid_type': {
    doc: 'How it is to survive the loss of a disk. It does not: have the machine take care of that.',
    kind: only(
      'raid0',
      oneOf('raid0', 'raid4', 'raid_dp', 'raid_tec'),
      'disks are not mirrored here. Have the machine do that, below the folder.',
    ),
    set: 'create',
  },
  'block_storage.mirror.enabled': {
    doc: 'Whether it is mirrored. It is not.',
    kind: only(false, flag(), 'aggregates are not mirrored. Have the machine do that, below the folder.'),
    set: 'always',
    default: false,
  },
  'data_encryption.software_encryption_enabled': {
    doc: 'Whether its volumes are encrypted. They are not: encrypt the disk.',
    kind: only(false, flag(), 'volumes are not encrypted. Encrypt the disk that the folder lies on.'),
    set: 'always',
    default: false,
  },
  snaplock_type: {
    doc: 'Whether files in it are locked. They are not: lock objects.',
    kind: only(
      'non_snaplock',
      oneOf('non_snaplock', 'compliance', 'enterprise'),
      'files are not locked. Lock the objects of a bucket instead, with its retention.',
    ),
    set: 'create',
    default: 'non_snaplock',
  },
}

export const aggregates = define(
  {
    path: '/storage/aggregates',
    noun: 'aggregate',
    doc: 'Folders on disks that hold the data of volumes. Their space is what the disk says.',
    key: ['uuid'],
    fields: {
      uuid: { doc: 'The UUID of the aggregate.', kind: uuid() },
      name: { doc: 'The name of the aggregate.', kind: name(), set: 'always', required: true },
      state: {
        doc: '`offline` while its folder is not there, as when a disk is not mounted.',
        kind: oneOf('online', 'offline'),
      },
      'block_storage.path': {
        doc: 'The folder of the machine that it is: an absolute path. It is made when it is not there, and must be empty. Without it, a new one beside that of the oldest aggregate.',
        kind: text({ pattern: /^\//, patternDoc: 'a path that begins with "/"' }),
        set: 'create',
      },
      ...diskFields,
      create_time: { doc: 'When it was made.', kind: time() },
      'node.name': { doc: 'The node that serves it.', kind: text(), set: 'create' },
      'node.uuid': { doc: 'The UUID of that node.', kind: uuid() },
      'home_node.name': { doc: 'The node that it belongs to.', kind: text() },
      'home_node.uuid': { doc: 'The UUID of that node.', kind: uuid() },
      'space.block_storage.size': { doc: 'Bytes of the disk that volumes may use.', kind: bytes() },
      'space.block_storage.used': {
        doc: 'Bytes that are used on the disk, or promised to volumes with a guarantee.',
        kind: bytes(),
      },
      'space.block_storage.available': { doc: 'Bytes that new data or guarantees can have.', kind: bytes() },
      'space.block_storage.used_percent': { doc: 'Used, in percent of the size.', kind: count(), since: '9.13.1' },
      'space.footprint': {
        doc: 'Bytes that its volumes, also deleted ones in the recovery queue, use or have been promised.',
        kind: bytes(),
      },
      'space.total_provisioned_space': { doc: 'Sum of the sizes of its volumes.', kind: bytes() },
      ...efficiencyFields,
      'volume-count': { doc: 'How many volumes it has.', kind: count(), since: '9.11.1' },
      ...tagFields,
    },
  },
  {
    derive: [node, place, space, efficiency],
    create: createAggregate,
    modify: modifyAggregate,
    remove: removeAggregate,
  },
)
