/** Operations: signatures of all operations. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds, type Request, type Sent } from './http.ts'
import { signedVersion2 } from './sigv2.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const minutes = (count: number) => new Date(Date.now() + count * 60_000)

test('a hash of the body that is not that of the body answers 400 [content-sha256-mismatch]', async () => {
  const bucket = await s3.bucket()
  const request = { contentSha256: 'ab'.repeat(32) }
  await fails(bucket.put('key', 'x', {}, request), 400, 'XAmzContentSHA256Mismatch')
  await fails(bucket.head('key'), 404)
})

test('UNSIGNED-PAYLOAD is taken [unsigned-payload]', async () => {
  const bucket = await s3.bucket()
  await succeeds(bucket.put('key', 'not signed', {}, { signing: 'unsigned' }))
  assert.equal((await bucket.get('key')).text, 'not signed')
})

test('an unknown x-amz-content-sha256 answers 400 InvalidArgument, and nothing is stored', async () => {
  const bucket = await s3.bucket()
  for (const contentSha256 of ['STREAMING-SOMETHING-NEW', 'abc', 'unsigned-payload']) {
    await fails(bucket.put('key', 'x', {}, { contentSha256 }), 400, 'InvalidArgument')
  }
  await fails(bucket.head('key'), 404)
})

test('a clock more than 15 minutes off answers 403 RequestTimeTooSkewed [clock-skew-403]', async () => {
  const bucket = await s3.bucket()
  for (const now of [minutes(-16), minutes(16)]) {
    await fails(bucket.call('GET', { now }), 403, 'RequestTimeTooSkewed')
  }
  for (const now of [minutes(-14), minutes(14)]) await succeeds(bucket.call('GET', { now }))
})

test('an access key that nobody has answers 403 InvalidAccessKeyId', async () => {
  const bucket = await s3.bucket()
  const as = { accessKey: 'AKIANOBODYHASTHISONE', secret: 'x' }
  const answer = await fails(bucket.call('GET', { as }), 403, 'InvalidAccessKeyId')
  assert.equal(answer.element('AWSAccessKeyId'), as.accessKey)
})

test('a wrong secret answers 403 SignatureDoesNotMatch, and says what was signed', async () => {
  const bucket = await s3.bucket()
  const as = { ...s3.settings.owner, secret: 'wrong' }
  const answer = await fails(bucket.call('GET', { as }), 403, 'SignatureDoesNotMatch')
  assert.match(answer.element('StringToSign') ?? '', /^AWS4-HMAC-SHA256\n\d{8}T\d{6}Z\n/)
  assert.match(answer.element('CanonicalRequest') ?? '', /^GET\n/)
  assert.ok(answer.element('SignatureProvided') !== undefined)
})

test('path, query and signed headers cannot be changed after signing', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  const changes: readonly ((sent: Sent) => Sent)[] = [
    (sent) => ({ ...sent, path: sent.path.replace('/key', '/kex') }),
    (sent) => ({ ...sent, path: `${sent.path}?versionId=null` }),
    (sent) => ({ ...sent, headers: { ...sent.headers, 'x-amz-meta-a': 'changed' } }),
  ]
  for (const tamper of changes) {
    const request: Request = { key: 'key', headers: { 'x-amz-meta-a': 'b' }, tamper }
    await fails(bucket.call('GET', request), 403, 'SignatureDoesNotMatch')
  }
})

test('a header x-amz- that is not signed answers 403 AccessDenied', async () => {
  const bucket = await s3.bucket()
  const tamper = (sent: Sent) => ({ ...sent, headers: { ...sent.headers, 'x-amz-meta-late': 'b' } })
  await fails(bucket.call('PUT', { key: 'key', body: 'x', tamper }), 403, 'AccessDenied')
  await fails(bucket.head('key'), 404)
})

test('an Authorization header that cannot be read answers 400', async () => {
  const bucket = await s3.bucket()
  const replaced = (authorization: string) => (sent: Sent) => ({ ...sent, headers: { ...sent.headers, authorization } })
  const cut = (sent: Sent) => replaced(String(sent.headers['authorization']).replace(/, Signature=.*/, ''))(sent)
  await fails(bucket.call('GET', { tamper: cut }), 400, 'AuthorizationHeaderMalformed')
  await fails(bucket.call('GET', { tamper: replaced('Bearer abc') }), 400)
})

test('a signature for another region is taken, or answers 400 AuthorizationHeaderMalformed with the right one', async () => {
  const bucket = await s3.bucket()
  const answer = await bucket.call('GET', { region: 'eu-north-1' })
  if (answer.status === 200) return
  assert.deepEqual([answer.status, answer.element('Code')], [400, 'AuthorizationHeaderMalformed'], answer.summary)
  assert.equal(answer.element('Region'), s3.settings.region)
})

test('a request that signs another service than s3 is refused', async () => {
  const bucket = await s3.bucket()
  const tamper = (sent: Sent) => {
    const authorization = String(sent.headers['authorization']).replace('/s3/aws4_request', '/ec2/aws4_request')
    return { ...sent, headers: { ...sent.headers, authorization } }
  }
  await fails(bucket.call('GET', { tamper }), 400, 'AuthorizationHeaderMalformed')
})

test('a session token that nobody gave out answers 403 or 400', async () => {
  const bucket = await s3.bucket()
  const answer = await bucket.call('GET', { headers: { 'x-amz-security-token': 'nobody gave me out' } })
  assert.ok([400, 403].includes(answer.status), answer.summary)
  assert.ok(['InvalidToken', 'InvalidAccessKeyId'].includes(answer.element('Code') ?? ''), answer.summary)
})

test('query parameters are signed in the order of their names, however they are sent', async () => {
  const bucket = await s3.bucket()
  await succeeds(bucket.call('GET', { query: 'prefix=b&max-keys=1&list-type=2&delimiter=%2F' }))
  await succeeds(bucket.call('GET', { query: 'prefix=a%20b%2Bc~*&list-type=2&encoding-type=url' }))
})

test('headers are signed with blanks trimmed and folded', async () => {
  const bucket = await s3.bucket()
  await succeeds(bucket.put('key', 'x', { 'x-amz-meta-a': '  a   b  ' }))
  assert.equal((await bucket.head('key')).header('x-amz-meta-a')?.replaceAll(/ +/g, ' ').trim(), 'a b')
})

test('signature version 2 is refused by its name, as in the newer regions of Amazon, and nothing is stored [sigv2]', async () => {
  const bucket = await s3.bucket()
  const request = signedVersion2('PUT', bucket.name, 'key', s3.settings.owner)
  const refused = await fails(
    bucket.call('PUT', { ...request, key: 'key', body: 'old', signing: 'anonymous' }),
    400,
    'InvalidRequest',
  )
  assert.match(refused.text, /AWS4-HMAC-SHA256/)
  await fails(bucket.get('key'), 404, 'NoSuchKey')
})
