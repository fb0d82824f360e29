import type { BucketCall, ObjectCall, Reply, ServiceCall } from '../exchange/call.ts'
import { abortMultipartUpload } from './abort-multipart-upload.ts'
import { absent, keepAbsent, noneListed, removeAbsent, unset } from './absent-configuration.ts'
import { getBucketAcl, getObjectAcl, putBucketAcl, putObjectAcl } from './acl.ts'
import { deleteBucketCors, getBucketCors, putBucketCors } from './bucket-cors.ts'
import {
  deleteBucketLifecycle,
  getBucketLifecycleConfiguration,
  putBucketLifecycleConfiguration,
} from './bucket-lifecycle.ts'
import { deleteBucketPolicy, getBucketPolicy, getBucketPolicyStatus, putBucketPolicy } from './bucket-policy.ts'
import { deleteBucketTagging, getBucketTagging, putBucketTagging } from './bucket-tagging.ts'
import { getObjectLockConfiguration, putObjectLockConfiguration } from './object-lock-configuration.ts'
import {
  deleteBucketOwnershipControls,
  getBucketOwnershipControls,
  putBucketOwnershipControls,
} from './ownership-controls.ts'
import { deletePublicAccessBlock, getPublicAccessBlock, putPublicAccessBlock } from './public-access-block.ts'
import { deleteObjectTagging, getObjectTagging, putObjectTagging } from './object-tagging.ts'
import { getObjectLegalHold, getObjectRetention, putObjectLegalHold, putObjectRetention } from './object-retention.ts'
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
import { postObject } from './post-object.ts'
import { putObject } from './put-object.ts'
import { uploadPart } from './upload-part.ts'
import { uploadPartCopy } from './upload-part-copy.ts'
import { findText } from '../xml/xml.ts'

/** What a handler needs to be there before it is called, and what its calls are counted as. */
export type Handler = {
  readonly counts: OperationKind
  /**
   * Who asks the policies. Without it: the operation's action is allowed before the handler is called. `with-body`: the
   * handler asks once more, as policies may have conditions on what the body says; where they have, it alone does.
   * `itself`: only the handler does, for each key or for whom a form belongs to.
   */
  readonly asks?: 'with-body' | 'itself'
} & (
  | { readonly needs: 'service'; readonly run: (call: ServiceCall) => Promise<Reply> }
  | { readonly needs: 'bucket'; readonly run: (call: BucketCall) => Promise<Reply> }
  | { readonly needs: 'object'; readonly run: (call: ObjectCall) => Promise<Reply> }
)

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
  PostObject: { ...onBucket(postObject), counts: 'write', asks: 'itself' },
  DeleteObjects: { ...onBucket(deleteObjects), asks: 'itself' },

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
  PutBucketAcl: onBucket(putBucketAcl),
  GetObjectAcl: onObject('other', getObjectAcl),
  PutObjectAcl: onObject('other', putObjectAcl),
  GetBucketCors: onBucket(getBucketCors),
  PutBucketCors: onBucket(putBucketCors),
  DeleteBucketCors: onBucket(deleteBucketCors),
  GetBucketLifecycleConfiguration: onBucket(getBucketLifecycleConfiguration),
  PutBucketLifecycleConfiguration: onBucket(putBucketLifecycleConfiguration),
  DeleteBucketLifecycle: onBucket(deleteBucketLifecycle),
  GetBucketPolicy: onBucket(getBucketPolicy),
  GetBucketPolicyStatus: onBucket(getBucketPolicyStatus),
  PutBucketPolicy: onBucket(putBucketPolicy),
  DeleteBucketPolicy: onBucket(deleteBucketPolicy),
  GetBucketTagging: onBucket(getBucketTagging),
  PutBucketTagging: onBucket(putBucketTagging),
  DeleteBucketTagging: onBucket(deleteBucketTagging),
  GetObjectLockConfiguration: onBucket(getObjectLockConfiguration),
  PutObjectLockConfiguration: onBucket(putObjectLockConfiguration),
  GetBucketOwnershipControls: onBucket(getBucketOwnershipControls),
  PutBucketOwnershipControls: onBucket(putBucketOwnershipControls),
  DeleteBucketOwnershipControls: onBucket(deleteBucketOwnershipControls),
  GetPublicAccessBlock: onBucket(getPublicAccessBlock),
  PutPublicAccessBlock: onBucket(putPublicAccessBlock),
  DeletePublicAccessBlock: onBucket(deletePublicAccessBlock),
  GetObjectTagging: onObject('other', getObjectTagging),
  PutObjectTagging: { ...onObject('other', putObjectTagging), asks: 'with-body' },
  DeleteObjectTagging: onObject('other', deleteObjectTagging),
  GetObjectRetention: onObject('other', getObjectRetention),
  PutObjectRetention: { ...onObject('other', putObjectRetention), asks: 'with-body' },
  GetObjectLegalHold: onObject('other', getObjectLegalHold),
  PutObjectLegalHold: { ...onObject('other', putObjectLegalHold), asks: 'with-body' },

  GetBucketVersioning: onBucket(getBucketVersioning),
  PutBucketVersioning: onBucket(putBucketVersioning),
  ListObjectVersions: onBucket(listObjectVersions),
  ListBucketAnalyticsConfigurations: onBucket(unset('ListBucketAnalyticsConfigurationResult', noneListed)),
  ListBucketIntelligentTieringConfigurations: onBucket(
    unset('ListBucketIntelligentTieringConfigurationsOutput', noneListed),
  ),
  ListBucketInventoryConfigurations: onBucket(unset('ListInventoryConfigurationsResult', noneListed)),
  ListBucketMetricsConfigurations: onBucket(unset('ListMetricsConfigurationsResult', noneListed)),
  GetBucketAnalyticsConfiguration: onBucket(absent('NoSuchConfiguration')),
  GetBucketIntelligentTieringConfiguration: onBucket(absent('NoSuchConfiguration')),
  GetBucketInventoryConfiguration: onBucket(absent('NoSuchConfiguration')),
  GetBucketMetricsConfiguration: onBucket(absent('NoSuchConfiguration')),
  DeleteBucketEncryption: onBucket(removeAbsent),
  DeleteBucketReplication: onBucket(removeAbsent),
  DeleteBucketWebsite: onBucket(removeAbsent),
  PutBucketAccelerateConfiguration: onBucket(
    keepAbsent('AccelerateConfiguration', (root) => findText(root, 'Status') === 'Suspended'),
  ),
  PutBucketLogging: onBucket(keepAbsent('BucketLoggingStatus')),
  PutBucketNotificationConfiguration: onBucket(keepAbsent('NotificationConfiguration')),
  PutBucketRequestPayment: onBucket(
    keepAbsent('RequestPaymentConfiguration', (root) => findText(root, 'Payer') === 'BucketOwner'),
  ),
  GetBucketAccelerateConfiguration: onBucket(unset('AccelerateConfiguration')),
  GetBucketLogging: onBucket(unset('BucketLoggingStatus')),
  GetBucketNotificationConfiguration: onBucket(unset('NotificationConfiguration')),
  GetBucketRequestPayment: onBucket(unset('RequestPaymentConfiguration', { Payer: 'BucketOwner' })),
  GetBucketEncryption: onBucket(absent('ServerSideEncryptionConfigurationNotFoundError')),
  GetBucketReplication: onBucket(absent('ReplicationConfigurationNotFoundError')),
  GetBucketWebsite: onBucket(absent('NoSuchWebsiteConfiguration')),
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
