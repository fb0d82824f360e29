/**
 * What compression and deduplication save of a real tree, and what they cost. The product as it is started by anyone, with
 * a bucket for each way to store; each gets the same bodies, turn by turn, so that the machine's moods meet all alike:
 *
 *     sources    files of `node_modules`: code, documents, some programs
 *     copies     some of the same files once more, as backups have them
 *     logs       lines of a web server
 *     packed     what is compressed already
 *
 * Saved is what the files take from the disk (`du`), beside what the volume says. Costs are ratios to the bucket without.
 *
 *     node_modules/.bin/node bench/efficiency.ts [--mib 16] [--workers 2]
 */
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { unsignedPayload } from '../src/s3/auth/payload.ts'
import { sign } from '../src/s3/auth/sign.ts'
import { asNumber, asText, recordsOf, type Body } from '../test/support/body.ts'
import { startProduct } from '../test/support/product.ts'
import { RestClient } from '../test/support/rest-client.ts'

const MIB = 2 ** 20
const CLIENTS = 4
const RANGE_BYTES = 4096
const RANGES = 200
const SOURCES_MAX = 400

const { values } = parseArgs({
  options: {
    mib: { type: 'string', default: '16' },
    workers: { type: 'string', default: String(Math.max(2, availableParallelism())) },
  },
})
const treeBytes = Number(values.mib) * MIB

interface File {
  readonly kind: string
  readonly name: string
  readonly bytes: Buffer
}

const WAYS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  off: {},
  compressed: { compression: 'inline' },
  shared: { dedupe: 'inline' },
  both: { compression: 'inline', dedupe: 'inline' },
  background: { compression: 'background', dedupe: 'background' },
}
const ways = Object.keys(WAYS)

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const files = mixedTree()
const product = await startProduct({ environment: { HOLDFAST_WORKERS: values.workers } })
const password = Buffer.from(`${product.user}:${product.password}`).toString('base64')
const rest = new RestClient(product.management, `Basic ${password}`)
const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
try {
  const volumes = await makeBuckets()
  const putMs = await inTurns((way, file) => send(way, 'PUT', file))
  const aFile = files.toSorted((a, b) => b.bytes.length - a.bytes.length).slice(0, 20)
  const runSeconds = await run(volumes['background'] ?? '')
  const getMs = await inTurns((way, file) => send(way, 'GET', file))
  const rangeMs = await timed((way, n) => send(way, 'GET', aFile[n % aFile.length] as File, rangeOf(aFile, n)))

  const whole = files.reduce((sum, { bytes }) => sum + bytes.length, 0)
  say(`${files.length} bodies, ${mib(whole)} MiB, ${values.workers} workers, ${CLIENTS} clients`)
  say('')
  say('                used      du   saved: by compression  by sharing     PUT     GET   4 KiB')
  const off = du(volumes['off'] ?? '')
  for (const way of ways) {
    const { body } = await rest.get(`/api/storage/volumes/${volumes[way] ?? ''}?fields=space,efficiency`)
    const saved = body['efficiency']?.['space_savings']
    const cells = [
      mib(asNumber(body['space']?.['used'])),
      mib(du(volumes[way] ?? '')),
      `${Math.round((1 - du(volumes[way] ?? '') / off) * 100)} %`,
      `${asNumber(saved?.['compression_percent'])} %`,
      `${asNumber(saved?.['dedupe_percent'])} %`,
      ...[putMs, getMs, rangeMs].map((ms) => ((ms[way] ?? 0) / (ms['off'] ?? 1)).toFixed(2)),
    ]
    const widths = [9, 8, 8, 15, 12, 8, 8, 8]
    say(way.padEnd(11) + cells.map((cell, at) => cell.padStart(widths[at] ?? 8)).join(''))
  }
  say('')
  say(`the run in the background: ${runSeconds.toFixed(1)} s, ${mib(whole / runSeconds)} MiB/s`)
  for (const kind of new Set(files.map((file) => file.kind))) {
    const some = files.filter((file) => file.kind === kind)
    say(
      `  ${kind.padEnd(9)}${String(some.length).padStart(6)} bodies, ${mib(some.reduce((sum, { bytes }) => sum + bytes.length, 0))} MiB`,
    )
  }
} finally {
  agent.destroy()
  rest.close()
  await product.stop()
}

