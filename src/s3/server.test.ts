import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { GetObjectCommand, HeadBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { openBlobs } from '../../test/support/open-blobs.ts'
import { divideMemory, MEMORY_MIB_DEFAULT } from '../core/memory-budget.ts'
import { bufferTrimmer } from '../engines/heap.ts'
import { realSystem } from '../engines/system.ts'
import type { Clock } from '../ports/system.ts'
import { presign } from './auth/sign.ts'
import { reconcileMs } from './listeners.ts'
import { keys, send, server, startTestPlane, svm, volume } from './test-plane.ts'
import type { TestPlane } from './test-plane.ts'

/** As the product has it: buffers that nobody holds are given back as bytes move, not when V8 notices them. */
const { collectEveryBytes, buffersBytesMax, ...bounds } = divideMemory(MEMORY_MIB_DEFAULT, 1).worker
const MEMORY = {
  ...bounds,
  collecting: { everyBytes: collectEveryBytes, collect: bufferTrimmer(buffersBytesMax) },
}

const Bucket = 'wired'
let t: TestPlane
before(async () => {
  t = await startTestPlane({ memory: MEMORY })
  await t.addBucket(Bucket)
})
after(() => t.close())

/** What comes back when these bytes are written to a connection, up to the end of the answer. */
async function raw(text: string): Promise<string> {
  const { hostname, port } = new URL(t.url)
  const socket = connect(Number(port), hostname)
  socket.write(text)
  const { promise, resolve } = Promise.withResolvers<void>()
  let answer = ''
  socket.on('data', (piece) => {
    answer += piece.toString('latin1')
    if (isWhole(answer)) resolve()
  })
  socket.once('error', () => resolve())
  socket.once('close', () => resolve())
  await promise
  socket.destroy()
  return answer
}

/** Whether an answer has come, and as much of its body as it says that there is. */
function isWhole(answer: string): boolean {
  const final = answer.replace(/^HTTP\/1\.1 1\d\d .*?\r\n\r\n/s, '')
  const end = final.indexOf('\r\n\r\n')
  if (end === -1) return false
  const length = /^content-length: (\d+)/im.exec(final.slice(0, end))
  return length !== null && final.length >= end + 4 + Number(length[1])
}

/** Waits until something is so that comes by itself. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await wait(20)
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
  const begun = () => t.blobs().then((now) => now.length > blobs)
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
      await until(begun)
      socket.destroy()
    }),
  )
  await until(() => t.blobs().then((now) => now.length === blobs))
  assert.equal((await send(t, 'GET', `/${Bucket}/half`)).status, 404)
})

test('a client that stops reading, and then goes away, lets go of the file', async () => {
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'long', Body: Buffer.alloc(20 * 2 ** 20) }))
  const got = await t.s3.send(new GetObjectCommand({ Bucket, Key: 'long' }))
  ;(got.Body as Readable).destroy()
  await until(() => Promise.resolve(openBlobs() === 0))
  assert.equal((await send(t, 'GET', `/${Bucket}`)).status, 200)
})

test('200 MB go in and out with flat memory', async () => {
  const megabyte = randomBytes(2 ** 20)
  const count = 200
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

test('clients of an offline volume, a stopped SVM and a disabled server get 503, on new and on kept connections', async () => {
  let looks = 0
  const sleep: Clock['sleep'] = async (ms, signal) => {
    await realSystem.clock.sleep(ms, signal)
    if (ms === reconcileMs) looks++
  }
  const other = await startTestPlane({ system: { ...realSystem, clock: { ...realSystem.clock, sleep } } })
  await other.addBucket(Bucket)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const expectEach = async (status: number, code: string) => {
    for (const options of [{}, { agent }]) {
      const answer = await send(other, 'GET', `/${Bucket}`, options)
      assert.equal(answer.status, status)
      if (status !== 200) assert.ok(answer.text.includes(`<Code>${code}</Code>`), answer.text)
    }
    // The kept connection is the same one all the time.
    assert.equal(Object.values(agent.freeSockets).flat().length, 1)
    assert.equal(Object.values(agent.freeSockets).flat()[0], kept)
  }
  await send(other, 'GET', `/${Bucket}`, { agent })
  const [kept] = Object.values(agent.freeSockets).flat()
  const record = (await other.catalog.record('protocols/s3/services', server))?.body ?? {}
  const volumeBody = { uuid: volume, name: 'vol2', 'svm.uuid': svm, aggregates: [{ uuid: 'aggr1' }] }
  const ways: [name: string, put: (isUp: boolean) => Promise<unknown>, ready: number][] = [
    [
      'volume',
      (isUp) => other.put('storage/volumes', volume, { ...volumeBody, state: isUp ? 'online' : 'offline' }),
      200,
    ],
    [
      'SVM',
      (isUp) => other.put('svm/svms', svm, { uuid: svm, name: 'svm1', state: isUp ? 'running' : 'stopped' }, ''),
      503,
    ],
    ['server', (isUp) => other.put('protocols/s3/services', server, { ...record, enabled: isUp }), 503],
  ]
  for (const [name, put, ready] of ways) {
    await put(false)
    await expectEach(503, 'ServiceUnavailable')
    // The listeners have looked at the records again, and acted on them before they look once more.
    const seen = looks
    await until(() => Promise.resolve(looks >= seen + 2))
    await expectEach(503, 'ServiceUnavailable')
    assert.equal((await send(other, 'GET', '/readyz', { isAnonymous: true })).status, ready, name)
    assert.equal((await send(other, 'GET', '/livez', { isAnonymous: true })).status, 200)
    await put(true)
    await expectEach(200, '')
    assert.equal((await send(other, 'GET', '/readyz', { isAnonymous: true })).status, 200)
  }
  agent.destroy()
  await other.close()
})

/** What is counted of the requests of a plane of its own. Its counters are written at the latest when it is closed. */
async function countersAfter(act: (other: TestPlane) => Promise<void>) {
  const other = await startTestPlane()
  try {
    await other.addBucket(Bucket)
    await act(other)
    await other.plane.close(1000)
    const { catalog } = other
    return {
      volume: (await catalog.counters('volume')).get(volume) ?? {},
      server: (await catalog.counters('object_store_server')).get(svm) ?? {},
      through: [...(await catalog.counters('lif')).values()][0] ?? {},
    }
  } finally {
    await other.close()
  }
}

test('operations are counted for the volume, the SVM and the network interface', async () => {
  const {
    volume: row,
    server,
    through,
  } = await countersAfter(async ({ s3 }) => {
    await s3.send(new PutObjectCommand({ Bucket, Key: 'counted', Body: Buffer.alloc(1000) }))
    await s3.send(new HeadBucketCommand({ Bucket }))
  })
  assert.equal(row['bytes_written'], 1000)
  assert.equal(row['write_ops'], 1)
  assert.ok((row['write_latency'] ?? 0) > 0)
  const total = (row['read_ops'] ?? 0) + (row['write_ops'] ?? 0) + (row['other_ops'] ?? 0)
  assert.equal(row['total_ops'], total)
  assert.ok((server['total_ops'] ?? 0) >= total)
  assert.ok(server['put_object_total'] === 1 && (server['put_object_latency'] ?? 0) > 0)
  assert.equal(server['head_bucket_total'], 1)
  assert.ok((through['received_data'] ?? 0) >= 1000)
})

test('what fails is counted by its operation, and who is not who they say by itself', async () => {
  const { server } = await countersAfter(async (other) => {
    await assert.rejects(other.s3.send(new GetObjectCommand({ Bucket, Key: 'nothing here' })))
    const forger = other.client({ accessKeyId: keys.accessKeyId, secretAccessKey: 'not the right one' })
    await assert.rejects(forger.send(new GetObjectCommand({ Bucket, Key: 'counted' })))
  })
  assert.equal(server['get_object_failed'], 1)
  assert.equal(server['get_object_total'], 1)
  assert.equal(server['authentication_failures'], 1)
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
