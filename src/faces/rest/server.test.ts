import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:https'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { connect as connectSecure } from 'node:tls'
import { exchangeRaw, proveSilenceIsBounded, type Place } from '../../../test/support/silent-clients.ts'
import { ADMIN, startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'
import { openCertificate } from '../../engines/certificate.ts'
import { headersMax } from '../../wire/http-server.ts'
import { ERROR_CHARACTERS_MAX } from './failed.ts'
import { BODY_BEFORE_LOGIN_BYTES_MAX, serveManagement, type Management } from './server.ts'

const waits = { handshakeMs: 2000, headersMs: 2000, requestMs: 4000, idleMs: 1000 }
const connections = { connectionsMax: 30, perAddressMax: 20 }
let t: TestCluster
let management: Management
let folder: string
let place: Place
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-management-'))
  t = await startTestCluster()
  management = await serveManagement(
    {
      actions: t.actions,
      authenticate: (given, from) => t.login.authenticate(given, from),
      wireDialect: async () => 'auto',
    },
    {
      ...(await openCertificate(folder, Date.now())),
      host: '127.0.0.1',
      port: 0,
      browserFolder: dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')),
      isReady: () => Promise.resolve(true),
      waits,
      connections,
    },
  )
  place = { port: management.port, isSecure: true }
})
after(async () => {
  await management.close()
  await t.close()
  await rm(folder, { recursive: true })
})

/** The status of a login from an address. */
function login(localAddress = '127.0.0.2'): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port: management.port,
        path: '/api/cluster',
        headers: { authorization: ADMIN },
        localAddress,
        rejectUnauthorized: false,
        agent: false,
      },
      (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
      },
    )
    sent.on('error', reject)
    sent.end()
  })
}

const say = (head: string, body = '') => exchangeRaw(place, `${head.replaceAll('\n', '\r\n')}\r\n\r\n${body}`)
const asAdmin = `Host: x\nAuthorization: ${ADMIN}`

test('silent clients of every kind fill no more than the places of their address, and are let go', async () => {
  await proveSilenceIsBounded(place, {
    perAddressMax: connections.perAddressMax,
    clients: 50,
    withinMs: 30_000,
    async serveAnother() {
      assert.equal(await login(), 200)
    },
  })
})

/** Whether the listener still has the connection that comes from this port, which its client cannot tell unless it reads. */
function isServed(from: number): boolean {
  const isAt = (place: string | undefined, port: number) => parseInt(place?.split(':')[1] ?? '', 16) === port
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .some(([, local, remote, state]) => isAt(local, place.port) && isAt(remote, from) && state === ESTABLISHED)
}

const ESTABLISHED = '01'

