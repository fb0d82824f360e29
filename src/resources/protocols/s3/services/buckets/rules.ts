import { type Behaviour, define } from '../../../../../core/behaviour.ts'
import type { Cluster } from '../../../../../core/cluster.ts'
import { inline, type Plan, type Step } from '../../../../../core/verb.ts'
import { failure } from '../../../../../model/failure.ts'
import { groups, resource } from '../../../../../model/resource.ts'
import { text, uuid } from '../../../../../model/kinds/index.ts'
import type { DraftIn } from '../../../../../model/rows.ts'
import { changeBucket } from '../../bucket-verbs.ts'
import { expirations, flatRule, nestedRule, ruleFields, rulesOf, settleRules } from '../../rules.ts'
import { type LifecycleRow, RULES } from '../../../../../records/lifecycle-rules.ts'
import { BUCKETS } from '../../types.ts'
import type { Bucket } from '../../../../../records/rows.ts'

const bucketRulesResource = resource({
  path: '/protocols/s3/services/{svm.uuid}/buckets/{s3_bucket.uuid}/rules',
  noun: 'lifecycle rule',
  doc: 'The lifecycle rules of a bucket. The field `lifecycle_management.rules` of the bucket shows them too.',
  since: '9.13.1',
  key: ['name'],
  nameWithin: false,
  columns: [
    'name',
    'enabled',
    'object_filter.prefix',
    'expiration.object_age_days',
    'non_current_version_expiration.non_current_days',
    'abort_incomplete_multipart_upload.after_initiation_days',
  ],
  removal: 'undoable',
  fields: {
    ...groups({
      object_filter: 'Which objects the rule applies to.',
      expiration: 'When current objects expire.',
      non_current_version_expiration: 'When noncurrent versions expire.',
      abort_incomplete_multipart_upload: 'When incomplete multipart uploads are aborted.',
    }),
    ...ruleFields(),
    svm: { doc: 'The SVM of the bucket.', ref: 'svm/svms', set: 'create', required: true },
    uuid: { doc: 'The UUID of the bucket.', kind: uuid() },
    bucket_name: { doc: 'The name of the bucket.', kind: text() },
  },
})

/** What becomes of a rule in the list of its bucket. */
type Input = {
  readonly bucket: string
  readonly name: string
  readonly what: 'add' | 'change' | 'remove'
  readonly draft: DraftIn<typeof bucketRulesResource>
}

const step: Step<Input> = {
  name: 'write record',
  async run(cluster, { input }) {
    await changeBucket(cluster, input.bucket, (bucket) => ({ [RULES]: changed(rulesOf(bucket), input) }))
  },
}

export const bucketRules: Behaviour<typeof bucketRulesResource> = define(bucketRulesResource, {
  async rows(cluster, path) {
    const bucket = await bucketOf(cluster, path)
    const of = {
      'svm.uuid': path['svm.uuid'] ?? '',
      uuid: bucket['uuid'],
      bucket_name: bucket['name'],
    }
    return rulesOf(bucket).map((rule) => Object.assign({}, of, flatRule(rule)))
  },
  create: inline({
    example: { name: 'logs', 'object_filter.prefix': 'logs/', 'expiration.object_age_days': 30 },
    plan: (cluster, { draft, path }) => planned(cluster, path, { name: draft['name'], what: 'add', draft }),
    step,
  }),
  modify: inline({
    plan: (cluster, { row, draft, path }) => planned(cluster, path, { name: row['name'], what: 'change', draft }),
    step,
  }),
  remove: inline({
    plan: (cluster, { row, path }) => planned(cluster, path, { name: row['name'], what: 'remove', draft: {} }),
    step,
  }),
})

async function planned(
  cluster: Cluster,
  path: Readonly<Record<string, string>>,
  change: Omit<Input, 'bucket'>,
): Promise<Plan<Input>> {
  const bucket = await bucketOf(cluster, path)
  settleRules(changed(rulesOf(bucket), change))
  const key = bucket['uuid']
  return { key: change.name, input: { ...change, bucket: key }, locks: [`bucket:${key}`] }
}

function changed(rules: readonly LifecycleRow[], change: Omit<Input, 'bucket'>): readonly LifecycleRow[] {
  const { name, what, draft } = change
  const isThere = rules.some((rule) => rule.name === name)
  if (what === 'add') {
    if (isThere) throw failure('lifecycleRuleNameTaken', { name })
    return [...rules, nestedRule({ ...draft, name })]
  }
  if (what === 'remove') return rules.filter((rule) => rule.name !== name)
  if (!isThere) throw failure('lifecycleRuleNotFound')
  return rules.map((rule) => (rule.name === name ? changedRule(rule, draft) : rule))
}

/** When objects expire is said in one of several ways: a new way takes the place of the old. */
function changedRule(rule: LifecycleRow, draft: Input['draft']): LifecycleRow {
  const { expiration: _, ...others } = rule
  const isExpiring = expirations.some((path) => draft[path] !== undefined)
  return nestedRule({ ...flatRule(isExpiring ? others : rule), ...draft })
}

async function bucketOf(cluster: Cluster, path: Readonly<Record<string, string>>): Promise<Bucket> {
  const bucket = await cluster.find(BUCKETS, path['s3_bucket.uuid'] ?? '')
  if (bucket === undefined || bucket['svm.uuid'] !== path['svm.uuid'])
    throw failure('bucketNotFound', {}, { target: 's3_bucket.uuid' })
  return bucket
}
