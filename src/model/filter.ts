/**
 * The filter grammar: `name=vol*`, `size=>1g`, `state=online|offline`, `time=2026-01-01..2026-02-01`, `name=!x`,
 * `comment=null`, `name="a|b"` (literal).
 *
 *     filter  := member { ("|" | ",") member }
 *     member  := [ "!" ] test
 *     test    := "null" | "-" | op value | value ".." value | pattern
 *     op      := "<" | ">" | "<=" | ">="
 *
 * Text in quotes or braces is literal. A value list matches when any member does; a list field matches when any of its
 * elements does. Negation and `null` look at the whole field: `!x` means that no element is x. A dash is how command
 * lines show what is not set, so it means that too: `statistics.timestamp=!"-"` (seen in Harvest's templates).
 */
import { failure } from './failure.ts'
import { Misfit, type Kind } from './kinds/index.ts'
import { type Value, textOf } from './value.ts'

export type Test = (values: readonly Value[]) => boolean

const CHARACTERS_MAX = 8192
const MEMBERS_MAX = 1024

/** Compiles a filter on one field. Throws a `malformed` failure that names the argument. */
export function compileFilter(argument: string, kind: Kind, expression: string): Test {
  if (expression.length > CHARACTERS_MAX) {
    throw failure('filterTooLong', { max: CHARACTERS_MAX, argument })
  }
  try {
    const members = split(expression)
    if (members.length > MEMBERS_MAX) throw new Misfit(`it lists more than ${MEMBERS_MAX} values.`)
    const tests = members.map((member) => compileMember(member, kind.element ?? kind))
    const [only] = tests
    return tests.length === 1 && only !== undefined ? only : (values) => tests.some((test) => test(values))
  } catch (misfit) {
    if (misfit instanceof Misfit) {
      const name = misfit.failure === 'filterLacksValue' ? misfit.failure : 'argumentInvalid'
      throw failure(name, { field: argument, problem: misfit.message })
    }
    throw misfit
  }
}

/** A piece of an expression: what was quoted is literal. */
export interface Piece {
  readonly text: string
  readonly isLiteral: boolean
}

function compileMember(pieces: readonly Piece[], kind: Kind): Test {
  const first = pieces[0]
  if (first === undefined) return (values) => values.some((value) => value === '')
  const marks = first.isLiteral ? 0 : first.text.length - first.text.replace(/^!+/, '').length
  if (marks > 0) {
    const rest = [{ ...first, text: first.text.slice(marks) }, ...pieces.slice(1)].filter(
      (piece) => piece.isLiteral || piece.text !== '',
    )
    const test = compileMember(rest, kind)
    return marks % 2 === 0 ? test : (values) => !test(values)
  }
  const isPlain = pieces.every((piece) => !piece.isLiteral)
  const whole = pieces.map((piece) => piece.text).join('')
  if (isPlain && whole === 'null') return (values) => values.length === 0
  if (whole === '-') return (values) => values.length === 0 || values.includes('-')
  if (!first.isLiteral) {
    const operator = /^(<=|>=|<|>)/.exec(first.text)?.[1]
    if (operator !== undefined) {
      const rest = whole.slice(operator.length)
      if (rest === '' && isPlain) throw new Misfit(`the operator "${operator}" lacks a value.`, 'filterLacksValue')
      const bound = kind.parseText(rest)
      return (values) => values.some((value) => holds(operator, kind.compare(value, bound)))
    }
  }
  if (isPlain) {
    const dots = whole.indexOf('..')
    if (dots > 0 && dots + 2 < whole.length) {
      const low = kind.parseText(whole.slice(0, dots))
      const high = kind.parseText(whole.slice(dots + 2))
      return (values) => values.some((value) => kind.compare(value, low) >= 0 && kind.compare(value, high) <= 0)
    }
  }
  if (pieces.some((piece) => !piece.isLiteral && piece.text.includes('*'))) {
    if (whole === '*') return (values) => values.length > 0
    if (!kind.hasWildcards) throw new Misfit('"*" stands for text only; use <, > or a..b.')
    const matches = compileWildcard(pieces)
    return (values) => values.some((value) => matches(textOf(value)))
  }
  const wanted = kind.parseText(whole)
  return (values) => values.some((value) => kind.compare(value, wanted) === 0)
}

function holds(operator: string, order: number): boolean {
  if (operator === '<') return order < 0
  if (operator === '<=') return order <= 0
  return operator === '>' ? order > 0 : order >= 0
}

/** Greedy matching of the parts between stars: linear in the text for each part, no backtracking. */
export function compileWildcard(pieces: readonly Piece[]): (text: string) => boolean {
  const parts = ['']
  for (const piece of pieces) {
    const [head = '', ...tail] = piece.isLiteral ? [piece.text] : piece.text.split('*')
    parts[parts.length - 1] += head
    parts.push(...tail)
  }
  const first = parts[0] ?? ''
  const last = parts.at(-1) ?? ''
  return (text) => {
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
    let at = first.length
    const end = text.length - last.length
    for (const part of parts.slice(1, -1)) {
      const found = text.indexOf(part, at)
      if (found < 0 || found + part.length > end) return false
      at = found + part.length
    }
    return true
  }
}

/** Splits at `|` and `,` outside quotes and braces. */
function split(expression: string): Piece[][] {
  const members: Piece[][] = [[]]
  let plain = ''
  const flush = () => {
    if (plain !== '') members.at(-1)?.push({ text: plain, isLiteral: false })
    plain = ''
  }
  for (let at = 0; at < expression.length; at++) {
    const character = expression.charAt(at)
    const closing = character === '"' ? '"' : character === '{' ? '}' : undefined
    if (closing !== undefined) {
      const end = expression.indexOf(closing, at + 1)
      if (end < 0) throw new Misfit(`the ${character} at position ${at} is not closed.`)
      flush()
      members.at(-1)?.push({ text: expression.slice(at + 1, end), isLiteral: true })
      at = end
    } else if (character === '|' || character === ',') {
      flush()
      members.push([])
    } else plain += character
  }
  flush()
  return members
}
