import { type Acting, action } from '../../../core/action.ts'
import { failure } from '../../../model/failure.ts'
import { list, text } from '../../../model/kinds/index.ts'
import type { Fields } from '../../../model/resource.ts'
import { type Row, textAt } from '../../../model/value.ts'
import { NETWORK_LOCK } from '../names.ts'
import { DOMAIN, portRows } from './port-rows.ts'
import { portChange } from './ports.ts'

const args = {
  ports: {
    doc: 'The ports to remove, each as node and port: `node1:eth0`.',
    kind: list(text()),
    required: true,
  },
} as const satisfies Fields

export const removePorts = action({
  doc: 'Removes ports from the broadcast domain, and leaves them in none.',
  danger: 'undoable',
  args,
  example: { ports: ['node1:eth0'] },
  needs: 'a domain with the port node1:eth0',
  plan: (_cluster, { row, args: { ports } }: Acting<'network/ethernet/broadcast-domains', typeof args>) =>
    Promise.resolve({ key: row['uuid'], input: { ports }, locks: [NETWORK_LOCK] }),
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
})
