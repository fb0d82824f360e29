import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headersOf } from '../request/headers.ts'
import { checkAclHeaders, checkAclRequest, aclDocument } from './acl.ts'
import { answerPreflight, corsDocument, corsHeaders, readCors } from './cors.ts'
import { compileLifecycle, lifecycleDocument, midnightAfter, readLifecycle } from './lifecycle.ts'
import type { VersionFacts } from './lifecycle.ts'
import {
  lockAgainstDelete,
  lockConfigurationDocument,
  mayReplaceRetention,
  readLegalHold,
  readLockConfiguration,
  readLockHeaders,
  readRetention,
  retentionFrom,
} from './object-lock.ts'
import { ownershipControlsDocument, readOwnershipControls } from './ownership.ts'
import { publicAccessBlockDocument, readPublicAccessBlock } from './public-access-block.ts'
import { readTagging, readTaggingHeader, taggingDocument } from './tagging.ts'
import { readVersioning, versioningDocument } from './versioning.ts'

const fails = (code: string, message?: RegExp) => (error: unknown) => {
  assert.equal((error as { code?: string }).code, code)
  if (message !== undefined) assert.match((error as Error).message, message)
  return true
}
const bytes = (text: string): Buffer => Buffer.from(text)
const day = 86_400_000
const noon = Date.parse('2026-01-15T10:30:00Z')

