import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request as ask, type ClientRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { BodyReader } from './body-reader.ts'
import { PieceBuffers } from '../objects/piece-buffers.ts'

const BLOCK = 64 * 1024

/** Sends a body and gives what `read` makes of it on the other side. */
async function received<Result>(
  body: Buffer,
  read: (request: IncomingMessage) => Promise<Result>,
  send: (sent: ClientRequest) => void = (sent) => void sent.end(body),
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  const server = createServer((request, response) => {
    read(request)
      .then(resolve, reject)
      .finally(() => response.end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = server.address() as AddressInfo
    const sent = ask({
      port,
      host: '127.0.0.1',
      method: 'PUT',
      agent: false,
      headers: { 'content-length': body.length },
    })
    sent.on('error', () => undefined)
    send(sent)
    const result = await promise
    sent.destroy()
    return result
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

const md5 = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex')

void describe('the body of a request', () => {
  for (const size of [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 ** 20, 5 * 2 ** 20 + 77]) {
    for (const how of ['gathered', 'with all buffers lent', 'not gathered'] as const) {
      void it(`of ${size} bytes arrives whole and in order, ${how}`, async () => {
        const buffers = PieceBuffers.forBodies(2 ** 20)
        if (how === 'with all buffers lent') while (!buffers.isShort) buffers.take()
        const body = randomBytes(size)
        const came: Buffer[] = []
        const lengths: number[] = []
        let told = 0
        await received(body, async (request) => {
          const reader = new BodyReader(request, {
            buffers: how === 'not gathered' ? undefined : buffers,
            expectedBytes: size,
            onPiece: (bytes) => (told += bytes),
          })
          for (let piece = await reader.next(); piece !== undefined; piece = await reader.next()) {
            lengths.push(piece.length)
            came.push(Buffer.from(piece))
            // Whoever overwrote it now would change what is still to come, were it not its alone.
            buffers.giveBack(piece)
          }
          reader.leave()
        })
        assert.equal(told, size)
        assert.equal(md5(Buffer.concat(came)), md5(body))
        if (how === 'gathered') {
          assert.deepEqual(
            lengths.slice(0, -1).filter((bytes) => bytes % BLOCK !== 0),
            [],
          )
        }
      })
    }
  }

  void it('that breaks off fails for who reads it, who then holds no buffer', async () => {
    const buffers = PieceBuffers.forBodies(1)
    let leave = (): void => undefined
    const message = await received(
      Buffer.alloc(2 ** 20),
      async (request) => {
        const reader = new BodyReader(request, { buffers, expectedBytes: 2 ** 20, onPiece: () => undefined })
        try {
          for (;;) {
            const piece = await reader.next()
            if (piece === undefined) return 'ended'
            buffers.giveBack(piece)
            leave()
          }
        } catch (failure) {
          return (failure as Error).message
        } finally {
          reader.leave()
        }
      },
      (sent) => {
        sent.write(Buffer.alloc(5 * BLOCK))
        leave = () => void sent.destroy()
      },
    )
    assert.match(message, /aborted|closed/)
    assert.equal(buffers.isShort, false)
  })

  void it('fails with what is thrown when a piece comes', async () => {
    const body = Buffer.alloc(1000)
    const message = await received(body, async (request) => {
      const reader = new BodyReader(request, {
        expectedBytes: body.length,
        onPiece() {
          throw new Error('too slow')
        },
      })
      return reader.next().then(
        () => 'came',
        (failure: Error) => failure.message,
      )
    })
    assert.equal(message, 'too slow')
  })
})
