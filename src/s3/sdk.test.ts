import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { verify } from './auth/sigv4.ts'
import { planBody } from './body/body.ts'
import type { BodyOutcome, BodyPlan } from './body/body.ts'
import { S3Error, s3Error } from './errors.ts'
import { requestHeaders } from './request/headers.ts'
import type { RequestHeaders } from './request/headers.ts'
import { readTarget, splitTarget } from './request/keys.ts'
import type { Target } from './request/keys.ts'
import { readMetadata } from './request/metadata.ts'
import { queryMap, queryParameters } from './request/query.ts'
import { route } from './request/router.ts'
import { children, readXml, xmlErrorDocument } from './xml/xml.ts'

// What Amazon's own client sends over a socket is understood by all parts together.

interface Seen {
  readonly operation: string
  readonly target: Target
  readonly headers: RequestHeaders
  readonly body: Buffer
  readonly outcome: BodyOutcome | undefined
  readonly plan: BodyPlan | undefined
}

let seen: Seen | undefined
let refuse: S3Error | undefined

async function take(request: IncomingMessage): Promise<Seen> {
  const { rawPath, rawQuery } = splitTarget(request.url ?? '')
  const headers = requestHeaders(request.rawHeaders)
  const target = readTarget(rawPath)
  const method = request.method ?? ''
  const verified = await verify(
    { method, rawPath, rawQuery, headers },
    { now: new Date(), accountOf: async (key) => (key === 'key' ? { secret: 'secret' } : undefined) },
  )
  assert.equal(verified.kind, 'signed')
  const level = target.bucket === undefined ? 'service' : target.key === undefined ? 'bucket' : 'object'
  const query = queryMap(queryParameters(rawQuery))
  const operation = route({ method, level, query, hasHeader: (name) => headers.has(name) }).name
  if (method !== 'PUT' && method !== 'POST') {
    return { operation, target, headers, body: Buffer.alloc(0), outcome: undefined, plan: undefined }
  }
  const signing = verified.kind === 'signed' ? { signing: verified } : {}
  const plan = planBody({
    // A body of no bytes has no Content-Length when a method need not have one.
    headers:
      headers.has('content-length') || headers.has('transfer-encoding')
        ? headers
        : new Map([...headers, ['content-length', ['0']]]),
    payload: verified.payload,
    maxBytes: 2 ** 30,
    ...signing,
  })
  const body = await plan.receiveAll(request)
  return { operation, target, headers, body, outcome: plan.outcome(), plan }
}

const server = createServer((request, reply) => {
  take(request)
    .then((one) => {
      seen = one
      if (refuse !== undefined) throw refuse
      reply.end()
    })
    .catch((error: unknown) => {
      const failure = error instanceof S3Error ? error : s3Error('InternalError', { message: String(error) })
      request.resume()
      reply
        .writeHead(failure.status, { 'content-type': 'application/xml' })
        .end(xmlErrorDocument(failure, { RequestId: '1' }))
    })
})
let client: S3Client

before(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  client = new S3Client({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'eu-central-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
    maxAttempts: 1,
  })
})

after(() => {
  client.destroy()
  server.close()
})

function last(): Seen {
  assert.ok(seen)
  return seen
}

test('PutObject of text carries a CRC32 header, odd keys and metadata', async () => {
  const key = "a//b/../c d+e%2F'(*)!~ž😀/"
  await client.send(
    new PutObjectCommand({ Bucket: 'bucket', Key: key, Body: '123456789', Metadata: { Colour: 'sea  blue' } }),
  )
  assert.equal(last().operation, 'PutObject')
  assert.equal(last().target.key?.toString(), key)
  assert.equal(last().body.toString(), '123456789')
  assert.deepEqual(last().outcome?.checksum, { algorithm: 'CRC32', type: 'FULL_OBJECT', value: 'y/Q5Jg==' })
  assert.equal(last().plan?.hasIntegrity, true)
  assert.deepEqual(readMetadata(last().headers).user, { colour: 'sea  blue' })
})

test('PutObject of a stream carries its checksum in a trailer', async () => {
  for (const algorithm of ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA256'] as const) {
    const body = Readable.from([Buffer.alloc(70_000, 'a'), Buffer.from('b')])
    const command = { Bucket: 'bucket', Key: 'k', Body: body, ContentLength: 70_001, ContentEncoding: 'gzip' }
    try {
      await client.send(new PutObjectCommand({ ...command, ChecksumAlgorithm: algorithm }))
    } catch (error) {
      // The SDK has CRC64NVME only with an extra package.
      if (algorithm === 'CRC64NVME') continue
      throw error
    }
    assert.equal(last().headers.get('x-amz-content-sha256')?.[0], 'STREAMING-UNSIGNED-PAYLOAD-TRAILER')
    assert.equal(last().outcome?.sizeBytes, 70_001)
    assert.equal(last().outcome?.checksum.algorithm, algorithm)
    assert.equal(readMetadata(last().headers).contentEncoding, 'gzip')
  }
})

test('GetObject, ListObjectsV2, CopyObject and CreateBucket are verified and routed', async () => {
  await client
    .send(new GetObjectCommand({ Bucket: 'bucket', Key: 'k', Range: 'bytes=0-1', ResponseContentType: 'a b+c' }))
    .catch(() => {})
  assert.equal(last().operation, 'GetObject')
  await client.send(new ListObjectsV2Command({ Bucket: 'bucket', Prefix: 'a b+c/ž', Delimiter: '/' })).catch(() => {})
  assert.equal(last().operation, 'ListObjectsV2')
  await client.send(new CopyObjectCommand({ Bucket: 'bucket', Key: 'k', CopySource: 'bucket/a%20b' })).catch(() => {})
  assert.equal(last().operation, 'CopyObject')
  const LocationConstraint = 'eu-central-1'
  await client.send(new CreateBucketCommand({ Bucket: 'bucket', CreateBucketConfiguration: { LocationConstraint } }))
  assert.equal(last().operation, 'CreateBucket')
  assert.equal(readXml(last().body, 'CreateBucketConfiguration').children[0]?.text, LocationConstraint)
})

test('DeleteObjects keeps its keys exact', async () => {
  const keys = [' a ', 'b\n\t', '<&>"\'', 'ž😀', 'c\r']
  await client
    .send(new DeleteObjectsCommand({ Bucket: 'bucket', Delete: { Objects: keys.map((Key) => ({ Key })) } }))
    .catch(() => {})
  assert.equal(last().operation, 'DeleteObjects')
  assert.equal(last().plan?.hasIntegrity, true)
  const read = children(readXml(last().body, 'Delete'), 'Object').map((object) => object.children[0]?.text)
  assert.deepEqual(read, keys)
})

test('errors reach the client with code, message and status', async () => {
  refuse = s3Error('NoSuchBucket')
  const failure = await client
    .send(new GetObjectCommand({ Bucket: 'bucket', Key: 'k' }))
    .catch((error: unknown) => error)
  refuse = undefined
  assert.ok(failure instanceof S3ServiceException)
  assert.equal(failure.name, 'NoSuchBucket')
  assert.equal(failure.message, 'The specified bucket does not exist.')
  assert.equal(failure.$metadata.httpStatusCode, 404)
})
