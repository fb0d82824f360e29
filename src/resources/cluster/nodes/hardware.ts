/**
 * What a node is made of, as far as the machine tells. What only hardware of its own kind has is shown as of a node
 * without it: nothing has failed that is not there, and there is no other node to take over.
 */
import type { Derivation } from '../../../core/behaviour.ts'
import { bytes, count, each, flag, oneOf, only, text, uuid } from '../../../model/kinds/index.ts'
import type { Fields } from '../../../model/resource.ts'
import { type Row, textAt } from '../../../model/value.ts'
import { usual } from '../../usual.ts'

const since = '9.9.1'

const nodeList = each({
  name: { kind: text(), doc: 'Its name.' },
  uuid: { kind: uuid(), doc: 'Its UUID.' },
})

/** Parts of which the machine does not say whether they have failed, or whether there are any. */
const UNSEEN = [
  ['controller.failed_fan', 'fans', 'There are no failed fans.'],
  ['controller.failed_power_supply', 'power supplies', 'There are no failed power supply units.'],
] as const

export const hardwareFields = {
  cluster_interfaces: { doc: 'The addresses at which nodes reach one another. One node needs none.', kind: nodeList },
  serial_number: {
    doc: 'What tells it from all others: its UUID. Machines show theirs to nobody but root.',
    kind: text(),
  },
  system_id: { doc: 'The same.', kind: text(), since: '9.7' },
  controller: { doc: 'The hardware of the node.', isGroup: true },
  'controller.cpu': { doc: 'The processors of the node.', isGroup: true },
  'controller.cpu.count': { doc: 'How many processors programs can use.', kind: count(), since },
  'controller.cpu.processor': { doc: 'The name of the processors.', kind: text(), since },
  'controller.cpu.firmware_release': {
    doc: 'The version of the BIOS, where the machine tells it.',
    kind: text(),
    since,
  },
  'controller.memory_size': { doc: 'Bytes of memory.', kind: bytes(), since },
  'controller.over_temperature': {
    doc: 'Always `normal`: it has no sensors that say otherwise.',
    kind: oneOf('over', 'normal'),
  },
  ...Object.fromEntries(
    UNSEEN.flatMap(([base, parts]) => [
      [`${base}.count`, { doc: `How many of its ${parts} have failed. It knows of none.`, kind: count(), since }],
      [`${base}.message.message`, { doc: 'The same in words.', kind: text(), since }],
    ]),
  ),
  service_processor: { doc: 'The service processor of the node.', isGroup: true },
  'service_processor.state': {
    doc: 'The state of its service processor. There is none, so it is not set.',
    kind: oneOf('online', 'offline', 'unknown'),
  },
  'service_processor.firmware_version': { doc: 'What that runs. Not set, either.', kind: text() },
  ha: { doc: 'High availability: what another node does when this one fails.', isGroup: true },
  'ha.enabled': {
    doc: 'Whether another node takes over when it fails. There is no other.',
    kind: only(false, flag(), 'there is no other node that could take over.'),
    set: 'modify',
  },
  'ha.auto_giveback': { doc: 'Whether it is given back what was taken over.', kind: flag() },
  'ha.partners': { doc: 'The nodes that take over from it.', kind: nodeList },
  'ha.giveback': { doc: 'How far the return of storage to this node is.', isGroup: true },
  'ha.giveback.state': { doc: 'Always `nothing_to_giveback`.', kind: oneOf('nothing_to_giveback'), since: '9.7' },
  'ha.takeover': { doc: 'How far the takeover of the storage of the partner is.', isGroup: true },
  'ha.takeover.state': { doc: 'Always `not_possible`.', kind: oneOf('not_possible'), since: '9.7' },
} as const satisfies Fields

const machine: Derivation = {
  gives: ['controller.cpu', 'controller.memory_size'],
  async from(cluster, rows) {
    const { processors, processorName = null, memoryBytes, firmware = null } = await cluster.machine.facts()
    const facts: Row = {
      'controller.cpu.count': processors,
      'controller.cpu.processor': processorName,
      'controller.cpu.firmware_release': firmware,
      'controller.memory_size': memoryBytes,
    }
    return rows.map(() => facts)
  },
}

const alone: Derivation = usual({
  cluster_interfaces: [],
  'controller.over_temperature': 'normal',
  ...Object.fromEntries(
    UNSEEN.flatMap(([base, , message]) => [
      [`${base}.count`, 0],
      [`${base}.message.message`, message],
    ]),
  ),
  'ha.enabled': false,
  'ha.auto_giveback': false,
  'ha.partners': [],
  'ha.giveback.state': 'nothing_to_giveback',
  'ha.takeover.state': 'not_possible',
})

const identity: Derivation = {
  gives: ['serial_number', 'system_id'],
  from: (_cluster, rows) =>
    Promise.resolve(rows.map((row) => ({ serial_number: textAt(row, 'uuid'), system_id: textAt(row, 'uuid') }))),
}

export const hardwareReadings: readonly Derivation[] = [machine, identity, alone]
