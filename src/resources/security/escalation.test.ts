import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, type Body } from '../../../test/support/body.ts'
import { basic, startTestCluster } from '../../../test/support/cluster.ts'

const ACCOUNTS = '/api/security/accounts'
const PASSWORD = 'a long password'
const failed = ({ status, body }: { status: number; body: Body }) => [status, body['error']?.['code']]

async function withOperator() {
  const cluster = await startTestCluster()
  const privileges = [
    { path: '/api/security', access: 'all' },
    { path: '/api/storage', access: 'readonly' },
  ]
  await cluster.call('POST', '/api/security/roles', { name: 'operator', privileges })
  await cluster.call('POST', ACCOUNTS, { name: 'ops', password: PASSWORD, role: 'operator' })
  const as = (method: string, target: string, body?: unknown) =>
    cluster.call(method, target, body, { headers: { authorization: basic('ops', PASSWORD) } })
  return { cluster, as }
}

test('who may manage accounts makes none that may do more, nor becomes one', async () => {
  const { cluster, as } = await withOperator()
  const account = (role: string | undefined) => ({
    name: 'new',
    password: PASSWORD,
    ...(role === undefined ? {} : { role }),
  })
  for (const role of ['admin', undefined, 'readonly']) {
    assert.deepEqual(failed(await as('POST', ACCOUNTS, account(role))), [403, 6], String(role))
  }
  const admin = await cluster.account('admin')
  assert.deepEqual(failed(await as('PATCH', admin, { password: 'taken over by ops' })), [403, 6])
  assert.deepEqual(failed(await as('DELETE', admin)), [403, 6])
  const self = await cluster.account('ops')
  assert.deepEqual(failed(await as('PATCH', self, { role: 'admin' })), [403, 6])
  assert.equal((await as('PATCH', self, { comment: 'its own' })).status, 200)
  assert.equal((await as('POST', ACCOUNTS, account('operator'))).status, 201)
  assert.equal((await as('DELETE', await cluster.account('new'))).status, 200)
  await cluster.close()
})

test('neither roles nor API keys give more than who makes them has', async () => {
  const { cluster, as } = await withOperator()
  const key = { 'user.name': 'ops', 'role.name': 'admin' }
  assert.deepEqual(failed(await as('POST', '/api/security/authentication/keys', key)), [403, 6])
  const wide = { name: 'wide', privileges: [{ path: '/api', access: 'all' }] }
  assert.deepEqual(failed(await as('POST', '/api/security/roles', wide)), [403, 6])
  const own = { name: 'narrow', privileges: [{ path: '/api/storage/volumes', access: 'readonly' }] }
  assert.equal((await as('POST', '/api/security/roles', own)).status, 201)
  const owner = (await cluster.account('x')).split('/')[4] ?? ''
  const privileges = (role: string) => `/api/security/roles/${owner}/${role}/privileges`
  for (const role of ['narrow', 'operator']) {
    const more = await as('POST', privileges(role), { path: '/api/storage/volumes/x', access: 'all' })
    assert.deepEqual(failed(more), [403, 6], role)
  }
  assert.equal(
    (await as('POST', privileges('narrow'), { path: '/api/storage/aggregates', access: 'readonly' })).status,
    201,
  )
  await cluster.close()
})

test('a slash that is written %2F is data, and makes no path look like another', async () => {
  const cluster = await startTestCluster()
  const privileges = [
    { path: '/api', access: 'all' },
    { path: '/api/resource-tags/*', access: 'none' },
    { path: '/api/resource-tags/*/resources/open', access: 'all' },
  ]
  await cluster.call('POST', '/api/security/roles', { name: 'tags', privileges })
  await cluster.call('POST', ACCOUNTS, { name: 'tagger', password: PASSWORD, role: 'tags' })
  const headers = { authorization: basic('tagger', PASSWORD) }
  const sly = await cluster.call('GET', '/api/resource-tags/x%2Fresources%2Fopen', undefined, { headers })
  assert.equal(sly.status, 403)
  await cluster.close()
})

test('keys that are shown once are not made anew by the dozen: the users keep those they have', async () => {
  const cluster = await startTestCluster()
  const users = `/api/protocols/s3/services/${await cluster.uuidOf('/api/svm/svms', 'svm1')}/users`
  const before = await cluster.call('GET', `${users}/demo?fields=access_key`)
  const records = [{ name: 'demo', regenerate_keys: true }]
  const refused = await cluster.call('PATCH', `${users}?return_timeout=15`, { records })
  assert.deepEqual([refused.status, refused.body['error']?.['target']], [422, 'access_key'])
  const after = await cluster.call('GET', `${users}/demo?fields=access_key`)
  assert.equal(asText(after.body['access_key']), asText(before.body['access_key']))
  await cluster.close()
})
