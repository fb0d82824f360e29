import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { asNumber, asText, recordsOf } from '../../../test/support/body.ts'
import { QuickSecrets, startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'
import { openSqliteCatalog } from '../../engines/sqlite/catalog.ts'
import { VolumesFailure } from '../../ports/volumes.ts'
import { allowAnyAggregate } from '../../../test/support/any-aggregate.ts'
import { QUICK_DISK } from '../../../test/support/quick-disk.ts'
import { codeOf } from '../../model/failure.ts'

const AGGREGATES = '/api/storage/aggregates'
const VOLUMES = '/api/storage/volumes'
const TB = 2 ** 40
const GB = 2 ** 30
/** What a cluster comes with. */
const FIRST_VOLUMES_BYTES = 100 * TB + GB

async function create(cluster: TestCluster, name: string, path: string) {
  await allowAnyAggregate(cluster.cluster)
  return cluster.call('POST', AGGREGATES, { name, block_storage: { path } })
}

async function available(cluster: TestCluster, name: string): Promise<number> {
  const { body } = await cluster.call(
    'GET',
    `${AGGREGATES}/${await cluster.uuidOf(AGGREGATES, name)}?fields=space.block_storage.available`,
  )
  return asNumber(body['space']?.['block_storage']?.['available'])
}

test('an aggregate is made over a folder, shown with its path, renamed, and deleted', async () => {
  const cluster = await startTestCluster()
  assert.equal((await create(cluster, 'aggr2', '/disk2//./holdfast/')).status, 201)
  const path = `${AGGREGATES}/${await cluster.uuidOf(AGGREGATES, 'aggr2')}`
  const { body } = await cluster.call('GET', `${path}?fields=name,state,block_storage.path,volume-count`)
  assert.deepEqual(
    [body['name'], body['state'], body['block_storage']?.['path'], body['volume-count']],
    ['aggr2', 'online', '/disk2/holdfast', 0],
  )
  assert.equal((await cluster.call('PATCH', path, { name: 'second' })).status, 200)
  assert.equal(await cluster.uuidOf(AGGREGATES, 'second'), path.split('/').at(-1))
  assert.equal((await cluster.call('DELETE', path)).status, 200)
  assert.equal((await cluster.call('GET', path)).status, 404)
  assert.equal((await create(cluster, 'aggr2', '/disk2/holdfast')).status, 201, 'The folder is free again.')
  await cluster.close()
})

test('two aggregates have neither one name nor one folder, nor one inside the other', async () => {
  const cluster = await startTestCluster()
  assert.equal((await create(cluster, 'aggr2', '/disk2/a')).status, 201)
  const name = await create(cluster, 'aggr2', '/disk2/b')
  assert.deepEqual([name.status, name.body['error']?.['code']], [409, codeOf('aggregateNameTaken')])
  const rename = `${AGGREGATES}/${await cluster.uuidOf(AGGREGATES, 'aggr2')}`
  assert.equal((await cluster.call('PATCH', rename, { name: 'aggr1' })).status, 409)
  for (const path of ['/disk2/a', '/disk2/a/within', '/disk2', '/', '/disk2/../disk2/c', 'relative', '']) {
    const { status, body } = await create(cluster, 'aggr3', path)
    assert.deepEqual([status, body['error']?.['target']], [422, 'block_storage.path'], path)
  }
  assert.equal((await create(cluster, 'aggr3', '/disk2/ab')).status, 201)
  await cluster.close()
})

test('a hundred thin volumes of 100 TiB leave aggregates, volumes and buckets readable, also after a restart', async () => {
  const folder = await mkdtemp(join(QUICK_DISK, 'aggregates-'))
  const catalog = () => openSqliteCatalog({ file: join(folder, 'catalog.db'), commit: 'in-process' })
  // Together more than 2^53 bytes.
  const count = 100
  const secrets = new QuickSecrets()
  let cluster = await startTestCluster({ catalog: catalog(), secrets })
  const records = Array.from({ length: count }, (_, n) => ({
    name: `thin${n}`,
    svm: 'svm1',
    size: 100 * TB,
    guarantee: { type: 'none' },
  }))
  const made = await cluster.call('POST', `${VOLUMES}?return_timeout=120`, { records })
  assert.equal(made.status, 201, JSON.stringify(made.body['error']))
  const look = async () => {
    const aggregate = `${AGGREGATES}/${await cluster.uuidOf(AGGREGATES, 'aggr1')}`
    const { status, body } = await cluster.call('GET', `${aggregate}?fields=**`)
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(body['space']?.['total_provisioned_space'], Number.MAX_SAFE_INTEGER)
    const volumes = await cluster.call('GET', `${VOLUMES}?fields=**&max_records=1000`)
    assert.equal(volumes.body['num_records'], count + 2)
    assert.equal((await cluster.call('GET', '/api/svm/svms?fields=**')).status, 200)
  }
  await look()
  await cluster.close()
  cluster = await startTestCluster({ catalog: catalog(), secrets, isUsed: true })
  await look()
  const next = await cluster.call('POST', `${VOLUMES}?return_timeout=15`, { name: 'next', svm: 'svm1', size: '1m' })
  assert.equal(next.status, 201, JSON.stringify(next.body))
  for (const { name } of [...records, { name: 'next' }]) {
    const path = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, name)}`
    assert.equal((await cluster.call('DELETE', `${path}?force=true&return_timeout=15`)).status, 200)
  }
  const { body } = await cluster.call('GET', `${AGGREGATES}?fields=space.total_provisioned_space`)
  assert.equal(recordsOf(body)[0]?.['space']?.['total_provisioned_space'], FIRST_VOLUMES_BYTES)
  await cluster.close()
  await rm(folder, { recursive: true })
})

test('an aggregate that has volumes is not deleted, and a volume is made in the one that is named', async () => {
  const cluster = await startTestCluster()
  await create(cluster, 'aggr2', '/disk2/a')
  const path = `${AGGREGATES}/${await cluster.uuidOf(AGGREGATES, 'aggr2')}`
  const made = await cluster.call('POST', VOLUMES, { name: 'v1', svm: 'svm1', size: '1g', aggregates: ['aggr2'] })
  assert.equal(made.status, 201)
  const volume = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'v1')}`
  const { body } = await cluster.call('GET', `${volume}?fields=aggregates`)
  assert.equal(body['aggregates']?.[0]?.['name'], 'aggr2')
  assert.equal((await cluster.call('DELETE', path)).status, 409)
  await cluster.call('DELETE', `${volume}?force=true`)
  assert.equal((await cluster.call('DELETE', path)).status, 200)
  await cluster.close()
})

