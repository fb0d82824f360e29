import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asNumber, asText, recordsOf } from '../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../test/support/cluster.ts'
import { growthOf } from '../core/metrics/figures.ts'
import { Sampling } from '../background/sampling.ts'

const STEP = 15_000

/** A cluster with a volume, on which there were 15, 30, 45, 60 writes in the last four samples. */
async function measured() {
  const cluster = await startTestCluster()
  const uuid = await cluster.uuidOf('/api/storage/volumes', 'vol1')
  const svm = await cluster.uuidOf('/api/svm/svms', 'svm1')
  const startMs = Math.ceil((cluster.clock.now() + 1) / STEP) * STEP
  const { metrics, catalog } = cluster.cluster
  await metrics.sample(startMs)
  for (const at of [1, 2, 3, 4]) {
    const add = { write_ops: 15 * at, write_latency: 15 * at * 2000, bytes_written: 15 * at * 4096 }
    await catalog.commit([
      { do: 'count', table: 'volume', row: uuid, add },
      { do: 'count', table: 'object_store_server', row: svm, add },
    ])
    await metrics.sample(startMs + at * STEP)
  }
  cluster.clock.aheadMs = startMs + 4 * STEP + 100 - Date.now()
  const time = (at: number) => new Date(startMs + at * STEP).toISOString().replace('.000Z', 'Z')
  return { cluster, uuid, svm, time }
}

async function get(cluster: TestCluster, target: string) {
  return cluster.call('GET', target)
}

async function list(cluster: TestCluster, target: string) {
  const { body } = await get(cluster, target)
  return { body, records: recordsOf(body) }
}

test('the history of a volume has its newest sample first, with figures and links', async () => {
  const { cluster, uuid, time } = await measured()
  const path = `/api/storage/volumes/${uuid}/metrics`
  const { records } = await list(cluster, path)
  assert.deepEqual(
    records.map((row) => [row['timestamp'], row['iops']?.['write']]),
    [4, 3, 2, 1].map((at) => [time(at), at]),
  )
  assert.deepEqual(records[0], {
    timestamp: time(4),
    duration: 'PT15S',
    status: 'ok',
    iops: { read: 0, write: 4, other: 0, total: 4 },
    latency: { read: 0, write: 2000, other: 0, total: 2000 },
    throughput: { read: 0, write: 16_384, other: 0, total: 16_384 },
    volume: { name: 'vol1', uuid },
    _links: { self: { href: `${path}/${encodeURIComponent(time(4))}` } },
  })
  const one = await get(cluster, `${path}/${encodeURIComponent(time(2))}`)
  assert.equal(one.status, 200)
  assert.equal(asText(one.body['timestamp']), time(2))
  assert.equal((await get(cluster, `${path}/2020-01-01T00:00:00Z`)).status, 404)
  await cluster.close()
})

test('the object store of an SVM and the cluster have histories of the same operations', async () => {
  const { cluster, svm } = await measured()
  for (const path of [`/api/protocols/s3/services/${svm}/metrics`, '/api/cluster/metrics']) {
    const { records } = await list(cluster, `${path}?fields=iops`)
    assert.deepEqual(
      records.map((row) => row['iops']?.['total']),
      [4, 3, 2, 1],
      path,
    )
  }
  await cluster.close()
})

test('a history is filtered, ordered and paged as any other collection', async () => {
  const { cluster, uuid, time } = await measured()
  const path = `/api/storage/volumes/${uuid}/metrics`
  const times = async (target: string) => (await list(cluster, target)).records.map((row) => row['timestamp'])
  assert.deepEqual(await times(`${path}?timestamp=>=${time(3)}`), [time(4), time(3)])
  assert.deepEqual(await times(`${path}?iops.write=<3&order_by=timestamp`), [time(1), time(2)])
  assert.deepEqual(await times(`${path}?status=partial_no_data`), [])
  assert.deepEqual(await times(`${path}?duration=PT15S&max_records=1`), [time(4)])
  const seen: unknown[] = []
  let next: string | undefined = `${path}?interval=1h&max_records=3`
  while (next !== undefined) {
    const page = await list(cluster, next)
    seen.push(...page.records.map((row) => row['timestamp']))
    const href: unknown = page.body['_links']?.['next']?.['href']
    next = typeof href === 'string' ? href : undefined
  }
  assert.deepEqual(seen, [time(4), time(3), time(2), time(1)])
  await cluster.close()
})

test('the interval says how far to look back, and is one of five', async () => {
  const { cluster, uuid } = await measured()
  const path = `/api/storage/volumes/${uuid}/metrics`
  for (const interval of ['1d', '1w', '1m', '1y']) {
    const { records } = await list(cluster, `${path}?interval=${interval}`)
    assert.deepEqual(records, [], interval)
  }
  const other = await get(cluster, `${path}?interval=2h`)
  assert.equal(other.status, 400)
  assert.match(asText(other.body['error']?.['message']), /1h, 1d, 1w, 1m, 1y/)
  assert.equal((await get(cluster, '/api/storage/volumes?interval=1h')).status, 400)
  await cluster.close()
})

