import { type Behaviour, define } from '../../../core/behaviour.ts'
import { events } from '../../../core/events.ts'
import { flag, oneOf, text } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'

const emsMessagesResource = resource({
  path: '/support/ems/messages',
  noun: 'event message',
  doc: 'Every event that the cluster can log, with what it means.',
  key: ['name'],
  nameWithin: false,
  order: [{ path: 'name', isDescending: false }],
  fields: {
    name: { doc: 'The name of the event.', kind: text() },
    severity: {
      doc: 'How bad it is.',
      kind: oneOf('emergency', 'alert', 'error', 'notice', 'informational', 'debug'),
    },
    description: { doc: 'What has happened.', kind: text() },
    deprecated: { doc: 'Whether it is logged no more.', kind: flag() },
    snmp_trap_type: {
      doc: 'What makes it a trap.',
      kind: oneOf('standard', 'built_in', 'severity_based'),
    },
  },
})

export const emsMessages: Behaviour<typeof emsMessagesResource> = define(emsMessagesResource, {
  rows: () =>
    Promise.resolve(
      Object.entries(events).map(([name, event]) => ({
        name,
        severity: event.severity,
        description: event.text,
        deprecated: false,
        snmp_trap_type: 'severity_based',
      })),
    ),
})
