import type { Fields } from '../../ports/catalog.ts'
import { text } from '../record-values.ts'
import type { DefaultRetention, LockConfiguration } from './object-lock.ts'

/**
 * Locks of a bucket as the management interface has them: `retention.mode` (`no_lock`, `governance`, `compliance`) and
 * `retention.default_period`, an ISO 8601 duration of days or years (`P30D`, `P7Y`). A bucket may have locks without a
 * default, which those two cannot say: that is `$hasLocks`.
 */
export function readLockFields(body: Fields): LockConfiguration | undefined {
  const mode = text(body['retention.mode'])
  if (mode !== 'governance' && mode !== 'compliance') return body['$hasLocks'] === true ? {} : undefined
  const period = readPeriod(text(body['retention.default_period']))
  return period === undefined ? {} : { defaultRetention: { mode, ...period } }
}

export function lockFields({ defaultRetention }: LockConfiguration): Fields {
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
