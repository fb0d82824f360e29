/**
 * Two complete management planes on one catalog and one set of volumes: each has locks, a mirror and jobs of its own, as
 * processes have. Random requests go to both, and what they do is interleaved at every call of a port, in an order that
 * the seed says. Whatever becomes of each request, none is a 500, and when all is quiet the cluster is whole: nothing is
 * left over, what was answered is there, and no more is promised than there is.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { openSqliteCatalog } from '../../src/engines/sqlite/catalog.ts'
import { SimulatedRandom } from '../../src/engines/simulated/random.ts'
import { SimulatedVolumes } from '../../src/engines/simulated/volumes.ts'
import { isActive, JOBS } from '../../src/core/jobs/jobs.ts'
import { removeOwedTrees } from '../../src/storage/removed-trees.ts'
import { QuickSecrets, simulatedByFolder, startTestCluster, type TestCluster } from '../support/cluster.ts'
import { leftovers } from '../support/leftovers.ts'
import { seedOf } from '../support/seed.ts'
import { timeLimit } from '../support/time-limit.ts'
import { isWhole } from '../support/whole.ts'
import { brokenPromises } from './requests/broken-promises.ts'
import { CONFIGURATION_DEEDS, type Kept, resumeAll } from './requests/configuration.ts'
import { type Ask, anyAsk, NAMES, STORAGE_DEEDS, toolsOf } from './requests/storage.ts'
import { SeededTurns } from './seeded-turns.ts'

/** Of the first disk: some volumes of 20 MiB and more with a guarantee, and not all of them. */
const CAPACITY_BYTES = 200 * 2 ** 20
const RUNS = isWhole ? 300 : 2
const ROUNDS_MAX = isWhole ? 20 : 10
const LIMIT_MS = 120_000
/** What the engine gives without a promise. */
const AT_ONCE = new Set(['revision', 'changesMade'])
const DEEDS = { ...STORAGE_DEEDS, ...CONFIGURATION_DEEDS }

interface Planes {
  readonly turns: SeededTurns
  readonly planes: readonly TestCluster[]
  close(): Promise<void>
}

async function startTwo(seed: number, nodes: readonly string[] = ['n1', 'n2']): Promise<Planes> {
  const turns = new SeededTurns(seed)
  const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  const first = new SimulatedVolumes({
    random: new SimulatedRandom(seed),
    capacityBytes: CAPACITY_BYTES,
    place: 'aggr1',
  })
  const engines = simulatedByFolder(first)
  const secrets = new QuickSecrets()
  const planes: TestCluster[] = []
  for (const [at, node] of nodes.entries()) {
    planes.push(
      await startTestCluster({
        isBare: true,
        isUsed: at > 0,
        node,
        secrets,
        system: turns.system,
        catalog: turns.interleaved(catalog, (name) => AT_ONCE.has(name)),
        volumesOf: (aggregate) => turns.interleaved(engines(aggregate), (name) => name === 'blobs'),
      }),
    )
  }
  return {
    turns,
    planes,
    async close() {
      for (const { jobs } of planes) await jobs.drain(60_000)
      turns.stop()
      await catalog.close()
    },
  }
}

interface PlanedAsk {
  readonly ask: Ask
  readonly plane: number
}

async function isQuiet(planes: readonly TestCluster[], turns: SeededTurns): Promise<void> {
  for (let looks = 0; looks < 1000; looks++) {
    const jobs = await Promise.all(planes.map(({ cluster }) => cluster.rows(JOBS)))
    if (!jobs.flat().some((job) => isActive(job)) && planes.every((plane) => plane.jobs.activeCount === 0)) return
    await resumeAll(planes[looks % planes.length] as TestCluster)
    await turns.sleep(1000)
  }
}

async function runRounds(
  seed: number,
  rounds: readonly (readonly PlanedAsk[])[],
  isOver: () => boolean,
): Promise<void> {
  if (isOver()) return
  const two = await startTwo(seed)
  const { planes, turns } = two
  const kept: Kept[] = []
  const perform = async ({ plane, ask }: PlanedAsk): Promise<void> => {
    const result = await DEEDS[ask.does]?.(toolsOf(planes[plane] as TestCluster, ask), ask)
    if (typeof result === 'function') kept.push(result as Kept)
  }
  try {
    for (const name of NAMES) await perform({ ask: { does: 'make svm', name, other: '', pick: 0 }, plane: 0 })
    for (const round of rounds) {
      if (isOver()) break
      await Promise.all(round.map(perform))
      await isQuiet(planes, turns)
      for (const plane of planes) {
        await removeOwedTrees(plane.cluster, new AbortController().signal)
        const wrong = [...(await leftovers(plane.cluster, 'nowhere')), ...(await brokenPromises(plane.cluster))]
        for (const each of kept) wrong.push((await each(plane)) ?? '')
        assert.deepEqual(
          wrong.filter((each) => each !== ''),
          [],
          JSON.stringify(round),
        )
      }
    }
    for (const { logged } of planes) {
      assert.deepEqual(
        logged.filter(({ level }) => level === 'error'),
        [],
      )
    }
  } finally {
    await two.close()
  }
}

test('requests to two management planes on one catalog leave it whole', async (context) => {
  const isOver = timeLimit(isWhole ? LIMIT_MS : Infinity)
  const asks = fc.tuple(anyAsk(DEEDS), fc.nat(1)).map(([ask, plane]): PlanedAsk => ({ ask, plane }))
  const rounds = fc.array(fc.array(asks, { minLength: 4, maxLength: 16 }), { minLength: 5, maxLength: ROUNDS_MAX })
  await fc.assert(
    fc.asyncProperty(fc.nat(), rounds, (seed, many) => runRounds(seed, many, isOver)),
    {
      seed: seedOf(context),
      numRuns: RUNS,
      endOnFailure: process.env['HOLDFAST_TEST_SHRINK'] === undefined,
    },
  )
})
