/**
 * How much memory many large uploads at the same time need: the product as it is started by anyone, and so many clients
 * that each PUT one object of their own. What counts is the most memory that each process had, which should not depend on
 * the size of the objects.
 *
 *     node_modules/.bin/node bench/parallel-uploads.ts [--clients 64] [--size 1GiB] [--workers 2] [--tls]
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { sign } from '../src/s3/auth/sign.ts'
import { unsignedPayload } from '../src/s3/auth/payload.ts'
import { descendants } from '../test/clients/processes.ts'
import { startProduct, type Product } from '../test/support/product.ts'

const MIB = 2 ** 20
/** What is left free of the disk. */
const SPARE_BYTES = 2 * 2 ** 30
const piece = Buffer.alloc(MIB, 'holdfast')

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '64' },
    size: { type: 'string', default: '1GiB' },
    workers: { type: 'string', default: String(Math.max(2, availableParallelism())) },
    tls: { type: 'boolean', default: false },
  },
})
const clients = count('--clients', values.clients)
const workers = count('--workers', values.workers)
const objectBytes = readSize(values.size)

const root = dirname(dirname(fileURLToPath(import.meta.url)))
mkdirSync(join(root, '.tmp'), { recursive: true })
const folder = mkdtempSync(join(root, '.tmp', 'uploads-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

const { bavail, bsize } = statfsSync(folder)
const freeBytes = bavail * bsize - SPARE_BYTES
if (clients * objectBytes > freeBytes) {
  throw new Error(
    `${clients} objects of ${values.size} do not fit: ${Math.floor(freeBytes / MIB)} MiB are free. Choose a smaller --size.`,
  )
}

const product = await startProduct({
  folder: join(folder, 'data'),
  environment: { HOLDFAST_WORKERS: String(workers) },
})
try {
  const base = new URL((values.tls ? product.s3 : product.s3Http) ?? '')
  await put(base, '/parallel', 0)
  const before = memoryOf(product)
  const startedMs = performance.now()
  const statuses = await Promise.all(
    Array.from({ length: clients }, (_, index) => put(base, `/parallel/object-${index}`, objectBytes)),
  )
  const seconds = (performance.now() - startedMs) / 1000
  const refused = statuses.filter((status) => status !== 200)
  const totalMib = (clients * objectBytes) / MIB
  say(`${clients} uploads of ${values.size} at once, ${workers} workers, ${values.tls ? 'HTTPS' : 'HTTP'}:`)
  say(`  ${seconds.toFixed(1)} s, ${Math.round(totalMib / seconds)} MiB/s`)
  say('  most memory (MiB), after the start and after the uploads:')
  for (const { pid, part, peakMib } of memoryOf(product)) {
    const start = before.find((one) => one.pid === pid)?.peakMib ?? 0
    say(`    ${part.padEnd(8)}${String(start).padStart(6)}${String(peakMib).padStart(6)}`)
  }
  if (refused.length > 0) {
    say(`  ${refused.length} uploads failed: ${[...new Set(refused)].join(', ')}`)
    process.exitCode = 1
  }
} finally {
  await product.stop()
}

/** Sends an object, or makes a bucket, and gives the status of the answer. */
async function put(base: URL, path: string, bytes: number): Promise<number> {
  const { headers } = sign(
    { method: 'PUT', rawPath: path, headers: { host: base.host, 'content-length': String(bytes) } },
    { accessKey: product.accessKey, secret: product.secretKey, region: 'us-east-1' },
    new Date(),
    unsignedPayload,
  )
  const send = base.protocol === 'https:' ? secureRequest : plainRequest
  const request = send(new URL(path, base), { method: 'PUT', headers, agent: false, rejectUnauthorized: false })
  const answered = new Promise<number>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
  })
  // An answer that comes early is an error, and ends the connection.
  void answered.catch(() => {})
  for (let left = bytes; left > 0 && !request.destroyed; left -= piece.length) {
    if (!request.write(left < piece.length ? piece.subarray(0, left) : piece)) {
      await Promise.race([once(request, 'drain'), answered])
    }
  }
  request.end()
  return answered
}

/** The high-water mark of each process. */
function memoryOf({ pid: main }: Product): { pid: number; part: string; peakMib: number }[] {
  return [{ pid: main, part: 'main' }, ...descendants(main)].flatMap(({ pid, part }) => {
    const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kilobytes === undefined ? [] : [{ pid, part, peakMib: Math.round(Number(kilobytes) / 1024) }]
  })
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function count(flag: string, text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new Error(`${flag} takes a whole number.`)
  return value
}

/** `128MiB`, `1GiB`, or bytes. */
function readSize(text: string): number {
  const [, number, unit = ''] = /^(\d+)(KiB|MiB|GiB)?$/.exec(text) ?? []
  if (number === undefined) throw new Error('--size takes a number with KiB, MiB or GiB behind it.')
  return Number(number) * 2 ** (10 * ['', 'KiB', 'MiB', 'GiB'].indexOf(unit))
}
