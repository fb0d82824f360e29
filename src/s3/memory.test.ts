/** Many bodies at the same time with the least memory that a process may have: they wait for each other, and all end. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { divideMemory, memoryMibMin } from '../core/memory-budget.ts'
import { Tally } from '../engines/directory/tally.ts'
import { DirectoryVolumes } from '../engines/directory/volumes.ts'
import { startTestPlane, type TestPlane } from './test-plane.ts'

const KIB = 1024
const BODY_BYTES = 200 * KIB
/** More than the sockets of both sides take. */
const LARGE_BYTES = 8 * 1024 * KIB
/** With twice as many of these, up and down at once, and twice as many that stall: fewer than a process lets in. */
const MOVING = 100
const STALLED = 20

const { collectEveryBytes: _often, ...bounds } = divideMemory(memoryMibMin(1), 1).worker
const gathered = new Tally(bounds.gatheredBytesMax)
let t: TestPlane
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-memory-'))
  t = await startTestPlane({ memory: bounds, volumes: new DirectoryVolumes(folder, undefined, { gathered }) })
  const resources = ['open-bucket', 'open-bucket/*']
  await t.addBucket('open-bucket', { statements: [{ effect: 'allow', principals: ['*'], actions: ['*'], resources }] })
})
after(async () => {
  await t.close()
  await rm(folder, { recursive: true })
})

const bodyOf = (n: number, bytes = BODY_BYTES): Buffer => Buffer.alloc(bytes, `body ${n} `)

function begin(method: string, key: string, bytes = 0): ClientRequest {
  const headers = method === 'PUT' ? { 'content-length': String(bytes) } : {}
  return request(new URL(`/open-bucket/${key}`, t.url), { method, headers, agent: false })
}

async function answerTo(sent: ClientRequest): Promise<{ readonly status: number; readonly body: Buffer }> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const pieces: Buffer[] = []
  for await (const piece of response as AsyncIterable<Buffer>) pieces.push(piece)
  return { status: response.statusCode ?? 0, body: Buffer.concat(pieces) }
}

async function put(key: string, body: Buffer): Promise<number> {
  const sent = begin('PUT', key, body.length)
  sent.end(body)
  return (await answerTo(sent)).status
}

async function get(key: string): Promise<Buffer> {
  const sent = begin('GET', key)
  sent.end()
  return (await answerTo(sent)).body
}

/** Sends some bytes of an upload, and then nothing. */
function stalledUpload(n: number): Socket {
  const { hostname, port } = new URL(t.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  socket.write(`PUT /open-bucket/stalled-${n} HTTP/1.1\r\nHost: a\r\nContent-Length: ${LARGE_BYTES}\r\n\r\n`)
  socket.write(bodyOf(n, 300 * KIB))
  return socket
}

/** Asks for an object, and does not read it. */
function stalledDownload(key: string): Socket {
  const { hostname, port } = new URL(t.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  socket.pause()
  socket.write(`GET /open-bucket/${key} HTTP/1.1\r\nHost: a\r\n\r\n`)
  return socket
}

void describe('with the least memory that a process may have', () => {
  void it('two hundred uploads and downloads end whole beside clients that stall', async () => {
    assert.equal(await put('large', bodyOf(0, LARGE_BYTES)), 200)
    const stalled: Socket[] = []
    try {
      for (let n = 0; n < STALLED; n++) stalled.push(stalledUpload(n), stalledDownload('large'))
      const numbers = Array.from({ length: MOVING }, (_, n) => n)
      const statuses = await Promise.all(numbers.map((n) => put(`moving-${n}`, bodyOf(n))))
      assert.deepEqual(new Set(statuses), new Set([200]))
      const both = await Promise.all(
        numbers.map(async (n) => {
          const [status, body] = await Promise.all([put(`again-${n}`, bodyOf(n)), get(`moving-${n}`)])
          return body.equals(bodyOf(n))
            ? status
            : `${status}, but of the other ${body.length} bytes: ${body.toString('latin1', 0, 200)}`
        }),
      )
      assert.deepEqual(new Set(both), new Set([200]))
      assert.deepEqual(await get(`again-${MOVING - 1}`), bodyOf(MOVING - 1))
    } finally {
      for (const socket of stalled) socket.destroy()
    }
  })

  void it('clients beyond the bound are asked to slow down, and are served when others have ended', async () => {
    const { openBytesMax } = bounds
    const others = Array.from({ length: openBytesMax / (64 * KIB) }, (_, n) => stalledUpload(n))
    try {
      const sent = async () => {
        const asked = begin('PUT', 'beyond', BODY_BYTES)
        asked.on('error', () => undefined)
        asked.setHeader('expect', '100-continue')
        asked.on('continue', () => asked.end(bodyOf(1)))
        asked.flushHeaders()
        const { status, body } = await answerTo(asked)
        asked.destroy()
        return `${status} ${/<Code>(\w+)/.exec(body.toString())?.[1] ?? ''}`
      }
      let answer = ''
      while (answer !== '503 SlowDown') answer = await sent()
      for (const socket of others) socket.destroy()
      while (answer !== '200 ') answer = await sent()
      assert.deepEqual(await get('beyond'), bodyOf(1))
    } finally {
      for (const socket of others) socket.destroy()
    }
  })
})
