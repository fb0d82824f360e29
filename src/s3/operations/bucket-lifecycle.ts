import type { BucketCall, Reply } from '../exchange/call.ts'
import { configure } from '../exchange/call.ts'
import {
  lifecycleDocument,
  lifecycleOf,
  lifecycleRoot,
  readTransitionMinimum,
  transitionMinimumHeader,
} from '../config/lifecycle.ts'
import { lifecycleFields } from '../../records/lifecycle-rules.ts'
import { s3Error } from '../errors.ts'
import { newId } from '../objects/ids.ts'
import { readXmlInTurns } from '../xml/xml.ts'

export async function putBucketLifecycleConfiguration(call: BucketCall): Promise<Reply> {
  const minimum = readTransitionMinimum(call.headers)
  const document = await call.document({ isIntegrityNeeded: true })
  const root = await readXmlInTurns(document, lifecycleRoot, call.turn)
  const rules = lifecycleOf(root, () => newId(call.store.system))
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