test('a client that asks and never reads loses its connection', async () => {
  const socket = connectSecure({ port: place.port, host: '127.0.0.1', rejectUnauthorized: false })
  socket.on('error', () => undefined)
  const { promise, resolve } = Promise.withResolvers<void>()
  socket.on('close', () => resolve())
  socket.pause()
  socket.write(`GET /docs/api/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(50))
  await once(socket, 'secureConnect')
  while (isServed(socket.localPort ?? 0)) await wait(20)
  socket.resume()
  await promise
  assert.ok(socket.bytesRead < 50 * 100_000, 'not all answers were made for it')
})

test('a request that can be read in two ways is refused, and its connection closed', async () => {
  const cases: [string, string, RegExp][] = [
    ['two hosts', 'GET /api/cluster HTTP/1.1\nHost: a\nHost: b', /^HTTP\/1\.1 400 .*one Host header/s],
    ['two equal hosts', 'GET /livez HTTP/1.1\nHost: a\nHost: a', /^HTTP\/1\.1 400 /],
    ['no host', 'GET /livez HTTP/1.1', /^HTTP\/1\.1 400 .*has a Host header/s],
    ['too many headers', `GET /livez HTTP/1.1\nHost: a\n${'x: y\n'.repeat(headersMax)}z: z`, /^HTTP\/1\.1 400 /],
    ['too long headers', `GET /livez HTTP/1.1\nHost: a\nx: ${'y'.repeat(40_000)}`, /^HTTP\/1\.1 431 /],
    [
      'two lengths',
      `POST /api/svm/svms HTTP/1.1\n${asAdmin}\nContent-Length: 5\nContent-Length: 6`,
      /^HTTP\/1\.1 400 /,
    ],
    [
      'chunks with a length',
      `POST /api/svm/svms HTTP/1.1\n${asAdmin}\nTransfer-Encoding: chunked\nContent-Length: 5`,
      /^HTTP\/1\.1 400 /,
    ],
    ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\nHost: example.com:443', /^HTTP\/1\.1 405 /],
    ['a method that HTTP does not have', 'BREW /api/cluster HTTP/1.1\nHost: a', /^HTTP\/1\.1 400 /],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\n\nSM', /^HTTP\/1\.1 400 /],
    ['a folded header', 'GET /livez HTTP/1.1\nHost: a\nx: y\n z', /^HTTP\/1\.1 400 /],
    ['a blank before a colon', 'GET /livez HTTP/1.1\nHost : a', /^HTTP\/1\.1 400 /],
  ]
  for (const [what, head, expected] of cases) {
    const { answer, isClosed } = await say(head)
    assert.match(answer, expected, what)
    assert.match(answer, /"error":/, what)
    assert.ok(isClosed, what)
  }
  const { answer, isClosed } = await exchangeRaw(place, 'GET /livez HTTP/1.1\nHost: a\n\n')
  assert.match(answer, /^HTTP\/1\.1 400 /, 'line feeds alone')
  assert.ok(isClosed)
  assert.equal(await login(), 200)
})

test('old and unusual requests that mean one thing are answered', async () => {
  const last = 'Connection: close'
  const cases: [string, RegExp][] = [
    ['GET /livez HTTP/1.0', /^HTTP\/1\.1 200 /],
    [`GET https://example.com/livez HTTP/1.1\nHost: example.com\n${last}`, /^HTTP\/1\.1 200 /],
    ['GET /livez HTTP/1.1\nHost: a\nConnection: upgrade, close\nUpgrade: h2c', /^HTTP\/1\.1 200 /],
    [`TRACE /api/cluster HTTP/1.1\n${asAdmin}\n${last}`, /^HTTP\/1\.1 405 .*allow: GET/s],
    [`PROPFIND /api/cluster HTTP/1.1\n${asAdmin}\n${last}`, /^HTTP\/1\.1 405 /],
  ]
  for (const [head, expected] of cases) {
    const { answer, isClosed } = await say(head)
    assert.match(answer, expected, head)
    assert.ok(isClosed, head)
  }
})

test('thousands of requests on one connection are answered one after another', async () => {
  const count = 1500
  const { answer } = await exchangeRaw(
    place,
    `${`GET /api/cluster HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(count - 1)}GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    60_000,
  )
  assert.equal(answer.split('HTTP/1.1 401 ').length - 1, count - 1)
  assert.match(answer, /\{"status":"live"\}$/)
})

