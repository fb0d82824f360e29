import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import * as fc from 'fast-check'
import { seedOf } from '../../../test/support/seed.ts'
import {
  address,
  bytes,
  count,
  decimal,
  duration,
  each,
  flag,
  group,
  list,
  Misfit,
  name,
  netmask,
  oneOf,
  parseSize,
  printSize,
  secret,
  text,
  time,
  uuid,
  type Kind,
} from './index.ts'

function refuses(kind: Kind, values: readonly unknown[]): void {
  for (const value of values) assert.throws(() => kind.parse(value), Misfit, `${kind.name} took ${inspect(value)}`)
}

function takes(kind: Kind, pairs: readonly (readonly [unknown, unknown])[]): void {
  for (const [given, expected] of pairs) assert.deepEqual(kind.parse(given), expected)
}

test('bytes take integers, and text with a 1024-based unit in any of its spellings', () => {
  takes(
    bytes(),
    [
      [4096, 4096],
      ['4096', 4096],
      ['1t', 2 ** 40],
      ['1T', 2 ** 40],
      ['20MB', 20 * 2 ** 20],
      ['20 MiB', 20 * 2 ** 20],
      ['1.5g', 1.5 * 2 ** 30],
      ['8p', 8 * 2 ** 50 > Number.MAX_SAFE_INTEGER ? undefined : 8 * 2 ** 50],
      ['7p', 7 * 2 ** 50],
      ['512b', 512],
      [' 1k ', 1024],
      ['0', 0],
    ].filter(([, expected]) => expected !== undefined) as [unknown, unknown][],
  )
})

test('bytes refuse what is no size, negative, fractional or larger than an integer holds', () => {
  refuses(bytes(), [
    -1,
    1.5,
    Number.NaN,
    Infinity,
    2 ** 60,
    '',
    'x',
    '1x',
    '1tt',
    '-1',
    '1e3',
    '0x10',
    '9999p',
    '1..5g',
    null,
    {},
    [],
    true,
  ])
})

test('bytes keep within their limits', () => {
  const kind = bytes({ min: 10, max: 20 })
  takes(kind, [
    [10, 10],
    [20, 20],
  ])
  refuses(kind, [9, 21, '1k'])
})

test('a printed size is what people read', () => {
  assert.deepEqual([0, 1023, 1024, 1536, 10 * 2 ** 20, 2 ** 40].map(printSize), [
    '0 B',
    '1023 B',
    '1 KB',
    '1.5 KB',
    '10 MB',
    '1 TB',
  ])
})

test('every size in bytes is read back from its text', (test) => {
  fc.assert(
    fc.property(fc.nat(Number.MAX_SAFE_INTEGER), (size) => parseSize(String(size)) === size),
    { seed: seedOf(test), numRuns: 200 },
  )
})

test('count takes integers and their digits, and nothing that only looks like them', () => {
  takes(count(), [
    [5, 5],
    ['5', 5],
    ['-3', -3],
  ])
  refuses(count(), ['', ' 5', '5.0', 5.5, '1e3', '0x5', Number.MAX_VALUE, '99999999999999999', true, null, [5], {}])
  refuses(count({ min: 1, max: 9 }), [0, 10])
})

test('flag takes true and false, as JSON or as text', () => {
  takes(flag(), [
    [true, true],
    ['true', true],
    [false, false],
    ['false', false],
  ])
  refuses(flag(), [0, 1, 'yes', '', null, [], {}])
})

test('time is read from ISO 8601 or seconds, and printed in UTC to the second', () => {
  const kind = time()
  assert.equal(kind.print(kind.parse('2026-11-21T06:31:50Z')), '2026-11-21T06:31:50Z')
  assert.equal(kind.print(kind.parse('2026-11-21T06:31:50.999+02:00')), '2026-11-21T04:31:50Z')
  assert.equal(kind.print(kind.parseText('1700000000')), '2023-11-14T22:13:20Z')
  refuses(kind, ['yesterday', '2026-13-01', '', 'null', {}, [], true, '2026-01-01T99:00:00Z'])
})

test('time refuses what no calendar shows, so that every time that was taken can be printed', (test) => {
  const kind = time()
  refuses(kind, [1e300, -1e300, 8.64e15])
  fc.assert(
    fc.property(fc.oneof(fc.double(), fc.string(), fc.integer()), (value) => {
      try {
        kind.print(kind.parse(value))
        return true
      } catch (failure) {
        return failure instanceof Misfit
      }
    }),
    { seed: seedOf(test), numRuns: 300 },
  )
})

