import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestCluster } from '../../../../test/support/cluster.ts'

const POLICIES = '/api/storage/qos/policies'

test('null takes what an adaptive policy says back to what it is where nothing is said', async () => {
  const cluster = await startTestCluster()
  const adaptive = { peak_iops: 500, expected_iops: 200, block_size: '4k' }
  await cluster.call('POST', POLICIES, { name: 'p', svm: 'svm1', adaptive })
  const path = `${POLICIES}/${await cluster.uuidOf(POLICIES, 'p')}`
  const change = { adaptive: { peak_iops: 600, block_size: null, absolute_min_iops: null } }
  assert.equal((await cluster.call('PATCH', path, change)).status, 200)
  const { body } = await cluster.call('GET', `${path}?fields=adaptive`)
  assert.deepEqual(
    ['peak_iops', 'expected_iops', 'block_size', 'absolute_min_iops'].map((field) => body['adaptive']?.[field]),
    [600, 200, 'any', 0],
  )
  const refused = await cluster.call('PATCH', path, { 'adaptive.peak_iops': null })
  assert.deepEqual([refused.status, refused.body['error']?.['target']], [422, 'adaptive.peak_iops'])
  await cluster.close()
})
