import { type Behaviour, define, type Derivation } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { plainCreate, plainRemove, type PlainOptions } from '../../../core/plain.ts'
import { familyOf, isWithin } from '../../../model/addresses.ts'
import { failure } from '../../../model/failure.ts'
import { address, count, each, group, netmask, oneOf, text, uuid } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import type { Row } from '../../../model/value.ts'
import { DEFAULT, INTERFACES, IPSPACES, NETWORK_LOCK, ROUTES } from '../names.ts'
import type { DraftOf, NewOf, RowOf } from '../../../model/rows.ts'

const METRIC = 20
const ROUTES_MAX = 4096

const family = oneOf({ ipv4: 'IPv4.', ipv6: 'IPv6.' })

type Route = RowOf<'network/ip/routes'>

/** The network interfaces that reach the gateway without a router. */
const reaching: Derivation<Route> = {
  gives: ['interfaces'],
  async from(cluster, rows) {
    const interfaces = await cluster.rows(INTERFACES)
    return rows.map((row): Row => {
      const found = interfaces.filter(
        (one) =>
          one['svm.uuid'] === row['svm.uuid'] &&
          isWithin(row['gateway'], one['ip.address'], Number(one['ip.netmask'] ?? 0)),
      )
      if (found.length === 0) return {}
      return {
        interfaces: found.map((one) => ({
          name: one['name'] ?? '',
          uuid: one['uuid'] ?? '',
          ip: { address: one['ip.address'] ?? '' },
        })),
      }
    })
  },
}

const options: PlainOptions<Route, NewOf<'network/ip/routes'>> = {
  example: { destination: { address: '198.51.100.0', netmask: '24' }, gateway: '127.0.0.254' },
  async check(cluster, row) {
    const gateway = row['gateway']
    const anywhere = familyOf(gateway) === 'ipv4' ? '0.0.0.0' : '::'
    const destination = row['destination.address'] || anywhere
    const of = familyOf(destination)
    const prefix = row['destination.netmask'] ?? (destination === anywhere ? '0' : undefined)
    if (prefix === undefined) throw failure('fieldRequired', { field: 'destination.netmask' })
    const given = row['destination.family'] ?? ''
    if (given !== '' && given !== of) {
      throw failure('routeFamilyMismatch', { destination, family: given })
    }
    if (familyOf(gateway) !== of) {
      throw failure('gatewayFamilyMismatch', { gateway, destination, family: of })
    }
    if (of === 'ipv4' && Number(prefix) > 32) {
      throw failure('routePrefixTooLong')
    }
    if ((await cluster.rows(ROUTES)).length >= ROUTES_MAX) {
      throw failure('clusterLimitReached', { max: ROUTES_MAX, things: 'routes' })
    }
    const svm = row['svm.uuid'] ?? ''
    const space = await spaceOf(cluster, row)
    // It may have gone before the lock was given.
    await cluster.row(IPSPACES, space)
    return {
      ...row,
      'ipspace.uuid': space,
      'destination.address': destination,
      'destination.netmask': prefix,
      'destination.family': of,
      scope: svm === '' ? 'cluster' : 'svm',
    }
  },
  unique: (row) => ({
    gateway: (['svm.uuid', 'ipspace.uuid', 'destination.address', 'destination.netmask', 'gateway'] as const)
      .map((path) => row[path] ?? '')
      .join('/'),
  }),
}

/** That of its SVM; of the cluster's own routes the one that is named, or the usual one. */
async function spaceOf(cluster: Cluster, route: DraftOf<'network/ip/routes'>): Promise<string> {
  const { 'svm.uuid': svm = '', 'ipspace.uuid': named = '' } = route
  if (svm === '') return named || ((await cluster.keyOfName(IPSPACES, DEFAULT)) ?? '')
  const space = (await cluster.row('svm/svms', svm))['ipspace.uuid'] ?? ''
  if (named !== '' && named !== space) throw failure('routeIpspaceMismatch')
  return space
}

const routesResource = resource({
  path: '/network/ip/routes',
  noun: 'route',
  doc: 'Routes to other networks. Stored without effect: the machine has its own routing table.',
  key: ['uuid'],
  parent: 'svm.uuid',
  nameWithin: false,
  columns: ['destination.address', 'destination.netmask', 'gateway', 'svm.name', 'metric'],
  form: { Route: ['svm.name', 'destination.address', 'destination.netmask', 'gateway', 'metric'] },
  removal: 'undoable',
  within: { ipspace: 'blocks' },
  fields: {
    uuid: { doc: 'The UUID of the route.', kind: uuid() },
    svm: { doc: 'The SVM that owns the route. Default: the cluster.', ref: 'svm/svms', set: 'create' },
    scope: {
      doc: 'Whether the route belongs to an SVM or to the cluster.',
      kind: oneOf({ svm: 'The route belongs to an SVM.', cluster: 'The route belongs to the cluster.' }),
    },
    ipspace: { doc: 'The IPspace of the route.', ref: IPSPACES, set: 'create' },
    destination: { doc: 'The network that the route leads to.', isGroup: true },
    'destination.address': {
      doc: 'An IP address in the destination network. Default: any network.',
      kind: address(),
      set: 'create',
    },
    'destination.netmask': {
      doc: 'The prefix length or the netmask of the destination network. 0: any network.',
      kind: netmask({ min: 0 }),
      set: 'create',
    },
    'destination.family': { doc: 'The address family of the destination network.', kind: family, set: 'create' },
    gateway: { doc: 'The IP address of the router.', kind: address(), set: 'create', required: true },
    metric: {
      doc: 'The metric of the route: the number by which routes are chosen. The route with the lowest metric is used.',
      kind: count({ min: 0, max: 4_294_967_295 }),
      set: 'create',
      default: METRIC,
      since: '9.11.1',
    },
    interfaces: {
      doc: 'The network interfaces that can use the route.',
      kind: each({
        name: { kind: text(), doc: 'The name of the interface.' },
        uuid: { kind: uuid(), doc: 'The UUID of the interface.' },
        ip: {
          kind: group({ address: { kind: address(), doc: 'The IP address of the interface.' } }),
          doc: 'The address of the interface.',
        },
      }),
      since: '9.9.1',
    },
  },
})

export const routes: Behaviour<typeof routesResource> = define(routesResource, {
  derive: [reaching],
  create: { ...plainCreate(ROUTES, options), alone: () => [NETWORK_LOCK] },
  remove: plainRemove(ROUTES, options),
})
