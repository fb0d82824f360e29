/** CORS rules as the management interface has them: rows of the field `cors.rules` of a bucket. */
import type { BucketChange, KeptBucket, StoredBucket } from './bucket-notes.ts'
import { findList, findNumber, findText, type Stored, texts } from './stored.ts'

export type CorsMethod = (typeof corsMethods)[number]
export const corsMethods = ['GET', 'PUT', 'POST', 'DELETE', 'HEAD'] as const

export interface CorsRule {
  readonly id?: string
  /** Each with at most one `*`. */
  readonly allowedOrigins: readonly string[]
  readonly allowedMethods: readonly CorsMethod[]
  /** Each with at most one `*`, in any case. */
  readonly allowedHeaders: readonly string[]
  readonly exposeHeaders: readonly string[]
  readonly maxAgeSeconds?: number
}

export type CorsRow = NonNullable<KeptBucket['cors.rules']>[number]

export function readCorsRows(bucket: StoredBucket): readonly CorsRule[] | undefined {
  const rows = findList(bucket, 'cors.rules')
  return rows === undefined || rows.length === 0 ? undefined : rows.map(corsRuleOfRow)
}

export function corsRuleOfRow(row: Stored<CorsRow>): CorsRule {
  const id = findText(row, 'id')
  const maxAgeSeconds = findNumber(row, 'max_age_seconds')
  return {
    ...(id === undefined ? {} : { id }),
    allowedOrigins: texts(row, 'allowed_origins'),
    allowedMethods: texts(row, 'allowed_methods') as CorsMethod[],
    allowedHeaders: texts(row, 'allowed_headers'),
    exposeHeaders: texts(row, 'expose_headers'),
    ...(maxAgeSeconds === undefined ? {} : { maxAgeSeconds }),
  }
}

export function corsFields(rules: readonly CorsRule[] | undefined): BucketChange {
  return { 'cors.rules': rules === undefined ? null : rules.map(rowOf) }
}

function rowOf(rule: CorsRule): CorsRow {
  return {
    ...(rule.id === undefined ? {} : { id: rule.id }),
    allowed_origins: rule.allowedOrigins,
    allowed_methods: rule.allowedMethods,
    ...(rule.allowedHeaders.length === 0 ? {} : { allowed_headers: rule.allowedHeaders }),
    ...(rule.exposeHeaders.length === 0 ? {} : { expose_headers: rule.exposeHeaders }),
    ...(rule.maxAgeSeconds === undefined ? {} : { max_age_seconds: rule.maxAgeSeconds }),
  }
}
