/** Failures of networks. */
import { errno } from './errno.ts'
import { badValue, duplicate, inUse, invalid } from './forms.ts'

export const network = {
  broadcastDomainHasPort: inUse(
    undefined,
    'The broadcast domain contains the port "{node}:{port}". Remove the port first.',
    'Remove the port first.',
  ),
  broadcastDomainHasSubnet: inUse(
    undefined,
    'The broadcast domain contains the subnet "{subnet}". Delete the subnet first.',
    'Delete the subnet first.',
  ),
  broadcastDomainUuidUnknown: invalid(
    'broadcast_domain.uuid',
    'There is no broadcast domain "{uuid}".',
    'Name a broadcast domain that exists.',
    { code: '262185', errno: errno.objectNotFound },
  ),
  broadcastDomainMismatch: invalid(
    'broadcast_domain.name',
    'The name and the UUID are those of different broadcast domains.',
    'Send the name or the UUID, or both of one broadcast domain.',
  ),
  portIpspaceUnknown: invalid(
    'broadcast_domain.ipspace.name',
    'There is no IPspace "{ipspace}".',
    'Name an IPspace that exists.',
    { code: '262185', errno: errno.objectNotFound },
  ),
  broadcastDomainUnknown: invalid(
    'broadcast_domain.name',
    'There is no broadcast domain "{domain}" in the IPspace "{ipspace}".',
    'Name a broadcast domain of the IPspace.',
    { code: '262185', errno: errno.objectNotFound },
  ),
  interfaceAddressTaken: duplicate('An interface with that address', 'ip.address', { code: '1376963' }),
  locationUnknown: invalid('{field}', 'There is no {noun} "{name}".', 'Name one that exists.', {
    errno: errno.objectNotFound,
  }),
  ipRangeOutside: badValue(
    'ip_ranges',
    '{address} is not in the network {network}/{prefixLength}.',
    'Choose addresses of the network.',
  ),
  ipRangeReversed: badValue('ip_ranges', '{range} ends before it begins.', 'Give the lower address first.'),
  ipRangesOverlap: badValue('ip_ranges', '{range} overlaps with {start}-{end}.', 'Give ranges that do not overlap.'),
  routeFamilyMismatch: invalid(
    'destination.family',
    '{destination} is not of the family {family}.',
    'Give an address of the family, or leave the family out.',
    { code: '1967080' },
  ),
  gatewayFamilyMismatch: badValue(
    'gateway',
    '{gateway} is not of the family of {destination}, which is {family}.',
    'Give a gateway of the same family.',
  ),
  routePrefixTooLong: badValue(
    'destination.netmask',
    'an IPv4 network has a prefix of 32 bits at most.',
    'Give a prefix of at most 32 bits.',
  ),
  routeIpspaceMismatch: badValue(
    'ipspace',
    'the SVM is in another one.',
    'Leave the IPspace out, or name that of the SVM.',
  ),
  subnetIpspaceMismatch: badValue(
    'ipspace.name',
    'the broadcast domain is in another IPspace. Name that.',
    'Name the IPspace of the broadcast domain.',
  ),
  subnetPrefixTooLong: badValue(
    'subnet.netmask',
    'an IPv4 network has a prefix of 32 bits at most.',
    'Give a prefix of at most 32 bits.',
  ),
  gatewayOutside: badValue(
    'gateway',
    '{gateway} is not in the network {network}/{prefix}.',
    'Give a gateway within the network.',
  ),
  subnetsOverlap: invalid(
    'subnet.address',
    'The subnet "{subnet}" overlaps with {network}/{prefix}.',
    'Choose a network that overlaps with no other subnet.',
  ),
  subnetRangeInUse: invalid(
    'ip_ranges',
    'A network interface uses the address {address}. Send fail_if_lifs_conflict=false to accept the conflict.',
    'Send fail_if_lifs_conflict=false to accept the conflict.',
  ),
  builtInIpspaceRename: inUse('name', 'The IPspace is built in and cannot be renamed.', 'Make another IPspace.', {
    code: '1377259',
  }),
  builtInIpspaceDelete: inUse(undefined, 'The IPspace is built in and cannot be deleted.', 'Delete other IPspaces.', {
    code: '1966333',
  }),
  ipspaceInUse: inUse(
    undefined,
    'The IPspace has the {noun} "{name}". Delete that first.',
    'Delete its ports, subnets and SVMs first.',
    { code: '1969180' },
  ),
  portNotInDomain: badValue(
    'ports',
    'the broadcast domain has no port "{port}".',
    'Name ports of the broadcast domain.',
  ),
} as const
