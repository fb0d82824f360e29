import { processorFiguresOf } from '../../../core/metrics/figures.ts'
import { percent } from '../../../model/kinds/index.ts'
import { intervalFields } from '../../metric-readings.ts'
import { defineMetrics } from '../../metrics.ts'

export const nodeHistory = defineMetrics({
  path: '/cluster/nodes/{node.uuid}/metrics',
  doc: 'How busy the processors of a node were, for up to a year.',
  of: { field: 'node', ref: 'cluster/nodes', doc: 'The node.' },
  fields: {
    ...intervalFields(),
    processor_utilization: { doc: 'The utilization of the processors of the node, in percent.', kind: percent() },
  },
  figures: processorFiguresOf,
})
