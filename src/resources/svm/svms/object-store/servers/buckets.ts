import { define } from '../../../../../core/behaviour.ts'
import { bucketFields, bucketUsual } from '../../../../protocols/s3/bucket-fields.ts'
import { bucketUse, createBucket, modifyBucket, removeBucket } from '../../../../protocols/s3/bucket-verbs.ts'

export const serverBuckets = define(
  {
    path: '/svm/svms/{svm.uuid}/object-store/servers/{server.uuid}/buckets',
    noun: 'bucket',
    doc: 'The buckets of an object store server.',
    key: ['uuid'],
    rowsOf: 'protocols/s3/buckets',
    parent: 'volume.uuid',
    nameWithin: 'svm.uuid',
    fields: bucketFields({ volumeIsRequired: true }),
  },
  { derive: [bucketUse, bucketUsual], create: createBucket, modify: modifyBucket, remove: removeBucket },
)
