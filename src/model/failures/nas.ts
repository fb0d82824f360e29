/** Failures of NFS and CIFS. */
import { errno } from './errno.ts'
import { badValue, duplicate, inUse, invalid, notFound } from './forms.ts'

export const nas = {
  exportClientTwice: invalid('clients.match', 'The client "{client}" is given twice.', 'Give each client once.', {
    code: '1704050',
  }),
  exportNetgroupMissing: invalid(
    'clients.match',
    'The client "{client}" lacks the name of a netgroup.',
    'Give the name of the netgroup after "@".',
    { code: '1704038' },
  ),
  exportDomainMissing: invalid(
    'clients.match',
    'The client "{client}" lacks the name of a domain.',
    'Give the name of the domain after ".".',
    { code: '1704036' },
  ),
  exportDomainMalformed: invalid(
    'clients.match',
    'The client "{client}" is not a domain.',
    'Give a domain such as .example.com.',
    { code: '1704045' },
  ),
  exportClientMalformed: invalid(
    'clients.match',
    'The client "{client}" is none of host, address, network, domain and netgroup.',
    'Give one of these.',
    { code: '1704044' },
  ),
  exportAddressMalformed: invalid(
    'clients.match',
    'The client "{client}" is not an address.',
    'Give a whole address.',
    { code: '1704039' },
  ),
  exportNetworkMissing: invalid(
    'clients.match',
    'The client "{client}" lacks the address of a network.',
    'Give the address of the network before "/".',
    { code: '1704037' },
  ),
  exportNetworkMalformed: invalid(
    'clients.match',
    'The client "{client}" is not a network.',
    'Give a network such as 192.0.2.0/24.',
    { code: '1704039' },
  ),
  exportMaskMalformed: invalid(
    'clients.match',
    'The client "{client}" has no valid mask.',
    'Give a mask of the network after "/".',
    { code: '1704043' },
  ),
  exportBitsOutsideMask: invalid(
    'clients.match',
    'The client "{client}" has bits outside its mask.',
    'Give the address of the network itself.',
    { code: '1704040' },
  ),
  cifsAccountLimit: invalid(
    undefined,
    'The CIFS server has {max} users and groups, which is the limit.',
    'Delete users or groups first.',
  ),
  cifsTlsTwice: invalid(
    'security.use_start_tls',
    'Either use_ldaps or use_start_tls, not both.',
    'Enable use_ldaps or use_start_tls, not both.',
  ),
  cifsServerTaken: duplicate('A CIFS server of the SVM', 'svm.uuid', { code: '655446' }),
  cifsServerRunning: inUse(
    'name',
    'A running CIFS server keeps its name. Stop it first, or use force.',
    'Stop the CIFS server first, or use force.',
  ),
  cifsServerMissing: invalid('svm.uuid', 'The SVM has no CIFS server. Make one first.', 'Make a CIFS server first.', {
    code: '655449',
  }),
  sharePathMalformed: invalid(
    'path',
    'The path of a share begins with "/"; that of home directories alone may not.',
    'Begin the path with "/".',
    { code: '655577' },
  ),
  shareLimitReached: invalid(
    undefined,
    'The SVM has {max} shares, which is the limit.',
    'Delete shares of the SVM first.',
  ),
  shareAclTaken: duplicate('An entry for {account}', 'user_or_group'),
  shareNotFound: notFound('CIFS share', 'share'),
  cifsPrivilegeLimit: invalid(
    undefined,
    'The CIFS server has reached the limit of {max}.',
    'Delete some of them first.',
  ),
  defaultExportPolicyDelete: inUse(
    'name',
    'The default export policy is deleted with its SVM only.',
    'Delete the SVM, or keep the policy.',
    { code: '1703947' },
  ),
  exportPolicyNotFound: notFound('export policy', 'id'),
  exportPolicyNameTaken: duplicate('An export policy named "{name}"', 'name', { code: '1703953' }),
  exportPolicyInUse: inUse(
    undefined,
    'The {noun} "{name}" uses the export policy. Give it another policy first.',
    'Give it another export policy first.',
    { code: '1703945' },
  ),
  exportClientTaken: duplicate('A client like this', 'match'),
  exportRuleNotFound: notFound('rule of the export policy', 'index'),
  exportRuleLimitReached: invalid(
    undefined,
    'The export policy has {max} rules, which is the limit.',
    'Delete rules of the export policy first.',
  ),
  exportRuleTaken: duplicate('A rule like this', 'clients', { code: '1704070' }),
  exportRuleListEmpty: badValue('{field}', 'it needs one element at least.', 'Give the list at least one element.'),
  exportPolicyUnknown: invalid('{path}', 'There is no export policy "{name}".', 'Name an export policy of the SVM.', {
    code: '1703954',
    errno: errno.objectNotFound,
  }),
  exportPolicyMismatch: invalid(
    '{path}',
    '"{base}.name" and "{base}.id" are different export policies.',
    'Send the name or the id, or both of one export policy.',
    { code: '1703954' },
  ),
  nfsTransportMissing: invalid('transport', 'An enabled NFS service needs TCP or UDP.', 'Enable TCP or UDP.', {
    code: '3276994',
  }),
  nfsServiceTaken: duplicate('An NFS service of the SVM', 'svm.uuid', { code: '3276916' }),
} as const
