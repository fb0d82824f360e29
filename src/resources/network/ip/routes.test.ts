import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, type Body, recordsOf } from '../../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../../test/support/cluster.ts'

const ROUTES = '/api/network/ip/routes'
const TOOL = { headers: { 'x-dot-client-app': 'netapp.ontap' } }

async function found(cluster: TestCluster, query: string): Promise<readonly Body[]> {
  return recordsOf((await cluster.call('GET', `${ROUTES}?fields=*&${query}`, undefined, TOOL)).body)
}

test('what na_ontap_net_routes sends is found again by what it asks for', async () => {
  const cluster = await startTestCluster()
  const destination = { address: '198.51.100.0', netmask: '24' }
  const body = { gateway: '127.0.0.254', destination, 'svm.name': 'svm1', metric: 30 }
  assert.equal((await cluster.call('POST', ROUTES, body, TOOL)).status, 201)
  const [row, ...more] = await found(
    cluster,
    'destination.address=198.51.100.0&gateway=127.0.0.254&scope=svm&svm.name=svm1',
  )
  assert.equal(more.length, 0)
  assert.deepEqual(row?.['destination'], { ...destination, family: 'ipv4' })
  assert.deepEqual([row['metric'], row['scope'], row['ipspace']?.['name']], [30, 'svm', 'Default'])
  assert.equal(row['interfaces']?.[0]?.['name'], 'svm1_data1')
  assert.equal((await cluster.call('POST', ROUTES, body, TOOL)).status, 409)
  assert.equal((await cluster.call('DELETE', `${ROUTES}/${asText(row['uuid'])}`)).status, 200)
  assert.deepEqual(await found(cluster, 'svm.name=svm1'), [])
  await cluster.close()
})

test('a route without an SVM is that of the cluster, and one without a destination leads anywhere', async () => {
  const cluster = await startTestCluster()
  assert.equal((await cluster.call('POST', ROUTES, { gateway: '192.0.2.1' })).status, 201)
  assert.equal((await cluster.call('POST', ROUTES, { gateway: 'fd20:13::1' })).status, 201)
  const rows = await found(cluster, 'scope=cluster&order_by=gateway')
  assert.deepEqual(
    rows.map((row) => [row['destination'], row['metric'], row['svm']]),
    [
      [{ address: '0.0.0.0', netmask: '0', family: 'ipv4' }, 20, undefined],
      [{ address: '::', netmask: '0', family: 'ipv6' }, 20, undefined],
    ],
  )
  await cluster.close()
})

test('a route whose router is of another family, or whose destination is half said, is refused', async () => {
  const cluster = await startTestCluster()
  for (const odd of [
    { gateway: 'fd20:13::1', destination: { address: '198.51.100.0', netmask: '24' } },
    { gateway: '192.0.2.1', destination: { address: '198.51.100.0', netmask: '64' } },
    { gateway: '192.0.2.1', destination: { address: '198.51.100.0' } },
    { gateway: '192.0.2.1', destination: { address: '198.51.100.0', netmask: '24', family: 'ipv6' } },
    { gateway: 'somewhere' },
    {},
  ]) {
    assert.equal((await cluster.call('POST', ROUTES, odd)).status, 422, JSON.stringify(odd))
  }
  await cluster.close()
})

test('routes, DNS, login messages and SNMP communities of an SVM go with it', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', '/api/svm/svms', { name: 'guest' })
  const svm = await cluster.uuidOf('/api/svm/svms', 'guest')
  await cluster.call('POST', ROUTES, { gateway: '192.0.2.1', svm: 'guest' })
  await cluster.call('POST', '/api/name-services/dns', {
    svm: 'guest',
    domains: ['example.com'],
    servers: ['192.0.2.53'],
  })
  await cluster.call('PATCH', `/api/security/login/messages/${svm}`, { banner: 'hello' })
  const community = { name: 'public', authentication_method: 'community', owner: { name: 'guest' } }
  assert.equal((await cluster.call('POST', '/api/support/snmp/users', community)).status, 201)
  assert.equal((await cluster.call('DELETE', `/api/svm/svms/${svm}`)).status, 200)
  for (const type of [
    'network/ip/routes',
    'name-services/dns',
    'security/login/messages',
    'support/snmp/users',
  ] as const) {
    assert.deepEqual(await cluster.cluster.rows(type), [], type)
  }
  await cluster.close()
})
