import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { GetObjectCommand, HeadBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { presign } from './auth/sign.ts'
import { keys, send, server, startTestPlane, svm, volume } from './test-plane.ts'
import type { TestPlane } from './test-plane.ts'

const Bucket = 'wired'
let t: TestPlane
before(async () => {
  t = await startTestPlane()
  await t.addBucket(Bucket)
})
after(() => t.close())

/** What comes back when these bytes are written to a connection. */
async function raw(text: string, options: { readonly isEnded?: boolean } = {}): Promise<string> {
  const { hostname, port } = new URL(t.url)
  const socket = connect(Number(port), hostname)
  socket.write(text)
  if (options.isEnded === true) socket.end()
  let answer = ''
  socket.on('data', (piece) => {
    answer += piece.toString('latin1')
  })
  await Promise.race([once(socket, 'close'), wait(500)])
  socket.destroy()
  return answer
}

test('every answer has request ids, an error document names what it is about', async () => {
  const ok = await send(t, 'GET', `/${Bucket}`)
  assert.match(String(ok.headers['x-amz-request-id']), /^[0-9A-F]{16}$/)
  assert.ok(ok.headers['x-amz-id-2'])
  assert.ok(ok.headers.date)
  const absent = await send(t, 'GET', `/${Bucket}/a%20b`)
  assert.equal(absent.status, 404)
  assert.equal(absent.headers['content-type'], 'application/xml')
  assert.match(absent.text, /<Code>NoSuchKey<\/Code>.*<Key>a b<\/Key>.*<RequestId>[0-9A-F]{16}<\/RequestId><HostId>/)
})

test('who is unknown, late or wrong is told so', async () => {
  const codeOf = async (headers: Record<string, string>): Promise<string> => {
    const { text } = await send(t, 'GET', `/${Bucket}`, { headers, isAnonymous: true })
    return /<Code>(.*)<\/Code>/.exec(text)?.[1] ?? ''
  }
  assert.equal(await codeOf({}), 'AccessDenied')
  const stranger = t.client({ accessKeyId: 'NOBODY', secretAccessKey: 'x' })
  const isNamed = (name: string) => (failure: Error) => failure.name === name
  await assert.rejects(stranger.send(new GetObjectCommand({ Bucket, Key: 'a' })), isNamed('InvalidAccessKeyId'))
  const forger = t.client({ accessKeyId: keys.accessKeyId, secretAccessKey: 'x' })
  await assert.rejects(forger.send(new GetObjectCommand({ Bucket, Key: 'a' })), isNamed('SignatureDoesNotMatch'))
  assert.equal(await codeOf({ authorization: 'Basic abc' }), 'InvalidArgument')
})

test('a connection is kept after an error, whose small body is thrown away', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (let round = 0; round < 3; round += 1) {
    const { status } = await send(t, 'PUT', '/absent-bucket/key', { body: Buffer.alloc(100_000), agent })
    assert.equal(status, 404)
  }
  assert.equal((await send(t, 'GET', `/${Bucket}`, { agent })).status, 200)
  assert.equal(Object.values(agent.freeSockets).flat().length, 1)
  agent.destroy()
})

test('a large body that is refused ends with the answer and a closed connection', async () => {
  const { status, headers } = await send(t, 'PUT', '/absent-bucket/key', { body: Buffer.alloc(8 * 2 ** 20) })
  assert.deepEqual([status, headers.connection], [404, 'close'])
})

test('100 Continue is for those who may send; others get their error without the body', async () => {
  const refused = await raw(`PUT /${Bucket}/x HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n`)
  assert.match(refused, /^HTTP\/1\.1 403 /)
  const { host } = new URL(t.url)
  const query = presign(
    { method: 'PUT', rawPath: `/${Bucket}/x`, headers: { host } },
    { accessKey: keys.accessKeyId, secret: keys.secretAccessKey, region: 'us-east-1' },
    { now: new Date(), expiresSeconds: 60 },
  )
  const allowed = await raw(
    `PUT /${Bucket}/x?${query} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello`,
  )
  assert.match(allowed, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/)
})

test('a presigned URL does what it says until it expires', async () => {
  const { host } = new URL(t.url)
  const identity = { accessKey: keys.accessKeyId, secret: keys.secretAccessKey, region: 'eu-north-1' }
  const url = (method: string, options: { seconds?: number; now?: Date; rawQuery?: string } = {}): string => {
    const path = `/${Bucket}/presigned`
    const { seconds = 60, now = new Date(), rawQuery = '' } = options
    const query = presign({ method, rawPath: path, rawQuery, headers: { host } }, identity, {
      now,
      expiresSeconds: seconds,
    })
    return `${t.url}${path}?${query}`
  }
  assert.equal((await fetch(url('PUT'), { method: 'PUT', body: 'signed before' })).status, 200)
  const got = await fetch(url('GET', { rawQuery: 'response-content-type=text%2Fcsv' }))
  assert.deepEqual([await got.text(), got.headers.get('content-type')], ['signed before', 'text/csv'])
  assert.equal((await fetch(url('PUT'))).status, 403)
  const late = await fetch(url('GET', { now: new Date(Date.now() - 120_000) }))
  assert.equal(late.status, 403)
  assert.match(await late.text(), /Request has expired/)
})

