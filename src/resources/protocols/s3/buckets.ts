import { define } from '../../../core/behaviour.ts'
import { aggregatesField, bucketFields, bucketUsual } from './bucket-fields.ts'
import { bucketUse, modifyBucket, removeBucket } from './bucket-verbs.ts'
import { createWithVolume } from './bucket-volumes.ts'

export const buckets = define(
  {
    path: '/protocols/s3/buckets',
    noun: 'bucket',
    doc: 'Buckets of all object store servers, as shipping tools address them.',
    key: ['svm.uuid', 'uuid'],
    parent: 'volume.uuid',
    nameWithin: 'svm.uuid',
    isInSnapshots: true,
    fields: { ...bucketFields({ volumeIsRequired: false }), ...aggregatesField },
  },
  { derive: [bucketUse, bucketUsual], create: createWithVolume, modify: modifyBucket, remove: removeBucket },
)
