import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { bytes, count, each, flag, oneOf, text, uuid } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import { type Row, textAt } from '../../model/value.ts'
import { diskOf } from './aggregate-space.ts'

const disksResource = resource({
  path: '/storage/disks',
  noun: 'disk',
  doc: 'The file systems of the machine that aggregates lie on. What they are made of is known to the machine alone.',
  key: ['name'],
  nameWithin: false,
  order: [{ path: 'name', isDescending: false }],
  columns: ['name', 'state', 'usable_size', 'physical_size', 'aggregates.name', 'node.name'],
  fields: {
    name: { doc: 'The node, and the number that the machine knows the file system by.', kind: text() },
    uid: { doc: 'That number.', kind: text() },
    class: { doc: 'Always `virtual`: a part of what the machine has.', kind: oneOf('virtual') },
    type: { doc: 'Always `vmdisk`.', kind: oneOf('vmdisk') },
    effective_type: { doc: 'Always `vmdisk`.', kind: oneOf('vmdisk'), since: '9.9.1' },
    container_type: { doc: 'Always `aggregate`: others are not seen.', kind: oneOf('aggregate') },
    state: { doc: 'Always `present`: one whose folder is not there is not seen.', kind: oneOf('present') },
    usable_size: { doc: 'Bytes of the file system that may be used.', kind: bytes() },
    physical_size: { doc: 'Bytes that the file system has.', kind: bytes(), since: '9.11.1' },
    bytes_per_sector: {
      doc: 'The bytes in which the file system counts.',
      kind: count({ unit: 'bytes' }),
      since: '9.9.1',
    },
    sector_count: { doc: 'How often it has these.', kind: count(), since: '9.9.1' },
    model: { doc: 'Always `file system`: the machine knows what it is made of.', kind: oneOf('file system') },
    serial_number: { doc: 'The same as uid: drives are not seen.', kind: text() },
    pool: { doc: 'Always `none`: it is mirrored with no other.', kind: oneOf('none') },
    protection_mode: {
      doc: 'Always `open`: it does not lock itself, as far as is seen.',
      kind: oneOf('open'),
      since: '9.7',
    },
    self_encrypting: { doc: 'Whether it encrypts by itself. Not as far as is seen.', kind: flag(), since: '9.7' },
    aggregates: {
      doc: 'The aggregates whose folders lie on it.',
      kind: each({
        name: { kind: text(), doc: 'The name of the aggregate.' },
        uuid: { kind: uuid(), doc: 'Its UUID.' },
      }),
    },
    node: { doc: 'The node that serves the disk.', isGroup: true },
    'node.name': { doc: 'The node that serves it.', kind: text() },
    'node.uuid': { doc: 'The UUID of that node.', kind: uuid() },
    home_node: { doc: 'The node that the disk belongs to.', isGroup: true },
    'home_node.name': { doc: 'The node it belongs to.', kind: text() },
    'home_node.uuid': { doc: 'The UUID of that node.', kind: uuid() },
  },
})

export const disks: Behaviour<typeof disksResource> = define(disksResource, { rows: diskRows })

async function diskRows(cluster: Cluster): Promise<Row[]> {
  const [node = {}] = await cluster.rows('cluster/nodes')
  const aggregates = await cluster.rows('storage/aggregates')
  const spaces = await Promise.all(aggregates.map((row) => diskOf(cluster, textAt(row, 'uuid'))))
  const found = new Map<string, Row>()
  for (const [at, space] of spaces.entries()) {
    if (space === undefined) continue
    const others = found.get(space.disk)?.['aggregates']
    const aggregate = { name: aggregates[at]?.['name'] ?? '', uuid: aggregates[at]?.['uuid'] ?? '' }
    found.set(space.disk, {
      name: `${textAt(node, 'name')}:${space.disk}`,
      uid: space.disk,
      class: 'virtual',
      type: 'vmdisk',
      effective_type: 'vmdisk',
      container_type: 'aggregate',
      state: 'present',
      usable_size: space.usedBytes + space.availableBytes,
      physical_size: space.sizeBytes,
      bytes_per_sector: space.blockBytes,
      sector_count: Math.floor(space.sizeBytes / space.blockBytes),
      model: 'file system',
      serial_number: space.disk,
      pool: 'none',
      protection_mode: 'open',
      self_encrypting: false,
      aggregates: [...(Array.isArray(others) ? others : []), aggregate],
      'node.name': node['name'] ?? '',
      'node.uuid': node['uuid'] ?? '',
      'home_node.name': node['name'] ?? '',
      'home_node.uuid': node['uuid'] ?? '',
    })
  }
  return [...found.values()]
}