test('a client that goes away in the middle leaves nothing', async () => {
  const blobs = (await t.blobs()).length
  const { host } = new URL(t.url)
  const identity = { accessKey: keys.accessKeyId, secret: keys.secretAccessKey, region: 'us-east-1' }
  const query = presign({ method: 'PUT', rawPath: `/${Bucket}/half`, headers: { host } }, identity, {
    now: new Date(),
    expiresSeconds: 60,
  })
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      const { hostname, port } = new URL(t.url)
      const socket = connect(Number(port), hostname)
      socket.write(`PUT /${Bucket}/half?${query} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 10000000\r\n\r\n`)
      socket.write(Buffer.alloc(1_000_000))
      await wait(100)
      socket.destroy()
    }),
  )
  for (let round = 0; round < 100 && (await t.blobs()).length > blobs; round += 1) await wait(50)
  assert.equal((await t.blobs()).length, blobs)
  assert.equal((await send(t, 'GET', `/${Bucket}/half`)).status, 404)
})

test('a client that stops reading, and then goes away, lets go of the file', async () => {
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'long', Body: Buffer.alloc(20 * 2 ** 20) }))
  const got = await t.s3.send(new GetObjectCommand({ Bucket, Key: 'long' }))
  ;(got.Body as Readable).destroy()
  await wait(100)
  assert.equal((await send(t, 'GET', `/${Bucket}`)).status, 200)
})

test('300 MB go in and out with flat memory', async () => {
  const megabyte = randomBytes(2 ** 20)
  const count = 300
  const body = Readable.from(
    (function* () {
      for (let at = 0; at < count; at += 1) yield megabyte
    })(),
  )
  let highest = 0
  const before = process.memoryUsage.rss()
  const watch = setInterval(() => (highest = Math.max(highest, process.memoryUsage.rss() - before)), 20).unref()
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'huge', Body: body, ContentLength: count * megabyte.length }))
  const got = await t.s3.send(new GetObjectCommand({ Bucket, Key: 'huge' }))
  let size = 0
  for await (const piece of got.Body as Readable) size += (piece as Buffer).length
  clearInterval(watch)
  assert.equal(size, count * megabyte.length)
  // Client and server are one process here.
  assert.ok(highest < 150 * 2 ** 20, `memory grew by ${Math.round(highest / 2 ** 20)} MiB`)
})

test('a bucket is found in the host name of its server too', async () => {
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'hosted', Body: 'x' }))
  const { status, text } = await send(t, 'GET', '/hosted', { headers: { host: `${Bucket}.s3.example.com` } })
  assert.deepEqual([status, text], [200, 'x'])
})

test('health needs no credentials, and does not stand in the way of a bucket of that name', async () => {
  const { status, text } = await send(t, 'GET', '/livez', { isAnonymous: true })
  assert.deepEqual([status, text], [200, '{"status":"ok"}'])
  assert.equal((await send(t, 'GET', '/readyz', { isAnonymous: true })).status, 200)
  assert.match((await send(t, 'GET', '/livez')).text, /NoSuchBucket/)
})

test('what is not HTTP, or not of S3, is answered with an error document', async () => {
  assert.match(await raw('nonsense\r\n\r\n'), /^HTTP\/1\.1 400 .*<Code>InvalidRequest<\/Code>/s)
  assert.match(await raw(`GET / HTTP/1.1\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`), /RequestHeaderSectionTooLarge/)
  assert.match(await raw(`GET /${Bucket} HTTP/1.1\r\n\r\n`), /^HTTP\/1\.1 403 /)
  const preflight = { 'access-control-request-method': 'GET' }
  const options = (headers: Record<string, string>): ReturnType<typeof send> =>
    send(t, 'OPTIONS', `/${Bucket}/x`, { isAnonymous: true, headers: { ...preflight, ...headers } })
  assert.match((await options({})).text, /<Code>BadRequest<.*Origin request header needed/)
  assert.match((await options({ origin: 'http://a' })).text, /<Code>AccessForbidden<.*CORS is not enabled/)
  assert.equal((await send(t, 'PATCH', `/${Bucket}/x`)).status, 405)
  assert.match((await send(t, 'GET', '/%zz', { isAnonymous: true })).text, /InvalidURI/)
  assert.match((await send(t, 'GET', '/Bad_Name')).text, /InvalidBucketName/)
})

