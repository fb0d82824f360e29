import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf } from '../../../../test/support/body.ts'
import { codeOf } from '../../../model/failure.ts'
import { startTestCluster, type TestCluster } from '../../../../test/support/cluster.ts'
import { partial } from '../../../../test/support/partial.ts'
import { Jobs, JOBS } from '../../../core/jobs/jobs.ts'

const KEY = Buffer.from('k')
const DATA = {
  version: 'null',
  sizeBytes: 50,
  etag: 'e',
  modifiedMs: 1,
  checksum: { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: 'AAAAAAAAAAA=' },
  blobs: [{ blob: '0'.repeat(32), sizeBytes: 50 }],
  parts: null,
  details: {},
} as const

/** A bucket that has lost an object since its snapshot. */
async function bucketToRestore(test: TestCluster) {
  const svm = await test.uuidOf('/api/svm/svms', 'svm1')
  const draft = { name: 'papers', svm: { name: 'svm1' }, volume: { name: 'vol1' }, size: 100 }
  assert.equal((await test.call('POST', '/api/protocols/s3/buckets', draft)).status, 201)
  const bucket = await test.uuidOf('/api/protocols/s3/buckets', 'papers')
  await test.cluster.commit([{ do: 'put-object', bucket, key: KEY, object: DATA }])
  const path = `/api/protocols/s3/services/${svm}/buckets/${bucket}`
  assert.equal((await test.call('POST', `${path}/snapshots`, { name: 'before' })).status, 201)
  const snapshots = await test.call('GET', `${path}/snapshots`)
  await test.cluster.commit([{ do: 'delete-object', bucket, key: KEY }])
  const isThere = async () => (await test.cluster.catalog.object(bucket, KEY)) !== undefined
  return { svm, bucket, path, snapshot: asText(recordsOf(snapshots.body)[0]?.['uuid']), isThere }
}

test('a bucket is restored by a job of its own name, and by a request that asks for nothing else', async () => {
  const test = await startTestCluster()
  const { path, isThere } = await bucketToRestore(test)
  const restore = `${path}?restore_to.snapshot.name=before`
  const both = await test.call('PATCH', restore, { comment: 'x' })
  assert.deepEqual([both.status, both.body['error']?.['code']], [422, codeOf('restoreWithChanges')])
  assert.equal(await isThere(), false)
  assert.equal((await test.call('PATCH', restore, {})).status, 200)
  assert.equal(await isThere(), true)
  const verbs = (await test.cluster.rows(JOBS)).map((job) => job.$verb)
  assert.ok(verbs.includes('restore'), verbs.join())
  await test.close()
})

test('a restore that an earlier release began as a change goes on, and its job leaves the record as it was', async () => {
  const test = await startTestCluster()
  const { cluster } = test
  const { svm, bucket, snapshot, isThere } = await bucketToRestore(test)
  const before = await cluster.row('protocols/s3/buckets', bucket)
  const uuid = cluster.system.random.uuid()
  const left = {
    uuid,
    name: 'bucket modify',
    description: 'PATCH',
    state: 'running',
    start_time: 0,
    message: '',
    $type: 'protocols/s3/services/{svm.uuid}/buckets',
    $verb: 'modify',
    $key: bucket,
    $input: { 'svm.uuid': svm, $range: { bucket, snapshot, prefix: '' } },
    $locks: [],
    $memo: {},
    $at: 0,
    $direction: 'forward',
    $steps: ['write record'],
    $user: 'admin',
    $from: 'test',
  }
  await cluster.commit([cluster.put(partial(JOBS), left)])
  const jobs = new Jobs(cluster)
  await jobs.resume()
  assert.equal((await jobs.wait(uuid, 60_000))['state'], 'success')
  assert.equal(await isThere(), true)
  assert.deepEqual(await cluster.row('protocols/s3/buckets', bucket), before)
  await test.close()
})
