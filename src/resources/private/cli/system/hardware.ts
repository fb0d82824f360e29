/** Commands about hardware that the product does not monitor: they list nothing. */
import { count, list, text } from '../../../../model/kinds/index.ts'
import { emptyCollection } from '../../../empty-collection.ts'

export const healthSubsystems = emptyCollection({
  path: '/private/cli/system/health/subsystem',
  noun: 'health subsystem',
  doc: 'Subsystems whose hardware is monitored. The product monitors no hardware, so the list is empty.',
  key: ['subsystem'],
  fields: {
    subsystem: { doc: 'The name of the subsystem.' },
    health: { doc: 'The health of the subsystem.' },
    outstanding_alert_count: { doc: 'How many alerts nobody acknowledged.', kind: count() },
    suppressed_alert_count: { doc: 'How many alerts are suppressed.', kind: count() },
  },
})

export const controllerParts = emptyCollection({
  path: '/private/cli/system/controller/fru',
  noun: 'field-replaceable unit',
  doc: 'Replaceable parts of controllers. The product does not see them, so the list is empty.',
  key: ['node', 'fru_name'],
  fields: {
    node: { doc: 'The name of the node that has the part.' },
    fru_name: { doc: 'The name of the part.' },
    subsystem: { doc: 'The subsystem that the part belongs to.' },
    serial_number: { doc: 'The serial number of the part.' },
    status: { doc: 'Whether the part works.' },
  },
})

export const chassisParts = emptyCollection({
  path: '/private/cli/system/chassis/fru',
  noun: 'field-replaceable unit of a chassis',
  doc: 'Replaceable parts that nodes share: fans and power supplies. The product does not see them, so the list is empty.',
  key: ['fru_name'],
  fields: {
    fru_name: { doc: 'The name of the part.' },
    type: { doc: 'The kind of the part.' },
    status: { doc: 'Whether the part works.' },
    connected_nodes: { doc: 'The nodes that use the part.', kind: list(text()) },
    num_nodes: { doc: 'How many nodes use the part.', kind: count() },
  },
})
