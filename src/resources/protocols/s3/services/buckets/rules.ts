import { type Behaviour, define } from '../../../../../core/behaviour.ts'
import type { Cluster } from '../../../../../core/cluster.ts'
import { inline, type Verb, type VerbRequest } from '../../../../../core/verb.ts'
import { failure } from '../../../../../model/failure.ts'
import { groups, resource } from '../../../../../model/resource.ts'
import { text, uuid } from '../../../../../model/kinds/index.ts'
import { type Row, textAt, type Value } from '../../../../../model/value.ts'
import { changeBucket } from '../../bucket-verbs.ts'
import { expirations, flatRule, nestedRule, ruleFields, RULES, rulesOf, settleRules } from '../../rules.ts'
import { BUCKETS } from '../../types.ts'
import type { Bucket } from '../../../../../records/rows.ts'

type Rules = readonly Value[]

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

export const bucketRules: Behaviour<typeof bucketRulesResource> = define(bucketRulesResource, {
  async rows(cluster, path) {
    const bucket = await bucketOf(cluster, path)
    const of = {
      'svm.uuid': path['svm.uuid'] ?? '',
      uuid: bucket['uuid'],
      bucket_name: bucket['name'],
    }
    return rulesOf(bucket).map((rule) => flatRule(rule, of))
  },
  create: {
    ...changing(({ draft }) => ({
      name: textAt(draft, 'name'),
      change(rules) {
        if (rules.some((rule) => isNamed(rule, textAt(draft, 'name')))) {
          throw failure('lifecycleRuleNameTaken', { name: textAt(draft, 'name') })
        }
        return [...rules, nestedRule(draft)]
      },
    })),
    example: { name: 'logs', 'object_filter.prefix': 'logs/', 'expiration.object_age_days': 30 },
  },
  modify: changing(({ draft, row = {} }) => ({
    name: textAt(row, 'name'),
    change(rules) {
      if (!rules.some((rule) => isNamed(rule, textAt(row, 'name')))) throw failure('lifecycleRuleNotFound')
      return rules.map((rule) => (isNamed(rule, textAt(row, 'name')) ? changed(rule, draft) : rule))
    },
  })),
  remove: changing(({ row = {} }) => ({
    name: textAt(row, 'name'),
    change: (rules) => rules.filter((rule) => !isNamed(rule, textAt(row, 'name'))),
  })),
})

/** A verb that makes other rules of those that its bucket has. */
function changing(
  verb: (request: Pick<VerbRequest, 'draft' | 'row'>) => { name: string; change: (rules: Rules) => Rules },
): Verb {
  return inline({
    async plan(cluster, { draft, row, path }) {
      const bucket = await bucketOf(cluster, path)
      const { name, change } = verb({ draft, ...(row === undefined ? {} : { row }) })
      settleRules(change(rulesOf(bucket)))
      const key = bucket['uuid']
      return { key: name, input: { bucket: key, draft, row: row ?? {} }, locks: [`bucket:${key}`] }
    },
    step: {
      name: 'write record',
      async run(cluster, { input }) {
        const { change } = verb({ draft: input['draft'], row: input['row'] })
        await changeBucket(cluster, input['bucket'], (bucket) => ({ [RULES]: change(rulesOf(bucket)) }))
      },
    },
  })
}

/** When objects expire is said in one of several ways: a new way takes the place of the old. */
function changed(rule: Value, draft: Row): Row {
  const isExpiring = expirations.some((path) => draft[path] !== undefined)
  const kept = Object.entries(flatRule(rule)).filter(([path]) => !isExpiring || !expirations.includes(path))
  return nestedRule({ ...Object.fromEntries(kept), ...draft })
}

function isNamed(rule: Value, name: string): boolean {
  return (rule as Row)['name'] === name
}

async function bucketOf(cluster: Cluster, path: Readonly<Record<string, string>>): Promise<Bucket> {
  const bucket = await cluster.find(BUCKETS, path['s3_bucket.uuid'] ?? '')
  if (bucket === undefined || bucket['svm.uuid'] !== path['svm.uuid'])
    throw failure('bucketNotFound', {}, { target: 's3_bucket.uuid' })
  return bucket
}
