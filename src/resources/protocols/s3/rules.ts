/** Lifecycle rules of a bucket: a list in the bucket's record, and rows of a collection below it. */
import { failure } from '../../../model/failure.ts'
import { bytes, count, each, flag, group, list, text, time } from '../../../model/kinds/index.ts'
import type { MembersOf, ValueOf } from '../../../model/kinds/index.ts'
import { namesOf, type Row } from '../../../model/value.ts'
import { checkLifecycleRule, lifecycleIdCharactersMax, lifecycleRulesMax } from '../../../s3/config/lifecycle.ts'
import { type LifecycleRow, lifecycleRowOf, lifecycleRuleOfRow, RULES } from '../../../records/lifecycle-rules.ts'
import { stored } from '../../../records/stored.ts'
import { asOfS3 } from './refused-by-s3.ts'
import type { Bucket } from '../../../records/rows.ts'

const days = count({ min: 1, max: 365_000, unit: 'days' })

const ruleName = {
  doc: 'The name of the rule, unique within its bucket.',
  kind: text({ charactersMin: 1, charactersMax: lifecycleIdCharactersMax }),
  set: 'create',
  required: true,
} as const

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
export function rulesKind() {
  const { object_filter, expiration, non_current_version_expiration, abort_incomplete_multipart_upload } = groups
  return each(
    {
      name: ruleName,
      enabled,
      object_filter: { doc: object_filter.doc, kind: group(object_filter.members) },
      expiration: { doc: expiration.doc, kind: group(expiration.members) },
      non_current_version_expiration: {
        doc: non_current_version_expiration.doc,
        kind: group(non_current_version_expiration.members),
      },
      abort_incomplete_multipart_upload: {
        doc: abort_incomplete_multipart_upload.doc,
        kind: group(abort_incomplete_multipart_upload.members),
      },
    },
    { elementsMax: lifecycleRulesMax },
  )
}

/** The fields of one, as a row of its own. */
export function ruleFields() {
  return {
    name: ruleName,
    enabled: { ...enabled, set: 'always', default: true },
    ...flat('object_filter'),
    ...flat('expiration'),
    ...flat('non_current_version_expiration'),
    ...flat('abort_incomplete_multipart_upload'),
  } as const
}

/** The members of one, each at a path of its own. */
function flat<Name extends keyof typeof groups>(name: Name): Flat<Name> {
  const members = Object.entries(groups[name].members)
  // Of a path that is put together, TypeScript knows only that it is a string.
  return Object.fromEntries(
    members.map(([member, field]) => [`${name}.${member}`, { ...field, set: 'always' }]),
  ) as Flat<Name>
}

type Flat<Name extends keyof typeof groups> = {
  readonly [
    Member in keyof (typeof groups)[Name]['members'] & string as `${Name}.${Member}`
  ]: (typeof groups)[Name]['members'][Member] & { readonly set: 'always' }
}

/** A rule as a row of its own: `{ 'expiration.object_age_days': 30 }`. */
export type RuleRow = { readonly name: string; readonly enabled?: boolean } & {
  readonly [Path in Exclude<keyof ReturnType<typeof ruleFields>, 'name' | 'enabled'>]?: ValueOf<
    ReturnType<typeof ruleFields>[Path]['kind']
  >
}

/** A rule of a bucket as a row of its own. */
export function flatRule(rule: LifecycleRow): RuleRow {
  const { object_filter, expiration, non_current_version_expiration, abort_incomplete_multipart_upload, ...plain } =
    rule
  return {
    ...plain,
    ...below('object_filter', object_filter),
    ...below('expiration', expiration),
    ...below('non_current_version_expiration', non_current_version_expiration),
    ...below('abort_incomplete_multipart_upload', abort_incomplete_multipart_upload),
  }
}

function below<Name extends keyof typeof groups>(name: Name, members: Members<Name> | undefined): FlatOf<Name> {
  const flat = Object.entries(members ?? {}).map(([member, value]) => [`${name}.${member}`, value])
  return Object.fromEntries(flat) as FlatOf<Name>
}

type Members<Name extends keyof typeof groups> = MembersOf<(typeof groups)[Name]['members']>
type FlatOf<Name extends keyof typeof groups> = {
  readonly [Member in keyof Members<Name> & string as `${Name}.${Member}`]?: Members<Name>[Member]
}

/** The way back. What else the row has (the bucket it is of) is left out. */
export function nestedRule(row: RuleRow): LifecycleRow {
  return {
    name: row.name,
    enabled: row.enabled ?? true,
    ...gathered(row, 'object_filter'),
    ...gathered(row, 'expiration'),
    ...gathered(row, 'non_current_version_expiration'),
    ...gathered(row, 'abort_incomplete_multipart_upload'),
  }
}

/** The members of one, where any is set. */
function gathered<Name extends keyof typeof groups>(
  row: RuleRow,
  name: Name,
): { readonly [Of in Name]?: Members<Name> } {
  const values: Row = row
  const given = Object.keys(groups[name].members)
    .map((member) => [member, values[`${name}.${member}`] ?? null])
    .filter(([, value]) => value !== null)
  if (given.length === 0) return {}
  return { [name]: Object.fromEntries(given) } as { readonly [Of in Name]?: Members<Name> }
}

/** The names under which a rule may say when objects expire: only one of them. */
export const expirations = namesOf(flat('expiration'))

/** The rules as they are kept, or what is wrong with them, by what the object store holds its own clients to. */
export function settleRules(rows: readonly LifecycleRow[]): readonly LifecycleRow[] {
  if (rows.length > lifecycleRulesMax) {
    throw failure('lifecycleRuleLimit', { max: lifecycleRulesMax })
  }
  const names = rows.map((row) => row.name)
  const repeated = names.find((name, at) => names.indexOf(name) !== at)
  if (repeated !== undefined) throw failure('lifecycleRuleRepeated', { name: repeated })
  return rows.map(settleRule)
}

function settleRule(row: LifecycleRow): LifecycleRow {
  // What the object store itself wrote is as it should be, and may say more than the fields here can.
  if ('$isLegacy' in row) return row
  const flat = flatRule(row)
  const given = expirations.filter((path) => flat[path] !== undefined && flat[path] !== false)
  if (given.length > 1) throw failure('lifecycleRuleConflict', { fields: given.join(' and ') })
  const newer = flat['non_current_version_expiration.new_non_current_versions']
  if (newer !== undefined && flat['non_current_version_expiration.non_current_days'] === undefined) {
    throw failure('lifecycleDaysMissing')
  }
  const rule = lifecycleRuleOfRow(stored<LifecycleRow>(row))
  asOfS3(RULES, 'bucketSettingUnfit', () => checkLifecycleRule(rule))
  return lifecycleRowOf(rule)
}

export function rulesOf(bucket: Bucket): readonly LifecycleRow[] {
  return bucket[RULES] ?? []
}
