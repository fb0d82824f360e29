/**
 * The speed table: how much servers do in a second of a processor, summed over all of their processes. All servers of a run
 * are measured in turns, each time in another order, so what else the machine does hits them alike.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Worker } from './helpers.ts'
import type { PayloadSigning, SpeedLoad, SpeedOrder, SpeedRequest } from './speed/order.ts'
import { cpuSeconds, proportionalMegabytes } from './speed/processes.ts'
import { buckets, PREPARING_CLIENTS, speedRows, type SpeedRow } from './speed/rows.ts'
import { startCheckout, type Target } from './speed/targets.ts'

const USAGE = `Usage: node_modules/.bin/node bench/speed.ts [flags]

  --rows A,B          of ${speedRows.map(({ name }) => name).join(', ')} (all)
  --rounds N          each row is measured so often (3)
  --length N          so many times the usual requests in a round (1); 5 or more on a machine that does nothing else
  --tls on|off|both   (off)
  --payload signed|unsigned|both   whether the digest of the body is signed (unsigned)
  --against FOLDER    another checkout of the product, to compare with; may be repeated
  --node-options=X    for the processes of this checkout, such as --cpu-prof
`

const { values: flags } = parseArgs({
  options: {
    rows: { type: 'string', default: speedRows.map(({ name }) => name).join(',') },
    rounds: { type: 'string', default: '3' },
    length: { type: 'string', default: '1' },
    tls: { type: 'string', default: 'off' },
    payload: { type: 'string', default: 'unsigned' },
    against: { type: 'string', multiple: true, default: [] },
    'node-options': { type: 'string' },
    help: { type: 'boolean' },
  },
})
const rounds = Number(flags.rounds)
const length = Number(flags.length)
const rows = flags.rows.split(',').map((name) => speedRows.find((row) => row.name === name))
const secure = flags.tls === 'both' ? [false, true] : [flags.tls === 'on']
const payloads: PayloadSigning[] =
  flags.payload === 'both' ? ['unsigned', 'signed'] : [flags.payload === 'signed' ? 'signed' : 'unsigned']
if (flags.help === true || !(rounds > 0) || !Number.isInteger(length) || length < 1 || rows.includes(undefined)) {
  process.stderr.write(USAGE)
  process.exit(2)
}

interface Measured {
  readonly load: SpeedLoad
  readonly cpuSeconds: number
}
interface Result {
  readonly row: string
  readonly isSecure: boolean
  readonly payload: PayloadSigning
  readonly target: string
  /** Operations, or megabytes, in a second of a processor: the median of the rounds. */
  readonly perCpuSecond: number
  readonly each: readonly number[]
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failed: number
}