const tagging = (tags: readonly (readonly [string, string])[]): Buffer =>
  bytes(
    `<Tagging><TagSet>${tags.map(([key, value]) => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`).join('')}</TagSet></Tagging>`,
  )

test('tags are read and written back the same, in the order of their keys', () => {
  const tags = readTagging(
    tagging([
      ['a', ''],
      ['Größe +-=._:/@', 'ü'],
    ]),
    'object',
  )
  assert.deepEqual(readTagging(bytes(taggingDocument(tags)), 'object'), tags.toReversed())
  assert.deepEqual(readTaggingHeader(headersOf({ 'x-amz-tagging': 'a=1&b%20c=x+y&d' })), [
    { key: 'a', value: '1' },
    { key: 'b c', value: 'x y' },
    { key: 'd', value: '' },
  ])
})

test('tags that Amazon does not take are refused as it refuses them', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => [`k${index}`, 'v'] as const)
  assert.throws(() => readTagging(tagging(many(11)), 'object'), fails('BadRequest', /greater than 10/))
  assert.equal(readTagging(tagging(many(50)), 'bucket').length, 50)
  assert.throws(
    () =>
      readTagging(
        tagging([
          ['a', '1'],
          ['a', '2'],
        ]),
        'object',
      ),
    fails('InvalidTag', /same key/),
  )
  assert.equal(readTagging(tagging([['ü'.repeat(128), 'x'.repeat(256)]]), 'object').length, 1)
  assert.throws(() => readTagging(tagging([['k'.repeat(129), '']]), 'object'), fails('InvalidTag', /TagKey/))
  assert.throws(() => readTagging(tagging([['k', 'v'.repeat(257)]]), 'object'), fails('InvalidTag', /TagValue/))
  assert.throws(() => readTagging(tagging([['aws:x', '']]), 'object'), fails('InvalidTag', /System tags/))
  assert.throws(() => readTagging(bytes('<Tagging/>'), 'object'), fails('MalformedXML'))
  for (const header of ['a=1&a=2', '%zz=1']) {
    assert.throws(() => readTaggingHeader(headersOf({ 'x-amz-tagging': header })), fails('InvalidArgument'))
  }
})

test('versioning is enabled or suspended, and MFA delete is refused by its name', () => {
  const document = (inner: string): Buffer => bytes(`<VersioningConfiguration>${inner}</VersioningConfiguration>`)
  assert.equal(readVersioning(document('<Status>Enabled</Status>')), 'enabled')
  assert.equal(readVersioning(bytes(versioningDocument('suspended'))), 'suspended')
  assert.throws(() => readVersioning(document('')), fails('IllegalVersioningConfigurationException'))
  assert.throws(() => readVersioning(document('<Status>enabled</Status>')), fails('MalformedXML'))
  const mfa = document('<Status>Enabled</Status><MfaDelete>Enabled</MfaDelete>')
  assert.throws(() => readVersioning(mfa), fails('NotImplemented', /MfaDelete/))
  assert.match(versioningDocument('unversioned'), /<VersioningConfiguration xmlns="[^"]*"><\/VersioningConfiguration>$/)
})

const cors = (rules: string): Buffer => bytes(`<CORSConfiguration>${rules}</CORSConfiguration>`)
const corsRule = (origin: string, method: string, more = ''): string =>
  `<CORSRule><AllowedOrigin>${origin}</AllowedOrigin><AllowedMethod>${method}</AllowedMethod>${more}</CORSRule>`

test('a preflight is answered by the first rule that allows all of it', () => {
  const rules = readCors(
    cors(
      corsRule(
        'https://*.example.com',
        'PUT',
        '<AllowedHeader>x-amz-*</AllowedHeader><MaxAgeSeconds>60</MaxAgeSeconds>',
      ) + corsRule('*', 'GET', '<ExposeHeader>ETag</ExposeHeader>'),
    ),
  )
  assert.deepEqual(readCors(bytes(corsDocument(rules))), rules)
  const ask = (origin: string, method: string, headers = '') =>
    answerPreflight(
      rules,
      headersOf({ origin, 'access-control-request-method': method, 'access-control-request-headers': headers }),
      'OBJECT',
    )
  const answer = ask('https://a.example.com', 'PUT', 'X-Amz-Date, x-amz-acl')
  assert.equal(answer['access-control-allow-origin'], 'https://a.example.com')
  assert.equal(answer['access-control-allow-headers'], 'x-amz-date, x-amz-acl')
  assert.equal(answer['access-control-max-age'], '60')
  assert.equal(ask('http://other', 'GET')['access-control-allow-origin'], '*')
  assert.throws(() => ask('http://other', 'PUT'), fails('AccessForbidden', /not allowed/))
  assert.throws(() => ask('https://a.example.com', 'PUT', 'content-type'), fails('AccessForbidden'))
  assert.throws(() => ask('', 'PUT'), fails('BadRequest', /Origin request header needed/))
  assert.throws(() => ask('http://x', 'PATCH'), fails('BadRequest', /PATCH/))
  assert.throws(
    () => answerPreflight(undefined, headersOf({ origin: 'x', 'access-control-request-method': 'GET' }), 'BUCKET'),
    fails('AccessForbidden', /CORS is not enabled/),
  )
  assert.equal(corsHeaders(rules, 'GET', headersOf({ origin: 'http://o' }))['access-control-expose-headers'], 'ETag')
  assert.deepEqual(Object.keys(corsHeaders(rules, 'DELETE', headersOf({ origin: 'http://o' }))), ['vary'])
  assert.deepEqual(corsHeaders(undefined, 'GET', headersOf({ origin: 'http://o' })), {})
})

test('bad rules of CORS are refused', () => {
  assert.throws(() => readCors(cors(corsRule('*.*', 'GET'))), fails('InvalidRequest', /more than one wildcard/))
  assert.throws(() => readCors(cors(corsRule('*', 'PATCH'))), fails('InvalidRequest', /unsupported HTTP method/))
  assert.throws(() => readCors(cors(corsRule('*', 'GET').repeat(101))), fails('InvalidRequest', /100 rules/))
  assert.throws(() => readCors(cors('')), fails('MalformedXML'))
})

const lifecycle = (...rules: readonly string[]) =>
  readLifecycle(
    bytes(`<LifecycleConfiguration>${rules.map((rule) => `<Rule>${rule}</Rule>`).join('')}</LifecycleConfiguration>`),
    () => 'made',
  )
const on = '<Status>Enabled</Status>'
const facts = (changes: Partial<VersionFacts> = {}): VersionFacts => ({
  key: bytes('logs/a'),
  sizeBytes: 100,
  tags: () => [],
  modifiedMs: noon,
  isCurrent: true,
  isDeleteMarker: false,
  isOnlyVersion: true,
  ...changes,
})

test('what is old goes at the midnight after its days', () => {
  assert.equal(new Date(midnightAfter(noon, 3)).toISOString(), '2026-01-19T00:00:00.000Z')
  assert.equal(midnightAfter(0, 1), 2 * day)
  const rules = lifecycle(
    `<ID>a b</ID>${on}<Filter><Prefix>logs/</Prefix></Filter><Expiration><Days>3</Days></Expiration>`,
  )
  assert.deepEqual(
    readLifecycle(bytes(lifecycleDocument(rules)), () => ''),
    rules,
  )
  const compiled = compileLifecycle(rules)
  const at = Date.parse('2026-01-19')
  assert.equal(compiled.decide(facts(), at - 1), 'keep')
  assert.equal(compiled.decide(facts(), at), 'expire')
  assert.equal(compiled.decide(facts({ key: bytes('other') }), at), 'keep')
  assert.equal(compiled.decide(facts({ isDeleteMarker: true }), at), 'delete-marker')
  assert.equal(compiled.decide(facts({ isDeleteMarker: true, isOnlyVersion: false }), at), 'keep')
  assert.deepEqual(compiled.expirationHeaders(facts()), {
    'x-amz-expiration': 'expiry-date="Mon, 19 Jan 2026 00:00:00 GMT", rule-id="a%20b"',
  })
})

test('the prefixes of all enabled rules are known in order, none within another', () => {
  const rule = (id: string, prefix: string, status = on) =>
    `<ID>${id}</ID>${status}<Filter><Prefix>${prefix}</Prefix></Filter><Expiration><Days>1</Days></Expiration>`
  const prefixes = (...rules: readonly string[]) =>
    compileLifecycle(lifecycle(...rules)).prefixes.map((prefix) => Buffer.from(prefix).toString())
  const off = '<Status>Disabled</Status>'
  assert.deepEqual(
    prefixes(rule('a', 'logs/x'), rule('b', 'b'), rule('c', 'logs/'), rule('d', 'a', off), rule('e', 'b')),
    ['b', 'logs/'],
  )
  assert.deepEqual(prefixes(rule('a', 'logs/'), rule('b', '')), [''])
  assert.deepEqual(prefixes(rule('a', 'logs/', off)), [])
})

test('a day of the rules can be made shorter for tests', () => {
  const [rule] = lifecycle(`${on}<Filter/><Expiration><Days>2</Days></Expiration>`)
  const compiled = compileLifecycle(rule === undefined ? [] : [rule], 10_000)
  const version = facts({ modifiedMs: 5000 })
  assert.equal(compiled.decide(version, 29_999), 'keep')
  assert.equal(compiled.decide(version, 30_000), 'expire')
})

test('noncurrent versions go by their days and by how many are newer', () => {
  const compiled = compileLifecycle(
    lifecycle(
      `${on}<Filter/><NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays>` +
        '<NewerNoncurrentVersions>2</NewerNoncurrentVersions></NoncurrentVersionExpiration>' +
        '<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>' +
        '<AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload>',
    ),
  )
  const old = { isCurrent: false, noncurrentSinceMs: noon, newerNoncurrentCount: 2 }
  assert.equal(compiled.decide(facts(old), noon + 2 * day), 'delete-version')
  assert.equal(compiled.decide(facts({ ...old, newerNoncurrentCount: 1 }), noon + 2 * day), 'keep')
  assert.equal(compiled.decide(facts(old), noon + day), 'keep')
  assert.equal(compiled.decide(facts({ isDeleteMarker: true }), noon), 'delete-marker')
  assert.equal(compiled.decide(facts(), noon + 100 * day), 'keep')
  assert.equal(compiled.aborts({ key: bytes('k'), initiatedMs: noon }, noon + 8 * day), true)
  assert.equal(compiled.aborts({ key: bytes('k'), initiatedMs: noon }, noon + 7 * day), false)
  assert.equal(compiled.abortHeaders({ key: bytes('k'), initiatedMs: noon })['x-amz-abort-rule-id'], 'made')
})

test('filters by tag and size hold together', () => {
  const rules = lifecycle(
    `${on}<Filter><And><Prefix>logs/</Prefix><Tag><Key>a</Key><Value>1</Value></Tag>` +
      '<ObjectSizeGreaterThan>10</ObjectSizeGreaterThan><ObjectSizeLessThan>101</ObjectSizeLessThan></And></Filter>' +
      '<Expiration><Date>2026-01-01T00:00:00.000Z</Date></Expiration>',
  )
  assert.deepEqual(
    readLifecycle(bytes(lifecycleDocument(rules)), () => ''),
    rules,
  )
  const compiled = compileLifecycle(rules)
  const decide = (version: VersionFacts, nowMs: number) => compiled.decide(version, nowMs)
  const tags = () => [
    { key: 'b', value: '' },
    { key: 'a', value: '1' },
  ]
  assert.equal(decide(facts({ tags }), noon), 'expire')
  assert.equal(decide(facts(), noon), 'keep')
  assert.equal(decide(facts({ tags, sizeBytes: 10 }), noon), 'keep')
  assert.equal(decide(facts({ tags, sizeBytes: 101 }), noon), 'keep')
})

test('bad lifecycles are refused', () => {
  const all = `${on}<Filter/>`
  const tag = `${on}<Filter><Tag><Key>a</Key><Value/></Tag></Filter>`
  const days = '<Expiration><Days>1</Days></Expiration>'
  const abort =
    '<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>'
  const cases: readonly (readonly [string, string])[] = [
    ['InvalidRequest', all],
    ['InvalidArgument', `${all}<Expiration><Days>0</Days></Expiration>`],
    ['InvalidArgument', `${all}<Expiration><Date>2026-01-01T01:00:00Z</Date></Expiration>`],
    ['MalformedXML', `${all}<Expiration><Date>20260101</Date></Expiration>`],
    ['MalformedXML', `${all}<Expiration><Days>1</Days><Date>2026-01-01</Date></Expiration>`],
    ['MalformedXML', `<Status>on</Status><Filter/>${days}`],
    ['MalformedXML', `${on}${days}`],
    ['MalformedXML', `${all}<Prefix>a</Prefix>${days}`],
    ['InvalidRequest', `${tag}${abort}`],
    ['NotImplemented', `${all}<Transition><Days>1</Days><StorageClass>GLACIER</StorageClass></Transition>`],
    ['InvalidArgument', `<ID>${'x'.repeat(256)}</ID>${all}${days}`],
  ]
  for (const [code, rule] of cases) assert.throws(() => lifecycle(rule), fails(code), rule)
  assert.throws(
    () => lifecycle(`<ID>a</ID>${all}${days}`, `<ID>a</ID>${all}${days}`),
    fails('InvalidArgument', /unique/),
  )
})

test('locks are read, and what they keep is kept', () => {
  const retention = { mode: 'governance', untilMs: noon + day } as const
  const now = { nowMs: noon, mayBypass: false }
  const bypass = { nowMs: noon, mayBypass: true }
  assert.equal(lockAgainstDelete({ retention }, now), 'governance')
  assert.equal(lockAgainstDelete({ retention }, bypass), undefined)
  assert.equal(lockAgainstDelete({ retention: { ...retention, mode: 'compliance' } }, bypass), 'compliance')
  assert.equal(lockAgainstDelete({ retention }, { ...now, nowMs: noon + day }), undefined)
  assert.equal(lockAgainstDelete({ legalHold: true }, bypass), 'legal-hold')

  const compliance = { ...retention, mode: 'compliance' } as const
  assert.equal(mayReplaceRetention(retention, { ...retention, untilMs: noon + 2 * day }, now), true)
  assert.equal(mayReplaceRetention(retention, { ...retention, untilMs: noon + 1 }, now), false)
  assert.equal(mayReplaceRetention(retention, compliance, now), false)
  assert.equal(mayReplaceRetention(retention, undefined, bypass), true)
  assert.equal(mayReplaceRetention(compliance, undefined, bypass), false)
  assert.equal(mayReplaceRetention(compliance, { ...compliance, untilMs: noon + 2 * day }, now), true)
})

test('documents and headers of locks', () => {
  const lock = (inner: string) =>
    readLockConfiguration(
      bytes(
        `<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled>${inner}</ObjectLockConfiguration>`,
      ),
    )
  const rule = (inner: string): string =>
    `<Rule><DefaultRetention><Mode>COMPLIANCE</Mode>${inner}</DefaultRetention></Rule>`
  const found = lock(rule('<Years>1</Years>'))
  assert.deepEqual(readLockConfiguration(bytes(lockConfigurationDocument(found))), found)
  assert.equal(
    new Date(retentionFrom({ mode: 'compliance', years: 1 }, noon).untilMs).toISOString(),
    '2027-01-15T10:30:00.000Z',
  )
  assert.throws(() => lock(rule('<Days>0</Days>')), fails('InvalidArgument', /positive integer/))
  assert.throws(() => lock(rule('<Days>1</Days><Years>1</Years>')), fails('MalformedXML'))
  assert.equal(readRetention(bytes('<Retention/>'), noon), undefined)
  const past = '<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>2020-01-01T00:00:00Z</RetainUntilDate></Retention>'
  assert.throws(() => readRetention(bytes(past), noon), fails('InvalidArgument', /future/))
  assert.equal(readLegalHold(bytes('<LegalHold><Status>ON</Status></LegalHold>')), true)
  assert.throws(() => readLegalHold(bytes('<LegalHold><Status>on</Status></LegalHold>')), fails('MalformedXML'))
  const headers = (pairs: Record<string, string>) => readLockHeaders(headersOf(pairs), noon)
  assert.equal(headers({}), undefined)
  assert.deepEqual(headers({ 'x-amz-object-lock-legal-hold': 'ON' }), { legalHold: true })
  assert.throws(() => headers({ 'x-amz-object-lock-mode': 'GOVERNANCE' }), fails('InvalidArgument', /both be supplied/))
})

test('lists that grant nothing to others are taken, all others refused', () => {
  const owner = { ID: 'svm', DisplayName: 'svm' }
  assert.equal(checkAclHeaders(headersOf({ 'x-amz-acl': 'private' }), owner), true)
  assert.equal(checkAclHeaders(headersOf({}), owner), false)
  assert.equal(checkAclHeaders(headersOf({ 'x-amz-grant-full-control': 'id="svm"' }), owner), true)
  for (const pairs of [{ 'x-amz-acl': 'public-read' }, { 'x-amz-grant-read': 'id=other' }]) {
    assert.throws(() => checkAclHeaders(headersOf(pairs), owner), fails('AccessControlListNotSupported'))
  }
  assert.throws(() => checkAclHeaders(headersOf({ 'x-amz-acl': 'mine' }), owner), fails('InvalidArgument'))
  checkAclRequest(headersOf({}), bytes(aclDocument(owner)), owner)
  const other = aclDocument(owner).replace(
    '<ID>svm</ID><DisplayName>svm</DisplayName></Grantee>',
    '<ID>x</ID></Grantee>',
  )
  assert.throws(() => checkAclRequest(headersOf({}), bytes(other), owner), fails('AccessControlListNotSupported'))
  assert.throws(() => checkAclRequest(headersOf({}), bytes('<a'), owner), fails('MalformedACLError'))
  assert.throws(() => checkAclRequest(headersOf({}), bytes(''), owner), fails('MissingSecurityHeader'))
})

test('ownership and public access are given back as they were set', () => {
  assert.equal(readOwnershipControls(bytes(ownershipControlsDocument('BucketOwnerEnforced'))), 'BucketOwnerEnforced')
  const preferred = ownershipControlsDocument('BucketOwnerEnforced').replace('Enforced', 'Preferred')
  assert.throws(() => readOwnershipControls(bytes(preferred)), fails('NotImplemented'))
  const block = readPublicAccessBlock(
    bytes(
      '<PublicAccessBlockConfiguration><BlockPublicPolicy>TRUE</BlockPublicPolicy></PublicAccessBlockConfiguration>',
    ),
  )
  assert.equal(block.blockPublicPolicy, true)
  assert.deepEqual(readPublicAccessBlock(bytes(publicAccessBlockDocument(block))), block)
})
