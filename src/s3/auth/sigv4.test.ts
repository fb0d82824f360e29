import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { anyText } from '../../../test/support/any-text.ts'
import { S3Error } from '../errors.ts'
import { headersOf } from '../request/headers.ts'
import { presign, sign } from './sign.ts'
import { scopeRegionCharactersMax } from './credentials.ts'
import { signingKey } from './canonical.ts'
import type { Scope } from './canonical.ts'
import { SigningKeys, verify } from './sigv4.ts'
import type { Verified, Verifier } from './sigv4.ts'

// The examples of the Amazon S3 API Reference, "Authenticating Requests (AWS Signature Version 4)".
const accessKey = 'AKIAIOSFODNN7EXAMPLE'
const secret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'
const now = new Date('2013-05-24T00:00:00Z')
const identity = { accessKey, secret, region: 'us-east-1' }
const host = 'examplebucket.s3.amazonaws.com'
const emptyHash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const scope = `${accessKey}/20130524/us-east-1/s3/aws4_request`

interface Sent {
  readonly method?: string
  readonly rawPath?: string
  readonly rawQuery?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
}

function check(
  sent: Sent,
  verifier: Partial<Verifier<{ secret: string }>> = {},
): Promise<Verified<{ secret: string }>> {
  return verify(
    {
      method: sent.method ?? 'GET',
      rawPath: sent.rawPath ?? '/',
      rawQuery: sent.rawQuery ?? '',
      headers: headersOf(sent.headers ?? {}),
    },
    { now, accountOf: async (key) => (key === accessKey ? { secret } : undefined), ...verifier },
  )
}

function authorization(signedHeaders: string, signature: string): string {
  return `AWS4-HMAC-SHA256 Credential=${scope},SignedHeaders=${signedHeaders},Signature=${signature}`
}

function signedGet(headers: Record<string, string> = {}, at: Date = now): Sent & { headers: Record<string, string> } {
  return { headers: { ...sign({ method: 'GET', rawPath: '/', headers: { host, ...headers } }, identity, at).headers } }
}

function presigned(
  options: { expiresSeconds?: number; rawQuery?: string; headers?: Record<string, string> } = {},
): Sent {
  const request = { method: 'GET', rawPath: '/test.txt', headers: { host }, ...options }
  return {
    rawPath: '/test.txt',
    rawQuery: presign(request, identity, { now, expiresSeconds: options.expiresSeconds ?? 86_400 }),
    headers: { host },
  }
}

test('Amazon’s example of GET Object with a range is verified', async () => {
  const headers = {
    Host: host,
    Range: 'bytes=0-9',
    'x-amz-content-sha256': emptyHash,
    'x-amz-date': '20130524T000000Z',
    Authorization: authorization(
      'host;range;x-amz-content-sha256;x-amz-date',
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ),
  }
  const verified = await check({ rawPath: '/test.txt', headers })
  assert.equal(verified.kind, 'signed')
  assert.equal(verified.payload.kind, 'sha256')
  assert.ok(verified.kind === 'signed' && verified.accessKey === accessKey && verified.by === 'header')
})

