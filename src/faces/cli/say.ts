/** Says of records what a command calls their fields, and what is made of these. */
import { selectFields } from '../../model/fields.ts'
import { nester } from '../../model/shape.ts'
import { isRecord, type Json, type Row } from '../../model/value.ts'
import { shared } from '../requests/field-sets.ts'
import type { Meaning } from './names.ts'
import { memberOf, type Phrase, type Sight } from './phrases.ts'
import type { Condition, Reading, Wanted } from './query.ts'
import type { Reach } from './reach.ts'
import type { Source } from './tree.ts'

/** What phrases look into has at most so many records. */
const SEEN_MAX = 10_000

/** The collections that phrases look into, each read once. */
export class Sights {
  readonly #reach: Reach
  readonly #seen = new Map<Sight, Promise<readonly Json[]>>()

  constructor(reach: Reach) {
    this.#reach = reach
  }

  of({ sees }: Phrase): Promise<readonly Json[]> {
    if (sees === undefined) return NOTHING
    const known = this.#seen.get(sees) ?? this.#look(sees)
    this.#seen.set(sees, known)
    return known
  }

  async #look({ type, path = {}, fields: paths }: Sight): Promise<readonly Json[]> {
    const { registry, release } = this.#reach.cluster
    const resource = registry.resource(type)
    const fields = shared(resource, selectFields(resource, paths, release))
    const page = { fields, filters: [], limit: SEEN_MAX }
    const { rows } = await this.#reach.read(resource, { pathValues: path }, () => page)
    return rows.map(nester(resource, fields))
  }
}

const NOTHING: Promise<readonly Json[]> = Promise.resolve([])

/** What is said of a record; nothing where it does not meet the conditions. */
export type Say = (row: Row) => Record<string, Json> | undefined

/** Makes the function that says of rows what is wanted of them. They have what was read. */
export async function speaker(
  { resource }: Source,
  reading: () => Reading,
  wanted: Wanted,
  conditions: readonly Condition[],
  sights: Sights,
): Promise<Say> {
  let nest: ReturnType<typeof nester> | undefined
  const values: [name: string, valueIn: ValueIn][] = []
  for (const [name, meaning] of wanted) values.push([name, await valueOf(meaning, sights)])
  const tests: [isMet: Condition['isMet'], valueIn: ValueIn][] = []
  for (const { phrase, isMet } of conditions) tests.push([isMet, await valueOf(phrase, sights)])
  return (row) => {
    nest ??= nester(resource, reading().fields)
    const record = nest(row)
    for (const [isMet, valueIn] of tests) if (!isMet(valueIn(record))) return undefined
    const said: Record<string, Json> = {}
    for (const [name, valueIn] of values) {
      const value = valueIn(record)
      if (value !== undefined) said[name] = value
    }
    return said
  }
}

type ValueIn = (record: Json) => Json | undefined

async function valueOf(meaning: Meaning, sights: Sights): Promise<ValueIn> {
  if (typeof meaning === 'string') {
    const words = meaning.split('.')
    return (record) => pick(record, words, 0)
  }
  const seen = await sights.of(meaning)
  const known = new Map<string, readonly string[]>()
  const wordsOf = (path: string) => {
    const words = known.get(path) ?? path.split('.')
    known.set(path, words)
    return words
  }
  return (record) => meaning.show((path) => memberOf(record, ...wordsOf(path)), seen)
}

/** The value at the words of a path. Of a list, that of each element; of a list with one, its own. */
function pick(record: Json | undefined, words: readonly string[], at: number): Json | undefined {
  if (at === words.length) return record
  if (Array.isArray(record)) {
    const values = (record as readonly Json[])
      .map((one) => pick(one, words, at))
      .filter((one): one is Json => one !== undefined)
    return values.length === 1 ? values[0] : values
  }
  if (!isRecord(record)) return undefined
  return pick((record as Readonly<Record<string, Json>>)[words[at] ?? ''], words, at + 1)
}
