import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf, type Body } from '../../../test/support/body.ts'
import { basic, startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'
import { adoptTraphosts } from '../support/snmp/traphosts.ts'
import { adoptAccounts, adoptKeys } from './accounts.ts'
import { clusterOwner } from './owners.ts'
import { codeOf } from '../../model/failure.ts'
import { wireCode } from '../../../test/support/codes.ts'

const ACCOUNTS = '/api/security/accounts'
const ROLES = '/api/security/roles'
const TOOL = { headers: { 'x-dot-client-app': 'netapp.ontap' } }
const PASSWORD = 'a long password'

const failed = ({ status, body }: { status: number; body: Body }) => [
  status,
  body['error']?.['code'],
  body['error']?.['target'],
]

const logsIn = async (cluster: TestCluster, user: string, password = PASSWORD, path = '/api/cluster', method = 'GET') =>
  (await cluster.call(method, path, undefined, { headers: { authorization: basic(user, password) } })).status

async function make(cluster: TestCluster, path: string, body: object): Promise<Body> {
  const reply = await cluster.call('POST', `${path}?return_records=true`, body)
  assert.equal(reply.status, 201, JSON.stringify(reply.body))
  return recordsOf(reply.body)[0] as Body
}

test('what na_ontap_user sends is made, found with its owner, changed and deleted', async () => {
  const cluster = await startTestCluster()
  const call = (method: string, target: string, body?: unknown) => cluster.call(method, target, body, TOOL)
  const ssh = {
    application: 'ssh',
    authentication_methods: ['password', 'publickey'],
    second_authentication_method: 'none',
  }
  const body = { name: 'anna', 'role.name': 'readonly', applications: [ssh], password: PASSWORD, locked: false }
  assert.equal((await call('POST', ACCOUNTS, body)).status, 201)
  const [found] = recordsOf((await call('GET', `${ACCOUNTS}?name=anna&scope=cluster`)).body)
  const path = `${ACCOUNTS}/${asText(found?.['owner']?.['uuid'])}/anna`
  const shown = (await call('GET', `${path}?fields=role,applications,locked,owner`)).body
  assert.deepEqual(
    [shown['role'], shown['applications'], shown['locked'], shown['owner']?.['name']],
    [{ name: 'readonly' }, [ssh], false, 'holdfast'],
  )
  const same = await call('PATCH', `${path}?name=anna`, { password: PASSWORD })
  assert.deepEqual(failed(same), [400, wireCode('passwordUnchanged'), 'password'])
  assert.ok(asText(same.body['error']?.['message']).startsWith('New password must be different than the old password.'))
  const change = { 'role.name': 'admin', applications: [{ application: 'http', authentication_methods: ['password'] }] }
  assert.equal((await call('PATCH', path, change)).status, 200)
  assert.equal((await call('PATCH', path, { locked: true })).status, 200)
  assert.equal(await logsIn(cluster, 'anna'), 401)
  assert.equal((await call('DELETE', path)).status, 200)
  assert.equal((await call('GET', path)).status, 404)
  await cluster.close()
})

test('an account logs in here by the application http with its password, and not by others', async () => {
  const cluster = await startTestCluster()
  const one = { password: PASSWORD, 'role.name': 'readonly' }
  await make(cluster, ACCOUNTS, { name: 'plain', ...one })
  await make(cluster, ACCOUNTS, {
    name: 'shell',
    ...one,
    applications: [{ application: 'ssh', authentication_methods: ['password'] }],
  })
  assert.deepEqual([await logsIn(cluster, 'plain'), await logsIn(cluster, 'shell')], [200, 401])
  const shell = await cluster.account('shell')
  const both = [
    { application: 'ssh', authentication_methods: ['password'] },
    { application: 'http', authentication_methods: ['password'] },
  ]
  assert.equal((await cluster.call('PATCH', shell, { applications: both })).status, 200)
  assert.equal(await logsIn(cluster, 'shell'), 200)
  assert.equal((await cluster.call('PATCH', shell, { applications: both.slice(0, 1) })).status, 200)
  assert.equal(await logsIn(cluster, 'shell'), 401)
  const admin = await cluster.account('admin')
  assert.equal((await cluster.call('PATCH', admin, { applications: both.slice(0, 1) })).status, 409)
  await cluster.close()
})

test('accounts that could not be used, or say too much, are refused with the codes tools know', async () => {
  const cluster = await startTestCluster()
  const ssh = (more: object) => ({
    applications: [{ application: 'ssh', authentication_methods: ['publickey'], ...more }],
  })
  for (const [body, code] of [
    [{ password: undefined }, codeOf('passwordRequired')],
    [{ password: 'short' }, 262_197],
    [{ password: 'I am Berta today' }, codeOf('passwordHasUserName')],
    [{ role: { name: 'nobody' } }, codeOf('roleUnknown')],
    [{ owner: { name: 'nobody' } }, codeOf('ownerNotFound')],
    [{ applications: [] }, 262_197],
    [ssh({ application: 'gopher' }), 262_197],
    [ssh({ authentication_methods: [] }), 262_197],
    [ssh({ application: 'http', second_authentication_method: 'totp' }), 262_197],
    [{ ...ssh({}), password: undefined, locked: true }, codeOf('lockWithoutPassword')],
  ] as const) {
    const reply = await cluster.call('POST', ACCOUNTS, { name: 'berta', password: PASSWORD, ...body })
    assert.deepEqual([reply.status, reply.body['error']?.['code']], [422, code], JSON.stringify(body))
  }
  await make(cluster, ACCOUNTS, { name: 'berta', ...ssh({ application: 'service-processor' }) })
  await cluster.close()
})

test('accounts and roles of an SVM are its own, log in nowhere yet, and go with it', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', '/api/svm/svms', { name: 'holdfast' })
  await cluster.call('POST', '/api/svm/svms', { name: 'svm2' })
  const svm = await cluster.uuidOf('/api/svm/svms', 'svm2')
  const of = { owner: { name: 'svm2' } }
  await make(cluster, ROLES, { name: 'r1', ...of, privileges: [{ path: '/api/storage', access: 'all' }] })
  const vsadmin = await make(cluster, ACCOUNTS, { name: 'admin', password: PASSWORD, ...of })
  assert.deepEqual(
    [vsadmin['owner'], vsadmin['scope'], vsadmin['role']],
    [{ name: 'svm2', uuid: svm }, 'svm', { name: 'vsadmin' }],
  )
  assert.equal(await logsIn(cluster, 'admin'), 401)
  await make(cluster, ACCOUNTS, { name: 'anna', password: PASSWORD, 'role.name': 'r1', ...of })
  const other = await cluster.call('POST', ACCOUNTS, { name: 'anna', password: PASSWORD, 'role.name': 'r1' })
  assert.equal(other.body['error']?.['code'], codeOf('roleUnknown'))
  await cluster.call('PATCH', `/api/svm/svms/${svm}`, { name: 'svm3' })
  assert.equal((await cluster.call('GET', `${ACCOUNTS}/${svm}/anna`)).body['owner']?.['name'], 'svm3')
  assert.equal(recordsOf((await cluster.call('GET', `${ACCOUNTS}?owner.name=svm3`)).body).length, 2)
  assert.equal((await cluster.call('DELETE', `/api/svm/svms/${svm}`)).status, 200)
  for (const path of [`${ACCOUNTS}?scope=svm`, `${ROLES}?scope=svm&builtin=false`]) {
    assert.deepEqual(recordsOf((await cluster.call('GET', path)).body), [])
  }
  await cluster.close()
})

