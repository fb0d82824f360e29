/**
 * Random requests, several at the same time, on few names, so that they meet: whatever becomes of each, none is a 500,
 * and afterwards nothing is left that does not belong to something.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { removeOwedTrees } from '../../src/storage/removed-trees.ts'
import { startTestCluster } from '../support/cluster.ts'
import { leftovers } from '../support/leftovers.ts'
import { seedOf } from '../support/seed.ts'
import { timeLimit } from '../support/time-limit.ts'
import { anyAsk, NAMES, perform, STORAGE_DEEDS } from './requests/storage.ts'

const LIMIT_MS = 25_000

test('requests that meet leave nothing behind that does not belong to something', async (context) => {
  const isOver = timeLimit(LIMIT_MS)
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(anyAsk(STORAGE_DEEDS), { minLength: 1, maxLength: 8 }), { minLength: 10, maxLength: 30 }),
      async (rounds) => {
        if (isOver()) return
        const cluster = await startTestCluster({ isBare: true })
        try {
          for (const name of NAMES) await perform(cluster, { does: 'make svm', name, other: '', pick: 0 })
          for (const round of rounds) {
            if (isOver()) break
            await Promise.all(round.map((ask) => perform(cluster, ask)))
            await removeOwedTrees(cluster.cluster, new AbortController().signal)
            assert.deepEqual(await leftovers(cluster.cluster, 'nowhere'), [], JSON.stringify(round))
          }
          assert.deepEqual(
            cluster.logged.filter(({ level }) => level === 'error'),
            [],
          )
        } finally {
          await cluster.close()
        }
      },
    ),
    {
      seed: seedOf(context),
      numRuns: 25,
      endOnFailure: process.env['HOLDFAST_TEST_SHRINK'] === undefined,
    },
  )
})
