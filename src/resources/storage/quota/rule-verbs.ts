import type { Cluster } from '../../../core/cluster.ts'
import { inline, uuidOfNew, type Changing, type Making } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import type { NewOf } from '../../../model/rows.ts'
import { QTREES, volumeOf } from '../qtree-verbs.ts'
import { limitChanges, limitsOf, quotaLock, QUOTA_RULES, targetOf } from './limits.ts'

/** Rules of a volume. */
export const QUOTA_RULES_MAX = 5000
/** What smaller limits of space are rounded up to. */
const SPACE_MIN = 1024
const SPACE_MAX = 2 ** 50
const FILES_MAX = 2 ** 32 - 1

type NewRule = NewOf<typeof QUOTA_RULES>

const TARGET = `${QUOTA_RULES}:target`
const TARGET_FIELDS = { tree: 'qtree.name', user: 'users', group: 'group.name' } as const

export const createRule = inline({
  example: {
    'svm.name': 'svm1',
    'volume.name': 'vol1',
    type: 'user',
    users: [{ name: 'anna' }],
    'space.hard_limit': 1_073_741_824,
  },
  alone: ({ draft }: Making<typeof QUOTA_RULES>) => [quotaLock(draft['volume.uuid'])],
  async plan(cluster, { draft }: Making<typeof QUOTA_RULES>) {
    await volumeOf(cluster, draft)
    checkTarget(draft)
    const { 'qtree.name': qtree = '', ...given } = draft
    const row = withLimits({ ...given, ...(await qtreeOf(cluster, draft['volume.uuid'], qtree)) })
    await insistOnPlace(cluster, row)
    const key = uuidOfNew(cluster, draft)
    return { key, input: { ...row, uuid: key } }
  },
  step: {
    name: 'write record',
    async run(cluster, { input }) {
      const volume = await volumeOf(cluster, input)
      await cluster.commit([
        cluster.put(QUOTA_RULES, input, { expect: 'absent', unique: { [TARGET]: uniqueTarget(input) } }),
        ...limitChanges(volume, input, limitsOf(input)),
      ])
    },
  },
})

export const modifyRule = inline({
  alone: ({ row }: Changing<typeof QUOTA_RULES>) => [quotaLock(row['volume.uuid'])],
  plan(_cluster, { row, draft }: Changing<typeof QUOTA_RULES>) {
    withLimits({ ...row, ...draft })
    return Promise.resolve({ key: row['uuid'], input: { ...draft } })
  },
  step: {
    name: 'write record',
    async run(cluster, { key, input }) {
      const record = await cluster.record(QUOTA_RULES, key)
      if (record === undefined) throw failure('quotaRuleNotFound')
      const row = withLimits({ ...record.body, ...input })
      const volume = await cluster.row('storage/volumes', row['volume.uuid'])
      await cluster.commit([
        cluster.put(QUOTA_RULES, row, { expect: record.revision, unique: { [TARGET]: uniqueTarget(row) } }),
        ...limitChanges(volume, row, limitsOf(row)),
      ])
    },
  },
})

export const removeRule = inline({
  alone: ({ row }: Changing<typeof QUOTA_RULES>) => [quotaLock(row['volume.uuid'])],
  plan: (_cluster, { row }: Changing<typeof QUOTA_RULES>) => Promise.resolve({ key: row['uuid'], input: {} }),
  step: {
    name: 'remove record',
    async run(cluster, { key }) {
      const row = await cluster.find(QUOTA_RULES, key)
      if (row === undefined) return
      const volume = await cluster.row('storage/volumes', row['volume.uuid'])
      await cluster.commit([{ do: 'remove-record', type: QUOTA_RULES, key }, ...limitChanges(volume, row, null)])
    },
  },
})

/** Each type of rule names its target in its own way, and in no other. */
function checkTarget(draft: NewRule): void {
  const { users } = draft
  const hasGroup = draft['group.name'] !== undefined || draft['group.id'] !== undefined
  switch (draft['type']) {
    case 'tree':
      if (draft['qtree.name'] === undefined || users !== undefined || hasGroup) {
        throw failure('treeRuleTarget')
      }
      break
    case 'user': {
      const [user, ...others] = users ?? []
      if (user === undefined || hasGroup) {
        throw failure('userRuleTarget')
      }
      if (others.length > 0) {
        throw failure('userRuleForSeveral')
      }
      if ((user.name === undefined) === (user.id === undefined)) {
        throw failure('userRuleNameAndId')
      }
      break
    }
    case 'group':
      if (!hasGroup || users !== undefined) {
        throw failure('groupRuleTarget')
      }
      if (draft['group.name'] !== undefined && draft['group.id'] !== undefined) {
        throw failure('groupRuleNameAndId')
      }
  }
}

/** The qtree that is named, by its number. */
async function qtreeOf(cluster: Cluster, volume: string, name: string): Promise<{ readonly 'qtree.id'?: number }> {
  if (name === '') return {}
  const key = await cluster.keyOfName(QTREES, name, volume)
  if (key === undefined) throw failure('qtreeUnknown', { name: name.slice(0, 80) })
  return { 'qtree.id': Number(key.split('/')[1]) }
}

/** Limits as they are kept, or why they cannot be. */
function withLimits<Rule extends NewRule>(row: Rule): Rule {
  const isOfUser = row['type'] === 'user'
  if (!isOfUser && row['user_mapping'] === true) throw failure('userMappingNeedless')
  const mapping = isOfUser ? { user_mapping: row['user_mapping'] ?? false } : {}
  return {
    ...row,
    ...mapping,
    ...limitsOn(row, 'space', SPACE_MAX, SPACE_MIN),
    ...limitsOn(row, 'files', FILES_MAX, 0),
  }
}

function limitsOn(row: NewRule, unit: 'space' | 'files', max: number, min: number): Partial<NewRule> {
  const limit = (field: `${typeof unit}.${'hard' | 'soft'}_limit`) => {
    const given = row[field] ?? null
    if (given !== null && given > max) throw failure('quotaLimitTooLarge', { max, field })
    return given === null ? null : Math.max(given, min)
  }
  const [hard, soft] = [limit(`${unit}.hard_limit`), limit(`${unit}.soft_limit`)]
  if (hard !== null && soft !== null && soft > hard) throw failure('softLimitAboveHard', { unit })
  return {
    ...(hard === null ? {} : { [`${unit}.hard_limit`]: hard }),
    ...(soft === null ? {} : { [`${unit}.soft_limit`]: soft }),
  }
}

function uniqueTarget(rule: NewRule): string {
  const { type, tree = '', name = '' } = targetOf(rule)
  return `${rule['volume.uuid']}/${type}/${tree}/${name}`
}

/** A target has one rule, and a volume so many. */
async function insistOnPlace(cluster: Cluster, rule: NewRule): Promise<void> {
  if ((await cluster.catalog.holder(TARGET, uniqueTarget(rule))) !== undefined) {
    throw failure('quotaRuleTaken', { field: TARGET_FIELDS[targetOf(rule).type] })
  }
  if ((await cluster.rows(QUOTA_RULES, rule['volume.uuid'])).length >= QUOTA_RULES_MAX) {
    throw failure('quotaRuleLimitReached', { max: QUOTA_RULES_MAX })
  }
}
