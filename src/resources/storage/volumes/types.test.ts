import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestCluster, type TestCluster } from '../../../../test/support/cluster.ts'
import { asText, recordsOf } from '../../../../test/support/body.ts'
import { ScheduledSnapshots } from '../../../background/scheduled-snapshots.ts'
import { takeChanges } from './snapshot-changes.ts'
import { typeChanges, type VolumeType } from './types.ts'
import { bucketActions } from '../../protocols/s3/bucket-actions.ts'
import { wireCode } from '../../../../test/support/codes.ts'

const VOLUMES = '/api/storage/volumes'
const TOOL = { headers: { 'user-agent': 'python-requests/2.31.0', 'x-dot-client-app': 'netapp.ontap/23' } }

async function begin(type: string) {
  const cluster = await startTestCluster()
  const made = await cluster.call('POST', VOLUMES, { name: 'v', svm: 'svm1', type, 'guarantee.type': 'none' })
  assert.equal(made.status, 201)
  const uuid = await cluster.uuidOf(VOLUMES, 'v')
  return { cluster, uuid, volume: `${VOLUMES}/${uuid}`, snapshots: `${VOLUMES}/${uuid}/snapshots` }
}

async function become(cluster: TestCluster, uuid: string, type: VolumeType): Promise<void> {
  const record = await cluster.cluster.record('storage/volumes', uuid)
  assert.ok(record !== undefined)
  await cluster.cluster.commit(typeChanges(cluster.cluster, record, type))
}

/** As replication does it. */
async function replicateSnapshot(cluster: TestCluster, volume: string, name: string): Promise<string> {
  const uuid = crypto.randomUUID()
  const { 'svm.uuid': svm } = await cluster.cluster.row('storage/volumes', volume)
  const row = { uuid, name, 'volume.uuid': volume, 'svm.uuid': svm, create_time: cluster.clock.now() }
  const changes = takeChanges(cluster.cluster, row)
  await cluster.cluster.commit([{ do: 'replicate-into', volume }, ...changes])
  return uuid
}

for (const type of ['dp', 'ls']) {
  test(`of a volume of type ${type} nobody makes, renames or deletes snapshots, and none goes back to one`, async () => {
    const { cluster, uuid, volume, snapshots } = await begin(type)
    assert.equal((await cluster.call('GET', `${volume}?fields=type`)).body['type'], type)
    const snapshot = `${snapshots}/${await replicateSnapshot(cluster, uuid, 'replicated')}`
    for (const [method, path, body, code] of [
      ['POST', snapshots, { name: 'mine' }, '1638461'],
      ['PATCH', snapshot, { name: 'renamed' }, '1638461'],
      ['DELETE', snapshot, undefined, wireCode('snapshotsProtected')],
      ['PATCH', `${volume}?restore_to.snapshot.name=replicated`, {}, '1638461'],
    ] as const) {
      const refused = await cluster.call(method, path, body, TOOL)
      assert.deepEqual([refused.status, refused.body['error']?.['code']], [409, code], `${method} ${path}`)
    }
    assert.equal((await cluster.call('GET', snapshot)).body['name'], 'replicated')
    await cluster.close()
  })
}

test('the type of a volume is chosen when it is made, and cannot be changed by hand', async () => {
  const { cluster, volume } = await begin('dp')
  assert.equal((await cluster.call('PATCH', volume, { type: 'rw' })).status, 422)
  assert.equal((await cluster.call('POST', VOLUMES, { name: 'w', svm: 'svm1', type: 'tmp' })).status, 422)
  await cluster.close()
})

test('name, size and state of a destination are changed like those of any volume, and it is deleted like any', async () => {
  const { cluster, volume } = await begin('dp')
  assert.equal((await cluster.call('PATCH', volume, { name: 'w', size: '2g' })).status, 200)
  assert.equal((await cluster.call('PATCH', volume, { state: 'offline' })).status, 200)
  assert.equal((await cluster.call('DELETE', volume)).status, 200)
  await cluster.close()
})

test('a destination gets no bucket of anybody, by name or by choice, and is no root volume', async () => {
  const { cluster } = await begin('dp')
  const svm = await cluster.uuidOf('/api/svm/svms', 'svm1')
  const server = `/api/protocols/s3/services/${svm}`
  assert.equal((await cluster.call('PATCH', server, { data_volumes: ['vol1', 'v'] })).status, 200)
  const make = (more: object) =>
    cluster.call('POST', '/api/protocols/s3/buckets', { name: 'papers', svm: 'svm1', ...more })
  assert.equal((await make({ volume: 'v' })).status, 409)
  const of = { svm, server: await cluster.uuidOf('/api/protocols/s3/services', 's3.localhost'), name: 'papers' }
  // As for a client of the object store: in the data volume with most room.
  const caller = { user: 'demo', svm }
  assert.equal(await bucketActions(cluster.actions).createBucket({ ...of, caller }), 'done')
  const { body } = await cluster.call('GET', '/api/protocols/s3/buckets?name=papers&fields=volume.name')
  assert.equal(recordsOf(body)[0]?.['volume']?.['name'], 'vol1')
  await cluster.call('PATCH', server, { data_volumes: ['vol1'] })
  const second = { name: 'second', svm: 'svm1', root_volume: 'v' }
  const root = await cluster.call('POST', '/api/protocols/s3/services', second)
  assert.equal(root.status, 409)
  await cluster.close()
})

test('a bucket in a volume that has become a destination is not changed or deleted by administrators either', async () => {
  const { cluster } = await begin('rw')
  const buckets = '/api/protocols/s3/buckets'
  assert.equal(
    (await cluster.call('POST', buckets, { name: 'papers', svm: 'svm1', volume: 'vol1', size: 2 ** 30 })).status,
    201,
  )
  const { body } = await cluster.call('GET', `${buckets}?name=papers&fields=uuid,svm.uuid`)
  const [found] = recordsOf(body)
  const bucket = `${buckets}/${asText(found?.['svm']?.['uuid'])}/${asText(found?.['uuid'])}`
  await become(cluster, await cluster.uuidOf(VOLUMES, 'vol1'), 'dp')
  assert.equal((await cluster.call('PATCH', bucket, { size: 2 ** 31 })).status, 409)
  assert.equal((await cluster.call('DELETE', bucket)).status, 409)
  assert.equal((await cluster.call('GET', bucket)).status, 200)
  await become(cluster, await cluster.uuidOf(VOLUMES, 'vol1'), 'rw')
  assert.equal((await cluster.call('DELETE', bucket)).status, 200)
  await cluster.close()
})

test('a destination that is broken off is a volume like any other, with the snapshots of its policy from then on', async () => {
  const { cluster, uuid, volume, snapshots } = await begin('dp')
  const scheduled = new ScheduledSnapshots(cluster.cluster)
  const day = async () => {
    cluster.clock.aheadMs += 86_400_000
    await scheduled.round()
    await scheduled.settled()
  }
  await day()
  await day()
  assert.equal((await cluster.call('GET', snapshots)).body['num_records'], 0)
  await become(cluster, uuid, 'rw')
  assert.equal((await cluster.call('GET', `${volume}?fields=type`)).body['type'], 'rw')
  await day()
  await day()
  assert.ok(Number((await cluster.call('GET', snapshots)).body['num_records']) > 0)
  assert.equal((await cluster.call('POST', snapshots, { name: 'mine' })).status, 201)
  await cluster.close()
})
