/**
 * A volume on its way between aggregates over real files, killed again and again at a commit chosen by chance, while objects
 * are written, read and deleted as the data plane does it. It arrives each time; then every object is what was answered
 * last, or what was asked for and not answered, and no file is anywhere that nobody needs.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Housekeeping } from '../../src/background/housekeeping.ts'
import { JOBS } from '../../src/core/jobs/jobs.ts'
import { placeOf } from '../../src/storage/tree-of.ts'
import { SimulatedRandom } from '../../src/engines/simulated/random.ts'
import { textAt } from '../../src/model/value.ts'
import { firstStart } from '../../src/resources/first-start.ts'
import { runChild } from '../support/child.ts'
import { openJobsCluster, performDraft, type JobsCluster } from '../support/jobs-cluster.ts'
import { leftovers } from '../support/leftovers.ts'
import { giveBucket } from '../support/lifecycle.ts'
import { QUICK_DISK } from '../support/quick-disk.ts'
import { seedOf } from '../support/seed.ts'
import { isWhole } from '../support/whole.ts'
import { bodyOf, KEYS, linesOf, type MoveOrder } from './moves.ts'
import { allowAnyAggregate } from '../support/any-aggregate.ts'

const CHILD = fileURLToPath(new URL('run-move.ts', import.meta.url))
const JOURNEYS = isWhole ? 3 : 1

test(
  'a move that is killed at any commit arrives, and nothing is lost or left',
  { timeout: 300_000 },
  async (context) => {
    const random = new SimulatedRandom(seedOf(context))
    const folder = mkdtempSync(join(QUICK_DISK, 'holdfast-moves-'))
    try {
      const { bucket, volume, aggregates } = await prepare(folder)
      const log = join(folder, 'asked')
      let deaths = 0
      for (let journey = 0; journey < JOURNEYS; journey++) {
        const to = aggregates[(journey + 1) % 2] ?? ''
        for (let starts = 0; ; starts++) {
          assert.ok(starts < 100, 'the move comes to its end')
          // Longer each time: what was not committed of the move is done again.
          const commits = 1 + random.below(3 + starts)
          // The first one dies for sure.
          const whose = starts === 0 || random.chance(0.5) ? 'move' : 'client'
          const when = random.chance(0.5) ? 'before' : 'after'
          const order: MoveOrder = {
            folder,
            log,
            volume,
            bucket,
            to,
            commits,
            whose,
            when,
            clients: 3,
            seed: random.below(2 ** 31),
            startedMs: Date.now(),
          }
          const ended = await runChild(CHILD, [JSON.stringify(order)])
          if (ended === 0) break
          assert.equal(ended, 'SIGKILL')
          deaths++
        }
        await verify(folder, { bucket, volume, to, log })
      }
      context.diagnostic(`killed ${deaths} times`)
      assert.ok(deaths >= JOURNEYS)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
)

async function prepare(folder: string) {
  const open = openJobsCluster(folder)
  const { cluster } = open
  await firstStart(open.actions, {
    adminPassword: 'a password for tests',
    accessKey: undefined,
    secretKey: undefined,
    isBare: false,
    aggregateFolder: 'aggr1',
    dataAddress: '127.0.0.1',
  })
  await allowAnyAggregate(cluster)
  const bucket = await giveBucket(open.actions, 'moved', [])
  const volume = textAt(await cluster.row('protocols/s3/buckets', bucket), 'volume.uuid')
  const first = placeOf(await cluster.row('storage/volumes', volume)).aggregate
  const made = await performDraft(open, cluster.behaviour('storage/aggregates'), {
    name: 'aggr2',
    'block_storage.path': '/aggr2',
  })
  await open.ended()
  await open.close()
  return { bucket, volume, aggregates: [first, made.key] as const }
}

async function verify(
  folder: string,
  { bucket, volume, to, log }: Pick<MoveOrder, 'bucket' | 'volume' | 'to' | 'log'>,
): Promise<void> {
  const open = openJobsCluster(folder)
  const { cluster } = open
  const place = placeOf(await cluster.row('storage/volumes', volume))
  assert.equal(place.aggregate, to)
  const moves = (await cluster.rows(JOBS)).filter((job) => job['$verb'] === 'move')
  assert.deepEqual(new Set(moves.map((job) => job['state'])), new Set(['success']))

  const possible = possibleOf(linesOf(log))
  const engine = await cluster.volumesOf(to)
  for (const key of KEYS) {
    const object = await cluster.catalog.object(bucket, Buffer.from(key))
    const values = possible.get(key) ?? new Set(['gone'])
    if (object === undefined) {
      assert.ok(values.has('gone'), `${key} is gone, not ${[...values].join(' or ')}`)
      continue
    }
    const reader = await engine.open(place.tree, object.blobs[0]?.blob ?? '')
    const bytes = await reader.read(0, reader.sizeBytes)
    await reader.close()
    const value = bytes.toString('latin1').split('#')[1] ?? ''
    assert.ok(values.has(value), `${key} is ${value}, not ${[...values].join(' or ')}`)
    assert.deepEqual(bytes, bodyOf(key, Number(value)))
  }
  await insistOnNoRubbish(open, folder, volume)
  await open.close()
}

/** For each key what was answered last, and what was asked for since. */
function possibleOf(lines: readonly string[]): Map<string, Set<string>> {
  const possible = new Map<string, Set<string>>()
  for (const line of lines) {
    const [what, key = '', value = ''] = line.split(' ')
    const before = possible.get(key) ?? new Set(['gone'])
    possible.set(key, what === 'done' ? new Set([value]) : before.add(value))
  }
  return possible
}

async function insistOnNoRubbish(open: JobsCluster, folder: string, volume: string): Promise<void> {
  const { cluster, jobs } = open
  const housekeeping = new Housekeeping(cluster, jobs)
  await housekeeping.sweep(Date.now())
  await housekeeping.round()
  assert.deepEqual(await leftovers(cluster, folder), [])
  const known = (await cluster.catalog.blobs(volume, '', 10_000)).map(({ blob }) => blob)
  const files: string[] = []
  for (const aggregate of await cluster.rows('storage/aggregates')) {
    const engine = cluster.engineOf(aggregate)
    for (const tree of await engine.list()) files.push(...(await Array.fromAsync(engine.blobs(tree))))
  }
  assert.deepEqual(files.toSorted(), known.toSorted())
  assert.deepEqual(await cluster.catalog.arrivals(volume, 1), [])
}
