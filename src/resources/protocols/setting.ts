/** Settings of services that are declared by the dozen: each is a line. */
import { count, flag, only, oneOf, text } from '../../model/kinds/index.ts'
import type { FieldDeclaration } from '../../model/resource.ts'

/** Yes or no. */
export function on(doc: string, byDefault: boolean, since?: string) {
  return { doc, kind: flag(), set: 'always', default: byDefault, ...from(since) } as const satisfies FieldDeclaration
}

/** What would deceive if it were kept: no, and nothing else. */
export function never(doc: string, why: string, since?: string) {
  return {
    doc: `${doc} Always false.`,
    kind: only(false, flag(), why),
    set: 'always',
    default: false,
    ...from(since),
  } as const satisfies FieldDeclaration
}

export const NOTHING_ENCRYPTED = 'nothing is served over SMB, so nothing is encrypted on the way.'

export function number(doc: string, byDefault: number, min: number, max: number, since?: string) {
  return {
    doc,
    kind: count({ min, max }),
    set: 'always',
    default: byDefault,
    ...from(since),
  } as const satisfies FieldDeclaration
}

/** One of some words, with what they mean; the first is the default. */
export function choice<const Words extends Readonly<Record<string, string>>>(
  doc: string,
  words: Words,
  since?: string,
) {
  const [byDefault = ''] = Object.keys(words)
  return {
    doc,
    kind: oneOf(words),
    set: 'always',
    default: byDefault,
    ...from(since),
  } as const satisfies FieldDeclaration
}

/** Text of one character at least. */
export function word(doc: string, byDefault: string, since?: string) {
  const kind = text({ charactersMin: 1, charactersMax: 255 })
  return { doc, kind, set: 'always', default: byDefault, ...from(since) } as const satisfies FieldDeclaration
}

function from(since: string | undefined): { since?: string } {
  return since === undefined ? {} : { since }
}
