import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asList, asNumber, asText, recordsOf, type Body } from '../../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../../test/support/cluster.ts'
import { codeOf } from '../../../model/failure.ts'
import { wireCode } from '../../../../test/support/codes.ts'

const POLICIES = '/api/protocols/nfs/export-policies'
const VOLUMES = '/api/storage/volumes'
/** As the modules of Ansible come. */
const TOOL = { headers: { 'x-dot-client-app': 'netapp.ontap' } }
const RULE = { clients: [{ match: '192.0.2.0/24' }], ro_rule: ['sys'], rw_rule: ['sys'] }

const failed = ({ status, body }: { status: number; body: Body }) => [
  status,
  body['error']?.['code'],
  body['error']?.['target'],
]

async function withPolicy(): Promise<{ cluster: TestCluster; id: number; rules: string }> {
  const cluster = await startTestCluster()
  const made = await cluster.call('POST', POLICIES, { name: 'p1', svm: 'svm1' })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const id = asNumber(recordsOf(made.body)[0]?.['id'])
  return { cluster, id, rules: `${POLICIES}/${id}/rules` }
}

const indexes = async (cluster: TestCluster, rules: string) =>
  recordsOf((await cluster.call('GET', `${rules}?fields=index,clients&order_by=index`)).body).map(
    (rule) => `${asNumber(rule['index'])} ${asText(asList(rule['clients'])[0]?.['match'])}`,
  )

test('each SVM has an export policy named default from the start, which goes with it and not before', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', '/api/svm/svms', { name: 'svm2' })
  const { body } = await cluster.call('GET', `${POLICIES}?fields=name,id,svm,rules&order_by=svm.name`)
  assert.deepEqual(
    recordsOf(body).map((row) => [row['name'], row['svm']?.['name'], row['rules']]),
    [
      ['default', 'svm1', []],
      ['default', 'svm2', []],
    ],
  )
  const id = asNumber(recordsOf(body)[1]?.['id'])
  assert.deepEqual(failed(await cluster.call('DELETE', `${POLICIES}/${id}`)), [
    409,
    codeOf('defaultExportPolicyDelete'),
    'name',
  ])
  const svm = await cluster.uuidOf('/api/svm/svms', 'svm2')
  assert.equal((await cluster.call('DELETE', `/api/svm/svms/${svm}`)).status, 200)
  assert.equal((await cluster.call('GET', `${POLICIES}/${id}`)).status, 404)
  await cluster.close()
})

test('an export policy is found by name, renamed and deleted as na_ontap_export_policy does it', async () => {
  const cluster = await startTestCluster()
  const call = (method: string, target: string, body?: unknown) => cluster.call(method, target, body, TOOL)
  const find = async (name: string) =>
    recordsOf((await call('GET', `${POLICIES}/?svm.name=svm1&name=${name}&fields=name,id`)).body)
  assert.deepEqual(await find('p1'), [])
  assert.equal((await call('POST', `${POLICIES}?return_timeout=30`, { name: 'p1', 'svm.name': 'svm1' })).status, 201)
  const again = await call('POST', POLICIES, { name: 'p1', 'svm.name': 'svm1' })
  assert.deepEqual(failed(again), [409, wireCode('exportPolicyNameTaken'), 'name'])
  const [found] = await find('p1')
  const path = `${POLICIES}/${asNumber(found?.['id'])}`
  assert.equal((await call('PATCH', `${path}?return_timeout=30`, { name: 'p2' })).status, 200)
  assert.equal((await find('p2'))[0]?.['id'], found?.['id'])
  assert.equal((await call('DELETE', `${path}?return_timeout=30`)).status, 200)
  assert.deepEqual(await find('p2'), [])
  await cluster.close()
})

test('the number of a deleted export policy is not given to another', async () => {
  const { cluster, id } = await withPolicy()
  await cluster.call('DELETE', `${POLICIES}/${id}`)
  cluster.clock.aheadMs += 1000
  const made = await cluster.call('POST', POLICIES, { name: 'p2', svm: 'svm1' })
  assert.ok(asNumber(recordsOf(made.body)[0]?.['id']) > id)
  await cluster.close()
})

