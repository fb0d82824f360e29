import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordsOf } from '../../test/support/body.ts'
import { startTestCluster } from '../../test/support/cluster.ts'
import { withoutRecords } from './without-records.ts'

test('collections of which there is nothing are read and filtered, and nothing is made in them', async () => {
  const cluster = await startTestCluster({ isBare: true })
  for (const { resource } of withoutRecords) {
    const path = `/api${resource.path}`
    const { status, body } = await cluster.call('GET', `${path}?fields=*&max_records=10`)
    assert.deepEqual([status, recordsOf(body), body['num_records']], [200, [], 0], path)
    for (const field of resource.fields.keys()) {
      assert.equal((await cluster.call('GET', `${path}?${field}=null&fields=${field}`)).status, 200, `${path} ${field}`)
    }
    assert.equal((await cluster.call('POST', path, {})).status, 405, path)
    assert.ok(
      resource.key.every((key) => resource.fields.has(key)),
      `${path} is addressed by fields`,
    )
  }
  assert.equal((await cluster.call('GET', '/api/cluster/peers/00000000-0000-0000-0000-000000000000')).status, 404)
  await cluster.close()
})

test('what nobody can turn on is told to be off', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const security = await cluster.call('GET', '/api/security?fields=fips,management_protocols')
  assert.deepEqual(security.body['fips'], { enabled: false })
  assert.deepEqual(security.body['management_protocols'], { rsh_enabled: false, telnet_enabled: false })
  assert.equal((await cluster.call('PATCH', '/api/security', { fips: { enabled: true } })).status, 405)
  assert.equal((await cluster.call('GET', '/api/support/auto-update')).body['enabled'], false)
  await cluster.close()
})
