import { defineMetrics } from '../../metrics.ts'

export const volumeHistory = defineMetrics({
  path: '/storage/volumes/{volume.uuid}/metrics',
  doc: 'Metrics of the operations on a volume, for up to a year.',
  of: { field: 'volume', ref: 'storage/volumes', doc: 'The volume.' },
})
