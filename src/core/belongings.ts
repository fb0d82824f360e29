import type { Row } from '../model/value.ts'
import type { Change, StoredRecord } from '../ports/catalog.ts'
import type { Cluster } from './cluster.ts'
import { recordPages } from './read/record-pages.ts'
import { namers, typesWithin } from './within.ts'

/** Records removed in one commit: others wait for it no longer than for some dozens of usual ones. */
export const REMOVED_TOGETHER = 500

export interface Belonging {
  /** What goes with a record beside it: its counters, a name that it held. */
  readonly beside?: (type: string, body: Row) => readonly Change[]
}

/**
 * The changes that remove what belongs to a record: the records that live under it or name it and are deleted with it, as
 * their types declare, and those under these. Records that are kept name it no more. The commit is refused where another
 * one has come meanwhile.
 */
export async function belongingChanges(
  cluster: Cluster,
  type: string,
  key: string,
  belonging: Belonging = {},
): Promise<Change[]> {
  const changes: Change[] = []
  for await (const removal of removals(cluster, type, key, belonging)) changes.push(...removal)
  return [...changes, ...childless(cluster, type, key)]
}

/**
 * Removes what belongs to a record until so little is left that one commit may take it, with the record itself. Each
 * commit has the changes of `unless` too, which refuse it. Repeating it goes on with what is left.
 */
export async function removeMostBelongings(
  cluster: Cluster,
  type: string,
  key: string,
  { unless = [], ...belonging }: Belonging & { readonly unless?: readonly Change[] },
): Promise<void> {
  let waiting: (readonly Change[])[] = []
  for await (const removal of removals(cluster, type, key, belonging)) {
    waiting.push(removal)
    // The last ones stay.
    if (waiting.length < 2 * REMOVED_TOGETHER) continue
    await cluster.commit([...unless, ...waiting.slice(0, REMOVED_TOGETHER).flat()])
    waiting = waiting.slice(REMOVED_TOGETHER)
    await cluster.system.turn()
  }
}

type Changes = AsyncGenerator<readonly Change[], void, void>

/** For each record that goes with another the changes that remove it, those under it first. */
async function* removals(
  cluster: Cluster,
  type: string,
  key: string,
  belonging: Belonging,
  above: readonly string[] = [],
): Changes {
  const parents = [...above, type]
  for (const child of typesWithin(cluster, type, 'deleted')) {
    for await (const page of recordPages(cluster.catalog, child, key)) {
      for (const record of page) yield* removal(cluster, record, belonging, parents)
    }
  }
  for (const { resource, naming } of namers(cluster, type)) {
    if (naming.fate === 'blocks' || (naming.isParent && naming.fate === 'deleted')) continue
    // What names it lives under the same parent.
    const isBeside = naming.under !== undefined && naming.under === resource.parent
    // That goes as well, and all that is under it.
    if (isBeside && resource.parentTypes.some((one) => above.includes(one))) continue
    const parent = naming.isParent ? key : isBeside ? key.slice(0, key.lastIndexOf('/')) : undefined
    for await (const page of recordPages(cluster.catalog, resource.type, parent)) {
      for (const record of page.filter(({ body }) => naming.keys(body).includes(key))) {
        if (naming.fate === 'deleted') yield* removal(cluster, record, belonging, parents)
        else yield [cluster.put(resource.type, naming.letGo(record.body, key), { expect: record.revision })]
      }
    }
  }
}

async function* removal(
  cluster: Cluster,
  { type, key, body }: StoredRecord,
  belonging: Belonging,
  above: readonly string[],
): Changes {
  yield* removals(cluster, type, key, belonging, above)
  yield [
    ...childless(cluster, type, key),
    { do: 'remove-record', type, key },
    ...(belonging.beside?.(type, body) ?? []),
  ]
}

function childless(cluster: Cluster, type: string, parent: string): Change[] {
  return typesWithin(cluster, type, 'deleted').map((child) => ({ do: 'check-childless', type: child, parent }))
}