test('a role that was made lets its accounts do what it says, and nothing else', async () => {
  const cluster = await startTestCluster()
  await make(cluster, ROLES, {
    name: 'keeper',
    privileges: [
      { path: '/api/storage', access: 'readonly' },
      { path: '/api/storage/volumes', access: 'read_create_modify' },
      { path: '/api/storage/volumes/*/snapshots', access: 'none' },
      { path: 'volume show', access: 'all', query: '-volume v*' },
    ],
  })
  await make(cluster, ACCOUNTS, { name: 'otto', password: PASSWORD, 'role.name': 'keeper' })
  const status = (method: string, path: string) => logsIn(cluster, 'otto', PASSWORD, path, method)
  const volume = `/api/storage/volumes/${await cluster.uuidOf('/api/storage/volumes', 'vol1')}`
  assert.equal(await status('GET', '/api/storage/aggregates'), 200)
  assert.equal(await status('GET', volume), 200)
  // Let in, and refused for want of a body.
  assert.equal(await status('PATCH', volume), 400)
  assert.equal(await status('POST', '/api/storage/volumes'), 400)
  for (const [method, path] of [
    ['DELETE', volume],
    ['GET', `${volume}/snapshots`],
    ['POST', '/api/storage/aggregates'],
    ['GET', '/api/cluster'],
    ['GET', '/api/security/accounts'],
  ] as const) {
    assert.equal(await status(method, path), 403, `${method} ${path}`)
  }
  const owner = asText((await cluster.call('GET', '/api/cluster?fields=uuid')).body['uuid'])
  assert.deepEqual(failed(await cluster.call('DELETE', `${ROLES}/${owner}/keeper`)), [409, codeOf('roleInUse'), 'name'])
  const role = `${ROLES}/${owner}/keeper/privileges/${encodeURIComponent('/api/storage')}`
  assert.equal((await cluster.call('PATCH', role, { access: 'none' })).status, 200)
  assert.equal(await status('GET', '/api/storage/aggregates'), 403)
  await cluster.close()
})