test('a rule is complete when it is made, is shown by its policy too, and reads as it was set', async () => {
  const { cluster, id, rules } = await withPolicy()
  const made = await cluster.call('POST', `${rules}?return_records=true`, { ...RULE, anonymous_user: 65533 }, TOOL)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  assert.equal(made.headers['location'], `${rules}/1`)
  const [record] = recordsOf(made.body)
  assert.deepEqual(
    [
      record?.['index'],
      record?.['protocols'],
      record?.['superuser'],
      record?.['anonymous_user'],
      record?.['chown_mode'],
    ],
    [1, ['any'], ['none'], '65533', 'restricted'],
  )
  assert.deepEqual(record?.['svm']?.['name'], 'svm1')
  const [shown] = (await cluster.call('GET', `${POLICIES}/${id}`)).body['rules'] as unknown as Body[]
  assert.deepEqual(
    [shown?.['index'], shown?.['clients'], shown?.['allow_suid']],
    [1, [{ match: '192.0.2.0/24' }], true],
  )
  const change = {
    ro_rule: ['krb5', 'sys'],
    clients: [{ match: '@admins' }, { match: '.example.com' }],
    allow_suid: 'false',
  }
  assert.equal((await cluster.call('PATCH', `${rules}/1`, change)).status, 200)
  const { body } = await cluster.call('GET', `${rules}/1`)
  assert.deepEqual([body['ro_rule'], body['clients'], body['allow_suid']], [change.ro_rule, change.clients, false])
  const found = await cluster.call('GET', `${rules}?clients.match=.example.com&ro_rule=sys&fields=index`)
  assert.equal(recordsOf(found.body).length, 1)
  assert.equal((await cluster.call('DELETE', `${rules}/1`)).status, 200)
  assert.equal((await cluster.call('GET', `${rules}/1`)).status, 404)
  await cluster.close()
})

test('a rule that comes to a taken index moves the others up, to the next gap and no further', async () => {
  const { cluster, rules } = await withPolicy()
  const make = (match: string, index?: number) =>
    cluster.call('POST', rules, { ...RULE, clients: [{ match }], ...(index === undefined ? {} : { index }) })
  for (const match of ['a', 'b', 'c']) assert.equal((await make(match)).status, 201)
  await make('far', 10)
  await make('first', 1)
  assert.deepEqual(await indexes(cluster, rules), ['1 first', '2 a', '3 b', '4 c', '10 far'])
  assert.equal((await cluster.call('PATCH', `${rules}/10?new_index=2`, {}, TOOL)).status, 200)
  assert.deepEqual(await indexes(cluster, rules), ['1 first', '2 far', '3 a', '4 b', '5 c'])
  await cluster.call('DELETE', `${rules}/2`)
  await cluster.call('PATCH', `${rules}/5?new_index=1`, {}, TOOL)
  assert.deepEqual(await indexes(cluster, rules), ['1 c', '2 first', '3 a', '4 b'])
  assert.deepEqual(failed(await cluster.call('PATCH', `${rules}/1?new_index=0`, {})), [
    400,
    codeOf('argumentInvalid'),
    'new_index',
  ])
  assert.equal((await cluster.call('PATCH', `${rules}/77`, { ro_rule: ['any'] })).status, 404)
  await cluster.close()
})

