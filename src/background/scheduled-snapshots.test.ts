import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf } from '../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../test/support/cluster.ts'
import { seedOf } from '../../test/support/seed.ts'
import { faultyCatalog } from '../engines/simulated/faulty-catalog.ts'
import { SimulatedRandom } from '../engines/simulated/random.ts'
import { openSqliteCatalog } from '../engines/sqlite/catalog.ts'
import { ScheduledSnapshots } from './scheduled-snapshots.ts'
import { NOTES } from '../resources/storage/volumes/owed-snapshots.ts'
import { SNAPSHOTS } from '../resources/storage/volumes/snapshot-changes.ts'

const VOLUMES = '/api/storage/volumes'
const POLICIES = '/api/storage/snapshot-policies'
const BUCKETS = '/api/protocols/s3/buckets'
const HOUR_MS = 3_600_000

// 3 January 2100 is a Sunday.
const at = (text: string) => Date.parse(`2100-01-${text}Z`)

/** A cluster with one SVM, its two volumes taken from their policy, and one volume `v` of the given policy. */
async function begin(policy = 'default') {
  const cluster = await startTestCluster()
  for (const name of ['vol1', 'svm1_s3_root']) await change(cluster, name, { 'snapshot_policy.name': 'none' })
  await cluster.call('POST', VOLUMES, { name: 'v', svm: 'svm1', 'guarantee.type': 'none', snapshot_policy: policy })
  return { cluster, scheduled: new ScheduledSnapshots(cluster.cluster) }
}

async function change(cluster: TestCluster, volume: string, body: unknown): Promise<void> {
  const path = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, volume)}`
  assert.equal((await cluster.call('PATCH', path, body)).status, 200)
}

/** Moves the clock there, on or back, and lets everything happen that is owed then. */
async function pass(cluster: TestCluster, scheduled: ScheduledSnapshots, time: number | string): Promise<void> {
  const wanted = typeof time === 'string' ? at(time) : time
  cluster.clock.aheadMs += wanted - cluster.clock.now()
  await scheduled.round()
  await scheduled.settled()
}

async function namesOf(cluster: TestCluster, volume = 'v'): Promise<string[]> {
  const path = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, volume)}/snapshots?fields=name&max_records=10000`
  return recordsOf((await cluster.call('GET', path)).body).map((row) => asText(row['name']))
}

/** Hours and days of the prefix: `hourly.2100-01-03_1005` is `03_1005`. */
const timesOf = (names: readonly string[], prefix: string) =>
  names.filter((name) => name.startsWith(`${prefix}.`)).map((name) => name.slice(prefix.length + 9))

