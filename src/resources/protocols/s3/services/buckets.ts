import { define } from '../../../../core/behaviour.ts'
import { bucketFields } from '../bucket-fields.ts'
import { bucketUse, createBucket, removeBucket } from '../bucket-verbs.ts'
import { BUCKETS } from '../types.ts'
import { modifyOrRestoreBucket } from '../bucket-restore.ts'

export const svmBuckets = define(
  {
    path: '/protocols/s3/services/{svm.uuid}/buckets',
    noun: 'bucket',
    doc: 'The buckets of an SVM.',
    key: ['uuid'],
    rowsOf: BUCKETS,
    parent: 'volume.uuid',
    nameWithin: 'svm.uuid',
    fields: bucketFields({ volumeIsRequired: false }),
  },
  { derive: [bucketUse], create: createBucket, modify: modifyOrRestoreBucket, remove: removeBucket },
)
