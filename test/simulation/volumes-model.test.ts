/**
 * A cluster of volumes against a plain model of it: random puts, copies, deletes, uploads, versions, snapshots, restores,
 * volumes and buckets that come and go, while the process ends at any call, disks fail and commits are lost. What is done
 * is a table in [volumes/operations.ts](volumes/operations.ts); the long run is [volumes/long-run.ts](volumes/long-run.ts).
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { seedOf } from '../support/seed.ts'
import { isWhole } from '../support/whole.ts'
import { operations } from './volumes/operations.ts'
import { leftToChance } from './volumes/operations/cluster.ts'
import { breakEverywhere, run, seedsOf } from './volumes/run.ts'

const RUNS = isWhole ? 3 : 2
const STEPS = Number(process.env['HOLDFAST_TEST_STEPS'] ?? 120)

test('contents, listings and sizes are those of the model at every step', { timeout: 600_000 }, async (context) => {
  const first = seedOf(context)
  for (let seed = first; seed < first + RUNS; seed++) {
    const { steps, ends, faults } = await run(seed, seedsOf(seed, STEPS))
    context.diagnostic(`seed ${seed}: ${steps} steps, ${ends} ends of the process, ${faults} faults`)
    assert.equal(steps, STEPS)
  }
})

const broken = operations.filter(({ name }) => !leftToChance.includes(name))
/** A plain run breaks every sixth one, `.ci/run` all of them: from which one on, chance or the seed says. */
const PART = 6
const part = Number(process.env['HOLDFAST_TEST_SEED'] ?? randomInt(PART)) % PART

for (const operation of broken.filter((_, at) => isWhole || at % PART === part)) {
  test(`${operation.name}, broken at each of its calls, is done or undone`, { timeout: 600_000 }, async (context) => {
    const broken = await breakEverywhere(seedOf(context), operation)
    context.diagnostic(`broken ${broken} times`)
    assert.ok(broken > 0)
  })
}
