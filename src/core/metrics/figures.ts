/** What one sample says, and what people read out of it: rates and averages. */
import type { Row } from '../../model/value.ts'

/** The counters that samples are of, in the order of their numbers. Only ever append: stored samples know the order. */
export const FIGURES = [
  'read_ops',
  'write_ops',
  'other_ops',
  'read_latency',
  'write_latency',
  'other_latency',
  'bytes_read',
  'bytes_written',
  // Of a node: milliseconds of its processors.
  'processor_busy',
  'processor_whole',
] as const

/** By how much each of `FIGURES` grew. */
export type Growth = readonly number[]

export const NO_GROWTH: Growth = FIGURES.map(() => 0)

/** What of network interfaces is counted under other names: clients read what is sent. */
const ALSO: Readonly<Record<string, string>> = { bytes_read: 'sent_data', bytes_written: 'received_data' }

/** Of counters, those that are figures. */
export function growthOf(counters: Readonly<Record<string, number>>): Growth {
  return FIGURES.map((figure) => counters[figure] ?? counters[ALSO[figure] ?? ''] ?? 0)
}

export function sum(a: Growth, b: Growth): Growth {
  return a.map((value, at) => value + (b[at] ?? 0))
}

/** What an interval of time measured. */
export interface Measured {
  /** When the interval ended. */
  readonly timeMs: number
  /** The time it really covers, which may be less than its length, or more. */
  readonly coveredMs: number
  readonly growth: Growth
}

/** The part of an interval that may be missing or too much before its status says so. */
const TOLERANCE = 0.1

export const STATUSES = ['ok', 'partial_no_data', 'inconsistent_delta_time'] as const
export type Status = (typeof STATUSES)[number]

/** Rates are over the time that was measured, so a sample of half an interval does not show half of the load. */
export function figuresOf({ timeMs, coveredMs, growth }: Measured, stepSeconds: number): Row {
  const { operations, microseconds, bytes } = byKind(growth)
  const rate = (total: number) => (coveredMs <= 0 ? 0 : Math.round((total * 1000) / coveredMs))
  const average = (total: number, at: number) => {
    const count = operations[at] ?? 0
    return count === 0 ? 0 : Math.round(total / count)
  }
  return {
    timestamp: timeMs,
    duration: stepSeconds,
    status: statusOf(coveredMs / 1000 / stepSeconds),
    ...named(IOPS, operations.map(rate)),
    ...named(LATENCY, microseconds.map(average)),
    ...named(THROUGHPUT, bytes.map(rate)),
  }
}

/** What a sample of a node says: how much of the time of its processors was used, in percent. */
export function processorFiguresOf({ timeMs, coveredMs, growth }: Measured, stepSeconds: number): Row {
  const [busy = 0, whole = 0] = [growth[FIGURES.indexOf('processor_busy')], growth[FIGURES.indexOf('processor_whole')]]
  return {
    timestamp: timeMs,
    duration: stepSeconds,
    status: statusOf(coveredMs / 1000 / stepSeconds),
    processor_utilization: whole <= 0 ? 0 : Math.min(100, Math.round((busy / whole) * 100)),
  }
}

/** Totals, to be read twice and subtracted. */
export function rawFiguresOf(nowMs: number, totals: Growth): Row {
  const { operations, microseconds, bytes } = byKind(totals)
  return {
    timestamp: nowMs,
    status: 'ok',
    ...named(IOPS_RAW, operations),
    ...named(LATENCY_RAW, microseconds),
    ...named(THROUGHPUT_RAW, bytes),
  }
}

/** Each of reads, writes, others, and all of them. */
type ByKind = readonly number[]

function byKind(growth: Growth): { operations: ByKind; microseconds: ByKind; bytes: ByKind } {
  const [reads = 0, writes = 0, others = 0, readUs = 0, writeUs = 0, otherUs = 0, bytesRead = 0, bytesWritten = 0] =
    growth
  return {
    operations: [reads, writes, others, reads + writes + others],
    microseconds: [readUs, writeUs, otherUs, readUs + writeUs + otherUs],
    bytes: [bytesRead, bytesWritten, 0, bytesRead + bytesWritten],
  }
}

/** The paths of a figure, made once: readings of very many volumes make each field of each of them. */
const paths = (figure: string) => ['read', 'write', 'other', 'total'].map((kind) => `${figure}.${kind}`)
const [IOPS, LATENCY, THROUGHPUT] = [paths('iops'), paths('latency'), paths('throughput')]
const [IOPS_RAW, LATENCY_RAW, THROUGHPUT_RAW] = [paths('iops_raw'), paths('latency_raw'), paths('throughput_raw')]

function named(paths: readonly string[], values: ByKind): Row {
  const row: Record<string, number> = {}
  for (const [at, path] of paths.entries()) row[path] = values[at] ?? 0
  return row
}

function statusOf(covered: number): Status {
  if (covered < 1 - TOLERANCE) return 'partial_no_data'
  return covered > 1 + TOLERANCE ? 'inconsistent_delta_time' : 'ok'
}
