import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { Clock } from '../ports/system.ts'
import { Exchange } from './exchange.ts'

const clock: Clock = {
  now: () => 0,
  elapsed: () => 0,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      setTimeout(resolve, ms).unref()
      signal?.addEventListener('abort', () => resolve())
    }),
}

test('a body that stops coming is answered, and whoever reads it gets an error', async () => {
  const failures: unknown[] = []
  const server = createServer((request, response) => {
    const exchange: Exchange = new Exchange(request, response, {
      clock,
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
  server.setTimeout(50)
  server.listen(0, '127.0.0.1')
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
  server.close()
})
