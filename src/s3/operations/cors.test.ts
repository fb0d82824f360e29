import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { DeleteBucketCorsCommand, GetBucketCorsCommand, PutBucketCorsCommand } from '@aws-sdk/client-s3'
import type { CORSRule } from '@aws-sdk/client-s3'
import { presign } from '../auth/sign.ts'
import { keys, refused, send, startTestPlane } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'

const Bucket = 'shared'
let t: TestPlane
before(async () => {
  t = await startTestPlane()
  await t.addBucket(Bucket)
  await t.addBucket('bare')
  await send(t, 'PUT', `/${Bucket}/k`, { body: 'x' })
})
after(() => t.close())

function set(...CORSRules: CORSRule[]): Promise<unknown> {
  return t.s3.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules } }))
}

type Answer = Awaited<ReturnType<typeof send>>

function ask(target: string, headers: Record<string, string>): Promise<Answer> {
  return send(t, 'OPTIONS', target, { isAnonymous: true, headers })
}

/** A preflight for an object of the bucket. */
function preflight(origin: string, method: string, wanted?: string): Promise<Answer> {
  return ask(`/${Bucket}/k`, {
    origin,
    'access-control-request-method': method,
    ...(wanted === undefined ? {} : { 'access-control-request-headers': wanted }),
  })
}

/** What an answer says to a browser. */
function told({ headers }: Answer): Record<string, string | undefined> {
  const names = ['allow-origin', 'allow-methods', 'allow-headers', 'expose-headers', 'max-age', 'allow-credentials']
  const named = names.map((name) => [name, headers[`access-control-${name}`]] as const)
  return Object.fromEntries(named.filter(([, value]) => value !== undefined) as [string, string][])
}

const whole: CORSRule = {
  ID: 'one',
  AllowedOrigins: ['http://*.example.com', 'https://example.com'],
  AllowedMethods: ['GET', 'PUT'],
  AllowedHeaders: ['x-amz-*', 'Content-Type'],
  ExposeHeaders: ['ETag', 'x-amz-version-id'],
  MaxAgeSeconds: 3000,
}

test('rules come back as they were set, and go', async () => {
  const read = (): Promise<CORSRule[] | undefined> =>
    t.s3.send(new GetBucketCorsCommand({ Bucket })).then((one) => one.CORSRules)
  await assert.rejects(read(), refused('NoSuchCORSConfiguration', 404))
  const rules = [whole, { AllowedOrigins: ['*'], AllowedMethods: ['HEAD'] }]
  await set(...rules)
  assert.deepEqual(await read(), rules)
  for (let times = 0; times < 2; times += 1) {
    const { $metadata } = await t.s3.send(new DeleteBucketCorsCommand({ Bucket }))
    assert.equal($metadata.httpStatusCode, 204)
  }
  await assert.rejects(read(), refused('NoSuchCORSConfiguration', 404))
})

test('rules that Amazon does not take are refused, and the ones that are there stay', async () => {
  await set(whole)
  const bad: readonly (readonly [string, CORSRule])[] = [
    ['InvalidRequest', { ...whole, AllowedMethods: ['PATCH'] }],
    ['InvalidRequest', { ...whole, AllowedMethods: ['OPTIONS'] }],
    ['InvalidRequest', { ...whole, AllowedOrigins: ['http://*.*.com'] }],
    ['InvalidRequest', { ...whole, AllowedHeaders: ['*-*'] }],
    ['InvalidRequest', { ...whole, ExposeHeaders: ['*'] }],
    ['InvalidRequest', { ...whole, ID: 'x'.repeat(256) }],
    ['MalformedXML', { ...whole, AllowedOrigins: [] }],
    ['MalformedXML', { ...whole, AllowedMethods: [] }],
  ]
  for (const [code, rule] of bad) await assert.rejects(set(rule), refused(code, 400), JSON.stringify(rule))
  await assert.rejects(set(), refused('MalformedXML', 400))
  await assert.rejects(set(...Array.from({ length: 101 }, () => whole)), refused('InvalidRequest', 400))
  const { CORSRules } = await t.s3.send(new GetBucketCorsCommand({ Bucket }))
  assert.deepEqual(CORSRules, [whole])
  const unchecked = await send(t, 'PUT', `/${Bucket}?cors`, { body: '<CORSConfiguration/>' })
  assert.match(unchecked.text, /<Code>InvalidRequest</)
})

