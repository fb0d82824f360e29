/** What is asked of the command line, under /private/cli: names may have dashes, as commands have them. Answers have underscores. */
import type { Resource } from '../../model/resource.ts'
import { isRecord } from '../../model/value.ts'
import { withNamed } from './named-in-body.ts'

export function isCommandLine(resource: Resource): boolean {
  return resource.path.startsWith('/private/cli/')
}

/** The query with the names that fields have, and with what the body of a DELETE names. */
export function commandQuery(query: URLSearchParams, deleted: unknown): URLSearchParams {
  const spelled = new URLSearchParams()
  for (const [name, value] of query) {
    spelled.append(underscored(name), NAMING.has(name) ? underscored(value) : value)
  }
  return withNamed(spelled, deleted, underscored)
}

/** The body with the names that fields have. */
export function commandBody(body: unknown): unknown {
  if (!isRecord(body)) return body
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [underscored(name), value]))
}

/** Arguments whose values are names of fields. */
const NAMING: ReadonlySet<string> = new Set(['fields', 'order_by', '$orderBy', 'query_fields'])

function underscored(name: string): string {
  return name.replaceAll('-', '_')
}
