import { defineMetrics } from '../metrics.ts'

export const clusterHistory = defineMetrics({
  path: '/cluster/metrics',
  doc: 'Metrics of all object store operations of the cluster, for up to a year.',
})
