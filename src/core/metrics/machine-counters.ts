/** What the machine counts, as counters of its node, its processors and its network interfaces. */
import type { MachineFacts, MachineTraffic, PortTraffic, ProcessorTime } from '../../ports/machine.ts'
import {
  average,
  bytes,
  type CounterSchema,
  delta,
  kibibytes,
  percent,
  rate,
  type Sums,
  UNKNOWN,
} from './counter-schemas.ts'

/** What the time of a processor goes to: to nothing, or to whatever runs on the machine. */
const DOMAINS = ['idle', 'host'] as const

const elapsed = (name: string, whose: string): CounterSchema => ({
  name,
  description: `Microseconds that ${whose} existed so far, busy or idle.`,
  type: 'delta',
  unit: 'microsec',
})

const domains = (name: string, denominator: string): CounterSchema => ({
  ...percent(name, 'Microseconds of processors by mode.', denominator),
  labels: DOMAINS,
})

/** Protocols that no client can use here: nothing was ever done by them. */
const UNUSED = ['cifs', 'fcp', 'iscsi', 'nfs', 'nvme_fc'] as const

export const nodeCounters: readonly CounterSchema[] = [
  elapsed('cpu_elapsed_time', 'all processors together'),
  percent(
    'average_processor_busy_percent',
    'Microseconds that processors were busy, averaged over all processors.',
    'cpu_elapsed_time',
    ['busy'],
  ),
  percent('cpu_busy', 'Microseconds that processors were busy.', 'cpu_elapsed_time', ['busy']),
  domains('domain_busy', 'cpu_elapsed_time'),
  kibibytes('disk_data_read', 'KiB read from the disks of the machine by all programs.', ['disk_read']),
  kibibytes('disk_data_written', 'KiB written to the disks of the machine.', ['disk_written']),
  kibibytes('hdd_data_read', 'KiB read from the spinning disks of the machine.', ['spinning_read']),
  kibibytes('hdd_data_written', 'KiB written to the spinning disks of the machine.', ['spinning_written']),
  kibibytes('ssd_data_read', 'KiB read from the solid-state disks of the machine.', ['solid_read']),
  kibibytes('ssd_data_written', 'KiB written to the solid-state disks of the machine.', ['solid_written']),
  { name: 'memory', description: 'Megabytes of memory that the machine has.', type: 'raw', unit: 'none' },
  kibibytes('network_data_received', 'KiB that the network interfaces of the machine received.', ['received']),
  kibibytes('network_data_sent', 'KiB that the network interfaces of the machine sent.', ['sent']),
  rate('total_ops', 'Number of operations on the data of volumes.'),
  average('total_latency', 'Time of operations on the data of volumes.', 'total_ops', [
    'read_latency',
    'write_latency',
    'other_latency',
  ]),
  kibibytes('total_data', 'KiB of objects sent to clients or received from them.', ['bytes_read', 'bytes_written']),
  ...(['read', 'write', 'other'] as const).flatMap((kind): CounterSchema[] => [
    rate(`${kind}_ops`, `Number of ${kind} operations on the data of volumes.`),
    average(`${kind}_latency`, `Time of ${kind} operations on the data of volumes.`, `${kind}_ops`),
  ]),
  kibibytes('read_data', 'KiB of objects sent to clients.', ['bytes_read']),
  kibibytes('write_data', 'KiB of objects received from clients.', ['bytes_written']),
  ...UNUSED.map((protocol) => rate(`${protocol}_ops`, `Number of operations by ${protocol}, which is not served.`)),
]

const MEGABYTE = 2 ** 20

