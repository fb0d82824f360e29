import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asNumber, asText, recordsOf, type Body } from '../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'
import { codeOf } from '../../model/failure.ts'

const QTREES = '/api/storage/qtrees'
const VOLUMES = '/api/storage/volumes'
const RULES = '/api/storage/quota/rules'
/** As the modules of Ansible come. */
const TOOL = { headers: { 'x-dot-client-app': 'netapp.ontap' } }

async function withVolume(name = 'v1'): Promise<{ cluster: TestCluster; volume: string }> {
  const cluster = await startTestCluster()
  const made = await cluster.call('POST', VOLUMES, { name, svm: 'svm1', size: '64m', guarantee: { type: 'none' } })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  return { cluster, volume: await cluster.uuidOf(VOLUMES, name) }
}

const made = (cluster: TestCluster, name: string, more: object = {}) =>
  cluster.call('POST', QTREES, { name, svm: 'svm1', volume: 'v1', ...more })
const failed = ({ status, body }: { status: number; body: Body }) => [
  status,
  body['error']?.['code'],
  body['error']?.['target'],
]
const namesOf = async (cluster: TestCluster, query: string) =>
  recordsOf((await cluster.call('GET', `${QTREES}?fields=name&${query}`)).body).map((row) => row['name'])

test('each volume has a default qtree, which can be changed but not named nor deleted', async () => {
  const { cluster, volume } = await withVolume()
  const path = `${QTREES}/${volume}/0`
  const { body } = await cluster.call('GET', `${path}?fields=*`)
  assert.deepEqual(
    [
      body['id'],
      body['name'],
      body['volume']?.['name'],
      body['svm']?.['name'],
      body['security_style'],
      body['unix_permissions'],
    ],
    [0, '', 'v1', 'svm1', 'unix', 755],
  )
  assert.equal((await cluster.call('PATCH', path, { unix_permissions: '0700', security_style: 'mixed' })).status, 200)
  const changed = (await cluster.call('GET', path)).body
  assert.deepEqual([changed['unix_permissions'], changed['security_style'], changed['name']], [700, 'mixed', ''])
  assert.deepEqual(failed(await cluster.call('PATCH', path, { name: 'q' })), [
    422,
    codeOf('defaultQtreeRename'),
    'name',
  ])
  assert.deepEqual(failed(await cluster.call('DELETE', path)), [409, codeOf('defaultQtreeDelete'), 'id'])
  assert.deepEqual(failed(await cluster.call('PATCH', path, { qos_policy: 'nothing' })).slice(0, 1), [422])
  await cluster.close()
})

test('what na_ontap_qtree sends is made, read back as it was sent, renamed, changed and deleted', async () => {
  const { cluster, volume } = await withVolume()
  const call = (method: string, target: string, body?: unknown) => cluster.call(method, target, body, TOOL)
  const find = async (name: string) => {
    const fields = 'export_policy,unix_permissions,security_style,volume'
    const reply = await call('GET', `${QTREES}?fields=${fields}&svm.name=svm1&volume=v1&name="${name}"`)
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    return recordsOf(reply.body)
  }
  assert.deepEqual(await find('q1'), [])
  const body = { name: 'q1', 'volume.name': 'v1', 'svm.name': 'svm1', security_style: 'ntfs', unix_permissions: '775' }
  const created = await call('POST', `${QTREES}?return_timeout=10`, {
    ...body,
    'user.name': 'anna',
    'group.name': 'staff',
  })
  assert.equal(created.status, 201, JSON.stringify(created.body))
  assert.equal(created.headers['location'], `${QTREES}/${volume}/1`)
  const [found] = await find('q1')
  assert.deepEqual([found?.['id'], found?.['security_style'], found?.['unix_permissions']], [1, 'ntfs', 775])
  assert.equal(found?.['volume']?.['uuid'], volume)
  assert.equal((await call('PATCH', `${QTREES}/${volume}/1`, { name: 'q2' })).status, 200)
  assert.equal(
    (await call('PATCH', `${QTREES}/${volume}/1?return_timeout=120`, { unix_permissions: '700' })).status,
    200,
  )
  assert.deepEqual(await find('q1'), [])
  assert.equal((await find('q2'))[0]?.['unix_permissions'], 700)
  assert.equal((await call('DELETE', `${QTREES}/${volume}/1?return_timeout=3`)).status, 200)
  assert.deepEqual(await find('q2'), [])
  assert.deepEqual(failed(await call('DELETE', `${QTREES}/${volume}/1`)).slice(0, 2), [404, '4'])
  await cluster.close()
})

test('names are unique within a volume, and numbers are the lowest that are free', async () => {
  const { cluster, volume } = await withVolume()
  const ids = async () => {
    const { body } = await cluster.call('GET', `${QTREES}?fields=id,name&volume.name=v1&name=!""&order_by=id`)
    return recordsOf(body).map((row) => `${asNumber(row['id'])} ${asText(row['name'])}`)
  }
  const replies = await Promise.all(['a', 'b', 'c'].map((name) => made(cluster, name)))
  assert.deepEqual(
    replies.map(({ status }) => status),
    [201, 201, 201],
  )
  assert.deepEqual(
    (await ids()).map((row) => Number(row.split(' ')[0])),
    [1, 2, 3],
  )
  assert.deepEqual(failed(await made(cluster, 'b')), [409, 1, 'name'])
  assert.deepEqual(failed(await cluster.call('PATCH', `${QTREES}/${volume}/1`, { name: 'b' })), [409, 1, 'name'])
  await cluster.call('DELETE', `${QTREES}/${volume}/2`)
  assert.equal((await made(cluster, 'd')).status, 201)
  assert.ok((await ids()).includes('2 d'))
  await cluster.close()
})

