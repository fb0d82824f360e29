import { type Behaviour, define } from '../../../core/behaviour.ts'
import { removeRecord } from '../../../core/plain.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { inline } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { count, text } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { type Row, textAt, type Value } from '../../../model/value.ts'
import type { Change } from '../../../ports/catalog.ts'
import { rulesKind, rulesOf, settledRules } from './export-policies/rule-list.ts'

export const EXPORT_POLICIES = 'protocols/nfs/export-policies'
/** Held while an id is chosen, and while somebody takes a policy up or it goes. */
export const EXPORT_POLICIES_LOCK = 'export-policies'
/** The policy that each SVM has from the start. */
export const DEFAULT_POLICY = 'default'

/** Export policies of a cluster. */
const POLICIES_MAX = 10_000

const exportPoliciesResource = resource({
  path: `/${EXPORT_POLICIES}`,
  noun: 'export policy',
  doc: 'Export policies decide which NFS clients may mount volumes and qtrees. Each SVM has a policy `default`, which has no rules at first.',
  key: ['id'],
  recordKey: ['id'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  columns: ['name', 'svm.name', 'id'],
  form: { Policy: ['name', 'svm.name', 'rules'] },
  removal: 'disruptive',
  fields: {
    id: { doc: 'The ID of the policy, unique in the cluster.', kind: count() },
    name: {
      doc: 'The name of the policy, unique within its SVM.',
      kind: text({
        charactersMin: 1,
        charactersMax: 256,
        pattern: /^[A-Za-z0-9_][A-Za-z0-9_.:-]*$/,
        patternDoc: 'letters, digits and "_.:-", beginning with a letter, a digit or "_"',
      }),
      set: 'always',
      required: true,
    },
    svm: { doc: 'The SVM that owns the policy.', ref: 'svm/svms', set: 'create', required: true },
    rules: {
      doc: 'The rules of the policy, in order. The first rule that matches a client decides.',
      kind: rulesKind(),
      set: 'always',
    },
  },
})

export const exportPolicies: Behaviour<typeof exportPoliciesResource> = define(exportPoliciesResource, {
  create: inline({
    example: {
      name: 'policy_example',
      'svm.name': 'svm1',
      rules: [{ clients: [{ match: '192.0.2.0/24' }], ro_rule: ['sys'], rw_rule: ['sys'] }],
    },
    alone: () => [EXPORT_POLICIES_LOCK],
    async plan(cluster, { draft }) {
      await insistOnName(cluster, draft)
      const all = await cluster.rows(EXPORT_POLICIES)
      if (all.length >= POLICIES_MAX) {
        throw failure('clusterLimitReached', { max: POLICIES_MAX, things: 'export policies' })
      }
      const row = settled({ ...draft, id: nextId(cluster, all) })
      return { key: textAt(row, 'id'), input: row }
    },
    step: {
      name: 'write record',
      async run(cluster, { input }) {
        await cluster.commit([cluster.put(EXPORT_POLICIES, input, { expect: 'absent' })])
      },
    },
  }),
  modify: inline({
    alone: () => [EXPORT_POLICIES_LOCK],
    async plan(cluster, { row, draft }) {
      settled({ ...row, ...draft })
      if (draft['name'] !== undefined && draft['name'] !== row['name'])
        await insistOnName(cluster, { ...row, ...draft })
      return { key: String(row['id']), input: { ...draft } }
    },
    step: {
      name: 'write record',
      run: (cluster, { key, input }) => changeExportPolicy(cluster, key, () => input),
    },
  }),
  remove: inline({
    alone: () => [EXPORT_POLICIES_LOCK],
    async plan(_cluster, { row }) {
      if (row['name'] === DEFAULT_POLICY) {
        throw failure('defaultExportPolicyDelete')
      }
      return { key: String(row['id']), input: {} }
    },
    step: {
      name: 'remove record',
      async run(cluster, { key }) {
        await removeRecord(cluster, EXPORT_POLICIES, key, {
          inUse({ resource, name }) {
            return failure('exportPolicyInUse', { noun: resource.noun, name })
          },
        })
      },
    },
  }),
})

/** Changes a policy as it is now, in one commit. To be called with `EXPORT_POLICIES_LOCK` held. */
export async function changeExportPolicy(cluster: Cluster, key: string, change: (policy: Row) => Row): Promise<void> {
  const record = await cluster.record(EXPORT_POLICIES, key)
  if (record === undefined) throw failure('exportPolicyNotFound')
  const before = record.body
  const row = settled({ ...before, ...change(before) })
  await cluster.commit([cluster.put(EXPORT_POLICIES, row, { expect: record.revision })])
}

/** The change that gives a new SVM its default policy. To be called with `EXPORT_POLICIES_LOCK` held. */
export async function defaultExportPolicy(cluster: Cluster, svm: string): Promise<Change> {
  return (await newExportPolicy(cluster, { name: DEFAULT_POLICY, 'svm.uuid': svm, rules: [] })).change
}

/** Another policy, with the number it gets. To be called and committed with `EXPORT_POLICIES_LOCK` held. */
export async function newExportPolicy(cluster: Cluster, policy: Row): Promise<{ id: number; change: Change }> {
  const id = nextId(cluster, await cluster.rows(EXPORT_POLICIES))
  return { id, change: cluster.put(EXPORT_POLICIES, settled({ ...policy, id }), { expect: 'absent' }) }
}

/** Larger than any before, also than those that were deleted: what still has the number of one finds no other. */
function nextId(cluster: Cluster, policies: readonly Row[]): number {
  return policies.reduce((least, { id }) => Math.max(least, Number(id) + 1), cluster.now())
}

function settled(row: Row): Row {
  return { ...row, rules: settledRules(rulesOf(row)) }
}

async function insistOnName(cluster: Cluster, row: Row): Promise<void> {
  const policy = textAt(row, 'name')
  if ((await cluster.keyOfName(EXPORT_POLICIES, policy, textAt(row, 'svm.uuid'))) !== undefined) {
    throw failure('exportPolicyNameTaken', { name: policy })
  }
}

/** A volume or a qtree that has this policy, beside a volume with all that is in it. */
export async function userOfPolicy(
  cluster: Cluster,
  id: Value,
  besides?: string,
): Promise<{ noun: string; row: Row } | undefined> {
  for (const [type, noun, path, volume] of [
    ['storage/volumes', 'volume', 'nas.export_policy.id', 'uuid'],
    ['storage/qtrees', 'qtree', 'export_policy.id', 'volume.uuid'],
  ] as const) {
    const row = (await cluster.rows(type)).find((each: Row) => each[path] === id && each[volume] !== besides)
    if (row !== undefined) return { noun, row }
  }
  return undefined
}
