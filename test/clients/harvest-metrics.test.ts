/**
 * How many of the metrics that the dashboards of NetApp Harvest show could be made of what a cluster answers that has
 * volumes, snapshots, quotas, qtrees and load. Harvest itself is not run.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { coverageOf, type Metric, pollMetrics, surprises } from '../harvest/coverage.ts'
import { type Poller, startPoller } from '../harvest/poller.ts'
import { harvestSection } from '../harvest/table.ts'
import { insistOnSection } from '../support/page-section.ts'

/** Of metrics of what exists here. */
const PERCENT_MIN = 95

describe('metrics for the dashboards of Harvest', () => {
  let poller: Poller
  let metrics: readonly Metric[]
  before(async () => {
    poller = await startPoller()
    metrics = await pollMetrics(poller)
  })
  after(() => poller.close())

  it('each dashboard has what it needs of what exists here', () => {
    for (const { dashboard, existing, present } of coverageOf(metrics)) {
      assert.ok(present >= (existing * PERCENT_MIN) / 100, `${dashboard}: ${present} of ${existing}`)
    }
  })

  it('what is absent is listed with the reason, and what is listed is absent', () => {
    assert.deepEqual(surprises(metrics), [])
  })

  it('docs/compatibility.md says how many', () =>
    insistOnSection('docs/compatibility.md', 'NetApp Harvest', harvestSection(coverageOf(metrics))))
})
