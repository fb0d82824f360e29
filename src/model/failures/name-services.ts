/** Failures of name services. */
import { badValue, duplicate, invalid } from './forms.ts'

export const nameServices = {
  dnsTaken: duplicate('A DNS configuration of that SVM', 'svm.uuid'),
  dnsListEmpty: badValue('{field}', 'it needs at least one.', 'Give the list at least one element.'),
  dnsListRepeats: badValue('{field}', 'it has one of them twice.', 'Give each element once.'),
  ldapServersAndDomain: invalid(
    'ad_domain',
    'Either servers or ad_domain, not both.',
    'Give servers or ad_domain, not both.',
    { code: '4915203' },
  ),
  ldapWithoutServers: invalid('servers', 'Give servers or ad_domain.', 'Give servers or ad_domain.', {
    code: '4915229',
  }),
  ldapTlsTwice: invalid(
    'ldaps_enabled',
    'Either use_start_tls or ldaps_enabled, not both.',
    'Enable use_start_tls or ldaps_enabled, not both.',
    { code: '4915248' },
  ),
  localHostTaken: duplicate('A host with that address', 'address'),
  nameMappingLimit: invalid(
    undefined,
    'The SVM has reached the limit of {max}.',
    'Delete name mappings of the SVM first.',
    { code: '65798173' },
  ),
  nameMappingPatternTaken: invalid(
    'pattern',
    'Another mapping of that direction has this pattern.',
    'Choose another pattern.',
    { code: '65798185' },
  ),
  unixNameMalformed: invalid(
    'name',
    'The name of a {noun} has at most {max} letters, digits and "_.-". Others need skip_name_validation.',
    'Choose another name, or set skip_name_validation.',
    { code: '23724128' },
  ),
  unixNameLimit: invalid(undefined, 'The SVM has reached the limit of {max}.', 'Delete some of them first.', {
    code: '3277051',
  }),
} as const
