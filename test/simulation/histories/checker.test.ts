import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isExplained } from './checker.ts'
import type { Call } from './checker.ts'
import type { Answer, Operation } from './model.ts'

const put = (etag: string): [Operation, Answer] => [
  { do: 'put', condition: { if: 'none' }, lock: 'none', tag: '' },
  { status: 200, etag },
]
const get = (etag: string | undefined): [Operation, Answer] => [
  { do: 'get' },
  etag === undefined ? { status: 404 } : { status: 200, etag },
]
const at = (calledAt: number, answeredAt: number, [operation, answer]: [Operation, Answer]): Call => ({
  operation,
  answer,
  calledAt,
  answeredAt,
})

test('a read that was made after a write was answered must see it', () => {
  assert.equal(isExplained('off', [at(0, 1, put('a')), at(2, 3, get('a'))]), true)
  assert.equal(isExplained('off', [at(0, 1, put('a')), at(2, 3, get(undefined))]), false)
})

test('a read beside a write may see it or not, but then all later ones as well', () => {
  const write = at(0, 9, put('a'))
  assert.equal(isExplained('off', [write, at(1, 2, get(undefined)), at(3, 4, get('a'))]), true)
  assert.equal(isExplained('off', [write, at(1, 2, get('a')), at(3, 4, get(undefined))]), false)
})

test('two that both claim to have been the first are noticed', () => {
  const first: [Operation, Answer] = [
    { do: 'put', condition: { if: 'new' }, lock: 'none', tag: '' },
    { status: 200, etag: 'a' },
  ]
  assert.equal(isExplained('off', [at(0, 5, first), at(1, 6, first)]), false)
})

test('a locked version that went is noticed', () => {
  const version = 'v1'
  const locked: [Operation, Answer] = [
    { do: 'put', condition: { if: 'none' }, lock: 'compliance', tag: '' },
    { status: 200, etag: 'a', version },
  ]
  const gone: [Operation, Answer] = [{ do: 'delete-version', version, isBypassing: true }, { status: 204 }]
  assert.equal(isExplained('enabled', [at(0, 1, locked), at(2, 3, gone)]), false)
})
