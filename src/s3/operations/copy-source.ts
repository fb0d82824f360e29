import type { ObjectRow } from '../../ports/catalog.ts'
import { demand } from '../call.ts'
import type { ObjectCall } from '../call.ts'
import { checkCopySourceConditions } from '../conditions.ts'
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
  const { bucket: name, key, versionId } = readCopySource(headerValue(call.headers, 'x-amz-copy-source') ?? '')
  const bucket = await call.findBucket(name)
  const action = call.operation.sourceAction ?? 's3:GetObject'
  await demand(call, versionId === undefined ? action : action.replace(/GetObject$/, 'GetObjectVersion'), name, key)
  return { bucket, key, version: versionId, check: (row) => checkCopySourceConditions(call.headers, row) }
}
