/**
 * The speed table: how much servers do in a second of a processor, summed over all of their processes. With `--all` it
 * measures everything that docs/performance.md shows, and writes that page.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { openCertificate } from '../src/engines/certificate.ts'
import { Worker } from './helpers.ts'
import { keep } from './performance.ts'
import { busySeconds, loadAverage, machineFacts } from './speed/machine.ts'
import { Measuring, memoryOf, type Measured } from './speed/measure.ts'
import type { PayloadSigning, SpeedLoad, SpeedOrder } from './speed/order.ts'
import type { Certificate, Target } from './speed/peers/peer.ts'
import { significant, type Kept, type Result, type Server } from './speed/results.ts'
import { buckets, secureRows, signedRows, speedRows, type SpeedRow } from './speed/rows.ts'
import { PRODUCT } from './speed/tables.ts'
import { peers, PROGRAMS, startCheckout, startPeers } from './speed/targets.ts'

/** The syncs of the product, as `strace` shows them. Those of several PUTs at once are shared. */
const OWN_SYNCS =
  'one `fdatasync` of the pack, one `fsync` of the log of the catalog; PUTs that come together share them'

/** A server that broke off in so many rows is not tried in others: one that hangs takes minutes each time. */
const BREAKS_MAX = 2

const USAGE = `Usage: node_modules/.bin/node bench/speed.ts [flags]

  --all               all rows, all servers, some rows over TLS and with signed bodies; writes docs/performance.md
  --rows A,B          of ${speedRows.map(({ name }) => name).join(', ')} (all)
  --rounds N          each row is measured so often after servers are warm (5)
  --seconds N         processor seconds of a round (1.5)
  --warm-up N         processor seconds that the product works before the first row (25)
  --tls on|off|both   (off)
  --payload signed|unsigned|both   whether the digest of the body is signed (unsigned)
  --peers A,B         of ${peers.map(({ name }) => name.split(' ')[0]?.toLowerCase()).join(', ')}, or all (none)
  --programs FOLDER   where .ci/peers installed them (${PROGRAMS})
  --against FOLDER    another checkout of the product, to compare with; may be repeated
  --node-options=X    for the processes of this checkout, such as --cpu-prof
`

const { values: flags } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    rows: { type: 'string', default: speedRows.map(({ name }) => name).join(',') },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1.5' },
    'warm-up': { type: 'string', default: '25' },
    tls: { type: 'string', default: 'off' },
    payload: { type: 'string', default: 'unsigned' },
    peers: { type: 'string', default: '' },
    programs: { type: 'string', default: PROGRAMS },
    against: { type: 'string', multiple: true, default: [] },
    'node-options': { type: 'string' },
    help: { type: 'boolean' },
  },
})
const rounds = Number(flags.rounds)
const seconds = Number(flags.seconds)
const warmUp = Number(flags['warm-up'])
const named = flags.rows.split(',').map((name) => speedRows.find((row) => row.name === name))
const rows = named.filter((row) => row !== undefined)
const names = flags.all ? ['all'] : flags.peers.split(',').filter((name) => name !== '')
const wanted = peers.filter(({ name }) => names.some((each) => each === 'all' || name.toLowerCase().startsWith(each)))
const payloads: PayloadSigning[] =
  flags.payload === 'both' ? ['unsigned', 'signed'] : [flags.payload === 'signed' ? 'signed' : 'unsigned']
if (
  flags.help === true ||
  !(rounds > 0) ||
  !(seconds > 0) ||
  !(warmUp >= 0) ||
  rows.length < named.length ||
  (wanted.length < names.length && !names.includes('all'))
) {
  process.stderr.write(USAGE)
  process.exit(2)
}

interface Step {
  readonly row: SpeedRow
  readonly payload: PayloadSigning
}

