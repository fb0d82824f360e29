/** What a `fields` expression selects: `name,space`, `*`, `**`, `space.*`, `a.{b,c.{d,e}}`, and less of it with `!space.used`. */
import { failure } from './failure.ts'
import { isServed, type Release } from './release.ts'
import { declaredName, fieldAt, type Resource } from './resource.ts'

/**
 * The paths that `fields` expressions select. Exclusions alone take away from what is shown without any expression.
 * Fails with `malformed`, target `fields`; a lenient reading passes over names that nothing has. Failures call a field by
 * the name that the client used for it.
 */
export function selectFields(
  resource: Resource,
  expressions: readonly string[],
  served: Release,
  isLenient = false,
  nameOf: (path: string) => string = (path) => path,
): Set<string> {
  const words = expressions.flatMap(splitFields)
  const selected = new Set<string>()
  if (words.length > 0 && words.every(({ isExcluded }) => isExcluded)) {
    for (const path of matching('*')) selected.add(path)
  }
  for (const { word, isExcluded } of words) if (!isExcluded) for (const path of matching(word)) selected.add(path)
  for (const { word, isExcluded } of words) if (isExcluded) for (const path of matching(word)) exclude(path)
  return selected

  function matching(given: string): string[] {
    const word = declaredName(resource, given)
    // Links follow from who asks, not from what is asked for.
    if (word === '_links' || word.endsWith('._links')) return []
    const all = [...resource.fields.values()].filter((field) => isServed(field.since, served))
    const fields = all.filter((field) => field.kind.isSecret !== true && !field.shownOnce)
    if (word === '**') return fields.map((field) => field.path)
    if (word === '*') return fields.filter((field) => !field.isExpensive).map((field) => field.path)
    const base = word.endsWith('.*') ? word.slice(0, -2) : word
    const within = fields.filter((field) => field.path === base || field.path.startsWith(`${base}.`))
    if (within.length > 0) return within.map((field) => field.path)
    const found = fieldAt(resource, base)
    if (found?.member !== undefined && isServed(found.field.since, served)) return [base]
    if (isLenient) return []
    if (all.some((field) => field.path === base)) {
      throw failure('fieldNeverShown', { field: nameOf(base) })
    }
    throw failure('fieldsUnknown', { field: nameOf(given).slice(0, 80), noun: resource.noun })
  }

  /** Takes a path away, and what is under it. Of a list, the other members of its elements stay. */
  function exclude(path: string): void {
    for (const one of selected) {
      if (one === path || one.startsWith(`${path}.`)) selected.delete(one)
      else if (path.startsWith(`${one}.`)) {
        selected.delete(one)
        // Those that are added are visited as well, so that members of members are left in their turn.
        for (const member of Object.keys(fieldAt(resource, one)?.kind.members ?? {})) selected.add(`${one}.${member}`)
      }
    }
  }
}

interface Word {
  readonly word: string
  readonly isExcluded: boolean
}

const DEPTH_MAX = 16

function splitFields(expression: string): Word[] {
  const words: Word[] = []
  const open: string[] = []
  let word = ''
  const flush = () => {
    const trimmed = word.trim()
    word = ''
    if (trimmed === '') return
    const parts = [...open, trimmed]
    words.push({
      word: parts.map((part) => part.replace(/^!/, '')).join('.'),
      isExcluded: parts.some((part) => part.startsWith('!')),
    })
  }
  for (const character of expression) {
    if (character === ',') flush()
    else if (character === '{') {
      open.push(word.trim().replace(/\.$/, ''))
      word = ''
      if (open.length > DEPTH_MAX) throw failure('bracesTooDeep')
    } else if (character === '}') {
      flush()
      if (open.pop() === undefined) {
        throw failure('braceNotOpened')
      }
    } else word += character
  }
  flush()
  if (open.length > 0) throw failure('braceNotClosed')
  return words
}
