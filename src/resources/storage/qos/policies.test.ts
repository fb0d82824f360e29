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

test('the policy "none" takes the policy away, wherever one can be set', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', POLICIES, { name: 'p', svm: 'svm1', fixed: { max_throughput_iops: 1000 } })
  const bucket = { name: 'papers', svm: 'svm1', qos_policy: 'p' }
  await cluster.call('POST', '/api/protocols/s3/buckets?return_timeout=15', bucket)
  const svm = await cluster.uuidOf('/api/svm/svms', 'svm1')
  const volume = `/api/storage/volumes/${await cluster.uuidOf('/api/storage/volumes', 'vol1')}`
  const places = [
    [volume, (name: string) => ({ qos: { policy: { name } } }), 'qos.policy'],
    [`/api/svm/svms/${svm}`, (name: string) => ({ qos_policy: { name } }), 'qos_policy'],
    [
      `/api/protocols/s3/buckets/${svm}/${await cluster.uuidOf('/api/protocols/s3/buckets', 'papers')}`,
      (name: string) => ({ qos_policy: { name } }),
      'qos_policy',
    ],
  ] as const
  for (const [path, body, field] of places) {
    assert.ok((await cluster.call('PATCH', `${path}?return_timeout=15`, body('p'))).status < 300, path)
    assert.ok((await cluster.call('PATCH', `${path}?return_timeout=15`, body('none'))).status < 300, path)
    const asked = `${path}?fields=${field}.name`
    const shown = (await cluster.call('GET', asked)).body
    assert.deepEqual([shown['qos'], shown['qos_policy']], [undefined, undefined], path)
  }
  await cluster.close()
})
