import type { BucketCall, Reply } from '../exchange/call.ts'
import { xmlDocument } from '../xml/xml.ts'

/** Amazon says us-east-1, the region all buckets here are in, with an empty element. */
export function getBucketLocation(_call: BucketCall): Promise<Reply> {
  return Promise.resolve({ body: xmlDocument('LocationConstraint', '') })
}
