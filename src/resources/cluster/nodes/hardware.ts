/**
 * What a node is made of, as far as the machine tells. What only hardware of its own kind has is shown as of a node
 * without it: nothing has failed that is not there, and there is no other node to take over.
 */
import type { Derivation } from '../../../core/behaviour.ts'
import { bytes, count, each, flag, oneOf, only, text, uuid } from '../../../model/kinds/index.ts'
import type { Fields } from '../../../model/resource.ts'
import { fieldsBelow } from '../../../model/fields-below.ts'
import type { DraftOf, RowOf } from '../../../model/rows.ts'
import { usual } from '../../usual.ts'

type Node = RowOf<'cluster/nodes'>

const since = '9.9.1'

const nodeList = each({
  name: { kind: text(), doc: 'The name of the interface or node.' },
  uuid: { kind: uuid(), doc: 'The UUID of the interface or node.' },
})

/** Parts of which the machine does not say whether they have failed, or whether there are any. */
function unseen<const Base extends string>(base: Base, parts: string) {
  return {
    ...fieldsBelow(base, ['count'], () => ({
      doc: `The number of failed ${parts}. Always 0: the machine does not report any.`,
      kind: count(),
      since,
    })),
    ...fieldsBelow(base, ['message.message'], () => ({
      doc: 'A sentence about the failed parts.',
      kind: text(),
      since,
    })),
  }
}

export const hardwareFields = {
  cluster_interfaces: {
    doc: 'The addresses at which nodes reach each other. Always empty: the cluster has one node.',
    kind: nodeList,
  },
  serial_number: {
    doc: 'The serial number of the node. Equal to its UUID: only root can read the one of the machine.',
    kind: text(),
  },
  system_id: { doc: 'The system ID of the node. Equal to its UUID.', kind: text(), since: '9.7' },
  controller: { doc: 'The hardware of the node.', isGroup: true },
  'controller.cpu': { doc: 'The processors of the node.', isGroup: true },
  'controller.cpu.count': { doc: 'The number of processors that programs can use.', kind: count(), since },
  'controller.cpu.processor': { doc: 'The model of the processors.', kind: text(), since },
  'controller.cpu.firmware_release': {
    doc: 'The version of the BIOS, if the machine reports it.',
    kind: text(),
    since,
  },
  'controller.memory_size': { doc: 'The memory of the node in bytes.', kind: bytes(), since },
  'controller.over_temperature': {
    doc: 'Whether the node is too hot. Always `normal`: temperature is not monitored.',
    kind: oneOf({ over: 'The node is too hot.', normal: 'The temperature is normal.' }),
  },
  ...unseen('controller.failed_fan', 'fans'),
  ...unseen('controller.failed_power_supply', 'power supplies'),
  service_processor: { doc: 'The service processor of the node.', isGroup: true },
  'service_processor.state': {
    doc: 'The state of the service processor. Not set: the product sees none.',
    kind: oneOf({
      online: 'The service processor responds.',
      offline: 'The service processor does not respond.',
      unknown: 'The state is not known.',
    }),
  },
  'service_processor.firmware_version': {
    doc: 'The firmware version of the service processor. Not set: the product sees none.',
    kind: text(),
  },
  ha: { doc: 'High availability: what another node does when this one fails.', isGroup: true },
  'ha.enabled': {
    doc: 'Whether another node takes over when the node fails. Always false: the cluster has one node.',
    kind: only(false, flag(), 'there is no other node that could take over.'),
    set: 'modify',
  },
  'ha.auto_giveback': {
    doc: 'Whether storage returns to the node automatically after a takeover. Always false.',
    kind: flag(),
  },
  'ha.partners': { doc: 'The nodes that take over from the node. Always empty.', kind: nodeList },
  'ha.giveback': { doc: 'How far the return of storage to this node is.', isGroup: true },
  'ha.giveback.state': {
    doc: 'The state of the return of storage to the node. Always `nothing_to_giveback`.',
    kind: oneOf({ nothing_to_giveback: 'No storage was taken over.' }),
    since: '9.7',
  },
  'ha.takeover': { doc: 'How far the takeover of the storage of the partner is.', isGroup: true },
  'ha.takeover.state': {
    doc: 'The state of the takeover of the partner. Always `not_possible`.',
    kind: oneOf({ not_possible: 'The node has no partner.' }),
    since: '9.7',
  },
} as const satisfies Fields

const machine: Derivation<Node> = {
  gives: ['controller.cpu', 'controller.memory_size'],
  async from(cluster, rows) {
    const { processors, processorName, memoryBytes, firmware } = await cluster.machine.facts()
    const facts: DraftOf<'cluster/nodes'> = {
      'controller.cpu.count': processors,
      ...(processorName === undefined ? {} : { 'controller.cpu.processor': processorName }),
      ...(firmware === undefined ? {} : { 'controller.cpu.firmware_release': firmware }),
      'controller.memory_size': memoryBytes,
    }
    return rows.map(() => facts)
  },
}

const alone = usual({
  cluster_interfaces: [],
  'controller.over_temperature': 'normal',
  'controller.failed_fan.count': 0,
  'controller.failed_fan.message.message': 'There are no failed fans.',
  'controller.failed_power_supply.count': 0,
  'controller.failed_power_supply.message.message': 'There are no failed power supply units.',
  'ha.enabled': false,
  'ha.auto_giveback': false,
  'ha.partners': [],
  'ha.giveback.state': 'nothing_to_giveback',
  'ha.takeover.state': 'not_possible',
})

const identity: Derivation<Node> = {
  gives: ['serial_number', 'system_id'],
  from: (_cluster, rows) => Promise.resolve(rows.map(({ uuid }) => ({ serial_number: uuid, system_id: uuid }))),
}

export const hardwareReadings: readonly Derivation<Node>[] = [machine, identity, alone]
