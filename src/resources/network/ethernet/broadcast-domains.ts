import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { belongingChanges } from '../../../core/belongings.ts'
import { plainCreate } from '../../../core/plain.ts'
import { inline } from '../../../core/verb.ts'
import { commitUnused } from '../../../core/within.ts'
import { failure } from '../../../model/failure.ts'
import { count, name, uuid } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { textOf, type Row } from '../../../model/value.ts'
import { BROADCAST_DOMAINS, DEFAULT, IPSPACES, MTU_BYTES, NETWORK_LOCK, SUBNETS } from '../names.ts'
import { DOMAIN, portRows } from './port-rows.ts'
import { qualifiedPorts } from './ports.ts'
import { removePorts } from './remove-ports.ts'

const DOMAINS_MAX = 1024

const broadcastDomainsResource = resource({
  path: '/network/ethernet/broadcast-domains',
  noun: 'broadcast domain',
  doc: 'Broadcast domains group ports that reach each other without a router. Stored without effect: the machine and its switches decide.',
  key: ['uuid'],
  parent: 'ipspace.uuid',
  nameWithin: 'ipspace.uuid',
  columns: ['name', 'ipspace.name', 'mtu', 'ports.name'],
  form: { 'Broadcast domain': ['name', 'ipspace.name', 'mtu'] },
  removal: 'undoable',
  within: { ipspace: 'blocks' },
  fields: {
    uuid: { doc: 'The UUID of the broadcast domain.', kind: uuid() },
    name: {
      doc: 'The name of the broadcast domain.',
      kind: name({
        charactersMax: 253,
        pattern: /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/,
        patternDoc: 'letters, digits, "_", "-" and ".", not beginning with "-" or "."',
      }),
      set: 'always',
      required: true,
    },
    ipspace: { doc: 'The IPspace of the broadcast domain.', ref: 'network/ipspaces', set: 'always', default: DEFAULT },
    mtu: {
      doc: 'The maximum size of a frame in the broadcast domain, in bytes. The ports of the machine are not changed.',
      kind: count({ min: 68, max: 65_535, unit: 'bytes' }),
      set: 'always',
      default: MTU_BYTES,
    },
    ports: { doc: 'The ports in the broadcast domain. To add a port, change the port.', kind: qualifiedPorts },
  },
})

export const broadcastDomains: Behaviour<typeof broadcastDomainsResource> = define(broadcastDomainsResource, {
  derive: [
    {
      gives: ['ports'],
      async from(cluster, rows, once) {
        const all = await once('ports', () => portRows(cluster))
        return rows.map((row) => {
          const inside = all.filter((port) => port[DOMAIN] === row['uuid'])
          if (inside.length === 0) return {}
          return {
            ports: inside.map((port) => ({
              name: textOf(port['name']),
              uuid: textOf(port['uuid']),
              node: { name: textOf(port['node.name']) },
            })),
          }
        })
      },
    },
  ],
  create: {
    ...plainCreate(BROADCAST_DOMAINS, {
      example: { name: 'lab', mtu: 9000 },
      async check(cluster, row) {
        // It may have gone before the lock was given.
        await cluster.row(IPSPACES, row['ipspace.uuid'] ?? '')
        if ((await cluster.rows(BROADCAST_DOMAINS)).length >= DOMAINS_MAX) {
          throw failure('clusterLimitReached', { max: DOMAINS_MAX, things: 'broadcast domains' })
        }
        return row
      },
    }),
    alone: () => [NETWORK_LOCK],
  },
  modify: inline({
    plan: (_cluster, { row, draft }) =>
      Promise.resolve({ key: row['uuid'], input: { ...draft }, locks: [NETWORK_LOCK] }),
    step: {
      name: 'write record',
      async run(cluster, { key, input }) {
        const before = await cluster.row(BROADCAST_DOMAINS, key)
        const after = { ...before, ...input }
        if (after['ipspace.uuid'] !== before['ipspace.uuid']) await insistOnNoSubnets(cluster, key)
        await cluster.commit([cluster.put(BROADCAST_DOMAINS, after)])
      },
    },
  }),
  actions: { remove_ports: removePorts },
  remove: inline({
    plan: (_cluster, { row }) => Promise.resolve({ key: row['uuid'], input: {}, locks: [NETWORK_LOCK] }),
    step: {
      name: 'remove record',
      async run(cluster, { key }) {
        await commitUnused(cluster, BROADCAST_DOMAINS, key, {
          inUse: ({ row }) => stillHas(row),
          changes: async () => {
            await insistOnNoPorts(cluster, key)
            return [
              ...(await belongingChanges(cluster, BROADCAST_DOMAINS, key)),
              { do: 'remove-record', type: BROADCAST_DOMAINS, key },
            ]
          },
        })
      },
    },
  }),
})

async function insistOnNoSubnets(cluster: Cluster, key: string): Promise<void> {
  const [subnet] = await cluster.rows(SUBNETS, key)
  if (subnet !== undefined) throw stillHas(subnet)
}

/** Most ports have no record that names their broadcast domain: nobody has set anything of them. */
async function insistOnNoPorts(cluster: Cluster, key: string): Promise<void> {
  const port = (await portRows(cluster)).find((one) => one[DOMAIN] === key)
  if (port === undefined) return
  throw failure('broadcastDomainHasPort', { node: textOf(port['node.name']), port: textOf(port['name']) })
}

function stillHas(subnet: Row) {
  return failure('broadcastDomainHasSubnet', { subnet: textOf(subnet['name']) })
}
