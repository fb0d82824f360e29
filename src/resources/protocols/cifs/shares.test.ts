import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf, type Body } from '../../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../../test/support/cluster.ts'
import { codeOf } from '../../../model/failure.ts'
import { wireCode } from '../../../../test/support/codes.ts'

const SERVERS = '/api/protocols/cifs/services'
const SHARES = '/api/protocols/cifs/shares'
const TOOL = { headers: { 'x-dot-client-app': 'netapp.ontap' } }

const failed = ({ status, body }: { status: number; body: Body }) => [
  status,
  body['error']?.['code'],
  body['error']?.['target'],
]

async function withServer(): Promise<{ cluster: TestCluster; svm: string }> {
  const cluster = await startTestCluster()
  const made = await cluster.call('POST', SERVERS, { name: 'CIFS1', svm: 'svm1' })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  return { cluster, svm: await cluster.uuidOf('/api/svm/svms', 'svm1') }
}

test('an SVM has one CIFS server, whose password for the domain is kept nowhere', async () => {
  const cluster = await startTestCluster()
  const body = {
    name: 'CIFS1',
    'svm.name': 'svm1',
    enabled: true,
    ad_domain: { fqdn: 'example.com', user: 'joiner', password: 'for the domain', organizational_unit: 'CN=Computers' },
    security: { smb_signing: true, session_security: 'seal', restrict_anonymous: 'no_access' },
  }
  const made = await cluster.call('POST', `${SERVERS}?return_timeout=30&force=True`, body, TOOL)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  assert.deepEqual(failed(await cluster.call('POST', SERVERS, body, TOOL)), [
    409,
    wireCode('cifsServerTaken'),
    'svm.uuid',
  ])
  const [found] = recordsOf((await cluster.call('GET', `${SERVERS}?name=CIFS1&svm.name=svm1&fields=**`)).body)
  assert.deepEqual(found?.['ad_domain'], { fqdn: 'example.com', user: 'joiner', organizational_unit: 'CN=Computers' })
  assert.deepEqual(
    [
      found?.['security']?.['smb_signing'],
      found?.['security']?.['session_security'],
      found?.['security']?.['use_ldaps'],
    ],
    [true, 'seal', false],
  )
  const path = `${SERVERS}/${await cluster.uuidOf('/api/svm/svms', 'svm1')}`
  assert.equal((await cluster.call('PATCH', path, { ad_domain: { password: 'for the domain' } })).status, 200)
  const records = JSON.stringify(await cluster.cluster.catalog.records('protocols/cifs/services'))
  assert.ok(!records.includes('for the domain'))
  await cluster.close()
})

test('a running CIFS server keeps its name unless it is forced to another, and stays while it has shares', async () => {
  const { cluster, svm } = await withServer()
  const path = `${SERVERS}/${svm}`
  assert.deepEqual(failed(await cluster.call('PATCH', path, { name: 'CIFS2' })), [409, 8, 'name'])
  assert.equal((await cluster.call('PATCH', `${path}?force=true`, { name: 'CIFS2' })).status, 200)
  assert.equal((await cluster.call('PATCH', path, { name: 'CIFS3', enabled: false })).status, 200)
  assert.deepEqual(failed(await cluster.call('PATCH', path, { name: 'a name that is too long' })), [
    422,
    codeOf('fieldInvalid'),
    'name',
  ])
  const both = { security: { use_ldaps: true, use_start_tls: true } }
  assert.deepEqual(failed(await cluster.call('PATCH', path, both)), [
    422,
    codeOf('cifsTlsTwice'),
    'security.use_start_tls',
  ])
  await cluster.call('POST', SHARES, { name: 's1', svm: 'svm1', path: '/' })
  assert.equal((await cluster.call('DELETE', path)).status, 409)
  assert.equal((await cluster.call('DELETE', `${SHARES}/${svm}/s1`)).status, 200)
  assert.equal((await cluster.call('DELETE', path)).status, 200)
  assert.deepEqual(failed(await cluster.call('POST', SHARES, { name: 's1', svm: 'svm1', path: '/' })), [
    422,
    codeOf('cifsServerMissing'),
    'svm.uuid',
  ])
  await cluster.close()
})

