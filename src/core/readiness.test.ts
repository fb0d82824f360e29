import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimulatedClock } from '../engines/simulated/clock.ts'
import { CatalogUnavailable, CommitRefused } from '../ports/catalog.ts'
import { ANSWER_KEPT_MS, ANSWER_MS_MAX, Readiness } from './readiness.ts'

test('the cluster is ready while its writer takes commits, and asks once for many who ask', async () => {
  const clock = new SimulatedClock()
  let asked = 0
  let answer: () => Promise<readonly []> = () => Promise.resolve([])
  const readiness = new Readiness(
    {
      commit: () => {
        asked++
        return answer()
      },
    },
    clock,
  )
  const all = await Promise.all(Array.from({ length: 100 }, () => readiness.canCommit()))
  assert.deepEqual([new Set(all), asked], [new Set([true]), 1])
  for (const failure of [new CommitRefused('no-space', 0), new CatalogUnavailable('It is gone.')]) {
    answer = () => Promise.reject(failure)
    await clock.advance(ANSWER_KEPT_MS)
    assert.equal(await readiness.canCommit(), false)
  }
  answer = () => new Promise(() => undefined)
  await clock.advance(ANSWER_KEPT_MS)
  const late = readiness.canCommit()
  await clock.advance(ANSWER_MS_MAX)
  assert.equal(await late, false)
  answer = () => Promise.resolve([])
  await clock.advance(ANSWER_KEPT_MS)
  assert.equal(await readiness.canCommit(), true)
})
