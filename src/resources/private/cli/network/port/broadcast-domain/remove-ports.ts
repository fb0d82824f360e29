import { spells } from '../../../../../../core/action.ts'
import { type Behaviour, define } from '../../../../../../core/behaviour.ts'
import { failure } from '../../../../../../model/failure.ts'
import { list, text } from '../../../../../../model/kinds/index.ts'
import { resource } from '../../../../../../model/resource.ts'
import { textOf } from '../../../../../../model/value.ts'
import { domainNamed } from '../../../../../network/ethernet/ports.ts'
import { removePorts } from '../../../../../network/ethernet/remove-ports.ts'
import { BROADCAST_DOMAINS, DEFAULT } from '../../../../../network/names.ts'

/** Other resources only know how to bring a port into another broadcast domain; tools send this to leave it in none. */
const portsTakenOutResource = resource({
  path: '/private/cli/network/port/broadcast-domain/remove-ports',
  noun: 'broadcast domain',
  doc: 'Removes ports from a broadcast domain.',
  key: [],
  nameWithin: false,
  fields: {
    ports: { doc: 'The ports to remove, each as node and port: `node1:eth0`.', kind: list(text()), set: 'modify' },
  },
})

export const portsTakenOut: Behaviour<typeof portsTakenOutResource> = define(portsTakenOutResource, {
  rows: () => Promise.resolve([{}]),
  modify: spells(BROADCAST_DOMAINS, 'remove_ports', {
    action: removePorts,
    example: { ports: ['node1:eth0'] },
    exampleArgs: [{ broadcast_domain: 'Default' }],
    args: {
      broadcast_domain: { doc: 'The name of the broadcast domain.', kind: text() },
      ipspace: { doc: 'The name of the IPspace. Default: the built-in IPspace.', kind: text(), default: DEFAULT },
    },
    async named(cluster, { draft, args }) {
      const { broadcast_domain: domain = '', ipspace } = args
      if (domain === '') throw failure('fieldRequired', { field: 'broadcast-domain' })
      const row = await cluster.row(BROADCAST_DOMAINS, await domainNamed(cluster, textOf(domain), textOf(ipspace)))
      return { row, args: { ports: draft['ports'] ?? [] } }
    },
  }),
})
