import type { Cluster } from '../../../core/cluster.ts'
import { inline, uuidOfNew, type Changing, type Making } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { type Row, textAt } from '../../../model/value.ts'
import { QTREES, volumeOf } from '../qtree-verbs.ts'
import { limitChanges, limitsOf, quotaLock, QUOTA_RULES, targetOf } from './limits.ts'

/** Rules of a volume. */
export const QUOTA_RULES_MAX = 5000
/** What smaller limits of space are rounded up to. */
const SPACE_MIN = 1024
const SPACE_MAX = 2 ** 50
const FILES_MAX = 2 ** 32 - 1

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
  alone: ({ draft }) => [quotaLock(textAt(draft, 'volume.uuid'))],
  async plan(cluster, { draft }: Making<typeof QUOTA_RULES>) {
    await volumeOf(cluster, draft)
    checkTarget(draft)
    const row = withLimits({ ...draft, ...(await qtreeOf(cluster, draft)) })
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
  alone: ({ row }) => [quotaLock(textAt(row, 'volume.uuid'))],
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
      const volume = await cluster.row('storage/volumes', textAt(row, 'volume.uuid'))
      await cluster.commit([
        cluster.put(QUOTA_RULES, row, { expect: record.revision, unique: { [TARGET]: uniqueTarget(row) } }),
        ...limitChanges(volume, row, limitsOf(row)),
      ])
    },
  },
})

export const removeRule = inline({
  alone: ({ row }) => [quotaLock(textAt(row, 'volume.uuid'))],
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
function checkTarget(draft: Row): void {
  const users = draft['users'] as readonly Row[] | undefined
  const hasGroup = draft['group.name'] !== undefined || draft['group.id'] !== undefined
  switch (textAt(draft, 'type')) {
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
      if ((user['name'] === undefined) === (user['id'] === undefined)) {
        throw failure('userRuleNameAndId')
      }
      break
    }
    default:
      if (!hasGroup || users !== undefined) {
        throw failure('groupRuleTarget')
      }
      if (draft['group.name'] !== undefined && draft['group.id'] !== undefined) {
        throw failure('groupRuleNameAndId')
      }
  }
}

/** The qtree that is named, by its number. */
async function qtreeOf(cluster: Cluster, draft: Row): Promise<Row> {
  const name = textAt(draft, 'qtree.name')
  const unnamed = { 'qtree.name': null }
  if (name === '') return unnamed
  const key = await cluster.keyOfName(QTREES, name, textAt(draft, 'volume.uuid'))
  if (key === undefined) throw failure('qtreeUnknown', { name: name.slice(0, 80) })
  return { ...unnamed, 'qtree.id': Number(key.split('/')[1]) }
}

/** Limits as they are kept, or why they cannot be. */
function withLimits(row: Row): Row {
  const kept: Record<string, Row[string]> = { ...row }
  if (row['type'] === 'user') kept['user_mapping'] ??= false
  else if (row['user_mapping'] === true) throw failure('userMappingNeedless')
  for (const [unit, max] of [
    ['space', SPACE_MAX],
    ['files', FILES_MAX],
  ] as const) {
    for (const field of [`${unit}.hard_limit`, `${unit}.soft_limit`]) {
      const given = row[field]
      if (typeof given !== 'number') continue
      if (given > max) throw failure('quotaLimitTooLarge', { max, field })
      if (unit === 'space') kept[field] = Math.max(given, SPACE_MIN)
    }
    const hard = kept[`${unit}.hard_limit`]
    const soft = kept[`${unit}.soft_limit`]
    if (typeof hard === 'number' && typeof soft === 'number' && soft > hard) {
      throw failure('softLimitAboveHard', { unit })
    }
  }
  return kept
}

function uniqueTarget(rule: Row): string {
  const { type, tree = '', name = '' } = targetOf(rule)
  return `${textAt(rule, 'volume.uuid')}/${type}/${tree}/${name}`
}

/** A target has one rule, and a volume so many. */
async function insistOnPlace(cluster: Cluster, rule: Row): Promise<void> {
  if ((await cluster.catalog.holder(TARGET, uniqueTarget(rule))) !== undefined) {
    throw failure('quotaRuleTaken', { field: TARGET_FIELDS[targetOf(rule).type] })
  }
  if ((await cluster.rows(QUOTA_RULES, textAt(rule, 'volume.uuid'))).length >= QUOTA_RULES_MAX) {
    throw failure('quotaRuleLimitReached', { max: QUOTA_RULES_MAX })
  }
}
