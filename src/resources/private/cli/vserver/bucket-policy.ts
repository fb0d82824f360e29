/** `vserver object-store-server bucket policy`: the statements of bucket policies, one record for each. */
import { type Behaviour, define } from '../../../../core/behaviour.ts'
import type { Cluster } from '../../../../core/cluster.ts'
import { wholeRows } from '../../../../core/read/whole-rows.ts'
import { count, list, oneOf, text } from '../../../../model/kinds/index.ts'
import { resource } from '../../../../model/resource.ts'
import type { DraftIn } from '../../../../model/rows.ts'
import type { Bucket } from '../../../../records/rows.ts'
import { BUCKETS } from '../../../protocols/s3/types.ts'
import { vserver } from '../volume/recovery-queue.ts'

const STATEMENTS = 'policy.statements'

const bucketPolicyStatementsResource = resource({
  path: '/private/cli/vserver/object-store-server/bucket/policy',
  noun: 'statement of a bucket policy',
  doc: 'The statements of bucket policies, in their order. Buckets without a policy have none.',
  since: '9.8',
  key: ['svm.uuid', 'bucket', 'index'],
  nameWithin: false,
  fields: {
    svm: { doc: 'The SVM of the bucket.', ref: 'svm/svms' },
    vserver: { doc: 'The name of the SVM of the bucket.', kind: text() },
    bucket: { doc: 'The name of the bucket.', kind: text() },
    index: { doc: 'The position of the statement in the policy, starting at 1.', kind: count({ min: 1 }) },
    effect: {
      doc: 'Whether the statement allows or denies requests.',
      kind: oneOf({ allow: 'Matching requests are allowed.', deny: 'Matching requests are denied.' }),
    },
    action: { doc: 'The actions that the statement applies to.', kind: list(text()) },
    principal: { doc: 'The users that the statement applies to.', kind: list(text()) },
    resource: { doc: 'The buckets and objects that the statement applies to.', kind: list(text()) },
  },
})

export const bucketPolicyStatements: Behaviour<typeof bucketPolicyStatementsResource> = define(
  bucketPolicyStatementsResource,
  {
    async rows(cluster, { 'svm.uuid': svm, bucket: name = '', index }) {
      const key = await cluster.keyOfName(BUCKETS, name, svm)
      const bucket = key === undefined ? undefined : await cluster.find(BUCKETS, key)
      return bucket === undefined ? [] : statementsOf(bucket).filter((row) => String(row.index) === index)
    },
    rowPages,
    derive: [vserver],
  },
)

async function* rowPages(cluster: Cluster): AsyncGenerator<readonly StatementRow[], void, void> {
  const buckets = await cluster.shortRows(BUCKETS)
  for await (const some of wholeRows(cluster, cluster.registry.resource(BUCKETS), buckets, [STATEMENTS])) {
    yield some.flatMap(({ row }) => statementsOf(row))
  }
}

type StatementRow = DraftIn<typeof bucketPolicyStatementsResource>
type Statement = NonNullable<Bucket[typeof STATEMENTS]>[number]

function statementsOf(bucket: Bucket): StatementRow[] {
  return (bucket[STATEMENTS] ?? []).map((statement, at) => shown(bucket, statement, at + 1))
}

function shown(bucket: Bucket, { effect, actions, principals, resources }: Statement, index: number): StatementRow {
  return {
    'svm.uuid': bucket['svm.uuid'],
    bucket: bucket['name'],
    index,
    effect,
    ...(actions === undefined ? {} : { action: actions }),
    ...(principals === undefined ? {} : { principal: principals }),
    ...(resources === undefined ? {} : { resource: resources }),
  }
}
