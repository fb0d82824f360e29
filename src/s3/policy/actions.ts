import { operations } from '../router.ts'

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
