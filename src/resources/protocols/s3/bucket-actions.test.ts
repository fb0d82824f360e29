import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestCluster } from '../../../../test/support/cluster.ts'
import { textAt } from '../../../model/value.ts'
import type { Fields } from '../../../ports/catalog.ts'
import { bucketActions } from './bucket-actions.ts'
import { BUCKETS } from './types.ts'

const caller = { user: 'demo', svm: 'svm1' }

test('of many changes of one bucket at once, made by several processes, each holds', async () => {
  const test = await startTestCluster()
  const { cluster } = test
  const [server] = await cluster.rows('protocols/s3/services')
  assert.ok(server)
  // Another cluster over the same catalog, with locks of its own, is what another process is.
  const other = await startTestCluster({ catalog: cluster.catalog, isUsed: true })
  const processes = [test, other].map(({ actions }) => bucketActions(actions))
  const [first, second] = processes
  assert.ok(first && second)
  const fields = { versioning_state: 'enabled' }
  const svm = textAt(server, 'svm.uuid')
  const made = await first.createBucket({ svm, server: textAt(server, 'uuid'), name: 'busy', caller, fields })
  assert.equal(made, 'done')
  const bucket = (await cluster.keyOfName(BUCKETS, 'busy', svm)) ?? ''

  const settings: readonly Fields[] = [
    { $tags: [{ key: 'a', value: 'b' }] },
    { $ownership: false },
    { $publicAccessBlock: { blockPublicPolicy: true } },
    { $hasLocks: true },
    ...Array.from({ length: 16 }, (_, index) => ({ [`$setting${index}`]: index })),
  ]
  const changes = settings.map((change, index) =>
    (index % 2 === 0 ? first : second).configureBucket({
      bucket,
      fields: change,
      operation: 'PutBucketTagging',
      caller,
    }),
  )
  assert.deepEqual(new Set(await Promise.all(changes)), new Set(['done']))
  const record = await cluster.catalog.record(BUCKETS, bucket)
  for (const fields of settings) {
    for (const [name, value] of Object.entries(fields)) assert.deepEqual(record?.body[name], value, name)
  }
  await test.close()
})

test('a bucket that is gone meanwhile is missing', async () => {
  const test = await startTestCluster()
  const actions = bucketActions(test.actions)
  const bucket = '00000000-0000-4000-8000-000000000000'
  assert.equal(await actions.configureBucket({ bucket, fields: {}, operation: 'PutBucketCors', caller }), 'missing')
  await test.close()
})

test('a bucket that a restore brought above its size takes other changes, and a size that holds it', async () => {
  const test = await startTestCluster()
  const { cluster } = test
  const svm = await test.uuidOf('/api/svm/svms', 'svm1')
  const volume = await test.uuidOf('/api/storage/volumes', 'vol1')
  const made = { name: 'papers', svm: { name: 'svm1' }, volume: { name: 'vol1' }, size: 100 }
  assert.equal((await test.call('POST', '/api/protocols/s3/buckets', made)).status, 201)
  const bucket = (await cluster.keyOfName(BUCKETS, 'papers', svm)) ?? ''
  const object = {
    version: 'null',
    sizeBytes: 50,
    etag: 'e',
    modifiedMs: 1,
    checksum: { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: 'AAAAAAAAAAA=' },
    blobs: [{ blob: '0'.repeat(32), sizeBytes: 50 }],
    parts: null,
    details: {},
  } as const
  const key = Buffer.from('k')
  await cluster.commit([{ do: 'put-object', bucket, key, object }])
  const path = `/api/storage/volumes/${volume}`
  const change = (body: object) => test.call('PATCH', `/api/protocols/s3/buckets/${svm}/${bucket}`, body)
  assert.equal((await test.call('POST', `${path}/snapshots`, { name: 'large' })).status, 201)
  await cluster.commit([{ do: 'delete-object', bucket, key }])
  assert.equal((await change({ size: 10 })).status, 200)
  assert.equal((await test.call('PATCH', `${path}?restore_to.snapshot.name=large`, {})).status, 200)

  assert.equal((await change({ comment: 'still to be changed' })).status, 200)
  assert.equal((await change({ versioning_state: 'enabled' })).status, 200)
  assert.equal((await change({ size: 20 })).status, 422)
  assert.equal((await change({ size: 50 })).status, 200)
  await test.close()
})