const root = resolve(import.meta.dirname, '..')
mkdirSync(join(root, '.tmp'), { recursive: true })
const folder = mkdtempSync(join(root, '.tmp', 'speed-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

const date = new Date().toISOString()
const loadBefore = loadAverage()
const busyBefore = busySeconds()
const machine = machineFacts(folder)
const servers: Server[] = []
const results: Result[] = []
const step = (payload: PayloadSigning) => (row: SpeedRow) => ({ row, payload })
let isBroken = false
if (flags.all) {
  await guarded(() => session(false, [...rows.map(step('unsigned')), ...signedRows.map(step('signed'))]))
  await guarded(() => session(true, secureRows.map(step('unsigned'))))
} else {
  const steps = rows.flatMap((row) => payloads.map((payload) => step(payload)(row)))
  if (flags.tls !== 'on') await session(false, steps)
  if (flags.tls !== 'off') await session(true, steps)
}
if (flags.all && results.length > 0) keep(found())
process.exit(isBroken ? 1 : 0)

/** What half an hour has found is kept, whatever comes after it. */
async function guarded(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (failure) {
    isBroken = true
    say(`BROKE OFF: ${String((failure as Error).stack ?? failure)}`)
  }
}

function found(): Kept {
  const busy = busySeconds()
  const own = (busy.own - busyBefore.own) / (busy.machine - busyBefore.machine)
  const othersShare = significant(Math.max(0, 1 - own), 2)
  return { date, rounds, seconds, machine, loadBefore, othersShare, servers, results }
}

/** After each row, so that of a run that is broken off there is what it found. */
function writeResults(): void {
  const file = join(root, 'bench', 'results', `speed-${date.replaceAll(':', '-')}.json`)
  mkdirSync(join(root, 'bench', 'results'), { recursive: true })
  writeFileSync(file, `${JSON.stringify(found(), undefined, 2)}\n`)
}

/** All servers, started for these steps, over TLS or not. */
async function session(isSecure: boolean, steps: readonly Step[]): Promise<void> {
  const own = mkdtempSync(join(folder, 'session-'))
  const sender = new Worker<SpeedOrder | 'go', SpeedLoad>('speed/sender')
  const targets: Target[] = []
  try {
    const options = flags['node-options']
    const environment = options === undefined ? {} : { NODE_OPTIONS: options }
    targets.push(await startCheckout(PRODUCT, root, own, { isSecure, environment }))
    for (const other of flags.against)
      targets.push(await startCheckout(nameOf(other), resolve(other), own, { isSecure }))
    const certificate = isSecure ? await certificateIn(own) : undefined
    const started = await startPeers(wanted, { folder: own, programs: resolve(root, flags.programs), certificate })
    for (const [name, why] of Object.entries(started.missing)) say(`${name} is not measured: ${why}`)
    targets.push(...started.targets)
    const idle = new Map(targets.map((target) => [target, memoryOf(target)]))
    const measuring = new Measuring(sender)
    const missing = { ...started.missing, ...(await withoutBuckets(measuring, targets)) }
    const first = speedRows.find(({ name }) => name === 'mixed')
    for (const target of targets) {
      if (first !== undefined) await measuring.warmUp(first, target, { rounds, seconds, warmUp, payload: 'unsigned' })
    }
    const breaks = new Map<string, number>()
    for (const { row, payload } of steps) {
      const able = targets.filter(({ name }) => (breaks.get(name) ?? 0) < BREAKS_MAX)
      const measured = await measuring.measure(row, able, { rounds, seconds, warmUp, payload })
      for (const name of Object.keys(measured.broken)) breaks.set(name, (breaks.get(name) ?? 0) + 1)
      results.push(...measured.results)
      tell(row, measured)
      // Memory is told of servers without TLS, where there are such.
      if (results[0]?.isSecure === isSecure) {
        const known = targets.map((target) => serverOf(target, idle.get(target) ?? {}))
        servers.splice(0, servers.length, ...known, ...missingServers(missing))
      }
      writeResults()
    }
    for (const target of targets) {
      say(`memory of ${target.name}, MB: idle ${tellParts(idle.get(target))}; after it ${tellParts(memoryOf(target))}`)
    }
  } finally {
    sender.end()
    await Promise.all(targets.map((target) => target.end()))
    rmSync(own, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Ends servers of other makes in which no bucket can be made, and tells why. */
async function withoutBuckets(measuring: Measuring, targets: Target[]): Promise<Record<string, string>> {
  const missing: Record<string, string> = {}
  for (const target of targets.slice()) {
    try {
      await measuring.prepare(target, buckets, 1)
    } catch (failure) {
      if (target.compiles === true) throw failure
      missing[target.name] = (failure as Error).message
      say(`${target.name} is not measured: ${missing[target.name]}`)
      targets.splice(targets.indexOf(target), 1)
      await target.end()
    }
  }
  return missing
}

function serverOf(target: Target, idle: Readonly<Record<string, number>>): Server {
  const { name, version } = target
  const { syncs, isDurable } = wanted.find((peer) => peer.name === name) ?? { syncs: OWN_SYNCS, isDurable: true }
  return { name, version, syncs, isDurable, idle, after: memoryOf(target) }
}

function missingServers(reasons: Readonly<Record<string, string>>): Server[] {
  return wanted.flatMap(({ name, syncs, isDurable }) => {
    const missing = reasons[name]
    return missing === undefined ? [] : [{ name, version: '', syncs, isDurable, idle: {}, after: {}, missing }]
  })
}

function tell(row: SpeedRow, { results, broken }: Measured): void {
  const mine = results.find(({ server }) => server === PRODUCT)
  const how = `${mine?.isSecure === true ? ', TLS' : ''}${mine?.payload === 'signed' ? ', signed' : ''}`
  say(`${row.what}${how}`)
  for (const { server, perCpuSecond, each, perSecond, senderShare, latency, failed, failure } of results) {
    const ratio =
      server === mine?.server ? '' : `; ${significant((mine?.perCpuSecond ?? Number.NaN) / perCpuSecond, 3)} × it`
    say(`  ${server}: ${perCpuSecond} (${each.join(' ')}${ratio}); ${perSecond} by the clock, sender ${senderShare}`)
    for (const [kind, { requests, p50, p99 }] of Object.entries(latency)) {
      say(`    ${kind === '' ? 'all' : kind}: ${requests}, p50 ${p50} ms, p99 ${p99} ms`)
    }
    if (failed > 0) say(`    ${failed} FAILED: ${failure}`)
  }
  for (const [server, why] of Object.entries(broken)) say(`  ${server} BROKE OFF: ${why}`)
}

function tellParts(parts: Readonly<Record<string, number>> = {}): string {
  const each = Object.entries(parts).map(([part, megabytes]) => `${part} ${megabytes}`)
  return `${Object.values(parts).reduce((total, megabytes) => total + megabytes, 0)} (${each.join(', ')})`
}

async function certificateIn(own: string): Promise<Certificate> {
  await openCertificate(join(own, 'certificate'), Date.now())
  const [certFile, keyFile] = ['server.crt', 'server.key'].map((name) => join(own, 'certificate', name))
  return { certFile: certFile ?? '', keyFile: keyFile ?? '' }
}

function nameOf(path: string): string {
  return resolve(path).split('/').at(-1) ?? path
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
