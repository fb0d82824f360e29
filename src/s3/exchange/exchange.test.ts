import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '../../ports/system.ts'
import { Exchange } from './exchange.ts'
import { Transfers } from '../body/transfers.ts'

const clock: Clock = {
  now: () => 0,
  elapsed: () => 0,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      setTimeout(resolve, ms).unref()
      signal?.addEventListener('abort', () => resolve())
    }),
}

test('a body that stops coming is answered, and whoever reads it gets an error', async (t) => {
  const failures: unknown[] = []
  const server = createServer((request, response) => {
    // Not before the request is there: on a busy machine its head may take longer.
    request.socket.setTimeout(50)
    const exchange: Exchange = new Exchange(request, response, {
      clock,
      transfers: new Transfers(),
      awaitsContinue: false,
      isClosing: () => false,
      onSilence: () => exchange.send(400, { Connection: 'close' }, 'too slow'),
    })
    void (async () => {
      try {
        for await (const piece of exchange.body()) assert.ok(piece.length > 0)
      } catch (failure) {
        failures.push((failure as { code: string }).code)
      }
    })()
  })
  server.listen(0, '127.0.0.1')
  // Also when it fails: a server that listens keeps its process from ending.
  t.after(() => server.close())
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('PUT /x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc')
  let answer = ''
  socket.on('data', (piece) => {
    answer += piece.toString()
  })
  await once(socket, 'close')
  assert.match(answer, /^HTTP\/1\.1 400 .*too slow$/s)
  assert.deepEqual(failures, ['RequestTimeout'])
})

test('silence that is ours ends nothing, whichever way the bytes go, and that of the client still does', async (t) => {
  /** The exchange that is on. */
  let on: { goOn: () => void; silences: number; socket: Socket } | undefined
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await wait(10)
  }
  /** Waits until Node has found the connection silent again and again. */
  const held = () => until(() => (on?.silences ?? 0) >= 3)
  const release = (): void => {
    on?.goOn()
    on = undefined
  }
  const failures: unknown[] = []
  const server = createServer((request, response) => {
    const { socket } = request
    // Not before the request is there: on a busy machine its head may take longer.
    socket.setTimeout(50)
    const exchange: Exchange = new Exchange(request, response, {
      clock,
      transfers: new Transfers(),
      awaitsContinue: false,
      isClosing: () => false,
      onSilence: () => exchange.send(400, { Connection: 'close' }, 'too slow'),
    })
    const { promise: released, resolve: goOn } = Promise.withResolvers<void>()
    const begun = { goOn, silences: 0, socket }
    on = begun
    socket.on('timeout', () => begun.silences++)
    async function* bytes(): AsyncGenerator<Buffer, undefined> {
      yield Buffer.from('first')
      await released
      yield Buffer.from('second')
    }
    void (async () => {
      try {
        if (request.method === 'GET') return await exchange.send(200, {}, { sizeBytes: 11, bytes: bytes() })
        for await (const _ of exchange.body()) await released
        await exchange.send(200, { Connection: 'close' }, 'stored')
      } catch (failure) {
        failures.push((failure as { code: string }).code)
      }
    })()
  })
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const open = (text: string): { socket: Socket; answer: () => string } => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    let answer = ''
    socket.on('data', (piece) => (answer += piece.toString()))
    socket.write(text)
    return { socket, answer: () => answer }
  }
  const put = 'PUT /x HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc'

  const reader = open('GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  await held()
  release()
  await once(reader.socket, 'close')
  assert.match(reader.answer(), /^HTTP\/1\.1 200 .*firstsecond$/s)

  const writer = open(put)
  await held()
  assert.equal(writer.answer(), '')
  // The silence is that of the client once its bytes are looked for: they have to be there.
  const before = on?.socket.bytesRead ?? 0
  writer.socket.write('def')
  await until(() => (on?.socket.bytesRead ?? 0) > before)
  release()
  await once(writer.socket, 'close')
  assert.match(writer.answer(), /^HTTP\/1\.1 200 .*stored$/s)

  const silent = open(put)
  await held()
  assert.equal(silent.answer(), '')
  release()
  await once(silent.socket, 'close')
  assert.match(silent.answer(), /^HTTP\/1\.1 400 .*too slow$/s)
  assert.deepEqual(failures, ['RequestTimeout'])
})
