/** docs/performance.md, from the results that are kept. */
import { onPaper } from './paper.ts'
import type { PayloadSigning } from './order.ts'
import { significant, sum, type Kept, type Latency, type Result, type Server } from './results.ts'
import { speedRows } from './rows.ts'
import { find, markdown, PRODUCT, thousands } from './tables.ts'

const MEMORY_GOAL_MB = 300
const IDLE_GOAL_MB = 200
const TAIL_GOAL = 5
/** From so much other work on, numbers of two runs cannot be compared. */
const QUIET_SHARE = 0.05

export function pageOf(kept: Kept): string {
  const servers = kept.servers.filter(({ missing }) => missing === undefined)
  const sections: [string, string][] = [
    ['# Performance', introduction(kept)],
    [
      '## Operations in a second of a processor',
      `${aboutTable(kept)}\n\n${table(kept, servers, false, 'unsigned', true)}`,
    ],
    ['### Over TLS', table(kept, servers, true, 'unsigned', false)],
    ['### With the digest of the body signed', table(kept, servers, false, 'signed', false)],
    ['## Memory', memory(servers)],
    ['## Latencies of a mixed load', mixed(kept, servers)],
    ['## Who syncs', syncs(kept.servers)],
    ['## Where the time goes', costs(kept)],
    ['## On paper: NVMe and 32 cores', onPaper(kept)],
  ]
  const texts = sections.filter(([, text]) => text !== '').map(([title, text]) => `${title}\n\n${text}\n`)
  return texts.join('\n')
}

function aboutTable({ rounds }: Kept): string {
  return `The median of ${rounds} rounds; ± is half of the distance between the least and the most of them. Parentheses: the server does not sync before it answers, so a power cut takes what it acknowledged. MB are 10⁶ bytes.`
}

function introduction({ date, machine, seconds, loadBefore, othersShare }: Kept): string {
  return `Written by \`node_modules/.bin/node bench/speed.ts --all\` from [what it measured](../bench/performance.json); a test fails when the two differ.

Measured on ${date.slice(0, 10)}, all servers in one run, on ${machine.cores} cores (${machine.processor}), ${machine.memoryGib} GiB, Linux ${machine.kernel}, Node.js ${machine.node.slice(1)}. The load average was ${loadBefore} when it began, and other work took ${Math.round(othersShare * 100)} % of what the machine did meanwhile. ${
    othersShare < QUIET_SHARE
      ? ''
      : '**That is not a quiet machine**: an operation took more of a processor than it does on one, several times as much where many threads take part in it. Compare servers with each other, and nothing here with another run.'
  }

A second of a core of this machine gives ${megabytes(machine.md5)} of MD5, ${megabytes(machine.sha256)} of SHA-256, ${megabytes(machine.crc32)} of CRC-32, ${megabytes(machine.aes256Gcm)} of AES-256-GCM, ${megabytes(machine.copy)} of copying. To append 4 KiB to a file and have them synced takes ${machine.syncMs} ms.

How it is measured:

- All servers are started, then one is measured at a time, in turns whose order is chosen anew for each round. The others are idle.
- Clients are one process with a connection each, one request under way on each, signed ahead of time. Its processor time does not count. That of all processes of a server does, as \`/proc\` has it.
- A round takes a server ${seconds} processor seconds, or as many requests as the disk has room for. Before the rounds that count a server is driven until a round is no quicker than those before it: in its first ten processor seconds a server that compiles itself needs several times what it needs later.
- No two bodies are the same, nor are two pieces of 64 KiB of a large one. Objects that are read are in the page cache.
- Data of all servers is on the same disk, each in a folder of its own, and each server has one node and one copy.`
}

function table(kept: Kept, servers: readonly Server[], isSecure: boolean, payload: PayloadSigning, withGoal: boolean) {
  const rows = speedRows.flatMap(({ name, what, goal }) => {
    const results = servers.map((server) => find(kept, name, server.name, isSecure, payload))
    if (results.every((result) => result === undefined)) return []
    const isWrite = name.startsWith('put') || name === 'delete' || name === 'mixed'
    const cells = results.map((result, at) => {
      if (result === undefined) return ''
      const text = `${thousands(result.perCpuSecond)} ±${spread(result)} %`
      return isWrite && servers[at]?.isDurable === false ? `(${text})` : text
    })
    return [[what, ...cells, ...(withGoal ? [goal === undefined ? '' : `≥ ${thousands(goal)}`] : [])]]
  })
  if (rows.length === 0) return ''
  const able = servers.map((_, at) => rows.some((row) => row[at + 1] !== ''))
  const measuredOnly = <Item>(cells: readonly Item[]) => cells.filter((_, at) => at === 0 || able[at - 1] !== false)
  return markdown(
    measuredOnly(['', ...servers.map(({ name }) => name), ...(withGoal ? ['goal'] : [])]),
    rows.map(measuredOnly),
  )
}

