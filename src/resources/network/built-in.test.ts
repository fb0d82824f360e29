import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestCluster, type TestCluster, testMachine } from '../../../test/support/cluster.ts'
import { addBuiltIns } from '../first-start.ts'

const TYPES = [
  'network/ipspaces',
  'network/ethernet/broadcast-domains',
  'support/ems/filters',
  'support/ems/destinations',
] as const

async function countsOf({ cluster }: TestCluster): Promise<number[]> {
  return Promise.all(TYPES.map(async (type) => (await cluster.rows(type)).length))
}

test('a cluster from before there was a network has one after the next start, and later starts add nothing', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const { catalog } = cluster.cluster
  for (const type of TYPES) {
    for (const { key } of await catalog.records(type)) await catalog.commit([{ do: 'remove-record', type, key }])
  }
  assert.deepEqual(await countsOf(cluster), [0, 0, 0, 0])
  for (let starts = 0; starts < 2; starts++) {
    await addBuiltIns(cluster.cluster)
    assert.deepEqual(await countsOf(cluster), [1, 1, 3, 1])
  }
  await cluster.close()
})

test('a broadcast domain that was deleted does not come back, even where the cluster came with it', async () => {
  const cluster = await startTestCluster({ isBare: true, machine: testMachine([]) })
  const domains = '/api/network/ethernet/broadcast-domains'
  const path = `${domains}/${await cluster.uuidOf(domains, 'Default')}`
  assert.equal((await cluster.call('DELETE', path)).status, 200)
  await addBuiltIns(cluster.cluster)
  assert.deepEqual(await countsOf(cluster), [1, 0, 3, 1])
  await cluster.close()
})
