/** Settings of volumes that are kept and shown without effect, and those that are refused because they would deceive. */
import type { Derivation } from '../../../core/behaviour.ts'
import { bytes, count, flag, oneOf, only, percent } from '../../../model/kinds/index.ts'
import type { Fields } from '../../../model/resource.ts'
import type { Row } from '../../../model/value.ts'
import { reserveOf } from './reserve.ts'
import type { Volume } from '../../../records/rows.ts'

/** One for each 32 KiB of the size, but not more than this: what volumes of shipping systems get. */
const BYTES_A_FILE = 32 * 1024
const FILES_USUALLY_MAX = 21_251_126
const FILES_MAX = 2_000_000_000

export const keptFields = {
  'tiering.policy': {
    doc: 'Which data is tiered to a cloud store. Stored without effect: there is no cloud tier.',
    kind: oneOf({
      none: 'No data.',
      auto: 'Cold data of the volume and its snapshots.',
      snapshot_only: 'Cold data of snapshots.',
      all: 'All data.',
      backup: 'All data of a replication destination.',
    }),
    set: 'always',
    default: 'none',
  },
  'tiering.min_cooling_days': {
    doc: 'The number of days without access after which data is cold. Stored without effect.',
    kind: count({ min: 2, max: 183, unit: 'days' }),
    set: 'always',
    since: '9.8',
  },
  analytics: { doc: 'File system analytics of the volume.', isGroup: true },
  'analytics.state': {
    doc: 'Whether file system analytics are collected. Stored without effect: nothing is collected.',
    kind: oneOf({ off: 'No analytics.', on: 'Analytics are to be collected.' }),
    set: 'always',
    default: 'off',
    since: '9.8',
  },
  files: { doc: 'The number of files in the volume.', isGroup: true },
  'files.maximum': {
    doc: 'The maximum number of files in the volume. Stored without effect: it does not limit objects.',
    kind: count({ min: 1, max: FILES_MAX }),
    set: 'always',
  },
  'files.used': {
    doc: 'The number of objects in the volume, counting every version of an object that has versions.',
    kind: count(),
    isExpensive: true,
  },
  'space.logical_space': { doc: 'The space of the volume before compression and deduplication.', isGroup: true },
  'space.logical_space.enforcement': {
    doc: 'Whether the size limits data before compression and deduplication. Stored without effect.',
    kind: flag(),
    set: 'always',
    default: false,
  },
  'space.logical_space.reporting': {
    doc: 'Whether file clients see the space used before compression and deduplication. Stored without effect.',
    kind: flag(),
    set: 'always',
    default: false,
  },
  'space.logical_space.used': {
    doc: 'Bytes in the volume before compression and deduplication.',
    kind: bytes(),
    since: '9.9.1',
  },
  'space.logical_space.available': {
    doc: 'Bytes of the size that are free before compression and deduplication.',
    kind: bytes(),
  },
  'space.logical_space.used_percent': {
    doc: 'Used space before compression and deduplication, in percent of the size without the snapshot reserve.',
    kind: percent(),
    since: '9.9.1',
  },
  snapshot_directory_access_enabled: {
    doc: 'Whether file clients see snapshots as folders. Stored without effect.',
    kind: flag(),
    set: 'always',
    default: true,
    since: '9.13.1',
  },
  snapshot_locking_enabled: {
    doc: 'Whether snapshots can be locked. Always false: set an `expiry_time` on a snapshot, which also protects its volume.',
    kind: only(false, flag(), 'snapshots are not locked. Give them an expiry_time, which keeps their volume.'),
    set: 'always',
    default: false,
    since: '9.12.1',
  },
  encryption: { doc: 'Encryption of the volume.', isGroup: true },
  'encryption.enabled': {
    doc: 'Whether the volume is encrypted. Always false: encrypt the disk below the aggregate.',
    kind: only(false, flag(), 'volumes are not encrypted. Encrypt the disk that the aggregate lies on.'),
    set: 'always',
    default: false,
  },
  snaplock: { doc: 'Write-once storage of files in the volume.', isGroup: true },
  'snaplock.type': {
    doc: 'Whether files in the volume are write-once. Always `non_snaplock`: lock the objects of a bucket instead.',
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
  'anti_ransomware.state': {
    doc: 'Whether ransomware is detected in the volume. Always `disabled`.',
    kind: only(
      'disabled',
      oneOf({
        disabled: 'Nothing is detected.',
        enabled: 'Attacks are detected.',
        dry_run: 'Detection is learning.',
        paused: 'Detection is paused.',
        disable_in_progress: 'Detection is being disabled.',
        enable_paused: 'Detection was paused while enabled.',
        dry_run_paused: 'Learning is paused.',
      }),
      'nothing looks for ransomware. Take snapshots, and lock them.',
    ),
    set: 'always',
    default: 'disabled',
    since: '9.10.1',
  },
} as const satisfies Fields

const files: Derivation<Volume> = {
  gives: ['files.maximum'],
  from: (_cluster, rows) =>
    Promise.resolve(
      rows.map((row) => ({
        'files.maximum': row['files.maximum'] ?? Math.min(FILES_USUALLY_MAX, Math.floor(row['size'] / BYTES_A_FILE)),
      })),
    ),
}

const filesUsed: Derivation<Volume> = {
  gives: ['files.used'],
  async from(cluster, rows, once) {
    const used = await once('files used', async () => {
      const sums = new Map<string, number>()
      for (const { volume, objects, versions } of (await cluster.catalog.buckets()).values()) {
        sums.set(volume, (sums.get(volume) ?? 0) + objects + versions)
      }
      return sums
    })
    return rows.map((row) => ({ 'files.used': used.get(row['uuid']) ?? 0 }))
  },
}

const logicalSpace: Derivation<Volume> = {
  gives: ['space.logical_space.used', 'space.logical_space.available', 'space.logical_space.used_percent'],
  async from(cluster, rows, once) {
    const counters = await once('counters', () => cluster.volumeSums.all())
    return rows.map((row): Row => {
      const held = counters.get(row['uuid'])
      const used = held === undefined ? 0 : held.usedBytes + held.savedByCompressionBytes + held.savedByDedupeBytes
      const size = row['size'] - reserveOf(row)
      return {
        'space.logical_space.used': used,
        'space.logical_space.available': Math.max(0, size - used),
        'space.logical_space.used_percent': Math.floor((used / size) * 100),
      }
    })
  },
}

export const keptReadings: readonly Derivation<Volume>[] = [files, filesUsed, logicalSpace]