test('reads of settings that no bucket has yet are answered as Amazon answers for none', async () => {
  const cases: [string, number, string][] = [
    ['versioning', 200, 'VersioningConfiguration'],
    ['acl', 200, 'FULL_CONTROL'],
    ['location', 200, 'LocationConstraint'],
    ['policy', 404, 'NoSuchBucketPolicy'],
    ['lifecycle', 404, 'NoSuchLifecycleConfiguration'],
    ['cors', 404, 'NoSuchCORSConfiguration'],
    ['tagging', 404, 'NoSuchTagSet'],
    ['encryption', 404, 'ServerSideEncryptionConfigurationNotFoundError'],
    ['website', 404, 'NoSuchWebsiteConfiguration'],
    ['object-lock', 404, 'ObjectLockConfigurationNotFoundError'],
    ['ownershipControls', 200, 'BucketOwnerEnforced'],
    ['publicAccessBlock', 404, 'NoSuchPublicAccessBlockConfiguration'],
    ['inventory', 200, '<IsTruncated>false'],
    ['metadataTable', 501, 'GetBucketMetadataTableConfiguration is not implemented'],
  ]
  for (const [setting, status, text] of cases) {
    const answer = await send(t, 'GET', `/${Bucket}?${setting}`)
    assert.equal(answer.status, status, setting)
    assert.match(answer.text, new RegExp(text))
  }
})

test('a stopped SVM and an offline volume are 503, and a disabled server too', async () => {
  const status = async (): Promise<number> => (await send(t, 'GET', `/${Bucket}`)).status
  const volumeBody = { uuid: volume, name: 'vol2', 'svm.uuid': svm, aggregates: [{ uuid: 'aggr1' }] }
  await t.put('storage/volumes', volume, { ...volumeBody, state: 'offline' })
  assert.equal(await status(), 503)
  await t.put('storage/volumes', volume, { ...volumeBody, state: 'online' })
  assert.equal(await status(), 200)
  await t.put('svm/svms', svm, { uuid: svm, name: 'svm1', state: 'stopped' }, '')
  assert.equal(await status(), 503)
  await t.put('svm/svms', svm, { uuid: svm, name: 'svm1', state: 'running' }, '')
  const record = (await t.catalog.record('protocols/s3/services', server))?.body ?? {}
  await t.put('protocols/s3/services', server, { ...record, enabled: false })
  assert.equal(await status(), 503)
  await t.put('protocols/s3/services', server, { ...record, enabled: true })
  assert.equal(await status(), 200)
})

test('operations are counted for the volume and for the SVM', async () => {
  const before = (await t.catalog.counters('volume')).get(volume)?.['bytes_written'] ?? 0
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'counted', Body: Buffer.alloc(1000) }))
  await t.s3.send(new HeadBucketCommand({ Bucket }))
  await wait(1200)
  const row = (await t.catalog.counters('volume')).get(volume) ?? {}
  assert.ok((row['bytes_written'] ?? 0) >= before + 1000)
  assert.ok((row['write_ops'] ?? 0) > 0 && (row['write_latency'] ?? 0) > 0)
  const total = (row['read_ops'] ?? 0) + (row['write_ops'] ?? 0) + (row['other_ops'] ?? 0)
  assert.equal(row['total_ops'], total)
  const server = (await t.catalog.counters('object_store_server')).get(svm) ?? {}
  assert.ok((server['total_ops'] ?? 0) >= total)
  assert.ok((server['put_object_total'] ?? 0) > 0 && (server['put_object_latency'] ?? 0) > 0)
  assert.ok((server['head_bucket_total'] ?? 0) > 0)
  const [through] = [...(await t.catalog.counters('lif')).values()]
  assert.ok((through?.['received_data'] ?? 0) >= 1000)
})

test('what fails is counted by its operation, and who is not who they say by itself', async () => {
  const counted = async () => (await t.catalog.counters('object_store_server')).get(svm) ?? {}
  const before = await counted()
  await assert.rejects(t.s3.send(new GetObjectCommand({ Bucket, Key: 'nothing here' })))
  const forger = t.client({ accessKeyId: keys.accessKeyId, secretAccessKey: 'not the right one' })
  await assert.rejects(forger.send(new GetObjectCommand({ Bucket, Key: 'counted' })))
  await wait(1200)
  const now = await counted()
  const growth = (name: string) => (now[name] ?? 0) - (before[name] ?? 0)
  assert.equal(growth('get_object_failed'), 1)
  assert.equal(growth('get_object_total'), 1)
  assert.equal(growth('authentication_failures'), 1)
})

test('closing lets requests finish and refuses new ones', async () => {
  const other = await startTestPlane()
  await other.addBucket('draining')
  await other.s3.send(new PutObjectCommand({ Bucket: 'draining', Key: 'x', Body: Buffer.alloc(5 * 2 ** 20, 7) }))
  const got = await other.s3.send(new GetObjectCommand({ Bucket: 'draining', Key: 'x' }))
  const closing = other.plane.close(5000)
  assert.equal((await got.Body?.transformToByteArray())?.length, 5 * 2 ** 20)
  await closing
  await assert.rejects(fetch(`${other.url}/livez`))
  await other.close()
})
