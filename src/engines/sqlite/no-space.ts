import type { Change } from '../../ports/catalog.ts'
import { extendedCode } from './lock.ts'

const SQLITE_FULL = 13
/** The file that processes share could not grow. */
const SQLITE_IOERR_SHMSIZE = 4874

export function isDiskFull(failure: unknown): boolean {
  const code = extendedCode(failure)
  return code === SQLITE_FULL || code === SQLITE_IOERR_SHMSIZE
}

/**
 * Changes that make the catalog larger for as long as their user likes. All others free space, are needed by those that
 * do (records of jobs), or are bounded (logs).
 */
const NEEDING_SPACE: ReadonlySet<Change['do']> = new Set<Change['do']>([
  'put-object',
  'open-upload',
  'put-part',
  'complete-upload',
  'open-volume',
  'open-bucket',
  'clone-rows',
  'take-snapshot',
  'restore-range',
  'put-samples',
])

export function needsSpace(change: Change): boolean {
  return NEEDING_SPACE.has(change.do)
}
