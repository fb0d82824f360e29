import type { Ground } from '../../../core/grounds.ts'
import { type Behaviour, define } from '../../../core/behaviour.ts'
import { removeRecord } from '../../../core/plain.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { inline } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { count, text } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import type { DraftOf, NewOf, RowOf } from '../../../model/rows.ts'
import type { Change } from '../../../ports/catalog.ts'
import { rulesKind, rulesOf, settledRules } from './export-policies/rule-list.ts'

export const EXPORT_POLICIES = 'protocols/nfs/export-policies'
/** Held while an id is chosen, and while somebody takes a policy up or it goes. */
export const EXPORT_POLICIES_LOCK: Ground = { lock: 'export-policies', types: [EXPORT_POLICIES] }
/** The policy that each SVM has from the start. */
export const DEFAULT_POLICY = 'default'

type ExportPolicy = RowOf<typeof EXPORT_POLICIES>

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
      const id = nextId(cluster, all)
      return { key: String(id), input: settled({ ...draft, id }) }
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
export async function changeExportPolicy(
  cluster: Cluster,
  key: string,
  change: (policy: ExportPolicy) => DraftOf<typeof EXPORT_POLICIES>,
): Promise<void> {
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
export async function newExportPolicy(
  cluster: Cluster,
  policy: NewOf<typeof EXPORT_POLICIES>,
): Promise<{ id: number; change: Change }> {
  const id = nextId(cluster, await cluster.rows(EXPORT_POLICIES))
  return { id, change: cluster.put(EXPORT_POLICIES, settled({ ...policy, id }), { expect: 'absent' }) }
}

/** Larger than any before, also than those that were deleted: what still has the number of one finds no other. */
function nextId(cluster: Cluster, policies: readonly ExportPolicy[]): number {
  return policies.reduce((least, { id }) => Math.max(least, id + 1), cluster.now())
}

function settled<Of extends DraftOf<typeof EXPORT_POLICIES>>(row: Of) {
  return { ...row, rules: settledRules(rulesOf(row)) }
}

async function insistOnName(cluster: Cluster, row: NewOf<typeof EXPORT_POLICIES>): Promise<void> {
  const policy = row['name']
  if ((await cluster.keyOfName(EXPORT_POLICIES, policy, row['svm.uuid'])) !== undefined) {
    throw failure('exportPolicyNameTaken', { name: policy })
  }
}

/** Whether a volume or a qtree has this policy, beside a volume with all that is in it. */
export async function isPolicyUsed(cluster: Cluster, id: number, besides?: string): Promise<boolean> {
  const volumes = await cluster.rows('storage/volumes')
  if (volumes.some((each) => each['nas.export_policy.id'] === id && each['uuid'] !== besides)) return true
  const qtrees = await cluster.rows('storage/qtrees')
  return qtrees.some((each) => each['export_policy.id'] === id && each['volume.uuid'] !== besides)
}
