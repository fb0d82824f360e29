import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordsOf } from '../../../../test/support/body.ts'
import { startTestCluster } from '../../../../test/support/cluster.ts'

const VOLUMES = '/api/storage/volumes'
const SMALL = { svm: 'svm1', size: '20m', 'guarantee.type': 'none' }
const FIELDS = 'access_time_enabled,activity_tracking,granular_data,language,space,tiering,snapmirror,is_constituent'

test('settings for files and for snapshots that go by themselves come back as they were set', async () => {
  const cluster = await startTestCluster()
  const autodelete = {
    enabled: true,
    trigger: 'snap_reserve',
    target_free_space: 30,
    delete_order: 'newest_first',
    defer_delete: 'prefix',
    prefix: 'daily',
    commitment: 'disrupt',
  }
  const wanted = {
    access_time_enabled: false,
    activity_tracking: { state: 'on' },
    granular_data: true,
    tiering: { object_tags: ['team=storage'] },
    space: { snapshot: { autodelete }, fractional_reserve: 100, large_size_enabled: true },
  }
  assert.equal(
    (await cluster.call('POST', VOLUMES, { name: 'v', ...SMALL, ...wanted, language: 'utf8mb4' })).status,
    201,
  )
  const path = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'v')}`
  assert.equal((await cluster.call('PATCH', path, wanted)).status, 200)
  const { body } = await cluster.call('GET', `${path}?fields=${FIELDS}`)
  const { space } = body
  assert.deepEqual(space?.['snapshot']?.['autodelete'], autodelete)
  assert.deepEqual([space['fractional_reserve'], space['large_size_enabled']], [100, true])
  assert.equal(space['snapshot']['autodelete_enabled'], true)
  assert.deepEqual(
    [body['access_time_enabled'], body['activity_tracking'], body['granular_data'], body['language']],
    [false, { state: 'on' }, true, 'utf8mb4'],
  )
  assert.deepEqual(body['tiering']?.['object_tags'], ['team=storage'])
  await cluster.close()
})

test('a volume of which nothing is said has the usual settings, and the language of its SVM', async () => {
  const cluster = await startTestCluster()
  const { body } = await cluster.call('GET', `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'vol1')}?fields=${FIELDS}`)
  assert.deepEqual(body['space']?.['snapshot']?.['autodelete'], {
    enabled: false,
    trigger: 'volume',
    target_free_space: 20,
    delete_order: 'oldest_first',
    defer_delete: 'user_created',
    prefix: '',
    commitment: 'try',
  })
  assert.deepEqual([body['language'], body['access_time_enabled'], body['is_constituent']], ['c.utf_8', true, false])
  assert.deepEqual(body['snapmirror'], { is_protected: false, destinations: { is_ontap: false, is_cloud: false } })
  await cluster.close()
})

test('a volume is no part of another, and snapshots are not locked by policies', async () => {
  const cluster = await startTestCluster()
  const parts = await cluster.call('GET', `${VOLUMES}?is_constituent=true`)
  assert.deepEqual(recordsOf(parts.body), [])
  const made = await cluster.call('POST', VOLUMES, { name: 'v', ...SMALL, snapshot_locking_enabled: true })
  assert.deepEqual([made.status, made.body['error']?.['target']], [422, 'snapshot_locking_enabled'])
  await cluster.close()
})

test('the finer figures of the space of a volume add up, and are given when they are asked for', async () => {
  const cluster = await startTestCluster()
  const sizes = { name: 'v', svm: 'svm1', size: 1000 * 2 ** 20, guarantee: { type: 'volume' } }
  const reserve = { space: { snapshot: { reserve_percent: 10 } } }
  assert.equal((await cluster.call('POST', VOLUMES, { ...sizes, ...reserve })).status, 201)
  const path = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'v')}`
  const { body } = await cluster.call('GET', `${path}?fields=space`)
  const mega = (word: string) => Number(body['space']?.[word]) / 2 ** 20
  assert.deepEqual(
    ['afs_total', 'filesystem_size', 'expected_available', 'size_available_for_snapshots', 'total_footprint'].map(mega),
    [900, 1000, 900, 1000, 1000],
  )
  assert.deepEqual(
    ['volume_guarantee_footprint', 'performance_tier_footprint', 'over_provisioned', 'user_data', 'metadata'].map(mega),
    [1000, 0, 0, 0, 0],
  )
  const whole = await cluster.call('GET', `${path}?fields=*`)
  assert.deepEqual([whole.body['space']?.['user_data'], whole.body['space']?.['used']], [undefined, 0])
  await cluster.close()
})

test('a volume is consistent, no root of its SVM, and of no fixed size, as Manila asks', async () => {
  const cluster = await startTestCluster()
  const volumes = '/api/storage/volumes'
  const found = await cluster.call('GET', `${volumes}?style=flex*&error_state.is_inconsistent=false&name=vol1`)
  assert.equal(recordsOf(found.body).length, 1)
  const roots = await cluster.call('GET', `${volumes}?is_svm_root=True&svm.name=svm1`)
  assert.deepEqual(recordsOf(roots.body), [])
  const path = `${volumes}/${await cluster.uuidOf(volumes, 'vol1')}`
  const fix = (fixed: boolean) => cluster.call('PATCH', path, { space: { filesystem_size_fixed: fixed } })
  assert.deepEqual([(await fix(false)).status, (await fix(true)).status], [200, 422])
  await cluster.close()
})