test('what was before a volume was made is not its history, and without the volume there is none', async () => {
  const { cluster } = await measured()
  await cluster.call('POST', '/api/storage/volumes?return_timeout=15', {
    name: 'young',
    'svm.name': 'svm1',
    size: '10m',
  })
  const path = `/api/storage/volumes/${await cluster.uuidOf('/api/storage/volumes', 'young')}`
  assert.deepEqual((await list(cluster, `${path}/metrics`)).records, [])
  cluster.clock.aheadMs += STEP
  await cluster.cluster.metrics.sample(cluster.clock.now())
  assert.equal((await list(cluster, `${path}/metrics`)).records.length, 1)
  assert.equal((await cluster.call('DELETE', `${path}?return_timeout=15`)).status, 200)
  assert.equal((await get(cluster, `${path}/metrics`)).status, 404)
  await cluster.close()
})

test('metric and statistics of the cluster are of all its object stores', async () => {
  const { cluster, time } = await measured()
  const { body } = await get(cluster, '/api/cluster?fields=metric,statistics')
  assert.deepEqual(
    [body['metric']?.['timestamp'], body['metric']?.['iops']?.['write'], body['metric']?.['status']],
    [time(4), 4, 'ok'],
  )
  const { timestamp: _, ...statistics } = body['statistics'] ?? {}
  assert.deepEqual(statistics, {
    status: 'ok',
    iops_raw: { read: 0, write: 150, other: 0, total: 150 },
    latency_raw: { read: 0, write: 300_000, other: 0, total: 300_000 },
    throughput_raw: { read: 0, write: 614_400, other: 0, total: 614_400 },
  })
  assert.equal((await get(cluster, '/api/cluster')).body['metric'], undefined)
  await cluster.close()
})

test('metric of a volume is its last sample', async () => {
  const { cluster, uuid, time } = await measured()
  const { body } = await get(cluster, `/api/storage/volumes/${uuid}?fields=metric`)
  assert.deepEqual(body['metric'], {
    timestamp: time(4),
    duration: 'PT15S',
    status: 'ok',
    iops: { read: 0, write: 4, other: 0, total: 4 },
    latency: { read: 0, write: 2000, other: 0, total: 2000 },
    throughput: { read: 0, write: 16_384, other: 0, total: 16_384 },
  })
  await cluster.close()
})

test('a node tells how busy its processors were, now and in the past', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const uuid = await cluster.uuidOf('/api/cluster/nodes', 'node1')
  const { metrics } = cluster.cluster
  const startMs = Math.ceil((cluster.clock.now() + 1) / STEP) * STEP
  const busy = (ms: number) => new Map([[uuid, growthOf({ processor_busy: ms / 4, processor_whole: ms })]])
  for (const at of [0, 1, 2]) await metrics.sample(startMs + at * STEP, busy(1000 + at * STEP))
  cluster.clock.aheadMs = startMs + 2 * STEP + 100 - Date.now()
  const { records } = await list(cluster, `/api/cluster/nodes/${uuid}/metrics`)
  assert.deepEqual(
    records.map((row) => [row['processor_utilization'], row['duration'], row['status'], row['node']?.['name']]),
    [
      [25, 'PT15S', 'ok', 'node1'],
      [25, 'PT15S', 'ok', 'node1'],
    ],
  )
  const { body } = await get(cluster, `/api/cluster/nodes/${uuid}?fields=metric,statistics`)
  assert.equal(body['metric']?.['processor_utilization'], 25)
  const { processor_utilization_raw: raw, processor_utilization_base: base } = body['statistics'] ?? {}
  assert.ok(asNumber(raw) > 0 && asNumber(raw) < asNumber(base))
  await cluster.close()
})

test('the history of an aggregate sums what its volumes did, and nothing of others', async () => {
  const cluster = await startTestCluster()
  const volumes = ['vol1', 'svm1_s3_root'].map((name) => cluster.uuidOf('/api/storage/volumes', name))
  const sampling = new Sampling(cluster.cluster)
  const startMs = Math.ceil((cluster.clock.now() + 1) / STEP) * STEP
  const sampleAt = async (timeMs: number) => {
    cluster.clock.aheadMs = timeMs + 100 - Date.now()
    await sampling.round()
  }
  await sampleAt(startMs)
  for (const [at, volume] of volumes.entries()) {
    const add = { read_ops: 15 * (at + 1), bytes_read: 150 }
    await cluster.cluster.catalog.commit([{ do: 'count', table: 'volume', row: await volume, add }])
  }
  await sampleAt(startMs + STEP)
  const aggregates = '/api/storage/aggregates'
  const aggregate = await cluster.uuidOf(aggregates, 'aggr1')
  const { records } = await list(cluster, `${aggregates}/${aggregate}/metrics?fields=iops,throughput`)
  assert.deepEqual([records[0]?.['iops']?.['read'], records[0]?.['throughput']?.['read']], [3, 20])
  await cluster.close()
})
