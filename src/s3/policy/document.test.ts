import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headersOf } from '../request/headers.ts'
import { stored } from '../../records/stored.ts'
import { type ConditionRow, conditionsOfRow, rowOfCondition } from '../../records/conditions.ts'
import { requestContext } from './context.ts'
import type { RequestFacts } from './context.ts'
import { policyBytesMax, policyDocument, readPolicyDocument } from './document.ts'
import { rowOfStatement, statementOfRow } from '../../records/statements.ts'
import { compilePolicy, isPublicPolicy, policyProblem } from './statements.ts'
import type { Decision, Principal } from './statements.ts'

const alice: Principal = { name: 'alice' }
const base = { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::b/*' }

function read(statement: unknown, more: Record<string, unknown> = {}): ReturnType<typeof readPolicyDocument> {
  const text = JSON.stringify({ Version: '2012-10-17', Statement: statement, ...more })
  return readPolicyDocument(Buffer.from(text), 'b')
}

function context(facts: Partial<RequestFacts> = {}): ReturnType<typeof requestContext> {
  return requestContext({
    operation: 'GetObject',
    headers: headersOf({}),
    query: new Map(),
    remoteAddress: '::ffff:10.1.2.3',
    isSecure: false,
    nowMs: Date.parse('2026-06-01T00:00:00Z'),
    ...facts,
  })
}

function decide(changes: Record<string, unknown>, facts: Partial<RequestFacts> = {}, who = alice, key = 'k'): Decision {
  const policy = compilePolicy(read({ ...base, ...changes }).statements)
  return policy(who, 's3:GetObject', `b/${key}`, context(facts))
}

const fails = (message: RegExp) => (error: unknown) => {
  assert.equal((error as { code?: string }).code, 'MalformedPolicy')
  assert.match((error as Error).message, message)
  return true
}

test('what was given is given back, and what is printed reads the same', () => {
  const document = read([
    {
      ...base,
      Sid: 'one',
      Principal: { AWS: ['arn:aws:iam::123456789012:user/team/alice', 'bob'] },
      Condition: { StringLike: { 's3:ExistingObjectTag/Team': ['a*', 'b'] }, Bool: { 'aws:SecureTransport': true } },
    },
    { Effect: 'Deny', NotPrincipal: { AWS: 'bob' }, NotAction: 's3:Get*', NotResource: 'arn:aws:s3:::b/open/*' },
  ])
  assert.deepEqual(document.statements[0]?.principals, ['alice', 'bob'])
  const printed = policyDocument(document.statements)
  assert.deepEqual(readPolicyDocument(Buffer.from(printed), 'b').statements, document.statements)
  assert.equal(policyProblem(document.statements, { bucket: 'b' }), undefined)
})

test('bad documents are malformed, in the words of Amazon', () => {
  const bad: readonly (readonly [unknown, RegExp])[] = [
    [{ ...base, Effect: 'allow' }, /Invalid effect: allow/],
    [{ ...base, Action: 's3:GetObjekt' }, /invalid action/],
    [{ ...base, Action: undefined }, /Missing required field Action/],
    [{ ...base, Resource: 'arn:aws:s3:::c/*' }, /invalid resource/],
    [{ ...base, Resource: 'b/*' }, /invalid resource/],
    [{ ...base, Principal: { Service: 'x' } }, /Invalid principal/],
    [{ ...base, Principal: { AWS: 'arn:aws:iam::1:user/*' } }, /Invalid principal/],
    [{ ...base, Principal: { AWS: 'arn:aws:iam::1:group/*' } }, /Invalid principal/],
    [{ ...base, Principal: { AWS: 'arn:aws:iam::1:root' } }, /Invalid principal/],
    [{ ...base, Principal: undefined }, /Missing required field Principal/],
    [{ ...base, Action: 's3:ListBucket' }, /does not apply to any resource/],
    [{ ...base, Extra: 1 }, /Unknown field Extra/],
    [{ ...base, Condition: { StringSimilar: { 's3:prefix': 'a' } } }, /Invalid Condition type : StringSimilar/],
    [{ ...base, Condition: { StringEquals: { 's3:prefxi': 'a' } } }, /invalid condition key/],
    [{ ...base, Condition: { IpAddress: { 'aws:SourceIp': '10.0.0.0/33' } } }, /Invalid condition value/],
    [
      [
        { ...base, Sid: 'a' },
        { ...base, Sid: 'a' },
      ],
      /must be unique/,
    ],
    [[], /empty/],
  ]
  for (const [statement, message] of bad)
    assert.throws(() => read(statement), fails(message), JSON.stringify(statement))
  assert.throws(() => read(base, { Version: '2020-01-01' }), fails(/valid version/))
  assert.throws(() => readPolicyDocument(Buffer.from('[]'), 'b'), fails(/first byte must be '\{'/))
  assert.throws(() => readPolicyDocument(Buffer.alloc(policyBytesMax + 1, 0x7b), 'b'), fails(/maximum allowed size/))
})

test('conditions hold as Amazon defines them', () => {
  const tags = (...keys: string[]): Partial<RequestFacts> => ({
    requestTags: () => keys.map((key) => ({ key, value: 'v' })),
  })
  const list = { operation: 'ListObjects' }
  const holds: readonly (readonly [boolean, Record<string, unknown>, Partial<RequestFacts>])[] = [
    [true, { IpAddress: { 'aws:SourceIp': ['192.168.0.0/16', '10.0.0.0/8'] } }, {}],
    [false, { NotIpAddress: { 'aws:SourceIp': '10.1.2.3' } }, {}],
    [true, { IpAddress: { 'AWS:sourceip': '2001:db8::/33' } }, { remoteAddress: '2001:db8:1::7' }],
    [false, { IpAddress: { 'aws:SourceIp': '2001:db8::/33' } }, { remoteAddress: '2001:db8:8000::' }],
    [true, { Bool: { 'aws:SecureTransport': 'false' } }, {}],
    [true, { NumericLessThan: { 's3:TlsVersion': 1.3 } }, { tlsVersion: () => '1.2' }],
    [false, { NumericLessThan: { 's3:TlsVersion': 1.3 } }, { tlsVersion: () => '1.3' }],
    [false, { NumericLessThan: { 's3:TlsVersion': 1.3 } }, {}],
    [true, { StringEquals: { 's3:prefix': ['', 'home/'] } }, { ...list, query: new Map([['prefix', 'home/']]) }],
    [false, { StringEquals: { 's3:prefix': '' } }, list],
    [true, { StringEqualsIfExists: { 's3:prefix': 'x' } }, list],
    [true, { StringNotEquals: { 's3:prefix': 'x' } }, list],
    [true, { StringLike: { 's3:prefix': '${aws:username}/*' } }, { ...list, query: new Map([['prefix', 'alice/x']]) }],
    [true, { NumericLessThanEquals: { 's3:max-keys': 10 } }, { ...list, query: new Map([['max-keys', '10']]) }],
    [false, { NumericLessThan: { 's3:max-keys': '10' } }, { ...list, query: new Map([['max-keys', 'x']]) }],
    [true, { DateGreaterThan: { 'aws:CurrentTime': '2026-01-01T00:00:00Z' } }, {}],
    [false, { DateLessThan: { 'aws:CurrentTime': '2026-01-01' } }, {}],
    [true, { Null: { 's3:if-match': 'true' } }, {}],
    [false, { Null: { 's3:if-none-match': true } }, { headers: headersOf({ 'if-none-match': '*' }) }],
    [true, { StringEquals: { 's3:RequestObjectTag/Team': 'v' } }, tags('Team')],
    [false, { StringEquals: { 's3:RequestObjectTag/team': 'v' } }, tags('Team')],
    [true, { 'ForAllValues:StringEquals': { 's3:RequestObjectTagKeys': ['a', 'b'] } }, tags('a')],
    [false, { 'ForAllValues:StringEquals': { 's3:RequestObjectTagKeys': ['a', 'b'] } }, tags('a', 'c')],
    [true, { 'ForAnyValue:StringEquals': { 's3:RequestObjectTagKeys': 'c' } }, tags('a', 'c')],
    [false, { 'ForAnyValue:StringEquals': { 's3:RequestObjectTagKeys': 'c' } }, {}],
    [false, { Bool: { 'aws:SecureTransport': 'false' }, StringEquals: { 'aws:username': 'bob' } }, {}],
  ]
  for (const [expected, Condition, facts] of holds) {
    assert.equal(decide({ Condition }, facts), expected ? 'allow' : 'none', JSON.stringify(Condition))
  }
})

test('a variable stands for text, not for a pattern', () => {
  const home = { Resource: 'arn:aws:s3:::b/${aws:username}/*' }
  assert.equal(decide(home, {}, alice, 'alice/x'), 'allow')
  assert.equal(decide(home, {}, alice, 'bob/x'), 'none')
  assert.equal(decide(home, {}, { name: '*' }, 'bob/x'), 'none')
  assert.equal(decide(home, {}, { name: '*' }, '*/x'), 'allow')
  assert.equal(decide(home, {}, {}, 'alice/x'), 'none')
  assert.equal(decide({ Resource: 'arn:aws:s3:::b/a${*}' }, {}, alice, 'ab'), 'none')
  assert.equal(decide({ Resource: 'arn:aws:s3:::b/a${*}' }, {}, alice, 'a*'), 'allow')
  const old = read({ ...base, ...home }, { Version: '2008-10-17' })
  assert.equal(compilePolicy(old.statements)(alice, 's3:GetObject', 'b/alice/x'), 'none')
})

