import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asNumber } from '../../../test/support/body.ts'
import { startTestCluster } from '../../../test/support/cluster.ts'

const NODES = '/api/cluster/nodes'

test('a node shows what its machine is made of, and of what it has not that nothing has failed', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const uuid = await cluster.uuidOf(NODES, 'node1')
  const { body } = await cluster.call('GET', `${NODES}/${uuid}?fields=*`)
  assert.deepEqual(body['controller'], {
    cpu: { count: 2, processor: 'Test', firmware_release: '1.0' },
    memory_size: 2 ** 33,
    over_temperature: 'normal',
    failed_fan: { count: 0, message: { message: 'There are no failed fans.' } },
    failed_power_supply: { count: 0, message: { message: 'There are no failed power supply units.' } },
  })
  assert.deepEqual([body['serial_number'], body['system_id']], [uuid, uuid])
  assert.equal(body['service_processor'], undefined)
  assert.ok(asNumber(body['uptime']) < 60)
  await cluster.close()
})

test('the name, the place and the owner of a node are as they were set', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const path = `${NODES}/${await cluster.uuidOf(NODES, 'node1')}`
  const wanted = { name: 'node_of_the_cellar', location: 'cellar', owner: 'storage team' }
  for (const _ of [1, 2]) assert.equal((await cluster.call('PATCH', path, wanted)).status, 200)
  const { body } = await cluster.call('GET', `${path}?fields=name,location,owner`)
  assert.deepEqual([body['name'], body['location'], body['owner']], Object.values(wanted))
  const aggregate = await cluster.call('GET', '/api/storage/aggregates?fields=node.name')
  assert.equal(aggregate.body['records']?.[0]?.['node']?.['name'], wanted.name)
  await cluster.close()
})

test('no other node takes over from one, and a client that wants that is told', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const path = `${NODES}/${await cluster.uuidOf(NODES, 'node1')}`
  const refused = await cluster.call('PATCH', path, { ha: { enabled: true } })
  assert.deepEqual([refused.status, refused.body['error']?.['target']], [422, 'ha.enabled'])
  assert.equal((await cluster.call('PATCH', path, { ha: { enabled: false } })).status, 200)
  const { body } = await cluster.call('GET', `${path}?fields=ha`)
  assert.deepEqual(body['ha'], {
    enabled: false,
    auto_giveback: false,
    partners: [],
    giveback: { state: 'nothing_to_giveback' },
    takeover: { state: 'not_possible' },
  })
  await cluster.close()
})
