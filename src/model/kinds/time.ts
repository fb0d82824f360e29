import { compareNumbers, Misfit, quoted, type Kind } from './kind.ts'

/** What a `Date` can hold. */
const TIME_MS_MAX = 8.64e15
/** A plus that is not escaped in an address arrives as a blank: `2026-01-01T00:00:00 02:00`. */
const LOST_PLUS = /(T[\d:.]+) (\d{2}:?\d{2})$/

/** A moment, kept as milliseconds; printed as ISO 8601 in UTC. Filters may use ISO 8601 or seconds since 1970. */
export function time(): Kind<number> {
  const parse = (value: unknown): number => {
    const ms =
      typeof value === 'number' || (typeof value === 'string' && /^\d{1,12}$/.test(value))
        ? Number(value) * 1000
        : typeof value === 'string' && /^\d{4}-\d{2}-\d{2}/.test(value)
          ? Date.parse(value.replace(LOST_PLUS, '$1+$2'))
          : Number.NaN
    if (!(Math.abs(ms) <= TIME_MS_MAX)) throw new Misfit(`${quoted(value)} is not a date and time (ISO 8601).`)
    return ms
  }
  return {
    name: 'time',
    hasWildcards: false,
    parse,
    parseText: parse,
    print: printTime,
    compare: compareNumbers,
    schema: { type: 'string', format: 'date-time' },
  }
}

/** Seconds are as fine as clients of the interface parse: `2026-11-21T06:31:50Z`. */
function printTime(value: unknown): string {
  return new Date(Number(value)).toISOString().replace(/\.\d{3}Z$/, 'Z')
}

const DURATION = /^P(?:(\d{1,9})W|(?:(\d{1,9})D)?(?:T(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?)$/

/** A length of time, kept as seconds; ISO 8601 outside (`PT15S`, `P1D`). */
export function duration(): Kind<number> {
  const parse = (value: unknown): number => {
    const match = typeof value === 'string' && value.length > 2 ? DURATION.exec(value) : null
    if (match === null || match.slice(1).every((part) => part === undefined)) {
      throw new Misfit(`${quoted(value)} is not a duration (ISO 8601, such as PT15S or P1D).`)
    }
    const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match.slice(1).map((part) => Number(part ?? 0))
    return (weeks * 7 + days) * 86_400 + hours * 3600 + minutes * 60 + seconds
  }
  return {
    name: 'duration',
    hasWildcards: false,
    parse,
    parseText: parse,
    print: (value) => printDuration(Number(value)),
    compare: compareNumbers,
    schema: { type: 'string', format: 'duration' },
  }
}

function printDuration(seconds: number): string {
  const days = Math.floor(seconds / 86_400)
  const rest = seconds - days * 86_400
  const parts = [
    [Math.floor(rest / 3600), 'H'],
    [Math.floor(rest / 60) % 60, 'M'],
    [rest % 60, 'S'],
  ].filter(([part]) => part !== 0)
  if (days === 0 && parts.length === 0) return 'PT0S'
  return `P${days === 0 ? '' : `${days}D`}${parts.length === 0 ? '' : `T${parts.flat().join('')}`}`
}
