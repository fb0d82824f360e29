import { findBoolean, readXml, xmlDocument } from '../xml.ts'
import { checkElements } from './elements.ts'

export interface PublicAccessBlock {
  /** Lists never make anything public here, so these two hold without being set. */
  readonly blockPublicAcls: boolean
  readonly ignorePublicAcls: boolean
  /** A policy that opens the bucket to everybody is refused. */
  readonly blockPublicPolicy: boolean
  /** Such a policy, if it is there already, opens nothing to those without credentials. */
  readonly restrictPublicBuckets: boolean
}

/** The body of PutPublicAccessBlock. What is left out is false. */
export function readPublicAccessBlock(body: Uint8Array): PublicAccessBlock {
  const root = readXml(body, 'PublicAccessBlockConfiguration')
  checkElements(root, ['BlockPublicAcls', 'IgnorePublicAcls', 'BlockPublicPolicy', 'RestrictPublicBuckets'])
  return {
    blockPublicAcls: findBoolean(root, 'BlockPublicAcls') ?? false,
    ignorePublicAcls: findBoolean(root, 'IgnorePublicAcls') ?? false,
    blockPublicPolicy: findBoolean(root, 'BlockPublicPolicy') ?? false,
    restrictPublicBuckets: findBoolean(root, 'RestrictPublicBuckets') ?? false,
  }
}

export function publicAccessBlockDocument(block: PublicAccessBlock): string {
  return xmlDocument('PublicAccessBlockConfiguration', {
    BlockPublicAcls: block.blockPublicAcls,
    IgnorePublicAcls: block.ignorePublicAcls,
    BlockPublicPolicy: block.blockPublicPolicy,
    RestrictPublicBuckets: block.restrictPublicBuckets,
  })
}
