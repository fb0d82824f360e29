/**
 * What is asked of the command line, under /private/cli: names may have dashes, as commands have them. Answers have
 * underscores. A DELETE names what is meant in its body as well as in its query.
 */
import type { Resource } from '../../model/resource.ts'
import { isRecord } from '../../model/value.ts'

export function isCommandLine(resource: Resource): boolean {
  return resource.path.startsWith('/private/cli/')
}

/** The query with the names that fields have. */
export function commandQuery(query: URLSearchParams, deleted: unknown): URLSearchParams {
  const spelled = new URLSearchParams()
  for (const [name, value] of query) {
    spelled.append(underscored(name), NAMING.has(name) ? underscored(value) : value)
  }
  for (const [name, value] of Object.entries(isRecord(deleted) ? deleted : {})) {
    // As it is: no wildcards, no lists.
    if (typeof value === 'string' || typeof value === 'number') spelled.append(underscored(name), `"${value}"`)
  }
  return spelled
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
