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
