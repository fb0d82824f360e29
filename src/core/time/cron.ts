/**
 * When a cron schedule is due: minutes, hours, days of the month, months and days of the week, each a list of numbers.
 * An empty or absent list means every one.
 *
 * Days of the month and of the week are independent when both are given, as cron and ONTAP have it: days 13 with
 * weekdays 5 is every 13th and every Friday, not only Fridays that are a 13th.
 *
 * Everything is in UTC. There, a day has 24 hours all year: no hour is skipped or comes twice, so a schedule is due
 * neither never nor doubly when a country changes its clocks.
 */
export interface Cron {
  /** 0 to 59. */
  readonly minutes: readonly number[]
  /** 0 to 23. */
  readonly hours?: readonly number[]
  /** 1 to 31. Months that do not have the day are passed over. */
  readonly days?: readonly number[]
  /** 1 to 12. */
  readonly months?: readonly number[]
  /** 0 (Sunday) to 6. */
  readonly weekdays?: readonly number[]
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** No 29 February for eight years is the longest wait there is: 1896 to 1904, 2096 to 2104. */
const DAYS_LOOKED_AT = 8 * 366 + 1

/** The first time after the given one; nothing when there is none, as on 31 February. */
export function nextTime(cron: Cron, afterMs: number): number | undefined {
  return search(cron, afterMs, 1, (time) => time > afterMs)
}

/** The last time up to the given one, which may be that time itself. */
export function lastTime(cron: Cron, upToMs: number): number | undefined {
  return search(cron, upToMs, -1, (time) => time <= upToMs)
}

/** The nearest fitting time of the schedule, going day by day from that of `fromMs`, forward or back. */
function search(cron: Cron, fromMs: number, direction: 1 | -1, fits: (timeMs: number) => boolean): number | undefined {
  const ordered = (values: readonly number[]) => values.toSorted((a, b) => (a - b) * direction)
  const hours = ordered(everyOf(cron.hours, 24))
  const minutes = ordered(everyOf(cron.minutes, 60))
  let dayMs = Math.floor(fromMs / DAY_MS) * DAY_MS
  for (let looked = 0; looked < DAYS_LOOKED_AT; looked++, dayMs += direction * DAY_MS) {
    if (!isDay(cron, dayMs)) continue
    for (const hour of hours) {
      for (const minute of minutes) {
        const timeMs = dayMs + hour * HOUR_MS + minute * MINUTE_MS
        if (fits(timeMs)) return timeMs
      }
    }
  }
  return undefined
}

function isDay(cron: Cron, dayMs: number): boolean {
  const day = new Date(dayMs)
  if (!names(cron.months, day.getUTCMonth() + 1)) return false
  const { days = [], weekdays = [] } = cron
  if (days.length > 0 && weekdays.length > 0) {
    return days.includes(day.getUTCDate()) || weekdays.includes(day.getUTCDay())
  }
  return names(days, day.getUTCDate()) && names(weekdays, day.getUTCDay())
}

function names(list: readonly number[] | undefined, value: number): boolean {
  return list === undefined || list.length === 0 || list.includes(value)
}

function everyOf(list: readonly number[] | undefined, count: number): readonly number[] {
  return list === undefined || list.length === 0 ? Array.from({ length: count }, (_, value) => value) : list
}
