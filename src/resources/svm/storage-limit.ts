/**
 * How much storage the volumes of an SVM may have together: the sum of their sizes stays within a limit. Volumes that are
 * made for a bucket do not count: each is as large as its bucket, and has of the disk what is written.
 */
import type { Derivation } from '../../core/behaviour.ts'
import { MADE_FOR, type Cluster } from '../../core/cluster.ts'
import { failure } from '../../model/failure.ts'
import { bytes, count, flag, printSize, percent } from '../../model/kinds/index.ts'
import type { Fields } from '../../model/resource.ts'
import { type Row, textOf } from '../../model/value.ts'
import type { Change } from '../../ports/catalog.ts'
import type { Svm, Volume } from '../../records/rows.ts'

const LIMIT = 'storage.limit'
const ALERT = 'storage.limit_threshold_alert'
const ALERT_PERCENT = 90

const since = '9.14.1'

export const storageFields = {
  [LIMIT]: {
    doc: 'The maximum total size of the volumes of the SVM in bytes, without volumes created for a bucket. 0: no limit.',
    kind: bytes(),
    set: 'always',
    since,
  },
  [ALERT]: {
    doc: 'The part of the storage limit, in percent, above which the threshold counts as exceeded.',
    kind: count({ min: 1, max: 100 }),
    set: 'always',
    since,
  },
  storage: { doc: 'The storage limit of the SVM and what counts towards it.', isGroup: true },
  'storage.allocated': { doc: 'The total size of the volumes of the SVM, in bytes.', kind: bytes(), since },
  'storage.available': {
    doc: 'Bytes that the storage limit leaves for volumes. Not set without a limit.',
    kind: bytes(),
    since,
  },
  'storage.used_percentage': {
    doc: 'The total size of the volumes, in percent of the storage limit. 0 without a limit.',
    kind: percent(),
    since,
  },
  'storage.limit_threshold_exceeded': {
    doc: 'Whether the total size of the volumes exceeds the threshold.',
    kind: flag(),
    since,
  },
} as const satisfies Fields

export const storageReading: Derivation<Svm> = {
  gives: ['storage'],
  async from(cluster, rows) {
    const volumes = Map.groupBy(await cluster.shortRows('storage/volumes'), (volume) => volume['svm.uuid'])
    return rows.map((row): Row => {
      const limit = limitOf(row)
      const alert = row[ALERT] ?? ALERT_PERCENT
      const allocated = storageOf(volumes.get(row['uuid']) ?? [])
      const percent = limit === 0 ? 0 : Math.floor((allocated / limit) * 100)
      return {
        [LIMIT]: limit,
        [ALERT]: alert,
        'storage.allocated': allocated,
        'storage.available': limit === 0 ? null : Math.max(0, limit - allocated),
        'storage.used_percentage': percent,
        'storage.limit_threshold_exceeded': limit !== 0 && percent > alert,
      }
    })
  },
}

/** Fails when the volumes of the SVM may not grow by so many bytes more. */
export async function insistOnStorage(cluster: Cluster, svm: Svm | undefined, moreBytes: number): Promise<void> {
  const left = await storageLeft(cluster, svm)
  if (moreBytes <= 0 || moreBytes <= left) return
  throw failure('storageLimitExceeded', { svm: svm?.['name'] ?? '', left: printSize(left) })
}

/** The bytes by which volumes of an SVM may still grow. */
export async function storageLeft(cluster: Cluster, svm: Svm | undefined): Promise<number> {
  const limit = limitOf(svm)
  if (svm === undefined || limit === 0) return Number.POSITIVE_INFINITY
  return Math.max(0, limit - storageOf(await cluster.shortRows('storage/volumes', svm['uuid'])))
}

/** Refused when the limit was changed since the look at it. */
export async function sameLimit(cluster: Cluster, svm: string): Promise<Change> {
  const record = await cluster.record('svm/svms', svm)
  return { do: 'check-record', type: 'svm/svms', key: svm, expect: record?.revision ?? 'absent' }
}

/** Fails when the limit is below what the volumes have already. */
export async function insistOnLimit(cluster: Cluster, svm: Svm): Promise<Row> {
  const limit = limitOf(svm)
  if (limit === 0) return svm
  const allocated = storageOf(await cluster.shortRows('storage/volumes', svm['uuid']))
  if (limit >= allocated) return svm
  throw failure('storageLimitTooLow', { allocated: printSize(allocated) })
}

function limitOf(svm: Svm | undefined): number {
  return svm?.[LIMIT] ?? 0
}

/** What the sizes of volumes add up to, as they count. */
export function storageOf(volumes: readonly Volume[]): number {
  return volumes.reduce((sum, volume) => sum + (isMadeForBucket(volume) ? 0 : volume['size']), 0)
}

export function isMadeForBucket(volume: Volume): boolean {
  return textOf(volume[MADE_FOR]) !== ''
}
