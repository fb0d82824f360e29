/** That docs/s3-compatibility.md tells the truth: it is as written by table.ts, and nothing is forgotten. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '../../../src/s3/request/router.ts'
import { behaviours } from './behaviours.ts'
import { compatibilityTable, isAnswered, readSuites, shortName, writeTable, writtenTable } from './table.ts'

const suites = readSuites()
const tests = suites.flatMap((suite) => suite.tests)

test('docs/s3-compatibility.md is as the tests are', () => {
  if (process.env['UPDATE_GOLDEN'] === '1') writeTable()
  assert.equal(compatibilityTable(), writtenTable(), 'Read the difference; if it is meant, run with UPDATE_GOLDEN=1.')
})

test('each of the 82 behaviours that stores are compared by has one test, and no other name is used', () => {
  assert.equal(new Set(behaviours).size, 82)
  const named = tests.flatMap((name) => shortName(name) ?? [])
  assert.deepEqual(named.toSorted(), behaviours.toSorted())
})

test('every operation that is answered has tests, and tests are about operations that there are', () => {
  const about = new Set(suites.flatMap((suite) => suite.about))
  const forgotten = operations.filter(({ name }) => isAnswered(name) && !about.has(name)).map(({ name }) => name)
  assert.deepEqual(forgotten, [])
  const names = new Set(operations.map(({ name }) => name))
  const unknown = [...about].filter((name) => !names.has(name) && !name.includes(' '))
  assert.deepEqual(unknown, [])
})

test('every test has a name of its own that can be read in its file', () => {
  for (const { file, tests, testCount } of suites) {
    assert.ok(testCount > 0, file)
    assert.equal(tests.length, testCount, `${file} has tests whose names table.ts cannot read`)
    assert.equal(new Set(tests).size, tests.length, file)
  }
})
