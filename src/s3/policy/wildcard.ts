/**
 * Matches `*` (any characters, none too, slashes too) and `?` (one character) as policies have them.
 *
 * A pattern is cut at its stars. The first and the last piece are anchored, and each piece between is taken at the first
 * place where it fits: a later place never helps what follows. So nothing is tried twice, as it is in a regular expression
 * with several `.*`, and the cost is at most the length of the pattern times that of the text.
 */
export function wildcard(pattern: string): (text: string) => boolean {
  const pieces = pattern.split(/\*+/)
  const [first = ''] = pieces
  if (pieces.length === 1) return (text) => lengthAt(first, text, 0) === text.length
  const last = pieces.at(-1) ?? ''
  const middle = pieces.slice(1, -1)
  return (text) => {
    let at = lengthAt(first, text, 0)
    if (at < 0) return false
    for (const piece of middle) {
      at = endOfFirst(piece, text, at)
      if (at < 0) return false
    }
    return endsWith(last, text, at)
  }
}

/** The index behind the piece when it fits at `at`, otherwise -1. */
function lengthAt(piece: string, text: string, at: number): number {
  if (!piece.includes('?')) return text.startsWith(piece, at) ? at + piece.length : -1
  let index = at
  for (const wanted of piece) {
    const here = text.codePointAt(index)
    if (here === undefined || (wanted !== '?' && here !== wanted.codePointAt(0))) return -1
    index += here > 0xffff ? 2 : 1
  }
  return index
}

function endOfFirst(piece: string, text: string, from: number): number {
  if (!piece.includes('?')) {
    const found = text.indexOf(piece, from)
    return found < 0 ? -1 : found + piece.length
  }
  for (let at = from; at <= text.length; at += 1) {
    if (isInsidePair(text, at)) continue
    const end = lengthAt(piece, text, at)
    if (end >= 0) return end
  }
  return -1
}

function endsWith(piece: string, text: string, from: number): boolean {
  if (!piece.includes('?')) return text.length - piece.length >= from && text.endsWith(piece)
  // Characters differ in length, so the start is found by counting them from the end.
  let start = text.length
  for (const _ of piece) start -= isInsidePair(text, start - 1) ? 2 : 1
  return start >= from && lengthAt(piece, text, start) === text.length
}

/** Between the two halves of a character beyond U+FFFF. */
function isInsidePair(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800
}
