import type { ObjectRow } from '../../ports/catalog.ts'
import { demand } from '../call.ts'
import type { ObjectCall } from '../call.ts'
import { checkCopySourceConditions } from '../conditions.ts'
import { s3Error } from '../errors.ts'
import { headerValue } from '../headers.ts'
import { readCopySource } from '../keys.ts'
import type { OpenBucket } from '../objects/store.ts'

export interface CopySource {
  readonly bucket: OpenBucket
  readonly key: Uint8Array
  readonly version: string | undefined
  /** Throws when the conditions of the request do not hold for the source. */
  readonly check: (row: ObjectRow) => void
}

/** Finds the source of a copy, which the caller must be allowed to read. */
export async function copySource(call: ObjectCall): Promise<CopySource> {
  const { bucket: name, key, versionId: version } = readCopySource(headerValue(call.headers, 'x-amz-copy-source') ?? '')
  const bucket = await call.findBucket(name)
  const expectedOwner = headerValue(call.headers, 'x-amz-source-expected-bucket-owner')
  if (expectedOwner !== undefined && expectedOwner !== bucket.svm) throw s3Error('AccessDenied')
  const action = call.operation.sourceAction ?? 's3:GetObject'
  const readAction = version === undefined ? action : action.replace(/GetObject$/, 'GetObjectVersion')
  await demand(call, readAction, name, key, { version: version ?? null })
  const source = { bucket, key, version, check: (row: ObjectRow) => checkCopySourceConditions(call.headers, row) }
  await hideAbsence(call, source)
  return source
}

/** As with GET: who may not list is not told what there is. */
async function hideAbsence(call: ObjectCall, { bucket, key, version }: CopySource): Promise<void> {
  if (version !== undefined || (await call.allows('s3:ListBucket', bucket.name))) return
  const row = await call.store.catalog.object(bucket.uuid, key, bucket.at)
  if (row === undefined || row.isMarker === true) throw s3Error('AccessDenied')
}
