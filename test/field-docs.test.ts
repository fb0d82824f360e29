/**
 * Docs of fields are read far from each other: in a table, a form, a help text. So each names its subject and says its
 * unit, and none needs its neighbour to be understood.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Behaviour } from '../src/core/behaviour.ts'
import { argumentsOf } from '../src/model/arguments.ts'
import type { Kind } from '../src/model/kinds/index.ts'
import { behaviours } from '../src/resources/index.ts'

interface Documented {
  readonly type: string
  readonly noun: string
  readonly path: string
  readonly doc: string
  /** Words that the doc may refer to by `it` once it has named them. */
  readonly subjects: ReadonlySet<string>
  readonly kind?: Kind
}

const all = behaviours.flatMap(documented)

test('no doc begins with a pronoun, or with a clause for its subject', () => {
  const opening =
    /^(the same|its|those|these|they|it|of (these|those|them)|so (many|much|long|often)|whom?|whose|what|by what|as whom)\b/i
  assert.deepEqual(
    failing(({ doc }) => opening.test(doc)),
    [],
    'Name the subject: the volume, the client, the key.',
  )
})

test('a doc names what it means by "it", "its" or "those"', () => {
  assert.deepEqual(failing(hasDanglingPronoun), [], 'Name the subject before the pronoun.')
})

test('a doc says of what the job, the move or the run is that it means', () => {
  assert.deepEqual(
    failing(({ noun, doc }) => hasDanglingArticle(noun, doc)),
    [],
    'Say of what: the move of the volume.',
  )
})

test('a doc says what happens with terms of the field', () => {
  const riddle =
    /\b(had back|made anew|of use\b|is told|are told|is kept\. |Kept\b|Without it\b|gets beyond|amounted to)/
  assert.deepEqual(
    failing(({ doc }) => riddle.test(doc)),
    [],
    'See the section on English in the style of docs.',
  )
})

test('a number says its unit, or what it counts', () => {
  const unit =
    /\b(number|how many|id|index|port|position|percentage|percent|bytes?|seconds|milliseconds|microseconds|hours|days|bits|ratio|priority|permissions|status|code|tag|seed|mbit|mib|kb|megabits|packets|generation|release|blocks|maximum|times|metric)\b/i
  const numbers = all.filter(({ kind }) => kind?.name === 'count' || kind?.name === 'decimal')
  assert.ok(numbers.length > 300)
  const bare = numbers.filter(({ kind, doc }) => kind?.unit === undefined && !unit.test(doc))
  assert.deepEqual(bare.map(print), [], 'Give the kind a unit, or say in the doc what the number counts.')
})

test('every word of every enumeration means something, in lists and their members too', () => {
  assert.deepEqual(
    behaviours.flatMap(({ resource }) =>
      [...resource.fields.values()].flatMap(({ path, kind }) => bareWords(`${resource.type} ${path}`, kind.schema)),
    ),
    [],
    'Say what each word means: oneOf({ word: "What it does." }).',
  )
})

/** Words of a schema that say nothing beside themselves. */
function bareWords(path: string, schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { enum: words = [], 'x-enumDescriptions': meanings = {} } = schema as Readonly<Record<string, unknown>>
  const means = meanings as Readonly<Record<string, string | undefined>>
  const bare = (words as readonly unknown[]).filter(
    (word) => typeof word === 'string' && !/^\S.*\.$/.test(means[word] ?? ''),
  )
  return [
    ...bare.map((word) => `${path}: ${String(word)}`),
    ...Object.entries(schema).flatMap(([word, inner]) => (word === 'enum' ? [] : bareWords(`${path}.${word}`, inner))),
  ]
}

function documented({ resource, readArgs, create, modify, remove, actions = {} }: Behaviour): Documented[] {
  const { type, noun } = resource
  const at = (path: string, doc: string, kind?: Kind): Documented => ({
    type,
    noun,
    path,
    doc,
    subjects: wordsOf(`${noun} ${path}`),
    ...(kind === undefined ? {} : { kind }),
  })
  const within = (path: string, doc: string, kind: Kind): Documented[] => [
    at(path, doc, kind),
    ...Object.entries(kind.members ?? kind.element?.members ?? {}).flatMap(([name, member]) =>
      within(`${path}.${name}`, member.doc, member.kind),
    ),
  ]
  return [
    at('', resource.doc),
    ...[...resource.groups].map(([path, doc]) => at(path, doc)),
    ...[...resource.fields.values()].flatMap(({ path, doc, kind }) => within(path, doc, kind)),
    ...[readArgs, ...[create, modify, remove, ...Object.values(actions)].map((verb) => verb?.args)].flatMap((args) =>
      [...argumentsOf(args).values()].flatMap(({ path, doc, kind }) => within(`?${path}`, doc, kind)),
    ),
    ...Object.entries(actions).map(([name, { doc }]) => at(`${name}()`, doc)),
  ]
}

/** Whether it says "the move" where neither the resource nor the doc says which one. */
function hasDanglingArticle(noun: string, doc: string): boolean {
  const found =
    /\bthe (?<what>job|move|request|run|scan|search|step|task|thing|transfer|upload)\b(?! (of|that|to)\b)/i.exec(doc)
  const what = found?.groups?.['what'] ?? ''
  return found !== null && !wordsOf(`${noun} ${doc.slice(0, found.index)}`).has(what.toLowerCase())
}

/** Whether the first sentence has a pronoun before anything that it could stand for. */
function hasDanglingPronoun({ doc, subjects }: Documented): boolean {
  const [first = ''] = doc.split(/(?<=\.) /)
  const found = /\b(it|its|they|them|their|those|he|his)\b/i.exec(first)
  if (found === null) return false
  const before = wordsOf(first.slice(0, found.index))
  return ![...before].some((word) => subjects.has(word) || NAMED.has(word))
}

/** What a doc may name beside the resource and its field. */
const NAMED: ReadonlySet<string> = new Set(['cluster', 'each', 'machine', 'group', 'file', 'operating', 'server'])

/** Words without their plural. */
function wordsOf(text: string): Set<string> {
  return new Set((text.toLowerCase().match(/[a-z0-9]{3,}/g) ?? []).map((word) => word.replace(/s$/, '')))
}

function failing(isBad: (each: Documented) => boolean): string[] {
  return all.filter(isBad).map(print)
}

function print({ type, path, doc }: Documented): string {
  return `${type} ${path}: ${doc}`
}
