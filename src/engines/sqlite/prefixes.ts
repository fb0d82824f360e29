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

/** The smallest string behind everything that begins with the prefix, or nothing when there is none. */
export function successor(prefix: Uint8Array): Uint8Array | undefined {
  let length = prefix.length
  while (length > 0 && prefix[length - 1] === 0xff) length--
  if (length === 0) return undefined
  const next = Uint8Array.from(prefix.subarray(0, length))
  next[length - 1] = (next[length - 1] ?? 0) + 1
  return next
}
