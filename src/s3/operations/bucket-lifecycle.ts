import type { BucketCall, Reply } from '../call.ts'
import { configure } from '../call.ts'
import {
  lifecycleDocument,
  readLifecycle,
  readTransitionMinimum,
  transitionMinimumHeader,
} from '../config/lifecycle.ts'
import { lifecycleFields } from '../config/lifecycle-rows.ts'
import { s3Error } from '../errors.ts'
import { newId } from '../objects/ids.ts'

export async function putBucketLifecycleConfiguration(call: BucketCall): Promise<Reply> {
  const minimum = readTransitionMinimum(call.headers)
  const rules = readLifecycle(await call.document({ isIntegrityNeeded: true }), () => newId(call.store.system))
  await configure(call, lifecycleFields(rules, minimum))
  return { headers: { [transitionMinimumHeader]: minimum } }
}

export function getBucketLifecycleConfiguration({ bucket }: BucketCall): Promise<Reply> {
  const { lifecycle } = bucket.settings
  if (lifecycle === undefined) {
    return Promise.reject(s3Error('NoSuchLifecycleConfiguration', { fields: { BucketName: bucket.name } }))
  }
  const { rules, transitionMinimum } = lifecycle
  return Promise.resolve({
    headers: transitionMinimum === undefined ? {} : { [transitionMinimumHeader]: transitionMinimum },
    body: lifecycleDocument(rules),
  })
}

export async function deleteBucketLifecycle(call: BucketCall): Promise<Reply> {
  await configure(call, lifecycleFields(undefined, undefined))
  return {}
}