test('everyone but some, everything but some', () => {
  const policy = compilePolicy(
    read([
      base,
      {
        Effect: 'Deny',
        NotPrincipal: { AWS: 'alice' },
        Action: 's3:*',
        Resource: ['arn:aws:s3:::b', 'arn:aws:s3:::b/*'],
      },
    ]).statements,
  )
  assert.equal(policy(alice, 's3:GetObject', 'b/k'), 'allow')
  assert.equal(policy({ name: 'bob' }, 's3:GetObject', 'b/k'), 'deny')
  assert.equal(policy({}, 's3:GetObject', 'b/k'), 'deny')
  assert.equal(decide({ Action: undefined, NotAction: 's3:Put*' }), 'allow')
  assert.equal(decide({ Action: undefined, NotAction: 's3:Get*' }), 'none')
  assert.equal(decide({ Resource: undefined, NotResource: 'arn:aws:s3:::b/x' }), 'allow')
})

test('rows of the management interface are the same conditions', () => {
  const rows: readonly ConditionRow[] = [
    { operator: 'ip_address', source_ips: ['10.0.0.0/8'] },
    { operator: 'null', if_none_match: false },
    { operator: 'numeric_less_than', max_keys: [5] },
  ]
  const conditions = rows.flatMap((row) => conditionsOfRow(stored(row)))
  assert.deepEqual(conditions[0], { operator: 'IpAddress', key: 'aws:SourceIp', values: ['10.0.0.0/8'] })
  assert.deepEqual(conditions.map(rowOfCondition), rows)
})

