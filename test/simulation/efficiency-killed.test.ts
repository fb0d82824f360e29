/**
 * An efficiency run over real files, killed again and again: before or after a commit chosen by chance, so that files have
 * changed of which the catalog does not know yet; and taken up each time by a new process. In the end every byte is there,
 * and what the catalog says of each file is so.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Housekeeping } from '../../src/core/housekeeping.ts'
import { SimulatedRandom } from '../../src/engines/simulated/random.ts'
import { contents, textOf } from '../../src/ports/volumes.suite.ts'
import { EFFICIENCY_RUNS } from '../../src/resources/storage/volumes/efficiency-runs.ts'
import { runChild } from '../support/child.ts'
import { efficiencyVolume } from '../support/efficiency.ts'
import { openJobsCluster } from '../support/jobs-cluster.ts'
import { seedOf } from '../support/seed.ts'

const CHILD = fileURLToPath(new URL('run-efficiency.ts', import.meta.url))
const BODIES = 40

test(
  'a run that is killed at any commit loses no byte, and in the end the catalog says what is so',
  { timeout: 300_000 },
  async (context) => {
    const random = new SimulatedRandom(seedOf(context))
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-efficiency-'))
    try {
      const open = openJobsCluster(folder)
      const { put } = await efficiencyVolume(open, folder)
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
        const ended = await runChild(CHILD, [
          folder,
          String(6 + random.below(14)),
          random.chance(0.5) ? 'before' : 'after',
        ])
        if (ended === 0) break
        assert.equal(ended, 'SIGKILL')
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
      rmSync(folder, { recursive: true, force: true })
    }
  },
)
