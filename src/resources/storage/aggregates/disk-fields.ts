/**
 * What tools say of the disks of an aggregate, and ask. They are the machine's, so there is little that can be said: one
 * file system, which is no part of a RAID group that anything here knew of.
 */
import type { Derivation } from '../../../core/behaviour.ts'
import { bytes, count, each, flag, group, oneOf, only, text, uuid } from '../../../model/kinds/index.ts'
import type { Fields } from '../../../model/resource.ts'
import { usual } from '../../usual.ts'

export const diskFields = {
  'block_storage.primary': { doc: 'The disks that hold the data of the aggregate.', isGroup: true },
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
  'block_storage.mirror': { doc: 'The second copy of the aggregate.', isGroup: true },
  'block_storage.mirror.enabled': {
    doc: 'Whether it is mirrored. It is not.',
    kind: only(false, flag(), 'aggregates are not mirrored. Have the machine do that, below the folder.'),
    set: 'always',
    default: false,
  },
  data_encryption: { doc: 'Encryption of the aggregate.', isGroup: true },
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
  'block_storage.mirror.state': { doc: 'Always `unmirrored`.', kind: oneOf('unmirrored') },
  'block_storage.plexes': {
    doc: 'Its mirrors. It has none.',
    kind: each({ name: { kind: text(), doc: 'The name of the plex.' } }),
  },
  'block_storage.primary.disk_class': {
    doc: 'Always `virtual`: a part of what the machine has.',
    kind: oneOf('virtual'),
  },
  'block_storage.primary.disk_type': { doc: 'The same.', kind: oneOf('vm_disk'), since: '9.7' },
  'block_storage.primary.raid_size': { doc: 'Disks of a RAID group. There are no such groups: 0.', kind: count() },
  'block_storage.storage_type': { doc: 'Always `vmdisk`.', kind: oneOf('vmdisk'), since: '9.11.1' },
  'block_storage.uses_partitions': {
    doc: 'Whether it has parts of disks that others have parts of, too. Not as disks are seen here.',
    kind: flag(),
    since: '9.11.1',
  },
  'block_storage.hybrid_cache': { doc: 'The flash cache of the aggregate.', isGroup: true },
  'block_storage.hybrid_cache.enabled': { doc: 'Whether faster disks cache slower ones. None does.', kind: flag() },
  'block_storage.hybrid_cache.disk_count': { doc: 'Disks of that cache.', kind: count() },
  'block_storage.hybrid_cache.size': { doc: 'Bytes that it has.', kind: bytes() },
  'block_storage.hybrid_cache.used': { doc: 'Bytes that it uses.', kind: bytes() },
  cloud_storage: { doc: 'Cloud stores attached to the aggregate.', isGroup: true },
  'cloud_storage.stores': {
    doc: 'Stores that cold data goes to. There are none.',
    kind: each({
      cloud_store: {
        kind: group({ name: { kind: text(), doc: 'Its name.' }, uuid: { kind: uuid(), doc: 'Its UUID.' } }),
        doc: 'The store.',
      },
      used: { kind: bytes(), doc: 'Bytes in it.' },
    }),
    since: '9.14.1',
  },
  'data_encryption.drive_protection_enabled': {
    doc: 'Whether its disks encrypt by themselves. They do not as disks are seen here.',
    kind: flag(),
  },
} as const satisfies Fields

export const diskReadings: Derivation = usual({
  'block_storage.primary.disk_count': 1,
  'block_storage.primary.raid_type': 'raid0',
  'block_storage.primary.disk_class': 'virtual',
  'block_storage.primary.disk_type': 'vm_disk',
  'block_storage.primary.raid_size': 0,
  'block_storage.mirror.enabled': false,
  'block_storage.mirror.state': 'unmirrored',
  'block_storage.plexes': [],
  'block_storage.storage_type': 'vmdisk',
  'block_storage.uses_partitions': false,
  'block_storage.hybrid_cache.enabled': false,
  'block_storage.hybrid_cache.disk_count': 0,
  'block_storage.hybrid_cache.size': 0,
  'block_storage.hybrid_cache.used': 0,
  'cloud_storage.stores': [],
  'data_encryption.software_encryption_enabled': false,
  'data_encryption.drive_protection_enabled': false,
  snaplock_type: 'non_snaplock',
})
