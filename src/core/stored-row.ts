import type { Resource } from '../model/resource.ts'
import type { Row, Value } from '../model/value.ts'
import type { Fields } from '../ports/catalog.ts'

/** Only what the record itself holds: references by uuid alone, nothing shown once, nothing unset. */
export function stored(resource: Resource, row: Row): Fields {
  const body: Record<string, Value> = {}
  for (const [path, value] of Object.entries(row)) {
    const field = resource.fields.get(path)
    if (value === null || value === undefined || field?.shownOnce === true) continue
    if (field?.reference?.part === 'name') continue
    body[path] =
      field?.reference?.part === 'list' && Array.isArray(value)
        ? (value as readonly Value[]).map((one) => ({ uuid: (one as Row)['uuid'] ?? null }))
        : value
  }
  return body
}