test('a volume gets the snapshots of its policy when they are due, and keeps as many as the policy says', async () => {
  const { cluster, scheduled } = await begin()
  await pass(cluster, scheduled, '02T12:00')
  assert.deepEqual(await namesOf(cluster), [], 'nothing is owed from before it was made')
  for (let time = at('02T12:00'); time < at('05T03:00'); time += HOUR_MS) {
    for (const minutes of [4, 5, 10, 15]) await pass(cluster, scheduled, time + minutes * 60_000 + 700)
  }
  const names = await namesOf(cluster)
  assert.deepEqual(timesOf(names, 'hourly'), ['04_2105', '04_2205', '04_2305', '05_0005', '05_0105', '05_0205'])
  assert.deepEqual(timesOf(names, 'daily'), ['04_0010', '05_0010'])
  assert.deepEqual(timesOf(names, 'weekly'), ['03_0015'])
  assert.equal(names.length, 9)
  const path = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'v')}/snapshots`
  const [daily] = recordsOf((await cluster.call('GET', `${path}?fields=*&name=daily.2100-01-05_0010`)).body)
  assert.equal(daily?.['snapmirror_label'], 'daily')
  assert.equal(daily?.['create_time'], '2100-01-05T00:10:00Z')
  assert.equal(daily?.['state'], 'valid')
  assert.deepEqual(await namesOf(cluster, 'vol1'), [])
  await cluster.close()
})

test('after downtime a volume gets one late snapshot for each schedule, with the time of its making', async () => {
  const { cluster, scheduled } = await begin()
  await pass(cluster, scheduled, '02T12:00')
  await scheduled.stop()
  const next = new ScheduledSnapshots(cluster.cluster)
  await pass(cluster, next, '20T11:30')
  await pass(cluster, next, '20T11:31')
  const late = ['daily.2100-01-20_1130', 'hourly.2100-01-20_1130', 'weekly.2100-01-20_1130']
  assert.deepEqual((await namesOf(cluster)).toSorted(), late)
  await pass(cluster, next, '20T12:05:01')
  assert.deepEqual((await namesOf(cluster)).toSorted(), [late[0], late[1], 'hourly.2100-01-20_1205', late[2]])
  await cluster.close()
})

test('a clock that is put forward brings one snapshot, and one that is put back neither doubles nor stops them', async () => {
  const { cluster, scheduled } = await begin()
  await pass(cluster, scheduled, '02T12:00')
  await pass(cluster, scheduled, '02T12:05:01')
  await pass(cluster, scheduled, '02T12:04:58')
  await pass(cluster, scheduled, '02T12:05:02')
  assert.deepEqual(timesOf(await namesOf(cluster), 'hourly'), ['02_1205'], 'corrected by seconds')
  await pass(cluster, scheduled, '20T09:00')
  assert.deepEqual(timesOf(await namesOf(cluster), 'hourly'), ['02_1205', '20_0900'])
  await pass(cluster, scheduled, '02T13:00')
  await pass(cluster, scheduled, '02T13:05:01')
  await pass(cluster, scheduled, '02T14:05:01')
  assert.deepEqual(timesOf(await namesOf(cluster), 'hourly'), ['02_1205', '02_1305', '02_1405', '20_0900'])
  for (const hour of [15, 16, 17, 18]) await pass(cluster, scheduled, `02T${hour}:05:01`)
  // Oldest is what was taken first, whatever the clock said then.
  assert.deepEqual(timesOf(await namesOf(cluster), 'hourly'), [
    '02_1305',
    '02_1405',
    '02_1505',
    '02_1605',
    '02_1705',
    '02_1805',
  ])
  await cluster.close()
})

test('another policy takes effect at once, and owes nothing from before', async () => {
  const { cluster, scheduled } = await begin()
  await pass(cluster, scheduled, '02T12:00')
  await change(cluster, 'v', { snapshot_policy: { name: 'none' } })
  await pass(cluster, scheduled, '02T12:05:01')
  assert.deepEqual(await namesOf(cluster), [])
  assert.deepEqual(await cluster.cluster.catalog.records(NOTES), [])
  await pass(cluster, scheduled, '02T12:30')
  await change(cluster, 'v', { snapshot_policy: { name: 'default-1weekly' } })
  await pass(cluster, scheduled, '02T12:31')
  assert.deepEqual(await namesOf(cluster), [])
  await pass(cluster, scheduled, '02T13:05:01')
  assert.deepEqual(await namesOf(cluster), ['hourly.2100-01-02_1305'])
  await cluster.close()
})

test('a change of a schedule owes nothing from before the change', async () => {
  const { cluster, scheduled } = await begin()
  await pass(cluster, scheduled, '02T12:00')
  const hourly = `/api/cluster/schedules/${await cluster.uuidOf('/api/cluster/schedules', 'hourly')}`
  await pass(cluster, scheduled, '02T12:20')
  assert.deepEqual(timesOf(await namesOf(cluster), 'hourly'), ['02_1220'])
  assert.equal((await cluster.call('PATCH', hourly, { cron: { minutes: [10, 40] } })).status, 200)
  await pass(cluster, scheduled, '02T12:39')
  assert.equal((await namesOf(cluster)).length, 1)
  await pass(cluster, scheduled, '02T12:40:01')
  assert.deepEqual(timesOf(await namesOf(cluster), 'hourly'), ['02_1220', '02_1240'])
  await cluster.close()
})

test('an offline volume and a disabled policy get no snapshots, and none are made up for', async () => {
  const { cluster, scheduled } = await begin()
  const policy = `${POLICIES}/${await cluster.uuidOf(POLICIES, 'default')}`
  await pass(cluster, scheduled, '02T12:00')
  await change(cluster, 'v', { state: 'offline' })
  await pass(cluster, scheduled, '02T12:05:01')
  await change(cluster, 'v', { state: 'online' })
  await pass(cluster, scheduled, '02T12:20')
  assert.deepEqual(await namesOf(cluster), [])
  assert.equal((await cluster.call('PATCH', policy, { enabled: false })).status, 200)
  await pass(cluster, scheduled, '02T13:05:01')
  assert.equal((await cluster.call('PATCH', policy, { enabled: true })).status, 200)
  await pass(cluster, scheduled, '02T13:20')
  assert.deepEqual(await namesOf(cluster), [])
  await pass(cluster, scheduled, '02T14:05:01')
  assert.deepEqual(await namesOf(cluster), ['hourly.2100-01-02_1405'])
  await cluster.close()
})

test('what has not expired or is in use outlives the count, and snapshots of other names are not counted', async () => {
  const { cluster, scheduled } = await begin()
  const path = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'v')}/snapshots`
  await cluster.call('POST', path, { name: 'hourly.by-hand' })
  await pass(cluster, scheduled, '02T12:00')
  await pass(cluster, scheduled, '02T12:05:01')
  await pass(cluster, scheduled, '02T13:05:01')
  const expiring = `${path}/hourly.2100-01-02_1205`
  assert.equal((await cluster.call('PATCH', expiring, { expiry_time: '2100-01-03T00:00:00Z' })).status, 200)
  const owned = await cluster.cluster.row(SNAPSHOTS, await cluster.uuidOf(path, 'hourly.2100-01-02_1305'))
  await cluster.cluster.commit([cluster.cluster.put(SNAPSHOTS, { ...owned, owners: ['volume clone'] })])
  for (let hour = 14; hour <= 23; hour++) await pass(cluster, scheduled, `02T${hour}:05:01`)
  assert.deepEqual(timesOf(await namesOf(cluster), 'hourly').slice(0, 2), ['02_1205', '02_1305'])
  await pass(cluster, scheduled, '03T00:05:01')
  const left = timesOf(await namesOf(cluster), 'hourly').filter((time) => time.includes('_'))
  assert.deepEqual(left, ['02_1305', '02_2005', '02_2105', '02_2205', '02_2305', '03_0005'])
  assert.ok((await namesOf(cluster)).includes('hourly.by-hand'))
  await cluster.close()
})

