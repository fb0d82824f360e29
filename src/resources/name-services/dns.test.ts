import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, type Body, recordsOf } from '../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'

const DNS = '/api/name-services/dns'
const TOOL = { headers: { 'x-dot-client-app': 'netapp.ontap' } }
const WANTED = { domains: ['example.com'], servers: ['192.0.2.53', 'fd20:13::53'] }

async function found(cluster: TestCluster, query: string): Promise<readonly Body[]> {
  return recordsOf((await cluster.call('GET', `${DNS}?fields=*&${query}`, undefined, TOOL)).body)
}

test('an SVM has one DNS configuration, which comes back as it was set and is addressed by the UUID of the SVM', async () => {
  const cluster = await startTestCluster()
  const body = { ...WANTED, svm: { name: 'svm1' }, skip_config_validation: true }
  assert.equal((await cluster.call('POST', DNS, body, TOOL)).status, 201)
  assert.equal((await cluster.call('POST', DNS, body, TOOL)).status, 409)
  const [row] = await found(cluster, 'svm.name=svm1')
  assert.deepEqual([row?.['domains'], row?.['servers'], row?.['scope']], [WANTED.domains, WANTED.servers, 'svm'])
  assert.deepEqual([row?.['timeout'], row?.['attempts'], row?.['uuid']], [2, 1, row?.['svm']?.['uuid']])
  const change = {
    servers: ['192.0.2.54'],
    timeout: 5,
    'dynamic_dns.enabled': true,
    'dynamic_dns.fqdn': 'svm1.example.com',
  }
  const path = `${DNS}/${asText(row?.['svm']?.['uuid'])}`
  for (let round = 0; round < 2; round++) assert.equal((await cluster.call('PATCH', path, change, TOOL)).status, 200)
  const changed = (await cluster.call('GET', path)).body
  assert.deepEqual([changed['servers'], changed['timeout'], changed['domains']], [['192.0.2.54'], 5, WANTED.domains])
  assert.equal(changed['dynamic_dns']?.['fqdn'], 'svm1.example.com')
  assert.equal((await cluster.call('DELETE', path)).status, 200)
  assert.deepEqual(await found(cluster, 'svm.name=svm1'), [])
  await cluster.close()
})

test('how the cluster looks up names is told at the cluster, and is a DNS configuration too', async () => {
  const cluster = await startTestCluster({ isBare: true })
  assert.deepEqual(await found(cluster, 'scope=cluster'), [])
  const half = await cluster.call('PATCH', '/api/cluster', { dns_domains: ['example.com'] })
  assert.equal(half.status, 422)
  const both = { dns_domains: ['example.com'], name_servers: ['192.0.2.53'] }
  assert.equal((await cluster.call('PATCH', '/api/cluster', both)).status, 200)
  const [row] = await found(cluster, 'scope=cluster')
  assert.deepEqual([row?.['domains'], row?.['svm']?.['name']], [['example.com'], 'holdfast'])
  const path = `${DNS}/${asText(row?.['svm']?.['uuid'])}`
  assert.equal((await cluster.call('PATCH', path, { servers: ['192.0.2.54'] })).status, 200)
  const shown = (await cluster.call('GET', '/api/cluster')).body
  assert.deepEqual([shown['dns_domains'], shown['name_servers']], [['example.com'], ['192.0.2.54']])
  const none = { dns_domains: [], name_servers: [] }
  assert.equal((await cluster.call('PATCH', '/api/cluster', none)).status, 200)
  assert.deepEqual(await found(cluster, 'scope=cluster'), [])
  await cluster.close()
})

test('what is no domain or address, too many of them, or one twice is refused', async () => {
  const cluster = await startTestCluster()
  for (const odd of [
    { domains: [] },
    { servers: [] },
    { domains: ['no domain'] },
    { domains: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] },
    { servers: ['ns.example.com'] },
    { servers: ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'] },
    { servers: ['192.0.2.1', '192.0.2.1'] },
    { timeout: 6 },
    { attempts: 0 },
    { svm: { name: 'nothing' } },
  ]) {
    const { status } = await cluster.call('POST', DNS, { svm: { name: 'svm1' }, ...WANTED, ...odd })
    assert.equal(status, 422, JSON.stringify(odd))
  }
  await cluster.close()
})
