/**
 * Docs of fields are read far from each other: in a table, a form, a help text. So each names its subject and says its
 * unit, and none needs its neighbour to be understood.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Kind } from '../src/model/kinds/index.ts'
import type { Resource } from '../src/model/resource.ts'
import { behaviours } from '../src/resources/index.ts'

interface Documented {
  readonly type: string
  readonly path: string
  readonly doc: string
  /** Words that the doc may refer to by `it` once it has named them. */
  readonly subjects: ReadonlySet<string>
  readonly kind?: Kind
}

const all = behaviours.flatMap(({ resource }) => documented(resource))

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

test('every word of an enumeration that people choose means something', () => {
  const settable = behaviours.flatMap(({ resource }) =>
    [...resource.fields.values()]
      .filter(({ set, kind }) => set !== 'never' && kind.name === 'oneOf' && kind.meanings === undefined)
      .map(({ path }) => `${resource.type} ${path}`),
  )
  assert.deepEqual(
    settable.filter((field) => !WITHOUT_MEANINGS.has(field)),
    [],
    'Say what each word means: oneOf({ word: "What it does." }).',
  )
})

/** Words that mean what they say: names of methods, of algorithms, of sizes. This list only becomes shorter. */
const WITHOUT_MEANINGS: ReadonlySet<string> = new Set([
  'application/applications nas.protection_type.local_rpo',
  'application/applications nas.protection_type.remote_rpo',
  'private/faults method',
  'security/authentication/keys role.name',
  'security/certificate-signing-request hash_function',
  'security/certificates hash_function',
])

function documented(resource: Resource): Documented[] {
  const { type, noun } = resource
  const at = (path: string, doc: string, kind?: Kind): Documented => ({
    type,
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
  ]
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
