import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asList, asNumber, asText, recordsOf, type Body } from '../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'
import { wireCode } from '../../../test/support/codes.ts'

const POLICIES = '/api/storage/snapshot-policies'
const TOOL = { headers: { 'user-agent': 'python-requests/2.31.0', 'x-dot-client-app': 'netapp.ontap/23' } }

const call = (cluster: TestCluster, method: string, path: string, body?: unknown) =>
  cluster.call(method, path, body, TOOL)

async function one(cluster: TestCluster, name: string): Promise<Body> {
  const { body } = await call(cluster, 'GET', `${POLICIES}?name=${name}&fields=*`)
  return recordsOf(body)[0] ?? {}
}

const copiesOf = async (cluster: TestCluster, name: string) =>
  recordsOf({ records: (await one(cluster, name))['copies'] ?? {} }).map((copy) => [
    copy['schedule']?.['name'],
    copy['count'],
    copy['prefix'],
    copy['snapmirror_label'],
  ])

const codeOf = ({ body }: { readonly body: Body }) => body['error']?.['code']

test('the policies that every cluster comes with say what is kept', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const daily = ['daily', 2, 'daily', 'daily']
  assert.deepEqual(await copiesOf(cluster, 'default'), [
    ['hourly', 6, 'hourly', '-'],
    daily,
    ['weekly', 2, 'weekly', 'weekly'],
  ])
  assert.deepEqual((await copiesOf(cluster, 'default-1weekly')).at(-1), ['weekly', 1, 'weekly', 'weekly'])
  assert.deepEqual((await one(cluster, 'none'))['copies'], [])
  assert.equal((await one(cluster, 'default'))['enabled'], true)
  assert.equal((await one(cluster, 'none'))['enabled'], false)
  await cluster.close()
})

test('a policy is read back as it was written, by the fields that tools ask for', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const body = {
    name: 'ansible2',
    enabled: true,
    comment: 'nightly',
    copies: [
      { schedule: { name: 'hourly' }, count: 150, prefix: 'h', snapmirror_label: 'hl', retention_period: 'P30D' },
      { schedule: 'daily', count: '7' },
    ],
  }
  assert.equal((await call(cluster, 'POST', POLICIES, body)).status, 201)
  const fields =
    'enabled,svm.uuid,comment,copies.snapmirror_label,copies.count,copies.prefix,copies.schedule.name,scope,copies.retention_period,'
  const found = await call(cluster, 'GET', `${POLICIES}?name=ansible2&scope=cluster&fields=${fields}`)
  const [row] = recordsOf(found.body)
  assert.deepEqual(row?.['copies'], [
    { schedule: { name: 'hourly' }, count: 150, prefix: 'h', snapmirror_label: 'hl', retention_period: 'P30D' },
    { schedule: { name: 'daily' }, count: 7, prefix: 'daily', snapmirror_label: '-', retention_period: 'PT0S' },
  ])
  assert.equal(row?.['comment'], 'nightly')
  const by = await call(cluster, 'GET', `${POLICIES}?copies.schedule.name=hourly&copies.count=150`)
  assert.deepEqual(
    recordsOf(by.body).map((each) => each['name']),
    ['ansible2'],
  )
  await cluster.close()
})

test('the schedules of a policy are a collection below it: added, changed, taken out by their uuid', async () => {
  const cluster = await startTestCluster({ isBare: true })
  await call(cluster, 'POST', POLICIES, { name: 'p', copies: [{ schedule: { name: 'daily' }, count: 5 }] })
  const path = `${POLICIES}/${await cluster.uuidOf(POLICIES, 'p')}/schedules`
  const added = await call(cluster, 'POST', path, { 'schedule.name': 'weekly', count: '3', prefix: 'w' })
  assert.equal(added.status, 201)
  const weekly = await cluster.uuidOf('/api/cluster/schedules', 'weekly')
  assert.equal(added.headers['location'], `${path}/${weekly}`)
  assert.equal((await call(cluster, 'PATCH', `${path}/${weekly}`, { count: '4', snapmirror_label: 'wl' })).status, 200)
  const fields = 'schedule.name,schedule.uuid,snapmirror_label,count,prefix,retention_period,'
  const { body } = await call(cluster, 'GET', `${path}?snapshot_policy.name=p&fields=${fields}`)
  assert.deepEqual(
    recordsOf(body)
      .map(({ schedule, count, prefix, snapmirror_label, retention_period }) => [
        schedule?.['name'],
        count,
        prefix,
        snapmirror_label,
        retention_period,
      ])
      .toSorted((a, b) => asNumber(b[1]) - asNumber(a[1])),
    [
      ['daily', 5, 'daily', '-', 'PT0S'],
      ['weekly', 4, 'w', 'wl', 'PT0S'],
    ],
  )
  assert.equal((await call(cluster, 'PATCH', `${path}/${weekly}`, { snapmirror_label: '' })).status, 200)
  assert.deepEqual(await copiesOf(cluster, 'p'), [
    ['daily', 5, 'daily', '-'],
    ['weekly', 4, 'w', '-'],
  ])
  const daily = await cluster.uuidOf('/api/cluster/schedules', 'daily')
  assert.equal((await call(cluster, 'DELETE', `${path}/${daily}`)).status, 200)
  assert.deepEqual(await copiesOf(cluster, 'p'), [['weekly', 4, 'w', '-']])
  assert.equal(
    codeOf(await call(cluster, 'DELETE', `${path}/${weekly}`)),
    wireCode('snapshotPolicyEmpty'),
    'one must stay',
  )
  assert.equal((await call(cluster, 'DELETE', `${path}/${daily}`)).status, 404)
  await cluster.close()
})

