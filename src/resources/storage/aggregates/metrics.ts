import { defineMetrics } from '../../metrics.ts'

export const aggregateHistory = defineMetrics({
  path: '/storage/aggregates/{aggregate.uuid}/metrics',
  doc: 'Metrics of the operations on the volumes of an aggregate, for up to a year. A moved volume counts for the aggregate at the time.',
  of: { field: 'aggregate', ref: 'storage/aggregates', doc: 'The aggregate.' },
})
