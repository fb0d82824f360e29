/** What operations are counted as: one schema for who counts, who samples and who shows. */
export interface CounterSchema {
  readonly name: string
  readonly description: string
  readonly type: 'delta' | 'rate' | 'average' | 'raw' | 'string'
  readonly unit: 'none' | 'per_sec' | 'b_per_sec' | 'microsec'
  readonly denominator?: string
  /** What the catalog counts, and this is the sum of. Absent: it is counted under its own name. */
  readonly of?: readonly string[]
}

export interface CounterTable {
  readonly name: string
  readonly description: string
  readonly counters: readonly CounterSchema[]
  /** The table of the catalog that its rows are read from. */
  readonly counted: CountedTable
  /** What the rows are about. `node`, `svm`: sums of all volumes of the node, of an SVM. */
  readonly rowsOf: 'volumes' | 'node' | 'svm' | 'servers' | 'interfaces'
}

/** Tables of the catalog: of the object store server of an SVM, by its uuid; of volumes; of network interfaces. */
export const countedTables = ['object_store_server', 'volume', 'lif'] as const
export type CountedTable = (typeof countedTables)[number]

/** Those that histories of `metric` are kept of. */
export const sampledTables = ['object_store_server', 'volume', 'lif'] as const satisfies readonly CountedTable[]

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
  GetObject: 'get_object',
  GetObjectTagging: 'get_object_tagging',
  HeadBucket: 'head_bucket',
  HeadObject: 'head_object',
  ListBuckets: 'list_buckets',
  ListMultipartUploads: 'list_uploads',
  ListObjects: 'list_objects',
  ListObjectsV2: 'list_objects',
  ListObjectVersions: 'list_object_versions',
  PutObject: 'put_object',
  PutObjectTagging: 'put_object_tagging',
  UploadPart: 'upload_part',
}

const kinds = ['read', 'write', 'other'] as const
const latencies = kinds.map((kind) => `${kind}_latency`)
const untilTheEnd = 'from the head of the request to the end of the answer'

const volumeCounters: readonly CounterSchema[] = [
  ...kinds.flatMap((kind): CounterSchema[] => [
    rate(`total_${kind}_ops`, `Number of ${kind} operations.`, [`${kind}_ops`]),
    average(`${kind}_latency`, `Time of ${kind} operations, ${untilTheEnd}.`, `total_${kind}_ops`),
  ]),
  rate('total_ops', 'Number of operations of all kinds.'),
  average('average_latency', `Time of all operations, ${untilTheEnd}.`, 'total_ops', latencies),
  bytes('bytes_read', 'Bytes of objects sent to clients.'),
  bytes('bytes_written', 'Bytes of objects taken from clients.'),
]

const serverCounters: readonly CounterSchema[] = [
  ...[...new Set(Object.values(countedOperations))].flatMap((base): CounterSchema[] => [
    delta(`${base}_total`, `Number of ${base} requests.`),
    rate(`${base}_rate`, `Number of ${base} requests.`, [`${base}_total`]),
    delta(`${base}_failed`, `Number of ${base} requests that were answered with an error.`),
    average(`${base}_latency`, `Time of ${base} requests, ${untilTheEnd}.`, `${base}_total`),
  ]),
  average(
    'get_object_lastbyte_latency',
    'Time of get_object requests, to the last byte of the answer.',
    'get_object_total',
    ['get_object_latency'],
  ),
  delta('requests', 'Number of requests.', ['total_ops']),
  delta('authentication_failures', 'Number of requests whose signature was not right, or of no user.'),
  bytes('get_data', 'Bytes of objects sent to clients.', ['bytes_read']),
  bytes('put_data', 'Bytes of objects taken from clients.', ['bytes_written']),
]

const interfaceCounters: readonly CounterSchema[] = [
  bytes('received_data', 'Bytes of bodies received through the interface.'),
  bytes('sent_data', 'Bytes of bodies sent through the interface.'),
]

export const counterTables: readonly CounterTable[] = [
  {
    name: 'lif',
    description: 'What went through a network interface.',
    counters: interfaceCounters,
    counted: 'lif',
    rowsOf: 'interfaces',
  },
  {
    name: 'object_store_server',
    description: 'Requests to the object store server of an SVM.',
    counters: serverCounters,
    counted: 'object_store_server',
    rowsOf: 'servers',
  },
  {
    name: 'volume',
    description: 'Operations on the data of a volume.',
    counters: volumeCounters,
    counted: 'volume',
    rowsOf: 'volumes',
  },
  {
    name: 'volume:node',
    description: 'Operations on the data of all volumes of a node.',
    counters: volumeCounters,
    counted: 'volume',
    rowsOf: 'node',
  },
  {
    name: 'volume:svm',
    description: 'Operations on the data of all volumes of an SVM.',
    counters: volumeCounters,
    counted: 'volume',
    rowsOf: 'svm',
  },
]

type Sums = Readonly<Record<string, number>>

/** The value of a counter, of what was counted. */
export function valueOf({ name, of = [name] }: CounterSchema, sums: Sums): number {
  return of.reduce((sum, counted) => sum + (sums[counted] ?? 0), 0)
}

function rate(name: string, description: string, of?: readonly string[]): CounterSchema {
  return { name, description, type: 'rate', unit: 'per_sec', ...(of && { of }) }
}

function delta(name: string, description: string, of?: readonly string[]): CounterSchema {
  return { name, description, type: 'delta', unit: 'none', ...(of && { of }) }
}

function bytes(name: string, description: string, of?: readonly string[]): CounterSchema {
  return { name, description, type: 'rate', unit: 'b_per_sec', ...(of && { of }) }
}

function average(name: string, description: string, denominator: string, of?: readonly string[]): CounterSchema {
  return { name, description, type: 'average', unit: 'microsec', denominator, ...(of && { of }) }
}
