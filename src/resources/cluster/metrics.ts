import { defineMetrics } from '../metrics.ts'

export const clusterHistory = defineMetrics({
  path: '/cluster/metrics',
  doc: 'What all operations of the object stores amounted to, for up to a year.',
})