test('what a policy cannot be is refused with the code of the field', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const make = async (copies: unknown, rest = {}) =>
    codeOf(await call(cluster, 'POST', POLICIES, { name: 'p', copies, ...rest }))
  const daily = { schedule: { name: 'daily' }, count: 1 }
  assert.equal(await make([{ schedule: { name: 'yearly' }, count: 1 }]), wireCode('snapshotScheduleUnknown'))
  assert.equal(
    await make([
      { ...daily, count: 1000 },
      { schedule: { name: 'weekly' }, count: 24 },
    ]),
    wireCode('snapshotPolicyCountLimit'),
  )
  assert.equal(await make([{ ...daily, count: 1024 }]), wireCode('fieldInvalid'))
  assert.equal(await make([{ ...daily, count: 0 }]), wireCode('fieldInvalid'))
  assert.equal(await make([{ schedule: { name: 'daily' } }]), wireCode('fieldRequired'))
  assert.equal(await make([]), wireCode('snapshotPolicyEmpty'))
  assert.equal(await make([daily, { ...daily, prefix: 'other' }]), '262186')
  assert.equal(await make([daily, { schedule: 'weekly', count: 1, prefix: 'daily' }]), '262186')
  assert.equal(await make([daily], { name: 'default' }), wireCode('snapshotPolicyNameTaken'))
  const six = ['5min', '8hour', 'hourly', 'daily', 'weekly', 'monthly'].map((name) => ({
    schedule: { name },
    count: 1,
  }))
  assert.equal(await make(six), '262186')
  assert.equal(await make(six.slice(1)), undefined)
  await cluster.close()
})

test('a policy that a volume has, and one that the cluster came with, are not deleted', async () => {
  const cluster = await startTestCluster()
  const pathOf = async (name: string) => `${POLICIES}/${await cluster.uuidOf(POLICIES, name)}`
  await call(cluster, 'POST', POLICIES, { name: 'p', copies: [{ schedule: 'daily', count: 1 }] })
  const volume = `/api/storage/volumes/${await cluster.uuidOf('/api/storage/volumes', 'vol1')}`
  assert.equal((await cluster.call('PATCH', volume, { snapshot_policy: 'p' })).status, 200)
  assert.equal(codeOf(await call(cluster, 'DELETE', await pathOf('p'))), wireCode('snapshotPolicyInUse'))
  await cluster.call('PATCH', volume, { snapshot_policy: { name: 'none' } })
  assert.equal((await call(cluster, 'DELETE', await pathOf('p'))).status, 200)
  assert.equal(codeOf(await call(cluster, 'DELETE', await pathOf('default'))), wireCode('builtInSnapshotPolicy'))
  assert.equal(
    codeOf(await call(cluster, 'PATCH', await pathOf('none'), { enabled: true })),
    wireCode('snapshotPolicyEnabledEmpty'),
  )
  await cluster.close()
})

test('a policy of an SVM is for its volumes alone, and comes before one of the cluster with its name', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', '/api/svm/svms', { name: 'other' })
  const copies = [{ schedule: { name: 'daily' }, count: 1 }]
  for (const svm of ['svm1', 'other']) {
    assert.equal((await call(cluster, 'POST', POLICIES, { name: 'default', 'svm.name': svm, copies })).status, 201)
  }
  const { body } = await call(cluster, 'GET', `${POLICIES}?name=default&svm.name=svm1&scope=svm&fields=svm,uuid`)
  const own = asText(recordsOf(body)[0]?.['uuid'])
  const volume = { name: 'v', svm: 'svm1', 'guarantee.type': 'none', snapshot_policy: { name: 'default' } }
  assert.equal((await cluster.call('POST', '/api/storage/volumes', volume)).status, 201)
  const found = await cluster.call('GET', '/api/storage/volumes?name=v&fields=snapshot_policy')
  assert.equal(recordsOf(found.body)[0]?.['snapshot_policy']?.['uuid'], own)
  const foreign = { ...volume, name: 'w', svm: 'other', snapshot_policy: { uuid: own } }
  assert.equal(codeOf(await call(cluster, 'POST', '/api/storage/volumes', foreign)), wireCode('snapshotPolicyUnknown'))
  const svm = `/api/svm/svms/${await cluster.uuidOf('/api/svm/svms', 'other')}`
  assert.equal((await cluster.call('DELETE', svm)).status, 200)
  assert.equal(recordsOf((await call(cluster, 'GET', `${POLICIES}?name=default`)).body).length, 2)
  await cluster.close()
})

test('schedules are added to the policy of an SVM', async () => {
  const cluster = await startTestCluster()
  const made = { name: 'of_svm', svm: { name: 'svm1' }, copies: [{ count: 3, schedule: { name: 'hourly' } }] }
  assert.equal((await cluster.call('POST', '/api/storage/snapshot-policies', made)).status, 201)
  const uuid = await cluster.uuidOf('/api/storage/snapshot-policies', 'of_svm')
  const path = `/api/storage/snapshot-policies/${uuid}`
  const added = await cluster.call('POST', `${path}/schedules`, { count: 2, schedule: { name: 'daily' } })
  assert.equal(added.status, 201, JSON.stringify(added.body))
  const { body } = await cluster.call('GET', `${path}?fields=copies`)
  assert.deepEqual(
    asList(body['copies']).map((copy) => [copy['schedule']?.['name'], copy['count']]),
    [
      ['hourly', 3],
      ['daily', 2],
    ],
  )
  await cluster.close()
})
