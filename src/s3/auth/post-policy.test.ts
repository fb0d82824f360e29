import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkPostPolicy,
  formAnswer,
  formHeaders,
  formKey,
  readPostPolicy,
  verifyForm,
  withinRange,
} from './post-policy.ts'
import type { FormFields } from './post-policy.ts'

// Amazon S3 API Reference, "Example: Browser-Based Upload using HTTP POST (Using AWS Signature Version 4)".
const policy =
  'eyAiZXhwaXJhdGlvbiI6ICIyMDE1LTEyLTMwVDEyOjAwOjAwLjAwMFoiLA0KICAiY29uZGl0aW9ucyI6IFsNCiAgICB7ImJ1Y2tldCI6ICJzaWd2NGV4YW1wbGVidWNrZXQifSwNCiAgICBbInN0YXJ0cy13aXRoIiwgIiRrZXkiLCAidXNlci91c2VyMS8iXSwNCiAgICB7ImFjbCI6ICJwdWJsaWMtcmVhZCJ9LA0KICAgIHsic3VjY2Vzc19hY3Rpb25fcmVkaXJlY3QiOiAiaHR0cDovL3NpZ3Y0ZXhhbXBsZWJ1Y2tldC5zMy5hbWF6b25hd3MuY29tL3N1Y2Nlc3NmdWxfdXBsb2FkLmh0bWwifSwNCiAgICBbInN0YXJ0cy13aXRoIiwgIiRDb250ZW50LVR5cGUiLCAiaW1hZ2UvIl0sDQogICAgeyJ4LWFtei1tZXRhLXV1aWQiOiAiMTQzNjUxMjM2NTEyNzQifSwNCiAgICB7IngtYW16LXNlcnZlci1zaWRlLWVuY3J5cHRpb24iOiAiQUVTMjU2In0sDQogICAgWyJzdGFydHMtd2l0aCIsICIkeC1hbXotbWV0YS10YWciLCAiIl0sDQoNCiAgICB7IngtYW16LWNyZWRlbnRpYWwiOiAiQUtJQUlPU0ZPRE5ON0VYQU1QTEUvMjAxNTEyMjkvdXMtZWFzdC0xL3MzL2F3czRfcmVxdWVzdCJ9LA0KICAgIHsieC1hbXotYWxnb3JpdGhtIjogIkFXUzQtSE1BQy1TSEEyNTYifSwNCiAgICB7IngtYW16LWRhdGUiOiAiMjAxNTEyMjlUMDAwMDAwWiIgfQ0KICBdDQp9'
