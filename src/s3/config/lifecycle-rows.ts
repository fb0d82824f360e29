import type { Fields, FieldValue } from '../../ports/catalog.ts'
import { field, isList, list, number, text } from '../record-values.ts'
import type { LifecycleExpiration, LifecycleFilter, LifecycleRule } from './lifecycle.ts'
import type { Tag } from './tagging.ts'

/**
 * Lifecycle rules as the management interface has them: rows of the field `lifecycle_management.rules` of a bucket.
 *
 *     { "name": "logs", "enabled": true, "object_filter": { "prefix": "logs/", "tags": ["team=a"], "size_greater_than": 1 },
 *       "expiration": { "object_age_days": 30 },
 *       "non_current_version_expiration": { "non_current_days": 7, "new_non_current_versions": 3 },
 *       "abort_incomplete_multipart_upload": { "after_initiation_days": 7 } }
 */
export function readLifecycleRows(body: Fields): readonly LifecycleRule[] | undefined {
  const rows = body['lifecycle_management.rules']
  return isList(rows) && rows.length > 0 ? rows.map(lifecycleRuleOfRow) : undefined
}

export function lifecycleRuleOfRow(row: FieldValue): LifecycleRule {
  const expiration = readExpiration(field(row, 'expiration'))
  const days = number(field(field(row, 'non_current_version_expiration'), 'non_current_days'))
  const newerVersions = number(field(field(row, 'non_current_version_expiration'), 'new_non_current_versions'))
  const abortDays = number(field(field(row, 'abort_incomplete_multipart_upload'), 'after_initiation_days'))
  return {
    id: text(field(row, 'name')),
    enabled: field(row, 'enabled') !== false,
    filter: readFilter(field(row, 'object_filter')),
    ...(field(row, '$isLegacy') === true ? { isLegacy: true } : {}),
    ...(expiration === undefined ? {} : { expiration }),
    ...(days === undefined ? {} : { noncurrent: { days, ...(newerVersions === undefined ? {} : { newerVersions }) } }),
    ...(abortDays === undefined ? {} : { abortDays }),
  }
}

export function lifecycleFields(
  rules: readonly LifecycleRule[] | undefined,
  transitionMinimum: string | undefined,
): Fields {
  return {
    'lifecycle_management.rules': rules === undefined ? null : rules.map(lifecycleRowOf),
    $transitionMinimum: transitionMinimum ?? null,
  }
}

export function lifecycleRowOf({ id, enabled, filter, isLegacy, expiration, noncurrent, abortDays }: LifecycleRule) {
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

function readFilter(row: FieldValue | undefined): LifecycleFilter {
  const prefix = field(row, 'prefix')
  const tags = list(field(row, 'tags')).map((tag) => tagOf(text(tag)))
  const greaterThanBytes = number(field(row, 'size_greater_than'))
  const lessThanBytes = number(field(row, 'size_less_than'))
  return {
    ...(typeof prefix === 'string' ? { prefix } : {}),
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

function filterRow({ prefix, tags, greaterThanBytes, lessThanBytes }: LifecycleFilter) {
  return {
    ...(prefix === undefined ? {} : { prefix }),
    ...(tags === undefined ? {} : { tags: tags.map(tagText) }),
    ...(greaterThanBytes === undefined ? {} : { size_greater_than: greaterThanBytes }),
    ...(lessThanBytes === undefined ? {} : { size_less_than: lessThanBytes }),
  }
}

function readExpiration(row: FieldValue | undefined): LifecycleExpiration | undefined {
  const days = number(field(row, 'object_age_days'))
  const date = field(row, 'object_expiry_date')
  // A field of the kind "time" is kept in milliseconds.
  const dateMs = typeof date === 'string' ? Date.parse(date) : number(date)
  if (days !== undefined) return { days }
  if (dateMs !== undefined) return { dateMs }
  return field(row, 'expired_object_delete_marker') === true ? { removesMarkers: true } : undefined
}

function expirationRow({ days, dateMs, removesMarkers }: LifecycleExpiration) {
  return {
    ...(days === undefined ? {} : { object_age_days: days }),
    ...(dateMs === undefined ? {} : { object_expiry_date: dateMs }),
    ...(removesMarkers === true ? { expired_object_delete_marker: true } : {}),
  }
}
