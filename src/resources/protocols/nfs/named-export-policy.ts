/** What volumes and qtrees say about their export policy: its name or its number, and without either the usual one. */
import type { Derivation } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { ofRows } from '../../../core/read/of-rows.ts'
import { failure } from '../../../model/failure.ts'
import { count, text } from '../../../model/kinds/index.ts'
import type { RowOf } from '../../../model/rows.ts'
import type { Row } from '../../../model/value.ts'
import { DEFAULT_POLICY, EXPORT_POLICIES } from './export-policies.ts'

export function exportPolicyFields<const Base extends string>(base: Base, doc: string) {
  const name = { doc, kind: text({ charactersMin: 1, charactersMax: 256 }), set: 'always' } as const
  // Exports say it by name alone: another cluster gives other numbers.
  const id = { doc: 'The ID of the export policy.', kind: count({ min: 0 }), set: 'always', isInput: true } as const
  // Of a path that is put together, TypeScript knows only that it is a string.
  return { [`${base}.name`]: name, [`${base}.id`]: id } as Readonly<Record<`${Base}.name`, typeof name>> &
    Readonly<Record<`${Base}.id`, typeof id>>
}

/** The paths at which resources say it. */
type Base = 'nas.export_policy' | 'export_policy'

/** What is said, at one of these paths or at none. */
type Said = { readonly [Path in `${Base}.name`]?: string } & { readonly [Path in `${Base}.id`]?: number }

/** The draft with the number of the policy that it names, and without its name. */
export async function withExportPolicy<Of extends Said & Row>(
  cluster: Cluster,
  draft: Of,
  base: Base,
  svm: string,
): Promise<Of> {
  const [name = null, id = null] = [draft[`${base}.name`], draft[`${base}.id`]]
  const others = Object.entries(draft).filter(([path]) => path !== `${base}.name` && path !== `${base}.id`)
  if (name === null && id === null) return Object.fromEntries(others) as Of
  const path = name === null ? `${base}.id` : `${base}.name`
  const key = name === null ? String(id) : await cluster.keyOfName(EXPORT_POLICIES, name, svm)
  const policy = key === undefined ? undefined : await cluster.find(EXPORT_POLICIES, key)
  if (policy === undefined || policy['svm.uuid'] !== svm) {
    throw failure('exportPolicyUnknown', { name: String(name ?? id).slice(0, 80), path })
  }
  if (id !== null && id !== policy['id']) {
    throw failure('exportPolicyMismatch', { base, path })
  }
  return Object.fromEntries([...others, [`${base}.id`, policy['id']]]) as Of
}

const known = ofRows((all: readonly RowOf<typeof EXPORT_POLICIES>[]) => ({
  byId: new Map(all.map((policy) => [policy['id'], policy])),
  usual: new Map(all.filter(({ name }) => name === DEFAULT_POLICY).map((policy) => [policy['svm.uuid'], policy])),
}))

/** Name and number of the policy of rows. One that is not set, or is gone, is that of `otherwise`, or the usual one. */
export function exportPolicyReading<Of extends Said & Row & { readonly 'svm.uuid'?: string }, const At extends Base>(
  base: At,
  otherwise: (cluster: Cluster, row: Of) => Promise<number | undefined> = () => Promise.resolve(undefined),
): Derivation<Of, At, Row> {
  return {
    gives: [base],
    async from(cluster, rows, once) {
      const policies = await once('export policies', async () => known(await cluster.rows(EXPORT_POLICIES)))
      const derived: Row[] = []
      for (const row of rows) {
        const id = row[`${base}.id`] ?? (await otherwise(cluster, row))
        const named = id === undefined ? undefined : policies.byId.get(id)
        const policy = named ?? policies.usual.get(row['svm.uuid'] ?? '')
        derived.push({ [`${base}.name`]: policy?.['name'] ?? null, [`${base}.id`]: policy?.['id'] ?? null })
      }
      return derived
    },
  }
}