test('a qtree that cannot be is refused with the reason', async () => {
  const { cluster } = await withVolume()
  const cases: [object, unknown[]][] = [
    [{ name: undefined }, [422, codeOf('qtreeNameRequired'), 'name']],
    [{ name: 'a/b' }, [422, 262197, 'name']],
    [{ name: '..' }, [422, 262197, 'name']],
    [{ name: 'x'.repeat(65) }, [422, 262197, 'name']],
    [{ volume: 'v9' }, [422, codeOf('volumeUnknown'), 'volume.name']],
    [{ volume: undefined }, [422, codeOf('fieldRequired'), 'volume.name']],
    [{ export_policy: 'nothing' }, [422, codeOf('exportPolicyUnknown'), 'export_policy.name']],
    [{ export_policy: { id: 7 } }, [422, codeOf('exportPolicyUnknown'), 'export_policy.id']],
    [{ unix_permissions: 789 }, [422, 262197, 'unix_permissions']],
    [{ user: { id: '4294967296' } }, [422, codeOf('ownerIdOutOfBounds'), 'user.id']],
    [{ id: 7 }, [422, codeOf('fieldNotCreatable'), 'id']],
  ]
  for (const [more, expected] of cases) {
    assert.deepEqual(failed(await made(cluster, 'q1', more)), expected, JSON.stringify(more))
  }
  assert.deepEqual(await namesOf(cluster, 'volume.name=v1'), [''])
  await cluster.close()
})

test('a renamed volume shows in its qtrees, and a deleted one takes them and their rules with it', async () => {
  const { cluster, volume } = await withVolume()
  await made(cluster, 'q1')
  await cluster.call('PATCH', `${QTREES}/${volume}/0`, { security_style: 'mixed' })
  await cluster.call('POST', RULES, {
    svm: 'svm1',
    volume: 'v1',
    type: 'tree',
    qtree: 'q1',
    space: { hard_limit: '1m' },
  })
  await cluster.call('PATCH', `${VOLUMES}/${volume}`, { name: 'v2', quota: { enabled: true } })
  assert.deepEqual(await namesOf(cluster, 'volume.name=v2&order_by=id'), ['', 'q1'])
  assert.equal((await cluster.call('DELETE', `${VOLUMES}/${volume}`)).status, 200)
  assert.deepEqual(recordsOf((await cluster.call('GET', `${QTREES}?volume.uuid=${volume}`)).body), [])
  for (const type of ['storage/qtrees', 'storage/quota/rules']) {
    assert.deepEqual(await cluster.cluster.catalog.records(type), [], type)
  }
  await cluster.close()
})

test('a QoS policy that a qtree names is in use', async () => {
  const { cluster, volume } = await withVolume()
  const policies = '/api/storage/qos/policies'
  await cluster.call('POST', policies, { name: 'slow', svm: 'svm1', fixed: { max_throughput_iops: 10 } })
  assert.equal((await made(cluster, 'q1', { qos_policy: 'slow' })).status, 201)
  const policy = `${policies}/${await cluster.uuidOf(policies, 'slow')}`
  assert.equal((await cluster.call('GET', `${QTREES}/${volume}/1`)).body['qos_policy']?.['name'], 'slow')
  assert.deepEqual(failed(await cluster.call('DELETE', policy)).slice(0, 2), [409, codeOf('qosPolicyInUse')])
  assert.equal((await cluster.call('PATCH', `${QTREES}/${volume}/1`, { qos_policy: { name: '' } })).status, 200)
  assert.equal((await cluster.call('DELETE', policy)).status, 200)
  const of0 = await cluster.call('PATCH', `${QTREES}/${volume}/0`, { qos_policy: 'slow' })
  assert.equal(of0.status, 422)
  await cluster.close()
})

test('a qtree has a path where its volume has one', async () => {
  const { cluster, volume } = await withVolume()
  await made(cluster, 'q1')
  const { catalog } = cluster.cluster
  const record = await catalog.record('storage/volumes', volume)
  const path = async (id: number) => (await cluster.call('GET', `${QTREES}/${volume}/${id}?fields=path,nas.path`)).body
  assert.deepEqual(await path(1), {})
  for (const [junction, ofDefault, ofNamed] of [
    ['/docs', '/docs', '/docs/q1'],
    ['/', '/', '/q1'],
  ] as const) {
    const body = { ...record?.body, 'nas.path': junction }
    await catalog.commit([{ do: 'put-record', type: 'storage/volumes', key: volume, body }])
    assert.deepEqual(await path(0), { path: ofDefault, nas: { path: ofDefault } })
    assert.deepEqual(await path(1), { path: ofNamed, nas: { path: ofNamed } })
  }
  await cluster.close()
})

test('the operations of a volume are those of its default qtree; in the others nothing can lie', async () => {
  const cluster = await startTestCluster()
  const volume = await cluster.uuidOf('/api/storage/volumes', 'vol1')
  await cluster.call('POST', '/api/storage/qtrees', { name: 'q1', svm: 'svm1', volume: 'vol1' })
  const add = { read_ops: 7, read_latency: 700, bytes_read: 4096 }
  await cluster.cluster.catalog.commit([{ do: 'count', table: 'volume', row: volume, add }])
  const { body } = await cluster.call('GET', '/api/storage/qtrees?volume.name=vol1&fields=id,statistics&order_by=id')
  const told = recordsOf(body).map(({ id, statistics }) => [
    id,
    statistics?.['iops_raw']?.['read'],
    statistics?.['status'],
  ])
  assert.deepEqual(told, [
    [0, 7, 'ok'],
    [1, 0, 'ok'],
  ])
  await cluster.close()
})
