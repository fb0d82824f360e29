/**
 * The search of `query`: words that are looked for in several fields at once.
 *
 *     query := all { "|" all }        any of them
 *     all   := word { " " word }      each of them, in the same field or in different ones
 *     word  := text with "*" | quoted text
 *
 * A word is found anywhere in a value, as it is shown, whatever the case of its letters. `query_fields` says where to
 * look: names, objects, `*` for everything, `!name` for what is left out.
 */
import { failure } from './failure.ts'
import { selectFields } from './fields.ts'
import { compileWildcard, type Piece } from './filter.ts'
import type { Kind } from './kinds/index.ts'
import type { Release } from './release.ts'
import { fieldAt, type Resource } from './resource.ts'
import { valuesAt } from './values-at.ts'
import { type Json, type Row, type Value, textOf } from './value.ts'

/** Whether a row has what is looked for, and the fields that have to be known for that. */
export interface Search {
  readonly paths: readonly string[]
  readonly test: (row: Row) => boolean
}

const CHARACTERS_MAX = 1024
const WORDS_MAX = 64

/** Fails with `malformed` where the one is given without the other, or where either cannot be understood. */
export function parseSearch(
  resource: Resource,
  query: string | null,
  fieldExpressions: readonly string[],
  served: Release,
): Search | undefined {
  if (query === null && fieldExpressions.length === 0) return undefined
  if (query === null) throw failure('searchWithoutQuery')
  if (fieldExpressions.every((expression) => expression.trim() === '')) {
    throw failure('searchWithoutFields')
  }
  const paths = searchPaths(resource, fieldExpressions, served)
  const any = splitQuery(query)
  const texts = paths.map((path) => {
    const whole = resource.fields.get(path)?.kind
    if (whole !== undefined) return (row: Row): string[] => words(shown(whole, row[path]))
    const member = fieldAt(resource, path)?.kind
    const one = member?.element ?? member
    return (row: Row): string[] =>
      valuesAt(row, path).flatMap((value) => words(one === undefined ? null : one.print(value)))
  })
  return {
    paths,
    test(row) {
      const values = texts.flatMap((of) => of(row)).map((value) => value.toLowerCase())
      return any.some((all) => all.every((isIn) => values.some((value) => isIn(value))))
    },
  }
}

function searchPaths(resource: Resource, expressions: readonly string[], served: Release): readonly string[] {
  try {
    return [...selectFields(resource, expressions, served)]
  } catch {
    throw failure('searchFieldUnknown', { noun: resource.noun })
  }
}

function shown(kind: Kind, value: Value | undefined): Json {
  return value === undefined || value === null ? null : kind.print(value)
}

/** The plain values within what a record shows. */
function words(json: Json): string[] {
  if (json === null) return []
  if (Array.isArray(json)) return (json as readonly Json[]).flatMap(words)
  if (typeof json === 'object') return Object.values(json as Readonly<Record<string, Json>>).flatMap(words)
  return [textOf(json)]
}

type Word = (value: string) => boolean

function splitQuery(query: string): Word[][] {
  const refuse = (problem: string) => failure('searchMalformed', { problem })
  if (query.length > CHARACTERS_MAX) throw refuse(`it is longer than ${CHARACTERS_MAX} characters.`)
  const any: Word[][] = [[]]
  let pieces: Piece[] = []
  let count = 0
  const flush = () => {
    if (pieces.length === 0) return
    const anything: Piece = { text: '*', isLiteral: false }
    any.at(-1)?.push(compileWildcard([anything, ...pieces, anything]))
    pieces = []
    if (++count > WORDS_MAX) throw refuse(`it has more than ${WORDS_MAX} words.`)
  }
  for (let at = 0; at < query.length; at++) {
    const character = query.charAt(at)
    if (character === '"') {
      const end = query.indexOf('"', at + 1)
      if (end < 0) throw refuse('a quote is not closed.')
      pieces.push({ text: query.slice(at + 1, end).toLowerCase(), isLiteral: true })
      at = end
    } else if (character === ' ') flush()
    else if (character === '|') {
      flush()
      any.push([])
    } else pieces.push({ text: character.toLowerCase(), isLiteral: false })
  }
  flush()
  const filled = any.filter((all) => all.length > 0)
  if (filled.length === 0) throw refuse('it has no word.')
  return filled
}
