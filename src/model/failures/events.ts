/** Failures of event filters and destinations. */
import { errno } from './errno.ts'
import { badValue, duplicate, inUse, invalid } from './forms.ts'

export const events = {
  filterSeverityUnknown: invalid(
    'rules.message_criteria.severities',
    '"{word}" is none of {known}. Separate several with commas.',
    'Choose severities of these.',
    { code: '983128' },
  ),
  filterTrapTypeUnknown: invalid(
    'rules.message_criteria.snmp_trap_types',
    '"{word}" is none of {known}. Separate several with commas.',
    'Choose trap types of these.',
    { code: '983146' },
  ),
  eventDestinationTaken: duplicate('An event destination named "{name}"', 'name'),
  trapDestinationUnfit: badValue(
    'type',
    'the one destination of traps is "snmp-traphost"; add hosts at /support/snmp/traphosts.',
    'Add trap hosts at /support/snmp/traphosts.',
  ),
  builtInEventDestination: inUse(
    undefined,
    'The destination is built in and cannot be deleted.',
    'Delete other destinations.',
    { code: '983152' },
  ),
  eventDestinationFieldUnfit: invalid(
    '{field}',
    'A destination of the type {type} takes no "{field}".',
    'Leave the field out.',
  ),
  eventFilterUnknown: invalid(
    'filters.name',
    'There is no event filter "{name}".',
    'Name an event filter that exists.',
    { code: '262185', errno: errno.objectNotFound },
  ),
  eventFilterTwice: badValue('filters', 'it has a filter twice.', 'Name each filter once.'),
  eventDestinationReserved: badValue('destination', 'it is that of the trap hosts.', 'Choose another destination.'),
  filterRuleIndexGap: invalid(
    'rules.index',
    'The filter has the rules 1 to {count}; there is no rule {index}.',
    'Number the rules from 1 on, without gaps.',
    { code: '983095' },
  ),
  filterRuleWithoutCriteria: invalid(
    'rules.message_criteria',
    'A rule needs a name_pattern, severities, trap types or parameters.',
    'Give the rule a criterion.',
    { code: '983126' },
  ),
  eventFilterNameTaken: duplicate('An event filter named "{name}"', 'name'),
  eventFilterLimitReached: invalid(
    undefined,
    'The cluster has {max} event filters, which is the limit.',
    'Delete event filters first.',
    { code: '983114' },
  ),
  eventFilterInUse: inUse(
    undefined,
    'The destination "{destination}" uses the filter. Remove the filter from the destination first.',
    'Remove the filter from the destination first.',
    { code: '983124' },
  ),
  builtInEventFilter: inUse(
    undefined,
    'The event filter is built in and cannot be changed.',
    'Make a filter of your own.',
    { code: '983113' },
  ),
  filterRuleIndexTooHigh: invalid(
    'index',
    'The filter has {count} rules; the next one is {next}.',
    'Choose an index up to the next one.',
    { code: '983095' },
  ),
  lastFilterRule: inUse(
    'index',
    'The last rule excludes all other events and cannot be changed.',
    'Change the rules before it.',
    { code: '983110' },
  ),
  filterRuleLimitReached: invalid(
    undefined,
    'The filter has {max} rules, which is the limit.',
    'Delete rules of the filter first.',
    { code: '983115' },
  ),
} as const
