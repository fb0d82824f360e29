/** What a run of the speed table found, as it is kept. */
import type { Machine } from './machine.ts'
import type { PayloadSigning } from './order.ts'

export interface Kept {
  /** ISO 8601, when the run began. */
  readonly date: string
  readonly rounds: number
  /** Processor seconds of a round. */
  readonly seconds: number
  readonly machine: Machine
  /** Processes that wanted a core when the run began, averaged over a minute. */
  readonly loadBefore: number
  /** Share of what the machine did meanwhile that was not the run: neither servers nor clients. */
  readonly othersShare: number
  readonly servers: readonly Server[]
  readonly results: readonly Result[]
}

export interface Server {
  readonly name: string
  readonly version: string
  readonly syncs: string
  readonly isDurable: boolean
  /** In MB, by part, over plain HTTP: before the first request, and after all rows. */
  readonly idle: Readonly<Record<string, number>>
  readonly after: Readonly<Record<string, number>>
  /** Why it was not measured. */
  readonly missing?: string
}

export interface Result {
  readonly row: string
  readonly server: string
  readonly isSecure: boolean
  readonly payload: PayloadSigning
  /** Operations, or megabytes, in a second of a processor: the median of the rounds. */
  readonly perCpuSecond: number
  readonly each: readonly number[]
  /** By the clock. */
  readonly perSecond: number
  /** Processor time that an operation takes in each part of the server. */
  readonly microseconds: Readonly<Record<string, number>>
  /** How much of one core the sender used. Near 1 it holds the server up by the clock, not by processor seconds. */
  readonly senderShare: number
  /** In milliseconds, by kind of request, over all rounds. */
  readonly latency: Readonly<Record<string, Latency>>
  readonly failed: number
  readonly failure?: string
}

export interface Latency {
  readonly requests: number
  readonly p50: number
  readonly p99: number
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const half = Math.floor(sorted.length / 2)
  const [low = Number.NaN, high = Number.NaN] = [sorted[sorted.length % 2 === 0 ? half - 1 : half], sorted[half]]
  return (low + high) / 2
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function significant(number: number, digits = 4): number {
  return Number(number.toPrecision(digits))
}