test('a policy of S3 is the same after it was rows, whatever it says', () => {
  const conditions = { Bool: { 'aws:SecureTransport': 'false' }, StringLikeIfExists: { 'aws:Referer': ['a*', 'b'] } }
  const { statements } = read([
    { ...base, Condition: conditions },
    {
      Sid: 'x',
      Effect: 'Deny',
      NotPrincipal: { AWS: 'alice' },
      NotAction: 's3:GetObject',
      NotResource: 'arn:aws:s3:::b/x*',
    },
  ])
  assert.equal(statements.length, 2)
  assert.deepEqual(
    statements.map((statement) => statementOfRow(stored(rowOfStatement(statement)), ['never'])),
    statements,
  )
})

test('a grant to all users does not become one to everybody by being read and written back', () => {
  const grant = { effect: 'allow', actions: ['s3:GetObject'], resources: ['arn:aws:s3:::b/*'] } as const
  const { statements } = readPolicyDocument(Buffer.from(policyDocument([grant])), 'b')
  assert.deepEqual(statements, [grant])
  assert.throws(
    () => read({ ...base, Effect: 'Deny', Principal: { AWS: 'arn:aws:iam:::user/*' } }),
    /Invalid principal/,
  )
})

test('a row without a condition in it grants nothing', () => {
  const row = { effect: 'allow', principals: ['*'], actions: ['*'], conditions: [{ operator: 'bool' }] }
  assert.ok(policyProblem([statementOfRow(stored(row), ['b'])], { bucket: 'b' }))
})

test('a policy is public when nothing narrows whom it is for', () => {
  assert.equal(isPublicPolicy(read(base).statements), true)
  assert.equal(isPublicPolicy(read({ ...base, Principal: { AWS: 'alice' } }).statements), false)
  const from = (range: string) => read({ ...base, Condition: { IpAddress: { 'aws:SourceIp': range } } }).statements
  assert.equal(isPublicPolicy(from('10.0.0.0/8')), false)
  assert.equal(isPublicPolicy(from('0.0.0.0/0')), true)
})

test('a field that is given twice is refused, wherever it stands and however it is written', () => {
  const statement = '"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":"arn:aws:s3:::b/*"'
  const documents = [
    `{"Version":"2012-10-17","Statement":[{${statement},"Effect":"Allow"}]}`,
    `{"Version":"2012-10-17","Statement":[{${statement}}],"Statement":[]}`,
    `{"Version":"2012-10-17","Statement":[{${statement},"\\u0045ffect":"Allow"}]}`,
    `{"Version":"2012-10-17","Statement":[{${statement},"Condition":{"Bool":{"aws:SecureTransport":"true","aws:SecureTransport":"false"}}}]}`,
    `{"Version":"2012-10-17","Statement":[{${statement},"Condition":{"Bool":{},"Bool":{"aws:SecureTransport":"false"}}}]}`,
  ]
  for (const text of documents) {
    assert.throws(
      () => readPolicyDocument(Buffer.from(text), 'b'),
      (failure: Error & { code?: string }) => failure.code === 'MalformedPolicy' && /twice/.test(failure.message),
      text,
    )
  }
})
