/** What rows show beside what is stored: the names of what they refer to, and what resources derive of them. */
import { ofPair } from '../../model/of-pair.ts'
import type { Row, Value } from '../../model/value.ts'
import { onceEach, type Behaviour, type Derivation, type Once } from '../behaviour.ts'
import type { Cluster } from '../cluster.ts'
import { referenceDerivations } from './references.ts'
import { inTurns } from '../time/turns.ts'

/** Adds derived fields to rows: only those that are needed. */
export async function derive(
  cluster: Cluster,
  behaviour: Behaviour,
  rows: readonly Row[],
  paths: ReadonlySet<string>,
): Promise<Row[]> {
  const needed = givers(behaviour, paths)
  const once = onceEach()
  const derived: Row[] = []
  for await (const slice of inTurns(cluster.system, rows)) {
    derived.push(...(await deriveSome(cluster, needed, slice, once)))
  }
  return derived
}

export async function deriveSome(
  cluster: Cluster,
  needed: readonly Derivation[],
  rows: readonly Row[],
  once: Once,
): Promise<readonly Row[]> {
  if (needed.length === 0 || rows.length === 0) return rows
  const derived = rows.map((row): Record<string, Value> => ({ ...row }))
  for (const derivation of needed) {
    const made = derivation.from(cluster, derived, once)
    const added = made instanceof Promise ? await made : made
    for (const [at, row] of derived.entries()) Object.assign(row, added[at])
  }
  return derived
}

export const givers = ofPair((behaviour: Behaviour, paths: ReadonlySet<string>): readonly Derivation[] =>
  derivationsOf(behaviour).filter((derivation) => [...paths].some((path) => gives(derivation, path))),
)

/** Whether the resource itself gives it, and not what it refers to. */
export function isOwn(behaviour: Behaviour, derivation: Derivation): boolean {
  return behaviour.derive?.includes(derivation) ?? false
}

/** Whether a field is not stored in rows, but derived of them. */
export function isDerived(behaviour: Behaviour, path: string): boolean {
  return derivationsOf(behaviour).some((derivation) => gives(derivation, path))
}

function gives(derivation: Derivation, path: string): boolean {
  return derivation.gives.some((given) => path === given || path.startsWith(`${given}.`))
}

const derivations = new WeakMap<Behaviour, readonly Derivation[]>()

function derivationsOf(behaviour: Behaviour): readonly Derivation[] {
  const known = derivations.get(behaviour)
  if (known !== undefined) return known
  const made = [...referenceDerivations(behaviour.resource), ...(behaviour.derive ?? [])]
  derivations.set(behaviour, made)
  return made
}
