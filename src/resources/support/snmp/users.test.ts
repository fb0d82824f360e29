import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf } from '../../../../test/support/body.ts'
import { startTestCluster } from '../../../../test/support/cluster.ts'

const SNMP = '/api/support/snmp'
const USERS = `${SNMP}/users`
const HOSTS = `${SNMP}/traphosts`
const TOOL = { headers: { 'x-dot-client-app': 'netapp.ontap' } }
const V3 = {
  name: 'watcher',
  authentication_method: 'usm',
  snmpv3: {
    authentication_protocol: 'sha2_256',
    authentication_password: 'a secret to prove',
    privacy_protocol: 'aes128',
    privacy_password: 'a secret to hide',
  },
}

test('a community is made as tools make it, and deleted by the engine of the cluster and its name', async () => {
  const cluster = await startTestCluster()
  const community = { name: 'public', authentication_method: 'community' }
  assert.equal((await cluster.call('POST', USERS, community, TOOL)).status, 201)
  assert.equal((await cluster.call('POST', USERS, community, TOOL)).status, 409)
  const { body } = await cluster.call('GET', `${USERS}?name=public&fields=name,engine_id`, undefined, TOOL)
  const engine = asText(recordsOf(body)[0]?.['engine_id'])
  assert.match(engine, /^8000031505[0-9a-f]{32}$/)
  const path = `${USERS}/${engine}/public`
  assert.equal((await cluster.call('PATCH', path, { comment: 'for all' })).status, 200)
  const row = (await cluster.call('GET', path)).body
  assert.deepEqual([row['comment'], row['scope'], row['owner']?.['name']], ['for all', 'cluster', 'holdfast'])
  assert.equal((await cluster.call('DELETE', path)).status, 200)
  assert.equal((await cluster.call('GET', path)).status, 404)
  await cluster.close()
})

test('a user of version 3 has protocols with passwords, which are never shown', async () => {
  const cluster = await startTestCluster()
  const made = await cluster.call('POST', `${USERS}?return_records=true`, { ...V3, owner: { name: 'svm1' } }, TOOL)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const [row] = recordsOf((await cluster.call('GET', `${USERS}?name=watcher&fields=**`)).body)
  assert.deepEqual(row?.['snmpv3'], { authentication_protocol: 'sha2_256', privacy_protocol: 'aes128' })
  assert.deepEqual([row['owner']?.['name'], row['scope']], ['svm1', 'svm'])
  assert.ok(!JSON.stringify([made.body, row, await cluster.cluster.rows('support/snmp/users')]).includes('a secret to'))
  await cluster.close()
})

test('a user that is half a community and half a user is refused', async () => {
  const cluster = await startTestCluster()
  const { snmpv3 } = V3
  for (const odd of [
    { authentication_method: 'community' },
    { snmpv3: { ...snmpv3, authentication_password: undefined } },
    { snmpv3: { ...snmpv3, privacy_protocol: 'none' } },
    { snmpv3: { ...snmpv3, authentication_protocol: 'none', authentication_password: undefined } },
    { snmpv3: { ...snmpv3, privacy_password: 'short' } },
    { owner: { name: 'nothing' } },
    { engine_id: 'xyz' },
    { name: 'a/b' },
  ]) {
    assert.equal((await cluster.call('POST', USERS, { ...V3, ...odd })).status, 422, JSON.stringify(odd))
  }
  await cluster.close()
})

test('trap hosts are names or addresses, and told as a user that is there', async () => {
  const cluster = await startTestCluster()
  assert.equal((await cluster.call('POST', HOSTS, { host: '192.0.2.162', user: { name: 'watcher' } })).status, 422)
  await cluster.call('POST', USERS, V3)
  assert.equal((await cluster.call('POST', HOSTS, { host: '192.0.2.162', user: { name: 'watcher' } })).status, 201)
  assert.equal((await cluster.call('POST', HOSTS, { host: 'traps.example.com' }, TOOL)).status, 201)
  assert.equal((await cluster.call('POST', HOSTS, { host: 'traps.example.com' }, TOOL)).status, 409)
  const rows = recordsOf((await cluster.call('GET', `${HOSTS}?fields=*`)).body)
  assert.deepEqual(
    rows.map((row) => [row['host'], row['ip_address'], row['user']?.['name']]),
    [
      ['192.0.2.162', '192.0.2.162', 'watcher'],
      ['traps.example.com', undefined, undefined],
    ],
  )
  const engine = asText(recordsOf((await cluster.call('GET', `${USERS}?fields=engine_id`)).body)[0]?.['engine_id'])
  assert.equal((await cluster.call('DELETE', `${USERS}/${engine}/watcher`)).status, 409)
  assert.equal((await cluster.call('DELETE', `${HOSTS}/192.0.2.162`)).status, 200)
  assert.equal((await cluster.call('DELETE', `${USERS}/${engine}/watcher`)).status, 200)
  await cluster.close()
})

test('the settings of SNMP come back as they were set; a test trap is refused, as none is sent', async () => {
  const cluster = await startTestCluster()
  const change = {
    enabled: false,
    traps_enabled: false,
    auth_traps_enabled: true,
    contact: 'operators',
    location: 'here',
  }
  for (let round = 0; round < 2; round++) assert.equal((await cluster.call('PATCH', SNMP, change, TOOL)).status, 200)
  const { body } = await cluster.call('GET', SNMP)
  for (const [field, value] of Object.entries(change)) assert.equal(body[field], value, field)
  assert.equal((await cluster.call('PATCH', SNMP, { trigger_test_trap: true })).status, 422)
  assert.equal((await cluster.call('PATCH', SNMP, { trigger_test_trap: false })).status, 200)
  await cluster.close()
})

test('the settings of AutoSupport come back as they were set, and nothing can be sent', async () => {
  const cluster = await startTestCluster()
  const path = '/api/support/autosupport'
  assert.equal((await cluster.call('GET', path)).body['enabled'], false)
  const change = {
    enabled: true,
    to: ['operators@example.com'],
    from: 'cluster@example.com',
    mail_hosts: ['mail.example.com'],
    transport: 'smtp',
    proxy_url: 'https://proxy.example.com:8080',
  }
  for (let round = 0; round < 2; round++) assert.equal((await cluster.call('PATCH', path, change, TOOL)).status, 200)
  const { body } = await cluster.call('GET', path)
  for (const [field, value] of Object.entries(change)) assert.deepEqual(body[field], value, field)
  assert.equal((await cluster.call('PATCH', path, { proxy_url: 'https://user:secret@proxy.example.com' })).status, 422)
  assert.equal((await cluster.call('POST', `${path}/messages`, { message: 'x' })).status, 404)
  await cluster.close()
})
