import type { ObjectLock } from '../ports/catalog.ts'
import type { BucketChange, StoredBucket } from './bucket-notes.ts'
import { findWord, is, text } from './stored.ts'

/** `governance` may be lifted by who has the permission for it, `compliance` by nobody before its time. */
export type LockMode = ObjectLock['mode']

/** What objects get that are stored without a retention of their own. Either days or years. */
export interface DefaultRetention {
  readonly mode: LockMode
  readonly days?: number
  readonly years?: number
}

/** Of a bucket that has locks. */
export interface LockConfiguration {
  readonly defaultRetention?: DefaultRetention
}

/**
 * Locks of a bucket as the management interface has them: `retention.mode` (`no_lock`, `governance`, `compliance`) and
 * `retention.default_period`, an ISO 8601 duration of days or years (`P30D`, `P7Y`). A bucket may have locks without a
 * default, which those two cannot say: that is `$hasLocks`.
 */
export function readLockFields(bucket: StoredBucket): LockConfiguration | undefined {
  const mode = findWord(bucket, 'retention.mode', ['governance', 'compliance'])
  if (mode === undefined) return is(bucket, '$hasLocks', true) ? {} : undefined
  const period = readPeriod(text(bucket, 'retention.default_period'))
  return period === undefined ? {} : { defaultRetention: { mode, ...period } }
}

export function lockFields({ defaultRetention }: LockConfiguration): BucketChange {
  return {
    $hasLocks: true,
    'retention.mode': defaultRetention?.mode ?? 'no_lock',
    'retention.default_period': defaultRetention === undefined ? null : printPeriod(defaultRetention),
  }
}

export function readPeriod(period: string): Pick<DefaultRetention, 'days' | 'years'> | undefined {
  const [, count, unit] = /^P(\d{1,6})([DY])$/i.exec(period) ?? []
  if (count === undefined || unit === undefined) return undefined
  return unit.toUpperCase() === 'D' ? { days: Number(count) } : { years: Number(count) }
}

function printPeriod({ days, years }: DefaultRetention): string {
  return days === undefined ? `P${years ?? 0}Y` : `P${days}D`
}
