import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { connect as connectSecure } from 'node:tls'
import {
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { openBlobs } from '../../test/support/open-blobs.ts'
import { isWhole } from '../../test/support/whole.ts'
import { openCertificate } from '../engines/certificate.ts'
import { encodeChunked } from './auth/aws-chunked.ts'
import { signedChunks, unsignedChunksWithTrailer, unsignedPayload } from './auth/payload.ts'
import { sign } from './auth/sign.ts'
import type { Signature } from './auth/sign.ts'
import { xmlBytesMax, xmlDepthMax, xmlElementsMax } from './xml/xml.ts'
import { headersMax } from '../wire/http-server.ts'
import { queryParametersMax } from './request/query.ts'
import { keys, send, startTestPlane } from './test-plane.ts'
import type { TestPlane } from './test-plane.ts'

const Bucket = 'guarded'
const open = 'open-to-all'
const identity = { accessKey: keys.accessKeyId, secret: keys.secretAccessKey, region: 'us-east-1' }
const openStatements = [{ effect: 'allow', principals: ['*'], actions: ['*'], resources: [open, `${open}/*`] }]
const waits = { idleMs: 600, headersMs: 600 }
let t: TestPlane
before(async () => {
  t = await startTestPlane({ waits })
  await t.addBucket(Bucket)
  await t.addBucket(open, { statements: openStatements })
})
after(() => t.close())

/** The connection of a client that can do everything wrong. */
class Client {
  readonly socket: Socket
  #received = ''

  constructor(plane: Pick<TestPlane, 'url'> = t) {
    const { hostname, port } = new URL(plane.url)
    this.socket = connect(Number(port), hostname)
    this.socket.on('error', () => {})
  }

  /** Before it is called, nothing is read. */
  read(): this {
    this.socket.on('data', (piece) => {
      this.#received += piece.toString('latin1')
    })
    return this
  }

  get received(): string {
    return this.#received
  }

  write(bytes: string | Buffer): this {
    this.socket.write(bytes)
    return this
  }

  /** What it was told until the connection ended. */
  async end(): Promise<string> {
    if (!this.socket.closed) await once(this.socket, 'close')
    return this.#received
  }
}

const host = (): string => new URL(t.url).host

function headText(method: string, target: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`
}

function signed(method: string, target: string, headers: Record<string, string>, payload: string): Signature {
  const [rawPath = '', rawQuery = ''] = target.split('?')
  return sign({ method, rawPath, rawQuery, headers: { host: host(), ...headers } }, identity, new Date(), payload)
}

async function eventually(what: string, isTrue: () => boolean | Promise<boolean>, timeoutMs = 120_000): Promise<void> {
  const endMs = Date.now() + timeoutMs
  while (!(await isTrue())) {
    assert.ok(Date.now() < endMs, `not within ${timeoutMs} ms: ${what}`)
    await wait(20)
  }
}

/** Every way in which bytes come, as a head and how a body of 1,000,000 bytes travels. */
async function uploads(): Promise<{ name: string; head: string; body: Buffer }[]> {
  const body = Buffer.alloc(1_000_000, 'x')
  const at = { Bucket, Key: 'in-parts' }
  const { UploadId = '' } = await t.s3.send(new CreateMultipartUploadCommand(at))
  const length = String(body.length)
  const put = signed('PUT', `/${Bucket}/stalled`, { 'content-length': length }, unsignedPayload)
  const partTarget = `/${Bucket}/in-parts?partNumber=1&uploadId=${encodeURIComponent(UploadId)}`
  const part = signed('PUT', partTarget, { 'content-length': length }, unsignedPayload)
  const chunked = { 'content-encoding': 'aws-chunked', 'x-amz-decoded-content-length': length }
  const inChunks = signed('PUT', `/${Bucket}/stalled`, { ...chunked, 'transfer-encoding': 'chunked' }, signedChunks)
  const trailer = { 'x-amz-trailer': 'x-amz-checksum-crc32' }
  const withTrailer = signed(
    'PUT',
    `/${Bucket}/stalled`,
    { ...chunked, ...trailer, 'content-length': '1000100' },
    unsignedChunksWithTrailer,
  )
  const encoded = Buffer.concat([
    ...encodeChunked([body.subarray(0, 600_000), body.subarray(600_000)], { signing: inChunks }),
  ])
  const fields =
    '--b\r\nContent-Disposition: form-data; name="key"\r\n\r\nstalled\r\n' +
    '--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n'
  const formHeaders = { host: host(), 'content-type': 'multipart/form-data; boundary=b', 'content-length': '1000200' }
  return [
    { name: 'PUT', head: headText('PUT', `/${Bucket}/stalled`, put.headers), body },
    { name: 'part', head: headText('PUT', partTarget, part.headers), body },
    {
      name: 'signed chunks',
      head: headText('PUT', `/${Bucket}/stalled`, inChunks.headers),
      body: Buffer.concat([Buffer.from(`${encoded.length.toString(16)}\r\n`), encoded]),
    },
    {
      name: 'trailer',
      head: headText('PUT', `/${Bucket}/stalled`, withTrailer.headers),
      body: Buffer.concat([Buffer.from('f4240\r\n'), body]),
    },
    { name: 'form', head: headText('POST', `/${open}`, formHeaders), body: Buffer.concat([Buffer.from(fields), body]) },
  ]
}

async function leavesNothing(blobs: number): Promise<void> {
  await eventually('no blob is left', async () => (await t.blobs()).length === blobs)
  await eventually('no file is open', () => openBlobs() === 0)
  assert.equal((await send(t, 'GET', `/${Bucket}/stalled`)).status, 404)
  assert.equal((await send(t, 'GET', `/${open}/stalled`)).status, 404)
}

test('an upload that stalls is told so, ended, and leaves nothing', async () => {
  const blobs = (await t.blobs()).length
  for (const { name, head, body } of await uploads()) {
    const client = new Client().read().write(head).write(body.subarray(0, 700_000))
    await eventually(`${name} has begun to be written`, async () => (await t.blobs()).length > blobs)
    const answer = await client.end()
    assert.match(answer, /^HTTP\/1\.1 400 .*<Code>RequestTimeout</s, name)
    await leavesNothing(blobs)
  }
})

test('an upload that is cut off at any point leaves nothing', async () => {
  const blobs = (await t.blobs()).length
  for (const { head, body } of await uploads()) {
    const whole = Buffer.concat([Buffer.from(head, 'latin1'), body])
    for (const bytes of [head.length - 10, head.length, head.length + 100, head.length + 700_000]) {
      const client = new Client().read()
      // All of it arrives before the end does.
      client.socket.end(whole.subarray(0, bytes))
      await client.end()
    }
    await leavesNothing(blobs)
  }
})

test('an upload that is slow but moves is not given up', async () => {
  const body = Buffer.alloc(1000, 'x')
  const { headers } = signed('PUT', `/${Bucket}/slow`, { 'content-length': '1000' }, unsignedPayload)
  /** Gives the longest time without a byte: a machine that is busy may make it longer than was meant. */
  const upload = async (): Promise<{ answer: string; silentMs: number }> => {
    const client = new Client().read().write(headText('PUT', `/${Bucket}/slow`, headers))
    let silentMs = 0
    for (let at = 0; at < 1000; at += 125) {
      const fromMs = performance.now()
      await wait(waits.idleMs / 4)
      silentMs = Math.max(silentMs, performance.now() - fromMs)
      client.write(body.subarray(at, at + 125))
    }
    await eventually('an answer is there', () => client.received !== '' || client.socket.closed)
    client.socket.destroy()
    return { answer: client.received, silentMs }
  }
  let { answer, silentMs } = await upload()
  while (!answer.startsWith('HTTP/1.1 200 ') && silentMs > waits.idleMs / 2) ({ answer, silentMs } = await upload())
  assert.match(answer, /^HTTP\/1\.1 200 /)
  assert.equal((await send(t, 'GET', `/${Bucket}/slow`)).text.length, 1000)
})

test('a client that does not send its headers, or nothing at all, is ended', async () => {
  const startMs = Date.now()
  const slow = new Client().read().write('GET / HTTP/1.1\r\nHost: x\r\n')
  const trickle = setInterval(() => slow.write('x: y\r\n'), 100)
  const silent = new Client().read()
  // Whichever of the two bounds on time ends it.
  assert.match(await silent.end(), /^$|<Code>RequestTimeout</)
  assert.match(await slow.end(), /^HTTP\/1\.1 400 .*<Code>RequestTimeout</s)
  clearInterval(trickle)
  assert.ok(Date.now() - startMs < 30_000)
})

test('who speaks no TLS to the port of TLS, or nothing, is ended, and others are served', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-tls-'))
  const plane = await startTestPlane({ waits, tls: await openCertificate(folder, Date.now()) })
  try {
    const startMs = Date.now()
    const secure = { url: plane.secureUrl }
    const plain = new Client(secure).read().write(headText('GET', '/livez', { host: 'x' }))
    const silent = new Client(secure).read()
    const begun = new Client(secure).read().write(Buffer.from('1603010200010001fc0303', 'hex'))
    const answers = await Promise.all([plain.end(), silent.end(), begun.end()])
    assert.ok(Date.now() - startMs < 30_000)
    for (const answer of answers) assert.doesNotMatch(answer, /HTTP/)
    const { port } = new URL(plane.secureUrl)
    const socket = connectSecure({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false })
    socket.write(headText('GET', '/livez', { host: 'x', connection: 'close' }))
    let answer = ''
    for await (const piece of socket) answer += String(piece)
    assert.match(answer, /^HTTP\/1\.1 200 OK/)
  } finally {
    await plane.close()
    await rm(folder, { recursive: true })
  }
})

test('50 clients that stop reading a large object hold little memory', async () => {
  // None of them is given up before all are being answered, however long that takes.
  const plane = await startTestPlane()
  const clients: Client[] = []
  try {
    const bytes = 64 * 2 ** 20
    await plane.addBucket(open, { statements: openStatements })
    await plane.s3.send(new PutObjectCommand({ Bucket: open, Key: 'large', Body: Buffer.alloc(bytes) }))
    const before = process.memoryUsage.rss()
    const request = headText('GET', `/${open}/large`, { host: new URL(plane.url).host })
    for (let n = 0; n < 50; n++) clients.push(new Client(plane).write(request))
    await eventually('all are being answered', () => openBlobs() === 50)
    let highest = 0
    for (let round = 0; round < 20; round += 1) {
      highest = Math.max(highest, process.memoryUsage.rss() - before)
      await wait(20)
    }
    const megabytes = Math.round(highest / 2 ** 20)
    // Two pieces of half a MiB each for a client; the whole objects would be 3,200 MiB.
    assert.ok(megabytes < 160, `memory grew by ${megabytes} MiB`)
    for (const { socket } of clients) socket.destroy()
    await eventually('their file is let go', () => openBlobs() === 0)
    const got = await plane.s3.send(new GetObjectCommand({ Bucket: open, Key: 'large' }))
    assert.equal((await got.Body?.transformToByteArray())?.length, bytes)
  } finally {
    for (const { socket } of clients) socket.destroy()
    await plane.close()
  }
})

test('clients that stop reading are ended', async () => {
  await t.s3.send(new PutObjectCommand({ Bucket: open, Key: 'unread', Body: Buffer.alloc(32 * 2 ** 20) }))
  const clients = Array.from({ length: 5 }, () =>
    new Client().write(headText('GET', `/${open}/unread`, { host: host() })),
  )
  await eventually('all are being answered', () => clients.every(({ socket }) => socket.bytesRead > 0))
  await eventually('they are given up', () => openBlobs() === 0)
  for (const { socket } of clients) socket.destroy()
})

test('requests that come before the last is answered are answered in their order, one after another', async () => {
  const request = (method: string, key: string, body = ''): string =>
    headText(method, `/${open}/${key}`, { host: host(), 'content-length': String(body.length) }) + body
  const client = new Client().read()
  client.write(
    request('PUT', 'piped', 'first') +
      request('GET', 'piped') +
      request('PUT', 'piped', 'second') +
      request('GET', 'piped') +
      request('DELETE', 'piped') +
      request('GET', 'piped'),
  )
  await eventually('six answers', () => client.received.split('HTTP/1.1 ').length === 7)
  const answers = client.received.split('HTTP/1.1 ').slice(1)
  assert.deepEqual(
    answers.map((answer) => answer.slice(0, 3)),
    ['200', '200', '200', '200', '204', '404'],
  )
  assert.match(answers[1] ?? '', /first$/)
  assert.match(answers[3] ?? '', /second$/)
  client.socket.destroy()
})

test('a thousand requests on one connection open one file at a time, and all are answered', async () => {
  const key = 'often'
  await t.s3.send(new PutObjectCommand({ Bucket: open, Key: key, Body: Buffer.alloc(20_000, 'x') }))
  const client = new Client()
  client.write(headText('GET', `/${open}/${key}`, { host: host() }).repeat(1000))
  let most = 0
  for (let round = 0; round < 10; round += 1) {
    await wait(10)
    most = Math.max(most, openBlobs())
  }
  let received = 0
  client.socket.on('data', (piece) => (received += piece.length))
  const isAnswered = () => {
    most = Math.max(most, openBlobs())
    return received > 1000 * 20_000
  }
  await eventually('all are answered', isAnswered, 60_000)
  assert.ok(most <= 2, `${most} files were open`)
  client.socket.destroy()
})

test('nonsense behind a request is refused after its answer, never within it', async () => {
  await t.s3.send(new PutObjectCommand({ Bucket: open, Key: 'long', Body: Buffer.alloc(5_000_000, 'x') }))
  const client = new Client().write(`${headText('GET', `/${open}/long`, { host: host() })}\u0000nonsense\r\n\r\n`)
  await eventually('the answer has begun', () => client.socket.bytesRead > 0)
  const answer = await client.read().end()
  const [, head = '', body = ''] = /^(.*?)\r\n\r\n(.*)$/s.exec(answer) ?? []
  assert.match(head, /^HTTP\/1\.1 200 OK/)
  assert.equal(body.slice(0, 5_000_000).replaceAll('x', ''), '')
  assert.match(body.slice(5_000_000), /^HTTP\/1\.1 400 .*<Code>InvalidRequest</s)
})

test('numbers and sizes have bounds', async () => {
  const code = ({ text }: { text: string }): string => /<Code>(.*)<\/Code>/.exec(text)?.[1] ?? ''
  const many = Object.fromEntries(Array.from({ length: headersMax + 1 }, (_, index) => [`x-h${index}`, '1']))
  assert.equal(
    code(await send(t, 'GET', `/${open}`, { headers: many, isAnonymous: true })),
    'RequestHeaderSectionTooLarge',
  )
  const query = Array.from({ length: queryParametersMax + 1 }, (_, index) => `q${index}`).join('&')
  assert.equal(code(await send(t, 'GET', `/${open}?${query}`, { isAnonymous: true })), 'InvalidURI')
  const key = 'k'.repeat(30_000)
  assert.equal(code(await send(t, 'GET', `/${open}/${key}`, { isAnonymous: true })), 'KeyTooLongError')

  const post = async (body: string): Promise<string> => {
    const headers = { 'content-md5': createHash('md5').update(body).digest('base64') }
    return code(await send(t, 'POST', `/${open}?delete`, { body, headers, isAnonymous: true }))
  }
  assert.equal(await post('<a>'.repeat(xmlDepthMax + 10)), 'MalformedXML')
  assert.equal(await post(`<Delete>${'<a/>'.repeat(xmlElementsMax + 1)}</Delete>`), 'MalformedXML')
  assert.equal(await post(' '.repeat(xmlBytesMax + 1)), 'MaxMessageLengthExceeded')
  const bomb = '<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><Delete>&b;</Delete>'
  assert.equal(await post(bomb), 'MalformedXML')
})

test('a refused request leaves its connection usable, whatever it was refused for', async () => {
  const crowd = Buffer.alloc(300_000, 'x')
  const length = String(crowd.length)
  const chunked = { 'content-encoding': 'aws-chunked', 'x-amz-decoded-content-length': length }
  const encode = (length: string): { signature: Signature; bytes: Buffer } => {
    const signature = signed('PUT', `/${Bucket}/x`, { ...chunked, 'content-length': length }, signedChunks)
    const chunks = [crowd.subarray(0, 1000), crowd.subarray(1000)]
    return { signature, bytes: Buffer.concat([...encodeChunked(chunks, { signing: signature })]) }
  }
  // How long it gets is not known before, and is signed.
  const forged = encode(String(encode('0').bytes.length))
  forged.bytes[500] = 0
  const digest = signed(
    'PUT',
    `/${Bucket}/x`,
    { 'content-length': length, 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' },
    unsignedPayload,
  )
  const stranger = { host: host(), 'content-length': length }
  const cases: [string, string, Buffer][] = [
    ['SignatureDoesNotMatch', headText('PUT', `/${Bucket}/x`, forged.signature.headers), forged.bytes],
    ['BadDigest', headText('PUT', `/${Bucket}/x`, digest.headers), crowd],
    ['AccessDenied', headText('PUT', `/${Bucket}/x`, stranger), crowd],
    ['NoSuchBucket', headText('PUT', '/absent/x', stranger), crowd],
    ['MethodNotAllowed', headText('PATCH', `/${Bucket}/x`, stranger), crowd],
    ['PreconditionFailed', headText('POST', `/${Bucket}`, stranger), crowd],
  ]
  const blobs = (await t.blobs()).length
  for (const [code, head, body] of cases) {
    const client = new Client()
      .read()
      .write(head)
      .write(body)
      .write(headText('GET', '/livez', { host: host() }))
    await eventually(`an answer after ${code}`, () => client.received.includes('"ok"'))
    assert.match(client.received, new RegExp(`^HTTP/1\\.1 4\\d\\d .*<Code>${code}<.*HTTP/1\\.1 200 OK`, 's'))
    client.socket.destroy()
  }
  await eventually('nothing is left', async () => (await t.blobs()).length === blobs && openBlobs() === 0)
})

test('thousands of requests of garbage leave everything as it was', async () => {
  const random = seeded(20_261_121)
  const before = process.memoryUsage.rss()
  const blobs = (await t.blobs()).length
  let sent = 0
  const sendAll = async (): Promise<void> => {
    while (sent < GARBAGE) {
      sent += 1
      const client = new Client().read()
      client.socket.end(garbage(random))
      await Promise.race([client.end(), wait(1000)])
      client.socket.destroy()
    }
  }
  await Promise.all(Array.from({ length: 200 }, sendAll))
  await eventually('no file is open', () => openBlobs() === 0)
  assert.equal((await t.blobs()).length, blobs)
  assert.deepEqual(
    t.logged.filter(({ level }) => level === 'error'),
    [],
  )
  const page = await t.s3.send(new ListObjectsV2Command({ Bucket, MaxKeys: 1 }))
  assert.equal(page.$metadata.httpStatusCode, 200)
  const megabytes = Math.round((process.memoryUsage.rss() - before) / 2 ** 20)
  assert.ok(megabytes < 200, `memory grew by ${megabytes} MiB`)
})

/** Requests of garbage. */
const GARBAGE = isWhole ? 10_000 : 2000

type Random = (below: number) => number

function seeded(seed: number): Random {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Requests that are wrong in one way or in many: bytes, lines, headers, bodies, signatures. */
function garbage(random: Random): Buffer {
  const bytes = (count: number): Buffer => Buffer.from(Array.from({ length: random(count) }, () => random(256)))
  const one = (...choices: string[]): string => choices[random(choices.length)] ?? ''
  const word = (): string => bytes(12).toString('base64url')
  const method = one('GET', 'PUT', 'POST', 'HEAD', 'DELETE', 'OPTIONS', 'PATCH', 'CONNECT', 'PRI', word())
  const place = one(
    '/',
    `/${open}`,
    `/${open}/k`,
    `/${Bucket}/k`,
    '//',
    '/%',
    '/%00',
    '*',
    'http://x/y',
    `/${word()}/${word()}`,
  )
  const query = one(
    '',
    '?delete',
    '?uploads',
    '?uploadId=x&partNumber=1',
    '?X-Amz-Signature=0',
    `?${word()}`,
    '?policy',
    '?%',
    '?versions',
  )
  const header = (): string =>
    one(
      `Host: ${host()}`,
      `Host: ${word()}.s3.example.com`,
      'Transfer-Encoding: chunked',
      `Content-Length: ${one('0', '10', '-1', '99999999999999999999', 'x', '1, 2')}`,
      'Expect: 100-continue',
      'Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0',
      `Authorization: ${word()}`,
      'Content-Type: multipart/form-data; boundary=b',
      `x-amz-content-sha256: ${one(signedChunks, unsignedChunksWithTrailer, unsignedPayload, word())}`,
      `x-amz-copy-source: ${word()}/${word()}`,
      `Range: bytes=${word()}-`,
      'Connection: Upgrade\r\nUpgrade: websocket',
      `${word()}: ${word()}`,
      bytes(20).toString('latin1'),
    )
  const headers = Array.from({ length: random(6) }, header).join('\r\n')
  const body = one(
    '',
    'a\r\n0123456789\r\n0\r\n\r\n',
    '<Delete><Object><Key>x</Key></Object></Delete>',
    '--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nx\r\n--b--',
    bytes(200).toString('latin1'),
  )
  const kind = random(10)
  if (kind === 0) return bytes(300)
  const text = `${method} ${place}${query} HTTP/1.${one('1', '0', '9')}\r\n${headers}\r\n\r\n${body}`
  return Buffer.from(kind === 1 ? text.slice(0, random(text.length)) : text, 'latin1')
}
