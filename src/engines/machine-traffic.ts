/**
 * What the processors, disks and network interfaces of this machine did since it was started. Linux counts for each
 * interface in a folder of its own, and for all disks in one file, in sectors of 512 bytes whatever the disk has:
 *
 *     /sys/class/net/eth0/statistics/rx_bytes    1234567
 *     /proc/diskstats                            8  0 sda 100 0 2048 5 200 0 4096 9 0 0 0
 *                                                8  1 sda1 …   a part of sda, and counted with it
 *     /sys/block/sda/queue/rotational            1 where it spins
 *     /sys/block/sda/device                      there where it is hardware: layers above it count the same bytes again
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { type MachineTraffic, PORTS_MAX, type PortTraffic, type ProcessorTime } from '../ports/machine.ts'

const SECTOR_BYTES = 512

export async function readTraffic(
  netFolder = '/sys/class/net',
  diskFile = '/proc/diskstats',
  blockFolder = '/sys/block',
): Promise<MachineTraffic> {
  const disks = await disksTogether(diskFile, blockFolder)
  return {
    processors: cpus().map(timeOf),
    ports: await portsIn(netFolder),
    ...(disks === undefined ? {} : { disks }),
  }
}

function timeOf({ times }: ReturnType<typeof cpus>[number]): ProcessorTime {
  const busyMs = times.user + times.nice + times.sys + times.irq
  return { busyMs, wholeMs: busyMs + times.idle }
}

async function disksTogether(file: string, blockFolder: string): Promise<MachineTraffic['disks']> {
  const [all, spinning] = [
    { readBytes: 0, writtenBytes: 0 },
    { readBytes: 0, writtenBytes: 0 },
  ]
  let counted = 0
  for (const line of (await textOf(file)).split('\n')) {
    const [, , name = '', , , readSectors, , , , writtenSectors] = line.trim().split(/\s+/)
    if (name === '' || !(await isThere(join(blockFolder, name, 'device')))) continue
    const isSpinning = (await textOf(join(blockFolder, name, 'queue', 'rotational'))).trim() === '1'
    for (const sums of isSpinning ? [all, spinning] : [all]) {
      sums.readBytes += wholeNumber(readSectors) * SECTOR_BYTES
      sums.writtenBytes += wholeNumber(writtenSectors) * SECTOR_BYTES
    }
    counted++
  }
  return counted === 0 ? undefined : { ...all, spinning }
}

async function portsIn(folder: string): Promise<ReadonlyMap<string, PortTraffic>> {
  const names = await readdir(folder).catch((): string[] => [])
  const ports = new Map<string, PortTraffic>()
  for (const name of names.toSorted().slice(0, PORTS_MAX)) {
    const port = await portAt(join(folder, name))
    if (port !== undefined) ports.set(name, port)
  }
  return ports
}

async function portAt(folder: string): Promise<PortTraffic | undefined> {
  const read = async (...names: readonly string[]) => {
    const texts = await Promise.all(names.map((name) => textOf(join(folder, 'statistics', name))))
    return texts.reduce((sum, text) => sum + wholeNumber(text.trim()), 0)
  }
  if ((await textOf(join(folder, 'statistics', 'rx_bytes'))) === '') return undefined
  return {
    receivedBytes: await read('rx_bytes'),
    sentBytes: await read('tx_bytes'),
    receivedPackets: await read('rx_packets'),
    sentPackets: await read('tx_packets'),
    receiveErrors: await read('rx_errors'),
    receiveAlignmentErrors: await read('rx_frame_errors'),
    receiveCrcErrors: await read('rx_crc_errors'),
    receiveLengthErrors: await read('rx_length_errors'),
    sendErrors: await read('tx_errors'),
    sendHardwareErrors: await read('tx_aborted_errors', 'tx_carrier_errors', 'tx_fifo_errors', 'tx_window_errors'),
    linkLosses: wholeNumber((await textOf(join(folder, 'carrier_down_count'))).trim()),
  }
}

/** 0 for what is no number, or is so large that it is no longer exact. */
function wholeNumber(text: string | undefined): number {
  const number = Number(text ?? 0)
  return Number.isSafeInteger(number) && number >= 0 ? number : 0
}

async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '')
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
