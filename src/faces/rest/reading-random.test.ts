/** Random questions about random things, answered by the product as over HTTP, against a slow and obvious reference. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import * as fc from 'fast-check'
import { asText, recordsOf, type Body } from '../../../test/support/body.ts'
import { seedOf } from '../../../test/support/seed.ts'
import {
  chosen,
  projected,
  sorted,
  type AskedField,
  type AskedFilter,
  type AskedOrder,
  type Check,
  type Plain,
  type Thing,
} from './test-reference.ts'
import { NATIVE, startThings, THINGS } from './test-things.ts'

const cluster = await startThings()
after(() => cluster.close())

/** A field with values that it may have, and the ways to write one of them in a filter. */
interface Domain {
  readonly path: string
  readonly values: readonly Plain[]
  readonly isText?: boolean
  readonly write: (value: Plain) => readonly string[]
}

const plainly = (value: Plain) => [String(value)]
const quoted = (value: Plain) => {
  const text = String(value)
  const isSafe = /^[a-zä][a-zä ]*$/.test(text) && text !== 'null'
  return [
    ...(isSafe ? [text] : []),
    ...(text.includes('"') ? [] : [`"${text}"`]),
    ...(text.includes('}') ? [] : [`{${text}}`]),
  ]
}
const sizes = (value: Plain) => {
  const bytes = Number(value)
  return [
    String(bytes),
    ...(bytes % 1024 === 0 ? [`${bytes / 1024}k`, `${bytes / 1024}KB`, `${bytes / 1024} KiB`] : []),
  ]
}
const times = (value: Plain) => {
  const ms = Date.parse(String(value))
  return [String(value), String(ms / 1000), new Date(ms).toISOString().replace('Z', '+00:00')]
}

const TEXTS = [
  '',
  'a',
  'ab',
  'abab',
  'b',
  'a|b',
  'a,b',
  '"q"',
  '{x}',
  'x}',
  '*',
  '!a',
  'null',
  '<1',
  '1..2',
  'ä',
  'a b',
]
const DOMAINS: readonly Domain[] = [
  { path: 'comment', values: TEXTS, isText: true, write: quoted },
  { path: 'labels', values: TEXTS, isText: true, write: quoted },
  { path: 'state', values: ['online', 'offline', 'restricted'], isText: true, write: quoted },
  { path: 'enabled', values: [true, false], write: (value) => [String(value), String(value).toUpperCase()] },
  { path: 'size', values: [0, 1, 1024, 4096, 2 ** 40], write: sizes },
  { path: 'space.used', values: [0, 5, 2048], write: sizes },
  { path: 'space.limit.files', values: [0, 7, 8], write: plainly },
  { path: 'ratio', values: [0.5, 1.25, 3], write: plainly },
  { path: 'made', values: ['2026-01-01T00:00:00Z', '2026-06-01T12:00:00Z', '1999-12-31T23:59:59Z'], write: times },
  { path: 'numbers', values: [0, 1, 5, 9], write: plainly },
  { path: 'parts.name', values: ['lid', 'leg', 'a'], isText: true, write: quoted },
  { path: 'parts.count', values: [1, 2, 4], write: plainly },
  { path: 'parts.place.floor', values: [0, 1], write: plainly },
]
const EXPENSIVE = ['detail']

const domain = (path: string) => DOMAINS.find((each) => each.path === path) as Domain
const valueOf = (path: string) => fc.constantFrom(...domain(path).values)
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })

const part = fc.record(
  {
    name: valueOf('parts.name'),
    count: optional(valueOf('parts.count')),
    place: optional(fc.record({ name: fc.constant('top'), floor: optional(valueOf('parts.place.floor')) })),
  },
  { requiredKeys: ['name'] },
)
const thing = fc.record({
  comment: optional(valueOf('comment')),
  detail: optional(fc.constant('dear')),
  enabled: optional(valueOf('enabled')),
  labels: optional(fc.array(valueOf('labels'), { minLength: 1, maxLength: 3 })),
  made: optional(valueOf('made')),
  numbers: optional(fc.array(valueOf('numbers'), { minLength: 1, maxLength: 3 })),
  parts: optional(fc.array(part, { minLength: 1, maxLength: 2 })),
  ratio: optional(valueOf('ratio')),
  size: optional(valueOf('size')),
  space: optional(
    fc.record({ used: valueOf('space.used'), limit: optional(fc.record({ files: valueOf('space.limit.files') })) }),
  ),
  state: valueOf('state'),
})

