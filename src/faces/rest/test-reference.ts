/**
 * What a GET of things should answer, worked out slowly and in the most obvious way from the records as they were sent:
 * the measure for the product, with which it shares no code.
 */
export type Plain = string | number | boolean
export type Shown = Plain | readonly Shown[] | { readonly [name: string]: Shown }
export interface Thing {
  readonly [name: string]: Shown
}

/** One test of a filter; several make a list of which any may hold. */
export type Check =
  | { readonly is: 'null' }
  | { readonly is: 'dash' }
  | { readonly is: 'set' }
  | { readonly is: 'equal'; readonly value: Plain }
  | { readonly is: '<' | '>' | '<=' | '>='; readonly value: Plain }
  | { readonly is: 'range'; readonly low: Plain; readonly high: Plain }
  /** Texts with any text between them. */
  | { readonly is: 'pattern'; readonly parts: readonly string[] }

export interface Member {
  readonly negations: number
  readonly check: Check
}

export interface AskedFilter {
  readonly path: string
  readonly members: readonly Member[]
}

export interface AskedOrder {
  readonly path: string
  readonly isDescending: boolean
}

export interface AskedField {
  /** `*`, `**`, a field, an object, or a member of a list. */
  readonly path: string
  readonly isExcluded: boolean
}

/** The plain values at a path: those of all elements on the way. */
export function valuesOf(shown: Shown | undefined, words: readonly string[]): Plain[] {
  if (shown === undefined) return []
  if (Array.isArray(shown)) return (shown as readonly Shown[]).flatMap((element) => valuesOf(element, words))
  if (typeof shown !== 'object') return words.length === 0 ? [shown] : []
  const [first, ...rest] = words
  return first === undefined ? [] : valuesOf((shown as Thing)[first], rest)
}

export function chosen(things: readonly Thing[], filters: readonly AskedFilter[]): Thing[] {
  return things.filter((thing) =>
    filters.every(({ path, members }) => members.some((member) => holds(member, valuesOf(thing, path.split('.'))))),
  )
}

function holds({ negations, check }: Member, values: readonly Plain[]): boolean {
  const plain = checkHolds(check, values)
  return negations % 2 === 0 ? plain : !plain
}

function checkHolds(check: Check, values: readonly Plain[]): boolean {
  switch (check.is) {
    case 'null':
      return values.length === 0
    case 'dash':
      return values.length === 0 || values.includes('-')
    case 'set':
      return values.length > 0
    case 'equal':
      return values.includes(check.value)
    case 'range':
      return values.some((value) => order(value, check.low) >= 0 && order(value, check.high) <= 0)
    case 'pattern':
      return values.some((value) => matches(check.parts, String(value)))
    case '<':
      return values.some((value) => order(value, check.value) < 0)
    case '<=':
      return values.some((value) => order(value, check.value) <= 0)
    case '>':
      return values.some((value) => order(value, check.value) > 0)
    case '>=':
      return values.some((value) => order(value, check.value) >= 0)
  }
}

/** Tries every place for every part. */
function matches([first = '', ...rest]: readonly string[], text: string): boolean {
  if (rest.length === 0) return text === first
  if (!text.startsWith(first)) return false
  const left = text.slice(first.length)
  for (let from = 0; from <= left.length; from++) if (matches(rest, left.slice(from))) return true
  return false
}

function order(a: Plain, b: Plain): number {
  return a === b ? 0 : a < b ? -1 : 1
}

/** Takes out the least again and again. What is not set comes last, and names decide where nothing else does. */
export function sorted(things: readonly Thing[], orders: readonly AskedOrder[]): Thing[] {
  const left = [...things]
  const done: Thing[] = []
  while (left.length > 0) {
    let least = 0
    for (const at of left.keys()) if (isBefore(left[at] as Thing, left[least] as Thing, orders)) least = at
    done.push(...left.splice(least, 1))
  }
  return done
}

function isBefore(a: Thing, b: Thing, orders: readonly AskedOrder[]): boolean {
  for (const { path, isDescending } of orders) {
    const [left] = valuesOf(a, path.split('.'))
    const [right] = valuesOf(b, path.split('.'))
    if (left === right) continue
    if (left === undefined || right === undefined) return right === undefined
    const compared = order(left, right)
    if (compared !== 0) return isDescending ? compared > 0 : compared < 0
  }
  return order(nameOf(a), nameOf(b)) < 0
}

const nameOf = (thing: Thing) => valuesOf(thing, ['name'])[0] ?? ''

/**
 * Of a thing, what the fields ask for. A leaf is shown when some word takes it and no exclusion takes it away; where there
 * are exclusions alone, they take away from `*`. What a filter names is shown in any case. Objects of which nothing is left are not shown; elements of lists are.
 */
export function projected(
  thing: Thing,
  asked: readonly AskedField[],
  expensive: readonly string[],
  filtered: readonly string[],
): Record<string, Shown> {
  const includes = asked.filter(({ isExcluded }) => !isExcluded).map(({ path }) => path)
  const excludes = asked.filter(({ isExcluded }) => isExcluded).map(({ path }) => path)
  const takes = (word: string, leaf: string) =>
    word === '**' || (word === '*' && !expensive.includes(leaf)) || word === leaf || leaf.startsWith(`${word}.`)
  const isShown = (leaf: string) =>
    filtered.some((word) => takes(word, leaf)) ||
    ((includes.length === 0 ? ['*'] : includes).some((word) => takes(word, leaf)) &&
      !excludes.some((word) => takes(word, leaf)))
  return (projectedAt(thing, '', isShown) ?? {}) as Record<string, Shown>
}

function projectedAt(shown: Shown, path: string, isShown: (leaf: string) => boolean): Shown | undefined {
  if (Array.isArray(shown)) {
    const elements = shown as readonly Shown[]
    if (typeof elements[0] !== 'object') return isShown(path) ? shown : undefined
    const isAny = leavesOf(path).some((leaf) => isShown(leaf))
    return isAny ? elements.map((element) => projectedAt(element, path, isShown) ?? {}) : undefined
  }
  if (typeof shown !== 'object') return isShown(path) ? shown : undefined
  const kept: Record<string, Shown> = {}
  for (const [name, value] of Object.entries(shown as Thing)) {
    const projectedValue = projectedAt(value, path === '' ? name : `${path}.${name}`, isShown)
    if (projectedValue !== undefined) kept[name] = projectedValue
  }
  return Object.keys(kept).length === 0 ? undefined : kept
}

/** The leaves that elements of a list of things may have. */
export const LIST_LEAVES: Readonly<Record<string, readonly string[]>> = {
  parts: ['parts.name', 'parts.count', 'parts.place.name', 'parts.place.floor'],
}

function leavesOf(path: string): readonly string[] {
  return LIST_LEAVES[path] ?? []
}
