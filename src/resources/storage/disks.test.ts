import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordsOf } from '../../../test/support/body.ts'
import { startTestCluster } from '../../../test/support/cluster.ts'

const DISKS = '/api/storage/disks'

test('a disk is a file system that aggregates lie on: one for all of them that share it', async () => {
  const cluster = await startTestCluster({ isBare: true, capacityBytes: 2 ** 40 })
  const aggregate = (name: string, path: string) =>
    cluster.call('POST', '/api/storage/aggregates', { name, block_storage: { path } })
  for (const [name, path] of [
    ['aggr2', '/disk2/a'],
    ['aggr3', '/disk2/b'],
  ] as const) {
    assert.equal((await aggregate(name, path)).status, 201)
  }
  const { body } = await cluster.call('GET', `${DISKS}?fields=*`)
  const rows = recordsOf(body).toSorted(
    (a, b) => Number(a['aggregates']?.['length']) - Number(b['aggregates']?.['length']),
  )
  assert.deepEqual(
    rows.map((row) => [
      row['container_type'],
      recordsOf({ records: row['aggregates'] ?? row }).map((one) => one['name']),
    ]),
    [
      ['aggregate', ['aggr1']],
      ['aggregate', ['aggr2', 'aggr3']],
    ],
  )
  assert.equal(rows[0]?.['usable_size'], 2 ** 40)
  const spare = await cluster.call('GET', `${DISKS}?home_node.name=node1&container_type=spare&fields=name`)
  assert.deepEqual(recordsOf(spare.body), [])
  await cluster.close()
})
