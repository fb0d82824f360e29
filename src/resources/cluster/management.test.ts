import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asList, asText } from '../../../test/support/body.ts'
import { startTestCluster } from '../../../test/support/cluster.ts'
import { VolumesFailure } from '../../ports/volumes.ts'

const CLUSTER = '/api/cluster'
const CERTIFICATES = '/api/security/certificates'

test('the cluster tells at which addresses it is managed', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const first = await cluster.call('GET', `${CLUSTER}?fields=management_interfaces`)
  const [one] = asList(first.body['management_interfaces'])
  assert.deepEqual([one?.['name'], one?.['ip']?.['address']], ['cluster_mgmt', '192.0.2.7'])
  const again = await cluster.call('GET', `${CLUSTER}?fields=management_interfaces`)
  assert.deepEqual(again.body, first.body, 'Its UUID stays the same.')
  await cluster.close()
})

test('where it is managed at all addresses of the machine, these are shown, but not the loopback', async () => {
  const cluster = await startTestCluster({ isBare: true, managementAddress: '0.0.0.0' })
  const { body } = await cluster.call('GET', `${CLUSTER}?fields=management_interfaces`)
  assert.deepEqual(
    asList(body['management_interfaces']).map((one) => one['ip']?.['address']),
    ['192.0.2.7', '198.51.100.7'],
  )
  await cluster.close()
})

test('the cluster shows its time servers and its time zone', async () => {
  const cluster = await startTestCluster({ isBare: true })
  await cluster.call('POST', '/api/cluster/ntp/servers', { server: 'time.example.com' })
  const before = await cluster.call('GET', `${CLUSTER}?fields=ntp_servers,timezone`)
  assert.deepEqual(before.body['ntp_servers'], ['time.example.com'])
  assert.deepEqual(before.body['timezone'], { name: 'Etc/UTC' })
  assert.equal((await cluster.call('PATCH', CLUSTER, { timezone: { name: 'Europe/Berlin' } })).status, 200)
  const after = await cluster.call('GET', `${CLUSTER}?fields=timezone`)
  assert.deepEqual(after.body['timezone'], { name: 'Europe/Berlin' })
  const refused = await cluster.call('PATCH', CLUSTER, { timezone: { name: 'Europe/Nowhere' } })
  assert.deepEqual([refused.status, refused.body['error']?.['target']], [422, 'timezone.name'])
  await cluster.close()
})

test('the certificate of the cluster is one of its own for servers, and stays as long as it is that', async () => {
  const cluster = await startTestCluster()
  const make = async (body: object) => {
    const made = await cluster.call('POST', `${CERTIFICATES}?return_records=true`, {
      type: 'server',
      common_name: 'cluster.example.com',
      ...body,
    })
    return asText(made.body['records']?.[0]?.['uuid'])
  }
  const own = await make({ name: 'own' })
  const other = await make({ name: 'other', svm: 'svm1' })
  assert.equal((await cluster.call('PATCH', CLUSTER, { certificate: { uuid: other } })).status, 422)
  assert.equal((await cluster.call('PATCH', CLUSTER, { certificate: { name: 'other' } })).status, 422)
  assert.equal((await cluster.call('PATCH', CLUSTER, { certificate: { name: 'own' } })).status, 200)
  const { body } = await cluster.call('GET', `${CLUSTER}?fields=certificate`)
  assert.deepEqual(body['certificate'], { name: 'own', uuid: own })
  assert.equal((await cluster.call('DELETE', `${CERTIFICATES}/${own}`)).status, 409)
  assert.equal((await cluster.call('DELETE', `${CERTIFICATES}/${other}`)).status, 200)
  await cluster.close()
})

test('the cluster is well as long as the folders of all aggregates are there', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const health = async () => (await cluster.call('GET', `${CLUSTER}?fields=health`)).body['health']
  assert.equal(await health(), 'ok')
  cluster.volumes.space = () => Promise.reject(new VolumesFailure('away', 'The disk is gone.'))
  assert.equal(await health(), 'degraded')
  await cluster.close()
})
