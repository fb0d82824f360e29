/**
 * What tools say of the disks of an aggregate, and ask. They are the machine's, so there is little that can be said: one
 * file system, which is no part of a RAID group that anything here knew of.
 */
import { bytes, count, each, flag, group, oneOf, only, text, uuid } from '../../../model/kinds/index.ts'
import type { Fields } from '../../../model/resource.ts'
import { usual } from '../../usual.ts'

export const diskFields = {
  'block_storage.primary': { doc: 'The disks that hold the data of the aggregate.', isGroup: true },
  'block_storage.primary.disk_count': {
    doc: 'The number of disks of the aggregate. Stored without effect: the disks are those of the machine.',
    kind: count({ min: 1, max: 10_000 }),
    set: 'always',
  },
  'block_storage.primary.raid_type': {
    doc: 'The RAID type of the aggregate. Always `raid0`: redundancy is left to the machine.',
    kind: only(
      'raid0',
      oneOf({
        raid0: 'No redundancy.',
        raid4: 'One disk may fail.',
        raid_dp: 'Two disks may fail.',
        raid_tec: 'Three disks may fail.',
      }),
      'disks are not mirrored here. Have the machine do that, below the folder.',
    ),
    set: 'create',
  },
  'block_storage.mirror': { doc: 'The second copy of the aggregate.', isGroup: true },
  'block_storage.mirror.enabled': {
    doc: 'Whether the aggregate is mirrored. Always false.',
    kind: only(false, flag(), 'aggregates are not mirrored. Have the machine do that, below the folder.'),
    set: 'always',
    default: false,
  },
  data_encryption: { doc: 'Encryption of the aggregate.', isGroup: true },
  'data_encryption.software_encryption_enabled': {
    doc: 'Whether volumes in the aggregate are encrypted. Always false: encrypt the disk below the aggregate.',
    kind: only(false, flag(), 'volumes are not encrypted. Encrypt the disk that the folder lies on.'),
    set: 'always',
    default: false,
  },
  snaplock_type: {
    doc: 'Whether files in the aggregate are write-once. Always `non_snaplock`: lock the objects of a bucket instead.',
    kind: only(
      'non_snaplock',
      oneOf({
        non_snaplock: 'Files can be changed.',
        compliance: 'Nobody can delete a locked file.',
        enterprise: 'An administrator can delete a locked file.',
      }),
      'files are not locked. Lock the objects of a bucket instead, with its retention.',
    ),
    set: 'create',
    default: 'non_snaplock',
  },
  'block_storage.mirror.state': {
    doc: 'The state of the mirror of the aggregate. Always `unmirrored`.',
    kind: oneOf({ unmirrored: 'The aggregate has no mirror.' }),
  },
  'block_storage.plexes': {
    doc: 'The plexes of the aggregate. Always empty.',
    kind: each({ name: { kind: text(), doc: 'The name of the plex.' } }),
  },
  'block_storage.primary.disk_class': {
    doc: 'The class of the disks of the aggregate. Always `virtual`.',
    kind: oneOf({ virtual: 'A file system of the machine.' }),
  },
  'block_storage.primary.disk_type': {
    doc: 'The type of the disks of the aggregate. Always `vm_disk`.',
    kind: oneOf({ vm_disk: 'A file system of the machine.' }),
    since: '9.7',
  },
  'block_storage.primary.raid_size': {
    doc: 'The number of disks in a RAID group. Always 0: there are no RAID groups.',
    kind: count(),
  },
  'block_storage.storage_type': {
    doc: 'The storage type of the aggregate. Always `vmdisk`.',
    kind: oneOf({ vmdisk: 'A file system of the machine.' }),
    since: '9.11.1',
  },
  'block_storage.uses_partitions': {
    doc: 'Whether the aggregate shares disks by partitions. Always false.',
    kind: flag(),
    since: '9.11.1',
  },
  'block_storage.hybrid_cache': { doc: 'The flash cache of the aggregate.', isGroup: true },
  'block_storage.hybrid_cache.enabled': { doc: 'Whether the aggregate has a flash cache. Always false.', kind: flag() },
  'block_storage.hybrid_cache.disk_count': { doc: 'The number of disks of the flash cache. Always 0.', kind: count() },
  'block_storage.hybrid_cache.size': { doc: 'The size of the flash cache in bytes. Always 0.', kind: bytes() },
  'block_storage.hybrid_cache.used': { doc: 'Bytes used of the flash cache. Always 0.', kind: bytes() },
  cloud_storage: { doc: 'Cloud stores attached to the aggregate.', isGroup: true },
  'cloud_storage.stores': {
    doc: 'The cloud stores for cold data of the aggregate. Always empty.',
    kind: each({
      cloud_store: {
        kind: group({
          name: { kind: text(), doc: 'The name of the cloud store.' },
          uuid: { kind: uuid(), doc: 'The UUID of the cloud store.' },
        }),
        doc: 'The cloud store.',
      },
      used: { kind: bytes(), doc: 'Bytes used in the cloud store.' },
    }),
    since: '9.14.1',
  },
  'data_encryption.drive_protection_enabled': {
    doc: 'Whether the disks of the aggregate encrypt themselves. Always false: the product cannot tell.',
    kind: flag(),
  },
} as const satisfies Fields

export const diskReadings = usual({
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