/** A check of a filter with its text. */
interface Written<What> {
  readonly what: What
  readonly text: string
}

function check(of: Domain): fc.Arbitrary<Written<Check>> {
  const value = fc
    .constantFrom(...of.values)
    .chain((each) => fc.constantFrom(...of.write(each)).map((text) => ({ each, text })))
  const written: fc.Arbitrary<Written<Check>>[] = [
    fc.constant({ what: { is: 'null' }, text: 'null' }),
    fc.constantFrom({ what: { is: 'dash' }, text: '-' } as const, { what: { is: 'dash' }, text: '"-"' } as const),
    fc.constant({ what: { is: 'set' }, text: '*' }),
    value.map(({ each, text }) => ({ what: { is: 'equal', value: each }, text })),
    fc
      .tuple(fc.constantFrom('<', '>', '<=', '>=' as const), value)
      .map(([is, { each, text }]) => ({ what: { is, value: each } as Check, text: `${is}${text}` })),
  ]
  // What is quoted has no range: its dots are text.
  const bare = value.filter(({ text }) => !/["{]/.test(text))
  written.push(
    fc.tuple(bare, bare).map(([low, high]) => ({
      what: { is: 'range', low: low.each, high: high.each },
      text: `${low.text}..${high.text}`,
    })),
  )
  if (of.isText === true) {
    const segments = fc.array(fc.constantFrom('', 'a', 'b', 'ab', '*', '|', 'on'), { minLength: 2, maxLength: 4 })
    written.push(
      segments
        .filter((parts) => parts.some((each) => each !== ''))
        .map((parts) => ({
          what: { is: 'pattern', parts },
          text: parts.map((each) => (/^[a-z]*$/.test(each) ? each : `"${each}"`)).join('*'),
        })),
    )
  }
  return fc.oneof(...written)
}

const filter: fc.Arbitrary<Written<AskedFilter>> = fc.constantFrom(...DOMAINS).chain((of) =>
  fc
    .array(fc.tuple(fc.constantFrom(0, 0, 0, 1, 2), check(of), fc.constantFrom('|', ',')), {
      minLength: 1,
      maxLength: 3,
    })
    .map((members) => ({
      what: {
        path: of.path,
        members: members.map(([negations, { what }]) => ({ negations, check: what })),
      },
      text: members
        .map(([negations, { text }, bar], at) => `${at === 0 ? '' : bar}${'!'.repeat(negations)}${text}`)
        .join(''),
    })),
)

const ORDERABLE = DOMAINS.map(({ path }) => path).filter((path) => !/^(labels|numbers|parts)/.test(path))
const order: fc.Arbitrary<Written<AskedOrder>> = fc
  .tuple(fc.constantFrom('name', ...ORDERABLE), fc.constantFrom('', ' asc', ' desc', ' DESC'))
  .map(([path, direction]) => ({
    what: { path, isDescending: direction.toLowerCase() === ' desc' },
    text: `${path}${direction}`,
  }))

const WORDS = (
  '* ** space space.* space.used space.limit space.limit.files parts parts.* parts.name parts.count parts.place ' +
  'parts.place.floor labels size state detail comment ratio made'
).split(' ')
const bareWord = (path: string) => path.replace(/(?<=.)\.\*$/, '')
const braced = (base: string, words: readonly string[]): fc.Arbitrary<Written<AskedField[]>> =>
  fc.subarray([...words], { minLength: 1 }).map((inner) => ({
    what: inner.map((word) => asked(base, word.replaceAll(/[{}]/g, ''))),
    text: `${base}.{${inner.join(',')}}`,
  }))
const field: fc.Arbitrary<Written<AskedField[]>> = fc.oneof(
  fc.tuple(fc.constantFrom(...WORDS), fc.boolean()).map(([path, isExcluded]) => ({
    what: [{ path: bareWord(path), isExcluded }],
    text: `${isExcluded ? '!' : ''}${path}`,
  })),
  braced('space', ['used', 'limit.files', '!used']),
  braced('parts', ['name', 'count', 'place.floor', '!count', 'place.{floor}']),
)

function asked(base: string, word: string): AskedField {
  const isExcluded = word.startsWith('!')
  return { path: `${base}.${isExcluded ? word.slice(1) : word}`, isExcluded }
}

const question = fc.record({
  filters: fc.array(filter, { maxLength: 3 }),
  orders: fc.array(order, { maxLength: 3 }),
  fields: fc.array(field, { minLength: 1, maxLength: 4 }),
  isRepeated: fc.boolean(),
  limit: fc.integer({ min: 1, max: 12 }),
  offset: fc.constantFrom(0, 0, 1, 3, 20),
})
type Question = typeof question extends fc.Arbitrary<infer T> ? T : never

function targetOf({ filters, orders, fields, isRepeated, limit, offset }: Question): string {
  const words = fields.map(({ text }) => encodeURIComponent(text))
  return [
    `${THINGS}?`,
    isRepeated ? words.map((word) => `fields=${word}`).join('&') : `fields=${words.join(',')}`,
    ...filters.map(({ what, text }) => `&${what.path}=${encodeURIComponent(text)}`),
    orders.length === 0 ? '' : `&order_by=${encodeURIComponent(orders.map(({ text }) => text).join(','))}`,
    `&max_records=${limit}`,
    offset === 0 ? '' : `&offset=${offset}`,
  ].join('')
}

/** What a client reads when it follows the links to the end. */
async function readAll(target: string, limit: number): Promise<Thing[]> {
  const records: Thing[] = []
  for (let at: string | undefined = target; at !== undefined;) {
    const { status, body } = await cluster.call('GET', at, undefined, {
      headers: { ...NATIVE.headers, accept: 'application/json' },
    })
    assert.equal(status, 200, `${at}: ${JSON.stringify(body)}`)
    const page = recordsOf(body)
    assert.equal(body['num_records'], page.length)
    records.push(...(page as unknown as Thing[]))
    const next: Body | undefined = body['_links']?.['next']?.['href']
    if (next !== undefined) assert.equal(page.length, limit)
    at = next === undefined ? undefined : asText(next)
  }
  return records
}

test('filters, fields, order and pages are those of a slow and obvious reference', async (context) => {
  let compared = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(thing, { minLength: 1, maxLength: 12 }),
      fc.array(question, { minLength: 15, maxLength: 15 }),
      async (made, questions) => {
        await cluster.call('DELETE', `${THINGS}?name=*`, undefined, NATIVE)
        for (const [at, each] of made.entries()) {
          const { status, body } = await cluster.call('POST', THINGS, { ...each, name: `t${at % 10}${at}` }, NATIVE)
          assert.equal(status, 201, JSON.stringify(body))
        }
        const things = await readAll(`${THINGS}?fields=**&max_records=100`, 100)
        assert.equal(things.length, made.length)
        for (const each of questions) {
          const filters = each.filters.map(({ what }) => what)
          const orders = each.orders.map(({ what }) => what)
          const fields = each.fields.flatMap(({ what }) => what)
          const filtered = filters.map(({ path }) => path)
          const expected = sorted(chosen(things, filters), orders)
            .slice(each.offset)
            .map((one) => Object.assign(projected(one, fields, EXPENSIVE, filtered), identity(one)))
          const target = targetOf(each)
          assert.deepEqual(await readAll(target, each.limit), expected, decodeURIComponent(target))
          compared += expected.length
        }
      },
    ),
    { seed: seedOf(context), numRuns: 60 },
  )
  assert.ok(compared > 500, `Only ${compared} records were compared.`)
})

/** What is shown in any case. */
function identity(one: Thing): Thing {
  const { uuid = '', name = '' } = one
  return { uuid, name }
}
