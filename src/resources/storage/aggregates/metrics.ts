import { defineMetrics } from '../../metrics.ts'

export const aggregateHistory = defineMetrics({
  path: '/storage/aggregates/{aggregate.uuid}/metrics',
  doc: 'What operations on the volumes of an aggregate amounted to, for up to a year. A volume counts for the aggregate that it was in at the time.',
  of: { field: 'aggregate', ref: 'storage/aggregates', doc: 'The aggregate.' },
})
