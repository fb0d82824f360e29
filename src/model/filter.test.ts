import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { seedOf } from '../../test/support/seed.ts'
import { Failure } from './failure.ts'
import { compileFilter } from './filter.ts'
import { bytes, count, flag, list, oneOf, text, time, type Kind } from './kinds/index.ts'
import type { Value } from './value.ts'

const passes = (kind: Kind, expression: string, ...values: Value[]) => compileFilter('field', kind, expression)(values)
const refuses = (kind: Kind, expression: string) =>
  assert.throws(
    () => compileFilter('field', kind, expression),
    (failure) => failure instanceof Failure && failure.kind === 'malformed' && failure.target === 'field',
    expression,
  )

test('a plain value matches itself', () => {
  assert.equal(passes(text(), 'vol1', 'vol1'), true)
  assert.equal(passes(text(), 'vol1', 'vol11'), false)
  assert.equal(passes(text(), '', ''), true)
  assert.equal(passes(text(), '', 'x'), false)
  assert.equal(passes(flag(), 'true', true), true)
  assert.equal(passes(oneOf({ online: 'On.' }), 'online', 'online'), true)
})

test('a star stands for any text, also none, and for set at all when alone', () => {
  assert.equal(passes(text(), 'vol*', 'vol'), true)
  assert.equal(passes(text(), '*1', 'vol1'), true)
  assert.equal(passes(text(), 'a*b*c', 'a..b..c'), true)
  assert.equal(passes(text(), 'a*b*c', 'acb'), false)
  assert.equal(passes(text(), 'aa*aa', 'aaa'), false)
  assert.equal(passes(text(), '*', ''), true)
  assert.equal(passes(text(), '*'), false)
  assert.equal(passes(bytes(), '*', 5), true)
  refuses(bytes(), '1*')
})

test('alternatives are separated by a bar or a comma', () => {
  for (const expression of ['a|b', 'a,b']) {
    assert.equal(passes(text(), expression, 'a'), true)
    assert.equal(passes(text(), expression, 'b'), true)
    assert.equal(passes(text(), expression, 'c'), false)
  }
})

test('comparisons and ranges use the order of the kind', () => {
  assert.equal(passes(bytes(), '>1g', 2 ** 31), true)
  assert.equal(passes(bytes(), '>=1g', 2 ** 30), true)
  assert.equal(passes(bytes(), '<1g', 2 ** 30), false)
  assert.equal(passes(bytes(), '<=1g', 2 ** 30), true)
  assert.equal(passes(bytes(), '1k..1m', 2048), true)
  assert.equal(passes(bytes(), '1k..1m', 2 ** 21), false)
  assert.equal(passes(count(), '9..10', 9), true)
  assert.equal(passes(time(), '>2026-01-01', Date.parse('2026-06-01')), true)
  assert.equal(passes(time(), '2026-01-01..2026-02-01', Date.parse('2026-06-01')), false)
  assert.equal(passes(text(), '>b', 'c'), true)
})

test('a negation and null look at the whole field', () => {
  assert.equal(passes(text(), '!a', 'b'), true)
  assert.equal(passes(text(), '!a', 'a'), false)
  assert.equal(passes(text(), '!a'), true)
  assert.equal(passes(text(), '!a*', 'ab'), false)
  assert.equal(passes(text(), 'null'), true)
  assert.equal(passes(text(), 'null', 'x'), false)
  assert.equal(passes(text(), '!null', 'x'), true)
  assert.equal(passes(text(), '!null'), false)
  assert.equal(passes(bytes(), 'null'), true)
  assert.equal(passes(list(text()), '!a', 'a', 'b'), false)
})

test('a list matches when any element does', () => {
  assert.equal(passes(list(text()), 'b', 'a', 'b'), true)
  assert.equal(passes(list(count()), '>5', 1, 6), true)
  assert.equal(passes(list(count()), '>5', 1, 2), false)
})

