import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText } from '../../../test/support/body.ts'
import { startTestCluster } from '../../../test/support/cluster.ts'
import { REMOVED_TOGETHER } from '../../core/belongings.ts'
import { openSqliteCatalog } from '../../engines/sqlite/catalog.ts'
import type { Catalog, Change } from '../../ports/catalog.ts'

const SVMS = '/api/svm/svms'
const VOLUMES = '/api/storage/volumes'

test('an SVM says what it allows, and says it again as it was set', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', SVMS, { name: 's', ipspace: 'Default', nfs: { allowed: false }, iscsi: { allowed: true } })
  const path = `${SVMS}/${await cluster.uuidOf(SVMS, 's')}`
  const { body } = await cluster.call('GET', `${path}?fields=ipspace,nfs,cifs,iscsi,fcp,nvme,max_volumes`)
  const allowed = (['nfs', 'cifs', 'iscsi', 'fcp', 'nvme'] as const).map((protocol) => body[protocol]?.['allowed'])
  assert.deepEqual(allowed, [false, true, true, false, false])
  assert.deepEqual([body['ipspace']?.['name'], body['max_volumes']], ['Default', 'unlimited'])
  assert.equal((await cluster.call('PATCH', path, { nfs: { allowed: true }, max_volumes: 7 })).status, 200)
  assert.equal((await cluster.call('GET', `${path}?fields=max_volumes`)).body['max_volumes'], '7')
  await cluster.close()
})

test('an SVM has no more volumes than it may have', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', SVMS, { name: 's', max_volumes: '1' })
  const make = (name: string) =>
    cluster.call('POST', VOLUMES, { name, svm: 's', size: '20m', 'guarantee.type': 'none' })
  assert.equal((await make('v')).status, 201)
  assert.equal((await make('w')).status, 409)
  const path = `${SVMS}/${await cluster.uuidOf(SVMS, 's')}`
  await cluster.call('PATCH', path, { max_volumes: 'unlimited' })
  assert.equal((await make('w')).status, 201)
  await cluster.close()
})

test('volumes made without a snapshot policy have that of their SVM, which stays as long as it is named', async () => {
  const cluster = await startTestCluster()
  const POLICIES = '/api/storage/snapshot-policies'
  await cluster.call('POST', POLICIES, { name: 'often', copies: [{ schedule: { name: 'hourly' }, count: 3 }] })
  await cluster.call('POST', SVMS, { name: 's', snapshot_policy: 'often' })
  await cluster.call('POST', VOLUMES, { name: 'v', svm: 's', size: '20m', 'guarantee.type': 'none' })
  const volume = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'v')}`
  const read = await cluster.call('GET', `${volume}?fields=snapshot_policy`)
  assert.equal(read.body['snapshot_policy']?.['name'], 'often')
  await cluster.call('PATCH', volume, { 'snapshot_policy.name': 'none' })
  const policy = `${POLICIES}/${await cluster.uuidOf(POLICIES, 'often')}`
  const refused = await cluster.call('DELETE', policy)
  assert.match(asText(refused.body['error']?.['message']), /The SVM "s" has this snapshot policy/)
  const svm = `${SVMS}/${await cluster.uuidOf(SVMS, 's')}`
  await cluster.call('PATCH', svm, { 'snapshot_policy.name': 'default' })
  assert.equal((await cluster.call('DELETE', policy)).status, 200)
  await cluster.close()
})

test('the volumes of an SVM have no more storage together than its limit, however they come by it', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', SVMS, { name: 's', storage: { limit: '100m', limit_threshold_alert: 50 } })
  const path = `${SVMS}/${await cluster.uuidOf(SVMS, 's')}`
  const make = (name: string, size: string) =>
    cluster.call('POST', VOLUMES, { name, svm: 's', size, 'guarantee.type': 'none' })
  assert.equal((await make('v', '60m')).status, 201)
  const refused = await make('w', '41m')
  assert.deepEqual([refused.status, refused.body['error']?.['target']], [422, 'size'])
  assert.match(asText(refused.body['error']?.['message']), /40 MB of its storage limit left/)
  assert.equal((await make('w', '40m')).status, 201)
  const volume = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'v')}`
  assert.equal((await cluster.call('PATCH', volume, { size: '61m' })).status, 422)
  assert.equal((await cluster.call('PATCH', volume, { size: '50m' })).status, 200)
  const { body } = await cluster.call('GET', `${path}?fields=storage`)
  assert.deepEqual(body['storage'], {
    limit: 100 * 2 ** 20,
    limit_threshold_alert: 50,
    allocated: 90 * 2 ** 20,
    available: 10 * 2 ** 20,
    used_percentage: 90,
    limit_threshold_exceeded: true,
  })
  assert.equal((await cluster.call('PATCH', path, { 'storage.limit': '89m' })).status, 422)
  assert.equal((await cluster.call('PATCH', path, { 'storage.limit': 0 })).status, 200)
  assert.equal((await make('x', '1g')).status, 201)
  const after = await cluster.call('GET', `${path}?fields=storage`)
  assert.deepEqual([after.body['storage']?.['limit'], after.body['storage']?.['available']], [0, undefined])
  await cluster.close()
})

