/**
 * What it costs to make and to delete buckets, volumes and snapshots beside a hundred, a thousand and 5,000 of them: the
 * processor time of one, in the process that has the cluster and its catalog. A ratio near 1 says that nothing looks at
 * all of them for each.
 *
 *     node_modules/.bin/node bench/many-creations.ts [--beside 100,1000,5000] [--sample 100] [--only buckets]
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { BulkVerb } from '../src/core/jobs/bulk.ts'
import { flatten } from '../src/model/shape.ts'
import { type Row, textAt } from '../src/model/value.ts'
import { firstStart } from '../src/resources/first-start.ts'
import { SpareVolumes } from '../src/background/spare-volumes.ts'
import { openJobsCluster } from '../test/support/jobs-cluster.ts'
import { QUICK_DISK } from '../test/support/quick-disk.ts'

const { values } = parseArgs({
  options: {
    beside: { type: 'string', default: '100,1000,5000' },
    sample: { type: 'string', default: '100' },
    only: { type: 'string' },
  },
})
const sizes = values.beside.split(',').map(Number)
const sample = Number(values.sample)
const WAIT_MS = 3_600_000

const SNAPSHOTS = 'storage/volumes/{volume.uuid}/snapshots'
/** A volume has no more than 1,023. */
const SNAPSHOTS_MAX = 1000

for (const kind of ['volumes', 'buckets', 'snapshots'] as const) {
  if (values.only !== undefined && values.only !== kind) continue
  const folder = mkdtempSync(join(QUICK_DISK, 'holdfast-many-creations-'))
  try {
    await measure(kind, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(kind: 'volumes' | 'buckets' | 'snapshots', folder: string): Promise<void> {
  mkdirSync(join(folder, 'aggr1'))
  const open = openJobsCluster(folder)
  const { cluster, actions, jobs } = open
  await firstStart(actions, {
    adminPassword: 'a password for the benchmark',
    accessKey: undefined,
    secretKey: undefined,
    isBare: false,
    aggregateFolder: 'aggr1',
    dataAddress: '127.0.0.1',
  })
  await open.ended()
  const svm = (await cluster.keyOfName('svm/svms', 'svm1')) ?? ''
  const volume = (await cluster.keyOfName('storage/volumes', 'vol1', svm)) ?? ''
  const { type, path, fields } = {
    volumes: {
      type: 'storage/volumes',
      path: {},
      fields: { 'svm.name': 'svm1', size: '1m', 'guarantee.type': 'none' },
    },
    buckets: { type: 'protocols/s3/buckets', path: {}, fields: { 'svm.name': 'svm1', size: 2 ** 30 } },
    snapshots: { type: SNAPSHOTS, path: { 'volume.uuid': volume }, fields: {} },
  }[kind]
  const behaviour = cluster.behaviour(type)
  const spare = new SpareVolumes(actions)

  /** Gives the milliseconds of processor time that one took. */
  const run = async (verb: BulkVerb, records: readonly { readonly draft: Row; readonly instance: string[] }[]) => {
    const before = process.cpuUsage()
    const job = await actions.bulk.submit({
      behaviour,
      verb,
      path,
      args: verb === 'remove' && behaviour.remove?.args?.['force'] !== undefined ? { force: 'true' } : {},
      caller: { user: 'admin', role: 'admin', from: 'bench' },
      description: `${verb} ${behaviour.resource.path}`,
      records: records.map((record) => ({ ...record, description: `${verb} ${behaviour.resource.path}` })),
      continueOnFailure: false,
      isSerial: false,
      insistOn: () => Promise.resolve(),
    })
    const ended = await jobs.wait(textAt(job, 'uuid'), WAIT_MS)
    if (ended['state'] !== 'success') throw new Error(textAt(ended, 'message'))
    // Volumes that were made for a bucket go after it.
    if (kind === 'buckets' && verb === 'remove') await spare.look()
    await open.ended()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000 / records.length
  }
  let made = 0
  const make = (count: number) =>
    run(
      'create',
      Array.from({ length: count }, () => {
        const given = { name: `many${made++}`, ...fields }
        return { draft: flatten(behaviour.resource, given, 'create', cluster.release), instance: [] }
      }),
    )
  // What is done for the first time is slow.
  await make(sample)
  const first = { create: 0, remove: 0 }
  for (const wanted of sizes) {
    const size = kind === 'snapshots' ? Math.min(wanted, SNAPSHOTS_MAX - sample) : wanted
    if (size > made) await make(size - made)
    const create = await make(sample)
    const last = (await cluster.rows(behaviour.resource.type, kind === 'snapshots' ? volume : undefined))
      .filter((row) => textAt(row, 'name').startsWith('many'))
      .toSorted((a, b) => Number(textAt(a, 'name').slice(4)) - Number(textAt(b, 'name').slice(4)))
      .slice(-sample)
    const remove = await run(
      'remove',
      last.map((row) => ({ draft: {}, instance: behaviour.resource.key.map((key) => textAt(row, key)) })),
    )
    made -= sample
    if (first.create === 0) Object.assign(first, { create, remove })
    const told = (ms: number, from: number) => `${ms.toFixed(1)} ms (${(ms / from).toFixed(2)})`
    console.log(
      `${kind}, beside ${size}: create ${told(create, first.create)}, delete ${told(remove, first.remove)} of processor time each`,
    )
  }
  await open.close()
}
