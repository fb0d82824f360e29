import type { ObjectDraft } from '../../ports/catalog.ts'
import { retentionFrom } from '../config/object-lock.ts'
import type { OpenBucket } from './store.ts'

/** What a client asks for with an object. */
export type GivenLock = Pick<ObjectDraft, 'lock' | 'legalHold'>

/** What a new object is locked with: what was asked for, otherwise the default of its bucket, counted from now. */
export function lockOf({ settings }: OpenBucket, { lock, legalHold }: GivenLock, nowMs: number): GivenLock {
  const byDefault = settings.locks?.defaultRetention
  const wanted = lock ?? (byDefault === undefined ? undefined : retentionFrom(byDefault, nowMs))
  return {
    ...(wanted === undefined ? {} : { lock: wanted }),
    ...(legalHold === undefined ? {} : { legalHold }),
  }
}
