import assert from 'node:assert/strict'
import { test } from 'node:test'
import { complaints, type Expectation, type Outcome } from './expectations.ts'

const outcome = (given: Partial<Outcome>): Outcome => ({
  line: 1,
  request: 'GET /api/cluster',
  statusThen: 200,
  status: 200,
  code: undefined,
  message: undefined,
  ...given,
})
const listed = (answers: string, request = 'GET /api/cluster'): Expectation => ({
  lines: [1],
  request,
  answers,
  why: 'a reason',
})
const first = (given: Partial<Outcome>, ...differences: Expectation[]) =>
  complaints([outcome(given)], { differences })[0] ?? ''

test('a request that is not listed must succeed, its job included', () => {
  assert.equal(first({}), '')
  assert.match(first({ status: 400, code: '4' }), /answers 400 4 .* not success/)
  assert.match(first({ status: 202, code: '4' }), /answers 4 .* not success/)
})

test('a request that was refused is listed with what it answers now', () => {
  assert.match(first({ statusThen: 404 }), /say why it is not now/)
  assert.equal(first({ statusThen: 404 }, listed('success')), '')
  assert.match(first({ statusThen: 404, status: 404, code: '4' }, listed('404 3')), /not 404 3/)
})

test('an internal failure is never right, nor is a list that names another request', () => {
  assert.match(first({ status: 500, code: '8' }, listed('500 8')), /no request may get that/)
  assert.match(first({ statusThen: 404 }, listed('success', 'GET /api/svm/svms')), /not GET \/api\/svm\/svms/)
  assert.match(first({}, listed('success')), /nothing to list/)
})