test('a volume that a job holds does not hold up the others, and gets its snapshot afterwards', async () => {
  const { cluster, scheduled } = await begin()
  await change(cluster, 'vol1', { snapshot_policy: { name: 'default' } })
  await pass(cluster, scheduled, '02T12:00')
  const release = await cluster.cluster.locks.acquire([`volume:${await cluster.uuidOf(VOLUMES, 'v')}`])
  await pass(cluster, scheduled, '02T12:05:01')
  assert.deepEqual(await namesOf(cluster), [])
  assert.deepEqual(await namesOf(cluster, 'vol1'), ['hourly.2100-01-02_1205'])
  release()
  const again = new ScheduledSnapshots(cluster.cluster)
  await pass(cluster, again, '02T12:05:10')
  assert.deepEqual(await namesOf(cluster), ['hourly.2100-01-02_1205'])
  await cluster.close()
})

test('a volume that has as many snapshots as it can have gets no more, and an event says so', async () => {
  const { cluster, scheduled } = await begin()
  await pass(cluster, scheduled, '02T12:00')
  const volume = await cluster.uuidOf(VOLUMES, 'v')
  const { 'svm.uuid': svm } = await cluster.cluster.row('storage/volumes', volume)
  const taken = Array.from({ length: 1023 }, (_, number) => {
    const uuid = cluster.cluster.system.random.uuid()
    const row = { uuid, name: `s${number}`, 'volume.uuid': volume, 'svm.uuid': svm, create_time: 1 }
    return [{ do: 'take-snapshot', volume, snapshot: uuid, nowMs: 1 }, cluster.cluster.put(SNAPSHOTS, row)] as const
  })
  await cluster.cluster.commit(taken.flat())
  await pass(cluster, scheduled, '02T12:05:01')
  await pass(cluster, scheduled, '02T12:05:02')
  assert.equal((await cluster.cluster.catalog.snapshots(volume)).length, 1023)
  const events = await cluster.cluster.catalog.log('events', { limit: 100 })
  assert.equal(events.filter(({ body }) => body['name'] === 'snapshot.scheduled.skipped').length, 1)
  await cluster.close()
})

