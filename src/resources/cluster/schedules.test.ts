import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf } from '../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'
import { wireCode } from '../../../test/support/codes.ts'

const SCHEDULES = '/api/cluster/schedules'
/** Tools read codes as text, and records with keys always. */
const TOOL = { headers: { 'user-agent': 'python-requests/2.31.0', 'x-dot-client-app': 'netapp.ontap/23' } }

async function make(cluster: TestCluster, body: unknown) {
  return cluster.call('POST', SCHEDULES, body, TOOL)
}

async function one(cluster: TestCluster, name: string) {
  const { body } = await cluster.call('GET', `${SCHEDULES}?name=${name}&fields=*`, undefined, TOOL)
  return recordsOf(body)[0] ?? {}
}

test('a cluster comes with its schedules from the first start', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const { body } = await cluster.call('GET', `${SCHEDULES}?fields=name,type,cron,scope`)
  const crons = Object.fromEntries(recordsOf(body).map((row) => [asText(row['name']), row['cron']]))
  assert.deepEqual(crons, {
    '5min': { minutes: [0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55] },
    '8hour': { minutes: [15], hours: [2, 10, 18] },
    hourly: { minutes: [5] },
    daily: { minutes: [10], hours: [0] },
    weekly: { minutes: [15], hours: [0], weekdays: [0] },
    monthly: { minutes: [20], hours: [0], days: [1] },
  })
  await cluster.close()
})

test('a cron is read back as it was written; every minute is sixty of them, every hour is left out', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const cron = { minutes: [30, 5], hours: [23], days: [10], months: [1, 4, 7, 10], weekdays: [0, 6] }
  assert.equal((await make(cluster, { name: 'quarterly', cron })).status, 201)
  const row = await one(cluster, 'quarterly')
  assert.deepEqual(row['cron'], cron)
  assert.equal(row['type'], 'cron')
  assert.equal(row['scope'], 'cluster')
  assert.equal((await make(cluster, { name: 'all', cron: { minutes: [], hours: [] } })).status, 201)
  assert.deepEqual((await one(cluster, 'all'))['cron'], { minutes: Array.from({ length: 60 }, (_, minute) => minute) })
  await cluster.close()
})

test('a change names the whole cron: what it leaves out is every one, but the minutes stay', async () => {
  const cluster = await startTestCluster({ isBare: true })
  await make(cluster, { name: 's', cron: { minutes: [5], hours: [23], days: [10] } })
  const path = `${SCHEDULES}/${await cluster.uuidOf(SCHEDULES, 's')}`
  assert.equal((await cluster.call('PATCH', path, { cron: { hours: [], weekdays: [1] } })).status, 200)
  assert.deepEqual((await one(cluster, 's'))['cron'], { minutes: [5], weekdays: [1] })
  assert.equal((await cluster.call('PATCH', path, { cron: { minutes: [7] } })).status, 200)
  assert.deepEqual((await one(cluster, 's'))['cron'], { minutes: [7] })
  await cluster.close()
})

test('an interval is a schedule too, of one minute at least, and is changed to another one', async () => {
  const cluster = await startTestCluster({ isBare: true })
  assert.equal((await make(cluster, { name: 'often', interval: 'PT7M30S' })).status, 201)
  const row = await one(cluster, 'often')
  assert.equal(row['interval'], 'PT7M30S')
  assert.equal(row['type'], 'interval')
  assert.equal(row['cron'], undefined)
  const path = `${SCHEDULES}/${await cluster.uuidOf(SCHEDULES, 'often')}`
  assert.equal((await cluster.call('PATCH', path, { interval: 'PT1H' })).status, 200)
  assert.equal((await one(cluster, 'often'))['interval'], 'PT1H')
  const both = await cluster.call('PATCH', path, { cron: { minutes: [1] } }, TOOL)
  assert.equal(both.body['error']?.['code'], '459760')
  assert.equal((await make(cluster, { name: 'mad', interval: 'PT59S' })).body['error']?.['code'], '459760')
  await cluster.close()
})