function memory(servers: readonly Server[]): string {
  const row = (what: string, of: (server: Server) => Readonly<Record<string, number>>, goal: number) => [
    what,
    ...servers.map((server) => megabytesOf(of(server))),
    `≤ ${goal}`,
  ]
  const product = servers.find(({ name }) => name === PRODUCT)
  const parts = Object.entries(product?.after ?? {}).map(([part, each]) => `${part} ${each}`)
  return `Proportional set size in MB of all processes of a server: before the first request, and after all rows over plain HTTP.

${markdown(
  ['', ...servers.map(({ name }) => name), 'goal'],
  [row('idle', ({ idle }) => idle, IDLE_GOAL_MB), row('after it', ({ after }) => after, MEMORY_GOAL_MB)],
)}

Of ${PRODUCT}, after it: ${parts.join(', ')}.`
}

/** Nothing where a process of the server had ended. */
function megabytesOf(parts: Readonly<Record<string, number>>): string {
  return Object.keys(parts).length === 0 ? '' : thousands(sum(Object.values(parts)))
}

function mixed(kept: Kept, servers: readonly Server[]): string {
  const able = servers.flatMap(({ name }) => find(kept, 'mixed', name, false, 'unsigned') ?? [])
  const mine = able.find(({ server }) => server === PRODUCT)
  if (mine === undefined) return ''
  const kinds = Object.entries(mine.latency)
  const ratio = ({ p50, p99 }: Latency) => significant(p99 / p50, 2)
  const worst = kinds.toSorted(([, a], [, b]) => ratio(b) - ratio(a))[0]
  const cell = (latency: Latency | undefined) => (latency === undefined ? '' : `${latency.p50} / ${latency.p99}`)
  const rows = kinds.map(([kind, latency]) => {
    const cells = able.map(({ latency }) => cell(latency[kind]))
    return [kind, thousands(latency.requests)].concat(cells, String(ratio(latency)))
  })
  return `${speedRows.find(({ name }) => name === 'mixed')?.clients} clients send these at once, in a random order. Median / 99th percentile in ms, as a client sees them, and how they compare for ${PRODUCT}: at most ${TAIL_GOAL} is the goal.

${markdown(['', 'requests', ...able.map(({ server }) => server), `p99 ÷ p50 of ${PRODUCT}`], rows)}

The worst is ${worst?.[0]} with ${worst === undefined ? '' : ratio(worst[1])}. With more processes that want a core than there are cores, the tail is above all the time that a request waits for one: compare with the column of another server.`
}

function costs(kept: Kept): string {
  const rows = speedRows.flatMap(({ name, what }) => {
    const result = find(kept, name, PRODUCT, false, 'unsigned')
    if (result === undefined) return []
    const { main = 0, writer = 0, worker = 0, other = 0 } = result.microseconds
    const each = [worker, writer, main + other, worker + writer + main + other]
    return [[what.replace(', MB', ''), ...each.map((us) => thousands(significant(us, 3)))]]
  })
  const { md5, crc32, copy } = kept.machine
  const MIB = 2 ** 20
  return `Processor time of ${PRODUCT} for one operation, in µs, by kind of process.

${markdown(['', 'workers', 'catalog writer', 'main process', 'all'], rows)}

Of a PUT of 1 MiB, MD5 takes ${Math.round(MIB / md5)} µs, as clients expect it as ETag; CRC-32 of its blocks ${Math.round(MIB / crc32)} µs, and as much of a GET; each copy between the kernel and a process ${Math.round(MIB / copy)} µs.`
}

function syncs(servers: readonly Server[]): string {
  const rows = servers.map(({ name, version, syncs, missing }) => {
    const why = missing === undefined ? syncs : `${syncs}. Not measured: ${missing}`
    return [name, version, why]
  })
  return `Seen with \`strace\` while one client sent PUTs of 4 KiB (2026-11-23); Garage as its documents say.

${markdown(['', 'version', 'synced before a PUT is answered'], rows)}`
}

/** In percent. */
function spread({ each, perCpuSecond }: Result): number {
  return Math.round(((Math.max(...each) - Math.min(...each)) / 2 / perCpuSecond) * 100)
}

function megabytes(number: number): string {
  return `${thousands(number)} MB`
}
