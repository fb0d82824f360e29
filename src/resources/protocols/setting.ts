/** Settings of services that are declared by the dozen: each is a line. */
import { count, flag, only, oneOf, text } from '../../model/kinds/index.ts'
import type { FieldDeclaration } from '../../model/resource.ts'

/** Yes or no. */
export function on(doc: string, byDefault: boolean, since?: string): FieldDeclaration {
  return { doc, kind: flag(), set: 'always', default: byDefault, ...from(since) }
}

/** What would deceive if it were kept: no, and nothing else. */
export function never(doc: string, why: string, since?: string): FieldDeclaration {
  return { doc: `${doc} Always false.`, kind: only(false, flag(), why), set: 'always', default: false, ...from(since) }
}

export const NOTHING_ENCRYPTED = 'nothing is served over SMB, so nothing is encrypted on the way.'

export function number(doc: string, byDefault: number, min: number, max: number, since?: string): FieldDeclaration {
  return { doc, kind: count({ min, max }), set: 'always', default: byDefault, ...from(since) }
}

/** One of some words, with what they mean; the first is the default. */
export function choice(doc: string, words: Readonly<Record<string, string>>, since?: string): FieldDeclaration {
  const [byDefault = ''] = Object.keys(words)
  return { doc, kind: oneOf(words), set: 'always', default: byDefault, ...from(since) }
}

/** Text of one character at least. */
export function word(doc: string, byDefault: string, since?: string): FieldDeclaration {
  const kind = text({ charactersMin: 1, charactersMax: 255 })
  return { doc, kind, set: 'always', default: byDefault, ...from(since) }
}

function from(since: string | undefined): { since?: string } {
  return since === undefined ? {} : { since }
}