test('a share reads as it was set, and its name is taken in any case of its letters', async () => {
  const { cluster, svm } = await withServer()
  const share = {
    name: 'Projects$',
    'svm.name': 'svm1',
    path: '/projects',
    comment: 'of all',
    unix_symlink: 'widelink',
    browsable: false,
    continuously_available: true,
    dir_umask: 22,
  }
  const made = await cluster.call('POST', `${SHARES}?return_timeout=30`, share, TOOL)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  assert.equal(made.headers['location'], `${SHARES}/${svm}/Projects%24`)
  const { 'svm.name': _, ...shown } = share
  const { body } = await cluster.call('GET', `${SHARES}/${svm}/Projects$`)
  for (const [field, value] of Object.entries(shown)) assert.deepEqual(body[field], value, field)
  assert.deepEqual(body['acls'], [{ user_or_group: 'Everyone', type: 'windows', permission: 'full_control' }])
  assert.equal((await cluster.call('POST', SHARES, { ...share, name: 'PROJECTS$' })).status, 409)
  const change = { path: '/p2', comment: '', browsable: true }
  assert.equal((await cluster.call('PATCH', `${SHARES}/${svm}/Projects$`, change)).status, 200)
  assert.equal((await cluster.call('GET', `${SHARES}/${svm}/Projects$`)).body['path'], '/p2')
  for (const [bad, target] of [
    [{ name: 'a/b' }, 'name'],
    [{ path: 'relative' }, 'path'],
    [{ path: '/home/%w' }, 'path'],
    [{ unix_symlink: 'never' }, 'unix_symlink'],
  ] as const) {
    const reply = await cluster.call('POST', SHARES, { ...share, name: 'bad', ...bad })
    assert.deepEqual([reply.status, reply.body['error']?.['target']], [422, target], JSON.stringify(bad))
  }
  const home = await cluster.call('POST', SHARES, { name: '%w', svm: 'svm1', path: '%d/%w', home_directory: true })
  assert.equal(home.status, 201, JSON.stringify(home.body))
  await cluster.close()
})

test('a CIFS server that has shares is not deleted, and the answer says what is in the way', async () => {
  const { cluster, svm } = await withServer()
  await cluster.call('POST', SHARES, { name: 's1', svm: 'svm1', path: '/' })
  const refused = await cluster.call('DELETE', `/api/protocols/cifs/services/${svm}`)
  assert.equal(refused.status, 409)
  assert.match(asText(refused.body['error']?.['message']), /has a CIFS share\. Delete that first/)
  await cluster.close()
})

test('a path that ends with the SVM is the collection of its shares, and makes none', async () => {
  const { cluster, svm } = await withServer()
  await cluster.call('POST', '/api/svm/svms', { name: 'svm2' })
  const other = await cluster.uuidOf('/api/svm/svms', 'svm2')
  await cluster.call('POST', SHARES, { name: 's1', svm: 'svm1', path: '/' })
  const names = async (path: string) =>
    recordsOf((await cluster.call('GET', `${path}?fields=name`)).body).map(({ name }) => name)
  assert.deepEqual(await names(`${SHARES}/${svm}`), ['s1'])
  assert.deepEqual(await names(`${SHARES}/${other}`), [])
  const made = await cluster.call('POST', `${SHARES}/${svm}`, { name: 's2', svm: 'svm1', path: '/' })
  assert.deepEqual([made.status, made.headers['allow']?.includes('POST')], [405, false])
  await cluster.close()
})

test('ACLs of a share are its field and a collection of their own, one for each user or group', async () => {
  const { cluster, svm } = await withServer()
  await cluster.call('POST', SHARES, { name: 's1', svm: 'svm1', path: '/' })
  const acls = `${SHARES}/${svm}/s1/acls`
  const anna = { user_or_group: 'EXAMPLE\\anna', permission: 'read' }
  const made = await cluster.call('POST', `${acls}?return_timeout=30`, anna, TOOL)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  assert.equal(made.headers['location'], `${acls}/EXAMPLE%5Canna/windows`)
  assert.equal((await cluster.call('POST', acls, { ...anna, user_or_group: 'example\\ANNA' })).status, 409)
  assert.equal((await cluster.call('POST', acls, { ...anna, type: 'unix_user' })).status, 201)
  const found = await cluster.call(
    'GET',
    `${acls}?user_or_group=EXAMPLE\\anna&type=windows&fields=svm.uuid,share,permission`,
  )
  assert.deepEqual(
    recordsOf(found.body).map((acl) => [acl['svm']?.['uuid'], acl['share'], acl['permission']]),
    [[svm, 's1', 'read']],
  )
  const one = `${acls}/EXAMPLE%5Canna/windows`
  assert.equal((await cluster.call('PATCH', one, { permission: 'change' })).status, 200)
  assert.equal((await cluster.call('GET', one)).body['permission'], 'change')
  assert.deepEqual(failed(await cluster.call('PATCH', one, { permission: 'all' })), [
    422,
    codeOf('fieldInvalid'),
    'permission',
  ])
  assert.equal((await cluster.call('DELETE', `${acls}/Everyone/windows`)).status, 200)
  const { body } = await cluster.call('GET', `${SHARES}/${svm}/s1`)
  assert.deepEqual(body['acls'], [
    { ...anna, type: 'windows', permission: 'change' },
    { ...anna, type: 'unix_user' },
  ])
  assert.equal((await cluster.call('DELETE', one)).status, 200)
  assert.equal((await cluster.call('GET', one)).status, 404)
  assert.equal((await cluster.call('GET', `${SHARES}/${svm}/s2/acls`)).status, 404)
  await cluster.close()
})
