import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asNumber, type Body } from '../../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../../test/support/cluster.ts'

const INTERFACES = '/api/network/ip/interfaces'

async function make(cluster: TestCluster, name: string, address: string, more: object = {}): Promise<string> {
  const body = { name, svm: 'svm1', ip: { address, netmask: '24' }, ...more }
  const { status, body: answer } = await cluster.call('POST', INTERFACES, body)
  assert.equal(status, 201, JSON.stringify(answer))
  return `${INTERFACES}/${await cluster.uuidOf(INTERFACES, name)}`
}

async function location(cluster: TestCluster, path: string): Promise<Body> {
  const { body } = await cluster.call('GET', `${path}?fields=location`)
  return body['location'] as Body
}

test('an interface is on the port that has its address, and in the broadcast domain of that', async () => {
  const cluster = await startTestCluster()
  const { body } = await cluster.call('GET', `${await make(cluster, 'lif1', '192.0.2.7')}?fields=location,ipspace`)
  const { location: at } = body
  const names = ['home_node', 'node', 'home_port', 'port', 'broadcast_domain'].map((word) => at?.[word]?.['name'])
  assert.deepEqual(names, ['node1', 'node1', 'eth0', 'eth0', 'Default'])
  assert.deepEqual([at?.['is_home'], at?.['failover'], at?.['auto_revert']], [true, 'default', true])
  assert.equal(at?.['port']?.['node']?.['name'], 'node1')
  assert.equal(at?.['port']?.['uuid'], await cluster.uuidOf('/api/network/ethernet/ports', 'eth0'))
  assert.equal(body['ipspace']?.['name'], 'Default')
  await cluster.close()
})

test('an address that the machine does not have is on no port', async () => {
  const cluster = await startTestCluster()
  const at = await location(cluster, await make(cluster, 'lif1', '203.0.113.9'))
  assert.deepEqual([at['port'], at['home_port'], at['is_home']], [undefined, undefined, true])
  await cluster.close()
})

test('an interface whose home port is another one is not at home; what is set comes back', async () => {
  const cluster = await startTestCluster()
  const home = { home_port: { name: 'eth1', node: { name: 'node1' } }, failover: 'home_port_only', auto_revert: false }
  const path = await make(cluster, 'lif1', '192.0.2.7', { location: home })
  const away = await location(cluster, path)
  assert.deepEqual([away['home_port']?.['name'], away['port']?.['name'], away['is_home']], ['eth1', 'eth0', false])
  assert.deepEqual([away['failover'], away['auto_revert']], ['home_port_only', false])
  const uuid = await cluster.uuidOf('/api/network/ethernet/ports', 'eth0')
  assert.equal((await cluster.call('PATCH', path, { location: { home_port: { uuid } } })).status, 200)
  const back = await location(cluster, path)
  assert.deepEqual([back['home_port']?.['name'], back['is_home']], ['eth0', true])
  const bad = await cluster.call('PATCH', path, { location: { home_port: { name: 'eth9' } } })
  assert.deepEqual([bad.status, bad.body['error']?.['target']], [422, 'location.home_port.name'])
  await cluster.close()
})

test('an interface tells the subnet that has its address', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', '/api/network/ip/subnets', {
    name: 'office',
    broadcast_domain: { name: 'Default' },
    subnet: { address: '192.0.2.0', netmask: '24' },
    ip_ranges: [{ start: '192.0.2.5', end: '192.0.2.9' }],
  })
  for (const [name, address, subnet] of [
    ['lif1', '192.0.2.7', 'office'],
    ['lif2', '192.0.2.70', undefined],
  ] as const) {
    const { body } = await cluster.call('GET', `${await make(cluster, name, address)}?fields=subnet`)
    assert.equal(body['subnet']?.['name'], subnet)
  }
  await cluster.close()
})

test('an interface tells what went through it', async () => {
  const cluster = await startTestCluster()
  const uuid = await cluster.uuidOf(INTERFACES, 'svm1_data1')
  const add = { sent_data: 5000, received_data: 700 }
  await cluster.cluster.catalog.commit([{ do: 'count', table: 'lif', row: uuid, add }])
  const { body } = await cluster.call('GET', `${INTERFACES}/${uuid}?fields=statistics,metric`)
  assert.deepEqual(body['statistics']?.['throughput_raw'], { read: 5000, write: 700, other: 0, total: 5700 })
  assert.deepEqual([body['statistics']?.['status'], body['statistics']?.['iops_raw']], ['ok', undefined])
  assert.equal(asNumber(body['metric']?.['throughput']?.['total']), 0)
  assert.equal((await cluster.call('DELETE', `${INTERFACES}/${uuid}`)).status, 200)
  assert.equal((await cluster.cluster.catalog.counters('lif')).size, 0, 'They go with it.')
  await cluster.close()
})
