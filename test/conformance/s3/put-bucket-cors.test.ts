/** Operations: PutBucketCors, GetBucketCors, DeleteBucketCors, PreflightBucket, PreflightObject, PreflightService. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bucket } from './bucket.ts'
import { eventually, fails, succeeds, type Answer } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const cors = (...rules: readonly string[]) =>
  `<CORSConfiguration>${rules.map((rule) => `<CORSRule>${rule}</CORSRule>`).join('')}</CORSConfiguration>`
const shop =
  '<ID>shop</ID><AllowedOrigin>https://*.shop.example</AllowedOrigin><AllowedMethod>PUT</AllowedMethod>' +
  '<AllowedMethod>GET</AllowedMethod><AllowedHeader>x-amz-*</AllowedHeader><AllowedHeader>content-type</AllowedHeader>' +
  '<ExposeHeader>ETag</ExposeHeader><MaxAgeSeconds>600</MaxAgeSeconds>'
const everyone = '<AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod>'

async function withRules(...rules: readonly string[]): Promise<Bucket> {
  const bucket = await s3.bucket()
  await succeeds(bucket.configure('cors', cors(...rules)))
  return bucket
}

function ask(bucket: Bucket, headers: Readonly<Record<string, string>>): Promise<Answer> {
  return bucket.call('OPTIONS', { key: 'key', headers, signing: 'anonymous' })
}

test('rules are given back as they were put', async () => {
  const bucket = await withRules(shop, everyone)
  const answer = await succeeds(bucket.read('cors'))
  const [first, second] = answer.blocks('CORSRule')
  assert.equal(first?.element('ID'), 'shop')
  assert.deepEqual(first?.elements('AllowedMethod'), ['PUT', 'GET'])
  assert.deepEqual(first?.elements('AllowedHeader'), ['x-amz-*', 'content-type'])
  assert.equal(first?.element('MaxAgeSeconds'), '600')
  assert.deepEqual(second?.elements('AllowedOrigin'), ['*'])
})

test('a bucket without rules answers 404 NoSuchCORSConfiguration, also after DeleteBucketCors', async () => {
  const bucket = await s3.bucket()
  await fails(bucket.read('cors'), 404, 'NoSuchCORSConfiguration')
  await succeeds(bucket.configure('cors', cors(everyone)))
  await succeeds(bucket.call('DELETE', { query: 'cors' }), 204)
  await fails(bucket.read('cors'), 404, 'NoSuchCORSConfiguration')
})

test('a preflight that a rule fits is told what it may do [cors-preflight]', async () => {
  const bucket = await withRules(shop)
  await eventually(async () => {
    const { headers } = await succeeds(
      ask(bucket, {
        origin: 'https://www.shop.example',
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'X-Amz-Date, content-type',
      }),
    )
    assert.equal(headers['access-control-allow-origin'], 'https://www.shop.example')
    assert.match(String(headers['access-control-allow-methods']), /PUT/)
    assert.match(String(headers['access-control-allow-headers']).toLowerCase(), /x-amz-date.*content-type/)
    assert.equal(headers['access-control-max-age'], '600')
    assert.equal(headers['access-control-expose-headers'], 'ETag')
    assert.match(String(headers.vary).toLowerCase(), /origin/)
  })
})

test('a preflight that no rule fits answers 403 AccessForbidden', async () => {
  const bucket = await withRules(shop)
  const right = { origin: 'https://www.shop.example', 'access-control-request-method': 'PUT' }
  await eventually(() => succeeds(ask(bucket, right)))
  await fails(ask(bucket, { ...right, origin: 'https://shop.example.net' }), 403, 'AccessForbidden')
  await fails(ask(bucket, { ...right, 'access-control-request-method': 'DELETE' }), 403, 'AccessForbidden')
  await fails(ask(bucket, { ...right, 'access-control-request-headers': 'x-other' }), 403, 'AccessForbidden')
})

test('a preflight at a bucket without rules answers 403 AccessForbidden', async () => {
  const bucket = await s3.bucket()
  const headers = { origin: 'https://a.example', 'access-control-request-method': 'GET' }
  await fails(ask(bucket, headers), 403, 'AccessForbidden')
})

test('a preflight at a bucket that is not there, or at none, answers 403 AccessForbidden', async () => {
  const headers = { origin: 'https://a.example', 'access-control-request-method': 'GET' }
  await fails(ask(s3.unmade(), headers), 403, 'AccessForbidden')
  await fails(s3.call('OPTIONS', { headers, signing: 'anonymous' }), 403, 'AccessForbidden')
})

test('a preflight without Origin or method answers 400 BadRequest', async () => {
  const bucket = await withRules(everyone)
  await fails(ask(bucket, { 'access-control-request-method': 'GET' }), 400, 'BadRequest')
  await fails(ask(bucket, { origin: 'https://a.example' }), 400, 'BadRequest')
})

test('a request from an origin that a rule fits carries the headers for its browser, errors too', async () => {
  const bucket = await withRules(shop)
  await bucket.hold('key', 'x')
  const origin = 'https://www.shop.example'
  await eventually(async () => {
    const { headers } = await succeeds(bucket.get('key', { origin }))
    assert.equal(headers['access-control-allow-origin'], origin)
    assert.equal(headers['access-control-expose-headers'], 'ETag')
  })
  const missing = await fails(bucket.get('absent', { origin }), 404, 'NoSuchKey')
  assert.equal(missing.header('access-control-allow-origin'), origin)
})

test('a request from another origin is served, without these headers', async () => {
  const bucket = await withRules(shop)
  await bucket.hold('key', 'x')
  const { headers } = await succeeds(bucket.get('key', { origin: 'https://other.example' }))
  assert.equal(headers['access-control-allow-origin'], undefined)
})

test('the origin * is answered as *', async () => {
  const bucket = await withRules(everyone)
  await bucket.hold('key', 'x')
  await eventually(async () => {
    const { headers } = await succeeds(bucket.get('key', { origin: 'https://any.example' }))
    assert.equal(headers['access-control-allow-origin'], '*')
    assert.equal(headers['access-control-allow-credentials'], undefined)
  })
})

test('the first rule that fits decides', async () => {
  const first = '<AllowedOrigin>https://a.example</AllowedOrigin><AllowedMethod>GET</AllowedMethod>'
  const bucket = await withRules(
    `${first}<MaxAgeSeconds>1</MaxAgeSeconds>`,
    `${everyone}<MaxAgeSeconds>2</MaxAgeSeconds>`,
  )
  const age = async (origin: string) =>
    (await succeeds(ask(bucket, { origin, 'access-control-request-method': 'GET' }))).header('access-control-max-age')
  await eventually(async () => {
    assert.equal(await age('https://a.example'), '1')
    assert.equal(await age('https://b.example'), '2')
  })
})

test('an unknown method, two wildcards, and what is no name of a header answer 400 InvalidRequest', async () => {
  const bucket = await s3.bucket()
  const rules = [
    '<AllowedOrigin>*</AllowedOrigin><AllowedMethod>PATCH</AllowedMethod>',
    '<AllowedOrigin>http://*.a.*</AllowedOrigin><AllowedMethod>GET</AllowedMethod>',
    `${everyone}<AllowedHeader>*-*</AllowedHeader>`,
    `${everyone}<AllowedHeader>two words</AllowedHeader>`,
    `${everyone}<AllowedHeader>x(y)</AllowedHeader>`,
    `${everyone}<AllowedHeader/>`,
    `${everyone}<ExposeHeader>*</ExposeHeader>`,
  ]
  for (const rule of rules) await fails(bucket.configure('cors', cors(rule)), 400, 'InvalidRequest')
})

test('rules without origin or method, no rule, or no XML answer 400 MalformedXML', async () => {
  const bucket = await s3.bucket()
  const wrong = [cors('<AllowedMethod>GET</AllowedMethod>'), cors('<AllowedOrigin>*</AllowedOrigin>'), cors(), 'x']
  for (const document of wrong) await fails(bucket.configure('cors', document), 400, 'MalformedXML')
})

test('more than 100 rules are refused', async () => {
  const bucket = await s3.bucket()
  await fails(bucket.configure('cors', cors(...Array.from({ length: 101 }, () => everyone))), 400)
})
