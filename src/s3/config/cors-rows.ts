import type { Fields, FieldValue } from '../../ports/catalog.ts'
import { field, isList, number, text, texts } from '../record-values.ts'
import type { CorsMethod, CorsRule } from './cors.ts'

/** CORS rules as the management interface has them: rows of the field `cors.rules` of a bucket. */
export function readCorsRows(body: Fields): readonly CorsRule[] | undefined {
  const rows = body['cors.rules']
  return isList(rows) && rows.length > 0 ? rows.map(corsRuleOfRow) : undefined
}

export function corsRuleOfRow(row: FieldValue): CorsRule {
  const id = field(row, 'id')
  const maxAgeSeconds = number(field(row, 'max_age_seconds'))
  return {
    ...(typeof id === 'string' ? { id: text(id) } : {}),
    allowedOrigins: texts(field(row, 'allowed_origins')),
    allowedMethods: texts(field(row, 'allowed_methods')) as CorsMethod[],
    allowedHeaders: texts(field(row, 'allowed_headers')),
    exposeHeaders: texts(field(row, 'expose_headers')),
    ...(maxAgeSeconds === undefined ? {} : { maxAgeSeconds }),
  }
}

export function corsFields(rules: readonly CorsRule[] | undefined): Fields {
  return { 'cors.rules': rules === undefined ? null : rules.map(rowOf) }
}

function rowOf(rule: CorsRule): FieldValue {
  return {
    ...(rule.id === undefined ? {} : { id: rule.id }),
    allowed_origins: rule.allowedOrigins,
    allowed_methods: rule.allowedMethods,
    ...(rule.allowedHeaders.length === 0 ? {} : { allowed_headers: rule.allowedHeaders }),
    ...(rule.exposeHeaders.length === 0 ? {} : { expose_headers: rule.exposeHeaders }),
    ...(rule.maxAgeSeconds === undefined ? {} : { max_age_seconds: rule.maxAgeSeconds }),
  }
}