test('Amazon’s example of PUT Object, with a date header and a dollar in the key, is verified', async () => {
  const headers = {
    Host: host,
    Date: 'Fri, 24 May 2013 00:00:00 GMT',
    'x-amz-date': '20130524T000000Z',
    'x-amz-storage-class': 'REDUCED_REDUNDANCY',
    'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
    Authorization: authorization(
      'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
      '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    ),
  }
  assert.equal((await check({ method: 'PUT', rawPath: '/test$file.text', headers })).kind, 'signed')
})

test('Amazon’s examples of a subresource and of a listing are verified', async () => {
  for (const [rawQuery, signature] of [
    ['lifecycle', 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
    ['lifecycle=', 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
    ['max-keys=2&prefix=J', '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'],
    ['prefix=J&max-keys=2', '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'],
  ] as const) {
    const headers = {
      Host: host,
      'x-amz-date': '20130524T000000Z',
      'x-amz-content-sha256': emptyHash,
      Authorization: authorization('host;x-amz-content-sha256;x-amz-date', signature),
    }
    assert.equal((await check({ rawQuery, headers })).kind, 'signed', rawQuery)
  }
})

test('Amazon’s example of a presigned URL is made and verified', async () => {
  const sent = presigned()
  assert.match(sent.rawQuery ?? '', /X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404$/)
  const verified = await check(sent)
  assert.ok(verified.kind === 'signed' && verified.by === 'query' && verified.payload.kind === 'unsigned')
})

test('a request without any credentials is anonymous', async () => {
  assert.deepEqual(await check({}), { kind: 'anonymous', payload: { kind: 'unsigned' } })
})

test('what is signed is verified for any path, query and header values', async () => {
  const text = anyText({ maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.tuple(text, text), { maxLength: 5 }), text, async (key, query, meta) => {
      const rawPath = `/b/${encodeURIComponent(key)}//../x`
      const rawQuery = query
        .map(([name, value]) => `q${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
        .join('&')
      const value = Buffer.from(meta.replaceAll(/\p{Cc}/gu, ' ')).toString('latin1')
      const request = { method: 'PUT', rawPath, rawQuery, headers: { host: 'h', 'x-amz-meta-a': value } }
      const { headers } = sign(request, identity, now)
      assert.equal((await check({ ...request, headers })).kind, 'signed')
      const url = presign(request, identity, { now, expiresSeconds: 60 })
      assert.equal((await check({ ...request, rawQuery: url })).kind, 'signed')
    }),
  )
})

test('a change to anything that is signed is SignatureDoesNotMatch, with what was signed', async () => {
  const good = sign(
    { method: 'GET', rawPath: '/a', rawQuery: 'b=c', headers: { host, 'x-amz-meta-a': 'x' } },
    identity,
    now,
  )
  const sent = { method: 'GET', rawPath: '/a', rawQuery: 'b=c', headers: { ...good.headers } }
  assert.equal((await check(sent)).kind, 'signed')
  const changed: Sent[] = [
    { ...sent, method: 'PUT' },
    { ...sent, rawPath: '/A' },
    { ...sent, rawPath: '/a/' },
    { ...sent, rawPath: '//a' },
    { ...sent, rawQuery: 'b=d' },
    { ...sent, rawQuery: 'b=c&acl' },
    { ...sent, headers: { ...sent.headers, host: 'other' } },
    { ...sent, headers: { ...sent.headers, 'x-amz-meta-a': ['x', 'y'] } },
    { ...sent, headers: { ...sent.headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } },
  ]
  for (const one of changed) {
    await assert.rejects(check(one), (error) => {
      assert.ok(error instanceof S3Error)
      assert.equal(error.code, 'SignatureDoesNotMatch')
      assert.equal(error.fields['AWSAccessKeyId'], accessKey)
      assert.match(error.fields['StringToSign'] ?? '', /^AWS4-HMAC-SHA256\n20130524T000000Z\n/)
      assert.ok(error.fields['CanonicalRequest']?.includes(one.method ?? ''))
      assert.equal(error.fields['SignatureProvided'], good.seedSignature)
      return true
    })
  }
})

test('the same request written another way has the same signature', async () => {
  const { headers } = sign(
    { method: 'GET', rawPath: '/a b', rawQuery: 'p=a%20b&r', headers: { host, 'x-amz-meta-a': 'x y' } },
    identity,
    now,
  )
  const same: Sent[] = [
    { rawPath: '/%61%20b', rawQuery: 'r=&p=a+b', headers },
    { rawPath: '/a%20b', rawQuery: '&&r&p=a%20b', headers: { ...headers, 'x-amz-meta-a': ' x \t  y ' } },
  ]
  for (const sent of same) assert.equal((await check(sent)).kind, 'signed')
})

test('query parameters sort by name before value, by their encoded bytes', async () => {
  const { headers } = sign(
    { method: 'GET', rawPath: '/', rawQuery: 'a-b=1&a=2&a=1&%C3%A9=3&Z=4', headers: { host } },
    identity,
    now,
  )
  assert.equal((await check({ rawQuery: 'Z=4&%c3%a9=3&a=1&a-b=1&a=2', headers })).kind, 'signed')
})

test('an unknown access key is InvalidAccessKeyId, by header and by query', async () => {
  const accountOf = async (): Promise<undefined> => undefined
  await assert.rejects(check(signedGet(), { accountOf }), { code: 'InvalidAccessKeyId', status: 403 })
  await assert.rejects(check(presigned(), { accountOf }), { code: 'InvalidAccessKeyId' })
})

test('clocks may differ by fifteen minutes and no more', async () => {
  const minutes = (count: number): Date => new Date(now.getTime() + count * 60_000)
  assert.equal((await check(signedGet(), { now: minutes(15) })).kind, 'signed')
  assert.equal((await check(signedGet(), { now: minutes(-15) })).kind, 'signed')
  for (const count of [15.1, -15.1]) {
    await assert.rejects(check(signedGet(), { now: minutes(count) }), { code: 'RequestTimeTooSkewed', status: 403 })
  }
})

test('a scope of another region is told the right one', async () => {
  assert.equal((await check(signedGet(), { regions: ['eu-central-1', 'us-east-1'] })).kind, 'signed')
  await assert.rejects(check(signedGet(), { regions: ['eu-central-1'] }), {
    code: 'AuthorizationHeaderMalformed',
    status: 400,
    fields: { Region: 'eu-central-1' },
  })
  await assert.rejects(check(presigned(), { regions: ['eu-central-1'] }), {
    code: 'AuthorizationQueryParametersError',
    fields: { Region: 'eu-central-1' },
  })
})

test('an authorization header that cannot be read is AuthorizationHeaderMalformed', async () => {
  const signature = '0'.repeat(64)
  const bad = [
    'AWS4-HMAC-SHA256',
    'AWS4-HMAC-SHA256 ',
    `AWS4-HMAC-SHA256 Credential=${scope}`,
    `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host`,
    `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=xyz`,
    `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=${signature.toUpperCase()}A`,
    `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=range, Signature=${signature}`,
    `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host;host, Signature=${signature}`,
    `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=Host, Signature=${signature}`,
    `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=${signature}, Extra=1`,
    `AWS4-HMAC-SHA256 Credential=${scope}, Credential=${scope}, SignedHeaders=host, Signature=${signature}`,
    `AWS4-HMAC-SHA256 Credential=${accessKey}, SignedHeaders=host, Signature=${signature}`,
    `AWS4-HMAC-SHA256 Credential=${scope.replace('20130524', '2013')}, SignedHeaders=host, Signature=${signature}`,
    `AWS4-HMAC-SHA256 Credential=${scope.replace('20130524', '20130525')}, SignedHeaders=host, Signature=${signature}`,
    `AWS4-HMAC-SHA256 Credential=${scope.replace('/s3/', '/ec2/')}, SignedHeaders=host, Signature=${signature}`,
    `AWS4-HMAC-SHA256 Credential=${scope.replace('aws4_', 'aws5_')}, SignedHeaders=host, Signature=${signature}`,
  ]
  for (const header of bad) {
    const headers = { ...signedGet().headers, authorization: header }
    await assert.rejects(check({ headers }), { code: 'AuthorizationHeaderMalformed' }, header)
  }
})

test('other signature versions are refused by name', async () => {
  for (const header of [`AWS ${accessKey}:abc=`, `AWS4-ECDSA-P256-SHA256 Credential=${scope}`]) {
    await assert.rejects(check({ headers: { authorization: header } }), {
      code: 'InvalidRequest',
      message: /AWS4-HMAC-SHA256/,
    })
  }
  const rawQuery = `AWSAccessKeyId=${accessKey}&Signature=abc&Expires=1`
  await assert.rejects(check({ rawQuery }), { code: 'InvalidRequest', message: /AWS4-HMAC-SHA256/ })
  await assert.rejects(check({ headers: { authorization: 'Basic dXNlcjpwYXNz' } }), { code: 'InvalidArgument' })
})

test('header and query credentials together are InvalidArgument', async () => {
  const sent = presigned()
  await assert.rejects(check({ ...sent, headers: signedGet().headers }), { code: 'InvalidArgument' })
})

test('a signed request needs a date and a payload hash', async () => {
  const { 'x-amz-date': _date, ...undated } = signedGet().headers
  await assert.rejects(check({ headers: undated }), { code: 'AccessDenied', message: /valid Date/ })
  const { 'x-amz-content-sha256': _hash, ...unhashed } = signedGet().headers
  await assert.rejects(check({ headers: unhashed }), { code: 'InvalidRequest', message: /x-amz-content-sha256/ })
})

test('a payload hash that is neither a hash nor a known word is InvalidArgument', async () => {
  for (const word of ['STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD', 'unsigned-payload', 'abc', emptyHash.toUpperCase()]) {
    const { headers } = sign({ method: 'GET', rawPath: '/', headers: { host } }, identity, now, word)
    await assert.rejects(check({ headers }), {
      code: 'InvalidArgument',
      fields: { ArgumentName: 'x-amz-content-sha256', ArgumentValue: word },
    })
  }
})

test('an x-amz- header that is not signed is refused', async () => {
  const headers = { ...signedGet().headers, 'x-amz-acl': 'public-read', 'x-amzn-trace-id': 'Root=1' }
  await assert.rejects(check({ headers }), { code: 'AccessDenied', fields: { HeadersNotSigned: 'x-amz-acl' } })
  await assert.rejects(check({ ...presigned(), headers: { host, 'x-amz-acl': 'x' } }), { code: 'AccessDenied' })
})

test('a token of temporary credentials is InvalidToken', async () => {
  await assert.rejects(check(signedGet({ 'x-amz-security-token': 'x' })), { code: 'InvalidToken' })
  await assert.rejects(check(presigned({ rawQuery: 'X-Amz-Security-Token=x' })), { code: 'InvalidToken' })
})

test('a presigned URL expires to the second', async () => {
  const sent = presigned({ expiresSeconds: 60 })
  assert.equal((await check(sent, { now: new Date(now.getTime() + 60_000) })).kind, 'signed')
  await assert.rejects(check(sent, { now: new Date(now.getTime() + 60_001) }), {
    code: 'AccessDenied',
    status: 403,
    message: 'Request has expired',
  })
  await assert.rejects(check(sent, { now: new Date(now.getTime() - 16 * 60_000) }), {
    code: 'AccessDenied',
    message: 'Request is not valid yet',
  })
})

test('a presigned URL lives from one second to a week', async () => {
  for (const expiresSeconds of [1, 604_800]) assert.equal((await check(presigned({ expiresSeconds }))).kind, 'signed')
  for (const expiresSeconds of [0, -1, 604_801, 1.5, Number.NaN]) {
    await assert.rejects(check(presigned({ expiresSeconds })), { code: 'AuthorizationQueryParametersError' })
  }
})

test('presigned parameters must each be there once and be well-formed', async () => {
  const { rawQuery = '', ...rest } = presigned()
  for (const name of ['Algorithm', 'Credential', 'Signature', 'Date', 'Expires', 'SignedHeaders']) {
    const parameter = new RegExp(`&?X-Amz-${name}=([^&]*)`)
    const code = 'AuthorizationQueryParametersError'
    await assert.rejects(check({ ...rest, rawQuery: rawQuery.replace(parameter, '') }), { code }, `${name} missing`)
    await assert.rejects(check({ ...rest, rawQuery: rawQuery.replace(parameter, '$&$&') }), { code }, `${name} twice`)
    await assert.rejects(
      check({ ...rest, rawQuery: rawQuery.replace(parameter, `&X-Amz-${name}=x`) }),
      { code },
      `${name} bad`,
    )
  }
})

test('whoever uploads through a presigned URL may say how the body travels', async () => {
  const hashed = await check({ ...presigned(), headers: { host, 'x-amz-content-sha256': emptyHash } })
  assert.equal(hashed.payload.kind, 'sha256')
  const chunked = await check({
    ...presigned(),
    headers: { host, 'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' },
  })
  assert.deepEqual(chunked.payload, { kind: 'chunked', isSigned: false, hasTrailer: true })
})

test('an anonymous body cannot come in signed chunks', async () => {
  const headers = { 'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' }
  await assert.rejects(check({ headers }), { code: 'InvalidRequest' })
})

test('signing keys are kept once a signature was right, and forgotten beyond the bound', async () => {
  const keys = new SigningKeys(2)
  const day = (date: string): Scope => ({ date, region: 'r', service: 's3' })
  const first = signingKey('a', day('1'))
  assert.equal(keys.find('a', day('1')), undefined)
  keys.keep('a', day('1'), first)
  assert.equal(keys.find('a', day('1')), first)
  assert.equal(keys.find('b', day('1')), undefined)
  for (const date of ['2', '3', '4']) keys.keep('a', day(date), signingKey('a', day(date)))
  assert.equal(keys.size, 2)
  assert.equal(keys.find('a', day('1')), undefined)
})

test('strangers who know an access key keep nothing, whatever scopes they name', async () => {
  const signingKeys = new SigningKeys()
  const wrong = `SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=${'0'.repeat(64)}`
  const ask = (region: string) =>
    verify(
      {
        method: 'GET',
        rawPath: '/',
        rawQuery: '',
        headers: headersOf({
          host: 'x',
          'x-amz-date': '20130524T000000Z',
          'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
          authorization: `AWS4-HMAC-SHA256 Credential=AKID/20130524/${region}/s3/aws4_request, ${wrong}`,
        }),
      },
      { now: new Date('2013-05-24T00:00:00Z'), accountOf: async () => ({ secret: 'secret' }), signingKeys },
    )
  for (let at = 0; at < 50; at++) await assert.rejects(ask(`region-${at}`), { code: 'SignatureDoesNotMatch' })
  assert.equal(signingKeys.size, 0)
  for (const region of ['r'.repeat(scopeRegionCharactersMax + 1), 'r'.repeat(26_000), 'r s', 'é']) {
    await assert.rejects(ask(region), { code: 'AuthorizationHeaderMalformed' })
  }
})
