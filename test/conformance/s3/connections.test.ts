/** Operations: HTTP of all operations. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectPlain } from 'node:net'
import { connect as connectSecure } from 'node:tls'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Connection, fails, succeeds, type Request } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
/** Only a server that does not close makes a test wait so long. */
const SILENCE_MS_MAX = 30_000

interface Talk extends Request {
  readonly body: Buffer
  /** Closes the sending side after the body. */
  readonly isEnded?: boolean
}

/** Sends the head of a request, and its body only when asked to continue. What came back, from the first byte on. */
async function talk(method: string, request: Talk): Promise<string> {
  const connection = new Connection(s3.settings)
  const { path, headers, body } = connection.prepare(method, request)
  connection.close()
  const { protocol, hostname, port } = new URL(s3.settings.url)
  const at = { host: hostname, port: Number(port === '' ? (protocol === 'https:' ? 443 : 80) : port) }
  const isSecure = protocol === 'https:'
  const socket = isSecure ? connectSecure({ ...at, rejectUnauthorized: !s3.settings.isInsecure }) : connectPlain(at)
  await once(socket, isSecure ? 'secureConnect' : 'connect')
  const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  let answer = ''
  socket.on('data', (piece: Buffer) => {
    if (answer === '' && piece.toString('latin1').startsWith('HTTP/1.1 100'))
      socket.write(body, () => request.isEnded === true && socket.end())
    answer += piece.toString('latin1')
  })
  await Promise.race([once(socket, 'close'), wait(SILENCE_MS_MAX, undefined, { ref: false })])
  socket.destroy()
  return answer
}

test('100 Continue comes when allowed; 403 at once, without the body, when not [expect-100]', async () => {
  const bucket = await s3.bucket()
  const request = { bucket: bucket.name, key: 'key', body: Buffer.from('hello'), headers: { expect: '100-continue' } }
  const allowed = await talk('PUT', request)
  assert.match(allowed, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /)
  assert.equal((await bucket.get('key')).text, 'hello')
  const refused = await talk('PUT', { ...request, signing: 'anonymous' })
  assert.match(refused, /^HTTP\/1\.1 403 /)
})

test('a body that ends too early is not stored', async () => {
  const bucket = await s3.bucket()
  const headers = { 'content-length': '100', expect: '100-continue' }
  const request = { bucket: bucket.name, key: 'key', body: Buffer.from('hello'), headers, isEnded: true }
  const answer = await talk('PUT', { ...request, signing: 'unsigned' })
  assert.doesNotMatch(answer, /HTTP\/1\.1 200/)
  await fails(bucket.head('key'), 404)
})

test('an expectation that is none changes nothing', async () => {
  const bucket = await s3.bucket()
  for (const expect of ['200', '']) {
    await succeeds(bucket.put('key', `with ${expect}`, { expect }))
    assert.equal((await bucket.get('key')).text, `with ${expect}`)
  }
})

test('a connection goes on after an error', async () => {
  const bucket = await s3.bucket()
  const connection = new Connection(s3.settings)
  for (let round = 0; round < 5; round += 1) {
    const request = { bucket: s3.freshName(), key: 'key', body: Buffer.alloc(10_000) }
    await fails(connection.send('PUT', request), 404, 'NoSuchBucket')
    await succeeds(connection.send('GET', { bucket: bucket.name }))
  }
  connection.close()
})

test('a Content-Length that is no number answers 400', async () => {
  const bucket = await s3.bucket()
  const headers = { 'content-length': 'many' }
  const answer = await talk('PUT', { bucket: bucket.name, key: 'key', body: Buffer.alloc(0), headers })
  assert.match(answer, /^HTTP\/1\.1 400 /)
})

const { domain } = s3.settings
const lacksDomain = domain === undefined && 'the settings name no domain that buckets are addressed below'

test('buckets are addressed in the host as well as in the path', { skip: lacksDomain }, async () => {
  const bucket = await s3.bucket()
  await bucket.hold('a/b', 'x')
  for (const suffix of ['', ':8080', '.']) {
    const host = `${bucket.name}.${domain?.replace(/:\d+$/, '')}${suffix}`
    const request = { key: 'a/b', host }
    assert.equal((await succeeds(s3.call('GET', { ...request, rawPath: '/a/b' }))).text, 'x', host)
  }
})
