/**
 * A lifecycle run over real files, killed again and again: before or after a commit chosen by chance, and taken up each
 * time from what a killed process leaves ([until-commit.ts](until-commit.ts)). In the end exactly those rows are gone that
 * the rules say, and the run's record has counted each once.
 *
 * What is to go is worked out here by itself, row by row from the whole history of a key, and not page by page.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { SimulatedRandom } from '../../src/engines/simulated/random.ts'
import { firstStart } from '../../src/resources/first-start.ts'
import { LIFECYCLE_RUNS } from '../../src/resources/protocols/s3/types.ts'
import type { Change } from '../../src/ports/catalog.ts'
import { runChild } from '../support/child.ts'
import { openJobsCluster, type JobsCluster } from '../support/jobs-cluster.ts'
import { allRows, DAY, giveBucket, hide, write } from '../support/lifecycle.ts'
import { QUICK_DISK } from '../support/quick-disk.ts'
import { seedOf } from '../support/seed.ts'
import { isWhole } from '../support/whole.ts'
import { runLifecycle } from './lifecycle-run.ts'
import { type End, untilCommit } from './until-commit.ts'

const CHILD = fileURLToPath(new URL('run-lifecycle.ts', import.meta.url))
const KEYS = 400
const NEWER_KEPT = 3
const RULES = [
  '<Filter><Prefix>a/</Prefix></Filter><Expiration><Days>10</Days></Expiration>',
  `<Filter><Prefix>a/</Prefix></Filter><NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays>
     <NewerNoncurrentVersions>${NEWER_KEPT}</NewerNoncurrentVersions></NoncurrentVersionExpiration>`,
]

interface Made {
  readonly id: string
  readonly modifiedMs: number
  readonly isMarker: boolean
}

test(
  'a run that is killed at any commit goes on where it was, and counts nothing twice',
  { timeout: 300_000 },
  async (context) => {
    const random = new SimulatedRandom(seedOf(context))
    const root = mkdtempSync(join(QUICK_DISK, 'holdfast-lifecycle-'))
    let folder = join(root, 'cluster')
    try {
      mkdirSync(folder)
      const nowMs = Date.now()
      const open = openJobsCluster(folder)
      const bucket = await prepare(open)
      const history = makeHistory(random, nowMs)
      const wanted = await fill(open, bucket, history, nowMs)
      await open.close()

      let deaths = 0
      for (let starts = 0; ; starts++) {
        assert.ok(starts < 200, 'the run comes to its end')
        const left = await killed(folder, {
          commits: 2 + random.below(8),
          when: random.chance(0.5) ? 'before' : 'after',
        })
        if (left === undefined) break
        folder = left
        deaths++
      }
      context.diagnostic(`killed ${deaths} times`)
      assert.ok(deaths >= 3)

      const after = openJobsCluster(folder)
      const rows = await allRows(after.cluster, bucket)
      assert.deepEqual(
        rows.filter((row) => !/@[0-9a-f]{32}\*!$/.test(row)).map((row) => row.replace('*', '')),
        wanted.left,
      )
      const runs = await after.cluster.rows(LIFECYCLE_RUNS)
      assert.equal(runs.length, 1, 'one run, however often it was taken up')
      assert.deepEqual(
        { expired: runs[0]?.['expired_objects'], deleted: runs[0]?.['deleted_versions'] },
        { expired: wanted.expired, deleted: wanted.deleted },
      )
      assert.equal(rows.length, wanted.left.length + wanted.expired, 'each expired key has one new marker')
      await after.close()
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  },
)

/** The folder that is left when the run is killed at a commit, with HOLDFAST_TEST_WHOLE=1 in a process of its own. */
async function killed(folder: string, end: End): Promise<string | undefined> {
  if (!isWhole) return untilCommit(folder, end, runLifecycle)
  const ended = await runChild(CHILD, [folder, JSON.stringify(end)])
  assert.ok(ended === 0 || ended === 'SIGKILL', String(ended))
  return ended === 0 ? undefined : folder
}

async function prepare(open: JobsCluster): Promise<string> {
  await firstStart(open.actions, {
    adminPassword: 'a password for tests',
    accessKey: undefined,
    secretKey: undefined,
    isBare: false,
    aggregateFolder: 'aggr1',
    dataAddress: '127.0.0.1',
  })
  const key = await giveBucket(open.actions, 'killed', RULES)
  await open.cluster.commit([{ do: 'version-bucket', bucket: key, state: 'enabled' }])
  return key
}

/** Versions and markers of each key, oldest first. Some keys have more than a page. */
function makeHistory(random: SimulatedRandom, nowMs: number): Map<string, Made[]> {
  const history = new Map<string, Made[]>()
  for (let at = 0; at < KEYS; at++) {
    const key = `${random.chance(0.8) ? 'a' : 'b'}/${String(at).padStart(4, '0')}`
    const count = random.chance(0.01) ? 250 : 1 + random.below(8)
    const times = Array.from({ length: count }, () => nowMs - random.below(20 * DAY)).toSorted((x, y) => x - y)
    history.set(
      key,
      times.map((modifiedMs, i) => ({ id: `v${i}`, modifiedMs, isMarker: i > 0 && random.chance(0.1) })),
    )
  }
  return history
}

/** Writes the history, and tells what of it is to be there afterwards. */
async function fill(open: JobsCluster, bucket: string, history: ReadonlyMap<string, readonly Made[]>, nowMs: number) {
  const midnightAfter = (ms: number, days: number) => (Math.floor(ms / DAY) + days + 1) * DAY
  const left: string[] = []
  let expired = 0
  let deleted = 0
  const changes: Change[] = []
  for (const [key, versions] of [...history].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    for (const { id, modifiedMs, isMarker } of versions) {
      changes.push(isMarker ? hide(bucket, key, id, modifiedMs) : write(bucket, key, { version: id, modifiedMs }))
    }
    for (const [at, { id, modifiedMs, isMarker }] of [...versions.entries()].toReversed()) {
      const newer = versions[at + 1]
      const isConcerned = key.startsWith('a/')
      if (newer === undefined) {
        const isDue = isConcerned && midnightAfter(modifiedMs, 10) <= nowMs
        if (isDue && !isMarker) expired++
      } else if (isConcerned && versions.length - 2 - at >= NEWER_KEPT && midnightAfter(newer.modifiedMs, 1) <= nowMs) {
        deleted++
        continue
      }
      left.push(`${key}@${id}${isMarker ? '!' : ''}`)
    }
    if (changes.length > 500) await open.cluster.catalog.commit(changes.splice(0))
  }
  await open.cluster.catalog.commit(changes)
  return { left, expired, deleted }
}