function mixedTree(): File[] {
  const tree = join(root, 'node_modules')
  const sources: File[] = []
  let left = treeBytes / 2
  // By the digests of their names: a part of everything, the same each time.
  const names = readdirSync(tree, { recursive: true, encoding: 'utf8' }).toSorted((a, b) =>
    spread(a) < spread(b) ? -1 : 1,
  )
  for (const name of names) {
    const { size } = statSync(join(tree, name))
    if (!statSync(join(tree, name)).isFile() || size > treeBytes / 8) continue
    if ((left -= size) < 0 || sources.length >= SOURCES_MAX) break
    sources.push({ kind: 'sources', name: `sources/${name}`, bytes: readFileSync(join(tree, name)) })
  }
  const copies = sources
    .filter((_, at) => at % 3 === 0)
    .map(({ name, bytes }) => ({ kind: 'copies', name: `copies/${name}`, bytes }))
  const logs = Array.from({ length: 6 }, (_, n) => ({ kind: 'logs', name: `logs/${n}`, bytes: logOf(treeBytes / 32) }))
  const packed = logs.slice(0, 3).flatMap(({ bytes }, n) => [
    { kind: 'packed', name: `packed/${n}.gz`, bytes: gzipSync(bytes) },
    { kind: 'packed', name: `packed/${n}.jpg`, bytes: randomBytes(treeBytes / 32) },
  ])
  return [...sources, ...copies, ...logs, ...packed]
}

function spread(name: string): string {
  return createHash('md5').update(name).digest('hex')
}

function logOf(sizeBytes: number): Buffer {
  const lines: string[] = []
  for (let length = 0; length < sizeBytes;) {
    const [a = 0, b = 0, c = 0, d = 0, ...rest] = randomBytes(8)
    const time = new Date(1.79e12 + lines.length * 137).toISOString()
    const line = `192.0.${a % 8}.${b} - - [${time}] "GET /api/item/${c}?page=${d % 10} HTTP/1.1" ${a > 240 ? 404 : 200} ${rest[0] ?? 0}${rest[1] ?? 0} "-" "Mozilla/5.0 (X11; Linux x86_64)"\n`
    length += line.length
    lines.push(line)
  }
  return Buffer.from(lines.join(''))
}

/** A volume with a bucket of the same name for each way; gives the uuids of the volumes. */
async function makeBuckets(): Promise<Record<string, string>> {
  const made: Record<string, string> = {}
  for (const way of ways) {
    const volume = { name: way, svm: 'svm1', size: '10g', 'guarantee.type': 'none', 'snapshot_policy.name': 'none' }
    await ask('POST', '/api/storage/volumes', { ...volume, efficiency: { ...WAYS[way] } })
    made[way] = await uuidOf('/api/storage/volumes', way)
  }
  const server = `/api/protocols/s3/services/${await uuidOf('/api/svm/svms', 'svm1')}`
  await ask('PATCH', server, { data_volumes: ways })
  for (const way of ways) {
    await ask('POST', '/api/protocols/s3/buckets', { name: `way-${way}`, svm: 'svm1', volume: way, size: '1t' })
  }
  return made
}

async function ask(method: string, target: string, body?: unknown): Promise<Body> {
  const reply = await rest.call(method, `${target}?return_timeout=60`, body)
  if (reply.status >= 300) throw new Error(`${method} ${target}: ${reply.status} ${reply.text}`)
  return reply.body
}

async function uuidOf(collection: string, name: string): Promise<string> {
  const { body } = await rest.get(`${collection}?name=${name}&fields=uuid`)
  return asText(recordsOf(body)[0]?.['uuid'])
}

