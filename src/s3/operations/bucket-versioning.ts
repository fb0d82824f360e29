import { refuseOutcome, type BucketCall, type Reply } from '../exchange/call.ts'
import { checkVersioningChange, readVersioning, versioningDocument } from '../config/versioning.ts'

export function getBucketVersioning({ bucket }: BucketCall): Promise<Reply> {
  return Promise.resolve({ body: versioningDocument(bucket.versioning) })
}

export async function putBucketVersioning(call: BucketCall): Promise<Reply> {
  const { bucket, caller, control } = call
  const state = readVersioning(await call.document())
  checkVersioningChange(state, { hasObjectLock: bucket.settings.locks !== undefined })
  const outcome = await control.versionBucket({
    bucket: bucket.uuid,
    state,
    caller: { user: caller?.name ?? '', svm: caller?.svm ?? '' },
  })
  refuseOutcome(outcome, bucket.name)
  return {}
}
