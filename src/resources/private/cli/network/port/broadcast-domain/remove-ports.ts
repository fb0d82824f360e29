import { type Behaviour, define } from '../../../../../../core/behaviour.ts'
import { inline } from '../../../../../../core/verb.ts'
import { failure } from '../../../../../../model/failure.ts'
import { list, text } from '../../../../../../model/kinds/index.ts'
import { resource } from '../../../../../../model/resource.ts'
import { type Row, textAt } from '../../../../../../model/value.ts'
import { DOMAIN, portRows } from '../../../../../network/ethernet/port-rows.ts'
import { domainNamed, portChange } from '../../../../../network/ethernet/ports.ts'
import { DEFAULT, NETWORK_LOCK } from '../../../../../network/names.ts'

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
  modify: inline({
    example: { ports: ['node1:eth0'] },
    exampleArgs: [{ broadcast_domain: 'Default' }],
    args: {
      broadcast_domain: { doc: 'The name of the broadcast domain.', kind: text() },
      ipspace: { doc: 'The name of the IPspace. Default: the built-in IPspace.', kind: text(), default: DEFAULT },
    },
    async plan(cluster, { draft, args }) {
      const domainName = args.broadcast_domain
      if (domainName === undefined) throw failure('fieldRequired', { field: 'broadcast-domain' })
      const domain = await domainNamed(cluster, domainName, args.ipspace)
      return { key: domain, input: { ports: draft['ports'] ?? [] }, locks: [NETWORK_LOCK] }
    },
    step: {
      name: 'write records',
      async run(cluster, { key, input }) {
        const inside = (await portRows(cluster)).filter((port) => port[DOMAIN] === key)
        const named = (port: Row) => `${textAt(port, 'node.name')}:${textAt(port, 'name')}`
        const asked = input['ports'].map((wanted) => {
          const found = inside.find((port) => named(port) === wanted)
          if (found !== undefined) return textAt(found, 'uuid')
          throw failure('portNotInDomain', { port: wanted.slice(0, 80) })
        })
        const taken = asked.map((port) => portChange(cluster, port, { [DOMAIN]: '' }))
        await cluster.commit(await Promise.all(taken))
      },
    },
  }),
})
