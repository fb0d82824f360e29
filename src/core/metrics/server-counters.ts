/** What is counted of requests to the object store servers of an SVM, under the names that shipping systems have. */
import { average, bytes, type CounterSchema, delta, rate } from './counter-schemas.ts'

/** How the counters of an operation of S3 begin, by the operation's name: those of shipping systems where they have some. */
export const countedOperations: Readonly<Record<string, string>> = {
  AbortMultipartUpload: 'abort_multipart_upload',
  CompleteMultipartUpload: 'complete_multipart_upload',
  CopyObject: 'copy_object',
  CreateBucket: 'create_bucket',
  CreateMultipartUpload: 'initiate_multipart_upload',
  DeleteBucket: 'delete_bucket',
  DeleteObject: 'delete_object',
  DeleteObjects: 'delete_objects',
  DeleteObjectTagging: 'delete_object_tagging',
  GetBucketAcl: 'get_bucket_acl',
  GetBucketVersioning: 'get_bucket_versioning',
  GetObject: 'get_object',
  GetObjectAcl: 'get_object_acl',
  GetObjectTagging: 'get_object_tagging',
  HeadBucket: 'head_bucket',
  HeadObject: 'head_object',
  ListBuckets: 'list_buckets',
  ListMultipartUploads: 'list_uploads',
  ListObjects: 'list_objects',
  ListObjectsV2: 'list_objects',
  ListObjectVersions: 'list_object_versions',
  PutBucketVersioning: 'put_bucket_versioning',
  PutObject: 'put_object',
  PutObjectTagging: 'put_object_tagging',
  UploadPart: 'upload_part',
}

/** What else is counted of requests and of their connections, by how often it happened. */
const NOTED = {
  signature_v4_requests: 'Number of requests signed with Signature Version 4.',
  signature_v2_requests: 'Number of requests signed with Signature Version 2. All are refused.',
  presigned_url_requests: 'Number of presigned requests.',
  chunked_upload_requests: 'Number of requests with an aws-chunked body.',
  allow_access: 'Number of requests of users that policies allowed.',
  anonymous_access: 'Number of anonymous requests that policies allowed.',
  anonymous_deny_access: 'Number of anonymous requests that were denied.',
  default_deny_access: 'Number of requests denied because no policy statement allowed them.',
  explicit_deny_access: 'Number of requests that a policy statement denied.',
  group_policy_evaluated: 'Number of requests for which policies of groups were evaluated.',
  request_parse_errors: 'Number of requests with invalid HTTP or invalid XML.',
  connections: 'Number of connections that clients opened.',
  server_connection_close: 'Number of connections that the server closed because of an error.',
  input_flow_control_entry: 'Number of times that receiving was paused because the client was faster.',
  input_flow_control_exit: 'Number of times that receiving was resumed.',
  output_flow_control_entry: 'Number of times that sending was paused because the client was slower.',
  output_flow_control_exit: 'Number of times that sending was resumed.',
} as const

export type Noted = keyof typeof NOTED

const untilTheEnd = 'from the head of the request to the end of the response'

export const serverCounters: readonly CounterSchema[] = [
  ...[...new Set(Object.values(countedOperations))].flatMap((base): CounterSchema[] => [
    delta(`${base}_total`, `Number of ${base} requests.`),
    rate(`${base}_rate`, `Number of ${base} requests.`, [`${base}_total`]),
    delta(`${base}_failed`, `Number of ${base} requests that were answered with an error.`),
    delta(
      `${base}_failed_client_close`,
      `Number of ${base} requests that failed because the client closed the connection.`,
    ),
    average(`${base}_latency`, `Time of ${base} requests, ${untilTheEnd}.`, `${base}_total`),
  ]),
  average(
    'get_object_lastbyte_latency',
    'Time of get_object requests, up to the last byte of the response.',
    'get_object_total',
    ['get_object_latency'],
  ),
  delta('requests', 'Number of requests.', ['total_ops']),
  delta('multiple_delete_requests', 'Number of requests that delete several objects.', ['delete_objects_total']),
  delta('tagging', 'Number of requests about the tags of objects.', [
    'delete_object_tagging_total',
    'get_object_tagging_total',
    'put_object_tagging_total',
  ]),
  delta('authentication_failures', 'Number of requests with a wrong signature or an unknown access key.'),
  ...Object.entries(NOTED).map(([name, description]) => delta(name, description)),
  bytes('get_data', 'Bytes of objects sent to clients.', ['bytes_read']),
  bytes('put_data', 'Bytes of objects received from clients.', ['bytes_written']),
]
