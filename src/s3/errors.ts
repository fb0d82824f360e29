/**
 * Every error the data plane answers with, as Amazon names it. Clients decide by `code` and by status, so both come from
 * one table; the message is for people. `fields` become further elements of the error document (`<Region>`,
 * `<ArgumentName>`, …), `headers` are added to the reply.
 */
export class S3Error extends Error {
  readonly code: S3ErrorCode
  readonly status: number
  readonly fields: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>

  constructor(code: S3ErrorCode, options: S3ErrorOptions = {}) {
    const [status, message] = s3ErrorTable[code]
    super(options.message ?? message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'S3Error'
    this.code = code
    this.status = status
    this.fields = options.fields ?? {}
    this.headers = options.headers ?? {}
  }
}

export interface S3ErrorOptions {
  /** Replaces the usual message of the code. */
  readonly message?: string
  readonly fields?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

export function s3Error(code: S3ErrorCode, options?: S3ErrorOptions): S3Error {
  return new S3Error(code, options)
}

/** `InvalidArgument` with the name and the value of what was wrong, as Amazon reports it. */
export function invalidArgument(message: string, name: string, value: string): S3Error {
  return new S3Error('InvalidArgument', { message, fields: { ArgumentName: name, ArgumentValue: value } })
}

export function entityTooLarge(proposedBytes: number, maxBytes: number): S3Error {
  return new S3Error('EntityTooLarge', {
    fields: { ProposedSize: String(proposedBytes), MaxSizeAllowed: String(maxBytes) },
  })
}

export type S3ErrorCode = keyof typeof s3ErrorTable

/** Status and usual message of each code: Amazon S3 API Reference, "Error responses". */
export const s3ErrorTable = {
  AccessDenied: [403, 'Access Denied'],
  AccessForbidden: [403, 'CORSResponse: This CORS request is not allowed.'],
  AccessControlListNotSupported: [400, 'The bucket does not allow ACLs'],
  AuthorizationHeaderMalformed: [400, 'The authorization header is malformed.'],
  AuthorizationQueryParametersError: [400, 'The authorization query parameters are malformed.'],
  BadDigest: [400, 'The Content-MD5 or checksum value that you specified did not match what the server received.'],
  BadRequest: [400, 'Bad Request'],
  BucketAlreadyExists: [409, 'The requested bucket name is not available. Select a different name and try again.'],
  BucketAlreadyOwnedByYou: [409, 'The bucket that you tried to create already exists, and you own it.'],
  BucketNotEmpty: [409, 'The bucket that you tried to delete is not empty.'],
  ConditionalRequestConflict: [409, 'A conflicting operation occurred. If using PutObject you can retry the request.'],
  EntityTooLarge: [400, 'Your proposed upload exceeds the maximum allowed size.'],
  EntityTooSmall: [400, 'Your proposed upload is smaller than the minimum allowed size.'],
  ExpiredToken: [400, 'The provided token has expired.'],
  IllegalVersioningConfigurationException: [400, 'The versioning configuration is not valid.'],
  IncompleteBody: [400, 'You did not provide the number of bytes specified by the Content-Length HTTP header.'],
  IncorrectNumberOfFilesInPostRequest: [400, 'POST requires exactly one file upload per request.'],
  // Amazon has no full disks. The status says that a retry does not help, so clients tell their user at once.
  InsufficientStorage: [507, 'The disk is full. Delete objects or snapshots, then try again.'],
  InternalError: [500, 'We encountered an internal error. Please try again.'],
  InvalidAccessKeyId: [403, 'The AWS access key ID that you provided does not exist in our records.'],
  InvalidArgument: [400, 'Invalid Argument'],
  InvalidBucketAclWithObjectOwnership: [
    400,
    "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting",
  ],
  InvalidBucketName: [400, 'The specified bucket is not valid.'],
  InvalidBucketState: [409, 'The request is not valid for the current state of the bucket.'],
  InvalidChunkSizeError: [400, 'The chunk size of the aws-chunked body is not valid.'],
  InvalidDigest: [400, 'The Content-MD5 that you specified is not valid.'],
  InvalidEncryptionAlgorithmError: [400, 'The encryption request that you specified is not valid.'],
  InvalidLocationConstraint: [400, 'The specified location constraint is not valid.'],
  InvalidObjectState: [403, 'The operation is not valid for the current state of the object.'],
  InvalidPart: [
    400,
    'One or more of the specified parts could not be found. The part might not have been uploaded, or the specified ' +
      "entity tag might not have matched the part's entity tag.",
  ],
  InvalidPartNumber: [416, 'The requested partnumber is not satisfiable.'],
  InvalidPartOrder: [
    400,
    'The list of parts was not in ascending order. The parts list must be specified in order by part number.',
  ],
  InvalidPolicyDocument: [
    400,
    'The content of the form does not meet the conditions specified in the policy document.',
  ],
  InvalidRange: [416, 'The requested range is not satisfiable.'],
  InvalidRedirectLocation: [400, "The website redirect location must have a prefix of 'http://' or 'https://' or '/'."],
  InvalidRequest: [400, 'The request is not valid.'],
  InvalidStorageClass: [400, 'The storage class that you specified is not valid.'],
  InvalidTag: [400, 'The tag provided was not a valid tag.'],
  InvalidToken: [400, 'The provided token is malformed or otherwise invalid.'],
  InvalidURI: [400, "Couldn't parse the specified URI."],
  KeyTooLongError: [400, 'Your key is too long.'],
  MalformedACLError: [400, 'The XML that you provided was not well formed or did not validate against our schema.'],
  MalformedPolicy: [400, 'The policy document is not valid.'],
  MalformedPOSTRequest: [400, 'The body of your POST request is not well-formed multipart/form-data.'],
  MalformedTrailerError: [
    400,
    'The request contained trailing data that was not well-formed or did not conform to our published schema.',
  ],
  MalformedXML: [
    400,
    'The XML that you provided was not well formed or did not validate against our published schema.',
  ],
  MaxMessageLengthExceeded: [400, 'Your request was too big.'],
  MaxPostPreDataLengthExceededError: [400, 'Your POST request fields preceding the upload file were too large.'],
  MetadataTooLarge: [400, 'Your metadata headers exceed the maximum allowed metadata size.'],
  MethodNotAllowed: [405, 'The specified method is not allowed against this resource.'],
  MissingContentLength: [411, 'You must provide the Content-Length HTTP header.'],
  MissingRequestBodyError: [400, 'Request body is empty.'],
  MissingSecurityHeader: [400, 'Your request is missing a required header.'],
  NoSuchBucket: [404, 'The specified bucket does not exist.'],
  NoSuchBucketPolicy: [404, 'The bucket policy does not exist.'],
  NoSuchConfiguration: [404, 'The specified configuration does not exist.'],
  NoSuchCORSConfiguration: [404, 'The CORS configuration does not exist.'],
  NoSuchKey: [404, 'The specified key does not exist.'],
  NoSuchLifecycleConfiguration: [404, 'The lifecycle configuration does not exist.'],
  NoSuchObjectLockConfiguration: [404, 'The specified object does not have a ObjectLock configuration.'],
  NoSuchPublicAccessBlockConfiguration: [404, 'The public access block configuration was not found.'],
  NoSuchTagSet: [404, 'The TagSet does not exist.'],
  NoSuchUpload: [
    404,
    'The specified multipart upload does not exist. The upload ID might not be valid, or the multipart upload might ' +
      'have been aborted or completed.',
  ],
  NoSuchVersion: [404, 'The version ID specified in the request does not match an existing version.'],
  NoSuchWebsiteConfiguration: [404, 'The specified bucket does not have a website configuration.'],
  NotImplemented: [501, 'A header or query you provided requested a function that is not implemented.'],
  NotModified: [304, 'Not Modified'],
  ObjectLockConfigurationNotFoundError: [404, 'Object Lock configuration does not exist for this bucket.'],
  OperationAborted: [
    409,
    'A conflicting conditional operation is currently in progress against this resource. Try again.',
  ],
  OwnershipControlsNotFoundError: [404, 'The bucket ownership controls were not found.'],
  PermanentRedirect: [301, 'The bucket must be addressed using the specified endpoint.'],
  PreconditionFailed: [412, 'At least one of the pre-conditions you specified did not hold'],
  // Amazon has no code for this; Ceph answers the same code and status (rgw_common.cc, ERR_QUOTA_EXCEEDED).
  QuotaExceeded: [403, 'The bucket or its volume is full. Delete objects or raise its size, then try again.'],
  ReplicationConfigurationNotFoundError: [404, 'The replication configuration was not found.'],
  RequestHeaderSectionTooLarge: [400, 'Your request header section exceeds the maximum allowed size.'],
  RequestTimeout: [
    400,
    'Your socket connection to the server was not read from or written to within the timeout period.',
  ],
  RequestTimeTooSkewed: [403, "The difference between the request time and the server's time is too large."],
  ServerSideEncryptionConfigurationNotFoundError: [404, 'The server side encryption configuration was not found.'],
  ServiceUnavailable: [503, 'Service is unable to handle request.'],
  SignatureDoesNotMatch: [
    403,
    'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
  ],
  SlowDown: [503, 'Please reduce your request rate.'],
  TooManyBuckets: [400, 'You have attempted to create more buckets than allowed.'],
  // Not in Amazon's table, which answers MalformedXML: the cause deserves its name.
  TooManyParts: [400, 'The list of parts is longer than the 10,000 parts an object may have.'],
  UnexpectedContent: [400, 'This request contains unsupported content.'],
  UserKeyMustBeSpecified: [
    400,
    'The bucket POST must contain the specified field name. Check the order of the fields.',
  ],
  XAmzContentSHA256Mismatch: [400, "The provided 'x-amz-content-sha256' header does not match what was computed."],
} as const satisfies Readonly<Record<string, readonly [status: number, message: string]>>

export function noSuchBucket(name: string): S3Error {
  return s3Error('NoSuchBucket', { fields: { BucketName: name } })
}
