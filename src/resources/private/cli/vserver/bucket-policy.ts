/** `vserver object-store-server bucket policy`: the statements of bucket policies, one record for each. */
import { define } from '../../../../core/behaviour.ts'
import { count, list, oneOf, text } from '../../../../model/kinds/index.ts'
import { type Row, textAt, type Value } from '../../../../model/value.ts'
import { vserver } from '../volume/recovery-queue.ts'

export const bucketPolicyStatements = define(
  {
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
      index: { doc: 'The place of the statement in its policy, from 1 on.', kind: count({ min: 1 }) },
      effect: { doc: 'Whether the statement grants or refuses.', kind: oneOf('allow', 'deny') },
      action: { doc: 'The operations that the statement is about.', kind: list(text()) },
      principal: { doc: 'The users that the statement is about.', kind: list(text()) },
      resource: { doc: 'The buckets and objects that the statement is about.', kind: list(text()) },
    },
  },
  {
    async rows(cluster) {
      return (await cluster.rows('protocols/s3/buckets')).flatMap((bucket) =>
        ((bucket['policy.statements'] ?? []) as readonly Row[]).map((statement, at): Row => {
          const some = (member: string): Value => statement[member] ?? null
          return {
            'svm.uuid': bucket['svm.uuid'] ?? null,
            bucket: textAt(bucket, 'name'),
            index: at + 1,
            effect: some('effect'),
            action: some('actions'),
            principal: some('principals'),
            resource: some('resources'),
          }
        }),
      )
    },
    derive: [vserver],
  },
)
