/**
 * The benchmark: the product as it is started by anyone, durability on, driven by one generator on the same machine,
 * beside what the same generator gets from a bare node:http server, from nginx, and what the disk gives to a plain loop.
 * On a machine that does other work as well, only the ratios of one run mean something.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { descendants } from '../test/clients/processes.ts'
import { startProduct, type Product } from '../test/support/product.ts'
import { Bench } from './bench.ts'
import { startBare, startDurable, startFlows, startGenerator, startNginx } from './helpers.ts'
import { measureListing } from './listing.ts'
import { Loops } from './loops.ts'
import { measureManagement } from './management.ts'
import { measureObjects } from './objects.ts'
import { measureOperations } from './operations.ts'
import { measureScale } from './scale.ts'
import { readBenchSettings, type Section } from './settings.ts'
import { measureSnapshots } from './snapshots.ts'
import { measureVolumes } from './volumes.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const TMPFS = 0x0102_1994

const measures: Readonly<Record<Section, (bench: Bench) => Promise<void>>> = {
  objects: measureObjects,
  operations: measureOperations,
  list: measureListing,
  scale: measureScale,
  management: measureManagement,
  volumes: measureVolumes,
  snapshots: measureSnapshots,
}

const settings = readBenchSettings(process.argv.slice(2))
const startedMs = Date.now()
mkdirSync(join(root, '.tmp'), { recursive: true })
// In the checkout, not in /tmp, which is memory on some machines: a sync there would cost nothing and mean nothing.
const folder = mkdtempSync(join(root, '.tmp', 'bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const workers = Math.max(2, availableParallelism())
const loops = new Loops(folder)
const product = await startProduct({
  folder: join(folder, 'data'),
  environment: { HOLDFAST_WORKERS: String(workers), ...loops.environment },
})
loops.watch(product)
const certificates = join(product.folder, 'certificates')
const bare = await startBare({
  key: readFileSync(join(certificates, 'server.key'), 'utf8'),
  cert: readFileSync(join(certificates, 'server.crt'), 'utf8'),
})
const nginx = await startNginx(folder)
const generator = startGenerator()
const flows = startFlows()
const durable = startDurable()
const machine = describeMachine()
const bench = new Bench({ product, generator, flows, durable, loops, bare, nginx, folder, settings })
bench.say(`Holdfast ${machine.commit} on Node ${process.version}, ${machine.cpu}, ${workers} workers.`)
bench.say(`Load of the machine before: ${machine.loadBefore.join(' ')}. Below 1 it is quiet.`)
bench.say(
  machine.isMemory
    ? 'DURABILITY MEANS NOTHING HERE: the folder is in memory.'
    : 'Durability is on: a PUT is answered after fdatasync of its file and after the synced commit of its row.',
)
bench.say('"of bare": of what node:http alone does with the same bodies. "of nginx": of nginx with the same files.')
bench.say('"of disk": of a loop that writes new files with fdatasync, as many at once as there are clients.')
bench.say(
  '"held": processor time of one turn of an event loop of the product, in ms, at the 99th percentile and at most.',
)
if (nginx === undefined) bench.say('nginx is not installed, so its line is missing.')

try {
  for (const section of settings.only) await measures[section](bench)
  const memory = memoryOf(product)
  bench.say('\nMost memory that its processes had (MB):')
  for (const { part, megabytes } of memory) bench.say(`  ${part.padEnd(10)}${megabytes}`)
  const seconds = Math.round((Date.now() - startedMs) / 1000)
  const results = join(root, 'bench', 'results')
  mkdirSync(results, { recursive: true })
  const file = join(results, `${new Date(startedMs).toISOString().replaceAll(':', '-')}.json`)
  writeFileSync(file, `${JSON.stringify({ machine, settings, seconds, memory, rows: bench.rows }, undefined, 2)}\n`)
  bench.say(`\n${seconds} s. Written to ${file.slice(root.length + 1)}`)
  if (bench.rows.some((row) => (row.lines.product?.failed ?? 0) > 0)) {
    bench.say('Some requests failed: see the table.')
    process.exitCode = 1
  }
} finally {
  generator.end()
  flows.end()
  durable.end()
  bare.end()
  nginx?.end()
  await product.stop()
}
process.exit()

function describeMachine() {
  const commit = (() => {
    try {
      return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim()
    } catch {
      return 'without git'
    }
  })()
  return {
    commit,
    node: process.version,
    kernel: release(),
    cpu: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
    memoryBytes: totalmem(),
    isMemory: statfsSync(folder).type === TMPFS,
    loadBefore: loadavg().map((load) => load.toFixed(1)),
  }
}

/** The high-water mark of each process. */
function memoryOf(of: Product) {
  const processes = [{ pid: of.pid, part: 'main' }, ...descendants(of.pid)]
  return processes.flatMap(({ pid, part }) => {
    try {
      const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
      return kilobytes === undefined ? [] : [{ part, megabytes: Math.round(Number(kilobytes) / 1024) }]
    } catch {
      return []
    }
  })
}