const example = {
  key: 'user/user1/${filename}',
  acl: 'public-read',
  success_action_redirect: 'http://sigv4examplebucket.s3.amazonaws.com/successful_upload.html',
  'content-type': 'image/jpeg',
  'x-amz-meta-uuid': '14365123651274',
  'x-amz-server-side-encryption': 'AES256',
  'x-amz-credential': 'AKIAIOSFODNN7EXAMPLE/20151229/us-east-1/s3/aws4_request',
  'x-amz-algorithm': 'AWS4-HMAC-SHA256',
  'x-amz-date': '20151229T000000Z',
  'x-amz-meta-tag': '',
  policy,
  'x-amz-signature': '8afdbf4008c03f22c2cd3cdb72e4afbb1f6a588f3255ac628749a66d7f09699e',
}
const request = { bucket: 'sigv4examplebucket', nowMs: Date.parse('2015-12-30T11:00:00Z') }
const verifier = {
  now: new Date(request.nowMs),
  accountOf: (accessKey: string) =>
    Promise.resolve(
      accessKey === 'AKIAIOSFODNN7EXAMPLE' ? { secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' } : undefined,
    ),
}

function form(changes: Record<string, string | undefined> = {}): FormFields {
  const entries = Object.entries({ ...example, ...changes }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  return { fields: new Map(entries), fileName: 'cat.jpg' }
}

function policyOf(conditions: unknown): ReturnType<typeof readPostPolicy> {
  const text = JSON.stringify({ expiration: '2030-01-01T00:00:00Z', conditions })
  return readPostPolicy(Buffer.from(text).toString('base64'))
}

const fails = (code: string, message?: RegExp) => (error: unknown) => {
  assert.equal((error as { code?: string }).code, code)
  if (message !== undefined) assert.match((error as Error).message, message)
  return true
}

test("Amazon's example of a signed form is accepted", async () => {
  assert.equal((await verifyForm(form(), verifier)).kind, 'signed')
  assert.deepEqual(checkPostPolicy(readPostPolicy(policy), form(), request), {
    minBytes: 0,
    maxBytes: Number.POSITIVE_INFINITY,
  })
  assert.equal(formKey(form()), 'user/user1/cat.jpg')
})

test('a form with a wrong, partial or old signature is refused, and one without any is anonymous', async () => {
  await assert.rejects(verifyForm(form({ 'x-amz-signature': '0' }), verifier), fails('SignatureDoesNotMatch'))
  await assert.rejects(verifyForm(form({ policy: `${policy}=` }), verifier), fails('SignatureDoesNotMatch'))
  await assert.rejects(verifyForm(form({ 'x-amz-signature': undefined }), verifier), fails('InvalidArgument'))
  await assert.rejects(verifyForm(form({ policy: undefined }), verifier), fails('InvalidArgument', /'policy'/))
  await assert.rejects(verifyForm(form({ awsaccesskeyid: 'A' }), verifier), fails('InvalidRequest'))
  const bare = { fields: new Map([['key', 'k']]), fileName: '' }
  assert.deepEqual(await verifyForm(bare, verifier), { kind: 'anonymous' })
})

test('what does not fit the policy is denied with the condition that failed', () => {
  const check = (changes: Record<string, string | undefined>, at = request): unknown =>
    checkPostPolicy(readPostPolicy(policy), form(changes), at)
  const denied = (message: RegExp): ReturnType<typeof fails> => fails('AccessDenied', message)
  assert.throws(
    () => check({ key: 'other/x' }),
    denied(/^Invalid according to Policy: Policy Condition failed: \["starts-with", "\$key", "user\/user1\/"\]$/),
  )
  assert.throws(() => check({ 'x-amz-meta-new': '1' }), denied(/Extra input fields: x-amz-meta-new$/))
  assert.throws(() => check({ acl: undefined }), denied(/\["eq", "\$acl", "public-read"\]$/))
  assert.throws(() => check({}, { ...request, bucket: 'another' }), denied(/bucket/))
  assert.throws(() => check({}, { ...request, nowMs: Date.parse('2016-01-01') }), denied(/Policy expired\.$/))
  assert.ok(check({ 'x-ignore-this': '1' }))
})

test('names of fields and operators are in any case', () => {
  const found = policyOf([{ bUcKeT: 'b' }, ['StArTs-WiTh', '$KeY', 'foo'], ['content-length-range', '1', 10]])
  const some = { fields: new Map([['key', 'foo.txt']]), fileName: '' }
  assert.deepEqual(checkPostPolicy(found, some, { bucket: 'b', nowMs: 0 }), { minBytes: 1, maxBytes: 10 })
})

test('a policy that is none is an invalid document', () => {
  const text = (value: string) => () => readPostPolicy(Buffer.from(value).toString('base64'))
  for (const value of [
    '',
    '[]',
    '{"conditions": []}',
    '{"expiration": "2030-01-01T00:00:00Z"}',
    '{"expiration": "tomorrow", "conditions": []}',
    '{"expiration": "2030-01-01T00:00:00Z", "conditions": {}}',
    '{"expiration": "2030-01-01T00:00:00Z", "conditions": [], "more": 1}',
    '{"EXPIRATION": "2030-01-01T00:00:00Z", "conditions": []}',
    '{"expiration": "2030-01-01T00:00:00Z", "CONDITIONS": []}',
  ]) {
    assert.throws(text(value), fails('InvalidPolicyDocument'), value)
  }
  for (const condition of [
    {},
    { a: '1', b: '2' },
    { a: 1 },
    ['eq', '$a'],
    ['like', '$a', 'b'],
    ['eq', 'a', 'b'],
    'x',
  ]) {
    assert.throws(() => policyOf([condition]), fails('InvalidPolicyDocument'), JSON.stringify(condition))
  }
  assert.throws(() => policyOf([['content-length-range', -1, 5]]), fails('InvalidPolicyDocument'))
  assert.throws(() => readPostPolicy('!'), fails('InvalidPolicyDocument'))
})

test('the size of the file is limited while it comes, and at its end', async () => {
  async function* file(): AsyncGenerator<Buffer> {
    yield await Promise.resolve(Buffer.alloc(5))
    yield Buffer.alloc(5)
  }
  const size = async (minBytes: number, maxBytes: number): Promise<number> => {
    let bytes = 0
    for await (const piece of withinRange(file(), { minBytes, maxBytes })) bytes += piece.length
    return bytes
  }
  assert.equal(await size(10, 10), 10)
  await assert.rejects(size(0, 9), fails('EntityTooLarge'))
  await assert.rejects(size(11, 20), fails('EntityTooSmall'))
})

test('the page gets the answer it asked for', () => {
  const stored = { location: 'http://h/b/k', bucket: 'b', key: 'a b', etag: 'e' }
  const answer = (changes: Record<string, string>): ReturnType<typeof formAnswer> =>
    formAnswer({ fields: new Map(Object.entries(changes)), fileName: '' }, stored)
  assert.equal(answer({}).status, 204)
  assert.equal(answer({ success_action_status: '200' }).status, 200)
  assert.equal(answer({ success_action_status: '302' }).status, 204)
  assert.equal(
    answer({ success_action_status: '201' }).body,
    '<?xml version="1.0" encoding="UTF-8"?>\n<PostResponse><Location>http://h/b/k</Location><Bucket>b</Bucket>' +
      '<Key>a b</Key><ETag>&quot;e&quot;</ETag></PostResponse>',
  )
  const redirect = answer({ success_action_redirect: 'https://page/done?x=1' })
  assert.equal(redirect.status, 303)
  assert.equal(redirect.headers['location'], 'https://page/done?x=1&bucket=b&key=a%20b&etag=%22e%22')
  assert.equal(answer({ success_action_redirect: 'javascript:alert(1)' }).status, 204)
})

test('fields become the headers that a PUT would have had', () => {
  const headers = formHeaders(form({ 'x-amz-meta-name': 'é', tagging: '<Tagging/>' }))
  assert.deepEqual([...headers.keys()].toSorted(), [
    'content-type',
    'x-amz-acl',
    'x-amz-meta-name',
    'x-amz-meta-tag',
    'x-amz-meta-uuid',
    'x-amz-server-side-encryption',
  ])
  assert.deepEqual(headers.get('x-amz-meta-name'), ['Ã©'])
  assert.throws(() => formHeaders(form({ 'x-amz-meta-uuid': 'a\r\nb: c' })), fails('InvalidArgument'))
})

test('escapes that JSON has not, but Amazon has, are read', () => {
  const text = String.raw`{"expiration": "2030-01-01T00:00:00Z", "conditions": [["eq", "$key", "\$a\\$b\vc\u0041"]]}`
  const { conditions } = readPostPolicy(Buffer.from(text).toString('base64'))
  const [condition] = conditions
  assert.equal(condition?.kind === 'eq' && condition.value, '$a\\$b\u000bcA')
})

test('a policy of a form that says something twice is refused', () => {
  const text = '{"expiration":"2030-01-01T00:00:00Z","conditions":[{"bucket":"a"}],"conditions":[]}'
  assert.throws(() => readPostPolicy(Buffer.from(text).toString('base64')), { code: 'InvalidPolicyDocument' })
})
