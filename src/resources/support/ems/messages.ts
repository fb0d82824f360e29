import { type Behaviour, define } from '../../../core/behaviour.ts'
import { listEvents } from '../../../core/tables.ts'
import { flag, oneOf, text } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'

const emsMessagesResource = resource({
  path: '/support/ems/messages',
  noun: 'event message',
  doc: 'All events that the cluster can log, with descriptions.',
  key: ['name'],
  nameWithin: false,
  order: [{ path: 'name', isDescending: false }],
  fields: {
    name: { doc: 'The name of the event.', kind: text() },
    severity: {
      doc: 'The severity of the event.',
      kind: oneOf({
        emergency: 'The cluster is down.',
        alert: 'Immediate action is required.',
        error: 'Something failed.',
        notice: 'A condition needs attention.',
        informational: 'Normal operation.',
        debug: 'Details for developers.',
      }),
    },
    description: { doc: 'A sentence that says what the event means.', kind: text() },
    corrective_action: { doc: 'The action that an administrator can take about the event.', kind: text() },
    deprecated: { doc: 'Whether the event is no longer logged.', kind: flag() },
    snmp_trap_type: {
      doc: 'The type of the SNMP trap for the event.',
      kind: oneOf({
        standard: 'A trap of an SNMP standard.',
        built_in: 'A trap that the cluster always sends.',
        severity_based: 'A trap that depends on the severity.',
      }),
    },
  },
})

export const emsMessages: Behaviour<typeof emsMessagesResource> = define(emsMessagesResource, {
  rows: (cluster) =>
    Promise.resolve(
      listEvents(cluster.behaviours.values()).map(([name, event]) => ({
        name,
        severity: event.severity,
        description: event.message,
        corrective_action: event.action,
        deprecated: false,
        snmp_trap_type: 'severity_based',
      })),
    ),
})
