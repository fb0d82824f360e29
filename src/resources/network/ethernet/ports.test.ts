import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, type Body, recordsOf } from '../../../../test/support/body.ts'
import { startTestCluster, TEST_PORTS, type TestCluster, testMachine } from '../../../../test/support/cluster.ts'
import type { MachinePort } from '../../../ports/machine.ts'
import { wireCode } from '../../../../test/support/codes.ts'

const PORTS = '/api/network/ethernet/ports'
const DOMAINS = '/api/network/ethernet/broadcast-domains'
const IPSPACES = '/api/network/ipspaces'
const REMOVE = '/api/private/cli/network/port/broadcast-domain/remove-ports'
const TOOL = { headers: { 'x-dot-client-app': 'netapp.ontap' } }

async function all(cluster: TestCluster, path: string): Promise<readonly Body[]> {
  return recordsOf((await cluster.call('GET', `${path}?fields=*`, undefined, TOOL)).body)
}

async function portsOf(cluster: TestCluster, domain: string): Promise<readonly string[]> {
  const found = (await all(cluster, DOMAINS)).find((row) => asText(row['name']) === domain)
  return found?.['ports'] === undefined ? [] : recordsOf({ records: found['ports'] }).map((row) => asText(row['name']))
}

const failed = ({ status, body }: { status: number; body: Body }) => [status, body['error']?.['code']]

test('the ports of the machine are there from the start, in the broadcast domain that comes with the cluster', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const rows = await all(cluster, PORTS)
  const seen = rows.map((row) => [
    row['name'],
    row['node']?.['name'],
    row['broadcast_domain']?.['name'],
    row['enabled'],
  ])
  assert.deepEqual(seen, [
    ['eth0', 'node1', 'Default', true],
    ['eth1', 'node1', 'Default', true],
    ['lo', 'node1', undefined, true],
  ])
  assert.deepEqual(await portsOf(cluster, 'Default'), ['eth0', 'eth1'])
  assert.equal((await cluster.call('POST', PORTS, { type: 'vlan' })).status, 405)
  await cluster.close()
})

test('a port keeps its UUID and its settings when it comes back, and is not seen meanwhile', async () => {
  let now: readonly MachinePort[] = TEST_PORTS
  const cluster = await startTestCluster({
    isBare: true,
    machine: { ...testMachine([]), ports: () => Promise.resolve(now) },
  })
  const path = `${PORTS}/${await cluster.uuidOf(PORTS, 'eth1')}`
  assert.equal((await cluster.call('PATCH', path, { enabled: false })).status, 200)
  now = TEST_PORTS.filter(({ name }) => name !== 'eth1')
  assert.equal((await cluster.call('GET', path)).status, 404)
  now = TEST_PORTS
  assert.equal((await cluster.call('GET', path)).body['enabled'], false)
  await cluster.close()
})

test('a port that the machine does not have any more lets go of a broadcast domain that is deleted', async () => {
  let now: readonly MachinePort[] = TEST_PORTS
  const cluster = await startTestCluster({
    isBare: true,
    machine: { ...testMachine([]), ports: () => Promise.resolve(now) },
  })
  assert.equal((await cluster.call('POST', DOMAINS, { name: 'lab' })).status, 201)
  const uuid = await cluster.uuidOf(PORTS, 'eth1')
  const lab = `${DOMAINS}/${await cluster.uuidOf(DOMAINS, 'lab')}`
  assert.equal((await cluster.call('PATCH', `${PORTS}/${uuid}`, { broadcast_domain: { name: 'lab' } })).status, 200)
  assert.equal((await cluster.call('DELETE', lab)).status, 409)
  now = TEST_PORTS.filter(({ name }) => name !== 'eth1')
  assert.equal((await cluster.call('DELETE', lab)).status, 200)
  assert.equal((await cluster.cluster.find('network/ethernet/ports', uuid))?.['broadcast_domain.uuid'], '')
  now = TEST_PORTS
  assert.equal((await cluster.call('GET', `${PORTS}/${uuid}`)).body['broadcast_domain'], undefined)
  await cluster.close()
})

test('what the machine tells of VLANs and of several ports in one is shown', async () => {
  const ports: readonly MachinePort[] = [
    {
      name: 'a0a',
      isUp: true,
      isLoopback: false,
      mtuBytes: 9000,
      addresses: [],
      megabitsPerSecond: 25_000,
      macAddress: '02:00:00:00:00:01',
      lag: { mode: 'singlemode', distribution: 'mac', members: ['e0a', 'e0b'], active: ['e0a'] },
    },
    { name: 'a0a.20', isUp: false, isLoopback: false, mtuBytes: 1500, addresses: [], vlan: { base: 'a0a', tag: 20 } },
  ]
  const cluster = await startTestCluster({ isBare: true, machine: testMachine(ports) })
  const [lag, vlan] = await all(cluster, PORTS)
  assert.deepEqual(
    [lag?.['type'], lag?.['mtu'], lag?.['speed'], lag?.['lag']?.['mode']],
    ['lag', 9000, 25_000, 'singlemode'],
  )
  assert.deepEqual(lag?.['lag']?.['active_ports']?.[0]?.['name'], 'e0a')
  assert.deepEqual([vlan?.['type'], vlan?.['state'], vlan?.['vlan']?.['tag']], ['vlan', 'down', 20])
  assert.equal(vlan?.['vlan']?.['base_port']?.['uuid'], lag?.['uuid'])
  const found = await cluster.call('GET', `${PORTS}?lag.member_ports.name=e0b&fields=name`)
  assert.equal(recordsOf(found.body).length, 1)
  await cluster.close()
})

