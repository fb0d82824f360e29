/** Rows of a page on their way from all that pass to those that are shown. */
import { overlap } from '../../model/paths.ts'
import { identityPaths, placingPaths } from '../../model/resource.ts'
import type { Row, Value } from '../../model/value.ts'
import { onceEach, type Behaviour } from '../behaviour.ts'
import type { Cluster } from '../cluster.ts'
import { deriveSome, givers, isOwn } from './derive.ts'
import {
  charactersOf,
  OWN_ROW_CHARACTERS,
  SHARED_ROW_CHARACTERS,
  SHORT_VALUE_CHARACTERS,
  shortened,
} from './long-values.ts'
import { wholeRows, type Needed } from './whole-rows.ts'

interface Shown {
  /** With their place among those given. */
  readonly rows: readonly { readonly row: Row; readonly at: number }[]
  /** How many of those given are shown, or have been removed meanwhile. */
  readonly seen: number
}

/** The rows with what is asked for of them: what was left out, and what is derived. */
export async function shownOf(
  cluster: Cluster,
  behaviour: Behaviour,
  rows: readonly Row[],
  fields: ReadonlySet<string>,
): Promise<Shown> {
  const derivations = givers(behaviour, fields)
  const once = onceEach()
  const wanted = [...fields]
  // What a resource derives may be of any of its fields.
  const needed: Needed = derivations.some((each) => isOwn(behaviour, each)) ? 'all' : wanted
  const shown: { row: Row; at: number }[] = []
  let characters = 0
  for await (const some of wholeRows(cluster, behaviour.resource, rows, needed)) {
    const derived = await deriveSome(
      cluster,
      derivations,
      some.map(({ row }) => row),
      once,
    )
    for (const [n, row] of derived.entries()) {
      const at = some[n]?.at ?? 0
      shown.push({ row, at })
      characters += shownCharacters(row, fields)
      if (characters >= cluster.pages.charactersMax) return { rows: shown, seen: at + 1 }
    }
  }
  return { rows: shown, seen: rows.length }
}

export function shownCharacters(row: Row, fields: ReadonlySet<string>): number {
  let characters = 0
  for (const path of fields) {
    const value = row[path]
    if (value !== undefined) characters += path.length + charactersOf(value)
  }
  return characters
}

/** Makes the function that takes from rows what need not be in memory until the page is known. */
export function keeping(behaviour: Behaviour, fields: ReadonlySet<string>, isShared: boolean): (row: Row) => Row {
  const { resource, rows, rowPages } = behaviour
  const wholeCharacters = isShared ? SHARED_ROW_CHARACTERS : OWN_ROW_CHARACTERS
  const isComputed = rows !== undefined || rowPages !== undefined
  if (!isComputed) return (row) => shortened(row, placingPaths(resource), wholeCharacters)
  // These cannot be had again, and what a resource derives may be of any of its fields.
  if (givers(behaviour, fields).some((each) => isOwn(behaviour, each))) return (row) => row
  const wanted = [...fields, ...identityPaths(resource), ...resource.pathKeys]
  return (row) => {
    const entries = Object.entries(row)
    const isKept = ([path, value]: [string, Value]) => isLight(value) || wanted.some((each) => overlap(each, path))
    return entries.every(isKept) ? row : Object.fromEntries(entries.filter(isKept))
  }
}

function isLight(value: Value): boolean {
  if (typeof value === 'string') return value.length <= SHORT_VALUE_CHARACTERS
  return value === null || typeof value !== 'object'
}