test('aggregates on one disk do not promise the same bytes twice; one on another disk is not concerned', async () => {
  const cluster = await startTestCluster()
  for (const [name, path] of [
    ['left', '/disk2/left'],
    ['right', '/disk2/right'],
    ['apart', '/disk3/apart'],
  ] as const) {
    await create(cluster, name, path)
  }
  const whole = await available(cluster, 'left')
  assert.equal(await available(cluster, 'right'), whole)
  const volume = (name: string, size: number, aggregate: string) =>
    cluster.call('POST', VOLUMES, { name, svm: 'svm1', size, guarantee: { type: 'volume' }, aggregates: [aggregate] })
  // Three of 300 TiB go into 1 PiB, whichever of the two they are in, also when they are asked for at once.
  const made = await Promise.all(
    Array.from({ length: 6 }, (_, at) => volume(`v${at}`, 300 * TB, at % 2 === 0 ? 'left' : 'right')),
  )
  assert.deepEqual(made.filter(({ status }) => status === 201).length, 3)
  assert.equal(await available(cluster, 'left'), whole - 900 * TB)
  assert.equal(await available(cluster, 'right'), whole - 900 * TB)
  assert.equal(await available(cluster, 'apart'), whole)
  assert.equal((await volume('v9', 300 * TB, 'apart')).status, 201)
  await cluster.close()
})

test('an aggregate whose folder is not there is offline, and the others are shown as ever', async () => {
  const cluster = await startTestCluster()
  await create(cluster, 'aggr2', '/disk2/a')
  const uuid = await cluster.uuidOf(AGGREGATES, 'aggr2')
  const engine = await cluster.cluster.volumesOf(uuid)
  engine.space = () => Promise.reject(new VolumesFailure('away', 'It is not mounted.'))
  const { body } = await cluster.call('GET', `${AGGREGATES}?fields=name,state&order_by=name`)
  const records = body['records'] as unknown as readonly Record<string, unknown>[]
  assert.deepEqual(
    records.map((record) => [record['name'], record['state']]),
    [
      ['aggr1', 'online'],
      ['aggr2', 'offline'],
    ],
  )
  const made = await cluster.call('POST', VOLUMES, { name: 'v1', svm: 'svm1', size: '1g', aggregates: ['aggr2'] })
  assert.equal(made.status, 422, 'It has nothing to promise.')
  await engine.create('a-volume-that-was-deleted-meanwhile')
  assert.equal((await cluster.call('DELETE', `${AGGREGATES}/${uuid}`)).status, 200)
  assert.deepEqual(await engine.list(), [])
  await cluster.close()
})

