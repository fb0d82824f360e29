/**
 * `2026-11-21T18:04:05.123Z`. A page of a listing has a thousand of these, most of them of few days; `toISOString` takes
 * twenty times as long.
 */
export function isoTime(ms: number): string {
  const day = Math.floor(ms / DAY_MS)
  if (day !== lastDay) {
    lastDayText = new Date(day * DAY_MS).toISOString().slice(0, -TIME_LENGTH)
    lastDay = day
  }
  const rest = Math.floor(ms - day * DAY_MS)
  const seconds = Math.floor(rest / 1000)
  const minutes = Math.floor(seconds / 60)
  const time = `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(seconds % 60)}.${three(rest % 1000)}Z`
  return lastDayText + time
}

/** `Sat, 21 Nov 2026 18:04:05 GMT`, as HTTP writes times. `toUTCString` takes ten times as long. */
export function httpTime(ms: number): string {
  const day = Math.floor(ms / DAY_MS)
  if (day !== lastHttpDay) {
    lastHttpDayText = new Date(day * DAY_MS).toUTCString().slice(0, -HTTP_TIME_LENGTH)
    lastHttpDay = day
  }
  const seconds = Math.floor((ms - day * DAY_MS) / 1000)
  const minutes = Math.floor(seconds / 60)
  return `${lastHttpDayText}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(seconds % 60)} GMT`
}

const DAY_MS = 86_400_000
const HTTP_TIME_LENGTH = '00:00:00 GMT'.length
const TIME_LENGTH = '00:00:00.000Z'.length

let lastDay = Number.NaN
let lastDayText = ''
let lastHttpDay = Number.NaN
let lastHttpDayText = ''

const twos = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'))
const threes = Array.from({ length: 1000 }, (_, n) => String(n).padStart(3, '0'))
const two = (n: number) => twos[n] ?? ''
const three = (n: number) => threes[n] ?? ''
