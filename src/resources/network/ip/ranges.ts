/** Ranges of addresses: which are free of those that are used. */
import { type Family, familyOf, fromNumber, isWithin, toNumber } from '../../../model/addresses.ts'
import { failure } from '../../../model/failure.ts'

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
      throw failure('ipRangeOutside', { address: end, network, prefixLength })
    }
    if (toNumber(range.end) < toNumber(range.start)) throw failure('ipRangeReversed', { range: text })
    if (last !== undefined && toNumber(range.start) <= toNumber(last.end)) {
      throw failure('ipRangesOverlap', { range: text, start: last.start, end: last.end })
    }
    last = range
  }
  return ranges
}

export function addressesIn({ start, end }: AddressRange): bigint {
  return toNumber(end) - toNumber(start) + 1n
}

/** An address as a number, to be compared with very many ranges. */
export interface NumberedAddress {
  readonly family: Family
  readonly number: bigint
}

/** Each address once, in order. */
export function numbered(addresses: readonly string[]): NumberedAddress[] {
  return [...new Set(addresses)]
    .filter((address) => address !== '')
    .map((address) => ({ family: familyOf(address), number: toNumber(address) }))
    .toSorted((a, b) => (a.number < b.number ? -1 : 1))
}

/** Those of the addresses that are in a range, in their order. */
export function takenIn(range: AddressRange, addresses: readonly NumberedAddress[]): NumberedAddress[] {
  const [first, last] = [toNumber(range.start), toNumber(range.end)]
  return addresses.filter(({ family, number }) => family === range.family && number >= first && number <= last)
}

/** What is left of a range without the addresses in it that are taken. */
export function freeOf(range: AddressRange, taken: readonly NumberedAddress[]): AddressRange[] {
  if (taken.length === 0) return [range]
  const { family } = range
  const free: AddressRange[] = []
  let from = toNumber(range.start)
  for (const number of [...taken.map((one) => one.number), toNumber(range.end) + 1n]) {
    if (number > from) free.push({ start: fromNumber(from, family), end: fromNumber(number - 1n, family), family })
    from = number + 1n
  }
  return free
}
