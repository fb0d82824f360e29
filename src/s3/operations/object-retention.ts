import type { ObjectRow } from '../../ports/catalog.ts'
import { demand } from '../exchange/call.ts'
import type { BucketCall, ObjectCall, Reply } from '../exchange/call.ts'
import {
  asksForBypass,
  legalHoldDocument,
  noLocksError,
  readLegalHold,
  readRetention,
  retentionDocument,
} from '../config/object-lock.ts'
import { s3Error } from '../errors.ts'
import { amendObject } from '../objects/amend.ts'
import { findObject } from '../objects/read.ts'

export async function getObjectRetention(call: ObjectCall): Promise<Reply> {
  const { lock } = await lockableObject(call)
  if (lock === undefined) throw s3Error('NoSuchObjectLockConfiguration')
  return { body: retentionDocument(lock) }
}

export async function putObjectRetention(call: ObjectCall): Promise<Reply> {
  const { store, bucket, key, query, nowMs } = call
  if (bucket.settings.locks === undefined) throw noLocksError()
  const retention = readRetention(await call.document({ isIntegrityNeeded: true }), nowMs)
  await demand(call, 's3:PutObjectRetention', bucket.name, key, {
    requestLock: () => (retention === undefined ? {} : { retention }),
  })
  await amendObject(store, bucket, key, {
    version: query.get('versionId'),
    lock: retention ?? null,
    bypassGovernance: await mayBypass(call, key),
  })
  return {}
}

export async function getObjectLegalHold(call: ObjectCall): Promise<Reply> {
  const { legalHold } = await lockableObject(call)
  if (legalHold === undefined) throw s3Error('NoSuchObjectLockConfiguration')
  return { body: legalHoldDocument(legalHold) }
}

export async function putObjectLegalHold(call: ObjectCall): Promise<Reply> {
  const { store, bucket, key, query } = call
  if (bucket.settings.locks === undefined) throw noLocksError()
  const legalHold = readLegalHold(await call.document({ isIntegrityNeeded: true }))
  await demand(call, 's3:PutObjectLegalHold', bucket.name, key, { requestLock: () => ({ legalHold }) })
  await amendObject(store, bucket, key, { version: query.get('versionId'), legalHold })
  return {}
}

async function lockableObject({ store, bucket, key, query }: ObjectCall): Promise<ObjectRow> {
  if (bucket.settings.locks === undefined) throw noLocksError()
  const version = query.get('versionId')
  return findObject(store, bucket, key, version)
}

/** Whether the caller asks to pass over governance retention, and may. To ask without the permission changes nothing. */
export async function mayBypass(call: BucketCall, key: Uint8Array): Promise<boolean> {
  return asksForBypass(call.headers) && call.allows('s3:BypassGovernanceRetention', call.bucket.name, key)
}
