import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf } from '../../../../test/support/body.ts'
import { startTestCluster } from '../../../../test/support/cluster.ts'
import { codeOf } from '../../../model/failure.ts'

const VOLUMES = '/api/storage/volumes'
const SMALL = { size: '20m', 'guarantee.type': 'none' }

test('settings without effect come back as they were set, and are usual where nobody sets them', async () => {
  const cluster = await startTestCluster()
  const nas = { path: '/v', security_style: 'mixed', unix_permissions: '0750', uid: 1001, gid: '1002' }
  const others = {
    tiering: { policy: 'auto', min_cooling_days: 14 },
    files: { maximum: 500 },
    analytics: { state: 'on' },
  }
  const space = { logical_space: { enforcement: true, reporting: true } }
  const made = await cluster.call('POST', VOLUMES, { name: 'v', svm: 'svm1', ...SMALL, nas, ...others, space })
  assert.equal(made.status, 201)
  const fields = 'nas,tiering,files,analytics,space.logical_space.enforcement,encryption,snaplock,anti_ransomware'
  const read = async (name: string) => {
    const path = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, name)}?fields=${fields}`
    const { _links, ...body } = (await cluster.call('GET', path)).body
    // The number of a policy is the product's choice.
    const { export_policy: policy, ...own } = body['nas'] as unknown as { export_policy: { name: string } }
    return { ...body, nas: { ...own, export_policy: { name: policy.name } } }
  }
  const refused = {
    encryption: { enabled: false },
    snaplock: { type: 'non_snaplock' },
    anti_ransomware: { state: 'disabled' },
  }
  assert.deepEqual(await read('v'), {
    nas: { ...nas, unix_permissions: 750, gid: 1002, export_policy: { name: 'default' } },
    ...others,
    files: { maximum: 500, used: 0 },
    space: { logical_space: { enforcement: true } },
    ...refused,
  })
  await cluster.call('POST', VOLUMES, { name: 'w', svm: 'svm1', ...SMALL })
  assert.deepEqual(await read('w'), {
    nas: { security_style: 'unix', unix_permissions: 755, uid: 0, gid: 0, export_policy: { name: 'default' } },
    tiering: { policy: 'none' },
    files: { maximum: 640, used: 0 },
    analytics: { state: 'off' },
    space: { logical_space: { enforcement: false } },
    ...refused,
  })
  await cluster.close()
})

test('what would deceive is refused by name, when a volume is made and when it is changed', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', VOLUMES, { name: 'v', svm: 'svm1', ...SMALL })
  const path = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'v')}`
  for (const [field, value] of [
    ['encryption.enabled', true],
    ['anti_ransomware.state', 'enabled'],
    ['snaplock.type', 'compliance'],
  ] as const) {
    const made = await cluster.call('POST', VOLUMES, { name: 'w', svm: 'svm1', ...SMALL, [field]: value })
    assert.deepEqual([made.status, made.body['error']?.['target']], [422, field])
    const changed = await cluster.call('PATCH', path, { [field]: value })
    assert.deepEqual([changed.status, changed.body['error']?.['target']], [422, field])
  }
  assert.equal((await cluster.call('PATCH', path, { 'encryption.enabled': false })).status, 200)
  await cluster.close()
})

test('two volumes of an SVM are not mounted in one place, and a volume leaves its place', async () => {
  const cluster = await startTestCluster()
  const make = (name: string, path: string, svm = 'svm1') =>
    cluster.call('POST', VOLUMES, { name, svm, ...SMALL, 'nas.path': path })
  assert.equal((await make('v', '/here/v')).status, 201)
  const taken = await make('w', '/here/v')
  assert.deepEqual([taken.status, taken.body['error']?.['target']], [422, 'nas.path'])
  for (const path of ['here', '/', '/here/', '/here//v', '/here/../v']) {
    assert.equal((await make('w', path)).status, 422, path)
  }
  const volume = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'v')}`
  await cluster.call('POST', '/api/svm/svms', { name: 'svm2' })
  assert.equal((await make('v', '/here/v', 'svm2')).status, 201, 'another SVM has places of its own')
  assert.equal((await cluster.call('PATCH', volume, { 'nas.path': '' })).status, 200)
  assert.equal((await cluster.call('GET', `${volume}?fields=nas.path`)).body['nas'], undefined)
  assert.equal((await make('w', '/here/v')).status, 201)
  const back = await cluster.call('PATCH', volume, { 'nas.path': '/here/v' })
  assert.deepEqual([back.status, back.body['error']?.['code']], [422, codeOf('mountPathTaken')])
  await cluster.close()
})

test('a clone has the owner and the permissions of its parent, but not its place', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', VOLUMES, { name: 'v', svm: 'svm1', ...SMALL, nas: { path: '/v', uid: 7, gid: 8 } })
  const made = await cluster.call('POST', VOLUMES, {
    name: 'c',
    svm: 'svm1',
    clone: { is_flexclone: true, parent_volume: { name: 'v' } },
    'nas.gid': 9,
  })
  assert.equal(made.status, 201)
  const { body } = await cluster.call('GET', `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'c')}?fields=nas`)
  assert.deepEqual([body['nas']?.['uid'], body['nas']?.['gid'], body['nas']?.['path']], [7, 9, undefined])
  await cluster.close()
})

test('a volume goes back to the snapshot that the body names', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', VOLUMES, { name: 'v', svm: 'svm1', ...SMALL })
  const path = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'v')}`
  for (const name of ['first', 'second']) {
    const taken = await cluster.call('POST', `${path}/snapshots`, { name, svm: { name: 'svm1' } })
    assert.equal(taken.status, 201)
  }
  const restored = await cluster.call('PATCH', path, { restore_to: { snapshot: { name: 'first' } } })
  assert.equal(restored.status, 200)
  const left = await cluster.call('GET', `${path}/snapshots?fields=name`)
  assert.deepEqual(
    recordsOf(left.body).map(({ name }) => asText(name)),
    ['first'],
  )
  assert.equal((await cluster.call('PATCH', path, { 'restore_to.snapshot.name': 'second' })).status, 422)
  await cluster.close()
})

test('a snapshot is not made with another SVM than that of its volume', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', '/api/svm/svms', { name: 'svm2' })
  const path = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'vol1')}/snapshots`
  const refused = await cluster.call('POST', path, { name: 's', svm: { name: 'svm2' } })
  assert.deepEqual([refused.status, refused.body['error']?.['code']], [422, codeOf('snapshotVolumeOfOtherSvm')])
  await cluster.close()
})
