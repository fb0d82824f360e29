/**
 * The network interfaces of this machine, its processors and its memory. Node tells interfaces with addresses; Linux tells
 * the rest in files, one folder for each interface:
 *
 *     /sys/class/net/eth0      mtu 1500, operstate up, speed 10000, device -> the hardware
 *     /sys/class/net/eth0.20   uevent DEVTYPE=vlan, lower_eth0 -> what it lies on
 *     /sys/class/net/bond0     bonding/slaves eth1 eth2, bonding/mode 802.3ad 4
 *
 * Elsewhere there are only those with addresses, and their speed and MTU are not known.
 */
import { readdir, readFile } from 'node:fs/promises'
import { cpus, networkInterfaces, totalmem } from 'node:os'
import { join } from 'node:path'
import { type Machine, type MachineLag, type MachinePort, PORTS_MAX } from '../ports/machine.ts'
import { readTraffic } from './machine-traffic.ts'

/** Of Ethernet, where the machine does not say. */
const MTU_BYTES = 1500

/** Readable by everyone, unlike the serial numbers beside it. */
const FIRMWARE_FILE = '/sys/class/dmi/id/bios_version'

type Addressed = Readonly<Record<string, readonly { address: string; mac: string; internal: boolean }[] | undefined>>

export function thisMachine(folder = '/sys/class/net', addressed: () => Addressed = networkInterfaces): Machine {
  return {
    async ports() {
      const known = addressed()
      const named = new Set([...Object.keys(known), ...(await namesIn(folder))])
      const ports: MachinePort[] = []
      for (const name of [...named].toSorted().slice(0, PORTS_MAX)) {
        const port = await portAt(join(folder, name), name, known[name] ?? [])
        if (port !== undefined) ports.push(port)
      }
      return ports
    },
    traffic: () => readTraffic(folder),
    processors() {
      let [busyMs, wholeMs] = [0, 0]
      for (const { times } of cpus()) {
        const busy = times.user + times.nice + times.sys + times.irq
        busyMs += busy
        wholeMs += busy + times.idle
      }
      return { busyMs, wholeMs }
    },
    async facts() {
      const processors = cpus()
      const processorName = processors[0]?.model.trim() ?? ''
      const firmware = await wordOf(FIRMWARE_FILE)
      return {
        processors: processors.length,
        memoryBytes: totalmem(),
        ...(processorName === '' ? {} : { processorName }),
        ...(firmware === '' ? {} : { firmware }),
      }
    },
  }
}

async function portAt(
  folder: string,
  name: string,
  addresses: readonly { address: string; mac: string; internal: boolean }[],
): Promise<MachinePort | undefined> {
  const files = await namesIn(folder)
  const [vlan, lag] = [await vlanAt(folder, files, name), files.includes('bonding') ? await lagAt(folder) : undefined]
  if (addresses.length === 0 && vlan === undefined && lag === undefined && !files.includes('device')) return undefined
  const state = await wordOf(join(folder, 'operstate'))
  const mtuBytes = Number(await wordOf(join(folder, 'mtu')))
  const megabitsPerSecond = Number(await wordOf(join(folder, 'speed')))
  const macAddress = addresses[0]?.mac ?? (await wordOf(join(folder, 'address')))
  return {
    name,
    // Some drivers, and the loopback, do not tell; an address is then the sign.
    isUp: state === 'up' || (state !== 'down' && addresses.length > 0),
    isLoopback: addresses.some(({ internal }) => internal),
    mtuBytes: mtuBytes > 0 ? mtuBytes : MTU_BYTES,
    ...(/[1-9a-f]/.test(macAddress) ? { macAddress } : {}),
    ...(megabitsPerSecond > 0 ? { megabitsPerSecond } : {}),
    addresses: addresses.map(({ address }) => address),
    ...(vlan === undefined ? {} : { vlan }),
    ...(lag === undefined ? {} : { lag }),
  }
}

/** The tag is in a file that only root may read on some systems; then it is what the name ends with: `eth0.20`. */
async function vlanAt(folder: string, files: readonly string[], name: string): Promise<MachinePort['vlan']> {
  if (!/^DEVTYPE=vlan$/m.test(await textOf(join(folder, 'uevent')))) return undefined
  const told = /VID: (\d+)/.exec(await textOf(join('/proc/net/vlan', name)))?.[1]
  const base = files.find((file) => file.startsWith('lower_'))?.slice('lower_'.length)
  const tag = Number(told ?? /\.(\d+)$/.exec(name)?.[1])
  return base === undefined || !Number.isSafeInteger(tag) ? undefined : { base, tag }
}

async function lagAt(folder: string): Promise<MachineLag> {
  const words = async (file: string) =>
    (await textOf(join(folder, 'bonding', file))).trim().split(/\s+/).filter(Boolean)
  const [mode = '', policy = ''] = [(await words('mode'))[0], (await words('xmit_hash_policy'))[0]]
  const members = await words('slaves')
  const active = await words('active_slave')
  return {
    mode: mode === '802.3ad' ? 'multimode_lacp' : mode === 'active-backup' ? 'singlemode' : 'multimode',
    distribution:
      mode === 'balance-rr' ? 'sequential' : policy === 'layer3+4' ? 'port' : policy === 'layer2+3' ? 'ip' : 'mac',
    members,
    active: active.length > 0 ? active : members,
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((): string[] => [])
}

/** Files of this kind come and go with the interface, and some cannot be read while its link is down. */
async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '')
}

async function wordOf(file: string): Promise<string> {
  return (await textOf(file)).trim()
}
