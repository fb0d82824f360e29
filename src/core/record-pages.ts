import type { Catalog, StoredRecord } from '../ports/catalog.ts'

/** Records read at once, where they are not so long that a page of them ends before. */
const PAGE = 200

/** All records of a type, or those under one parent, some in each turn of the event loop, in the order of their keys. */
export async function* recordPages(
  catalog: Catalog,
  type: string,
  parent?: string,
): AsyncGenerator<readonly StoredRecord[], void, void> {
  const within = parent === undefined ? {} : { parent }
  for (let after = ''; ;) {
    const page = await catalog.records(type, { ...within, after, limit: PAGE })
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    after = last.key
  }
}