test('an SVM that is kept to some aggregates has its volumes in these alone', async () => {
  const cluster = await startTestCluster()
  await create(cluster, 'aggr2', '/disk2/a')
  const svm = `/api/svm/svms/${await cluster.uuidOf('/api/svm/svms', 'svm1')}`
  assert.equal((await cluster.call('PATCH', svm, { aggregates: ['aggr2'] })).status, 200)
  const volume = { svm: 'svm1', size: '1g' }
  const refused = await cluster.call('POST', VOLUMES, { ...volume, name: 'v1', aggregates: ['aggr1'] })
  assert.deepEqual([refused.status, refused.body['error']?.['target']], [422, 'aggregates'])
  assert.equal((await cluster.call('POST', VOLUMES, { ...volume, name: 'v1' })).status, 201)
  const made = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'v1')}?fields=aggregates`
  assert.equal((await cluster.call('GET', made)).body['aggregates']?.[0]?.['name'], 'aggr2')
  const aggregate = `${AGGREGATES}/${await cluster.uuidOf(AGGREGATES, 'aggr2')}`
  assert.equal((await cluster.call('DELETE', aggregate)).status, 409)
  await cluster.close()
})

test('an aggregate that names no folder lies beside the oldest, and keeps of how many disks it was to be', async () => {
  const cluster = await startTestCluster()
  await create(cluster, 'older', '/disk2/holdfast')
  const disks = { block_storage: { primary: { disk_count: 5 } } }
  assert.equal((await cluster.call('POST', AGGREGATES, { name: 'aggr2', node: 'node1', ...disks })).status, 201)
  const path = `${AGGREGATES}/${await cluster.uuidOf(AGGREGATES, 'aggr2')}`
  const { body } = await cluster.call('GET', `${path}?fields=block_storage,node`)
  assert.equal(body['node']?.['name'], 'node1')
  assert.equal(body['block_storage']?.['primary']?.['disk_count'], 5)
  assert.equal(body['block_storage']?.['path'], `/disk2/aggregate-${path.split('/').at(-1)}`)
  assert.equal((await cluster.call('PATCH', path, { 'block_storage.primary.disk_count': 6 })).status, 200)
  const after = await cluster.call('GET', `${path}?fields=name,block_storage.primary`)
  assert.deepEqual([after.body['name'], after.body['block_storage']?.['primary']?.['disk_count']], ['aggr2', 6])
  await cluster.close()
})

test('what an aggregate does not do for its volumes is refused by name', async () => {
  const cluster = await startTestCluster()
  for (const [field, value] of [
    ['block_storage.primary.raid_type', 'raid_dp'],
    ['block_storage.mirror.enabled', true],
    ['data_encryption.software_encryption_enabled', true],
    ['snaplock_type', 'compliance'],
    ['node.name', 'node9'],
  ] as const) {
    const refused = await cluster.call('POST', AGGREGATES, {
      name: 'aggr2',
      'block_storage.path': '/disk2/a',
      [field]: value,
    })
    assert.deepEqual([refused.status, refused.body['error']?.['target']], [422, field])
  }
  await cluster.close()
})

test('an aggregate tells of its disk what monitoring asks, as of one without RAID, caches and mirrors', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const path = `${AGGREGATES}/${await cluster.uuidOf(AGGREGATES, 'aggr1')}`
  const { body } = await cluster.call(
    'GET',
    `${path}?fields=block_storage,data_encryption,cloud_storage,inode_attributes,snapshot`,
  )
  const { path: _path, ...blocks } = body['block_storage'] ?? {}
  assert.deepEqual(blocks, {
    primary: { disk_count: 1, raid_type: 'raid0', disk_class: 'virtual', disk_type: 'vm_disk', raid_size: 0 },
    mirror: { enabled: false, state: 'unmirrored' },
    plexes: [],
    storage_type: 'vmdisk',
    uses_partitions: false,
    hybrid_cache: { enabled: false, disk_count: 0, size: 0, used: 0 },
  })
  assert.deepEqual(body['data_encryption'], { software_encryption_enabled: false, drive_protection_enabled: false })
  assert.deepEqual(body['cloud_storage'], { stores: [] })
  assert.deepEqual(
    [body['inode_attributes']?.['files_total'], body['inode_attributes']?.['used_percent']],
    [2 ** 20, 0],
  )
  assert.deepEqual(body['snapshot'], { files_total: 0, files_used: 0, max_files_available: 0, max_files_used: 0 })
  await cluster.close()
})

test('what is told of the space of an aggregate adds up', async () => {
  const cluster = await startTestCluster({ isBare: true, capacityBytes: 1000 * GB })
  const svm = await cluster.call('POST', '/api/svm/svms', { name: 'svm2' })
  assert.equal(svm.status, 201)
  const made = { name: 'v1', svm: 'svm2', size: '100g', guarantee: { type: 'volume' } }
  assert.equal((await cluster.call('POST', VOLUMES, made)).status, 201)
  const path = `${AGGREGATES}/${await cluster.uuidOf(AGGREGATES, 'aggr1')}`
  const { body } = await cluster.call('GET', `${path}?fields=space,volume-count,volume_count`)
  const blocks = body['space']?.['block_storage'] ?? {}
  assert.deepEqual(
    ['used', 'available', 'used_including_snapshot_reserve', 'physical_used', 'aggregate_metadata'].map((word) =>
      asNumber(blocks[word]),
    ),
    [100 * GB, 900 * GB, 100 * GB, 0, 0],
  )
  assert.deepEqual([blocks['volume_footprints_percent'], body['space']?.['footprint_percent']], [10, 10])
  assert.deepEqual([body['volume-count'], body['volume_count']], [1, 1])
  assert.deepEqual(body['space']?.['efficiency_without_snapshots_flexclones'], {
    logical_used: 0,
    savings: 0,
    ratio: 1,
  })
  await cluster.close()
})

test('the operations of an aggregate are those of its volumes', async () => {
  const cluster = await startTestCluster()
  const count = async (volume: string, ops: number) => {
    const row = await cluster.uuidOf(VOLUMES, volume)
    const add = { write_ops: ops, write_latency: ops * 2000, bytes_written: ops * 4096 }
    await cluster.cluster.catalog.commit([{ do: 'count', table: 'volume', row, add }])
  }
  const { metrics } = cluster.cluster
  const startMs = Math.ceil((cluster.clock.now() + 1) / 15_000) * 15_000
  await metrics.sample(startMs)
  await count('vol1', 15)
  await count('svm1_s3_root', 30)
  await metrics.sample(startMs + 15_000)
  const path = `${AGGREGATES}/${await cluster.uuidOf(AGGREGATES, 'aggr1')}`
  const { body } = await cluster.call('GET', `${path}?fields=statistics,metric`)
  assert.equal(body['statistics']?.['status'], 'ok')
  assert.deepEqual(body['statistics']?.['iops_raw'], { read: 0, write: 45, other: 0, total: 45 })
  assert.deepEqual(body['statistics']?.['throughput_raw']?.['total'], 45 * 4096)
  assert.deepEqual([body['metric']?.['iops']?.['total'], body['metric']?.['latency']?.['write']], [3, 2000])
  await cluster.close()
})

test('an aggregate tells what its small objects are stored in, and what of that nothing needs', async () => {
  const cluster = await startTestCluster()
  const path = `${AGGREGATES}/${await cluster.uuidOf(AGGREGATES, 'aggr1')}?fields=packs`
  const read = async () => (await cluster.call('GET', path)).body['packs']
  assert.deepEqual(await read(), { files: 0, size: 0, live: 0, dead: 0 })
  const compactedMs = Date.UTC(2026, 10, 23)
  cluster.volumes.packs = async () => ({ files: 3, bytes: 1000, deadBytes: 300, compactedMs })
  const { compacted_time: time, ...sums } = (await read()) ?? {}
  assert.deepEqual(sums, { files: 3, size: 1000, live: 700, dead: 300 })
  assert.equal(Date.parse(asText(time)), compactedMs)
  cluster.volumes.packs = () => Promise.reject(new VolumesFailure('away', 'The disk is not mounted.'))
  assert.equal(await read(), undefined)
  await cluster.close()
})
