/** What volumes and qtrees say about their export policy: its name or its number, and without either the usual one. */
import type { Derivation } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { ofRows } from '../../../core/read/of-rows.ts'
import { failure } from '../../../model/failure.ts'
import { count, text } from '../../../model/kinds/index.ts'
import { type Row, textAt, type Value } from '../../../model/value.ts'
import { DEFAULT_POLICY, EXPORT_POLICIES } from './export-policies.ts'

export function exportPolicyFields<const Base extends string>(base: Base, doc: string) {
  const name = { doc, kind: text({ charactersMin: 1, charactersMax: 256 }), set: 'always' } as const
  // Exports say it by name alone: another cluster gives other numbers.
  const id = { doc: 'The ID of the export policy.', kind: count({ min: 0 }), set: 'always', isOrder: true } as const
  // Of a path that is put together, TypeScript knows only that it is a string.
  return { [`${base}.name`]: name, [`${base}.id`]: id } as Readonly<Record<`${Base}.name`, typeof name>> &
    Readonly<Record<`${Base}.id`, typeof id>>
}

/** The draft with the number of the policy that it names, and without its name. */
export async function withExportPolicy(cluster: Cluster, draft: Row, base: string, svm: string): Promise<Row> {
  const { [`${base}.name`]: name, [`${base}.id`]: id, ...rest } = draft
  if ((name === undefined || name === null) && (id === undefined || id === null)) return rest
  const path = typeof name === 'string' ? `${base}.name` : `${base}.id`
  const key =
    typeof name === 'string' ? await cluster.keyOfName(EXPORT_POLICIES, name, svm) : textAt({ id: id ?? '' }, 'id')
  const policy = key === undefined ? undefined : await cluster.find(EXPORT_POLICIES, key)
  if (policy === undefined || policy['svm.uuid'] !== svm) {
    throw failure('exportPolicyUnknown', { name: textAt(draft, path).slice(0, 80), path })
  }
  if (id !== undefined && id !== null && id !== policy['id']) {
    throw failure('exportPolicyMismatch', { base, path })
  }
  return { ...rest, [`${base}.id`]: policy['id'] ?? null }
}

const known = ofRows((all) => ({
  byId: new Map(all.map((policy) => [policy['id'], policy])),
  usual: new Map(all.filter(({ name }) => name === DEFAULT_POLICY).map((policy) => [policy['svm.uuid'], policy])),
}))

/** Name and number of the policy of rows. One that is not set, or is gone, is that of `otherwise`, or the usual one. */
export function exportPolicyReading(
  base: string,
  otherwise: (cluster: Cluster, row: Row) => Promise<Value | undefined> = () => Promise.resolve(undefined),
): Derivation {
  return {
    gives: [base],
    async from(cluster, rows, once) {
      const policies = await once('export policies', async () => known(await cluster.rows(EXPORT_POLICIES)))
      const derived: Row[] = []
      for (const row of rows) {
        const id = row[`${base}.id`] ?? (await otherwise(cluster, row))
        const policy = policies.byId.get(id ?? null) ?? policies.usual.get(textAt(row, 'svm.uuid'))
        derived.push({ [`${base}.name`]: policy?.['name'] ?? null, [`${base}.id`]: policy?.['id'] ?? null })
      }
      return derived
    },
  }
}
