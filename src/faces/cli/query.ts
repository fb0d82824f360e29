/**
 * What the query of a command asks for, with its names made fields of the model:
 *
 *     ?fields=used&vserver=svm1&order_by=volume  ─▶  fields space.used, svm.name, name; filter on svm.name; order by name
 */
import { parseArgument } from '../../model/arguments.ts'
import { failure } from '../../model/failure.ts'
import { selectFields } from '../../model/fields.ts'
import { compileFilter } from '../../model/filter.ts'
import { flag } from '../../model/kinds/index.ts'
import { type Filter, type Order, parseFilter, parseOrder } from '../../model/query.ts'
import { printRelease, type Release } from '../../model/release.ts'
import type { Resource } from '../../model/resource.ts'
import type { Json, Value } from '../../model/value.ts'
import { fieldsAskedFor, shared } from '../requests/field-sets.ts'
import { insistOnNoSecret } from '../rest/address.ts'
import { insistOnCount, offsetArgument, pageLimit } from '../rest/arguments.ts'
import { type Meaning, underscored } from './names.ts'
import type { Phrase } from './phrases.ts'
import type { Command, Source } from './tree.ts'

/** The names that are shown, with what they mean. */
export type Wanted = readonly (readonly [name: string, meaning: Meaning])[]

/** A filter on a field, as it was written. */
export interface Said {
  readonly name: string
  readonly path: string
  readonly expression: string
}

/** A filter on what is made of fields. */
export interface Condition {
  readonly phrase: Phrase
  readonly isMet: (value: Json | undefined) => boolean
}

export interface Filters {
  /** Those that a read takes. */
  readonly plain: readonly Said[]
  readonly conditions: readonly Condition[]
}

export interface Reading {
  readonly fields: ReadonlySet<string>
  readonly filters: readonly Filter[]
}

/** The place of a page: in which of the collections it begins, and where in that one. */
export interface Start {
  readonly parent: string
  readonly place: string
}

const PAGING = new Set(['max_records', 'offset', 'start'])
/** Whether names in `fields` that the command does not know are skipped, as in the REST interface. */
const LENIENT = 'ignore_unknown_fields'
/** Arguments that filter nothing. */
const IGNORED = new Set(['privilege_level', 'pretty', 'expand', 'return_records', 'return_timeout', LENIENT])

export class CommandQuery {
  readonly command: Command
  readonly given: URLSearchParams
  readonly #release: Release

  constructor(command: Command, given: URLSearchParams, release: Release) {
    insistOnCount(given)
    this.command = command
    this.given = given
    this.#release = release
  }

  /** The names that are asked for, and those that every record has. */
  wanted(source: Source): Wanted {
    const names = this.given.getAll('fields').flatMap((list) => list.split(','))
    const asked = names.map((name) => name.trim()).filter((name) => name !== '')
    if (asked.some((name) => name.includes('*'))) throw failure('allFieldsRefused')
    const { names: known, resource } = source
    // Of what there is one of, nothing else would say what it is.
    const wanted = new Map<string, Meaning>(resource.isSingleton && asked.length === 0 ? known.all : known.keys)
    const lenience = this.given.get(LENIENT)
    const isLenient = lenience !== null && parseArgument({ path: LENIENT, kind: flag() }, lenience) === true
    for (const name of isLenient ? asked.filter((one) => known.meaningOf(one) !== undefined) : asked) {
      wanted.set(underscored(name), meaningOf(source, name))
    }
    return [...wanted]
  }

  /** What the query says of fields, and what the command is about in any case. */
  filters(source: Source): Filters {
    return filtersOf(source, this.#filtering())
  }

  orders(): readonly Order[] {
    const { command } = this
    return parseOrder(command.resource, this.given.getAll('order_by').join(','), this.#release, (name) => {
      const meaning = meaningOf(command, name)
      if (typeof meaning !== 'string') throw failure('orderByUnknown', { name })
      return meaning
    })
  }

