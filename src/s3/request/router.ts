import { s3Error } from '../errors.ts'

/**
 * Which operation a request is: the decision table of Amazon's service model, whole, so that what is not implemented can be
 * refused by its name. A request picks an operation by its method, by what it addresses, by the query keys that name a
 * subresource, and for copies by a header.
 *
 * Parameters that nobody knows are let pass, as Amazon does. A subresource that the method does not have is refused: a
 * `DELETE /bucket?logging` must not fall through to DeleteBucket.
 */
export interface Operation {
  readonly name: string
  readonly method: Method
  readonly level: Level
  /** Query keys that must be there; with a value, it must be this one. */
  readonly query: Readonly<Record<string, string | true>>
  readonly header?: string
  /** The action a policy must allow on the bucket or object. */
  readonly action: string
  /** In its place when `versionId` is given. */
  readonly versionAction?: string
  /** On the source of a copy. */
  readonly sourceAction?: string
  /** Status of success. */
  readonly success: number
}

export type Method = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE' | 'OPTIONS'
export type Level = 'service' | 'bucket' | 'object'

export interface RequestShape {
  readonly method: string
  readonly level: Level
  /** The first value of each query parameter. */
  readonly query: ReadonlyMap<string, string>
  readonly hasHeader: (name: string) => boolean
}

/** The operation of a request. What Amazon does not have either is `MethodNotAllowed`. */
export function route(request: RequestShape): Operation {
  const candidates = byMethod.get(`${request.method} ${request.level}`) ?? []
  const named = request.query.size === 0 ? [] : [...request.query.keys()].filter((key) => subresources.has(key))
  if (named.length > 1) {
    throw s3Error('InvalidArgument', {
      message: `Conflicting query string parameters: ${named.join(', ')}`,
      fields: { ArgumentName: 'ResourceType', ArgumentValue: named[0] ?? '' },
    })
  }
  const found = candidates.find((candidate) => fits(candidate, request))?.operation
  if (found === undefined) throw methodNotAllowed(request)
  const [subresource] = named
  // A preflight asks about another request, so it may name anything.
  if (subresource !== undefined && !(subresource in found.query) && found.method !== 'OPTIONS') {
    throw methodNotAllowed(request)
  }
  return found
}

/** For operations that nobody wrote. */
export function notImplemented(operation: Operation): Error {
  return s3Error('NotImplemented', {
    message: `${operation.name} is not implemented.`,
    fields: { Operation: operation.name },
  })
}

/** The action a request needs on what it addresses. */
export function actionOf(operation: Operation, query: ReadonlyMap<string, string>): string {
  return operation.versionAction !== undefined && query.has('versionId') ? operation.versionAction : operation.action
}

function fits({ operation, wanted }: Candidate, request: RequestShape): boolean {
  if (wanted.length > request.query.size) return false
  if (operation.header !== undefined && !request.hasHeader(operation.header)) return false
  return wanted.every(([key, value]) => {
    const given = request.query.get(key)
    return given !== undefined && (value === true || given === value)
  })
}

function methodNotAllowed(request: RequestShape): Error {
  const allowed = [...byMethod.keys()]
    .filter((key) => key.endsWith(` ${request.level}`))
    .map((key) => key.split(' ')[0] ?? '')
  return s3Error('MethodNotAllowed', {
    fields: { Method: request.method, ResourceType: request.level.toUpperCase() },
    headers: { Allow: allowed.join(', ') },
  })
}

const copySource = 'x-amz-copy-source'

/** Short form of a row: method, level, query as in a URL, action, and what differs from the usual. */
function operation(
  name: string,
  method: Method,
  level: Level,
  query: string,
  action: string,
  more: Partial<Pick<Operation, 'header' | 'versionAction' | 'sourceAction' | 'success'>> = {},
): Operation {
  const keys = query === '' ? [] : query.split('&').map((part) => part.split('=') as [string, string?])
  return {
    name,
    method,
    level,
    query: Object.fromEntries(keys.map(([key, value]) => [key, value ?? true])),
    action: `s3:${action}`,
    success: method === 'DELETE' ? 204 : 200,
    ...more,
  }
}

