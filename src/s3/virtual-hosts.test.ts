import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import type { LookupFunction } from 'node:net'
import { after, before, test } from 'node:test'
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutBucketCorsCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { presign, signForm } from './auth/sign.ts'
import { keys, send, server, startTestPlane, svm } from './test-plane.ts'
import type { TestPlane } from './test-plane.ts'

const Bucket = 'hosted'
const dotted = 'with.dots.in-it'
const identity = { accessKey: keys.accessKeyId, secret: keys.secretAccessKey, region: 'us-east-1' }
let t: TestPlane
let s3: S3Client
let port: string
/** Hosts that the client asked connections for. */
const hosts = new Set<string>()
before(async () => {
  t = await startTestPlane()
  await t.addBucket(Bucket)
  await t.addBucket(dotted)
  port = new URL(t.url).port
  const lookup: LookupFunction = (host, { all }, done) => {
    hosts.add(host)
    if (all === true) done(null, [{ address: '127.0.0.1', family: 4 }])
    else done(null, '127.0.0.1', 4)
  }
  s3 = new S3Client({
    endpoint: `http://s3.example.com:${port}`,
    region: 'us-east-1',
    credentials: keys,
    forcePathStyle: false,
    maxAttempts: 1,
    requestHandler: { httpAgent: new Agent({ keepAlive: true, lookup }) },
  })
})
after(async () => {
  s3.destroy()
  await t.close()
})

const hostOf = (bucket: string): string => `${bucket}.s3.example.com`

/** A signed request to the address of a bucket of its own. */
async function ask(
  method: string,
  target: string,
  host: string,
  options: { body?: string; headers?: Record<string, string>; isAnonymous?: boolean } = {},
): ReturnType<typeof send> {
  const { headers, ...more } = options
  return send(t, method, target, { headers: { host, ...headers }, ...more })
}

test('the SDK, told nothing about paths, finds the bucket in the host', async () => {
  hosts.clear()
  await s3.send(new PutObjectCommand({ Bucket, Key: 'a b/ü+c', Body: 'bytes' }))
  const got = await s3.send(new GetObjectCommand({ Bucket, Key: 'a b/ü+c' }))
  assert.equal(await got.Body?.transformToString(), 'bytes')
  const page = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'a ' }))
  assert.deepEqual(
    page.Contents?.map(({ Key }) => Key),
    ['a b/ü+c'],
  )
  await s3.send(new HeadBucketCommand({ Bucket }))
  await s3.send(new DeleteObjectCommand({ Bucket, Key: 'a b/ü+c' }))
  assert.deepEqual([...hosts], [hostOf(Bucket)])
})

test('a bucket is made and removed, and an upload in parts goes, through the host', async () => {
  await s3.send(new CreateBucketCommand({ Bucket: 'made-by-host' }))
  const at = { Bucket: 'made-by-host', Key: 'parts' }
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand(at))
  const { ETag } = await s3.send(new UploadPartCommand({ ...at, UploadId, PartNumber: 1, Body: 'one' }))
  await s3.send(
    new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts: [{ ETag, PartNumber: 1 }] } }),
  )
  const got = await t.s3.send(new GetObjectCommand(at))
  assert.equal(await got.Body?.transformToString(), 'one')
  await s3.send(new DeleteObjectCommand(at))
  await s3.send(new DeleteBucketCommand({ Bucket: 'made-by-host' }))
  const { Buckets = [] } = await s3.send(new ListBucketsCommand({}))
  assert.deepEqual(
    Buckets.map(({ Name }) => Name),
    [Bucket, dotted],
  )
})

test('both styles reach the same object, whatever the host is called', async () => {
  await s3.send(new PutObjectCommand({ Bucket, Key: 'same', Body: 'x' }))
  const text = async (target: string, host: string): Promise<string> => (await ask('GET', target, host)).text
  for (const host of [
    's3.example.com',
    `s3.example.com:${port}`,
    'S3.EXAMPLE.COM.',
    '127.0.0.1',
    'other.example.org',
    'localhost:1',
  ]) {
    assert.equal(await text('/hosted/same', host), 'x', host)
  }
  for (const host of [
    hostOf(Bucket),
    `${hostOf(Bucket)}:${port}`,
    'Hosted.S3.Example.com',
    `${hostOf(Bucket)}.`,
    `${hostOf(Bucket)}.:80`,
  ]) {
    assert.equal(await text('/same', host), 'x', host)
  }
})

test('a name with dots is a bucket of that name', async () => {
  assert.equal((await ask('PUT', '/key', hostOf(dotted), { body: 'dots' })).status, 200)
  assert.equal((await ask('GET', '/key', hostOf(dotted))).text, 'dots')
  assert.equal((await ask('GET', `/${dotted}/key`, 's3.example.com')).text, 'dots')
  assert.match((await ask('GET', '/', hostOf(dotted))).text, /<Name>with\.dots\.in-it<\/Name>/)
})

