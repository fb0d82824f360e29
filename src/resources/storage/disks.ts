import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { bytes, count, each, flag, oneOf, text, uuid } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import type { Row } from '../../model/value.ts'
import { diskOf } from './aggregates/space.ts'

const disksResource = resource({
  path: '/storage/disks',
  noun: 'disk',
  doc: 'The file systems of the machine that store aggregates. The drives below them are not visible to the product.',
  key: ['name'],
  nameWithin: false,
  order: [{ path: 'name', isDescending: false }],
  columns: ['name', 'state', 'usable_size', 'physical_size', 'aggregates.name', 'node.name'],
  fields: {
    name: { doc: 'The name of the disk: the node and the device number of the file system.', kind: text() },
    uid: { doc: 'The device number of the file system.', kind: text() },
    class: {
      doc: 'The class of the disk. Always `virtual`.',
      kind: oneOf({ virtual: 'A file system of the machine.' }),
    },
    type: { doc: 'The type of the disk. Always `vmdisk`.', kind: oneOf({ vmdisk: 'A file system of the machine.' }) },
    effective_type: {
      doc: 'The effective type of the disk. Always `vmdisk`.',
      kind: oneOf({ vmdisk: 'A file system of the machine.' }),
      since: '9.9.1',
    },
    container_type: {
      doc: 'How the disk is used. Always `aggregate`.',
      kind: oneOf({ aggregate: 'The disk stores an aggregate.' }),
    },
    state: {
      doc: 'The state of the disk. Always `present`: other disks are not listed.',
      kind: oneOf({ present: 'The disk is there.' }),
    },
    usable_size: { doc: 'Usable bytes of the file system.', kind: bytes() },
    physical_size: { doc: 'Total bytes of the file system.', kind: bytes(), since: '9.11.1' },
    bytes_per_sector: {
      doc: 'The block size of the file system in bytes.',
      kind: count({ unit: 'bytes' }),
      since: '9.9.1',
    },
    sector_count: { doc: 'The number of blocks of the file system.', kind: count(), since: '9.9.1' },
    model: {
      doc: 'The model of the disk. Always `file system`: drives are not visible to the product.',
      kind: oneOf({ 'file system': 'A file system of the machine.' }),
    },
    serial_number: {
      doc: 'The serial number of the disk. Equal to `uid`: drives are not visible to the product.',
      kind: text(),
    },
    pool: { doc: 'The mirror pool of the disk. Always `none`.', kind: oneOf({ none: 'The disk is not mirrored.' }) },
    protection_mode: {
      doc: 'The protection mode of the disk. Always `open`.',
      kind: oneOf({ open: 'The disk does not lock itself.' }),
      since: '9.7',
    },
    self_encrypting: {
      doc: 'Whether the disk encrypts itself. Always false: the product cannot tell.',
      kind: flag(),
      since: '9.7',
    },
    aggregates: {
      doc: 'The aggregates whose folders lie on the disk.',
      kind: each({
        name: { kind: text(), doc: 'The name of the aggregate.' },
        uuid: { kind: uuid(), doc: 'The UUID of the aggregate.' },
      }),
    },
    node: { doc: 'The node that serves the disk.', isGroup: true },
    'node.name': { doc: 'The name of the node that serves the disk.', kind: text() },
    'node.uuid': { doc: 'The UUID of the node that serves the disk.', kind: uuid() },
    home_node: { doc: 'The node that the disk belongs to.', isGroup: true },
    'home_node.name': { doc: 'The name of the node that the disk belongs to.', kind: text() },
    'home_node.uuid': { doc: 'The UUID of the node that the disk belongs to.', kind: uuid() },
  },
})

export const disks: Behaviour<typeof disksResource> = define(disksResource, { rows: diskRows })

async function diskRows(cluster: Cluster): Promise<Row[]> {
  const [node] = await cluster.rows('cluster/nodes')
  const aggregates = await cluster.rows('storage/aggregates')
  const spaces = await Promise.all(aggregates.map((row) => diskOf(cluster, row['uuid'])))
  const found = new Map<string, Row>()
  for (const [at, space] of spaces.entries()) {
    if (space === undefined) continue
    const others = found.get(space.disk)?.['aggregates']
    const aggregate = { name: aggregates[at]?.['name'] ?? '', uuid: aggregates[at]?.['uuid'] ?? '' }
    found.set(space.disk, {
      name: `${node?.['name'] ?? ''}:${space.disk}`,
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
      'node.name': node?.['name'] ?? '',
      'node.uuid': node?.['uuid'] ?? '',
      'home_node.name': node?.['name'] ?? '',
      'home_node.uuid': node?.['uuid'] ?? '',
    })
  }
  return [...found.values()]
}