export function nodeSums(
  { processors, disks, ports }: MachineTraffic,
  { memoryBytes }: MachineFacts,
  isCounted: (port: string) => boolean,
): Sums {
  const time = together(processors)
  const carried = [...ports].filter(([name]) => isCounted(name)).map(([, port]) => port)
  const total = (pick: (port: PortTraffic) => number) => carried.reduce((sum, port) => sum + pick(port), 0)
  return {
    cpu_elapsed_time: time.wholeMs * 1000,
    busy: time.busyMs * 1000,
    ...domainSums('domain_busy', time),
    disk_read: disks?.readBytes ?? UNKNOWN,
    disk_written: disks?.writtenBytes ?? UNKNOWN,
    spinning_read: disks?.spinning.readBytes ?? UNKNOWN,
    spinning_written: disks?.spinning.writtenBytes ?? UNKNOWN,
    solid_read: disks === undefined ? UNKNOWN : disks.readBytes - disks.spinning.readBytes,
    solid_written: disks === undefined ? UNKNOWN : disks.writtenBytes - disks.spinning.writtenBytes,
    memory: memoryBytes / MEGABYTE,
    received: total((port) => port.receivedBytes),
    sent: total((port) => port.sentBytes),
  }
}

export const processorCounters: readonly CounterSchema[] = [
  elapsed('elapsed_time', 'the processor'),
  percent('busy_percent', 'Microseconds that the processor was busy.', 'elapsed_time', ['busy']),
  domains('domain_busy_percent', 'elapsed_time'),
]

export function processorSums(time: ProcessorTime): Sums {
  return { elapsed_time: time.wholeMs * 1000, busy: time.busyMs * 1000, ...domainSums('domain_busy_percent', time) }
}

export const portCounters: readonly CounterSchema[] = [
  bytes('receive_bytes', 'Bytes received.'),
  bytes('transmit_bytes', 'Bytes sent.'),
  delta('receive_errors', 'Number of frames received with an error.', ['receive_total_errors']),
  delta('receive_total_errors', 'Number of frames received with an error of any kind.'),
  delta('receive_alignment_errors', 'Number of frames that did not end with a whole byte.'),
  delta('receive_crc_errors', 'Number of frames with a wrong checksum.'),
  delta('receive_length_errors', 'Number of frames with a wrong length.'),
  delta('transmit_errors', 'Number of frames that could not be sent.', ['transmit_total_errors']),
  delta('transmit_total_errors', 'Number of frames that could not be sent for any reason.'),
  delta('transmit_hw_errors', 'Number of frames that could not be sent because of the link or the hardware.'),
  delta('link_up_to_down', 'Number of times that the link was lost.'),
]

export function portSums(port: PortTraffic): Sums {
  return {
    receive_bytes: port.receivedBytes,
    transmit_bytes: port.sentBytes,
    receive_total_errors: port.receiveErrors,
    receive_alignment_errors: port.receiveAlignmentErrors,
    receive_crc_errors: port.receiveCrcErrors,
    receive_length_errors: port.receiveLengthErrors,
    transmit_total_errors: port.sendErrors,
    transmit_hw_errors: port.sendHardwareErrors,
    link_up_to_down: port.linkLosses,
  }
}

function domainSums(name: string, { busyMs, wholeMs }: ProcessorTime): Sums {
  const times: Readonly<Record<(typeof DOMAINS)[number], number>> = { idle: wholeMs - busyMs, host: busyMs }
  return Object.fromEntries(DOMAINS.map((domain) => [`${name}.${domain}`, Math.round(times[domain] * 1000)]))
}

function together(processors: readonly ProcessorTime[]): ProcessorTime {
  let [busyMs, wholeMs] = [0, 0]
  for (const one of processors) {
    busyMs += one.busyMs
    wholeMs += one.wholeMs
  }
  return { busyMs, wholeMs }
}

/** What of a port is said of the network interface on it. Where it shares the port, nobody knows whose packets they are. */
export function interfaceSums(port: PortTraffic | undefined, isAlone: boolean): Sums {
  const known = isAlone ? port : undefined
  return {
    received_packets: known?.receivedPackets ?? UNKNOWN,
    received_errors: known?.receiveErrors ?? UNKNOWN,
    sent_packets: known?.sentPackets ?? UNKNOWN,
    sent_errors: known?.sendErrors ?? UNKNOWN,
  }
}
