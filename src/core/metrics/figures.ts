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
] as const

/** By how much each of `FIGURES` grew. */
export type Growth = readonly number[]

export const NO_GROWTH: Growth = FIGURES.map(() => 0)

/** Of counters, those that are figures. */
export function growthOf(counters: Readonly<Record<string, number>>): Growth {
  return FIGURES.map((figure) => counters[figure] ?? 0)
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
  const [
    readOps = 0,
    writeOps = 0,
    otherOps = 0,
    readUs = 0,
    writeUs = 0,
    otherUs = 0,
    bytesRead = 0,
    bytesWritten = 0,
  ] = growth
  const ops = readOps + writeOps + otherOps
  const perSecond = (total: number) => (coveredMs <= 0 ? 0 : Math.round((total * 1000) / coveredMs))
  const average = (microseconds: number, operations: number) =>
    operations === 0 ? 0 : Math.round(microseconds / operations)
  return {
    timestamp: timeMs,
    duration: stepSeconds,
    status: statusOf(coveredMs / 1000 / stepSeconds),
    'iops.read': perSecond(readOps),
    'iops.write': perSecond(writeOps),
    'iops.other': perSecond(otherOps),
    'iops.total': perSecond(ops),
    'latency.read': average(readUs, readOps),
    'latency.write': average(writeUs, writeOps),
    'latency.other': average(otherUs, otherOps),
    'latency.total': average(readUs + writeUs + otherUs, ops),
    'throughput.read': perSecond(bytesRead),
    'throughput.write': perSecond(bytesWritten),
    'throughput.other': 0,
    'throughput.total': perSecond(bytesRead + bytesWritten),
  }
}

/** Totals, to be read twice and subtracted. */
export function rawFiguresOf(nowMs: number, totals: Growth): Row {
  const [
    readOps = 0,
    writeOps = 0,
    otherOps = 0,
    readUs = 0,
    writeUs = 0,
    otherUs = 0,
    bytesRead = 0,
    bytesWritten = 0,
  ] = totals
  return {
    timestamp: nowMs,
    status: 'ok',
    'iops_raw.read': readOps,
    'iops_raw.write': writeOps,
    'iops_raw.other': otherOps,
    'iops_raw.total': readOps + writeOps + otherOps,
    'latency_raw.read': readUs,
    'latency_raw.write': writeUs,
    'latency_raw.other': otherUs,
    'latency_raw.total': readUs + writeUs + otherUs,
    'throughput_raw.read': bytesRead,
    'throughput_raw.write': bytesWritten,
    'throughput_raw.other': 0,
    'throughput_raw.total': bytesRead + bytesWritten,
  }
}

function statusOf(covered: number): Status {
  if (covered < 1 - TOLERANCE) return 'partial_no_data'
  return covered > 1 + TOLERANCE ? 'inconsistent_delta_time' : 'ok'
}
