import assert from 'node:assert/strict'
import { test } from 'node:test'
import { argumentsOf, completeArguments, parseArgument } from '../model/arguments.ts'
import { Failure } from '../model/failure.ts'
import { count, flag, oneOf, text } from '../model/kinds/index.ts'
import { inline } from './verb.ts'

const ARGS = {
  force: { doc: 'Whether to skip checks.', kind: flag(), default: false },
  index: { doc: 'A number.', kind: count({ min: 1 }) },
  how: { doc: 'A word.', kind: oneOf({ fast: 'Without checks.', slow: 'With checks.' }) },
  svm: { doc: 'An SVM.', ref: 'svm/svms' },
} as const

function parsed(name: string, given: string): unknown {
  const argument = argumentsOf(ARGS).get(name)
  assert.ok(argument)
  try {
    return parseArgument(argument, given)
  } catch (failure) {
    assert.ok(failure instanceof Failure)
    return [failure.kind, failure.target, failure.message]
  }
}

test('arguments are parsed by their kinds, and what their kind does not take is refused by their name', () => {
  assert.deepEqual(
    ['True', 'false'].map((word) => parsed('force', word)),
    [true, false],
  )
  assert.equal(parsed('index', '7'), 7)
  assert.equal(parsed('how', 'FAST'), 'fast')
  const refused = (name: string, problem: string) => ['malformed', name, `Invalid value for "${name}": ${problem}`]
  assert.deepEqual(parsed('force', 'maybe'), refused('force', 'it is neither true nor false.'))
  assert.deepEqual(parsed('index', '0'), refused('index', '0 is outside 1..9007199254740991.'))
  assert.deepEqual(parsed('how', 'soon'), refused('how', '"soon" is none of fast, slow.'))
})

test('arguments that are not given have their defaults, and references are given by name or by UUID', () => {
  assert.deepEqual(completeArguments(ARGS, { index: 2 }), { index: 2, force: false })
  assert.deepEqual([...argumentsOf(ARGS).keys()], ['force', 'index', 'how', 'svm.name', 'svm.uuid'])
})

test('a plan gets the arguments that its verb declares, with their types', () => {
  const args = {
    force: { doc: 'Whether to skip checks.', kind: flag(), default: false },
    note: { doc: 'A note.', kind: text() },
  }
  const verb = inline({
    args,
    plan(_cluster, { args: given }) {
      const isForced: boolean = given.force
      const note: string | undefined = given.note
      // @ts-expect-error A misspelt argument does not compile.
      const misspelt: unknown = given.forse
      return Promise.resolve({ key: String(isForced), input: { note: note ?? null, misspelt: misspelt === undefined } })
    },
    step: { name: 'nothing', run: () => Promise.resolve() },
  })
  assert.equal(verb.args, args)
})
