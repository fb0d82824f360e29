import type { BucketCall, ObjectCall, Reply, ServiceCall } from '../call.ts'
import { abortMultipartUpload } from './abort-multipart-upload.ts'
import {
  absent,
  getBucketAcl,
  getObjectAcl,
  getObjectRetention,
  getObjectTagging,
  unset,
} from './absent-configuration.ts'
import { getBucketVersioning, putBucketVersioning } from './bucket-versioning.ts'
import { completeMultipartUpload } from './complete-multipart-upload.ts'
import { copyObject } from './copy-object.ts'
import { createBucket } from './create-bucket.ts'
import { createMultipartUpload } from './create-multipart-upload.ts'
import { deleteBucket } from './delete-bucket.ts'
import { deleteObject } from './delete-object.ts'
import { deleteObjects } from './delete-objects.ts'
import { getBucketLocation } from './get-bucket-location.ts'
import { getObjectAttributes } from './get-object-attributes.ts'
import { getObject, headObject } from './get-object.ts'
import { headBucket } from './head-bucket.ts'
import { listBuckets } from './list-buckets.ts'
import { listMultipartUploads } from './list-multipart-uploads.ts'
import { listObjectVersions } from './list-object-versions.ts'
import { listObjects, listObjectsV2 } from './list-objects.ts'
import { listParts } from './list-parts.ts'
import { putObject } from './put-object.ts'
import { uploadPart } from './upload-part.ts'
import { uploadPartCopy } from './upload-part-copy.ts'

/** What a handler needs to be there before it is called, and what its calls are counted as. */
export type Handler =
  | { readonly needs: 'service'; readonly counts: OperationKind; readonly run: (call: ServiceCall) => Promise<Reply> }
  | { readonly needs: 'bucket'; readonly counts: OperationKind; readonly run: (call: BucketCall) => Promise<Reply> }
  | { readonly needs: 'object'; readonly counts: OperationKind; readonly run: (call: ObjectCall) => Promise<Reply> }

export type OperationKind = 'read' | 'write' | 'other'

/** All operations that are built, by their names in the router. The others are answered 501. */
const handlers: Readonly<Record<string, Handler>> = {
  ListBuckets: { needs: 'service', counts: 'other', run: listBuckets },
  CreateBucket: { needs: 'service', counts: 'other', run: createBucket },

  HeadBucket: onBucket(headBucket),
  DeleteBucket: onBucket(deleteBucket),
  GetBucketLocation: onBucket(getBucketLocation),
  ListObjects: onBucket(listObjects),
  ListObjectsV2: onBucket(listObjectsV2),
  ListMultipartUploads: onBucket(listMultipartUploads),
  DeleteObjects: onBucket(deleteObjects),

  GetObject: onObject('read', getObject),
  HeadObject: onObject('other', headObject),
  GetObjectAttributes: onObject('other', getObjectAttributes),
  PutObject: onObject('write', putObject),
  CopyObject: onObject('write', copyObject),
  DeleteObject: onObject('other', deleteObject),
  CreateMultipartUpload: onObject('other', createMultipartUpload),
  UploadPart: onObject('write', uploadPart),
  UploadPartCopy: onObject('write', uploadPartCopy),
  CompleteMultipartUpload: onObject('other', completeMultipartUpload),
  AbortMultipartUpload: onObject('other', abortMultipartUpload),
  ListParts: onObject('other', listParts),

  GetBucketAcl: onBucket(getBucketAcl),
  GetBucketVersioning: onBucket(getBucketVersioning),
  PutBucketVersioning: onBucket(putBucketVersioning),
  ListObjectVersions: onBucket(listObjectVersions),
  GetBucketAccelerateConfiguration: onBucket(unset('AccelerateConfiguration')),
  GetBucketLogging: onBucket(unset('BucketLoggingStatus')),
  GetBucketNotificationConfiguration: onBucket(unset('NotificationConfiguration')),
  GetBucketRequestPayment: onBucket(unset('RequestPaymentConfiguration', { Payer: 'BucketOwner' })),
  GetBucketCors: onBucket(absent('NoSuchCORSConfiguration')),
  GetBucketEncryption: onBucket(absent('ServerSideEncryptionConfigurationNotFoundError')),
  GetBucketLifecycleConfiguration: onBucket(absent('NoSuchLifecycleConfiguration')),
  GetBucketOwnershipControls: onBucket(absent('OwnershipControlsNotFoundError')),
  GetBucketPolicy: onBucket(absent('NoSuchBucketPolicy')),
  GetBucketPolicyStatus: onBucket(absent('NoSuchBucketPolicy')),
  GetBucketReplication: onBucket(absent('ReplicationConfigurationNotFoundError')),
  GetBucketTagging: onBucket(absent('NoSuchTagSet')),
  GetBucketWebsite: onBucket(absent('NoSuchWebsiteConfiguration')),
  GetObjectLockConfiguration: onBucket(absent('ObjectLockConfigurationNotFoundError')),
  GetPublicAccessBlock: onBucket(absent('NoSuchPublicAccessBlockConfiguration')),
  GetObjectAcl: onObject('other', getObjectAcl),
  GetObjectTagging: onObject('other', getObjectTagging),
  GetObjectRetention: onObject('other', getObjectRetention),
  GetObjectLegalHold: onObject('other', getObjectRetention),
}

export function findHandler(name: string): Handler | undefined {
  return handlers[name]
}

function onBucket(run: (call: BucketCall) => Promise<Reply>): Handler {
  return { needs: 'bucket', counts: 'other', run }
}

function onObject(counts: OperationKind, run: (call: ObjectCall) => Promise<Reply>): Handler {
  return { needs: 'object', counts, run }
}
