/** Lifecycle rules of a bucket: a list in the bucket's record, and rows of a collection below it. */
import { failure } from '../../../model/failure.ts'
import { bytes, count, each, flag, group, list, text, time } from '../../../model/kinds/index.ts'
import type { Kind } from '../../../model/kinds/index.ts'
import type { FieldDeclaration } from '../../../model/resource.ts'
import { isRecord, type Row, textOf, type Value } from '../../../model/value.ts'
import { checkLifecycleRule, lifecycleIdCharactersMax, lifecycleRulesMax } from '../../../s3/config/lifecycle.ts'
import { lifecycleRowOf, lifecycleRuleOfRow } from '../../../s3/config/lifecycle-rows.ts'
import { isList } from '../../../s3/record-values.ts'
import { asOfS3 } from './refused-by-s3.ts'
import type { Bucket } from '../../../records/rows.ts'

export const RULES = 'lifecycle_management.rules'

const days = count({ min: 1, max: 365_000, unit: 'days' })

const ruleName: FieldDeclaration & { readonly kind: Kind } = {
  doc: 'The name of the rule, unique within its bucket.',
  kind: text({ charactersMin: 1, charactersMax: lifecycleIdCharactersMax }),
  set: 'create',
  required: true,
}

const enabled = { doc: 'Whether the lifecycle rule is applied.', kind: flag() }

/** Members of a rule that have members themselves. */
const groups = {
  object_filter: {
    doc: 'The objects that the lifecycle rule applies to. Default: all objects in the bucket.',
    members: {
      prefix: {
        doc: 'The prefix of the keys that the lifecycle rule applies to.',
        kind: text({ charactersMax: 1024 }),
      },
      tags: { doc: 'The tags that objects must have, each as `key=value`.', kind: list(text({ charactersMax: 1024 })) },
      size_greater_than: { doc: 'The size in bytes that objects must exceed.', kind: bytes() },
      size_less_than: { doc: 'The size in bytes that objects must stay below.', kind: bytes() },
    },
  },
  expiration: {
    doc: 'When current objects expire. Only one of the members can be set.',
    members: {
      object_age_days: { doc: 'The number of days after which objects expire.', kind: days },
      object_expiry_date: { doc: 'The day on which objects expire: midnight UTC.', kind: time() },
      expired_object_delete_marker: { doc: 'Whether delete markers without older versions are removed.', kind: flag() },
    },
  },
  non_current_version_expiration: {
    doc: 'When noncurrent versions are removed.',
    members: {
      non_current_days: { doc: 'The number of days after which a replaced version is removed.', kind: days },
      new_non_current_versions: {
        doc: 'The number of the newest noncurrent versions to keep.',
        kind: count({ min: 1, max: 100 }),
      },
    },
  },
  abort_incomplete_multipart_upload: {
    doc: 'When incomplete multipart uploads are aborted.',
    members: {
      after_initiation_days: { doc: 'The number of days after which an incomplete upload is aborted.', kind: days },
    },
  },
} as const

/** The list, as a field of a bucket. */
export function rulesKind(): Kind {
  const grouped = Object.entries(groups).map(([name, { doc, members }]) => [name, { doc, kind: group(members) }])
  return each({ name: ruleName, enabled, ...Object.fromEntries(grouped) }, { elementsMax: lifecycleRulesMax })
}

/** The fields of one, as a row of its own. */
export function ruleFields(): Record<string, FieldDeclaration> {
  const flat = Object.entries(groups).flatMap(([name, { members }]) =>
    Object.entries(members).map(([member, field]): [string, FieldDeclaration] => [
      `${name}.${member}`,
      { ...field, set: 'always' },
    ]),
  )
  return { name: ruleName, enabled: { ...enabled, set: 'always', default: true }, ...Object.fromEntries(flat) }
}

/** A rule of a bucket as a row: `{ 'expiration.object_age_days': 30 }`, with the bucket it is of. */
export function flatRule(rule: Value, of: Row = {}): Row {
  if (!isRecord(rule)) return {}
  const flat: Record<string, Value> = { ...of }
  for (const [name, value] of Object.entries(rule as Row)) {
    if (!(name in groups)) flat[name] = value
    else if (isRecord(value)) for (const [member, one] of Object.entries(value)) flat[`${name}.${member}`] = one
  }
  return flat
}

/** The way back. What else the row has (the bucket it is of) is left out. */
export function nestedRule(row: Row): Row {
  const nested: Record<string, Value> = { name: row['name'] ?? '', enabled: row['enabled'] ?? true }
  for (const [name, { members }] of Object.entries(groups)) {
    const given = Object.keys(members)
      .map((member) => [member, row[`${name}.${member}`]] as const)
      .filter((entry): entry is [string, Value] => entry[1] !== undefined && entry[1] !== null)
    if (given.length > 0) nested[name] = Object.fromEntries(given)
  }
  return nested
}

/** The names under which a rule may say when objects expire: only one of them. */
export const expirations = Object.keys(groups.expiration.members).map((member) => `expiration.${member}`)

/** The rules as they are kept, or what is wrong with them, by what the object store holds its own clients to. */
export function settleRules(rows: readonly Value[]): Value {
  if (rows.length > lifecycleRulesMax) {
    throw failure('lifecycleRuleLimit', { max: lifecycleRulesMax })
  }
  const names = rows.map((row) => (row as Row)['name'])
  const repeated = names.find((name, at) => names.indexOf(name) !== at)
  if (repeated !== undefined) throw failure('lifecycleRuleRepeated', { name: textOf(repeated) })
  return rows.map(settleRule)
}

function settleRule(row: Value): Value {
  const flat = flatRule(row)
  // What the object store itself wrote is as it should be, and may say more than the fields here can.
  if ('$isLegacy' in flat) return row
  const given = expirations.filter((path) => flat[path] !== undefined && flat[path] !== false)
  if (given.length > 1) throw failure('lifecycleRuleConflict', { fields: given.join(' and ') })
  const newer = flat['non_current_version_expiration.new_non_current_versions']
  if (newer !== undefined && flat['non_current_version_expiration.non_current_days'] === undefined) {
    throw failure('lifecycleDaysMissing')
  }
  const rule = lifecycleRuleOfRow(row)
  asOfS3(RULES, 'bucketSettingUnfit', () => checkLifecycleRule(rule))
  return lifecycleRowOf(rule)
}

export function rulesOf(bucket: Bucket): readonly Value[] {
  const rules = bucket[RULES]
  return isList(rules) ? rules : []
}
