import { failure } from '../../../model/failure.ts'
import { Misfit, text } from '../../../model/kinds/index.ts'
import type { Kind } from '../../../model/kinds/index.ts'
import type { DraftOf } from '../../../model/rows.ts'
import type { Bucket } from '../../../records/rows.ts'
import { readLockFields, readPeriod } from '../../../records/lock-fields.ts'
import { storedRow } from '../../../records/stored.ts'
import { checkDefaultRetention } from '../../../s3/config/object-lock.ts'
import { checkVersioningChange } from '../../../s3/config/versioning.ts'
import { asOfS3 } from './refused-by-s3.ts'

/** `P30D`, `P7Y`; also as the command line of shipping systems has it: `30days`, `7 years`. Kept and shown as the first. */
export function periodKind(): Kind<string> {
  const kind = text()
  return {
    ...kind,
    parse(value) {
      const given = kind.parse(value)
      const match = /^(?:P(\d{1,6})([DY])|(\d{1,6}) ?(d|y)(?:ays?|ears?)?)$/i.exec(given)
      if (match === null) throw new Misfit('It takes days or years, such as P30D or P7Y.')
      const [, count, unit, plainCount, plainUnit] = match
      return `P${Number(count ?? plainCount)}${(unit ?? plainUnit ?? '').toUpperCase()}`
    },
    schema: { type: 'string', format: 'duration' },
  }
}

const PERIOD = 'retention.default_period'
const VERSIONING = 'versioning_state'

const lockPaths = ['retention.mode', PERIOD, VERSIONING, '$hasLocks'] as const satisfies readonly (keyof Bucket)[]

/**
 * The row with what follows from its locks. Locks hold versions, so a new bucket that is to have them keeps versions, and
 * one that has them goes on doing so. A bucket never loses its locks: with the mode `no_lock` it has no default any more.
 *
 * @param before the bucket as it was; absent for a new one
 * @param draft what was given
 */
export function settleLocks(before: Bucket | undefined, draft: DraftOf<'protocols/s3/buckets'>, after: Bucket): Bucket {
  if (!lockPaths.some((name) => name in draft)) return after
  const settled = settleDefault(draft, after)
  if (settled['$hasLocks'] !== true) return settled
  if (before === undefined && settled[VERSIONING] !== 'suspended') return { ...settled, [VERSIONING]: 'enabled' }
  const hadLocks = readLockFields(storedRow('protocols/s3/buckets', before)) !== undefined
  if (hadLocks && settled[VERSIONING] === 'suspended') {
    asOfS3(VERSIONING, 'versioningUnfit', () => checkVersioningChange('suspended', { hasObjectLock: true }))
  }
  if (!hadLocks && settled[VERSIONING] !== 'enabled') {
    throw failure('retentionWithoutVersioning')
  }
  return settled
}

/** Without a default, its period goes. */
function settleDefault(draft: DraftOf<'protocols/s3/buckets'>, after: Bucket): Bucket {
  const { [PERIOD]: period, ...rest } = after
  const { 'retention.mode': mode = 'no_lock' } = after
  if (mode !== 'no_lock') {
    checkDefault(mode, period ?? '')
    return { ...after, $hasLocks: true }
  }
  if (typeof draft[PERIOD] === 'string') throw failure('retentionModeMissing')
  return rest
}

function checkDefault(mode: 'compliance' | 'governance', given: string): void {
  const period = readPeriod(given)
  if (period === undefined) throw failure('fieldRequired', { field: 'retention.default_period' })
  asOfS3(PERIOD, 'bucketSettingUnfit', () => checkDefaultRetention({ mode, ...period }))
}