  /** Whether another source has all that is filtered by. */
  isOf(source: Source): boolean {
    return this.#filtering().every(([name]) => source.names.meaningOf(name) !== undefined)
  }

  /** How many records a page has; nothing where it is not said. */
  limit(): number | undefined {
    const given = this.given.get('max_records')
    return given === null ? undefined : pageLimit('max_records', given)
  }

  offset(): number {
    return offsetArgument(this.given)
  }

  start(): Start | undefined {
    const given = this.given.get('start')
    if (given === null) return undefined
    const mark = given.indexOf('~')
    if (mark < 0) throw failure('pageUnknown')
    return { parent: given.slice(0, mark), place: given.slice(mark + 1) }
  }

  /** The same query from a place on. */
  from({ parent, place }: Start): string {
    const query = new URLSearchParams(this.given)
    query.delete('offset')
    query.set('start', `${parent}~${place}`)
    return query.toString()
  }

  /**
   * Gives the read of what is wanted and filtered by, to who was let in to it. Fails where the release or the kinds of the
   * fields do not take it.
   */
  reading(source: Source, wanted: Wanted, filters: Filters): () => Reading {
    let made: Reading | undefined
    return () => (made ??= this.#reading(source, wanted, filters))
  }

  #reading({ resource, names }: Source, wanted: Wanted, { plain, conditions }: Filters): Reading {
    insistOnNoSecret(new Set(plain.map(({ path }) => path)))
    const nameOf = new Map(wanted.flatMap(([name, meaning]) => (typeof meaning === 'string' ? [[meaning, name]] : [])))
    const phrases = [...wanted.map(([, meaning]) => meaning), ...conditions.map(({ phrase }) => phrase)]
    const paths = phrases
      .flatMap((meaning) => (typeof meaning === 'string' ? [meaning] : meaning.from))
      // What something is made of may come with a later release.
      .filter((path) => nameOf.has(path) || names.isServed(path))
    const release = this.#release
    const words = ['command', printRelease(release), ...paths].join(' ')
    const fields = fieldsAskedFor(resource, words, () =>
      shared(
        resource,
        selectFields(resource, paths, release, false, (path) => nameOf.get(path) ?? path),
      ),
    )
    return { fields, filters: plain.map((said) => this.filter(resource, said)) }
  }

  filter(resource: Resource, { path, expression, name }: Said): Filter {
    return parseFilter(resource, path, expression, this.#release, name)
  }

  #filtering(): [name: string, expression: string][] {
    return [...this.given].filter(
      ([name]) => !PAGING.has(name) && !IGNORED.has(name) && name !== 'fields' && name !== 'order_by',
    )
  }
}

/** Filters by names of the command, beside those of what it is about. */
export function filtersOf(source: Source, given: readonly (readonly [name: string, expression: string])[]): Filters {
  const plain: Said[] = []
  const conditions: Condition[] = []
  for (const [name, expression] of [...Object.entries(source.where), ...given]) {
    const meaning = meaningOf(source, name)
    if (typeof meaning === 'string') plain.push({ name, path: meaning, expression })
    else conditions.push(conditionOn(name, meaning, expression))
  }
  return { plain, conditions }
}

export function meaningOf(source: Source, name: string): Meaning {
  const meaning = source.names.meaningOf(name)
  if (meaning === undefined) throw failure('argumentUnexpected', { name })
  return meaning
}

function conditionOn(name: string, phrase: Phrase, expression: string): Condition {
  const test = compileFilter(name, phrase.kind, expression)
  return {
    phrase,
    isMet: (value) => test(value === undefined ? [] : Array.isArray(value) ? (value as readonly Value[]) : [value]),
  }
}

/** As a filter that means just this. */
export const literal = (value: unknown) =>
  `"${typeof value === 'string' || typeof value === 'number' ? String(value) : ''}"`