/** Actions: Amazon's Service Authorization Reference, "Actions defined by Amazon S3". */
export const operations: readonly Operation[] = [
  operation('ListBuckets', 'GET', 'service', '', 'ListAllMyBuckets'),
  operation('ListDirectoryBuckets', 'GET', 'service', 'x-id=ListDirectoryBuckets', 'ListAllMyDirectoryBuckets'),

  operation('CreateBucket', 'PUT', 'bucket', '', 'CreateBucket'),
  operation('HeadBucket', 'HEAD', 'bucket', '', 'ListBucket'),
  operation('DeleteBucket', 'DELETE', 'bucket', '', 'DeleteBucket'),
  operation('ListObjects', 'GET', 'bucket', '', 'ListBucket'),
  operation('ListObjectsV2', 'GET', 'bucket', 'list-type=2', 'ListBucket'),
  operation('ListObjectVersions', 'GET', 'bucket', 'versions', 'ListBucketVersions'),
  operation('ListMultipartUploads', 'GET', 'bucket', 'uploads', 'ListBucketMultipartUploads'),
  operation('DeleteObjects', 'POST', 'bucket', 'delete', 'DeleteObject'),
  operation('GetBucketLocation', 'GET', 'bucket', 'location', 'GetBucketLocation'),
  operation('CreateSession', 'GET', 'bucket', 'session', 'CreateSession'),

  operation('GetBucketAbac', 'GET', 'bucket', 'abac', 'GetBucketAbac'),
  operation('PutBucketAbac', 'PUT', 'bucket', 'abac', 'PutBucketAbac'),
  operation('GetBucketAccelerateConfiguration', 'GET', 'bucket', 'accelerate', 'GetAccelerateConfiguration'),
  operation('PutBucketAccelerateConfiguration', 'PUT', 'bucket', 'accelerate', 'PutAccelerateConfiguration'),
  operation('GetBucketAcl', 'GET', 'bucket', 'acl', 'GetBucketAcl'),
  operation('PutBucketAcl', 'PUT', 'bucket', 'acl', 'PutBucketAcl'),
  operation('GetBucketCors', 'GET', 'bucket', 'cors', 'GetBucketCORS'),
  operation('PutBucketCors', 'PUT', 'bucket', 'cors', 'PutBucketCORS'),
  operation('DeleteBucketCors', 'DELETE', 'bucket', 'cors', 'PutBucketCORS'),
  operation('GetBucketEncryption', 'GET', 'bucket', 'encryption', 'GetEncryptionConfiguration'),
  operation('PutBucketEncryption', 'PUT', 'bucket', 'encryption', 'PutEncryptionConfiguration'),
  operation('DeleteBucketEncryption', 'DELETE', 'bucket', 'encryption', 'PutEncryptionConfiguration'),
  operation('GetBucketLifecycleConfiguration', 'GET', 'bucket', 'lifecycle', 'GetLifecycleConfiguration'),
  operation('PutBucketLifecycleConfiguration', 'PUT', 'bucket', 'lifecycle', 'PutLifecycleConfiguration'),
  operation('DeleteBucketLifecycle', 'DELETE', 'bucket', 'lifecycle', 'PutLifecycleConfiguration'),
  operation('GetBucketLogging', 'GET', 'bucket', 'logging', 'GetBucketLogging'),
  operation('PutBucketLogging', 'PUT', 'bucket', 'logging', 'PutBucketLogging'),
  operation('GetBucketNotificationConfiguration', 'GET', 'bucket', 'notification', 'GetBucketNotification'),
  operation('PutBucketNotificationConfiguration', 'PUT', 'bucket', 'notification', 'PutBucketNotification'),
  operation('GetBucketOwnershipControls', 'GET', 'bucket', 'ownershipControls', 'GetBucketOwnershipControls'),
  operation('PutBucketOwnershipControls', 'PUT', 'bucket', 'ownershipControls', 'PutBucketOwnershipControls'),
  operation('DeleteBucketOwnershipControls', 'DELETE', 'bucket', 'ownershipControls', 'PutBucketOwnershipControls'),
  operation('GetBucketPolicy', 'GET', 'bucket', 'policy', 'GetBucketPolicy'),
  operation('PutBucketPolicy', 'PUT', 'bucket', 'policy', 'PutBucketPolicy'),
  operation('DeleteBucketPolicy', 'DELETE', 'bucket', 'policy', 'DeleteBucketPolicy'),
  operation('GetBucketPolicyStatus', 'GET', 'bucket', 'policyStatus', 'GetBucketPolicyStatus'),
  operation('GetPublicAccessBlock', 'GET', 'bucket', 'publicAccessBlock', 'GetBucketPublicAccessBlock'),
  operation('PutPublicAccessBlock', 'PUT', 'bucket', 'publicAccessBlock', 'PutBucketPublicAccessBlock'),
  operation('DeletePublicAccessBlock', 'DELETE', 'bucket', 'publicAccessBlock', 'PutBucketPublicAccessBlock'),
  operation('GetBucketReplication', 'GET', 'bucket', 'replication', 'GetReplicationConfiguration'),
  operation('PutBucketReplication', 'PUT', 'bucket', 'replication', 'PutReplicationConfiguration'),
  operation('DeleteBucketReplication', 'DELETE', 'bucket', 'replication', 'PutReplicationConfiguration'),
  operation('GetBucketRequestPayment', 'GET', 'bucket', 'requestPayment', 'GetBucketRequestPayment'),
  operation('PutBucketRequestPayment', 'PUT', 'bucket', 'requestPayment', 'PutBucketRequestPayment'),
  operation('GetBucketTagging', 'GET', 'bucket', 'tagging', 'GetBucketTagging'),
  operation('PutBucketTagging', 'PUT', 'bucket', 'tagging', 'PutBucketTagging'),
  operation('DeleteBucketTagging', 'DELETE', 'bucket', 'tagging', 'PutBucketTagging'),
  operation('GetBucketVersioning', 'GET', 'bucket', 'versioning', 'GetBucketVersioning'),
  operation('PutBucketVersioning', 'PUT', 'bucket', 'versioning', 'PutBucketVersioning'),
  operation('GetBucketWebsite', 'GET', 'bucket', 'website', 'GetBucketWebsite'),
  operation('PutBucketWebsite', 'PUT', 'bucket', 'website', 'PutBucketWebsite'),
  operation('DeleteBucketWebsite', 'DELETE', 'bucket', 'website', 'DeleteBucketWebsite'),
  operation('GetObjectLockConfiguration', 'GET', 'bucket', 'object-lock', 'GetBucketObjectLockConfiguration'),
  operation('PutObjectLockConfiguration', 'PUT', 'bucket', 'object-lock', 'PutBucketObjectLockConfiguration'),

  // Configurations with an identifier: with `id` one of them, without it all.
  operation('GetBucketAnalyticsConfiguration', 'GET', 'bucket', 'analytics&id', 'GetAnalyticsConfiguration'),
  operation('ListBucketAnalyticsConfigurations', 'GET', 'bucket', 'analytics', 'GetAnalyticsConfiguration'),
  operation('PutBucketAnalyticsConfiguration', 'PUT', 'bucket', 'analytics&id', 'PutAnalyticsConfiguration'),
  operation('DeleteBucketAnalyticsConfiguration', 'DELETE', 'bucket', 'analytics&id', 'PutAnalyticsConfiguration'),
  operation(
    'GetBucketIntelligentTieringConfiguration',
    'GET',
    'bucket',
    'intelligent-tiering&id',
    'GetIntelligentTieringConfiguration',
  ),
  operation(
    'ListBucketIntelligentTieringConfigurations',
    'GET',
    'bucket',
    'intelligent-tiering',
    'GetIntelligentTieringConfiguration',
  ),
  operation(
    'PutBucketIntelligentTieringConfiguration',
    'PUT',
    'bucket',
    'intelligent-tiering&id',
    'PutIntelligentTieringConfiguration',
  ),
  operation(
    'DeleteBucketIntelligentTieringConfiguration',
    'DELETE',
    'bucket',
    'intelligent-tiering&id',
    'PutIntelligentTieringConfiguration',
  ),
  operation('GetBucketInventoryConfiguration', 'GET', 'bucket', 'inventory&id', 'GetInventoryConfiguration'),
  operation('ListBucketInventoryConfigurations', 'GET', 'bucket', 'inventory', 'GetInventoryConfiguration'),
  operation('PutBucketInventoryConfiguration', 'PUT', 'bucket', 'inventory&id', 'PutInventoryConfiguration'),
  operation('DeleteBucketInventoryConfiguration', 'DELETE', 'bucket', 'inventory&id', 'PutInventoryConfiguration'),
  operation('GetBucketMetricsConfiguration', 'GET', 'bucket', 'metrics&id', 'GetMetricsConfiguration'),
  operation('ListBucketMetricsConfigurations', 'GET', 'bucket', 'metrics', 'GetMetricsConfiguration'),
  operation('PutBucketMetricsConfiguration', 'PUT', 'bucket', 'metrics&id', 'PutMetricsConfiguration'),
  operation('DeleteBucketMetricsConfiguration', 'DELETE', 'bucket', 'metrics&id', 'PutMetricsConfiguration'),

  operation(
    'CreateBucketMetadataConfiguration',
    'POST',
    'bucket',
    'metadataConfiguration',
    'CreateBucketMetadataTableConfiguration',
  ),
  operation(
    'GetBucketMetadataConfiguration',
    'GET',
    'bucket',
    'metadataConfiguration',
    'GetBucketMetadataTableConfiguration',
  ),
  operation(
    'DeleteBucketMetadataConfiguration',
    'DELETE',
    'bucket',
    'metadataConfiguration',
    'DeleteBucketMetadataTableConfiguration',
  ),
  operation(
    'CreateBucketMetadataTableConfiguration',
    'POST',
    'bucket',
    'metadataTable',
    'CreateBucketMetadataTableConfiguration',
  ),
  operation(
    'GetBucketMetadataTableConfiguration',
    'GET',
    'bucket',
    'metadataTable',
    'GetBucketMetadataTableConfiguration',
  ),
  operation(
    'DeleteBucketMetadataTableConfiguration',
    'DELETE',
    'bucket',
    'metadataTable',
    'DeleteBucketMetadataTableConfiguration',
  ),
  operation(
    'UpdateBucketMetadataAnnotationTableConfiguration',
    'PUT',
    'bucket',
    'metadataAnnotationTable',
    'UpdateBucketMetadataAnnotationTableConfiguration',
  ),
  operation(
    'UpdateBucketMetadataInventoryTableConfiguration',
    'PUT',
    'bucket',
    'metadataInventoryTable',
    'UpdateBucketMetadataInventoryTableConfiguration',
  ),
  operation(
    'UpdateBucketMetadataJournalTableConfiguration',
    'PUT',
    'bucket',
    'metadataJournalTable',
    'UpdateBucketMetadataJournalTableConfiguration',
  ),

  operation('GetObject', 'GET', 'object', '', 'GetObject', { versionAction: 's3:GetObjectVersion' }),
  operation('HeadObject', 'HEAD', 'object', '', 'GetObject', { versionAction: 's3:GetObjectVersion' }),
  operation('PutObject', 'PUT', 'object', '', 'PutObject'),
  operation('CopyObject', 'PUT', 'object', '', 'PutObject', { header: copySource, sourceAction: 's3:GetObject' }),
  operation('DeleteObject', 'DELETE', 'object', '', 'DeleteObject', { versionAction: 's3:DeleteObjectVersion' }),
  operation('GetObjectAttributes', 'GET', 'object', 'attributes', 'GetObjectAttributes', {
    versionAction: 's3:GetObjectVersionAttributes',
  }),
  operation('GetObjectAcl', 'GET', 'object', 'acl', 'GetObjectAcl', { versionAction: 's3:GetObjectVersionAcl' }),
  operation('PutObjectAcl', 'PUT', 'object', 'acl', 'PutObjectAcl', { versionAction: 's3:PutObjectVersionAcl' }),
  operation('GetObjectTagging', 'GET', 'object', 'tagging', 'GetObjectTagging', {
    versionAction: 's3:GetObjectVersionTagging',
  }),
  operation('PutObjectTagging', 'PUT', 'object', 'tagging', 'PutObjectTagging', {
    versionAction: 's3:PutObjectVersionTagging',
  }),
  operation('DeleteObjectTagging', 'DELETE', 'object', 'tagging', 'DeleteObjectTagging', {
    versionAction: 's3:DeleteObjectVersionTagging',
  }),
  operation('GetObjectLegalHold', 'GET', 'object', 'legal-hold', 'GetObjectLegalHold'),
  operation('PutObjectLegalHold', 'PUT', 'object', 'legal-hold', 'PutObjectLegalHold'),
  operation('GetObjectRetention', 'GET', 'object', 'retention', 'GetObjectRetention'),
  operation('PutObjectRetention', 'PUT', 'object', 'retention', 'PutObjectRetention'),
  operation('GetObjectTorrent', 'GET', 'object', 'torrent', 'GetObjectTorrent'),
  operation('RestoreObject', 'POST', 'object', 'restore', 'RestoreObject'),
  operation('SelectObjectContent', 'POST', 'object', 'select&select-type=2', 'GetObject'),
  operation('RenameObject', 'PUT', 'object', 'renameObject', 'PutObject', { header: 'x-amz-rename-source' }),
  operation('UpdateObjectEncryption', 'PUT', 'object', 'encryption', 'UpdateObjectEncryption'),
  operation('GetObjectAnnotation', 'GET', 'object', 'annotation&annotationName', 'GetObjectAnnotation'),
  operation('ListObjectAnnotations', 'GET', 'object', 'annotation', 'ListObjectAnnotations'),
  operation('PutObjectAnnotation', 'PUT', 'object', 'annotation&annotationName', 'PutObjectAnnotation'),
  operation('DeleteObjectAnnotation', 'DELETE', 'object', 'annotation&annotationName', 'DeleteObjectAnnotation'),

  operation('CreateMultipartUpload', 'POST', 'object', 'uploads', 'PutObject'),
  operation('UploadPart', 'PUT', 'object', 'uploadId&partNumber', 'PutObject'),
  operation('UploadPartCopy', 'PUT', 'object', 'uploadId&partNumber', 'PutObject', {
    header: copySource,
    sourceAction: 's3:GetObject',
  }),
  operation('CompleteMultipartUpload', 'POST', 'object', 'uploadId', 'PutObject'),
  operation('AbortMultipartUpload', 'DELETE', 'object', 'uploadId', 'AbortMultipartUpload'),
  operation('ListParts', 'GET', 'object', 'uploadId', 'ListMultipartUploadParts'),

  // Sent to an endpoint of its own by functions that Amazon runs, as if WriteGetObjectResponse were a bucket.
  operation('WriteGetObjectResponse', 'POST', 'bucket', '', 'WriteGetObjectResponse', {
    header: 'x-amz-request-route',
  }),

  // Not in the model, as SDKs do not send them; browsers do.
  operation('PostObject', 'POST', 'bucket', '', 'PutObject', { success: 204 }),
  operation('PreflightService', 'OPTIONS', 'service', '', 'Preflight'),
  operation('PreflightBucket', 'OPTIONS', 'bucket', '', 'Preflight'),
  operation('PreflightObject', 'OPTIONS', 'object', '', 'Preflight'),
]

/** Keys of which a request may name one only. The others (`id`, `partNumber`, …) say more about it. */
const subresources: ReadonlySet<string> = new Set(
  operations
    .flatMap((operation) => Object.keys(operation.query))
    .filter((key) => !['id', 'annotationName', 'list-type', 'partNumber', 'select-type', 'x-id'].includes(key)),
)

/** Those that ask for more stand first, so the first that fits is the most exact. */
const byMethod: ReadonlyMap<string, readonly Candidate[]> = Map.groupBy(
  operations
    .toSorted((a, b) => demands(b) - demands(a))
    .map((operation) => ({ operation, wanted: Object.entries(operation.query) })),
  ({ operation }) => `${operation.method} ${operation.level}`,
)

/** An operation with the entries of its query. */
interface Candidate {
  readonly operation: Operation
  readonly wanted: readonly (readonly [string, string | true])[]
}

function demands(operation: Operation): number {
  return Object.keys(operation.query).length + (operation.header === undefined ? 0 : 1)
}
