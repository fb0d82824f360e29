import { isList } from '../model/value.ts'
import type { KeptBucket } from './bucket-notes.ts'
import { findText, plain, type Stored, text, texts } from './stored.ts'

/**
 * One condition of a statement, as Amazon writes it: `{ "StringLike": { "s3:prefix": ["home/*"] } }` is
 * `{ operator: 'StringLike', key: 's3:prefix', values: ['home/*'] }`. Several hold together.
 *
 * An operator is a base, maybe with `IfExists` behind it (true when nothing is known about the key) and maybe with
 * `ForAnyValue:` or `ForAllValues:` before it (for keys with several values, such as the tags of a request).
 */
export interface Condition {
  readonly operator: string
  readonly key: string
  readonly values: readonly string[]
}

/**
 * Conditions as the management interface has them. One row has one operator and, by name, the keys it compares; several
 * keys of a row hold together, as several rows do:
 *
 *     { "operator": "ip_address", "source_ips": ["10.0.0.0/8"] }
 *     { "operator": "string_like", "prefixes": ["home/*"], "delimiters": ["/"] }
 *
 * Keys and operators that it has no name for are written as Amazon does:
 *
 *     { "operator": "Bool", "key": "aws:SecureTransport", "values": ["false"] }
 */
export const rowOperators: Readonly<Record<string, string>> = {
  ip_address: 'IpAddress',
  not_ip_address: 'NotIpAddress',
  string_equals: 'StringEquals',
  string_not_equals: 'StringNotEquals',
  string_equals_ignore_case: 'StringEqualsIgnoreCase',
  string_not_equals_ignore_case: 'StringNotEqualsIgnoreCase',
  string_like: 'StringLike',
  string_not_like: 'StringNotLike',
  numeric_equals: 'NumericEquals',
  numeric_not_equals: 'NumericNotEquals',
  numeric_greater_than: 'NumericGreaterThan',
  numeric_greater_than_equals: 'NumericGreaterThanEquals',
  numeric_less_than: 'NumericLessThan',
  numeric_less_than_equals: 'NumericLessThanEquals',
  bool: 'Bool',
  null: 'Null',
}

export type ConditionRow = NonNullable<NonNullable<KeptBucket['policy.statements']>[number]['conditions']>[number]

/** Conditions of a row. An operator that is none stays as it is, so that `policyProblem` names it. */
export function conditionsOfRow(row: Stored<ConditionRow>): readonly Condition[] {
  const given = text(row, 'operator')
  const operator = rowOperators[given.toLowerCase()] ?? given
  const conditions: Condition[] = []
  const values = plain(row)
  for (const [name, key] of rowFields) {
    const value = values[name]
    if (value === undefined || value === null) continue
    conditions.push({ operator, key, values: (isList(value) ? value : [value]).map(String) })
  }
  const key = findText(row, 'key')
  if (key !== undefined) conditions.push({ operator, key, values: texts(row, 'values') })
  // A condition on nothing must not become none: it is one that `policyProblem` refuses.
  return conditions.length === 0 ? [{ operator, key: '', values: [] }] : conditions
}

export function rowOfCondition({ operator, key, values }: Condition): ConditionRow {
  const name = Object.entries(rowOperators).find(([, amazon]) => amazon.toLowerCase() === operator.toLowerCase())?.[0]
  const row = rowFields.find(([, known]) => known.toLowerCase() === key.toLowerCase())?.[0]
  const value = row === undefined ? undefined : valueOf(row, values)
  if (name === undefined || row === undefined || value === undefined) return { operator: name ?? operator, key, values }
  return { operator: name, [row]: value }
}

const rowFields = [
  ['source_ips', 'aws:SourceIp'],
  ['usernames', 'aws:username'],
  ['prefixes', 's3:prefix'],
  ['delimiters', 's3:delimiter'],
  ['max_keys', 's3:max-keys'],
  ['if_match', 's3:if-match'],
  ['if_none_match', 's3:if-none-match'],
  ['object_creation_operation', 's3:ObjectCreationOperation'],
] as const satisfies readonly (readonly [keyof ConditionRow, string])[]

/** The value in the type that the row's field has, if it can have it. */
function valueOf(
  name: (typeof rowFields)[number][0],
  values: readonly string[],
): ConditionRow[(typeof rowFields)[number][0]] {
  if (name === 'max_keys') {
    const numbers = values.map(Number)
    return numbers.every(Number.isSafeInteger) ? numbers : undefined
  }
  if (name === 'if_none_match' || name === 'object_creation_operation') {
    const [value = ''] = values
    const isTruth = values.length === 1 && /^(?:true|false)$/i.test(value)
    return isTruth ? value.toLowerCase() === 'true' : undefined
  }
  return values
}