test('rules that mean nobody, that are there already, or that are not whole are refused with the codes tools know', async () => {
  const { cluster, id, rules } = await withPolicy()
  await cluster.call('POST', rules, RULE)
  const refusals = [
    [RULE, codeOf('exportRuleTaken')],
    [{ ...RULE, clients: [{ match: '@' }] }, codeOf('exportNetgroupMissing')],
    [{ ...RULE, clients: [{ match: '.' }] }, codeOf('exportDomainMissing')],
    [{ ...RULE, clients: [{ match: '/24' }] }, codeOf('exportNetworkMissing')],
    [{ ...RULE, clients: [{ match: '192.0.2.1/24' }] }, codeOf('exportBitsOutsideMask')],
    [{ ...RULE, clients: [{ match: '192.0.2.0/33' }] }, codeOf('exportMaskMalformed')],
    [{ ...RULE, clients: [{ match: '300.0.2.0' }] }, codeOf('exportAddressMalformed')],
    [{ ...RULE, clients: [{ match: 'a b' }] }, codeOf('exportClientMalformed')],
    [{ ...RULE, clients: [{ match: 'a' }, { match: 'a' }] }, codeOf('exportClientTwice')],
    [{ ...RULE, clients: [] }, 262197],
    [{ ...RULE, rw_rule: ['maybe'] }, 262197],
    [{ ro_rule: ['sys'], rw_rule: ['sys'] }, codeOf('fieldRequired')],
  ] as const
  for (const [body, code] of refusals) {
    assert.equal((await cluster.call('POST', rules, body)).body['error']?.['code'], code, JSON.stringify(body))
  }
  for (const match of ['0.0.0.0/0', '::/0', '2001:db8::/32', '10.0.0.0/255.0.0.0', 'host-1.example.com', '192.0.2.9']) {
    const made = await cluster.call('POST', rules, { ...RULE, clients: [{ match }] })
    assert.equal(made.status, 201, `${match}: ${JSON.stringify(made.body)}`)
  }
  const whole = await cluster.call('PATCH', `${POLICIES}/${id}`, { rules: [{ ...RULE, index: 4 }, RULE] })
  assert.equal(whole.body['error']?.['code'], codeOf('exportRuleTaken'))
  assert.equal((await cluster.call('POST', `${POLICIES}/12/rules`, RULE)).status, 404)
  await cluster.close()
})

test('volumes and qtrees name their export policy, show the usual one without, and keep it from being deleted', async () => {
  const { cluster, id } = await withPolicy()
  const make = (name: string, more: object) =>
    cluster.call('POST', VOLUMES, { name, svm: 'svm1', size: '64m', guarantee: { type: 'none' }, ...more })
  assert.deepEqual(failed(await make('v0', { 'nas.export_policy.name': 'p9' })), [
    422,
    codeOf('exportPolicyUnknown'),
    'nas.export_policy.name',
  ])
  assert.equal((await make('v1', { 'nas.export_policy.name': 'p1' })).status, 201)
  assert.equal((await make('v2', { nas: { export_policy: 'p1' } })).status, 201)
  const policyOf = async (name: string) => {
    const { body } = await cluster.call('GET', `${VOLUMES}?name=${name}&fields=nas.export_policy`)
    return recordsOf(body)[0]?.['nas']?.['export_policy']
  }
  assert.deepEqual(await policyOf('v1'), { name: 'p1', id })
  assert.equal((await policyOf('vol1'))?.['name'], 'default')
  const clone = { name: 'c1', svm: 'svm1', clone: { is_flexclone: true, parent_volume: { name: 'v1' } } }
  assert.equal((await cluster.call('POST', VOLUMES, clone)).status, 201)
  assert.equal((await policyOf('c1'))?.['name'], 'p1')
  const qtree = await cluster.call('POST', '/api/storage/qtrees', { name: 'q', svm: 'svm1', volume: 'v2' })
  const place = `/api/storage/qtrees/${await cluster.uuidOf(VOLUMES, 'v2')}/1`
  assert.equal(qtree.status, 201)
  assert.equal((await cluster.call('GET', place)).body['export_policy']?.['name'], 'p1')
  assert.equal((await cluster.call('PATCH', place, { export_policy: { name: 'default' } })).status, 200)
  assert.equal((await cluster.call('GET', place)).body['export_policy']?.['name'], 'default')
  assert.deepEqual(failed(await cluster.call('DELETE', `${POLICIES}/${id}`)), [
    409,
    codeOf('exportPolicyInUse'),
    undefined,
  ])
  for (const name of ['v1', 'v2', 'c1']) {
    const volume = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, name)}`
    assert.equal((await cluster.call('PATCH', volume, { 'nas.export_policy.name': 'default' })).status, 200)
  }
  await cluster.call('PATCH', place, { 'export_policy.id': id })
  assert.deepEqual(failed(await cluster.call('DELETE', `${POLICIES}/${id}`)), [
    409,
    codeOf('exportPolicyInUse'),
    undefined,
  ])
  await cluster.call('PATCH', place, { export_policy: 'default' })
  assert.equal((await cluster.call('DELETE', `${POLICIES}/${id}`)).status, 200)
  await cluster.close()
})
