import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { removeRecord } from '../../core/plain.ts'
import { inline, uuidOfNew } from '../../core/verb.ts'
import { failure } from '../../model/failure.ts'
import { flag, name, oneOf, text, uuid } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import { namesBy } from '../../model/naming.ts'
import { SCHEDULES, SCHEDULES_LOCK } from '../cluster/schedules.ts'
import { copiesKind, copiesOf, settleCopies, shownCopy, SNAPSHOT_POLICIES } from './snapshot-policies/copies.ts'
import type { DraftOf, RowOf } from '../../model/rows.ts'

const snapshotPoliciesResource = resource({
  path: '/storage/snapshot-policies',
  noun: 'snapshot policy',
  doc: 'Snapshot policies say when snapshots of volumes are taken, how they are named, and how many are kept.',
  key: ['uuid'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  isShared: true,
  columns: ['name', 'svm.name', 'enabled', 'copies.schedule.name', 'copies.count', 'comment'],
  form: { Policy: ['name', 'svm.name', 'enabled', 'copies', 'comment'] },
  removal: 'disruptive',
  within: { copies: namesBy(SCHEDULES, 'blocks', 'copies.schedule.uuid') },
  fields: {
    uuid: { doc: 'The UUID of the policy.', kind: uuid() },
    name: {
      doc: 'The name of the policy.',
      kind: name({
        charactersMax: 256,
        pattern: /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/,
        patternDoc: 'letters, digits, "_", ".", "+" and "-", beginning with a letter, a digit or "_"',
      }),
      set: 'create',
      required: true,
    },
    comment: { doc: 'A comment that describes the policy.', kind: text({ charactersMax: 255 }), set: 'always' },
    enabled: { doc: 'Whether the policy takes snapshots.', kind: flag(), set: 'always', default: true },
    copies: { doc: 'The schedules of the policy, at most five.', kind: copiesKind(), set: 'always', required: true },
    svm: {
      doc: 'The SVM that owns the policy. Without one, the policy is for all SVMs.',
      ref: 'svm/svms',
      set: 'create',
    },
    scope: {
      doc: 'Whether the policy belongs to an SVM or to the cluster.',
      kind: oneOf({ svm: 'The policy belongs to an SVM.', cluster: 'The policy is for all SVMs.' }),
    },
  },
})

export const snapshotPolicies: Behaviour<typeof snapshotPoliciesResource> = define(snapshotPoliciesResource, {
  derive: [
    {
      gives: ['scope'],
      from: (_cluster, rows) =>
        Promise.resolve(rows.map((row) => ({ scope: (row['svm.uuid'] ?? '') === '' ? 'cluster' : 'svm' }))),
    },
    {
      gives: ['copies'],
      async from(cluster, rows) {
        const schedules = new Map((await cluster.rows(SCHEDULES)).map((row) => [row['uuid'], row]))
        return rows.map((row) => ({
          copies: copiesOf(row).map((copy) => shownCopy(copy, schedules.get(copy.schedule.uuid))),
        }))
      },
    },
  ],
  create: inline({
    example: { name: 'policy_example', copies: [{ schedule: { name: 'daily' }, count: 5, prefix: 'nightly' }] },
    async plan(cluster, { draft }) {
      const [policy, svm] = [draft['name'], draft['svm.uuid'] ?? '']
      if ((await cluster.keyOfName(SNAPSHOT_POLICIES, policy, svm)) !== undefined) {
        throw failure('snapshotPolicyNameTaken', { name: policy })
      }
      const key = uuidOfNew(cluster, draft)
      return { key, input: await settled(cluster, { ...draft, uuid: key }), locks: [SCHEDULES_LOCK] }
    },
    step: {
      name: 'write record',
      async run(cluster, { input }) {
        // A schedule may have gone since the plan was made.
        await settled(cluster, input)
        await cluster.commit([cluster.put(SNAPSHOT_POLICIES, input, { expect: 'absent' })])
      },
    },
  }),
  modify: inline({
    async plan(cluster, { row, draft }) {
      await settled(cluster, { ...row, ...draft })
      return { key: row['uuid'], input: { ...draft }, locks: [SCHEDULES_LOCK] }
    },
    step: {
      name: 'write record',
      run: (cluster, { key, input }) => changePolicy(cluster, key, () => input),
    },
  }),
  remove: inline({
    plan: (_cluster, { row }) => Promise.resolve({ key: row['uuid'], input: {}, locks: [SCHEDULES_LOCK] }),
    step: {
      name: 'remove record',
      async run(cluster, { key }) {
        const row = await cluster.row(SNAPSHOT_POLICIES, key)
        if (row['$isBuiltIn'] === true) {
          throw failure('builtInSnapshotPolicy')
        }
        await removeRecord(cluster, SNAPSHOT_POLICIES, key, {
          inUse({ resource, name }) {
            return failure('snapshotPolicyInUse', { noun: resource.noun, name })
          },
        })
      },
    },
  }),
})

type Policy = RowOf<typeof SNAPSHOT_POLICIES>

/** Changes a policy as it is now, in one commit. To be called with `SCHEDULES_LOCK` held. */
export async function changePolicy(
  cluster: Cluster,
  key: string,
  change: (policy: Policy) => DraftOf<typeof SNAPSHOT_POLICIES>,
): Promise<void> {
  const record = await cluster.record(SNAPSHOT_POLICIES, key)
  if (record === undefined) throw failure('snapshotPolicyNotFound')
  const before = record.body
  const row = await settled(cluster, { ...before, ...change(before) })
  await cluster.commit([cluster.put(SNAPSHOT_POLICIES, row, { expect: record.revision })])
}

async function settled(cluster: Cluster, row: Policy): Promise<Policy> {
  const copies = await settleCopies(cluster, row['copies'], row['svm.uuid'] ?? '')
  if (row['$isBuiltIn'] !== true && copies.length === 0) {
    throw failure('snapshotPolicyEmpty')
  }
  if (row['enabled'] === true && copies.length === 0) {
    throw failure('snapshotPolicyEnabledEmpty')
  }
  return { ...row, copies }
}
