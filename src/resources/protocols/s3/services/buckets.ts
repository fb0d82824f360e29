import { type Behaviour, define } from '../../../../core/behaviour.ts'
import { resource } from '../../../../model/resource.ts'
import { aggregatesField, bucketFaces, bucketFields, bucketUsual } from '../bucket-fields.ts'
import { bucketUse, removeBucket } from '../bucket-verbs.ts'
import { createWithVolume } from '../bucket-volumes.ts'
import { BUCKETS } from '../types.ts'
import { modifyOrRestoreBucket, restoreBucket } from '../bucket-restore.ts'

const svmBucketsResource = resource({
  path: '/protocols/s3/services/{svm.uuid}/buckets',
  noun: 'bucket',
  doc: 'The buckets of an SVM.',
  key: ['uuid'],
  rowsOf: BUCKETS,
  parent: 'volume.uuid',
  nameWithin: 'svm.uuid',
  ...bucketFaces,
  fields: { ...bucketFields({ volumeIsRequired: false }), ...aggregatesField },
})

export const svmBuckets: Behaviour<typeof svmBucketsResource> = define(svmBucketsResource, {
  derive: [bucketUse, bucketUsual],
  create: createWithVolume,
  modify: modifyOrRestoreBucket,
  actions: { restore: restoreBucket },
  remove: removeBucket,
})
