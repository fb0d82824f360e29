/** A DELETE of a collection may name what is meant in its body as well as in its query: tools do either. */
import { isRecord } from '../../model/value.ts'

/** The query, with what the body names: as it is, without wildcards and lists. */
export function withNamed(
  query: URLSearchParams,
  body: unknown,
  spell: (name: string) => string = (name) => name,
): URLSearchParams {
  const named = new URLSearchParams(query)
  for (const [name, value] of Object.entries(isRecord(body) ? body : {})) {
    if (typeof value === 'string' || typeof value === 'number') named.append(spell(name), `"${value}"`)
  }
  return named
}
