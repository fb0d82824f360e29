/** Failures of SNMP. */
import { errno } from './errno.ts'
import { inUse, invalid } from './forms.ts'

export const snmp = {
  trapsNotSent: invalid(
    'trigger_test_trap',
    'Traps are not sent yet, so a test trap is not possible.',
    'Do not ask for test traps.',
  ),
  traphostUserUnknown: invalid(
    'user.name',
    'There is no SNMP user of version 3 named "{name}".',
    'Make the SNMP user first.',
    { code: '9043991', errno: errno.objectNotFound },
  ),
  snmpUserInUse: inUse(
    undefined,
    'The trap host "{host}" uses the user. Delete the trap host first.',
    'Delete the trap host first.',
  ),
  snmpOwnerUnknown: invalid('owner', 'The owner is neither an SVM nor the cluster.', 'Name an SVM or the cluster.', {
    code: '2621475',
  }),
  communityFieldUnfit: invalid('{field}', '"{field}" is not allowed for a community.', 'Leave the field out.'),
  snmpProtocolMissing: invalid('{field}', '"{field}" requires a protocol.', 'Choose a protocol first.'),
  privacyWithoutAuthentication: invalid(
    'snmpv3.privacy_protocol',
    'Encryption requires authentication.',
    'Choose an authentication protocol, too.',
  ),
} as const
