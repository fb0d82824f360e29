/**
 * The series of samples that are kept. Each is made of the one before: a block of its samples, the unit that is stored,
 * becomes one sample of the next. All begin at multiples of their length since 1970, so days are those of UTC.
 *
 *     PT15S   20 samples a block of 5 minutes, for an hour
 *     PT5M     6 samples a block of 30 minutes, for a day
 *     …
 */
export interface Interval {
  /** How it is asked for: what it reaches back. */
  readonly name: string
  /** Seconds of one sample. */
  readonly step: number
  /** Seconds of one block. */
  readonly block: number
  /** Seconds that it reaches back. What is older is let go of. */
  readonly kept: number
}

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export const SAMPLE_SECONDS = 15

export const INTERVALS = [
  { name: '1h', step: SAMPLE_SECONDS, block: 5 * MINUTE, kept: HOUR },
  { name: '1d', step: 5 * MINUTE, block: 30 * MINUTE, kept: DAY },
  { name: '1w', step: 30 * MINUTE, block: 2 * HOUR, kept: 7 * DAY },
  { name: '1m', step: 2 * HOUR, block: DAY, kept: 31 * DAY },
  { name: '1y', step: DAY, block: 30 * DAY, kept: 366 * DAY },
] as const satisfies readonly Interval[]

export const FINEST: Interval = INTERVALS[0]

/** The block that holds a moment. */
export function blockOf({ block }: Interval, timeMs: number): number {
  return Math.floor(timeMs / (block * 1000))
}

/** Which sample of its block begins at this moment. */
export function slotOf({ block, step }: Interval, beginMs: number): number {
  return Math.floor((beginMs / 1000 - Math.floor(beginMs / (block * 1000)) * block) / step)
}

/** When a sample of a block ends. */
export function endOf({ block, step }: Interval, blockNumber: number, slot: number): number {
  return (blockNumber * block + (slot + 1) * step) * 1000
}