test('a schedule that says two things, nothing, or a day that does not exist is refused', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const refused = [
    { cron: { minutes: [1] }, interval: 'PT1H' },
    {},
    { cron: {} },
    { cron: { hours: [1] } },
    { cron: { minutes: [0], days: [30, 31], months: [2] } },
  ]
  for (const body of refused) {
    const { body: answer } = await make(cluster, { name: 's', ...body })
    assert.equal(answer['error']?.['code'], '459760', JSON.stringify(body))
  }
  for (const cron of [
    { minutes: [60] },
    { minutes: [-1] },
    { minutes: [0], months: [0] },
    { minutes: [0], weekdays: [7] },
  ]) {
    assert.equal(
      (await make(cluster, { name: 's', cron })).body['error']?.['code'],
      wireCode('fieldInvalid'),
      JSON.stringify(cron),
    )
  }
  await cluster.close()
})

test('two schedules do not have one name, and another type has a code of its own', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const again = await make(cluster, { name: 'daily', cron: { minutes: [1] } })
  assert.deepEqual([again.status, again.body['error']?.['code']], [409, '1'])
  const other = await make(cluster, { name: 'daily', interval: 'P1D' })
  assert.deepEqual([other.status, other.body['error']?.['code']], [409, wireCode('scheduleNameTakenByOtherType')])
  await cluster.close()
})

test('a schedule that a snapshot policy uses is not deleted; others are', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const path = async (name: string) => `${SCHEDULES}/${await cluster.uuidOf(SCHEDULES, name)}`
  const used = await cluster.call('DELETE', await path('hourly'), undefined, TOOL)
  assert.deepEqual([used.status, used.body['error']?.['code']], [409, wireCode('scheduleOfSnapshotPolicy')])
  assert.equal((await cluster.call('DELETE', await path('5min'))).status, 200)
  assert.deepEqual(await one(cluster, '5min'), {})
  await cluster.close()
})

test('an SVM has schedules of its own, which go with it', async () => {
  const cluster = await startTestCluster({ isBare: true })
  await cluster.call('POST', '/api/svm/svms', { name: 'other' })
  assert.equal((await make(cluster, { name: 'daily', 'svm.name': 'other', cron: { minutes: [1] } })).status, 201)
  const found = await cluster.call('GET', `${SCHEDULES}?scope=svm&fields=svm.name,name`)
  assert.deepEqual(
    recordsOf(found.body).map((row) => [row['name'], row['svm']?.['name']]),
    [['daily', 'other']],
  )
  const svm = await cluster.uuidOf('/api/svm/svms', 'other')
  assert.equal((await cluster.call('DELETE', `/api/svm/svms/${svm}`)).status, 200)
  assert.deepEqual(recordsOf((await cluster.call('GET', `${SCHEDULES}?scope=svm`)).body), [])
  await cluster.close()
})

test('the cluster that a schedule belongs to may be named, and is this one', async () => {
  const cluster = await startTestCluster({ isBare: true })
  assert.equal((await make(cluster, { name: 'a', cluster: 'holdfast', cron: { minutes: [1] } })).status, 201)
  assert.equal((await one(cluster, 'a'))['cluster']?.['name'], 'holdfast')
  const elsewhere = await make(cluster, { name: 'b', cluster: 'elsewhere', cron: { minutes: [1] } })
  assert.equal(elsewhere.body['error']?.['code'], wireCode('scheduleOfOtherCluster'))
  const { body } = await cluster.call('GET', `${SCHEDULES}?cluster=holdfast&name=a&fields=uuid,cron`, undefined, TOOL)
  assert.equal(recordsOf(body).length, 1)
  await cluster.close()
})

test('a schedule of the cluster is found by its name in the path, as Terraform imports it', async () => {
  const cluster = await startTestCluster()
  const { body } = await cluster.call('GET', `${SCHEDULES}/hourly?fields=name,cron`, undefined, TOOL)
  assert.deepEqual([body['name'], body['cron']], ['hourly', { minutes: [5] }])
  assert.equal((await cluster.call('GET', `${SCHEDULES}/never`, undefined, TOOL)).status, 404)
  await make(cluster, { name: 'of_svm1', interval: 'PT1H', svm: { name: 'svm1' } })
  assert.equal((await cluster.call('GET', `${SCHEDULES}/of_svm1`, undefined, TOOL)).status, 404)
  await cluster.close()
})
