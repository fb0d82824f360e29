/**
 * When something that repeats is due, and whether it is owed: whether it has been due since it was last done.
 *
 * Asking for what is owed, instead of waiting for the next time, makes restarts and wrong clocks harmless. However
 * many times were missed, by downtime or by a clock that was put forward, at most one is owed: the last.
 */
import { lastTime, nextTime, type Cron } from './cron.ts'

export type Schedule =
  | { readonly cron: Cron }
  /** Due at each multiple since 1970-01-01T00:00:00Z, so that a restart changes nothing: PT1H on the hour, P1D at 0:00. */
  | { readonly intervalMs: number }

/**
 * A clock that goes back by no more than this has been corrected: what was done stays done until the clock is there
 * again. One that goes back further was wrong before, and times noted by it mean nothing.
 */
export const CORRECTION_MS = 5 * 60_000

/** The last time at which it was due, up to now; nothing for what is never due. */
export function lastDue(schedule: Schedule, nowMs: number): number | undefined {
  return 'cron' in schedule
    ? lastTime(schedule.cron, nowMs)
    : Math.floor(nowMs / schedule.intervalMs) * schedule.intervalMs
}

/** The next time at which it is due, after now. */
export function nextDue(schedule: Schedule, nowMs: number): number | undefined {
  return 'cron' in schedule
    ? nextTime(schedule.cron, nowMs)
    : (Math.floor(nowMs / schedule.intervalMs) + 1) * schedule.intervalMs
}

/** Until when it counts as done, by what was noted: a note from a clock that was wrong counts as made now. */
export function doneUntil(notedMs: number, nowMs: number): number {
  return notedMs > nowMs + CORRECTION_MS ? nowMs : notedMs
}

/** Whether what was last due at that time has not been done since. */
export function isOwed(dueMs: number | undefined, doneMs: number): dueMs is number {
  return dueMs !== undefined && dueMs > doneMs
}
