import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Body, recordsOf } from '../../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../../test/support/cluster.ts'

const SUBNETS = '/api/network/ip/subnets'
const INTERFACES = '/api/network/ip/interfaces'
const TOOL = { headers: { 'x-dot-client-app': 'netapp.ontap' } }
const OFFICE = {
  name: 'office',
  'broadcast_domain.name': 'Default',
  'ipspace.name': 'Default',
  'subnet.address': '192.0.2.0',
  'subnet.netmask': '24',
  ip_ranges: [
    { start: '192.0.2.10', end: '192.0.2.19' },
    { start: '192.0.2.30', end: '192.0.2.30' },
  ],
}

async function one(cluster: TestCluster, name: string): Promise<Body> {
  const { body } = await cluster.call('GET', `${SUBNETS}?name=${name}&fields=**`, undefined, TOOL)
  return recordsOf(body)[0] ?? {}
}

const make = (cluster: TestCluster, more: object = {}) => cluster.call('POST', SUBNETS, { ...OFFICE, ...more }, TOOL)

test('what na_ontap_net_subnet sends comes back as it was sent', async () => {
  const cluster = await startTestCluster()
  assert.equal((await make(cluster)).status, 201)
  const row = await one(cluster, 'office')
  assert.deepEqual([row['broadcast_domain']?.['name'], row['ipspace']?.['name']], ['Default', 'Default'])
  assert.deepEqual(row['subnet'], { address: '192.0.2.0', netmask: '24', family: 'ipv4' })
  const family = 'ipv4'
  const ranges = [
    { start: '192.0.2.10', end: '192.0.2.19', family },
    { start: '192.0.2.30', end: '192.0.2.30', family },
  ]
  assert.deepEqual([row['ip_ranges'], row['available_ip_ranges']], [ranges, ranges])
  assert.deepEqual([row['total_count'], row['used_count'], row['available_count']], [11, 0, 11])
  const path = `${SUBNETS}/${await cluster.uuidOf(SUBNETS, 'office')}`
  const change = { name: 'lobby', gateway: '192.0.2.1', ip_ranges: [] }
  for (let round = 0; round < 2; round++) assert.equal((await cluster.call('PATCH', path, change, TOOL)).status, 200)
  const changed = await one(cluster, 'lobby')
  assert.deepEqual([changed['gateway'], changed['ip_ranges'], changed['total_count']], ['192.0.2.1', [], 0])
  assert.equal((await cluster.call('DELETE', path)).status, 200)
  await cluster.close()
})

test('an address that a network interface has is not available, and parts its range', async () => {
  const cluster = await startTestCluster()
  await make(cluster)
  await cluster.call('POST', INTERFACES, { name: 'lif2', svm: 'svm1', ip: { address: '192.0.2.15', netmask: '24' } })
  await cluster.call('POST', INTERFACES, { name: 'lif3', svm: 'svm1', ip: { address: '192.0.2.30', netmask: '24' } })
  const row = await one(cluster, 'office')
  const family = 'ipv4'
  assert.deepEqual(row['available_ip_ranges'], [
    { start: '192.0.2.10', end: '192.0.2.14', family },
    { start: '192.0.2.16', end: '192.0.2.19', family },
  ])
  assert.deepEqual([row['used_count'], row['available_count']], [2, 9])
  const other = { name: 'other', 'subnet.address': '192.0.2.0' }
  assert.equal((await make(cluster, other)).status, 400)
  await cluster.call('DELETE', `${SUBNETS}/${await cluster.uuidOf(SUBNETS, 'office')}`)
  assert.equal((await make(cluster, other)).status, 400, 'an interface has an address of it')
  assert.equal((await make(cluster, { ...other, fail_if_lifs_conflict: false })).status, 201)
  const path = `${SUBNETS}/${await cluster.uuidOf(SUBNETS, 'other')}`
  assert.equal((await cluster.call('PATCH', path, { gateway: '192.0.2.1' })).status, 200)
  await cluster.close()
})

test('a subnet of IPv6 has more addresses than a number holds', async () => {
  const cluster = await startTestCluster()
  const range = { start: 'fd20:13::', end: 'fd20:13::ffff:ffff:ffff:ffff' }
  const made = await make(cluster, { 'subnet.address': 'fd20:13::', 'subnet.netmask': '64', ip_ranges: [range] })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const row = await one(cluster, 'office')
  assert.deepEqual([row['total_count'], row['subnet']?.['family']], [Number.MAX_SAFE_INTEGER, 'ipv6'])
  await cluster.close()
})

test('ranges and routers lie within their network, and ranges apart from one another', async () => {
  const cluster = await startTestCluster()
  const range = (start: string, end: string) => ({ start, end })
  for (const odd of [
    { gateway: '192.0.3.1' },
    { gateway: 'fd20:13::1' },
    { 'subnet.netmask': '33' },
    { 'subnet.netmask': '0' },
    { ip_ranges: [range('192.0.2.9', '192.0.2.8')] },
    { ip_ranges: [range('192.0.2.9', '192.0.3.1')] },
    { ip_ranges: [range('192.0.2.9', '192.0.2.20'), range('192.0.2.20', '192.0.2.30')] },
    { 'broadcast_domain.name': 'nothing' },
    { 'ipspace.name': 'nothing' },
  ]) {
    assert.equal((await make(cluster, odd)).status, 400, JSON.stringify(odd))
  }
  assert.equal((await make(cluster, { 'subnet.netmask': '255.255.255.0' })).status, 201)
  assert.equal((await one(cluster, 'office'))['subnet']?.['netmask'], '24')
  await cluster.close()
})

test('a broadcast domain with a subnet is not deleted', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', '/api/network/ethernet/broadcast-domains', { name: 'lab' })
  await make(cluster, { 'broadcast_domain.name': 'lab' })
  const domains = '/api/network/ethernet/broadcast-domains'
  const path = `${domains}/${await cluster.uuidOf(domains, 'lab')}`
  assert.equal((await cluster.call('DELETE', path)).status, 409)
  await cluster.call('DELETE', `${SUBNETS}/${await cluster.uuidOf(SUBNETS, 'office')}`)
  assert.equal((await cluster.call('DELETE', path)).status, 200)
  await cluster.close()
})

test('subnets are there from release 9.11.1 on', async () => {
  const cluster = await startTestCluster({ isBare: true, release: '9.10.1' })
  assert.equal((await cluster.call('GET', SUBNETS)).status, 404)
  await cluster.close()
})
