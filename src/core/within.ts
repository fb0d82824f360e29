/**
 * What keeps a record from being deleted, as the resources that name it declare: see `within` of a resource.
 *
 * A deletion looks for such records, and its commit is refused where one came after that look, by whichever process. Then
 * it looks again and finds that one. So a reference never names what is gone, and no lock is needed for that: a commit
 * that names a record is refused itself when the record is not there any more.
 */
import type { Failure } from '../model/failure.ts'
import type { Fate, Naming } from '../model/naming.ts'
import { recordKey, type Resource, type TypeName } from '../model/resource.ts'
import { type Row, textOf } from '../model/value.ts'
import { CommitRefused, type Change } from '../ports/catalog.ts'
import type { Cluster } from './cluster.ts'

/** A record that keeps another one from being deleted. */
export interface User {
  readonly resource: Resource
  readonly row: Row
  /** The key of the record. */
  readonly key: string
  /** The name of the record, or ''. */
  readonly name: string
}

/** Why a record cannot be deleted while another one names it. */
export type InUse = (user: User) => Failure

/** How often a deletion looks again because another record was written meanwhile that may name what is deleted. */
const LOOKS_MAX = 20

/** Refuses while a record names this one and blocks its deletion. */
export async function insistOnUnused(cluster: Cluster, type: string, key: string, inUse: InUse): Promise<void> {
  for (const { resource, naming } of namers(cluster, type)) {
    const row = naming.fate === 'blocks' ? await firstThatNames(cluster, resource, naming, key) : undefined
    if (row !== undefined) throw inUse({ resource, row, key: recordKey(resource, row), name: textOf(row['name']) })
  }
}

/**
 * Deletes as `changes` say, whenever nothing blocks it. Those are made after each look, and the commit is refused where
 * something came after that.
 */
export async function commitUnused(
  cluster: Cluster,
  type: string,
  key: string,
  { inUse, changes }: { readonly inUse: InUse; readonly changes: () => Promise<readonly Change[]> },
): Promise<void> {
  for (let looks = 1; ; looks++) {
    const since = await cluster.catalog.revision()
    await insistOnUnused(cluster, type, key, inUse)
    const guards = unusedSince(cluster, type, key, since)
    const all = [...guards, ...(await changes())]
    try {
      await cluster.catalog.commit(all)
      return
    } catch (failure) {
      if (!(failure instanceof CommitRefused)) throw failure
      const isLate = failure.change < guards.length || isOfFollower(all[failure.change], failure)
      if (!isLate || looks === LOOKS_MAX) throw await cluster.explain(failure, all)
    }
  }
}

/** A record that goes too came after the look, or one that lets go was changed. */
function isOfFollower(change: Change | undefined, { reason }: CommitRefused): boolean {
  return change?.do === 'check-childless' || (change?.do === 'put-record' && reason === 'stale')
}

/** The preconditions of a deletion: nothing that blocks it, or has to follow it, has come since a revision. */
export function unusedSince(cluster: Cluster, type: string, key: string, since: number): Change[] {
  const types = namers(cluster, type)
    .filter(({ naming }) => !naming.isParent || naming.fate === 'kept')
    .map(({ resource }) => resource.type)
  // Of a key of several words, what names the record holds the last one beside the others.
  const word = key.slice(key.lastIndexOf('/') + 1)
  return [
    ...typesWithin(cluster, type, 'blocks').map((child): Change => ({
      do: 'check-childless',
      type: child,
      parent: key,
    })),
    ...(types.length === 0 ? [] : [{ do: 'check-unnamed', types, word, since } as const]),
  ]
}

/** The types whose records live under one of this type and have this fate when it is deleted. */
export function typesWithin(cluster: Cluster, type: string, fate: Fate): readonly TypeName[] {
  return namers(cluster, type)
    .filter(({ naming }) => naming.isParent && naming.fate === fate)
    .map(({ resource }) => resource.type)
}

interface Namer {
  readonly resource: Resource
  readonly naming: Naming
}

const known = new WeakMap<Cluster['behaviours'], ReadonlyMap<string, readonly Namer[]>>()

/** What names records of a type, in the order of the resources. */
export function namers({ behaviours }: Cluster, type: string): readonly Namer[] {
  let byType = known.get(behaviours)
  if (byType === undefined) {
    const all = [...behaviours.values()]
      .map(({ resource }) => resource)
      // A second path to the same rows adds none.
      .filter((one) => one.rowsOf === one.type)
      .flatMap((resource) => resource.within.map((naming) => ({ resource, naming })))
    known.set(behaviours, (byType = Map.groupBy(all, ({ naming }) => naming.type)))
  }
  return byType.get(type) ?? []
}

async function firstThatNames(
  cluster: Cluster,
  { type, fields }: Resource,
  naming: Naming,
  key: string,
): Promise<Row | undefined> {
  if (naming.isParent) return (await cluster.shortRows(type, key))[0]
  // Long lists are left out of short rows.
  const isShort = fields.has(`${naming.path}.uuid`)
  const rows = await (isShort ? cluster.shortRows(type) : cluster.rows(type))
  return rows.find((row) => naming.keys(row).includes(key))
}
