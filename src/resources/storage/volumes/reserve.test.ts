import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestCluster } from '../../../../test/support/cluster.ts'

const MB = 2 ** 20

test('what is kept for snapshots is not there for objects, and is told as tools ask for it', async () => {
  const cluster = await startTestCluster()
  const made = await cluster.call('POST', '/api/storage/volumes?return_timeout=15', {
    name: 'reserved',
    svm: { name: 'svm1' },
    size: 100 * MB,
    space: { snapshot: { reserve_percent: 10 } },
  })
  assert.ok(made.status < 300, JSON.stringify(made.body))
  const volume = `/api/storage/volumes/${await cluster.uuidOf('/api/storage/volumes', 'reserved')}`
  const space = async () => (await cluster.call('GET', `${volume}?fields=space`)).body['space']
  const snapshot = async () => (await space())?.['snapshot']
  assert.deepEqual((await space())?.['available'], 90 * MB)
  assert.deepEqual([(await snapshot())?.['reserve_percent'], (await snapshot())?.['reserve_size']], [10, 10 * MB])

  const changed = await cluster.call('PATCH', volume, { size: 200 * MB, space: { snapshot: { reserve_percent: 50 } } })
  assert.ok(changed.status < 300, JSON.stringify(changed.body))
  assert.deepEqual([(await space())?.['available'], (await snapshot())?.['reserve_available']], [100 * MB, 100 * MB])
  // The part goes with the size.
  assert.ok((await cluster.call('PATCH', volume, { size: 100 * MB })).status < 300)
  assert.equal((await snapshot())?.['reserve_size'], 50 * MB)
  const wrong = await cluster.call('PATCH', volume, { space: { snapshot: { reserve_percent: 91 } } })
  assert.equal(wrong.status, 422)
  await cluster.close()
})
