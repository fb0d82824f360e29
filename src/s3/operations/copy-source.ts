import type { ObjectRow } from '../../ports/catalog.ts'
import { demand } from '../call.ts'
import type { ObjectCall } from '../call.ts'
import { checkCopySourceConditions } from '../conditions.ts'
import { headerValue } from '../headers.ts'
import { readCopySource } from '../keys.ts'
import type { OpenBucket } from '../objects/store.ts'
import { checkVersion } from './parameters.ts'

export interface CopySource {
  readonly bucket: OpenBucket
  readonly key: Uint8Array
  /** Throws when the conditions of the request do not hold for the source. */
  readonly check: (row: ObjectRow) => void
}

/** Finds the source of a copy, which the caller must be allowed to read. */
export async function copySource(call: ObjectCall): Promise<CopySource> {
  const { bucket: name, key, versionId } = readCopySource(headerValue(call.headers, 'x-amz-copy-source') ?? '')
  const bucket = await call.findBucket(name)
  await demand(call, call.operation.sourceAction ?? 's3:GetObject', name, key)
  checkVersion(versionId)
  return { bucket, key, check: (row) => checkCopySourceConditions(call.headers, row) }
}
