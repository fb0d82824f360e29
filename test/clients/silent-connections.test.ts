/** Thousands of silent clients of each kind, against the whole product: others are served, and nothing is kept of them. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:https'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startProduct } from '../support/product.ts'
import { SILENT_KINDS, SilentClient } from '../support/silent-clients.ts'
import { basic } from '../support/cluster.ts'
import { canSeeProcesses, pidsOf, until } from './processes.ts'
import { reasonUnlessWhole } from './programs.ts'

/** More than the management port has places. */
const CLIENTS = 4200
const MORE_FILES_MAX = 20
const MORE_BYTES_MAX = 80 * 2 ** 20

const skip = canSeeProcesses
  ? reasonUnlessWhole('src/faces/rest/server.test.ts')
  : 'processes can be found on Linux only'

test('thousands of silent clients shut nobody out, and are forgotten', { skip, timeout: 600_000 }, async () => {
  const product = await startProduct()
  const held = (pid: number) => ({
    files: readdirSync(`/proc/${pid}/fd`).length,
    bytes: 4096 * Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]),
  })
  const get = (place: string, path: string) =>
    new Promise<number>((resolve, reject) => {
      const { hostname: host, port } = new URL(place)
      const headers = { authorization: basic(product.user, product.password) }
      const options = { host, port, path, headers, localAddress: '127.0.0.2', rejectUnauthorized: false, agent: false }
      const sent = request(options, (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
      })
      sent.on('error', reject)
      sent.end()
    })
  const clients: SilentClient[] = []
  const attack = async (place: string, serve: () => Promise<number>) => {
    const at = { port: Number(new URL(place).port), isSecure: true }
    for (let made = 0; made < CLIENTS; made++) {
      clients.push(new SilentClient(at, SILENT_KINDS[made % SILENT_KINDS.length] ?? 'silent', '127.0.0.1'))
      if (made % 100 === 0) await wait(20)
    }
    assert.ok((await serve()) < 500, 'while they are there')
    await until('all are let go', () => clients.every(({ isLetGo }) => isLetGo))
    assert.ok((await serve()) < 500, 'afterwards')
    for (const { socket } of clients.splice(0)) socket.destroy()
  }
  try {
    const [worker = 0] = pidsOf(product, 'worker')
    for (const [place, path, pid, waves] of [
      // The allocator keeps what the first wave took; the second wave takes it again.
      [product.management, '/api/cluster', product.pid, 2],
      [product.s3 ?? '', '/livez', worker, 1],
    ] as const) {
      assert.ok((await get(place, path)) < 500)
      const { files } = held(pid)
      const bytes: number[] = []
      for (let wave = 0; wave < waves; wave++) {
        await attack(place, () => get(place, path))
        await until('their files are free', () => held(pid).files <= files + MORE_FILES_MAX)
        bytes.push(held(pid).bytes)
      }
      const more = (bytes.at(-1) ?? 0) - (bytes[0] ?? 0)
      assert.ok(more < MORE_BYTES_MAX, `${Math.round(more / 2 ** 20)} MiB more in the second wave`)
    }
  } finally {
    for (const { socket } of clients) socket.destroy()
    await product.stop()
  }
})