test('a body beyond a small one is read only from those who can log in', async () => {
  const bytes = BODY_BEFORE_LOGIN_BYTES_MAX + 1
  const stranger = await say(`POST /api/svm/svms HTTP/1.1\nHost: x\nContent-Length: ${bytes}`)
  assert.match(stranger.answer, /^HTTP\/1\.1 401 .*"code":"?6691623/s)
  assert.ok(stranger.isClosed)
  const chunked = await say('POST /api/svm/svms HTTP/1.1\nHost: x\nTransfer-Encoding: chunked', 'ffff\r\n')
  assert.match(chunked.answer, /^HTTP\/1\.1 401 /)
  const name = `{"name":"${'x'.repeat(bytes)}"}`
  const known = await say(
    `POST /api/svm/svms HTTP/1.1\n${asAdmin}\nConnection: close\nContent-Length: ${name.length}`,
    name,
  )
  assert.match(known.answer, /^HTTP\/1\.1 4(00|22) /)
})

test('TLS is spoken with authenticated ciphers of versions 1.2 and 1.3 alone', async () => {
  const meet = (options: object) =>
    new Promise<string>((resolve) => {
      const socket = connectSecure(
        { port: place.port, host: '127.0.0.1', rejectUnauthorized: false, ...options },
        () => {
          resolve(`${socket.getProtocol()} ${socket.getCipher().name}`)
          socket.destroy()
        },
      )
      socket.on('error', () => resolve('refused'))
    })
  assert.match(await meet({}), /^TLSv1\.3 /)
  assert.match(await meet({ maxVersion: 'TLSv1.2' }), /^TLSv1\.2 ECDHE-ECDSA-.*(GCM|POLY1305)/)
  for (const ciphers of [
    'ECDHE-ECDSA-AES128-SHA256',
    'ECDHE-ECDSA-AES256-SHA384',
    'ECDHE-ECDSA-AES128-SHA',
    'AES128-GCM-SHA256',
  ]) {
    assert.equal(await meet({ maxVersion: 'TLSv1.2', ciphers: `${ciphers}:@SECLEVEL=0` }), 'refused', ciphers)
  }
  assert.equal(await meet({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }), 'refused')
})

test('an error is small, whatever the request was', async () => {
  const long = 'x'.repeat(14_000)
  const cases = [
    `GET /api/${long}`,
    `GET /api/cluster?fields=${long}`,
    `GET /api/svm/svms?${long}=1`,
    `GET /api/svm/svms?order_by=${long}`,
    `GET /api/svm/svms/${long}`,
    `DELETE /api/storage/volumes/${long}`,
  ]
  for (const line of cases) {
    const { answer } = await say(`${line} HTTP/1.1\n${asAdmin}\nConnection: close`)
    assert.match(answer, /^HTTP\/1\.1 4\d\d /, line.slice(0, 40))
    assert.ok(answer.length < 3 * ERROR_CHARACTERS_MAX, `${line.slice(0, 40)}: ${answer.length}`)
  }
  for (const body of [`{"${long}":1}`, `{"name":"${long}"}`, `{"aggregates":[{"name":"${long}"}],"name":"a"}`]) {
    const { answer } = await say(
      `POST /api/svm/svms HTTP/1.1\n${asAdmin}\nConnection: close\nContent-Length: ${body.length}`,
      body,
    )
    assert.match(answer, /^HTTP\/1\.1 4\d\d /)
    assert.ok(answer.length < 3 * ERROR_CHARACTERS_MAX, `${body.slice(0, 20)}: ${answer.length}`)
  }
})

test('a client that sends all of a body that is too large reads why it was refused', async () => {
  for (const [credentials, status] of [
    [ADMIN, 413],
    ['Basic bm9ib2R5Om5vYm9keQ==', 401],
  ] as const) {
    const bytes = 3 * 2 ** 20
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connectSecure({ port: place.port, host: '127.0.0.1', rejectUnauthorized: false })
      const head = `POST /api/svm/svms HTTP/1.1\r\nHost: x\r\nAuthorization: ${credentials}\r\nContent-Length: ${bytes}\r\n\r\n`
      let read = ''
      socket.on('error', reject)
      socket.on('close', () => resolve(read))
      // Nothing is read before all was sent.
      socket.pause()
      const piece = Buffer.alloc(2 ** 16, 'x')
      const send = (left: number) => {
        if (left > 0) setTimeout(() => socket.write(piece, () => send(left - piece.length)), 2)
        else socket.on('data', (given) => (read += given.toString())).resume()
      }
      socket.write(head, () => send(bytes))
    })
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `))
  }
})
