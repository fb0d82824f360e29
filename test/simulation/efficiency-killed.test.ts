/**
 * An efficiency run over real files, killed again and again: before or after a commit chosen by chance, so that files have
 * changed of which the catalog does not know yet; and taken up each time from what a killed process leaves
 * ([until-commit.ts](until-commit.ts)). In the end every byte is there, and what the catalog says of each file is so.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Housekeeping } from '../../src/background/housekeeping.ts'
import { SimulatedRandom } from '../../src/engines/simulated/random.ts'
import { contents, textOf } from '../../src/ports/volumes.suite.ts'
import { EFFICIENCY_RUNS } from '../../src/resources/storage/volumes/efficiency-runs.ts'
import { runChild } from '../support/child.ts'
import { efficiencyVolume } from '../support/efficiency.ts'
import { openJobsCluster } from '../support/jobs-cluster.ts'
import { QUICK_DISK } from '../support/quick-disk.ts'
import { seedOf } from '../support/seed.ts'
import { isWhole } from '../support/whole.ts'
import { runEfficiency } from './efficiency-run.ts'
import { type End, untilCommit } from './until-commit.ts'

const CHILD = fileURLToPath(new URL('run-efficiency.ts', import.meta.url))
const BODIES = 40
/** A run that would note something every two seconds does it for each blob. */
const NOTING_PACE = 10_000

test(
  'a run that is killed at any commit loses no byte, and in the end the catalog says what is so',
  { timeout: 300_000 },
  async (context) => {
    const random = new SimulatedRandom(seedOf(context))
    const root = mkdtempSync(join(QUICK_DISK, 'holdfast-efficiency-'))
    let folder = join(root, 'cluster')
    try {
      mkdirSync(folder)
      const open = openJobsCluster(folder)
      const { put, volume: of } = await efficiencyVolume(open, folder)
      const texts = Array.from({ length: 6 }, () => textOf(5000 + random.below(400_000)))
      const bodies = new Map<string, Buffer>()
      for (let n = 0; n < BODIES; n++) {
        const body = random.chance(0.7) ? texts[random.below(6)] : random.bytes(1 + random.below(50_000))
        if (body !== undefined) bodies.set(await put(`k${n}`, body), body)
      }
      await open.close()

      let deaths = 0
      for (let starts = 0; ; starts++) {
        assert.ok(starts < 200, 'the run comes to its end')
        const left = await killed(folder, of, {
          // Early at first, so that it dies more than once.
          commits: 6 + random.below(deaths < 3 ? 3 : 14),
          when: random.chance(0.5) ? 'before' : 'after',
        })
        if (left === undefined) break
        folder = left
        deaths++
      }
      context.diagnostic(`killed ${deaths} times`)
      assert.ok(deaths >= 3)

      const after = openJobsCluster(folder)
      const { engine, volume, sums, run, checkFiles } = await efficiencyVolume(after, folder)
      await new Housekeeping(after.cluster, after.jobs).sweep(Date.now())
      for (const [blob, body] of bodies) assert.ok((await contents(engine, volume, blob)).equals(body))
      await checkFiles()
      const { used, compression, dedupe } = await sums()
      const whole = [...bodies.values()].reduce((sum, body) => sum + body.length, 0)
      assert.equal(used + compression + dedupe, whole)
      const once = [...new Set(bodies.values())].reduce((sum, body) => sum + body.length, 0)
      assert.equal(dedupe, whole - once, 'the same is stored once')
      assert.equal((await after.cluster.rows(EFFICIENCY_RUNS, volume)).length, 1)
      const again = await run({ compression: true, dedupe: true })
      assert.equal(again['saved'], 0)
      await after.close()
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  },
)

/** The folder that is left when the run is killed at a commit, with HOLDFAST_TEST_WHOLE=1 in a process of its own. */
async function killed(folder: string, volume: string, end: End): Promise<string | undefined> {
  if (!isWhole) return untilCommit(folder, end, (open) => runEfficiency(open, volume), NOTING_PACE)
  const ended = await runChild(CHILD, [folder, volume, JSON.stringify(end)])
  assert.ok(ended === 0 || ended === 'SIGKILL', String(ended))
  return ended === 0 ? undefined : folder
}
