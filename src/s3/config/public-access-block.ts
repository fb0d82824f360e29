import type { PublicAccessBlock } from '../../records/bucket-notes.ts'
import { findBoolean, readXml, xmlDocument } from '../xml/xml.ts'
import { checkElements } from './elements.ts'

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
