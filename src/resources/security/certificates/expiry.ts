/** Until when a certificate is to be valid: a moment, or a length of time from when it is made, which may have years. */
import { failure } from '../../../model/failure.ts'
import { duration, Misfit, time, type Kind } from '../../../model/kinds/index.ts'
import type { Value } from '../../../model/value.ts'

const DAY_MS = 86_400_000
const DAYS_USUALLY = 365
const DAYS_MAX = 3653

/** Tools write P365DT, too. Years and months are not in the durations of other fields, as they differ in length. */
const CALENDAR = /^P(?=\d)(?:(\d{1,4})Y)?(?:(\d{1,4})M)?(?:(\d{1,5})D)?T?$/

/** A moment is a number, as with any time; a length is the text of its seconds until the moment is known. */
export function expiry(): Kind {
  const moment = time()
  return {
    ...moment,
    parse: (value) =>
      typeof value === 'string' && value.startsWith('P') ? String(lengthSeconds(value)) : moment.parse(value),
  }
}

function lengthSeconds(given: string): number {
  const [, years = '0', months = '0', days = '0'] = CALENDAR.exec(given) ?? []
  const seconds = CALENDAR.test(given)
    ? (Number(years) * 365 + Number(months) * 30 + Number(days)) * 86_400
    : duration().parse(given)
  if (seconds > DAYS_MAX * 86_400) throw new Misfit(`${given} is longer than ${DAYS_MAX} days.`)
  return seconds
}

/** The moment that was asked for, in milliseconds. Certificates have no parts of seconds. */
export function expiryMs(given: Value | undefined, nowMs: number): number {
  const expires = typeof given === 'string' ? nowMs + Number(given) * 1000 : (given ?? nowMs + DAYS_USUALLY * DAY_MS)
  if (Number(expires) < nowMs + DAY_MS || Number(expires) > nowMs + DAYS_MAX * DAY_MS) {
    throw failure('expiryOutOfBounds', { max: DAYS_MAX })
  }
  return Math.floor(Number(expires) / 1000) * 1000
}
