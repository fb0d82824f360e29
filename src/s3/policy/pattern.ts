import { wildcard } from './wildcard.ts'

/** What is known about a request, by the name of a condition key as `conditionKey` writes it. Asked for only when needed. */
export type Lookup = (key: string) => readonly string[] | undefined

export type Pattern = (text: string, lookup: Lookup) => boolean

/**
 * Patterns with `*` and `?`, and with variables: `home/${aws:username}/*`. What a variable stands for is text, not a
 * pattern: a user named `*` gets a folder of that name, not those of all users. To tell the two kinds of star apart, those
 * that are text are replaced, on both sides, with halves of surrogate pairs, which no text has by itself.
 *
 * A variable that nothing is known about makes the pattern match nothing. `${*}`, `${?}` and `${$}` are these characters
 * themselves, `${aws:username, 'nobody'}` has a value for the unknown case.
 */
export function compilePattern(pattern: string, options: { readonly isLiteral: boolean }): Pattern {
  if (options.isLiteral || !pattern.includes('${')) {
    const matches = wildcard(pattern)
    return (text) => matches(text)
  }
  const pieces = piecesOf(pattern)
  return (text, lookup) => {
    const filled = fill(pieces, lookup, guarded)
    return filled !== undefined && wildcard(filled)(guarded(text))
  }
}

/** Text with variables in it, where `*` is no more than a star. */
export function compileText(
  text: string,
  options: { readonly isLiteral: boolean },
): (lookup: Lookup) => string | undefined {
  if (options.isLiteral || !text.includes('${')) return () => text
  const pieces = piecesOf(text)
  return (lookup) => fill(pieces, lookup, (value) => value)
}

/** `s3:ExistingObjectTag/Team` → `s3:existingobjecttag/Team`: names of keys are in any case, names of tags are not. */
export function conditionKey(name: string): string {
  const slash = name.indexOf('/')
  return slash < 0 ? name.toLowerCase() : name.slice(0, slash).toLowerCase() + name.slice(slash)
}

/** The condition keys that the variables of a pattern name. */
export function variableKeys(pattern: string): readonly string[] {
  if (!pattern.includes('${')) return []
  return piecesOf(pattern).flatMap((piece) => (typeof piece === 'object' && 'key' in piece ? [piece.key] : []))
}

type Piece = string | { readonly key: string; readonly otherwise: string | undefined } | { readonly text: string }

function piecesOf(pattern: string): readonly Piece[] {
  const pieces: Piece[] = []
  let at = 0
  for (const match of pattern.matchAll(/\$\{\s*([^},]+?)\s*(?:,\s*'([^']*)'\s*)?\}/g)) {
    const [whole, name = '', otherwise] = match
    pieces.push(pattern.slice(at, match.index))
    if (name === '*' || name === '?' || name === '$') pieces.push({ text: name })
    else pieces.push({ key: conditionKey(name), otherwise })
    at = match.index + whole.length
  }
  pieces.push(pattern.slice(at))
  return pieces
}

function fill(pieces: readonly Piece[], lookup: Lookup, guard: (text: string) => string): string | undefined {
  let filled = ''
  for (const piece of pieces) {
    if (typeof piece === 'string') filled += piece
    else if ('text' in piece) filled += guard(piece.text)
    else {
      const value = lookup(piece.key)?.[0] ?? piece.otherwise
      if (value === undefined) return undefined
      filled += guard(value)
    }
  }
  return filled
}

function guarded(text: string): string {
  return /[*?]/.test(text) ? text.replaceAll('*', '\udc00').replaceAll('?', '\udc01') : text
}
