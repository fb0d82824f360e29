import { count, flag, oneOf, text, time } from '../../../model/kinds/index.ts'
import { type FieldDeclaration, groups } from '../../../model/resource.ts'
import { emptyCollection } from '../../empty-collection.ts'

const COUNTED = { discards: 'dropped packets', errors: 'packets with an error', packets: 'packets' } as const
const DIRECTIONS = { receive: 'received', transmit: 'sent' } as const

const counters: Readonly<Record<string, FieldDeclaration>> = Object.fromEntries(
  Object.entries(DIRECTIONS).flatMap(([direction, verb]) =>
    Object.entries(COUNTED).map(([what, doc]): [string, FieldDeclaration] => [
      `statistics.${direction}_raw.${what}`,
      { doc: `The number of ${doc} that the port ${verb} so far.`, kind: count() },
    ]),
  ),
)

export const switchPorts = emptyCollection({
  path: '/network/ethernet/switch/ports',
  noun: 'switch port',
  doc: 'Ports of the switches between nodes. The product monitors no switches, so the collection is empty.',
  since: '9.8',
  key: ['switch.name', 'identity.name'],
  fields: {
    ...groups({
      switch: 'The switch that has the port.',
      identity: 'Name and type of the port.',
      statistics: 'Packets of the port so far.',
      'statistics.receive_raw': 'Packets received.',
      'statistics.transmit_raw': 'Packets sent.',
    }),
    'switch.name': { doc: 'The name of the switch.' },
    'identity.name': { doc: 'The name of the port.' },
    'identity.type': { doc: 'Interface type of the port.', kind: text() },
    configured: {
      doc: 'Whether the port is switched on.',
      kind: oneOf({ up: 'The port is enabled.', down: 'The port is disabled.', unknown: 'The state is not known.' }),
    },
    state: {
      doc: 'Whether the link is up.',
      kind: oneOf({ up: 'The link is up.', down: 'The link is down.', unknown: 'The state is not known.' }),
    },
    isl: { doc: 'Whether the port leads to another switch.', kind: flag() },
    speed: { doc: 'The speed of the link in megabits per second.', kind: count() },
    mtu: { doc: 'The largest packet in bytes.', kind: count({ unit: 'bytes' }) },
    'statistics.timestamp': { doc: 'When the counters were read.', kind: time() },
    ...counters,
  },
})
