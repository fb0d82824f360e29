import type { BucketChange, KeptBucket, StoredBucket } from './bucket-notes.ts'
import { asText, findList, findNumber, findText, findTime, is, list, member, type Stored, text } from './stored.ts'
import type { Tag } from './tags.ts'

/** What is removed of a bucket, and when. */
export interface LifecycleRule {
  readonly id: string
  readonly enabled: boolean
  readonly filter: LifecycleFilter
  /** Written as `<Prefix>` of the rule itself, as documents before 2016 have it. It is printed the same way. */
  readonly isLegacy?: boolean
  readonly expiration?: LifecycleExpiration
  readonly noncurrent?: { readonly days: number; readonly newerVersions?: number }
  readonly abortDays?: number
}

export interface LifecycleFilter {
  readonly prefix?: string
  readonly tags?: readonly Tag[]
  /** Exclusive. */
  readonly greaterThanBytes?: number
  /** Exclusive. */
  readonly lessThanBytes?: number
}

/** Exactly one of the three. */
export interface LifecycleExpiration {
  readonly days?: number
  /** A midnight UTC. */
  readonly dateMs?: number
  /** Removes a delete marker that hides nothing any more. */
  readonly removesMarkers?: boolean
}

/** The lifecycle rules of a bucket, as a field of its record. */
export const RULES = 'lifecycle_management.rules'

/**
 * Lifecycle rules as the management interface has them: rows of the field `lifecycle_management.rules` of a bucket.
 *
 *     { "name": "logs", "enabled": true, "object_filter": { "prefix": "logs/", "tags": ["team=a"], "size_greater_than": 1 },
 *       "expiration": { "object_age_days": 30 },
 *       "non_current_version_expiration": { "non_current_days": 7, "new_non_current_versions": 3 },
 *       "abort_incomplete_multipart_upload": { "after_initiation_days": 7 } }
 */
export type LifecycleRow = NonNullable<KeptBucket[typeof RULES]>[number] & { readonly $isLegacy?: boolean }

export function readLifecycleRows(bucket: StoredBucket): readonly LifecycleRule[] | undefined {
  const rows = findList(bucket, RULES)
  return rows === undefined || rows.length === 0 ? undefined : rows.map(lifecycleRuleOfRow)
}

export function lifecycleRuleOfRow(row: Stored<LifecycleRow>): LifecycleRule {
  const expiration = readExpiration(member(row, 'expiration'))
  const noncurrent = member(row, 'non_current_version_expiration')
  const days = findNumber(noncurrent, 'non_current_days')
  const newerVersions = findNumber(noncurrent, 'new_non_current_versions')
  const abortDays = findNumber(member(row, 'abort_incomplete_multipart_upload'), 'after_initiation_days')
  return {
    id: text(row, 'name'),
    enabled: !is(row, 'enabled', false),
    filter: readFilter(member(row, 'object_filter')),
    ...(is(row, '$isLegacy', true) ? { isLegacy: true } : {}),
    ...(expiration === undefined ? {} : { expiration }),
    ...(days === undefined ? {} : { noncurrent: { days, ...(newerVersions === undefined ? {} : { newerVersions }) } }),
    ...(abortDays === undefined ? {} : { abortDays }),
  }
}

export function lifecycleFields(
  rules: readonly LifecycleRule[] | undefined,
  transitionMinimum: string | undefined,
): BucketChange {
  return {
    [RULES]: rules === undefined ? null : rules.map(lifecycleRowOf),
    $transitionMinimum: transitionMinimum ?? null,
  }
}

export function lifecycleRowOf(rule: LifecycleRule): LifecycleRow {
  const { id, enabled, filter, isLegacy, expiration, noncurrent, abortDays } = rule
  return {
    name: id,
    enabled,
    object_filter: filterRow(filter),
    ...(isLegacy === true ? { $isLegacy: true } : {}),
    ...(expiration === undefined ? {} : { expiration: expirationRow(expiration) }),
    ...(noncurrent === undefined
      ? {}
      : {
          non_current_version_expiration: {
            non_current_days: noncurrent.days,
            ...(noncurrent.newerVersions === undefined ? {} : { new_non_current_versions: noncurrent.newerVersions }),
          },
        }),
    ...(abortDays === undefined ? {} : { abort_incomplete_multipart_upload: { after_initiation_days: abortDays } }),
  }
}

type FilterRow = NonNullable<LifecycleRow['object_filter']>

function readFilter(row: Stored<FilterRow>): LifecycleFilter {
  const prefix = findText(row, 'prefix')
  const tags = list(row, 'tags').map((tag) => tagOf(asText(tag)))
  const greaterThanBytes = findNumber(row, 'size_greater_than')
  const lessThanBytes = findNumber(row, 'size_less_than')
  return {
    ...(prefix === undefined ? {} : { prefix }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(greaterThanBytes === undefined ? {} : { greaterThanBytes }),
    ...(lessThanBytes === undefined ? {} : { lessThanBytes }),
  }
}

/** `team=storage`: the first `=` divides, as keys with one in them are written `%3D`. */
function tagOf(tag: string): Tag {
  const at = tag.indexOf('=')
  const key = at < 0 ? tag : tag.slice(0, at)
  return { key: key.replaceAll('%3D', '=').replaceAll('%25', '%'), value: at < 0 ? '' : tag.slice(at + 1) }
}

function tagText({ key, value }: Tag): string {
  return `${key.replaceAll('%', '%25').replaceAll('=', '%3D')}=${value}`
}

function filterRow({ prefix, tags, greaterThanBytes, lessThanBytes }: LifecycleFilter): FilterRow {
  return {
    ...(prefix === undefined ? {} : { prefix }),
    ...(tags === undefined ? {} : { tags: tags.map(tagText) }),
    ...(greaterThanBytes === undefined ? {} : { size_greater_than: greaterThanBytes }),
    ...(lessThanBytes === undefined ? {} : { size_less_than: lessThanBytes }),
  }
}

type ExpirationRow = NonNullable<LifecycleRow['expiration']>

function readExpiration(row: Stored<ExpirationRow>): LifecycleExpiration | undefined {
  const days = findNumber(row, 'object_age_days')
  const dateMs = findTime(row, 'object_expiry_date')
  if (days !== undefined) return { days }
  if (dateMs !== undefined) return { dateMs }
  return is(row, 'expired_object_delete_marker', true) ? { removesMarkers: true } : undefined
}

function expirationRow({ days, dateMs, removesMarkers }: LifecycleExpiration): ExpirationRow {
  return {
    ...(days === undefined ? {} : { object_age_days: days }),
    ...(dateMs === undefined ? {} : { object_expiry_date: dateMs }),
    ...(removesMarkers === true ? { expired_object_delete_marker: true } : {}),
  }
}
