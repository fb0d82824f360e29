import type { Condition } from './conditions.ts'

/**
 * Conditions as the management interface has them. One row has one operator and, by name, the keys it compares; several
 * keys of a row hold together, as several rows do:
 *
 *     { "operator": "ip_address", "source_ips": ["10.0.0.0/8"] }
 *     { "operator": "string_like", "prefixes": ["home/*"], "delimiters": ["/"] }
 */
export interface ConditionRow {
  readonly operator: string
  readonly source_ips?: readonly string[]
  readonly usernames?: readonly string[]
  readonly prefixes?: readonly string[]
  readonly delimiters?: readonly string[]
  readonly max_keys?: readonly number[]
  readonly if_match?: readonly string[]
  readonly if_none_match?: boolean
  readonly object_creation_operation?: boolean
}

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

/** Conditions of rows. An operator that is none stays as it is, so that `policyProblem` names it. */
export function conditionsOfRows(rows: readonly ConditionRow[]): readonly Condition[] {
  return rows.flatMap((row) => {
    const operator = rowOperators[row.operator.toLowerCase()] ?? row.operator
    return rowFields.flatMap(([field, key]) => {
      const value = row[field]
      if (value === undefined) return []
      return [{ operator, key, values: (typeof value === 'object' ? value : [value]).map(String) }]
    })
  })
}

/** Rows of conditions, one each, or nothing when a condition has no form as a row. */
export function rowsOfConditions(conditions: readonly Condition[]): readonly ConditionRow[] | undefined {
  const rows: ConditionRow[] = []
  for (const condition of conditions) {
    const row = rowOf(condition)
    if (row === undefined) return undefined
    rows.push(row)
  }
  return rows
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

function rowOf({ operator, key, values }: Condition): ConditionRow | undefined {
  const name = Object.entries(rowOperators).find(([, amazon]) => amazon.toLowerCase() === operator.toLowerCase())?.[0]
  const field = rowFields.find(([, known]) => known.toLowerCase() === key.toLowerCase())?.[0]
  if (name === undefined || field === undefined) return undefined
  if (field === 'max_keys') {
    const numbers = values.map(Number)
    return numbers.every(Number.isInteger) ? { operator: name, max_keys: numbers } : undefined
  }
  if (field === 'if_none_match' || field === 'object_creation_operation') {
    const [value = ''] = values
    const isTruth = values.length === 1 && /^(?:true|false)$/i.test(value)
    return isTruth ? { operator: name, [field]: value.toLowerCase() === 'true' } : undefined
  }
  return { operator: name, [field]: values }
}
