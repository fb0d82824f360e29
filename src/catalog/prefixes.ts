import type { KeyRange } from '../ports/catalog.ts'

/** The prefix that a key is folded into, if it is: everything up to and including the first delimiter after `prefix`. */
export function commonPrefix(key: Uint8Array, prefix: Uint8Array, delimiter: Uint8Array): Uint8Array | undefined {
  return startsWith(key, prefix) ? foldedPrefix(key, prefix.length, delimiter) : undefined
}

/** As `commonPrefix`, of a key that is known to begin with the prefix: it has so many bytes. */
export function foldedPrefix(key: Uint8Array, prefixBytes: number, delimiter: Uint8Array): Uint8Array | undefined {
  const [first] = delimiter
  if (first === undefined) return undefined
  // A search for one byte takes a fraction of one for several.
  if (delimiter.length === 1) {
    const found = key.indexOf(first, prefixBytes)
    return found < 0 ? undefined : Uint8Array.from(key.subarray(0, found + 1))
  }
  const found = Buffer.from(key.buffer, key.byteOffset, key.byteLength).indexOf(delimiter, prefixBytes)
  return found < 0 ? undefined : Uint8Array.from(key.subarray(0, found + delimiter.length))
}

function startsWith(key: Uint8Array, prefix: Uint8Array): boolean {
  return key.length >= prefix.length && Buffer.compare(key.subarray(0, prefix.length), prefix) === 0
}

/** The longest key. Listings rely on it: 1025 bytes of 0xff are behind every key. */
export const KEY_BYTES_MAX = 1024

const BEHIND_ALL_KEYS = Buffer.alloc(KEY_BYTES_MAX + 1, 0xff)

/** Keys from the first on, up to another that is not one of them. */
export interface KeyBounds {
  readonly start: Uint8Array
  readonly until: Uint8Array
}

export function boundsOf(range: KeyRange): KeyBounds {
  if ('key' in range) return { start: range.key, until: Buffer.concat([range.key, Buffer.alloc(1)]) }
  return { start: range.prefix, until: successor(range.prefix) ?? BEHIND_ALL_KEYS }
}

export function isWithin({ start, until }: KeyBounds, key: Uint8Array): boolean {
  return Buffer.compare(key, start) >= 0 && Buffer.compare(key, until) < 0
}

/** The smallest string behind everything that begins with the prefix, or nothing when there is none. */
export function successor(prefix: Uint8Array): Uint8Array | undefined {
  let length = prefix.length
  while (length > 0 && prefix[length - 1] === 0xff) length--
  if (length === 0) return undefined
  const next = Uint8Array.from(prefix.subarray(0, length))
  next[length - 1] = (next[length - 1] ?? 0) + 1
  return next
}
