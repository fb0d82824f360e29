/** What the machine that the node runs on has, beside its disks. It may change at any time. */
export interface Machine {
  /** Its network interfaces that are hardware, stand for several others or for a VLAN, or have an address. By name. */
  ports(): Promise<readonly MachinePort[]>
  /** What its processors did since it was started, all of them together. */
  processors(): ProcessorTime
  /** What it is made of. */
  facts(): Promise<MachineFacts>
  /** What its parts did since it was started, each by itself; without this, it cannot tell. */
  traffic?(): Promise<MachineTraffic>
}

export interface MachineFacts {
  /** Processors as programs see them: cores, or threads of them. */
  readonly processors: number
  /** The name that they have; nothing where the machine does not tell. */
  readonly processorName?: string
  readonly memoryBytes: number
  /** The version of what starts the machine, its BIOS. */
  readonly firmware?: string
}

export interface MachineTraffic {
  readonly processors: readonly ProcessorTime[]
  /** Of all its disks together, and of those among them that spin; nothing where they do not tell. */
  readonly disks?: DiskTraffic & { readonly spinning: DiskTraffic }
  /** By the names of network interfaces; those that do not tell are left out. */
  readonly ports: ReadonlyMap<string, PortTraffic>
}

export interface DiskTraffic {
  readonly readBytes: number
  readonly writtenBytes: number
}

/** What a network interface counts. */
export interface PortTraffic {
  readonly receivedBytes: number
  readonly sentBytes: number
  readonly receivedPackets: number
  readonly sentPackets: number
  readonly receiveErrors: number
  readonly receiveAlignmentErrors: number
  readonly receiveCrcErrors: number
  readonly receiveLengthErrors: number
  readonly sendErrors: number
  /** Those of the link and of the hardware, which are among `sendErrors`. */
  readonly sendHardwareErrors: number
  /** How often its link was lost. */
  readonly linkLosses: number
}

export interface ProcessorTime {
  readonly busyMs: number
  /** Busy or not. */
  readonly wholeMs: number
}

export interface MachinePort {
  readonly name: string
  readonly isUp: boolean
  readonly isLoopback: boolean
  readonly mtuBytes: number
  readonly macAddress?: string
  /** Of a link that is up, where it has one speed. */
  readonly megabitsPerSecond?: number
  readonly addresses: readonly string[]
  readonly vlan?: { readonly base: string; readonly tag: number }
  readonly lag?: MachineLag
}

/** Several interfaces that act as one. */
export interface MachineLag {
  /** `singlemode`: one carries, the others stand by. `multimode_lacp`: all carry, as agreed with the switch. */
  readonly mode: 'singlemode' | 'multimode' | 'multimode_lacp'
  /** By what a frame chooses the one that carries it. */
  readonly distribution: 'port' | 'ip' | 'mac' | 'sequential'
  readonly members: readonly string[]
  readonly active: readonly string[]
}

/** Network interfaces that are looked at; a machine with thousands of them has them for containers. */
export const PORTS_MAX = 512
