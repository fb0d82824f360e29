import type { DraftOf } from '../../../../model/rows.ts'

export const POLICIES = 'protocols/s3/services/{svm.uuid}/policies'

/** The policies that every SVM with an object store server has. */
export const builtinPolicies: readonly (DraftOf<typeof POLICIES> & { readonly name: string })[] = [
  { name: 'default', comment: 'Grants nothing. Add statements to open a server or its buckets.', statements: [] },
  {
    name: 'FullAccess',
    'read-only': true,
    statements: [{ effect: 'allow', actions: ['*'], resources: ['*'], sid: 'FullAccess' }],
  },
  {
    name: 'ReadOnlyAccess',
    'read-only': true,
    statements: [
      {
        effect: 'allow',
        actions: ['GetObject', 'ListBucket', 'ListAllMyBuckets', 'GetBucketLocation', 'GetBucketAcl', 'GetObjectAcl'],
        resources: ['*'],
        sid: 'ReadOnlyAccess',
      },
    ],
  },
  {
    name: 'NoS3Access',
    'read-only': true,
    statements: [{ effect: 'deny', actions: ['*'], resources: ['*'], sid: 'NoS3Access' }],
  },
]