/** All files to or from each bucket, a slice of them at a time and the buckets turn by turn. Milliseconds for each. */
async function inTurns(act: (way: string, file: File) => Promise<void>): Promise<Record<string, number>> {
  const slice = Math.ceil(files.length / 12)
  const spent: Record<string, number> = {}
  const shuffled = files.toSorted((a, b) => (spread(`x${a.name}`) < spread(`x${b.name}`) ? -1 : 1))
  for (let from = 0, turn = 0; from < shuffled.length; from += slice, turn++) {
    for (const way of [...ways.slice(turn % ways.length), ...ways.slice(0, turn % ways.length)]) {
      const queue = shuffled.slice(from, from + slice)
      spent[way] = (spent[way] ?? 0) + (await clients(queue.length, (n) => act(way, queue[n] as File)))
    }
  }
  return spent
}

async function timed(act: (way: string, n: number) => Promise<void>): Promise<Record<string, number>> {
  const spent: Record<string, number> = {}
  for (let turn = 0; turn < 4; turn++) {
    for (const way of ways) spent[way] = (spent[way] ?? 0) + (await clients(RANGES / 4, (n) => act(way, n + turn)))
  }
  return spent
}

async function clients(count: number, act: (n: number) => Promise<void>): Promise<number> {
  let next = 0
  const begunMs = performance.now()
  const client = async () => {
    while (next < count) await act(next++)
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return performance.now() - begunMs
}

function rangeOf(some: readonly File[], n: number): string {
  const { bytes } = some[n % some.length] as File
  const start = ((n * 7919) % Math.max(1, Math.floor(bytes.length / RANGE_BYTES))) * RANGE_BYTES
  return `bytes=${start}-${start + RANGE_BYTES - 1}`
}

async function send(way: string, method: string, file: File, range?: string): Promise<void> {
  const path = `/way-${way}/${encodeURIComponent(file.name).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)}`
  const url = new URL(product.s3Http ?? '')
  const length = method === 'PUT' ? { 'content-length': String(file.bytes.length) } : {}
  const given = { host: url.host, ...length, ...(range === undefined ? {} : { range }) }
  const identity = { accessKey: product.accessKey, secret: product.secretKey, region: 'us-east-1' }
  const { headers } = sign({ method, rawPath: path, headers: given }, identity, new Date(), unsignedPayload)
  const answer = await new Promise<{ status: number; bytes: Buffer }>((resolve, reject) => {
    const sent = request({ agent, hostname: url.hostname, port: url.port, method, path, headers }, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes: Buffer.concat(pieces) }))
    })
    sent.on('error', reject)
    sent.end(method === 'PUT' ? file.bytes : undefined)
  })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${String(answer.bytes)}`)
  if (method === 'PUT') return
  const from = range === undefined ? 0 : Number(/\d+/.exec(range)?.[0])
  const expected = file.bytes.subarray(from, range === undefined ? undefined : from + RANGE_BYTES)
  if (!answer.bytes.equals(expected)) throw new Error(`GET ${path} ${range ?? ''}: other bytes than were put.`)
}

/** A run over the volume, and the seconds it took. */
async function run(volume: string): Promise<number> {
  const begunMs = performance.now()
  await ask('PATCH', `/api/storage/volumes/${volume}`, { 'efficiency.scanner.state': 'active' })
  for (;;) {
    const { body } = await rest.get(`/api/storage/volumes/${volume}?fields=efficiency`)
    const { op_state, last_op_end } = body['efficiency'] ?? {}
    if (asText(op_state) === 'idle' && last_op_end !== undefined) return (performance.now() - begunMs) / 1000
    await wait(100)
  }
}

/** What the disk gives for the files of a volume, each file once. */
function du(volume: string): number {
  const tree = join(product.folder, 'aggr1', 'volumes', volume, 'objects')
  const blocks = new Map<number, number>()
  for (const name of readdirSync(tree, { recursive: true, encoding: 'utf8' })) {
    const found = statSync(join(tree, name))
    if (found.isFile()) blocks.set(found.ino, found.blocks * 512)
  }
  return [...blocks.values()].reduce((sum, bytes) => sum + bytes, 0)
}

function mib(bytes: number): string {
  return (bytes / MIB).toFixed(1)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
