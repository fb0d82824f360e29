import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { combineDecisions, compilePolicy, policyProblem } from './statements.ts'
import type { Principal } from './statements.ts'
import type { Statement } from '../../records/statements.ts'
import { wildcard } from './wildcard.ts'

const everyone = { principals: ['*'] }
const alice: Principal = { name: 'alice', groups: ['staff'] }
const nobody: Principal = {}

function statement(parts: Partial<Statement>): Statement {
  return { effect: 'allow', actions: ['*'], resources: ['*'], ...parts }
}

test('what no statement matches is neither allowed nor denied', () => {
  assert.equal(compilePolicy([])(alice, 's3:GetObject', 'b/k'), 'none')
  assert.equal(compilePolicy([statement({ actions: ['PutObject'] })])(alice, 's3:GetObject', 'b/k'), 'none')
})

test('a deny wins wherever it stands', () => {
  const allow = statement({})
  const deny = statement({ effect: 'deny', actions: ['DeleteObject'] })
  for (const policy of [compilePolicy([allow, deny]), compilePolicy([deny, allow])]) {
    assert.equal(policy(alice, 's3:DeleteObject', 'b/k'), 'deny')
    assert.equal(policy(alice, 's3:GetObject', 'b/k'), 'allow')
  }
  assert.equal(combineDecisions(['allow', 'none', 'deny']), 'deny')
  assert.equal(combineDecisions(['none', 'allow']), 'allow')
  assert.equal(combineDecisions([]), 'none')
})

test('actions are written with or without s3:, in any case, with wildcards', () => {
  for (const name of ['s3:GetObject', 'GetObject', 'getobject', 'S3:Get*', 'Get?bject', '*', 's3:*', '*Object']) {
    const policy = compilePolicy([statement({ actions: [name] })])
    assert.equal(policy(alice, 's3:GetObject', 'b/k'), 'allow', name)
  }
})

test('resources are written as names or ARNs, and a bucket is not its objects', () => {
  const policy = compilePolicy([statement({ resources: ['arn:aws:s3:::photos', 'photos/2026/*', 'logs/?.txt'] })])
  assert.equal(policy(alice, 's3:ListBucket', 'photos'), 'allow')
  assert.equal(policy(alice, 's3:GetObject', 'photos/2026/a/b'), 'allow')
  assert.equal(policy(alice, 's3:GetObject', 'photos/2025/a'), 'none')
  assert.equal(policy(alice, 's3:GetObject', 'logs/😀.txt'), 'allow')
  assert.equal(policy(alice, 's3:GetObject', 'logs/ab.txt'), 'none')
  assert.equal(policy(alice, 's3:GetObject', 'Photos/2026/a'), 'none')
  assert.equal(policy(alice, 's3:ListAllMyBuckets', '*'), 'none')
})

test('principals are users, groups, or everyone', () => {
  const policy = (principals: string[]) => compilePolicy([statement({ principals })])
  assert.equal(policy(['alice'])(alice, 's3:GetObject', 'b/k'), 'allow')
  assert.equal(policy(['bob'])(alice, 's3:GetObject', 'b/k'), 'none')
  assert.equal(policy(['group/staff'])(alice, 's3:GetObject', 'b/k'), 'allow')
  assert.equal(policy(['staff'])(alice, 's3:GetObject', 'b/k'), 'none')
  assert.equal(policy(['alice'])(nobody, 's3:GetObject', 'b/k'), 'none')
  assert.equal(policy(['*'])(nobody, 's3:GetObject', 'b/k'), 'allow')
})

test('wildcards match as the definition says', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '/', '😀'), maxLength: 12 })
  const patterns = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*', '?', '😀'), maxLength: 8 })
  fc.assert(
    fc.property(patterns, letters, (pattern, text) => {
      const source = pattern.replaceAll('?', '.').replaceAll('*', '.*')
      assert.equal(wildcard(pattern)(text), new RegExp(`^${source}$`, 'su').test(text))
    }),
    { numRuns: 2000 },
  )
})

test('hostile patterns are no slower than others', () => {
  const text = 'a'.repeat(1087)
  const started = performance.now()
  for (const pattern of [
    `${'a*'.repeat(500)}b`,
    `${'*a?'.repeat(300)}b`,
    `*${'a'.repeat(500)}b*`,
    `*${'?'.repeat(500)}b*`,
  ]) {
    assert.equal(wildcard(pattern)(text), false)
  }
  assert.ok(performance.now() - started < 1000)
})

test('a good policy has no problem', () => {
  assert.equal(
    policyProblem([statement({ actions: ['GetObject', 's3:List*'], resources: ['b', 'b/*', 'arn:aws:s3:::c/x'] })]),
    undefined,
  )
  assert.equal(policyProblem([statement({ ...everyone, resources: ['b', 'b/*', '*'] })], { bucket: 'b' }), undefined)
})

test('a bad policy is told where and why', () => {
  const problem = (parts: Partial<Statement>, bucket?: string): string => {
    const found = policyProblem([statement({}), statement(parts)], bucket === undefined ? {} : { bucket })
    return found === undefined ? '' : `${found.field}: ${found.message}`
  }
  assert.equal(problem({ actions: [] }), 'statements[1].actions: A statement has at least one of its actions.')
  assert.equal(problem({ actions: ['GetObjekt'] }), 'statements[1].actions: There is no action "GetObjekt".')
  assert.equal(
    problem({ actions: ['iam:PassRole'] }),
    'statements[1].actions: Action "iam:PassRole" does not belong to s3.',
  )
  assert.match(problem({ resources: ['/x'] }), /^statements\[1\]\.resources: /)
  assert.match(problem({ ...everyone }), /server policy has no principals/)
  assert.equal(
    problem({ conditions: [{ operator: 'StringSimilar', key: 's3:prefix', values: ['x'] }] }),
    'statements[1].conditions: There is no condition operator "StringSimilar".',
  )
  const inBucket = (parts: Partial<Statement>): string | undefined =>
    policyProblem([statement({ ...everyone, resources: ['b/*'], ...parts })], { bucket: 'b' })?.message
  assert.match(inBucket({ resources: ['bc/*'] }) ?? '', /does not belong to bucket b/)
  assert.match(inBucket({ principals: ['al*'] }) ?? '', /only \* alone/)
  assert.match(policyProblem([statement({})], { bucket: 'b' })?.message ?? '', /names its principals/)
})

test('a statement with a condition that cannot be evaluated is never compiled as if it had none', () => {
  const conditions = [{ operator: 'StringSimilar', key: 's3:prefix', values: ['x'] }]
  assert.throws(() => compilePolicy([statement({ conditions })]), /no condition operator/)
})
