/** The counters that real operations add to: one schema for who counts, who samples and who shows. */
export interface CounterSchema {
  readonly name: string
  readonly description: string
  readonly type: 'delta' | 'rate' | 'average' | 'raw' | 'string'
  readonly unit: 'none' | 'per_sec' | 'b_per_sec' | 'microsec'
  readonly denominator?: string
}

export interface CounterTable {
  readonly name: string
  readonly description: string
  readonly counters: readonly CounterSchema[]
  /** What the rows are about, and so what their names are looked up in. */
  readonly rowsOf: 'storage/volumes' | 'svm/svms'
}

const operations = ['read', 'write', 'other'] as const

const operationCounters: readonly CounterSchema[] = [
  ...operations.flatMap((kind): CounterSchema[] => [
    { name: `${kind}_ops`, description: `Number of ${kind} operations.`, type: 'rate', unit: 'per_sec' },
    {
      name: `${kind}_latency`,
      description: `Time of ${kind} operations, from the request's head to the end of the answer.`,
      type: 'average',
      unit: 'microsec',
      denominator: `${kind}_ops`,
    },
  ]),
  { name: 'total_ops', description: 'Number of operations of all kinds.', type: 'rate', unit: 'per_sec' },
  { name: 'bytes_read', description: 'Bytes of objects sent to clients.', type: 'rate', unit: 'b_per_sec' },
  { name: 'bytes_written', description: 'Bytes of objects taken from clients.', type: 'rate', unit: 'b_per_sec' },
]

export const counterTables: readonly CounterTable[] = [
  {
    name: 'object_store_server',
    description: 'Operations of the object store server of an SVM.',
    counters: operationCounters,
    rowsOf: 'svm/svms',
  },
  {
    name: 'volume',
    description: 'Operations on the data of a volume.',
    counters: operationCounters,
    rowsOf: 'storage/volumes',
  },
]