test('the notes of a volume go with it', async () => {
  const { cluster, scheduled } = await begin()
  await pass(cluster, scheduled, '02T12:00')
  assert.equal((await cluster.cluster.catalog.records(NOTES)).length, 1)
  await cluster.call('DELETE', `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'v')}`)
  assert.deepEqual(await cluster.cluster.catalog.records(NOTES), [])
  await pass(cluster, scheduled, '02T12:05:01')
  assert.deepEqual(await cluster.cluster.catalog.records(NOTES), [])
  await cluster.close()
})

test('with commits that fail or whose answer is lost, and restarts, every snapshot is taken exactly once', async (context) => {
  const random = new SimulatedRandom(seedOf(context))
  const faults = { failBefore: 0, loseAnswer: 0 }
  const plain = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  const cluster = await startTestCluster({ catalog: faultyCatalog(plain, { random, faults }) })
  const copies = [
    { schedule: { name: '5min' }, count: 500 },
    { schedule: { name: 'hourly' }, count: 400 },
  ]
  assert.equal((await cluster.call('POST', POLICIES, { name: 'often', copies })).status, 201)
  for (const name of ['vol1', 'svm1_s3_root']) await change(cluster, name, { snapshot_policy: { name: 'often' } })
  let scheduled = new ScheduledSnapshots(cluster.cluster)
  const start = at('04T10:01')
  await pass(cluster, scheduled, start)
  const wanted: string[] = []
  for (let step = 1; step <= 60; step++) {
    const time = start + step * 300_000 - 59_000
    wanted.push(new Date(time).toISOString().slice(8, 16).replace('T', '_').replace(':', ''))
    Object.assign(faults, { failBefore: 0.3, loseAnswer: 0.3 })
    for (let round = random.below(3); round >= 0; round--) {
      await pass(cluster, scheduled, time + random.below(20_000)).catch(() => undefined)
      await scheduled.settled()
      if (random.chance(0.5)) scheduled = new ScheduledSnapshots(cluster.cluster)
    }
    Object.assign(faults, { failBefore: 0, loseAnswer: 0 })
    scheduled = new ScheduledSnapshots(cluster.cluster)
    await pass(cluster, scheduled, time + 30_000)
  }
  for (const volume of ['vol1', 'svm1_s3_root']) {
    const names = await namesOf(cluster, volume)
    assert.deepEqual(timesOf(names, '5min'), wanted)
    assert.deepEqual(
      timesOf(names, 'hourly'),
      wanted.filter((time) => time.endsWith('05')),
    )
  }
  await cluster.close()
})

