/** Failures of FPolicy. */
import { errno } from './errno.ts'
import { badValue, duplicate, inUse, invalid } from './forms.ts'

export const fpolicy = {
  fpolicyPolicyEnabled: inUse(
    undefined,
    'The FPolicy policy "{policy}" is enabled. Disable it first.',
    'Disable the policy first.',
    { code: '9765031' },
  ),
  fpolicyEngineEnabled: inUse(
    'name',
    'The enabled FPolicy policy "{policy}" uses the engine. Disable the policy first.',
    'Disable the policy first.',
    { code: '9764942' },
  ),
  fpolicyEngineInUse: inUse(
    'name',
    'The FPolicy policy "{policy}" uses the engine.',
    'Give the policy another engine first.',
    { code: '9764940' },
  ),
  fpolicyEngineReserved: invalid(
    'name',
    '"native" is the built-in engine. Choose another name.',
    'Choose another name.',
    { code: '9764953' },
  ),
  fpolicyServersMissing: badValue('primary_servers', 'it needs one server at least.', 'Give at least one server.'),
  fpolicyServerTwice: invalid('secondary_servers', 'A server is given twice.', 'Give each server once.', {
    code: '9764885',
  }),
  fpolicyCertificateIncomplete: invalid(
    'certificate.name',
    'mutual_auth needs the name, the serial number and the CA of a certificate.',
    'Give name, serial number and CA of the certificate.',
    { code: '9765011' },
  ),
  fpolicyResiliencyFolderMissing: invalid(
    'resiliency.directory_path',
    'Resiliency needs a folder for its files.',
    'Give resiliency a folder.',
    { code: '9765012' },
  ),
  fpolicyProtocolMissing: invalid('protocol', 'Operations and filters need a protocol.', 'Give the event a protocol.', {
    code: '9764946',
  }),
  fpolicyOperationMissing: invalid(
    'file_operations',
    'A protocol needs one operation at least.',
    'Give at least one file operation.',
    { code: '9764946' },
  ),
  fpolicyOperationUnknown: invalid(
    'file_operations.{name}',
    '{protocol} has no such operation to watch.',
    'Choose operations of the protocol.',
    { code: '9764929' },
  ),
  fpolicyFilterUnknown: invalid(
    'filters.{name}',
    'There is no such filter of {protocol}.',
    'Choose filters of the protocol.',
    { code: '9764955', errno: errno.objectNotFound },
  ),
  fpolicyFilterNeedless: invalid(
    'filters.{name}',
    'The filter applies to none of the operations.',
    'Leave the filter out, or add an operation that it applies to.',
    { code: '9764930' },
  ),
  fpolicyEventInUse: inUse(
    'name',
    'The FPolicy policy "{policy}" uses the event.',
    'Remove the event from the policy first.',
    { code: '9764947' },
  ),
  fpolicyNameTaken: duplicate('An {noun} of that name', 'name'),
  fpolicyLimitReached: invalid(
    undefined,
    'The SVM has {max} of these, which is the limit.',
    'Delete some of them first.',
  ),
  fpolicyPoliciesTooLong: invalid(
    undefined,
    'The FPolicy policies of the SVM would have more than {max} characters together.',
    'Shorten their lists of scopes and events, or delete policies.',
  ),
  fpolicyPriorityNeedless: invalid(
    'priority',
    'A policy that is disabled has no priority.',
    'Leave the priority out, or enable the policy.',
    { code: '9765025' },
  ),
  fpolicyPolicyEnabledChange: inUse(
    'enabled',
    'The policy is enabled. Disable it first.',
    'Disable the policy first.',
    { code: '9764899' },
  ),
  fpolicyPolicyEnabledDelete: inUse(
    'enabled',
    'The policy is enabled. Disable it first.',
    'Disable the policy first.',
    { code: '9764900' },
  ),
  fpolicyEventNotFound: invalid('events', 'The SVM has no FPolicy event "{name}".', 'Make the event first.', {
    code: '9764875',
    errno: errno.objectNotFound,
  }),
  fpolicyEngineNotFound: invalid('engine.name', 'The SVM has no FPolicy engine "{engine}".', 'Make the engine first.', {
    code: '9764888',
    errno: errno.objectNotFound,
  }),
  fpolicyUserMissing: invalid(
    'privileged_user',
    'passthrough_read needs a privileged user.',
    'Name a privileged user.',
    { code: '9765038' },
  ),
  fpolicyPriorityMissing: invalid('priority', 'An enabled policy needs a priority.', 'Give the policy a priority.', {
    code: '9765026',
  }),
  fpolicyScopeMissing: invalid(
    'scope',
    'The policy has no scope. Give it a scope first.',
    'Give the policy a scope first.',
    { code: '9764898' },
  ),
  fpolicyPriorityTaken: invalid('priority', 'The policy "{policy}" has this priority.', 'Choose another priority.', {
    code: '9765027',
  }),
} as const