test('a preflight is told what the rule allows', async () => {
  await set(whole)
  const answer = await preflight('http://www.example.com', 'PUT', 'X-Amz-Date, content-type')
  assert.equal(answer.status, 200)
  assert.equal(answer.text, '')
  assert.deepEqual(told(answer), {
    'allow-origin': 'http://www.example.com',
    'allow-methods': 'GET, PUT',
    'allow-headers': 'x-amz-date, content-type',
    'expose-headers': 'ETag, x-amz-version-id',
    'max-age': '3000',
    'allow-credentials': 'true',
  })
  assert.equal(answer.headers['vary'], 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method')
  assert.ok(answer.headers['x-amz-request-id'])
})

test('a preflight that no rule allows is forbidden, and a bad one is refused', async () => {
  await set(whole)
  const forbidden = [
    preflight('http://example.org', 'GET'),
    preflight('http://example.com', 'GET'),
    preflight('https://example.com', 'DELETE'),
    preflight('https://example.com', 'GET', 'x-other'),
    ask('/bare/k', { origin: 'http://a', 'access-control-request-method': 'GET' }),
    ask('/no-such-bucket', { origin: 'http://a', 'access-control-request-method': 'GET' }),
    ask('/', { origin: 'http://a', 'access-control-request-method': 'GET' }),
  ]
  for (const answer of await Promise.all(forbidden)) {
    assert.equal(answer.status, 403)
    assert.match(answer.text, /<Code>AccessForbidden<.*<Method>/)
    assert.deepEqual(told(answer), {})
  }
  const bad = [
    ask(`/${Bucket}/k`, { 'access-control-request-method': 'GET' }),
    ask(`/${Bucket}/k`, { origin: 'https://example.com' }),
    preflight('https://example.com', 'PATCH'),
    preflight('https://example.com', 'GET', 'a b'),
  ]
  for (const { status, text } of await Promise.all(bad)) {
    assert.equal(status, 400)
    assert.match(text, /<Code>BadRequest</)
  }
})

test('the first rule that fits is the one, and a rule for everybody brings no credentials', async () => {
  const all: CORSRule = { AllowedOrigins: ['*'], AllowedMethods: ['GET'] }
  await set(
    { ...all, MaxAgeSeconds: 1, AllowedMethods: ['PUT'] },
    { ...all, MaxAgeSeconds: 2 },
    { ...all, MaxAgeSeconds: 3 },
  )
  assert.deepEqual(told(await preflight('http://a', 'GET')), {
    'allow-origin': '*',
    'allow-methods': 'GET',
    'max-age': '2',
  })
  assert.deepEqual(told(await preflight('http://a', 'PUT'))['max-age'], '1')
  // This rule allows no headers.
  assert.equal((await preflight('http://a', 'GET', 'x-other')).status, 403)
  await set(all, { ...all, AllowedHeaders: ['*'], MaxAgeSeconds: 4 })
  assert.equal(told(await preflight('http://a', 'GET', 'x-other'))['max-age'], '4')
})

test('other answers tell it too, errors as well, and caches that they differ by origin', async () => {
  await set(whole)
  const get = (target: string, headers: Record<string, string>, isAnonymous = false): Promise<Answer> =>
    send(t, 'GET', target, { headers, isAnonymous })
  const origin = 'https://example.com'
  const allowed = {
    'allow-origin': origin,
    'allow-methods': 'GET, PUT',
    'expose-headers': 'ETag, x-amz-version-id',
    'max-age': '3000',
    'allow-credentials': 'true',
  }
  const found = await get(`/${Bucket}/k`, { origin })
  assert.deepEqual([found.status, told(found)], [200, allowed])
  const missing = await get(`/${Bucket}/nothing`, { origin })
  assert.deepEqual([missing.status, told(missing)], [404, allowed])
  const denied = await get(`/${Bucket}/k`, { origin }, true)
  assert.deepEqual([denied.status, told(denied)], [403, allowed])
  const listing = await get(`/${Bucket}`, { origin })
  assert.deepEqual(told(listing), allowed)
  const written = await send(t, 'PUT', `/${Bucket}/w`, { headers: { origin }, body: 'x' })
  assert.deepEqual([written.status, told(written)], [200, allowed])

  for (const other of [await get(`/${Bucket}/k`, { origin: 'http://other' }), await get(`/${Bucket}/k`, {})]) {
    assert.equal(other.status, 200)
    assert.deepEqual(told(other), {})
    assert.match(other.headers['vary'] ?? '', /^Origin/)
  }
  const deleted = await send(t, 'DELETE', `/${Bucket}/w`, { headers: { origin } })
  assert.deepEqual([deleted.status, told(deleted)], [204, {}])
  const bare = await get('/bare', { origin })
  assert.equal(bare.headers['vary'], undefined)
})

test('a page may preflight and send what was signed for it beforehand', async () => {
  await set({ AllowedOrigins: ['http://page'], AllowedMethods: ['PUT', 'GET'], AllowedHeaders: ['*'] })
  const { host } = new URL(t.url)
  const identity = { accessKey: keys.accessKeyId, secret: keys.secretAccessKey, region: 'us-east-1' }
  const request = { method: 'PUT', rawPath: `/${Bucket}/signed`, rawQuery: '', headers: { host } }
  const query = presign(request, identity, { now: new Date(), expiresSeconds: 60 })
  const target = `/${Bucket}/signed?${query}`
  const asked = await ask(target, { origin: 'http://page', 'access-control-request-method': 'PUT' })
  assert.equal(asked.status, 200)
  const sent = await send(t, 'PUT', target, { isAnonymous: true, headers: { origin: 'http://page' }, body: 'x' })
  assert.deepEqual([sent.status, sent.headers['access-control-allow-origin']], [200, 'http://page'])
})