test('many volumes that are due together are served at a pace, a few at a time, and requests go on beside them', async () => {
  const { cluster, scheduled } = await begin()
  const { catalog } = cluster.cluster
  const like = await cluster.cluster.row('storage/volumes', await cluster.uuidOf(VOLUMES, 'v'))
  for (let made = 0; made < 300; made += 100) {
    await cluster.cluster.commit(
      Array.from({ length: 100 }, (_, number) => {
        const row = { ...like, uuid: cluster.cluster.system.random.uuid(), name: `m${made + number}` }
        return [
          cluster.cluster.put('storage/volumes', row),
          { do: 'open-volume', volume: row.uuid, sizeBytes: 1 } as const,
        ]
      }).flat(),
    )
  }
  await pass(cluster, scheduled, '02T12:00')
  let inside = 0
  let most = 0
  let taken = 0
  const commit = catalog.commit.bind(catalog)
  catalog.commit = async (changes) => {
    const isOne = changes.some((change) => change.do === 'take-snapshot')
    most = Math.max(most, (inside += isOne ? 1 : 0))
    try {
      return await commit(changes)
    } finally {
      if (isOne) taken++
      inside -= isOne ? 1 : 0
    }
  }
  cluster.clock.aheadMs += at('02T12:05:01') - cluster.clock.now()
  const begunMs = performance.now()
  await scheduled.round()
  const { status } = await cluster.call('GET', `${VOLUMES}?max_records=1`)
  assert.equal(status, 200)
  assert.ok(taken < 150, `${taken} were taken before a request was answered`)
  await scheduled.settled()
  const seconds = (performance.now() - begunMs) / 1000
  assert.equal(taken, 301)
  assert.ok(most <= 8, `${most} at once`)
  assert.ok(seconds >= 1.15, `300 within ${seconds} seconds are more than 250 a second`)
  await cluster.close()
})

test('a bucket gets the snapshots of its own policy, of it alone, and keeps as many as the policy says', async () => {
  const { cluster, scheduled } = await begin('none')
  const copies = [
    { schedule: { name: 'hourly' }, count: 2, prefix: 'Every_hour' },
    { schedule: { name: 'daily' }, count: 5 },
  ]
  assert.equal((await cluster.call('POST', POLICIES, { name: 'few', enabled: true, copies })).status, 201)
  const other = { svm: { name: 'svm1' }, name: 'other', size: '1g' }
  const papers = { ...other, name: 'papers', snapshot_policy: { name: 'few' } }
  for (const made of [other, papers]) assert.equal((await cluster.call('POST', BUCKETS, made)).status, 201)
  const [row] = recordsOf((await cluster.call('GET', `${BUCKETS}?name=papers&fields=*`)).body)
  assert.equal(asText(row?.['snapshot_policy']?.['name']), 'few')
  const bucket = `/api/protocols/s3/services/${asText(row?.['svm']?.['uuid'])}/buckets/${asText(row?.['uuid'])}`
  const names = async () => {
    const { body } = await cluster.call('GET', `${bucket}/snapshots?fields=name&order_by=name`)
    return recordsOf(body).map((one) => asText(one['name']))
  }
  await pass(cluster, scheduled, '02T12:00')
  for (let time = at('02T12:00'); time < at('03T03:00'); time += HOUR_MS) {
    for (const minutes of [5, 10]) await pass(cluster, scheduled, time + minutes * 60_000 + 700)
  }
  assert.deepEqual(await names(), ['daily.2100-01-03-0010', 'every-hour.2100-01-03-0105', 'every-hour.2100-01-03-0205'])
  assert.deepEqual(await namesOf(cluster), [])

  const removed = await cluster.call('DELETE', `${POLICIES}/${await cluster.uuidOf(POLICIES, 'few')}`)
  assert.equal(removed.status, 409)
  const long = [{ schedule: { name: 'hourly' }, count: 2, prefix: 'much-longer-than-fits' }]
  assert.equal((await cluster.call('POST', POLICIES, { name: 'long', enabled: true, copies: long })).status, 201)
  const refused = await cluster.call('PATCH', bucket, { snapshot_policy: { name: 'long' } })
  assert.equal(refused.status, 422, JSON.stringify(refused.body))
  assert.equal((await cluster.call('PATCH', bucket, { snapshot_policy: { name: 'none' } })).status, 200)
  await pass(cluster, scheduled, '03T09:05')
  assert.equal((await names()).length, 3)
})