test('privileges of a role are its field and a collection, as na_ontap_user_role changes them', async () => {
  const cluster = await startTestCluster()
  const call = (method: string, target: string, body?: unknown) => cluster.call(method, target, body, TOOL)
  const privileges = [
    { path: '/api/cluster', access: 'readonly' },
    { path: 'volume', access: 'all' },
  ]
  assert.equal((await call('POST', `${ROLES}?return_timeout=30`, { name: 'r1', privileges })).status, 201)
  const [found] = recordsOf(
    (
      await call(
        'GET',
        `${ROLES}?name=r1&scope=cluster&fields=name,owner,privileges.path,privileges.access,privileges.query`,
      )
    ).body,
  )
  assert.deepEqual(found?.['privileges'], privileges)
  const path = `${ROLES}/${asText(found?.['owner']?.['uuid'])}/r1`
  const list = async () =>
    recordsOf((await call('GET', `${path}/privileges`)).body).map((each) => [
      each['path'],
      each['access'],
      each['query'],
    ])
  assert.deepEqual(await list(), [
    ['/api/cluster', 'readonly', undefined],
    ['volume', 'all', undefined],
  ])
  assert.equal((await call('POST', `${path}/privileges`, { path: '/api/svm', access: 'read_modify' })).status, 201)
  assert.equal((await call('PATCH', `${path}/privileges/volume`, { query: '-volume v1' })).status, 200)
  assert.equal((await call('DELETE', `${path}/privileges/%2Fapi%2Fcluster`)).status, 200)
  assert.deepEqual(await list(), [
    ['/api/svm', 'read_modify', undefined],
    ['volume', 'all', '-volume v1'],
  ])
  assert.deepEqual(failed(await call('DELETE', `${path}/privileges/%2Fapi%2Fcluster`)), [404, '4', 'path'])
  for (const [bad, code] of [
    [{ path: '/api/svm' }, '1'],
    [{ path: '/other' }, wireCode('privilegePathMalformed')],
    [{ path: '/api/x/' }, wireCode('privilegePathMalformed')],
    [{ path: '/api/x', query: 'q' }, wireCode('privilegeQueryNeedless')],
    [{ path: 'snapshot', access: 'read_create' }, wireCode('privilegeAccessUnfit')],
    [{ path: '/api/x', access: 'some' }, '262197'],
  ] as const) {
    assert.equal((await call('POST', `${path}/privileges`, bad)).body['error']?.['code'], code, JSON.stringify(bad))
  }
  assert.equal((await call('DELETE', path)).status, 200)
  const admin = path.replace(/r1$/, 'admin')
  assert.deepEqual(failed(await call('DELETE', admin)), [409, wireCode('builtInRole'), 'name'])
  assert.deepEqual(failed(await call('DELETE', `${admin}/privileges/%2Fapi`)), [409, wireCode('builtInRole'), 'name'])
  assert.deepEqual(failed(await call('POST', ROLES, { name: 'readonly', privileges })), [409, '1', 'name'])
  await cluster.close()
})