test('a port is brought into a broadcast domain, and taken out of it as tools do that', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const lab = { name: 'lab', ipspace: 'Default', mtu: 9000 }
  assert.equal((await cluster.call('POST', DOMAINS, lab, TOOL)).status, 201)
  const path = `${PORTS}/${await cluster.uuidOf(PORTS, 'eth1')}`
  const body = { broadcast_domain: { name: 'lab', ipspace: { name: 'Default' } } }
  for (let round = 0; round < 2; round++) assert.equal((await cluster.call('PATCH', path, body, TOOL)).status, 200)
  assert.deepEqual([await portsOf(cluster, 'lab'), await portsOf(cluster, 'Default')], [['eth1'], ['eth0']])
  const domain = `${DOMAINS}/${await cluster.uuidOf(DOMAINS, 'lab')}`
  assert.equal((await cluster.call('DELETE', domain)).status, 409)
  const query = `${REMOVE}?broadcast-domain=lab&ipspace=Default&return_timeout=30`
  assert.deepEqual(failed(await cluster.call('PATCH', query, { ports: ['node1:eth0'] }, TOOL)), [400, '262197'])
  assert.equal((await cluster.call('PATCH', query, { ports: ['node1:eth1'] }, TOOL)).status, 200)
  assert.equal((await cluster.call('PATCH', query, { ports: [] }, TOOL)).status, 200)
  assert.equal((await cluster.call('GET', path)).body['broadcast_domain'], undefined)
  assert.equal((await cluster.call('DELETE', domain)).status, 200)
  await cluster.close()
})

test('a port is not brought where there is nothing', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const path = `${PORTS}/${await cluster.uuidOf(PORTS, 'eth1')}`
  for (const domain of [
    { name: 'nothing' },
    { name: 'Default', ipspace: { name: 'nothing' } },
    { uuid: '00000000-0000-4000-8000-000000000000' },
  ]) {
    assert.deepEqual(failed(await cluster.call('PATCH', path, { broadcast_domain: domain }, TOOL)), [400, '262185'])
  }
  const half = await cluster.call('PATCH', path, { broadcast_domain: { ipspace: { name: 'Default' } } }, TOOL)
  assert.deepEqual(failed(half), [400, wireCode('fieldRequired')])
  await cluster.close()
})

test('broadcast domains have names of their own within an IPspace, and are renamed and brought to another one', async () => {
  const cluster = await startTestCluster({ isBare: true })
  assert.equal((await cluster.call('POST', IPSPACES, { name: 'tenants' })).status, 201)
  assert.equal((await cluster.call('POST', DOMAINS, { name: 'Default' })).status, 409)
  assert.equal((await cluster.call('POST', DOMAINS, { name: 'Default', ipspace: 'tenants' })).status, 201)
  const second = (await all(cluster, DOMAINS)).find((row) => asText(row['ipspace']?.['name']) === 'tenants')
  assert.deepEqual([second?.['mtu'], second?.['ports']], [1500, undefined])
  const path = `${DOMAINS}/${asText(second?.['uuid'])}`
  assert.equal((await cluster.call('PATCH', path, { 'ipspace.name': 'Default' })).status, 409)
  assert.equal((await cluster.call('PATCH', path, { name: 'lab', mtu: 9000, 'ipspace.name': 'Default' })).status, 200)
  const { body } = await cluster.call('GET', path)
  assert.deepEqual([body['name'], body['mtu'], body['ipspace']?.['name']], ['lab', 9000, 'Default'])
  assert.equal((await cluster.call('PATCH', path, { mtu: 67 })).status, 422)
  await cluster.close()
})

test('an IPspace that has something is not deleted; the one that comes with the cluster stays as it is', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const first = `${IPSPACES}/${await cluster.uuidOf(IPSPACES, 'Default')}`
  assert.deepEqual(failed(await cluster.call('DELETE', first, undefined, TOOL)), [
    409,
    wireCode('builtInIpspaceDelete'),
  ])
  assert.equal((await cluster.call('PATCH', first, { name: 'Other' })).status, 409)
  assert.equal((await cluster.call('PATCH', first, { name: 'Default' })).status, 200)
  await cluster.call('POST', IPSPACES, { name: 'tenants' })
  await cluster.call('POST', DOMAINS, { name: 'lab', ipspace: 'tenants' })
  const path = `${IPSPACES}/${await cluster.uuidOf(IPSPACES, 'tenants')}`
  assert.equal((await cluster.call('PATCH', path, { name: 'guests' })).status, 200)
  assert.deepEqual(failed(await cluster.call('DELETE', path, undefined, TOOL)), [409, wireCode('ipspaceInUse')])
  await cluster.call('DELETE', `${DOMAINS}/${await cluster.uuidOf(DOMAINS, 'lab')}`)
  assert.equal((await cluster.call('DELETE', path)).status, 200)
  await cluster.close()
})
