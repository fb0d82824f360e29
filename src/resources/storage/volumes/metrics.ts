import { defineMetrics } from '../../metrics.ts'

export const volumeHistory = defineMetrics({
  path: '/storage/volumes/{volume.uuid}/metrics',
  doc: 'What operations on a volume amounted to, for up to a year.',
  of: { field: 'volume', ref: 'storage/volumes', doc: 'The volume.' },
})
