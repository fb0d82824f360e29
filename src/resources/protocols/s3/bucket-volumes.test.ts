import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asNumber, asText, recordsOf } from '../../../../test/support/body.ts'
import { startTestCluster } from '../../../../test/support/cluster.ts'
import { openSqliteCatalog } from '../../../engines/sqlite/catalog.ts'
import { type Catalog, CommitRefused } from '../../../ports/catalog.ts'
import { VolumeWatch } from '../../../background/volume-watch.ts'
import { setSize } from '../../storage/volumes/set-size.ts'
import { SpareVolumes } from '../../../background/spare-volumes.ts'

const BUCKETS = '/api/protocols/s3/buckets'
const TOOL = { headers: { 'user-agent': 'python-requests/2.31.0', 'x-dot-client-app': 'netapp.ontap/22.7.0' } }

test('a bucket that names no volume gets one of its own, in the aggregate asked for, which goes with it', async () => {
  const cluster = await startTestCluster()
  const made = await cluster.call(
    'POST',
    `${BUCKETS}?return_timeout=15`,
    { 'svm.name': 'svm1', name: 'own', aggregates: ['aggr1'], size: 2 ** 30 },
    TOOL,
  )
  assert.ok(made.status < 300, JSON.stringify(made.body))
  const read = async () =>
    recordsOf((await cluster.call('GET', `${BUCKETS}?name=own&fields=volume,size,svm.uuid,uuid`)).body)[0]
  const bucket = await read()
  assert.match(asText(bucket?.['volume']?.['name']), /^fg_oss_[0-9a-f]{32}$/)
  const volume = `/api/storage/volumes/${asText(bucket?.['volume']?.['uuid'])}`
  const { body } = await cluster.call('GET', `${volume}?fields=guarantee.type,aggregates,snapshot_policy.name`)
  assert.equal(body['guarantee']?.['type'], 'none')
  assert.equal(body['snapshot_policy']?.['name'], 'none')

  const spare = new SpareVolumes(cluster.actions)
  assert.equal(await spare.look(), 0)
  const path = `${BUCKETS}/${asText(bucket?.['svm']?.['uuid'])}/${asText(bucket?.['uuid'])}`
  assert.ok((await cluster.call('DELETE', `${path}?return_timeout=15`)).status < 300)
  assert.equal(await spare.look(), 1)
  assert.equal(await spare.look(), 0)
  await cluster.jobs.drain(60_000)
  assert.equal((await cluster.call('GET', volume)).status, 404)
  await cluster.close()
})

test("a bucket's own volume is as large as the bucket, follows it, and makes room for what snapshots hold", async () => {
  const cluster = await startTestCluster()
  const [MB, GB] = [2 ** 20, 2 ** 30]
  assert.equal(
    (await cluster.call('POST', `${BUCKETS}?return_timeout=15`, { 'svm.name': 'svm1', name: 'own', size: GB }, TOOL))
      .status,
    201,
  )
  const [bucket] = recordsOf((await cluster.call('GET', `${BUCKETS}?name=own&fields=uuid,svm.uuid,volume.uuid`)).body)
  const [key, volume] = [asText(bucket?.['uuid']), asText(bucket?.['volume']?.['uuid'])]
  const path = `${BUCKETS}/${asText(bucket?.['svm']?.['uuid'])}/${key}`
  const shown = async () => {
    const { body } = await cluster.call('GET', `/api/storage/volumes/${volume}?fields=size,autosize`)
    return [body['size'], body['autosize']?.['minimum']]
  }
  const watch = new VolumeWatch(cluster.cluster)
  const resize = async (size: number) => {
    assert.equal((await cluster.call('PATCH', `${path}?return_timeout=15`, { size })).status, 200)
  }
  assert.deepEqual(await shown(), [GB, GB])
  await resize(2 * GB)
  assert.deepEqual(await shown(), [2 * GB, 2 * GB])
  await resize(100 * MB)
  await watch.look()
  assert.deepEqual(await shown(), [100 * MB, 100 * MB])
  // The bucket is full twice over, once in a snapshot.
  const fill = (blob: string) => {
    const checksum = { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: '' } as const
    const object = {
      version: 'null',
      sizeBytes: 100 * MB,
      etag: blob,
      modifiedMs: 1,
      checksum,
      parts: null,
      details: {},
    }
    const blobs = [{ blob, sizeBytes: 100 * MB }]
    const put = { do: 'put-object', bucket: key, key: Buffer.from('k'), object: { ...object, blobs } } as const
    return cluster.cluster.catalog.commit([put])
  }
  await fill('first')
  await cluster.cluster.commit([{ do: 'take-snapshot', volume, snapshot: 's', nowMs: 1 }])
  await assert.rejects(fill('second'), CommitRefused)
  assert.equal(await setSize(cluster.cluster, volume, 100 * MB), true)
  await fill('second')
  assert.ok(asNumber((await shown())[0]) >= 200 * MB)
  await cluster.cluster.commit([
    { do: 'drop-snapshot', volume, snapshot: 's' },
    { do: 'reclaim', volume, limit: 10 },
    { do: 'delete-object', bucket: key, key: Buffer.from('k') },
  ])
  await watch.look()
  assert.deepEqual(await shown(), [100 * MB, 100 * MB])
  await cluster.close()
})