test('what is quoted or in braces is literal', () => {
  assert.equal(passes(text(), '"a|b"', 'a|b'), true)
  assert.equal(passes(text(), '{a,b}', 'a,b'), true)
  assert.equal(passes(text(), '"*"', '*'), true)
  assert.equal(passes(text(), '"*"', 'x'), false)
  assert.equal(passes(text(), '"!a"', '!a'), true)
  assert.equal(passes(text(), '"null"', 'null'), true)
  assert.equal(passes(text(), '!"null"', 'null'), false)
  assert.equal(passes(text(), 'a"*"*', 'a*b'), true)
  assert.equal(passes(text(), 'a"*"*', 'ab'), false)
  assert.equal(passes(text(), '""', ''), true)
  assert.equal(passes(text(), '">1"', '>1'), true)
})

test('what cannot be understood is refused with the name of the argument', () => {
  refuses(text(), '"open')
  refuses(text(), '{open')
  refuses(bytes(), '>')
  refuses(bytes(), 'large')
  refuses(bytes(), '1g..large')
  refuses(flag(), 'maybe')
  refuses(time(), '>yesterday')
  refuses(text(), 'x'.repeat(9000))
  refuses(text(), '|'.repeat(2000))
})

test('hostile patterns take no longer than others', () => {
  const pattern = `${'*a'.repeat(2000)}*b`
  const subject = 'a'.repeat(4096)
  const begun = performance.now()
  assert.equal(passes(text(), pattern, subject), false)
  assert.equal(passes(text(), `!${'*a'.repeat(4000)}`, subject), false)
  assert.equal(passes(text(), `*${'a'.repeat(4000)}b*`, subject), false)
  const bars = Array.from({ length: 1000 }, (_, at) => `*${at}*`).join('|')
  assert.equal(passes(text(), bars, subject), false)
  assert.ok(performance.now() - begun < 500, `${performance.now() - begun} ms`)
})

test('thousands of negations in a row are refused or answered, never a crash', () => {
  for (const marks of [1, 2, 3, 8000]) {
    try {
      assert.equal(typeof passes(text(), `${'!'.repeat(marks)}a`, 'a'), 'boolean')
    } catch (failure) {
      assert.ok(failure instanceof Failure, String(failure))
    }
  }
})

/** Slow and obvious: tries every length for every star. */
function matchesSlowly(pattern: string, subject: string): boolean {
  if (pattern === '') return subject === ''
  if (pattern.startsWith('*')) {
    for (let taken = 0; taken <= subject.length; taken++) {
      if (matchesSlowly(pattern.slice(1), subject.slice(taken))) return true
    }
    return false
  }
  return subject !== '' && pattern.charAt(0) === subject.charAt(0) && matchesSlowly(pattern.slice(1), subject.slice(1))
}

test('patterns match what a slow and obvious matcher matches', (test) => {
  const words = fc.array(fc.constantFrom('a', 'b', '*'), { maxLength: 8 }).map((parts) => parts.join(''))
  const subjects = fc.array(fc.constantFrom('a', 'b'), { maxLength: 8 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(words, subjects, (pattern, subject) => {
      assert.equal(passes(text(), pattern, subject), matchesSlowly(pattern, subject))
    }),
    { seed: seedOf(test), numRuns: 3000 },
  )
})

test('any text in quotes matches itself and nothing else', (test) => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (one, other) => {
      fc.pre(!one.includes('"'))
      assert.equal(passes(text(), `"${one}"`, one), true)
      assert.equal(passes(text(), `"${one}"`, other), one === other)
    }),
    { seed: seedOf(test), numRuns: 500 },
  )
})

test('any expression is compiled or refused, whatever the kind', (test) => {
  fc.assert(
    fc.property(
      fc.constantFrom<Kind>(text(), bytes(), count(), flag(), time(), list(text())),
      fc.string({ unit: fc.constantFrom(...'ab*!|,<>=.{}"0129gkn '.split('')) }),
      (kind, expression) => {
        try {
          passes(kind, expression, 'a', 5)
          return true
        } catch (failure) {
          return failure instanceof Failure && failure.kind === 'malformed'
        }
      },
    ),
    { seed: seedOf(test), numRuns: 2000 },
  )
})