const root = resolve(import.meta.dirname, '..')
mkdirSync(join(root, '.tmp'), { recursive: true })
const folder = mkdtempSync(join(root, '.tmp', 'speed-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

const sender = new Worker<SpeedOrder | 'go', SpeedLoad>('speed/sender')
const targets: Target[] = []
const results: Result[] = []
let next = 0
try {
  const options = flags['node-options']
  targets.push(await startCheckout('this', root, folder, options === undefined ? {} : { NODE_OPTIONS: options }))
  for (const other of flags.against) targets.push(await startCheckout(nameOf(other), resolve(other), folder))
  const idle = targets.map(memory)
  for (const target of targets) await send(target, buckets, 1)
  for (const row of rows) {
    if (row === undefined) continue
    if (row.once !== undefined) for (const target of targets) await send(target, row.once, PREPARING_CLIENTS)
    for (const isSecure of secure) for (const payload of payloads) await measure(row, isSecure, payload)
  }
  const after = targets.map(memory)
  for (const [at, target] of targets.entries()) {
    say(`memory of ${target.name}, MB: idle ${tell(idle[at])}; after it ${tell(after[at])}`)
  }
  const file = join(root, 'bench', 'results', `speed-${new Date().toISOString().replaceAll(':', '-')}.json`)
  mkdirSync(join(root, 'bench', 'results'), { recursive: true })
  writeFileSync(file, `${JSON.stringify({ flags, results, idle, after }, undefined, 2)}\n`)
} finally {
  sender.end()
  await Promise.all(targets.map((target) => target.end()))
}
process.exit()

async function measure(row: SpeedRow, isSecure: boolean, payload: PayloadSigning): Promise<void> {
  const measured = new Map<Target, Measured[]>()
  // The first round makes programs warm, and does not count.
  for (let round = -1; round < rounds; round++) {
    for (const target of shuffled(targets)) {
      if (row.before !== undefined) await send(target, row.before(next).map(longer), PREPARING_CLIENTS)
      const requests = row.requests(next).map(longer)
      await sender.run(orderFor(target, requests, row.clients, isSecure, payload))
      const pids = target.processes().map(({ pid }) => pid)
      const beforeSeconds = cpuSeconds(pids)
      const load = await sender.run('go')
      const seconds = cpuSeconds(pids) - beforeSeconds
      if (round >= 0) measured.set(target, [...(measured.get(target) ?? []), { load, cpuSeconds: seconds }])
      next += Math.max(...requests.map(({ count }) => count))
    }
  }
  const lines = [...measured].map(([target, each]) => resultOf(row, target, each, isSecure, payload))
  results.push(...lines)
  const texts = targets.map(({ name }) => {
    const line = lines.find((one) => one.target === name)
    if (line === undefined) return ''
    const spread = line.each.map((each) => Math.round(each)).join(' ')
    return `${name} ${Math.round(line.perCpuSecond)} (${spread}; p99 ${line.p99Ms.toFixed(1)} ms${line.failed > 0 ? `; ${line.failed} FAILED` : ''})`
  })
  const mine = lines.find((line) => line.target === 'this')
  const ratios = lines
    .filter((line) => line.target !== 'this')
    .map((line) => `${((mine?.perCpuSecond ?? Number.NaN) / line.perCpuSecond).toFixed(2)} × ${line.target}`)
  const how = `${isSecure ? ', TLS' : ''}${payload === 'signed' ? ', signed' : ''}`
  say(`${row.what}${how}: ${texts.join('  ')}  ${ratios.join('  ')}`)
  const failure = [...measured.values()].flat().find(({ load }) => load.failed > 0)
  if (failure !== undefined) say(failure.load.firstFailure)
}

/** What names the same keys again comes more often; what makes keys or removes them is about more of them. */
function longer(request: SpeedRequest): SpeedRequest {
  const { method, count, times = 1 } = request
  const isRepeatable = method === 'GET' || method === 'HEAD' || request.times !== undefined
  return isRepeatable ? { ...request, times: times * length } : { ...request, count: count * length }
}

function resultOf(
  row: SpeedRow,
  { name }: Target,
  each: readonly Measured[],
  isSecure: boolean,
  payload: PayloadSigning,
): Result {
  const unit = row.bytes === undefined ? 1 : row.bytes / 1e6
  const figures = each.map(({ load, cpuSeconds }) => ((load.requests - load.failed) * unit) / cpuSeconds)
  return {
    row: row.name,
    isSecure,
    payload,
    target: name,
    perCpuSecond: median(figures),
    each: figures,
    p50Ms: median(each.map(({ load }) => load.p50Ms)),
    p99Ms: median(each.map(({ load }) => load.p99Ms)),
    failed: each.reduce((sum, { load }) => sum + load.failed, 0),
  }
}

/** What prepares a row has to succeed. */
async function send(target: Target, requests: readonly SpeedRequest[], clients: number): Promise<void> {
  await sender.run(orderFor(target, requests, clients, false, 'unsigned'))
  const load = await sender.run('go')
  if (load.failed > 0) throw new Error(`${target.name}: ${load.failed} requests failed. ${load.firstFailure}`)
}

function orderFor(
  { http, https, accessKey, secretKey }: Target,
  requests: readonly SpeedRequest[],
  clients: number,
  isSecure: boolean,
  payload: PayloadSigning,
): SpeedOrder {
  return { base: isSecure ? https : http, accessKey, secretKey, payload, clients, requests }
}

function memory(target: Target): Record<string, number> {
  const parts: Record<string, number> = {}
  for (const { pid, part } of target.processes()) parts[part] = (parts[part] ?? 0) + proportionalMegabytes(pid)
  return parts
}

function tell(parts: Record<string, number> | undefined = {}): string {
  const each = Object.entries(parts).map(([part, megabytes]) => `${part} ${Math.round(megabytes)}`)
  return `${Math.round(Object.values(parts).reduce((sum, megabytes) => sum + megabytes, 0))} (${each.join(', ')})`
}

function nameOf(path: string): string {
  return resolve(path).split('/').at(-1) ?? path
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const half = Math.floor(sorted.length / 2)
  const [low = Number.NaN, high = Number.NaN] = [sorted[sorted.length % 2 === 0 ? half - 1 : half], sorted[half]]
  return (low + high) / 2
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
