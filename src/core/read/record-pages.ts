import type { RecordType, RowOf } from '../../model/rows.ts'
import type { Commits, Records, StoredRecord } from '../../ports/catalog.ts'

/** Records read at once, where they are not so long that a page of them ends before. */
const PAGE = 200

/** All records of a type, or those under one parent, some in each turn of the event loop, in the order of their keys. */
export function recordPages<Type extends RecordType>(
  catalog: Records,
  type: Type,
  parent?: string,
): AsyncGenerator<readonly StoredRecord<RowOf<Type>>[], void, void>
export function recordPages(
  catalog: Records,
  type: string,
  parent?: string,
): AsyncGenerator<readonly StoredRecord[], void, void>
export async function* recordPages(
  catalog: Records,
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

/** Removes all records of a type under a parent, a page with each commit. Repeating it goes on with those that are left. */
export async function removeUnder(
  { catalog }: { readonly catalog: Records & Commits },
  type: string,
  parent: string,
): Promise<void> {
  for await (const page of recordPages(catalog, type, parent)) {
    await catalog.commit(page.map(({ key }) => ({ do: 'remove-record', type, key })))
  }
}
