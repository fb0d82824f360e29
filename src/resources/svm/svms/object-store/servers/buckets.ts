import { type Behaviour, define } from '../../../../../core/behaviour.ts'
import { resource } from '../../../../../model/resource.ts'
import { bucketFaces, bucketFields, bucketUsual } from '../../../../protocols/s3/bucket-fields.ts'
import { bucketUse, createBucket, modifyBucket, removeBucket } from '../../../../protocols/s3/bucket-verbs.ts'

const serverBucketsResource = resource({
  path: '/svm/svms/{svm.uuid}/object-store/servers/{server.uuid}/buckets',
  noun: 'bucket',
  doc: 'The buckets of an object store server.',
  key: ['uuid'],
  rowsOf: 'protocols/s3/buckets',
  parent: 'volume.uuid',
  nameWithin: 'svm.uuid',
  ...bucketFaces,
  fields: bucketFields({ volumeIsRequired: true }),
})

export const serverBuckets: Behaviour<typeof serverBucketsResource> = define(serverBucketsResource, {
  derive: [bucketUse, bucketUsual],
  create: createBucket,
  modify: modifyBucket,
  remove: removeBucket,
})
