import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asList, asText, recordsOf } from '../../../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../../../test/support/cluster.ts'
import { USERS } from './users.ts'

async function withUser(): Promise<{ cluster: TestCluster; path: string; key: string; users: string }> {
  const cluster = await startTestCluster()
  const svm = await cluster.uuidOf('/api/svm/svms', 'svm1')
  const users = `/api/protocols/s3/services/${svm}/users`
  const made = await cluster.call('POST', users, { name: 'anna' })
  return { cluster, users, path: `${users}/anna`, key: asText(recordsOf(made.body)[0]?.['access_key']) }
}

test('keys are made anew by the body or by the query, and shown in that answer alone', async () => {
  const { cluster, path, key } = await withUser()
  const seen = new Set([key])
  for (const [target, body] of [
    [path, { regenerate_keys: true }],
    [`${path}?regenerate_keys=true`, { comment: 'new keys' }],
  ] as const) {
    const renewed = await cluster.call('PATCH', target, body)
    assert.equal(renewed.status, 200, JSON.stringify(renewed.body))
    const [shown] = recordsOf(renewed.body)
    assert.ok(!seen.has(asText(shown?.['access_key'])))
    assert.ok(asText(shown?.['secret_key']).length > 10)
    seen.add(asText(shown?.['access_key']))
    const read = (await cluster.call('GET', `${path}?fields=*`)).body
    assert.equal(read['access_key'], shown?.['access_key'])
    assert.equal(read['secret_key'], undefined)
  }
  await cluster.close()
})

test('a user whose keys were taken away has none, and others may have the one it had', async () => {
  const { cluster, path, users } = await withUser()
  const taken = { access_key: 'TAKENKEY', secret_key: 'a-secret-key' }
  await cluster.call('POST', users, { name: 'berta', ...taken })
  assert.equal((await cluster.call('POST', users, { name: 'carla', ...taken })).status, 409)
  const dropped = await cluster.call('PATCH', `${users}/berta?delete_keys=true`, {})
  assert.equal(dropped.status, 200, JSON.stringify(dropped.body))
  assert.equal((await cluster.call('GET', `${users}/berta?fields=*`)).body['access_key'], undefined)
  assert.equal((await cluster.call('POST', users, { name: 'carla', ...taken })).status, 201)
  const both = await cluster.call('PATCH', path, { regenerate_keys: true, delete_keys: true })
  assert.deepEqual([both.status, both.body['error']?.['target']], [422, 'delete_keys'])
  await cluster.close()
})

test('keys have a time to live from when they are made', async () => {
  const { cluster, path } = await withUser()
  const late = await cluster.call('PATCH', path, { key_time_to_live: 'PT1H' })
  assert.deepEqual([late.status, late.body['error']?.['target']], [422, 'key_time_to_live'])
  const renewed = await cluster.call('PATCH', path, { regenerate_keys: true, key_time_to_live: 'PT1H' })
  const expiry = Date.parse(asText(recordsOf(renewed.body)[0]?.['key_expiry_time']))
  assert.ok(Math.abs(expiry - cluster.clock.now() - 3_600_000) < 2000)
  assert.equal((await cluster.call('PATCH', path, { key_time_to_live: 'PT1H', comment: 'same' })).status, 200)
  await cluster.call('PATCH', path, { regenerate_keys: true, key_time_to_live: 'PT0S' })
  const read = (await cluster.call('GET', `${path}?fields=*`)).body
  assert.deepEqual([read['key_time_to_live'], read['key_expiry_time']], [undefined, undefined])
  assert.equal((await cluster.cluster.rows(USERS)).length, 2)
  await cluster.close()
})

test('an object store server lists its users, without their secrets', async () => {
  const cluster = await startTestCluster()
  const asked = '/api/protocols/s3/services?svm.name=svm1&fields=users'
  const [server] = recordsOf((await cluster.call('GET', asked)).body)
  assert.deepEqual(
    asList(server?.['users']).map((user) => [user['name'], typeof user['access_key'], user['secret_key']]),
    [['demo', 'string', undefined]],
  )
  assert.equal(recordsOf((await cluster.call('GET', '/api/protocols/s3/services?users.name=demo')).body).length, 1)
  await cluster.close()
})
