/**
 * The memory of the whole product, summed over its processes as proportional set size: idle, under many connections, under
 * large uploads and downloads, under readers of large collections, and after each.
 *
 *     node_modules/.bin/node bench/memory.ts [--only idle,silent,…] [--mib 400] [--size-mib 64] [--clients 64] [--workers 2]
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { Agent, request as secureRequest } from 'node:https'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type MemorySample, memoryOf, MemoryWatch } from '../test/support/memory-samples.ts'
import { startProduct } from '../test/support/product.ts'
import { silentConnections, TransferClient } from '../test/support/transfer-client.ts'

const MIB = 2 ** 20
const CONNECTIONS = 1000
const SLOW_BYTES_PER_SECOND = 4 * MIB
/** What is over is looked at when it has been over for so long. */
const SETTLED_MS = 15_000
const RECORDS = 1000
const READERS = 16

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    mib: { type: 'string' },
    set: { type: 'string', multiple: true },
    'size-mib': { type: 'string', default: '64' },
    clients: { type: 'string', default: '64' },
    workers: { type: 'string', default: String(availableParallelism()) },
  },
})
const only = flags.only?.split(',')
const bytes = Number(flags['size-mib']) * MIB
const clients = Number(flags.clients)

const root = join(import.meta.dirname, '..')
mkdirSync(join(root, '.tmp'), { recursive: true })
const folder = mkdtempSync(join(root, '.tmp', 'memory-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
const options = {
  folder: join(folder, 'data'),
  program: join(root, 'bin', 'launch.mjs'),
  environment: {
    HOLDFAST_WORKERS: flags.workers,
    ...(flags.mib === undefined ? {} : { HOLDFAST_MEMORY_MIB: flags.mib }),
    ...Object.fromEntries((flags.set ?? []).map((one) => one.split(/=(.*)/s, 2))),
  },
}
// The first start compiles what later ones read, and keeps some of what that took.
await (await startProduct(options)).stop({ keepFolder: true })
const product = await startProduct(options)
const plain = new TransferClient(product, false)
const secure = new TransferClient(product, true)
await plain.send('PUT', '/memory')

const objects = Array.from({ length: clients }, (_, at) => at)
const scenes: Readonly<Record<string, () => Promise<string | undefined>>> = {
  async idle() {
    await wait(SETTLED_MS)
    return undefined
  },
  async silent() {
    const places = [product.s3 ?? '', product.s3Http ?? '', product.management]
    const sockets = await silentConnections(places, CONNECTIONS)
    await wait(2000)
    for (const socket of sockets) socket.destroy()
    return undefined
  },
  active: () => active(secure),
  puts: () => upload(plain, 'plain'),
  'puts over TLS': () => upload(secure, 'tls'),
  parts: () => upload(secure, 'parts', true),
  async gets() {
    const right = await Promise.all(objects.map((at) => secure.get(`/memory/plain-${at}`, at, bytes)))
    return right.every(Boolean) ? undefined : 'wrong bytes'
  },
  async 'slow gets'() {
    const right = await Promise.all(
      objects.map((at) => plain.get(`/memory/plain-${at}`, at, bytes, SLOW_BYTES_PER_SECOND)),
    )
    return right.every(Boolean) ? undefined : 'wrong bytes'
  },
  collections,
}

say('MiB: total, of it main, writer, workers; after it')
for (const [name, act] of Object.entries(scenes)) {
  if (only !== undefined && !only.includes(name)) continue
  const watch = new MemoryWatch(product.pid)
  const startedMs = performance.now()
  const problem = await act()
  const seconds = (performance.now() - startedMs) / 1000
  const most = watch.stop()
  if (name !== 'idle') await wait(SETTLED_MS)
  say(`${name}: ${tell(most)}; after it ${tell(memoryOf(product.pid))}; ${seconds.toFixed(0)} s${problem ?? ''}`)
}
if (plain.slowDowns + secure.slowDowns > 0) say(`${plain.slowDowns + secure.slowDowns} answers were SlowDown`)
await product.stop()
process.exit()

async function upload(client: TransferClient, name: string, inParts = false): Promise<string | undefined> {
  const answers = await Promise.all(
    objects.map((at) => {
      const path = `/memory/${name}-${at}`
      return inParts ? client.putInParts(path, at, bytes) : client.put(path, at, bytes)
    }),
  )
  const bad = answers.filter(({ status }) => status !== 200)
  return bad.length === 0 ? undefined : ` ${bad.length} failed: ${bad[0]?.status} ${bad[0]?.body}`
}

/** So many connections, each with requests of small objects. */
async function active(client: TransferClient): Promise<string | undefined> {
  const answers = await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, at) => {
      const put = await client.put(`/memory/small-${at}`, at, 32 * 1024)
      await client.send('GET', `/memory/small-${at}`)
      return put
    }),
  )
  const bad = answers.filter(({ status }) => status !== 200)
  return bad.length === 0 ? undefined : ` ${bad.length} failed: ${bad[0]?.status} ${bad[0]?.body}`
}

/** Many long records of one type, and readers who ask for all of them at the same time. */
async function collections(): Promise<string | undefined> {
  const agent = new Agent({ keepAlive: true, maxSockets: READERS, rejectUnauthorized: false })
  const call = (method: string, path: string, body?: object) =>
    new Promise<{ status: number; bytes: number }>((resolve, reject) => {
      const authorization = `Basic ${Buffer.from(`${product.user}:${product.password}`).toString('base64')}`
      const request = secureRequest(new URL(path, product.management), { method, agent, headers: { authorization } })
      request.on('error', reject)
      request.on('response', (response) => {
        let size = 0
        response.on('data', (chunk: Buffer) => (size += chunk.length))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes: size }))
      })
      request.end(body === undefined ? '' : JSON.stringify(body))
    })
  const names = Array.from({ length: RECORDS }, (_, at) => at)
  const writers = Array.from({ length: READERS }, async () => {
    for (let at = names.pop(); at !== undefined; at = names.pop()) {
      const rules = Array.from({ length: 8 }, (_, n) => ({
        clients: [{ match: `192.0.${n}.0/24` }],
        ro_rule: ['sys'],
        rw_rule: ['sys'],
      }))
      await call('POST', '/api/protocols/nfs/export-policies', { name: `p${at}`, svm: { name: 'svm1' }, rules })
    }
  })
  await Promise.all(writers)
  const path = '/api/protocols/nfs/export-policies?fields=**&max_records=10000'
  const answers = await Promise.all(Array.from({ length: 4 * READERS }, () => call('GET', path)))
  const log = '/api/security/audit/messages?fields=**&max_records=10000'
  answers.push(...(await Promise.all(Array.from({ length: 4 * READERS }, () => call('GET', log)))))
  agent.destroy()
  const bad = answers.filter(({ status }) => status !== 200)
  return bad.length === 0 ? ` ${answers.at(-1)?.bytes} bytes` : ` ${bad.length} failed: ${bad[0]?.status}`
}

function tell({ totalMib, parts }: MemorySample): string {
  const each = Object.entries(parts).map(([part, mib]) => `${part} ${Math.round(mib)}`)
  return `${Math.round(totalMib)} (${each.join(', ')})`
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
