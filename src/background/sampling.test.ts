import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestCluster } from '../../test/support/cluster.ts'
import type { Catalog } from '../ports/catalog.ts'
import { SimulatedClock } from '../engines/simulated/clock.ts'
import { Cluster } from '../core/cluster.ts'
import { FINEST } from '../core/metrics/intervals.ts'
import { Sampling } from './sampling.ts'

const MINUTE = 60_000

/**
 * The parts of a cluster that sampling works with, at a time that stands still until it is moved, and while the catalog
 * is being asked.
 */
async function bed() {
  const { cluster } = await startTestCluster({ isBare: true })
  const { catalog, isAsked } = watched(cluster.catalog)
  const clock = new SimulatedClock(Date.UTC(2026, 0, 1, 12, 0, 4), isAsked)
  const { system, behaviours, release, log, secrets } = cluster
  const start = () =>
    new Cluster({
      catalog,
      system: { ...system, clock },
      behaviours,
      release,
      log,
      secrets,
      volumesOf: () => assert.fail(),
    })
  return { clock, start }
}

/** The catalog, and whether an answer of it is being waited for. */
function watched(catalog: Catalog): { catalog: Catalog; isAsked: () => boolean } {
  let asked = 0
  const count = (answer: unknown) => {
    asked++
    void Promise.allSettled([answer]).then(() => asked--)
    return answer
  }
  const seen = new Proxy(catalog, {
    get(target, name: keyof Catalog) {
      const act: unknown = target[name]
      if (typeof act !== 'function') return act
      return (...given: unknown[]): unknown => count(Reflect.apply(act, target, given))
    },
  })
  return { catalog: seen, isAsked: () => asked > 0 }
}

test('samples are taken at quarters of a minute; the first after a start tells that it is not whole', async () => {
  const { clock, start } = await bed()
  const cluster = start()
  const sampling = new Sampling(cluster)
  sampling.start()
  await clock.advance(MINUTE)
  const measured = await cluster.metrics.history.read('cluster', FINEST, clock.now())
  assert.deepEqual(
    measured.map(({ timeMs, coveredMs }) => [new Date(timeMs).toISOString().slice(14, 19), coveredMs]),
    [
      ['00:15', 11_050],
      ['00:30', 15_000],
      ['00:45', 15_000],
      ['01:00', 15_000],
    ],
  )
  await sampling.stop()
})

test('what was sampled before a stop is there after the next start', async () => {
  const { clock, start } = await bed()
  for (let starts = 1; starts <= 3; starts++) {
    const cluster = start()
    const sampling = new Sampling(cluster)
    sampling.start()
    await clock.advance(MINUTE / 2)
    await sampling.stop()
    const measured = await start().metrics.history.read('cluster', FINEST, clock.now())
    assert.equal(measured.length, 2 * starts)
  }
})
