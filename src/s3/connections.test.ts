/** The bounds of connections to an object store, in both protocols. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { request as requestSecurely } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { connect as connectSecure } from 'node:tls'
import { exchangeRaw, proveSilenceIsBounded } from '../../test/support/silent-clients.ts'
import { openCertificate } from '../engines/certificate.ts'
import { bodyBytesMin } from './exchange/exchange.ts'
import { startTestPlane, type TestPlane } from './test-plane.ts'

const waits = { handshakeMs: 2000, headersMs: 2000, idleMs: 1000 }
const connections = { connectionsMax: 30, perAddressMax: 20 }
const open = 'open-to-all'
const livez = 'GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
let t: TestPlane
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-connections-'))
  t = await startTestPlane({ waits, connections, tls: await openCertificate(folder, Date.now()) })
  const statements = [{ effect: 'allow', principals: ['*'], actions: ['*'], resources: [open, `${open}/*`] }]
  await t.addBucket(open, { statements })
})
after(async () => {
  await t.close()
  await rm(folder, { recursive: true })
})

const place = (isSecure: boolean) => ({ port: Number(new URL(isSecure ? t.secureUrl : t.url).port), isSecure })

function serveAnother(isSecure: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = (isSecure ? requestSecurely : request)(
      {
        host: '127.0.0.1',
        port: place(isSecure).port,
        path: '/livez',
        localAddress: '127.0.0.2',
        rejectUnauthorized: false,
        agent: false,
      },
      (response) => {
        response.resume()
        response.on('end', () =>
          response.statusCode === 200 ? resolve() : reject(new Error(`${response.statusCode}`)),
        )
      },
    )
    sent.on('error', reject)
    sent.end()
  })
}

for (const isSecure of [false, true]) {
  const name = isSecure ? 'HTTPS' : 'HTTP'
  test(`silent clients of every kind hold no more places of ${name} than their address has, and are let go`, () =>
    proveSilenceIsBounded(place(isSecure), {
      perAddressMax: connections.perAddressMax,
      clients: 50,
      withinMs: 30_000,
      serveAnother: () => serveAnother(isSecure),
    }))
}

test('listeners share the places of an address', async () => {
  const sockets = Array.from({ length: connections.perAddressMax }, () =>
    connectSecure({ port: place(true).port, host: '127.0.0.1', rejectUnauthorized: false }).on(
      'error',
      () => undefined,
    ),
  )
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('secureConnect', resolve))))
  const { answer, isClosed } = await exchangeRaw(place(false), livez)
  assert.deepEqual([answer, isClosed], ['', true])
  await serveAnother(false)
  for (const socket of sockets) socket.destroy()
  const isFree = async () => (await exchangeRaw(place(false), livez)).answer !== ''
  while (!(await isFree())) await wait(20)
})

test('an upload of a byte now and then is told that it is too slow, and ended', async () => {
  const { port } = place(false)
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.on('error', () => undefined)
  socket.on('data', (piece: Buffer) => (answer += piece.toString()))
  socket.write(`PUT /${open}/slow HTTP/1.1\r\nHost: a\r\nContent-Length: ${bodyBytesMin}\r\n\r\n`)
  const trickle = setInterval(() => socket.write('x'), 100)
  await new Promise((resolve) => socket.once('close', resolve))
  clearInterval(trickle)
  assert.match(answer, /^HTTP\/1\.1 400 .*<Code>RequestTimeout</s)
  assert.deepEqual(await t.blobs(), [])
})

test('the body of a refused request may not come for longer than it takes to throw it away', async () => {
  const { port } = place(false)
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.on('error', () => undefined)
  socket.on('data', (piece: Buffer) => (answer += piece.toString()))
  const startMs = performance.now()
  socket.write(`PUT /absent-bucket/slow HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n`)
  const trickle = setInterval(() => socket.write('x'), 100)
  await new Promise((resolve) => socket.once('close', resolve))
  clearInterval(trickle)
  assert.match(answer, /^HTTP\/1\.1 404 .*<Code>NoSuchBucket</s)
  assert.ok(performance.now() - startMs < 30_000)
})

test('a request that can be read in two ways is refused, and its connection closed', async () => {
  const head = `GET /${open}/x HTTP/1.1\r\n`
  const cases: [string, string, RegExp][] = [
    ['two hosts', `${head}Host: a\r\nHost: b\r\n\r\n`, /^HTTP\/1\.1 400 .*one Host header/s],
    ['two equal hosts', `${head}Host: a\r\nHost: a\r\n\r\n`, /^HTTP\/1\.1 400 /],
    ['two lengths', `${head}Host: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n`, /^HTTP\/1\.1 400 /],
    [
      'chunks with a length',
      `${head}Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n`,
      /^HTTP\/1\.1 400 /,
    ],
    ['a tunnel', 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n', /^HTTP\/1\.1 405 .*MethodNotAllowed/s],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['a folded header', `${head}Host: a\r\nx: y\r\n z\r\n\r\n`, /^HTTP\/1\.1 400 /],
    ['a blank before a colon', `${head}Host : a\r\n\r\n`, /^HTTP\/1\.1 400 /],
    ['line feeds alone', `GET /${open}/x HTTP/1.1\nHost: a\n\n`, /^HTTP\/1\.1 400 /],
    ['too long headers', `${head}Host: a\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`, /^HTTP\/1\.1 400 .*SectionTooLarge/s],
  ]
  for (const [what, text, expected] of cases) {
    for (const isSecure of [false, true]) {
      const { answer, isClosed } = await exchangeRaw(place(isSecure), text)
      assert.match(answer, expected, what)
      assert.match(answer, /<Error><Code>/, what)
      assert.ok(isClosed, what)
    }
  }
})

test('old and unusual requests that mean one thing are answered', async () => {
  const cases: [string, RegExp][] = [
    ['GET /livez HTTP/1.0\r\n\r\n', /^HTTP\/1\.1 200 /],
    ['GET http://a/livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', /^HTTP\/1\.1 200 /],
    ['GET /livez HTTP/1.1\r\nHost: a\r\nConnection: upgrade, close\r\nUpgrade: h2c\r\n\r\n', /^HTTP\/1\.1 200 /],
    [`TRACE /${open} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`, /^HTTP\/1\.1 405 /],
  ]
  for (const [text, expected] of cases) {
    const { answer, isClosed } = await exchangeRaw(place(false), text)
    assert.match(answer, expected, text)
    assert.ok(isClosed, text)
  }
})

test('TLS is spoken with authenticated ciphers of versions 1.2 and 1.3 alone, by any certificate', async () => {
  const meet = (options: object) =>
    new Promise<string>((resolve) => {
      const { port } = place(true)
      const socket = connectSecure({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options }, () => {
        resolve(`${socket.getProtocol()} ${socket.getCipher().name}`)
        socket.destroy()
      })
      socket.on('error', () => resolve('refused'))
    })
  assert.match(await meet({}), /^TLSv1\.3 /)
  assert.match(await meet({ maxVersion: 'TLSv1.2' }), /^TLSv1\.2 ECDHE-ECDSA-.*(GCM|POLY1305)/)
  for (const ciphers of ['ECDHE-ECDSA-AES128-SHA256', 'ECDHE-ECDSA-AES128-SHA']) {
    assert.equal(await meet({ maxVersion: 'TLSv1.2', ciphers: `${ciphers}:@SECLEVEL=0` }), 'refused', ciphers)
  }
})