test('the path of a bucket in the host is the key, also where it looks like a bucket or like health', async () => {
  for (const path of ['/hosted/same', '//twice', '/.', '/livez', '/a/../b']) {
    assert.equal((await ask('PUT', path, hostOf(Bucket), { body: path })).status, 200, path)
    assert.equal((await ask('GET', path, hostOf(Bucket))).text, path)
    const key = path.slice(1)
    const got = await t.s3.send(new GetObjectCommand({ Bucket, Key: key }))
    assert.equal(await got.Body?.transformToString(), path)
  }
  const health = await ask('GET', '/livez', hostOf(Bucket), { isAnonymous: true })
  assert.equal(health.status, 403)
  assert.equal((await ask('GET', '/livez', 's3.example.com', { isAnonymous: true })).status, 200)
})

test('errors name the bucket of the host, and a name that no bucket can have is refused', async () => {
  const absent = await ask('GET', '/k', hostOf('absent-bucket'))
  assert.match(absent.text, /<Code>NoSuchBucket<.*<BucketName>absent-bucket<.*<Resource>\/absent-bucket\/k</)
  for (const name of ['ab', 'a_b', '-a', 'a..b']) {
    assert.match((await ask('GET', '/', hostOf(name))).text, /<Code>InvalidBucketName</, name)
  }
  assert.equal((await ask('GET', '/key', hostOf(Bucket), { isAnonymous: true })).status, 403)
})

test('a presigned address is good for its host', async () => {
  const host = `${hostOf(Bucket)}:${port}`
  const query = (method: string): string =>
    presign({ method, rawPath: '/signed%20before', headers: { host } }, identity, {
      now: new Date(),
      expiresSeconds: 60,
    })
  const target = (method: string): string => `/signed%20before?${query(method)}`
  assert.equal((await ask('PUT', target('PUT'), host, { isAnonymous: true, body: 'x' })).status, 200)
  assert.equal((await ask('GET', target('GET'), host, { isAnonymous: true })).text, 'x')
  const other = await ask('GET', target('GET'), hostOf(dotted), { isAnonymous: true })
  assert.match(other.text, /<Code>SignatureDoesNotMatch</)
})

test('a form goes to the root of the host, and the page is told the address there', async () => {
  const fields = signForm({ bucket: Bucket, fields: { key: 'by form', success_action_status: '201' } }, identity, {
    now: new Date(),
    expiresSeconds: 60,
  })
  const part = ([name, value]: [string, string]): string =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const body = `${Object.entries({ ...fields, file: 'x' })
    .map(part)
    .join('')}--b--\r\n`
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  const answer = await ask('POST', '/', hostOf(Bucket), { body, headers, isAnonymous: true })
  assert.equal(answer.status, 201, answer.text)
  assert.equal(answer.headers.location, 'http://hosted.s3.example.com/by%20form')
  assert.match(answer.text, /<Bucket>hosted<\/Bucket><Key>by form<\/Key>/)
  assert.equal((await ask('GET', '/by%20form', hostOf(Bucket))).text, 'x')
  const wrong = await ask('POST', '/', hostOf(dotted), { body, headers, isAnonymous: true })
  assert.match(wrong.text, /Invalid according to Policy: .*bucket/)
})

test('the rules of CORS are those of the bucket in the host', async () => {
  const rule = { AllowedOrigins: ['*'], AllowedMethods: ['GET'] }
  await s3.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules: [rule] } }))
  const headers = { origin: 'https://page.example', 'access-control-request-method': 'GET' }
  const allowed = await ask('OPTIONS', '/k', hostOf(Bucket), { headers, isAnonymous: true })
  assert.deepEqual([allowed.status, allowed.headers['access-control-allow-origin']], [200, '*'])
  assert.equal((await ask('OPTIONS', '/k', hostOf(dotted), { headers, isAnonymous: true })).status, 403)
})

test('two Host headers are refused', async () => {
  const { hostname } = new URL(t.url)
  const socket = connect(Number(port), hostname)
  socket.write(`GET /livez HTTP/1.1\r\nHost: ${hostOf(Bucket)}\r\nHost: s3.example.com\r\nConnection: close\r\n\r\n`)
  let answer = ''
  for await (const piece of socket) answer += String(piece)
  assert.match(answer, /^HTTP\/1\.1 400 .*<Code>InvalidRequest</s)
})

test('a server of path style takes no bucket from the host', async () => {
  const record = (await t.catalog.record('protocols/s3/services', server))?.body ?? {}
  await t.put('protocols/s3/services', server, { ...record, bucket_endpoint_style: 'path_style' }, svm)
  try {
    assert.equal((await ask('GET', '/hosted/same', hostOf(Bucket))).text, 'x')
    assert.match((await ask('GET', '/same', hostOf(Bucket))).text, /<Code>NoSuchBucket</)
  } finally {
    await t.put('protocols/s3/services', server, record, svm)
  }
  assert.equal((await ask('GET', '/same', hostOf(Bucket))).text, 'x')
})
