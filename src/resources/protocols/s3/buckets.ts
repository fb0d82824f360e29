import { type Behaviour, define } from '../../../core/behaviour.ts'
import { resource } from '../../../model/resource.ts'
import { aggregatesField, bucketFaces, bucketFields, bucketUsual } from './bucket-fields.ts'
import { bucketUse, modifyBucket, removeBucket } from './bucket-verbs.ts'
import { createWithVolume } from './bucket-volumes.ts'

const bucketsResource = resource({
  path: '/protocols/s3/buckets',
  noun: 'bucket',
  doc: 'Buckets of all object store servers, addressed by SVM and bucket.',
  key: ['svm.uuid', 'uuid'],
  parent: 'volume.uuid',
  nameWithin: 'svm.uuid',
  isInSnapshots: true,
  ...bucketFaces,
  within: { volume: 'blocks', snapshot_policy: 'blocks', qos_policy: 'blocks' },
  fields: { ...bucketFields({ volumeIsRequired: false }), ...aggregatesField },
})

export const buckets: Behaviour<typeof bucketsResource> = define(bucketsResource, {
  derive: [bucketUse, bucketUsual],
  create: createWithVolume,
  modify: modifyBucket,
  remove: removeBucket,
})
