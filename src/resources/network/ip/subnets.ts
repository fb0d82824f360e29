import { type Behaviour, define, type Derivation } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { plainCreate, plainModify, plainRemove } from '../../../core/plain.ts'
import { familyOf, fromNumber, isWithin } from '../../../model/addresses.ts'
import { failure } from '../../../model/failure.ts'
import { address, count, each, flag, name, netmask, oneOf, uuid } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import type { Row } from '../../../model/value.ts'
import { BROADCAST_DOMAINS, DEFAULT, INTERFACES, NETWORK_LOCK, SUBNETS } from '../names.ts'
import {
  type AddressRange,
  addressesIn,
  freeOf,
  numbered,
  type NumberedAddress,
  settleRanges,
  takenIn,
} from './ranges.ts'
import type { RowOf, NewOf } from '../../../model/rows.ts'

/** Ranges that one subnet has. */
const RANGES_MAX = 256
const SUBNETS_MAX = 4096

const family = oneOf({ ipv4: 'IPv4.', ipv6: 'IPv6.' })
const rangeKind = each(
  {
    start: { kind: address(), doc: 'The first IP address of the range.', required: true },
    end: { kind: address(), doc: 'The last IP address of the range.', required: true },
    family: { kind: family, doc: 'The address family of the range.' },
  },
  { elementsMax: RANGES_MAX },
)

const COUNTS = ['available_ip_ranges', 'available_count', 'used_count', 'total_count'] as const

/** Which addresses of the ranges network interfaces have. */
const use: Derivation<RowOf<'network/ip/subnets'>> = {
  gives: COUNTS,
  async from(cluster, rows, once) {
    const addresses = await once('addresses', () => addressesTaken(cluster))
    return rows.map((row): Row => {
      const ranges = rangesOf(row).map((range) => ({ range, taken: takenIn(range, addresses) }))
      const used = ranges.reduce((sum, { taken }) => sum + taken.length, 0)
      const total = ranges.reduce((sum, { range }) => sum + addressesIn(range), 0n)
      return {
        available_ip_ranges: ranges.flatMap(({ range, taken }) => freeOf(range, taken)),
        used_count: used,
        available_count: shown(total - BigInt(used)),
        total_count: shown(total),
      }
    })
  },
}

/** Networks of IPv6 have more addresses than a number of JSON tells apart. */
function shown(count: bigint): number {
  return Number(count > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : count)
}

async function addressesTaken(cluster: Cluster): Promise<readonly NumberedAddress[]> {
  return numbered((await cluster.rows(INTERFACES)).map((row) => row['ip.address']))
}

const subnetsResource = resource({
  path: '/network/ip/subnets',
  noun: 'subnet',
  doc: 'Subnets hold the addresses of a broadcast domain that network interfaces can use.',
  since: '9.11.1',
  key: ['uuid'],
  parent: 'broadcast_domain.uuid',
  nameWithin: 'ipspace.uuid',
  columns: [
    'name',
    'subnet.address',
    'subnet.netmask',
    'gateway',
    'broadcast_domain.name',
    'available_count',
    'total_count',
  ],
  form: {
    Subnet: [
      'name',
      'ipspace.name',
      'broadcast_domain.name',
      'subnet.address',
      'subnet.netmask',
      'gateway',
      'ip_ranges',
    ],
  },
  removal: 'undoable',
  within: { broadcast_domain: 'blocks' },
  fields: {
    uuid: { doc: 'The UUID of the subnet.', kind: uuid() },
    name: {
      doc: 'The name of the subnet.',
      kind: name({
        pattern: /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/,
        patternDoc: 'letters, digits, "_", "-" and ".", not beginning with "-" or "."',
      }),
      set: 'always',
      required: true,
    },
    ipspace: { doc: 'The IPspace of the subnet.', ref: 'network/ipspaces', set: 'create', default: DEFAULT },
    broadcast_domain: {
      doc: 'The broadcast domain of the subnet.',
      ref: BROADCAST_DOMAINS,
      set: 'create',
      required: true,
    },
    subnet: { doc: 'The network of the subnet.', isGroup: true },
    'subnet.address': { doc: 'An IP address in the subnet.', kind: address(), set: 'always', required: true },
    'subnet.netmask': {
      doc: 'The prefix length or the netmask of the subnet.',
      kind: netmask(),
      set: 'always',
      required: true,
    },
    'subnet.family': { doc: 'The address family of the subnet.', kind: family },
    gateway: { doc: 'The IP address of the router of the subnet.', kind: address(), set: 'always' },
    ip_ranges: { doc: 'The address ranges that network interfaces can use.', kind: rangeKind, set: 'always' },
    fail_if_lifs_conflict: {
      doc: 'Whether a range is refused if a network interface already uses one of the addresses.',
      kind: flag(),
      set: 'always',
    },
    available_ip_ranges: { doc: 'The address ranges that no network interface uses.', kind: rangeKind },
    available_count: { doc: 'The number of addresses that no network interface uses.', kind: count() },
    used_count: { doc: 'The number of addresses that network interfaces use.', kind: count() },
    total_count: { doc: 'The number of addresses in all ranges.', kind: count() },
  },
})

