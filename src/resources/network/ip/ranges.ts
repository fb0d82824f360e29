/** Ranges of addresses: which are free of those that are used. */
import { type Family, familyOf, fromNumber, isWithin, toNumber } from '../../../model/addresses.ts'
import { failures } from '../../../model/failure.ts'

export type AddressRange = {
  readonly start: string
  readonly end: string
  readonly family: Family
}

/** In order, without overlap, and all of one network. Ranges that follow one another stay apart, as they were given. */
export function settleRanges(given: readonly AddressRange[], network: string, prefixLength: number): AddressRange[] {
  const ranges = given
    .map(({ start, end }) => ({ start, end, family: familyOf(start) }))
    .toSorted((a, b) => Number(toNumber(a.start) > toNumber(b.start)) - 0.5)
  let last: AddressRange | undefined
  for (const range of ranges) {
    const text = `${range.start}-${range.end}`
    for (const end of [range.start, range.end]) {
      if (isWithin(end, network, prefixLength)) continue
      throw failures.badValue('ip_ranges', `${end} is not in the network ${network}/${prefixLength}.`)
    }
    if (toNumber(range.end) < toNumber(range.start))
      throw failures.badValue('ip_ranges', `${text} ends before it begins.`)
    if (last !== undefined && toNumber(range.start) <= toNumber(last.end)) {
      throw failures.badValue('ip_ranges', `${text} overlaps with ${last.start}-${last.end}.`)
    }
    last = range
  }
  return ranges
}

export function addressesIn({ start, end }: AddressRange): bigint {
  return toNumber(end) - toNumber(start) + 1n
}

export function isIn(address: string, { start, end, family }: AddressRange): boolean {
  if (address === '' || familyOf(address) !== family) return false
  const number = toNumber(address)
  return number >= toNumber(start) && number <= toNumber(end)
}

/** What is left of the ranges without the addresses that are used. */
export function freeRanges(ranges: readonly AddressRange[], used: readonly string[]): AddressRange[] {
  return ranges.flatMap((range) => {
    const taken = used
      .filter((address) => isIn(address, range))
      .map(toNumber)
      .toSorted((a, b) => (a < b ? -1 : 1))
    if (taken.length === 0) return [range]
    const { family } = range
    const free: AddressRange[] = []
    let from = toNumber(range.start)
    for (const number of [...taken, toNumber(range.end) + 1n]) {
      if (number > from) free.push({ start: fromNumber(from, family), end: fromNumber(number - 1n, family), family })
      from = number + 1n
    }
    return free
  })
}
