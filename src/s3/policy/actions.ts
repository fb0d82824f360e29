import { operations } from '../request/router.ts'

/** Every action that some operation needs: what policies may name. A preflight needs none. */
export const actionNames: readonly string[] = allActions().toSorted()

function allActions(): string[] {
  // These belong to no operation of their own, but to what some do on the side.
  const names = new Set(['s3:GetObjectVersion', 's3:PutObjectVersionAcl', 's3:BypassGovernanceRetention'])
  for (const { method, action, versionAction, sourceAction } of operations) {
    if (method === 'OPTIONS') continue
    for (const name of [action, versionAction, sourceAction]) if (name !== undefined) names.add(name)
  }
  return [...names]
}

/**
 * Actions of Amazon's that no operation here needs. Policies written for Amazon name them, and lose nothing by it; a name
 * that is in neither list is a mistake in writing, and a denial with a mistake in it would deny nothing.
 */
export const otherActionNames: readonly string[] = [
  'AssociateAccessGrantsIdentityCenter',
  'BypassGovernanceRetention',
  'CreateAccessPoint',
  'CreateJob',
  'DeleteAccessPoint',
  'DeleteAccessPointPolicy',
  'DeleteBucketOwnershipControls',
  'DeleteJobTagging',
  'DescribeJob',
  'GetAccessPoint',
  'GetAccessPointPolicy',
  'GetAccessPointPolicyStatus',
  'GetAccountPublicAccessBlock',
  'GetObjectVersionForReplication',
  'GetObjectVersionTorrent',
  'InitiateReplication',
  'ListAccessPoints',
  'ListCallerAccessGrants',
  'ListJobs',
  'ListTagsForResource',
  'ObjectOwnerOverrideToBucketOwner',
  'PauseReplication',
  'PutAccessPointPolicy',
  'PutAccountPublicAccessBlock',
  'PutObjectVersionAcl',
  'ReplicateDelete',
  'ReplicateObject',
  'ReplicateTags',
  'TagResource',
  'UntagResource',
  'UpdateJobPriority',
  'UpdateJobStatus',
].map((name) => `s3:${name}`)
