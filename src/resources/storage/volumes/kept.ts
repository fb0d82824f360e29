/** Settings of volumes that are kept and shown without effect, and those that are refused because they would deceive. */
import type { Derivation } from '../../../core/behaviour.ts'
import { bytes, count, flag, oneOf, only, percent } from '../../../model/kinds/index.ts'
import type { Fields } from '../../../model/resource.ts'
import { type Row, textAt } from '../../../model/value.ts'
import { reserveOf } from './reserve.ts'

/** One for each 32 KiB of the size, but not more than this: what volumes of shipping systems get. */
const BYTES_A_FILE = 32 * 1024
const FILES_USUALLY_MAX = 21_251_126
const FILES_MAX = 2_000_000_000

export const keptFields = {
  'tiering.policy': {
    doc: 'What is to go to a cloud tier. There is none, so this is kept and nothing goes.',
    kind: oneOf('none', 'auto', 'snapshot_only', 'all', 'backup'),
    set: 'always',
    default: 'none',
  },
  'tiering.min_cooling_days': {
    doc: 'After how many days without use. Kept, as the policy.',
    kind: count({ min: 2, max: 183, unit: 'days' }),
    set: 'always',
    since: '9.8',
  },
  analytics: { doc: 'File system analytics of the volume.', isGroup: true },
  'analytics.state': {
    doc: 'Whether files are to be analysed. Kept: there is no analysis.',
    kind: oneOf('off', 'on'),
    set: 'always',
    default: 'off',
    since: '9.8',
  },
  files: { doc: 'The number of files in the volume.', isGroup: true },
  'files.maximum': {
    doc: 'The most files that it is to hold. Kept: objects are not limited by it.',
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
    doc: 'Whether its size is to hold for what clients wrote, before anything is saved of it. Kept.',
    kind: flag(),
    set: 'always',
    default: false,
  },
  'space.logical_space.reporting': {
    doc: 'Whether clients of files are to be told what they wrote, before anything is saved of it. Kept.',
    kind: flag(),
    set: 'always',
    default: false,
  },
  'space.logical_space.used': {
    doc: 'Bytes that it holds, before anything is saved of them.',
    kind: bytes(),
    since: '9.9.1',
  },
  'space.logical_space.available': { doc: 'Bytes of its size that these leave.', kind: bytes() },
  'space.logical_space.used_percent': {
    doc: 'Used, in percent of the size without the reserve.',
    kind: percent(),
    since: '9.9.1',
  },
  snapshot_directory_access_enabled: {
    doc: 'Whether clients of files are to see snapshots as folders. Kept.',
    kind: flag(),
    set: 'always',
    default: true,
    since: '9.13.1',
  },
  snapshot_locking_enabled: {
    doc: 'Whether its snapshots can be locked. They cannot: give them an expiry_time, which keeps their volume.',
    kind: only(false, flag(), 'snapshots are not locked. Give them an expiry_time, which keeps their volume.'),
    set: 'always',
    default: false,
    since: '9.12.1',
  },
  encryption: { doc: 'Encryption of the volume.', isGroup: true },
  'encryption.enabled': {
    doc: 'Whether it is encrypted. It is not: encrypt the disk.',
    kind: only(false, flag(), 'volumes are not encrypted. Encrypt the disk that the aggregate lies on.'),
    set: 'always',
    default: false,
  },
  snaplock: { doc: 'Write-once storage of files in the volume.', isGroup: true },
  'snaplock.type': {
    doc: 'Whether its files are locked. They are not: lock objects.',
    kind: only(
      'non_snaplock',
      oneOf('non_snaplock', 'compliance', 'enterprise'),
      'files are not locked. Lock the objects of a bucket instead, with its retention.',
    ),
    set: 'create',
    default: 'non_snaplock',
  },
  'anti_ransomware.state': {
    doc: 'Whether it is watched for ransomware. It is not.',
    kind: only(
      'disabled',
      oneOf('disabled', 'enabled', 'dry_run', 'paused', 'disable_in_progress', 'enable_paused', 'dry_run_paused'),
      'nothing looks for ransomware. Take snapshots, and lock them.',
    ),
    set: 'always',
    default: 'disabled',
    since: '9.10.1',
  },
} as const satisfies Fields

const files: Derivation = {
  gives: ['files.maximum'],
  from: (_cluster, rows) =>
    Promise.resolve(
      rows.map((row) => ({
        'files.maximum':
          row['files.maximum'] ?? Math.min(FILES_USUALLY_MAX, Math.floor(Number(row['size']) / BYTES_A_FILE)),
      })),
    ),
}

const filesUsed: Derivation = {
  gives: ['files.used'],
  async from(cluster, rows, once) {
    const used = await once('files used', async () => {
      const sums = new Map<string, number>()
      for (const { volume, objects, versions } of (await cluster.catalog.buckets()).values()) {
        sums.set(volume, (sums.get(volume) ?? 0) + objects + versions)
      }
      return sums
    })
    return rows.map((row) => ({ 'files.used': used.get(textAt(row, 'uuid')) ?? 0 }))
  },
}

const logicalSpace: Derivation = {
  gives: ['used', 'available', 'used_percent'].map((word) => `space.logical_space.${word}`),
  async from(cluster, rows, once) {
    const counters = await once('counters', () => cluster.volumeSums.all())
    return rows.map((row): Row => {
      const held = counters.get(textAt(row, 'uuid'))
      const used = held === undefined ? 0 : held.usedBytes + held.savedByCompressionBytes + held.savedByDedupeBytes
      const size = Number(row['size']) - reserveOf(row)
      return {
        'space.logical_space.used': used,
        'space.logical_space.available': Math.max(0, size - used),
        'space.logical_space.used_percent': Math.floor((used / size) * 100),
      }
    })
  },
}

export const keptReadings: readonly Derivation[] = [files, filesUsed, logicalSpace]