test('accounts of an earlier release are taken over, and log in as before', async () => {
  const cluster = await startTestCluster()
  const inside = cluster.cluster
  const [admin] = await inside.catalog.records('security/accounts')
  const { 'owner.uuid': _uuid, applications: _applications, ...old } = admin?.body ?? {}
  await inside.catalog.commit([
    { do: 'remove-record', type: 'security/accounts', key: admin?.key ?? '' },
    {
      do: 'put-record',
      type: 'security/accounts',
      key: 'holdfast/admin',
      parent: '',
      body: { ...old, 'owner.name': 'holdfast' },
      unique: { 'security/accounts:name': 'holdfast/admin' },
    },
  ])
  assert.equal((await cluster.call('GET', '/api/cluster')).status, 401)
  await adoptAccounts(inside)
  await adoptAccounts(inside)
  const { body } = await cluster.call('GET', `${ACCOUNTS}?fields=name,owner.name,applications.application`)
  assert.deepEqual(
    recordsOf(body).map((one) => [one['name'], one['owner']?.['name'], one['applications']]),
    [['admin', 'holdfast', [{ application: 'http' }]]],
  )
  await cluster.close()
})

test('API keys and trap hosts of an earlier release are taken over, and go with their account and hold their user', async () => {
  const cluster = await startTestCluster()
  const inside = cluster.cluster
  const create = async (path: string, body: object) => {
    const reply = await cluster.call('POST', path, body)
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    return reply.body
  }
  const [KEYS, TRAPHOSTS] = ['/api/security/authentication/keys', '/api/support/snmp/traphosts']
  await create(ACCOUNTS, { name: 'reader', role: 'readonly', password: 'a password of somebody' })
  await create(KEYS, { user: { name: 'reader' }, role: { name: 'readonly' } })
  await create('/api/support/snmp/users', { name: 'watcher', authentication_method: 'usm' })
  await create(TRAPHOSTS, { host: 'traps.example.com', user: { name: 'watcher' } })
  const [key, host] = [
    (await inside.catalog.records('security/authentication/keys'))[0],
    (await inside.catalog.records('support/snmp/traphosts'))[0],
  ]
  assert.ok(key !== undefined && host !== undefined)
  const { 'user.owner.uuid': _owner, ...oldKey } = key.body
  const { $engine: _engine, ...oldHost } = host.body
  await inside.catalog.commit([
    { do: 'put-record', ...key, parent: '', body: { ...oldKey, 'user.owner.name': 'holdfast' } },
    { do: 'put-record', ...host, body: oldHost },
  ])
  for (let start = 0; start < 2; start++) {
    await adoptKeys(inside)
    await adoptTraphosts(inside)
  }
  const shown = recordsOf((await cluster.call('GET', `${KEYS}?fields=*`)).body)
  assert.deepEqual(
    shown.map(({ user }) => [user?.['name'], user?.['owner']?.['name']]),
    [['reader', 'holdfast']],
  )
  const [user] = recordsOf((await cluster.call('GET', '/api/support/snmp/users?fields=engine_id')).body)
  const used = `/api/support/snmp/users/${asText(user?.['engine_id'])}/watcher`
  assert.equal((await cluster.call('DELETE', used)).status, 409)
  assert.equal((await cluster.call('DELETE', `${TRAPHOSTS}/traps.example.com`)).status, 200)
  assert.equal((await cluster.call('DELETE', used)).status, 200)
  const { uuid } = await clusterOwner(inside)
  assert.equal((await cluster.call('DELETE', `${ACCOUNTS}/${uuid}/reader`)).status, 200)
  assert.deepEqual(await inside.catalog.records('security/authentication/keys'), [])
  await cluster.close()
})

test('password_hash_algorithm has a documented value or none: clients check it against their list', async () => {
  const cluster = await startTestCluster()
  const asked = '/api/security/accounts?fields=name,password_hash_algorithm'
  assert.deepEqual(
    recordsOf((await cluster.call('GET', asked)).body).map((row) => [row['name'], row['password_hash_algorithm']]),
    [['admin', undefined]],
  )
  assert.equal((await cluster.call('GET', `${asked}&password_hash_algorithm=sha512|sha256|md5`)).status, 200)
  await cluster.close()
})
