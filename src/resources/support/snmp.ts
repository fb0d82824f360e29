import { type Behaviour, define } from '../../core/behaviour.ts'
import { singletonActs } from '../../core/singleton.ts'
import { failures } from '../../model/failure.ts'
import { flag, text } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'

const snmpResource = resource({
  path: '/support/snmp',
  noun: 'SNMP settings',
  doc: 'Whether the cluster may be watched by SNMP. Kept; the protocol is not served, and traps are not sent yet.',
  key: [],
  recordKey: [],
  nameWithin: false,
  fields: {
    enabled: { doc: 'Whether requests are to be answered.', kind: flag(), set: 'modify', default: true },
    auth_traps_enabled: {
      doc: 'Whether a trap is to tell of requests without a community that is known.',
      kind: flag(),
      set: 'modify',
      default: false,
    },
    traps_enabled: {
      doc: 'Whether events are to become traps.',
      kind: flag(),
      set: 'modify',
      default: true,
    },
    contact: {
      doc: 'Whom to ask.',
      kind: text({ charactersMax: 255 }),
      set: 'modify',
      default: '',
    },
    location: {
      doc: 'Where the cluster is.',
      kind: text({ charactersMax: 255 }),
      set: 'modify',
      default: '',
    },
    trigger_test_trap: {
      doc: 'Sends a trap to see whether it arrives. Refused: none is sent yet.',
      kind: flag(),
      set: 'modify',
    },
  },
})

export const snmp: Behaviour<typeof snmpResource> = define(
  snmpResource,
  singletonActs('support/snmp', {
    example: { contact: 'operators@example.com', location: 'Room 4' },
    check(_cluster, row) {
      const { trigger_test_trap: isTest, ...rest } = row
      if (isTest === true) throw failures.invalid('trigger_test_trap', 'Traps are not sent yet, so none can be tried.')
      return rest
    },
  }),
)