export const subnets: Behaviour<typeof subnetsResource> = define(subnetsResource, {
  derive: [
    {
      gives: ['subnet.family'],
      from: (_cluster, rows) =>
        Promise.resolve(rows.map((row) => ({ 'subnet.family': familyOf(row['subnet.address']) }))),
    },
    use,
  ],
  create: {
    ...plainCreate(SUBNETS, {
      example: {
        name: 'office',
        broadcast_domain: { name: DEFAULT },
        subnet: { address: '192.0.2.0', netmask: '24' },
        gateway: '192.0.2.1',
        ip_ranges: [{ start: '192.0.2.10', end: '192.0.2.99' }],
      },
      check: (cluster, row) => settled(cluster, row, { isStrict: row['fail_if_lifs_conflict'] !== false }),
    }),
    alone: () => [NETWORK_LOCK],
  },
  modify: plainModify(SUBNETS, {
    // Interfaces that were given addresses of it since do not stand in the way of other changes.
    check: (cluster, row) => settled(cluster, row, { isStrict: row['fail_if_lifs_conflict'] === true }),
  }),
  remove: plainRemove(SUBNETS),
})

/** Ranges in order and without overlap, all within the network. */
async function settled(
  cluster: Cluster,
  row: NewOf<'network/ip/subnets'>,
  { isStrict }: { readonly isStrict: boolean },
): Promise<Row> {
  // It may have gone before the lock was given.
  const domain = await cluster.row(BROADCAST_DOMAINS, row['broadcast_domain.uuid'])
  if (domain['ipspace.uuid'] !== row['ipspace.uuid']) {
    throw failure('subnetIpspaceMismatch')
  }
  const [network, prefix] = [row['subnet.address'], Number(row['subnet.netmask'])]
  if (familyOf(network) === 'ipv4' && prefix > 32) {
    throw failure('subnetPrefixTooLong')
  }
  const gateway = row['gateway'] ?? ''
  if (gateway !== '' && !isWithin(gateway, network, prefix)) {
    throw failure('gatewayOutside', { gateway, network, prefix })
  }
  const { fail_if_lifs_conflict: _asked, ...rest } = row
  const ranges = settleRanges(rangesOf(row), network, prefix)
  const others = (await cluster.rows(SUBNETS)).filter((other) => other['uuid'] !== row['uuid'])
  if (others.length >= SUBNETS_MAX) {
    throw failure('clusterLimitReached', { max: SUBNETS_MAX, things: 'subnets' })
  }
  const clash = others.find(
    (other) =>
      other['ipspace.uuid'] === row['ipspace.uuid'] &&
      (isWithin(network, other['subnet.address'], Number(other['subnet.netmask'])) ||
        isWithin(other['subnet.address'], network, prefix)),
  )
  if (clash !== undefined) {
    throw failure('subnetsOverlap', { subnet: clash['name'], network, prefix })
  }
  if (isStrict) await insistOnFree(cluster, ranges)
  return { ...rest, ip_ranges: ranges }
}

async function insistOnFree(cluster: Cluster, ranges: readonly AddressRange[]): Promise<void> {
  const addresses = await addressesTaken(cluster)
  const [taken] = ranges.flatMap((range) => takenIn(range, addresses))
  if (taken === undefined) return
  const address = fromNumber(taken.number, taken.family)
  throw failure('subnetRangeInUse', { address })
}

function rangesOf(row: NewOf<'network/ip/subnets'>): readonly AddressRange[] {
  const ranges = row['ip_ranges']
  return Array.isArray(ranges) ? ranges : []
}
