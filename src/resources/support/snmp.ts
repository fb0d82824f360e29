import { type Behaviour, define } from '../../core/behaviour.ts'
import { singletonActs } from '../../core/singleton.ts'
import { failure } from '../../model/failure.ts'
import { invalid } from '../../model/failures/forms.ts'
import { ownFailures } from '../../model/failures/index.ts'
import { flag, text } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'

const snmpResource = resource({
  path: '/support/snmp',
  noun: 'SNMP settings',
  doc: 'SNMP settings of the cluster. Stored without effect: SNMP is not served, and traps are not sent yet.',
  key: [],
  recordKey: [],
  nameWithin: false,
  fields: {
    enabled: { doc: 'Whether SNMP requests are answered.', kind: flag(), set: 'modify', default: true },
    auth_traps_enabled: {
      doc: 'Whether requests with an unknown community cause a trap.',
      kind: flag(),
      set: 'modify',
      default: false,
    },
    traps_enabled: {
      doc: 'Whether events cause traps.',
      kind: flag(),
      set: 'modify',
      default: true,
    },
    contact: {
      doc: 'The contact person for the cluster.',
      kind: text({ charactersMax: 255 }),
      set: 'modify',
      default: '',
    },
    location: {
      doc: 'The location of the cluster.',
      kind: text({ charactersMax: 255 }),
      set: 'modify',
      default: '',
    },
    trigger_test_trap: {
      doc: 'Whether to send a test trap. Refused: traps are not sent yet.',
      kind: flag(),
      set: 'modify',
    },
  },
})

const failures = ownFailures({
  trapsNotSent: invalid(
    'trigger_test_trap',
    'Traps are not sent yet, so a test trap is not possible.',
    'Do not ask for test traps.',
  ),
})

export const snmp: Behaviour<typeof snmpResource> = define(snmpResource, {
  failures,
  ...singletonActs('support/snmp', {
    example: { contact: 'operators@example.com', location: 'Room 4' },
    check(_cluster, row) {
      const { trigger_test_trap: isTest, ...rest } = row
      if (isTest === true) throw failure(failures.trapsNotSent)
      return rest
    },
  }),
})
