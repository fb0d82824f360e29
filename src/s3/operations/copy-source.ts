import type { ObjectRow } from '../../ports/catalog.ts'
import { demand } from '../exchange/call.ts'
import type { ObjectCall } from '../exchange/call.ts'
import { checkCopySourceConditions } from '../request/conditions.ts'
import { s3Error } from '../errors.ts'
import { headerValue } from '../request/headers.ts'
import { checkVersionId, readCopySource } from '../request/keys.ts'
import type { OpenBucket } from '../objects/store.ts'

export interface CopySource {
  readonly bucket: OpenBucket
  readonly key: Uint8Array
  readonly version: string | undefined
  /** Throws when the conditions of the request do not hold for the source. */
  readonly check: (row: ObjectRow) => void
  /** Which version it is, once it was checked. */
  readonly headers: () => Readonly<Record<string, string>>
}

/** Finds the source of a copy, which the caller must be allowed to read. */
export async function copySource(call: ObjectCall): Promise<CopySource> {
  const { bucket: name, key, versionId: version } = readCopySource(headerValue(call.headers, 'x-amz-copy-source') ?? '')
  if (version !== undefined) checkVersionId(version)
  const bucket = await call.findBucket(name)
  const expectedOwner = headerValue(call.headers, 'x-amz-source-expected-bucket-owner')
  if (expectedOwner !== undefined && expectedOwner !== bucket.svm) throw s3Error('AccessDenied')
  const action = call.operation.sourceAction ?? 's3:GetObject'
  const readAction = version === undefined ? action : action.replace(/GetObject$/, 'GetObjectVersion')
  await demand(call, readAction, name, key, { version: version ?? null })
  let checked: ObjectRow | undefined
  const source: CopySource = {
    bucket,
    key,
    version,
    check(row) {
      checkCopySourceConditions(call.headers, row)
      checked = row
    },
    headers: () =>
      checked === undefined || bucket.versioning === 'unversioned'
        ? {}
        : { 'x-amz-copy-source-version-id': checked.version },
  }
  await (version === undefined ? hideAbsence(call, source) : refuseMarker(call, source))
  return source
}

/** As with GET: who may not list is not told what there is. */
async function hideAbsence(call: ObjectCall, { bucket, key }: CopySource): Promise<void> {
  if (await call.allows('s3:ListBucket', bucket.name)) return
  const row = await call.store.catalog.object(bucket.uuid, key, bucket.at)
  if (row === undefined || row.isMarker === true) throw s3Error('AccessDenied')
}

async function refuseMarker({ store }: ObjectCall, { bucket, key, version }: CopySource): Promise<void> {
  const row = await store.catalog.object(bucket.uuid, key, bucket.at, version)
  if (row?.isMarker !== true) return
  throw s3Error('InvalidRequest', {
    message: 'The source of a copy request may not specifically refer to a delete marker by version id.',
  })
}
