/** Rules of quotas are records; what they say is in force where the catalog has it, which is while quotas are on. */
import type { Ground } from '../../../core/grounds.ts'
import type { Cluster } from '../../../core/cluster.ts'
import type { Row } from '../../../model/value.ts'
import type { Change, QuotaLimits, QuotaTarget } from '../../../ports/catalog.ts'
import type { QuotaRule, Volume } from '../../../records/rows.ts'

export const QUOTA_RULES = 'storage/quota/rules'

/** Held by all that change rules, or qtrees, or whether quotas are on; and while the volume goes. */
export const quotaLock = (volume: string): Ground => ({
  lock: `quotas:${volume}`,
  types: [QUOTA_RULES, 'storage/qtrees'],
  parent: volume,
  // It says whether quotas are on.
  record: { type: 'storage/volumes', key: volume },
})

export function areQuotasOn(volume: Volume): boolean {
  return volume['quota.enabled'] === true
}

type Targeting = Pick<QuotaRule, 'type' | 'qtree.id' | 'users' | 'group.name' | 'group.id'>

/** Whom a rule is about. Users and groups that are given by number are kept apart from those with names. */
export function targetOf(rule: Targeting): QuotaTarget {
  const { type, 'qtree.id': id } = rule
  const tree = id === undefined ? {} : { tree: id }
  if (type === 'user') {
    const [user] = rule['users'] ?? []
    return { type, ...tree, name: named(user?.name, user?.id) }
  }
  return type === 'group'
    ? { type, ...tree, name: named(rule['group.name'], rule['group.id']) }
    : { type: 'tree', ...tree }
}

const BY_NUMBER = 'id:'

function named(name = '', number = ''): string {
  return number === '' ? name : `${BY_NUMBER}${number}`
}

/** The same the other way. */
export function fieldsOfTarget({ type, name = '' }: QuotaTarget): Row {
  const isNumber = name.startsWith(BY_NUMBER)
  const value = isNumber ? name.slice(BY_NUMBER.length) : name
  if (type === 'user') return { users: [isNumber ? { id: value } : { name: value }] }
  return type === 'group' ? { [isNumber ? 'group.id' : 'group.name']: value } : {}
}

const LIMITS = [
  ['hardBytes', 'space.hard_limit'],
  ['softBytes', 'space.soft_limit'],
  ['hardFiles', 'files.hard_limit'],
  ['softFiles', 'files.soft_limit'],
] as const

export function limitsOf(rule: Pick<QuotaRule, (typeof LIMITS)[number][1]>): QuotaLimits {
  return Object.fromEntries(
    LIMITS.flatMap(([limit, field]) => {
      const value = rule[field] ?? null
      return value === null ? [] : [[limit, value]]
    }),
  )
}

export function fieldsOfLimits(limits: QuotaLimits): Row {
  return Object.fromEntries(
    LIMITS.flatMap(([limit, field]) => {
      const value = limits[limit]
      return value === undefined ? [] : [[field, value]]
    }),
  )
}

/** What the catalog has to be told of a rule that is written, or taken away (`null`). Nothing while quotas are off. */
export function limitChanges(volume: Volume, rule: Targeting, limits: QuotaLimits | null): Change[] {
  if (!areQuotasOn(volume)) return []
  return [{ do: 'set-quota', volume: volume['uuid'], quota: targetOf(rule), limits }]
}

/** What switches quotas of a volume on or off, where that changes. To be asked for under the lock. */
export async function switchChanges(cluster: Cluster, before: Volume, after: Volume): Promise<Change[]> {
  if (areQuotasOn(before) === areQuotasOn(after)) return []
  const volume = after['uuid']
  if (!areQuotasOn(after)) return [{ do: 'clear-quotas', volume }]
  const rules = await cluster.rows(QUOTA_RULES, volume)
  return rules.flatMap((rule) => limitChanges(after, rule, limitsOf(rule)))
}
