/** Clients of the management interface that break HTTP itself, or do not go on: each is told so, and holds up nobody else. */
import assert from 'node:assert/strict'
import { connect } from 'node:tls'
import { test } from 'node:test'
import { basic } from '../support/cluster.ts'
import { openTargetHere } from './target.ts'

const { api, user, password } = await openTargetHere()

/** Only a server that does not close makes a test wait so long. */
const CLOSED_MS_MAX = 60_000
/** Far below what a body may take, which is what others would have to wait. */
const HELD_UP_MS_MIN = 30_000

test('broken HTTP is 400, closed, and does no harm', async () => {
  const send = (text: string) =>
    new Promise<string>((resolve) => {
      const socket = connect({ host: api.base.hostname, port: Number(api.base.port), rejectUnauthorized: false })
      let received = ''
      socket.on('data', (chunk: Buffer) => (received += chunk.toString()))
      socket.on('error', () => resolve(received))
      socket.on('close', () => resolve(received))
      socket.on('secureConnect', () => socket.write(text))
      setTimeout(() => socket.destroy(), CLOSED_MS_MAX).unref()
    })
  const head = `Host: x\r\nAuthorization: ${basic(user, password)}\r\n`
  for (const text of [
    'nonsense\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    `POST /api/svm/svms HTTP/1.1\r\n${head}Content-Length: -1\r\n\r\n`,
    `POST /api/svm/svms HTTP/1.1\r\n${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}`,
    `POST /api/svm/svms HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n`,
    `GET /api/cluster HTTP/1.1\r\n${head}X: ${'x'.repeat(40_000)}\r\n\r\n`,
    `GET /api/\u0001 HTTP/1.1\r\n${head}\r\n`,
  ]) {
    const received = await send(text)
    assert.match(received, /^HTTP\/1\.1 4\d\d /, `${text.slice(0, 60)}: ${received.slice(0, 200)}`)
    assert.match(received, /"error":\{"message"/, text.slice(0, 60))
  }
  assert.equal((await api.get('/api/cluster')).status, 200)
})

test('bodies that come slowly, or stop, hold up nobody else', async () => {
  const sockets = Array.from({ length: 20 }, () => {
    const socket = connect({ host: api.base.hostname, port: Number(api.base.port), rejectUnauthorized: false })
    socket.on('error', () => undefined)
    socket.write(
      `POST /api/svm/svms HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic(user, password)}\r\nContent-Length: 100\r\n\r\n{"na`,
    )
    return socket
  })
  const begun = performance.now()
  for (let at = 0; at < 20; at++) assert.equal((await api.get('/api/cluster')).status, 200)
  assert.ok(performance.now() - begun < HELD_UP_MS_MIN)
  for (const socket of sockets) socket.destroy()
})
