import { define } from '../../../../../../core/behaviour.ts'
import { flag, list, oneOf } from '../../../../../../model/kinds/index.ts'
import { fpolicyEvents, FPOLICY_EVENTS, switchedOn, switches } from '../../../../../protocols/fpolicy/events.ts'
import { fpolicyName } from '../../../../../protocols/fpolicy/names.ts'
import { filterProtocols, operationProtocols, PROTOCOLS } from '../../../../../protocols/fpolicy/watchable.ts'
import { commandVerbs, rowsBy, type Spelling, vserverField } from '../command-line.ts'

const spelling: Spelling = {
  type: FPOLICY_EVENTS,
  name: 'event_name',
  show: (row) => ({
    protocol: row['protocol'] ?? null,
    volume_operation: row['volume_monitoring'] ?? false,
    file_operations: switchedOn(row, 'file_operations'),
    filters: switchedOn(row, 'filters'),
  }),
  read: ({ protocol, volume_operation: volumes, file_operations: operations, filters }) => ({
    ...(protocol === undefined ? {} : { protocol }),
    ...(volumes === undefined ? {} : { volume_monitoring: volumes }),
    ...(operations === undefined ? {} : switches('file_operations', (operations ?? []) as readonly string[])),
    ...(filters === undefined ? {} : switches('filters', (filters ?? []) as readonly string[])),
  }),
}

export const fpolicyEventCommand = define(
  {
    path: '/private/cli/vserver/fpolicy/policy/event',
    noun: 'FPolicy event',
    doc: 'Events of FPolicy, by the names that the command line gives their fields.',
    key: ['vserver', 'event_name'],
    recordKey: ['vserver', 'event_name'],
    rowsOf: FPOLICY_EVENTS,
    nameWithin: false,
    fields: {
      vserver: vserverField,
      event_name: { doc: 'The name of the event.', kind: fpolicyName(), set: 'create', required: true },
      protocol: { doc: 'The protocol by which files are used.', kind: oneOf(...PROTOCOLS), set: 'always' },
      file_operations: {
        doc: 'The operations that are watched.',
        kind: list(oneOf(...Object.keys(operationProtocols))),
        set: 'always',
      },
      filters: { doc: 'What is told of these.', kind: list(oneOf(...Object.keys(filterProtocols))), set: 'always' },
      volume_operation: { doc: 'Whether mounts of volumes are told too.', kind: flag(), set: 'always' },
    },
  },
  {
    rows: rowsBy(spelling),
    ...commandVerbs(spelling, fpolicyEvents),
  },
)
