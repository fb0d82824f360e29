import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestCluster } from '../../../../test/support/cluster.ts'
import { partial } from '../../../../test/support/partial.ts'
import { textAt } from '../../../model/value.ts'
import { SCHEDULES } from '../../cluster/schedules.ts'
import { addBuiltIns } from './built-in.ts'
import { copiesOf, SNAPSHOT_POLICIES } from './copies.ts'

const compare = (a: string, b: string) => (a < b ? -1 : 1)

test('a cluster from before there were schedules gets them once, and its policies keep their uuids', async () => {
  const { cluster } = await startTestCluster({ isBare: true })
  const schedules = await cluster.rows(SCHEDULES)
  const policies = await cluster.rows(SNAPSHOT_POLICIES)
  const uuids = policies.map((policy) => textAt(policy, 'uuid')).toSorted(compare)
  await cluster.commit([
    ...schedules.map((row) => ({ do: 'remove-record', type: SCHEDULES, key: textAt(row, 'uuid') }) as const),
    ...policies.map(({ uuid, name, enabled }) =>
      cluster.put(partial(SNAPSHOT_POLICIES), { uuid, name, enabled: enabled ?? false }),
    ),
  ])
  await addBuiltIns(cluster)
  const after = await cluster.rows(SNAPSHOT_POLICIES)
  assert.deepEqual(after.map((policy) => textAt(policy, 'uuid')).toSorted(compare), uuids)
  const counts = copiesOf(after.find((policy) => policy['name'] === 'default')).map(({ prefix, count }) => [
    prefix,
    count,
  ])
  assert.deepEqual(counts, [
    ['hourly', 6],
    ['daily', 2],
    ['weekly', 2],
  ])
  const keys = (await cluster.rows(SCHEDULES)).map((row) => row['uuid'])
  assert.equal(keys.length, schedules.length)
  await addBuiltIns(cluster)
  assert.deepEqual(
    (await cluster.rows(SCHEDULES)).map((row) => row['uuid']),
    keys,
  )
  await cluster.catalog.close()
})
