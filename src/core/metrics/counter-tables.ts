/** What operations are counted as: one schema for who counts, who samples and who shows. */
import { average, bytes, type CounterSchema, delta, percent, rate } from './counter-schemas.ts'
import { nodeCounters, portCounters, processorCounters } from './machine-counters.ts'
import { serverCounters } from './server-counters.ts'

export interface CounterTable {
  readonly name: string
  readonly description: string
  readonly counters: readonly CounterSchema[]
  /** The tables of the catalog that its rows are read from; none where the machine counts. */
  readonly counted: readonly CountedTable[]
  /** What the rows are about. `node`, `svm`: sums of all volumes of the node, of an SVM. */
  readonly rowsOf:
    | 'volumes'
    | 'node'
    | 'svm'
    | 'servers'
    | 'interfaces'
    | 'workloads'
    | 'volume workloads'
    | 'machine'
    | 'system'
    | 'processors'
    | 'ports'
}

/** Tables of the catalog: of the object store server of an SVM, by its uuid; of volumes; of network interfaces. */
export const countedTables = ['object_store_server', 'volume', 'lif'] as const
export type CountedTable = (typeof countedTables)[number]

/** Those that histories of `metric` are kept of. */
export const sampledTables = ['object_store_server', 'volume', 'lif'] as const satisfies readonly CountedTable[]

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
  bytes('bytes_written', 'Bytes of objects received from clients.'),
  delta('compress_attempts', 'Number of bodies that were compressed, inline or by efficiency runs.'),
  delta('compress_failures', 'Number of bodies that compression did not make smaller.'),
]

/** When numbers of a port are those of a network interface. */
const ALONE = 'Only counted for an interface that shares its port with no other interface.'

const interfaceCounters: readonly CounterSchema[] = [
  bytes('received_data', 'Bytes of bodies received through the interface.'),
  bytes('sent_data', 'Bytes of bodies sent through the interface.'),
  ...(['received', 'sent'] as const).flatMap((direction): CounterSchema[] => [
    rate(`${direction}_packets`, `Packets that the port of the interface ${direction}. ${ALONE}`),
    delta(`${direction}_errors`, `Packets that the port of the interface ${direction} with an error. ${ALONE}`),
  ]),
  {
    name: 'up_time',
    description: 'Milliseconds since the interface started to serve clients.',
    type: 'raw',
    unit: 'millisec',
  },
]

/** Of what limits of throughput are about. */
const workloadCounters: readonly CounterSchema[] = [
  rate('ops', 'Number of operations of all kinds.', ['total_ops']),
  average('latency', `Time of all operations, ${untilTheEnd}.`, 'ops', latencies),
  ...kinds.flatMap((kind): CounterSchema[] => [
    rate(`${kind}_ops`, `Number of ${kind} operations.`),
    average(`${kind}_latency`, `Time of ${kind} operations, ${untilTheEnd}.`, `${kind}_ops`),
  ]),
  percent('sequential_reads_percent', 'Number of read operations that sent whole objects.', 'read_ops', [
    'sequential_reads',
  ]),
  percent(
    'sequential_writes_percent',
    'Number of write operations that stored whole bodies. All writes do.',
    'write_ops',
    ['write_ops'],
  ),
  bytes('read_data', 'Bytes of objects sent to clients.', ['bytes_read']),
  bytes('write_data', 'Bytes of objects received from clients.', ['bytes_written']),
  bytes('total_data', 'Bytes of objects sent to clients or received from them.', ['bytes_read', 'bytes_written']),
  {
    name: 'concurrency',
    description:
      'Total seconds of all operations. Its growth per second is the average number of concurrent operations.',
    type: 'rate',
    unit: 'none',
    of: latencies,
    divisor: 1_000_000,
  },
]

export const counterTables: readonly CounterTable[] = [
  {
    name: 'lif',
    description: 'Traffic of a network interface.',
    counters: interfaceCounters,
    counted: ['lif'],
    rowsOf: 'interfaces',
  },
  {
    name: 'nic_common',
    description: 'Counters of the network ports of the machine since its start.',
    counters: portCounters,
    counted: [],
    rowsOf: 'ports',
  },
  {
    name: 'object_store_server',
    description: 'Requests to the object store server of an SVM.',
    counters: serverCounters,
    counted: ['object_store_server'],
    rowsOf: 'servers',
  },
  {
    name: 'processor',
    description: 'Utilization of each processor of the machine since its start.',
    counters: processorCounters,
    counted: [],
    rowsOf: 'processors',
  },
  {
    name: 'qos',
    description: 'Operations on the objects of a QoS policy: volumes, and SVMs with all their volumes.',
    counters: workloadCounters,
    counted: ['volume', 'object_store_server'],
    rowsOf: 'workloads',
  },
  {
    name: 'qos_volume',
    description: 'Operations on each volume, with or without a QoS policy.',
    counters: workloadCounters,
    counted: ['volume'],
    rowsOf: 'volume workloads',
  },
  {
    name: 'system',
    description: 'Totals of each node, as in `system:node`, in rows with the name and the UUID of the node.',
    counters: nodeCounters,
    counted: ['volume'],
    rowsOf: 'system',
  },
  {
    name: 'system:node',
    description: 'Totals of a node: operations, and counters of the machine since its start.',
    counters: nodeCounters,
    counted: ['volume'],
    rowsOf: 'machine',
  },
  {
    name: 'volume',
    description: 'Operations on the data of a volume.',
    counters: volumeCounters,
    counted: ['volume'],
    rowsOf: 'volumes',
  },
  {
    name: 'volume:node',
    description: 'Operations on the data of all volumes of a node.',
    counters: volumeCounters,
    counted: ['volume'],
    rowsOf: 'node',
  },
  {
    name: 'volume:svm',
    description: 'Operations on the data of all volumes of an SVM.',
    counters: volumeCounters,
    counted: ['volume'],
    rowsOf: 'svm',
  },
]
