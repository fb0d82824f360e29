import { define } from '../../../core/behaviour.ts'
import { bucketFields } from './bucket-fields.ts'
import { bucketUse, createBucket, modifyBucket, removeBucket } from './bucket-verbs.ts'

export const buckets = define(
  {
    path: '/protocols/s3/buckets',
    noun: 'bucket',
    doc: 'Buckets of all object store servers, as shipping tools address them.',
    key: ['svm.uuid', 'uuid'],
    parent: 'volume.uuid',
    nameWithin: 'svm.uuid',
    fields: bucketFields({ volumeIsRequired: false }),
  },
  { derive: [bucketUse], create: createBucket, modify: modifyBucket, remove: removeBucket },
)