test('durations go from ISO 8601 to seconds and back', (test) => {
  const kind = duration()
  takes(kind, [
    ['PT15S', 15],
    ['P1D', 86_400],
    ['P1DT2H3M4S', 93_784],
    ['P2W', 14 * 86_400],
    ['PT0S', 0],
  ])
  refuses(kind, ['P', 'PT', 'P1DT', '15', '1D', 'PT1.5S', 'P1Y', '', 15, null, `PT${'9'.repeat(30)}S`])
  fc.assert(
    fc.property(fc.nat(), (seconds) => kind.parse(kind.print(seconds)) === seconds),
    { seed: seedOf(test), numRuns: 300 },
  )
})

test('uuids are kept in lower case', () => {
  const upper = 'A0B1C2D3-0000-4000-8000-ABCDEFABCDEF'
  takes(uuid(), [[upper, upper.toLowerCase()]])
  assert.equal(uuid().parseText(upper), upper.toLowerCase())
  refuses(uuid(), ['', 'x', `${upper}0`, ` ${upper}`, upper.replaceAll('-', ''), 5, null, {}, []])
})

test('oneOf takes its words in any case and keeps them as declared', () => {
  const kind = oneOf({ online: 'On.', offline: 'Off.' })
  takes(kind, [
    ['online', 'online'],
    ['ONLINE', 'online'],
  ])
  refuses(kind, ['', 'on', 'toString', '__proto__', 1, null, ['online'], {}])
})

test('names are letters, digits and a few signs, and not too long', () => {
  takes(name(), [
    ['vol1', 'vol1'],
    ['_x-1.2', '_x-1.2'],
  ])
  refuses(name(), ['', '1vol', 'a b', 'a/b', '..', '../x', 'a\0', 'ä', 'x'.repeat(204), {}, [], null])
})

test('text refuses control characters and what is longer than it may be', () => {
  takes(text(), [['Grüße\n\t🙂', 'Grüße\n\t🙂']])
  refuses(text({ charactersMax: 3 }), ['four', 'a\0', '\x1b', '\x7f', null, {}, []])
  refuses(text({ charactersMin: 1 }), [''])
})

test('a refusal quotes at most the beginning of a huge value', () => {
  try {
    uuid().parse('x'.repeat(1_000_000))
    assert.fail('it was taken')
  } catch (misfit) {
    assert.ok(misfit instanceof Misfit)
    assert.ok(misfit.message.length < 200, misfit.message.slice(0, 300))
  }
})

test('a secret says that it is one', () => {
  assert.equal(secret().isSecret, true)
})

test('addresses are IPv4 or IPv6', () => {
  const kind = address()
  for (const good of [
    '127.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fd20:8b1e:b255::1',
    '1:2:3:4:5:6:7:8',
    '2001:db8::',
    '1::8',
    'FE80::1',
  ]) {
    assert.equal(kind.parse(good), good)
  }
  refuses(kind, [
    '',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '1.2.3.4 ',
    ':',
    ':::',
    '1:2:3',
    '1::2::3',
    '12345::',
    '1:2:3:4:5:6:7:',
    ':2:3:4:5:6:7:8',
    '1:2:3:4:5:6:7:8:9',
    'g::',
    5,
    null,
    {},
    'a'.repeat(100_000),
    ':'.repeat(100_000),
  ])
})

test('members with dots in their names are not declared', () => {
  const members = { 'volume.name': { kind: text(), doc: 'Its name.' } }
  for (const declare of [each, group]) assert.throws(() => declare(members), /"volume.name" has a dot/)
})

test('a group takes what is declared, prints the same, and shows nothing else', () => {
  const kind = group({
    age: { kind: count({ min: 1 }), doc: 'Its age.' },
    tags: { kind: list(text()), doc: 'Its tags.' },
  })
  takes(kind, [
    [{ age: '3' }, { age: 3 }],
    [{ tags: 'a', age: null }, { tags: ['a'] }],
    [{}, {}],
  ])
  refuses(kind, [[[]], ['a'], [null], [{ age: 0 }], [{ other: 1 }]])
  assert.deepEqual(kind.print({ age: 3, $hidden: true }), { age: 3 })
})