test('a bucket that names a volume lies in it, and another aggregate beside it is refused', async () => {
  const cluster = await startTestCluster()
  const bucket = { 'svm.name': 'svm1', name: 'within', 'volume.name': 'vol1', size: 2 ** 30 }
  const both = await cluster.call('POST', BUCKETS, { ...bucket, aggregates: ['aggr1'] }, TOOL)
  assert.deepEqual([both.status, both.body['error']?.['target']], [400, 'aggregates'])
  assert.ok((await cluster.call('POST', `${BUCKETS}?return_timeout=15`, bucket, TOOL)).status < 300)
  const { body } = await cluster.call('GET', `${BUCKETS}?name=within&fields=volume.name`)
  assert.equal(recordsOf(body)[0]?.['volume']?.['name'], 'vol1')
  assert.equal(await new SpareVolumes(cluster.actions).look(), 0)
  await cluster.close()
})

test('buckets that are asked for at the same time each get a volume of their own', async () => {
  const cluster = await startTestCluster()
  const bucket = (name: string) => ({ 'svm.name': 'svm1', name, size: 2 ** 30 })
  const replies = await Promise.all(
    Array.from({ length: 10 }, (_, at) =>
      cluster.call('POST', `${BUCKETS}?return_timeout=30`, bucket(`one-${at}`), TOOL),
    ),
  )
  for (const { status, body } of replies) assert.equal(status, 201, JSON.stringify(body))
  const records = Array.from({ length: 5 }, (_, at) => bucket(`listed-${at}`))
  const listed = await cluster.call('POST', `${BUCKETS}?return_timeout=30`, { records }, TOOL)
  assert.equal(listed.status, 201, JSON.stringify(listed.body))
  const { body } = await cluster.call('GET', `${BUCKETS}?fields=volume.name&name=one-*|listed-*`)
  const volumes = recordsOf(body).map((row) => asText(row['volume']?.['name']))
  assert.equal(new Set(volumes).size, 15)
  for (const volume of volumes) assert.match(volume, /^[a-zA-Z_][a-zA-Z0-9_]{0,202}$/)
  await cluster.close()
})

test('a look for volumes without their bucket reads one number where nothing changed, and what changed otherwise', async () => {
  const inner = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  const reads: string[] = []
  const catalog = new Proxy<Catalog>(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      if (typeof name === 'string' && name !== 'commit') reads.push(name)
      return member.bind(target) as unknown
    },
  })
  const cluster = await startTestCluster({ catalog })
  const names = Array.from({ length: 8 }, (_, at) => `own-${at}`)
  const records = names.map((name) => ({ 'svm.name': 'svm1', name, size: 2 ** 30 }))
  const made = await cluster.call('POST', `${BUCKETS}?return_timeout=30`, { records }, TOOL)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const spare = new SpareVolumes(cluster.actions)
  assert.equal(await spare.look(), 0)
  reads.length = 0
  assert.equal(await spare.look(), 0)
  assert.deepEqual(reads, ['revision'])

  const [bucket] = recordsOf((await cluster.call('GET', `${BUCKETS}?name=own-3&fields=uuid,svm.uuid,volume.uuid`)).body)
  const path = `${BUCKETS}/${asText(bucket?.['svm']?.['uuid'])}/${asText(bucket?.['uuid'])}`
  assert.ok((await cluster.call('DELETE', `${path}?return_timeout=15`)).status < 300)
  assert.equal(await spare.look(), 1)
  await cluster.jobs.drain(60_000)
  assert.equal(await spare.look(), 0)
  const volume = `/api/storage/volumes/${asText(bucket?.['volume']?.['uuid'])}`
  assert.equal((await cluster.call('GET', volume)).status, 404)
  assert.equal((await cluster.call('GET', `${BUCKETS}?name=own-*`)).body['num_records'], 7)
  await cluster.close()
})