test('a volume that is made for a bucket does not count to the storage of its SVM', async () => {
  const cluster = await startTestCluster()
  const path = `${SVMS}/${await cluster.uuidOf(SVMS, 'svm1')}`
  const storage = async () => (await cluster.call('GET', `${path}?fields=storage`)).body['storage']
  const allocated = (await storage())?.['allocated']
  assert.equal((await cluster.call('PATCH', path, { 'storage.limit': allocated })).status, 200)
  const made = await cluster.call('POST', '/api/protocols/s3/buckets', { name: 'bucket', svm: 'svm1', size: '1g' })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  assert.equal((await storage())?.['allocated'], allocated)
  await cluster.close()
})

test('an SVM tells of its services, its aggregates, and where it looks up names', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', SVMS, { name: 's', aggregates: ['aggr1'], nsswitch: { hosts: ['dns', 'files'] } })
  await cluster.call('POST', '/api/protocols/nfs/services', { svm: 's' })
  const path = `${SVMS}/${await cluster.uuidOf(SVMS, 's')}`
  const fields = 'nfs.enabled,cifs.enabled,s3.enabled,nsswitch,ipspace,aggregates,anti_ransomware_default_volume_state'
  const { body } = await cluster.call('GET', `${path}?fields=${fields}`)
  assert.deepEqual([body['nfs'], body['cifs'], body['s3']], [{ enabled: true }, { enabled: false }, { enabled: false }])
  assert.deepEqual(body['nsswitch'], {
    hosts: ['dns', 'files'],
    passwd: ['files'],
    group: ['files'],
    netgroup: ['files'],
    namemap: ['files'],
  })
  assert.equal(body['ipspace']?.['uuid'], await cluster.uuidOf('/api/network/ipspaces', 'Default'))
  const { uuid: _, available_size: available, ...aggregate } = body['aggregates']?.[0] ?? {}
  assert.deepEqual(aggregate, { name: 'aggr1', state: 'online', type: 'vmdisk', snaplock_type: 'non_snaplock' })
  assert.ok(Number(available) > 0)
  const refused = await cluster.call('PATCH', path, { anti_ransomware_default_volume_state: 'dry_run' })
  assert.deepEqual([refused.status, body['anti_ransomware_default_volume_state']], [422, 'disabled'])
  await cluster.close()
})

test('an SVM keeps how its volumes are to report and limit space, for files', async () => {
  const cluster = await startTestCluster()
  const path = `/api/svm/svms/${await cluster.uuidOf('/api/svm/svms', 'svm1')}`
  const shown = async () => {
    const fields = 'is_space_reporting_logical,is_space_enforcement_logical'
    const { body } = await cluster.call('GET', `${path}?fields=${fields}`)
    return [body['is_space_reporting_logical'], body['is_space_enforcement_logical']]
  }
  assert.deepEqual(await shown(), [false, false])
  assert.equal((await cluster.call('PATCH', path, { is_space_reporting_logical: 'true' })).status, 200)
  assert.deepEqual(await shown(), [true, false])
  await cluster.close()
})

test('an SVM with thousands of records goes in many small commits, and one that fails in between goes when it is deleted again', async () => {
  const USERS = 'protocols/s3/services/{svm.uuid}/users'
  const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  const commits: number[] = []
  let failsAt: number | undefined
  const commit = (changes: readonly Change[]) => {
    const removed = changes.filter((change) => change.do === 'remove-record').length
    if (removed > 1) commits.push(removed)
    if (removed > 1 && commits.length === failsAt) return Promise.reject(new Error('This one fails on purpose.'))
    return catalog.commit(changes)
  }
  const watched = new Proxy(catalog, {
    get: (target, name: keyof Catalog) => (name === 'commit' ? commit : target[name].bind(target)),
  })
  const cluster = await startTestCluster({ catalog: watched, isBare: true })
  await cluster.call('POST', SVMS, { name: 's' })
  const uuid = await cluster.uuidOf(SVMS, 's')
  const total = 5 * REMOVED_TOGETHER
  await cluster.cluster.commit(
    Array.from({ length: total }, (_, n) => cluster.cluster.put(USERS, { 'svm.uuid': uuid, name: `u${n}` })),
  )
  commits.length = 0
  failsAt = 3
  assert.equal((await cluster.call('DELETE', `${SVMS}/${uuid}?return_timeout=15`)).status, 500)
  const { length: left } = await catalog.records(USERS, { parent: uuid })
  assert.ok(left > 0 && left < total, `${left} records are left`)
  failsAt = undefined
  assert.equal((await cluster.call('DELETE', `${SVMS}/${uuid}?return_timeout=15`)).status, 200)
  assert.ok(commits.length > 4 && commits.every((removed) => removed < 2.1 * REMOVED_TOGETHER), commits.join(' '))
  assert.equal((await catalog.records(USERS)).length, 0)
  assert.equal(await cluster.cluster.find('svm/svms', uuid), undefined)
  await cluster.close()
})
