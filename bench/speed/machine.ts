/** What the machine gives: numbers that say how to compare a run with one on another machine. */
import { createCipheriv, hash, randomFillSync } from 'node:crypto'
import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { descendants } from '../../test/clients/processes.ts'
import { cpuSecondsWithEnded, ticksPerSecond } from './processes.ts'
import { median, significant, sum } from './results.ts'

export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly memoryGib: number
  readonly kernel: string
  readonly node: string
  /** Megabytes in a second of a processor. */
  readonly md5: number
  readonly sha256: number
  readonly crc32: number
  readonly aes256Gcm: number
  readonly copy: number
  /** To append 4 KiB to a file and wait until the disk has it. */
  readonly syncMs: number
}

const BYTES = 16 * 2 ** 20
const TRIES = 7
const SYNCS = 100

export function machineFacts(folder: string): Machine {
  const block = randomFillSync(Buffer.allocUnsafe(BYTES))
  const other = Buffer.allocUnsafe(BYTES)
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    md5: perCpuSecond(() => hash('md5', block)),
    sha256: perCpuSecond(() => hash('sha256', block)),
    crc32: perCpuSecond(() => crc32(block)),
    aes256Gcm: perCpuSecond(() =>
      createCipheriv('aes-256-gcm', block.subarray(0, 32), block.subarray(0, 12)).update(block),
    ),
    copy: perCpuSecond(() => block.copy(other)),
    syncMs: syncMs(join(folder, 'synced')),
  }
}

/** Processes that wanted a core, averaged over the last minute. */
export function loadAverage(): number {
  return Number(readFileSync('/proc/loadavg', 'utf8').split(' ')[0])
}

/** Processor seconds of the whole machine since it started, and of this process and all that it has started. */
export function busySeconds(): { readonly machine: number; readonly own: number } {
  // "cpu  1 2 3 4 5 …": user, nice, system, idle, waiting, interrupts, soft interrupts, and those taken by other machines.
  const [user = 0, nice = 0, system = 0, , , hard = 0, soft = 0, stolen = 0] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)
    .flatMap((line) => line.split(/ +/).slice(1).map(Number))
  const machine = (user + nice + system + hard + soft + stolen) / ticksPerSecond
  const own = [process.pid, ...descendants(process.pid).map(({ pid }) => pid)].map(cpuSecondsWithEnded)
  return { machine, own: sum(own) }
}

/** The best of some tries: the others are what else the machine did. */
function perCpuSecond(work: () => unknown): number {
  let best = Number.POSITIVE_INFINITY
  for (let at = 0; at < TRIES; at++) {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, user + system)
  }
  return significant(BYTES / best, 3)
}

function syncMs(file: string): number {
  const descriptor = openSync(file, 'w')
  const piece = Buffer.alloc(4096, 1)
  const took = Array.from({ length: SYNCS }, () => {
    const startedMs = performance.now()
    writeSync(descriptor, piece)
    fdatasyncSync(descriptor)
    return performance.now() - startedMs
  })
  closeSync(descriptor)
  rmSync(file)
  return significant(median(took), 3)
}