test('a list takes one value as a list of one, and has a limit', () => {
  const kind = list(count(), { elementsMax: 3 })
  takes(kind, [
    [
      [1, 2],
      [1, 2],
    ],
    [7, [7]],
    [[], []],
  ])
  refuses(kind, [[1, 2, 3, 4], ['x'], [[1]], {}, null])
})

test('a list of records takes what is declared, and nothing with a name of Object.prototype', () => {
  const kind = each({
    name: { kind: name(), doc: 'Its name.', required: true },
    size: { kind: bytes(), doc: 'Its size.' },
    id: { kind: count(), doc: 'Given by the product.', readOnly: true },
  })
  takes(kind, [
    [[{ name: 'a', size: '1k' }], [{ name: 'a', size: 1024 }]],
    [{ name: 'a', id: 5 }, [{ name: 'a' }]],
    [
      ['a', { name: 'b', _links: {} }],
      [{ name: 'a' }, { name: 'b' }],
    ],
  ])
  refuses(kind, [
    [{}],
    [{ name: 'a', other: 1 }],
    [5],
    [null],
    [[{ name: 'a' }]],
    [{ name: 'a', toString: 1 }],
    [{ name: 'a', constructor: 1 }],
  ])
  refuses(kind, [[JSON.parse('{"name":"a","__proto__":{"size":1}}')]])
})

test('inside an element of a list, dotted names and nested ones mean the same', () => {
  const schedule = group({ name: { kind: name(), doc: 'x' }, uuid: { kind: uuid(), doc: 'x' } })
  const kind = each({ count: { kind: count(), doc: 'x' }, schedule: { kind: schedule, doc: 'x' } })
  const id = '11111111-2222-4333-8444-555555555555'
  takes(kind, [
    [[{ count: '2', schedule: 'daily' }], [{ count: 2, schedule: { name: 'daily' } }]],
    [[{ count: 2, 'schedule.name': 'daily' }], [{ count: 2, schedule: { name: 'daily' } }]],
    [[{ 'schedule.name': 'daily', 'schedule.uuid': id }], [{ schedule: { name: 'daily', uuid: id } }]],
    [[{ 'schedule.name': 'daily', schedule: { uuid: id } }], [{ schedule: { name: 'daily', uuid: id } }]],
  ])
  refuses(kind, [
    [{ 'schedule.name': 'daily', schedule: { name: 'daily' } }],
    [{ 'schedule.name': 'daily', schedule: 'daily' }],
    [{ '__proto__.name': 'daily' }],
    [{ 'schedule.__proto__': {} }],
    [{ 'count.x': 1 }],
  ])
})

test('what automation tools write for a value is taken for it', () => {
  takes(flag(), [
    ['True', true],
    ['FALSE', false],
  ])
  takes(decimal(), [
    ['1.5', 1.5],
    ['-2', -2],
  ])
  refuses(decimal(), ['', 'x', '1e9', 'NaN', '.'])
  takes(time(), [['2026-01-01T02:00:00 02:00', Date.parse('2026-01-01T00:00:00Z')]])
})

test('no kind takes a value that it cannot print, whatever the value is', (test) => {
  const kinds = [
    bytes(),
    count(),
    flag(),
    time(),
    duration(),
    uuid(),
    oneOf({ a: 'A.', b: 'B.' }),
    name(),
    text(),
    address(),
    list(text()),
    each({ name: { kind: text(), doc: 'x' } }),
    group({ name: { kind: text(), doc: 'x' } }),
  ]
  fc.assert(
    fc.property(fc.constantFrom(...kinds), fc.anything(), (kind, value) => {
      try {
        JSON.stringify(kind.print(kind.parse(value)))
        return true
      } catch (failure) {
        return failure instanceof Misfit
      }
    }),
    { seed: seedOf(test), numRuns: 2000 },
  )
})

test('a mask is the length of a prefix or dotted; only where it is allowed it may be of no length', () => {
  takes(netmask(), [
    ['255.255.240.0', '20'],
    ['255.255.255.255', '32'],
    [24, '24'],
    ['64', '64'],
  ])
  refuses(netmask(), ['0', '0.0.0.0', '255.0.255.0', '129', '-1', '', 'x', null])
  takes(netmask({ min: 0 }), [
    ['0', '0'],
    ['0.0.0.0', '0'],
  ])
})
