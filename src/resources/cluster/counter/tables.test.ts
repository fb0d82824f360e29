import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { MachineTraffic, PortTraffic } from '../../../ports/machine.ts'
import { asText, recordsOf } from '../../../../test/support/body.ts'
import { startTestCluster, type TestCluster, testMachine, TEST_PORTS } from '../../../../test/support/cluster.ts'
import { codeOf } from '../../../model/failure.ts'

describe('counter tables', () => {
  let cluster: TestCluster
  before(async () => {
    cluster = await startTestCluster({ machine: { ...testMachine(TEST_PORTS), traffic: () => Promise.resolve(TOLD) } })
  })
  after(() => cluster.close())

  const path = '/api/cluster/counter/tables'
  const get = (target: string) => cluster.call('GET', target)
  const valuesOf = async (table: string) => {
    const { body } = await get(`${path}/${encodeURIComponent(table)}/rows?fields=*`)
    return recordsOf(body).map((row) => ({
      id: asText(row['id']),
      aggregation: row['aggregation'],
      properties: named(row['properties']),
      counters: named(row['counters']),
    }))
  }

  it('have nodes in the table system, by name and UUID, as Manila asks', async () => {
    const asked = `${path}/system?counter_schemas.name=cpu_busy&fields=counter_schemas.*&max_records=10000`
    const { status, body } = await get(asked)
    assert.equal(status, 200)
    assert.ok(JSON.stringify(body['counter_schemas']).includes('"cpu_elapsed_time"'))
    const { body: rows } = await get(`${path}/system/rows?id=node1:*&max_records=10000`)
    const node = await cluster.uuidOf('/api/cluster/nodes', 'node1')
    assert.deepEqual(
      recordsOf(rows).map(({ id }) => id),
      [`node1:${node}`],
    )
  })

  it('say of each average what to divide it by, which is a counter of the same table', async () => {
    const { body } = await get(`${path}?fields=*`)
    const tables = recordsOf(body)
    assert.deepEqual(
      tables.map(({ name }) => name),
      [
        'lif',
        'nic_common',
        'object_store_server',
        'processor',
        'qos',
        'qos_volume',
        'system',
        'system:node',
        'volume',
        'volume:node',
        'volume:svm',
      ],
    )
    for (const table of tables) {
      const schemas = table['counter_schemas'] as unknown as Schema[]
      for (const { name, type, denominator } of schemas) {
        const isPart = type === 'average' || type === 'percent'
        assert.equal(denominator !== undefined, isPart, `${name} of ${asText(table['name'])}`)
        if (denominator !== undefined) assert.ok(schemas.some((other) => other.name === denominator.name))
      }
    }
  })

  it('show what was counted for a volume, and its sums for node and SVM', async () => {
    const [one, other] = [await volume('one'), await volume('other')]
    const count = (row: string, add: Record<string, number>) => ({ do: 'count', table: 'volume', row, add }) as const
    await cluster.cluster.catalog.commit([
      count(one, { read_ops: 3, read_latency: 300, total_ops: 3, bytes_read: 30 }),
      count(other, { write_ops: 2, write_latency: 50, total_ops: 2, bytes_written: 8 }),
    ])
    const row = (await valuesOf('volume')).find(({ properties }) => properties['name'] === 'one')
    const [node = ''] = row?.id.split(':') ?? []
    assert.equal(row?.id, `${node}:svm1:one:${one}`)
    assert.deepEqual(row?.properties, {
      name: 'one',
      uuid: one,
      'node.name': node,
      'svm.name': 'svm1',
      parent_aggregate: 'aggr1',
    })
    const none = { compress_attempts: 0, compress_failures: 0 }
    const others = {
      ...none,
      total_write_ops: 0,
      write_latency: 0,
      total_other_ops: 0,
      other_latency: 0,
      bytes_written: 0,
    }
    const counted = { total_read_ops: 3, read_latency: 300, total_ops: 3, average_latency: 300, bytes_read: 30 }
    assert.deepEqual(row?.counters, { ...others, ...counted })
    for (const table of ['volume:node', 'volume:svm']) {
      const [sum, ...more] = await valuesOf(table)
      assert.deepEqual(more, [])
      assert.equal(sum?.id, table === 'volume:node' ? node : 'svm1')
      assert.equal(sum?.counters['total_ops'], 5, table)
      assert.equal(sum?.counters['average_latency'], 350, table)
      assert.deepEqual(sum?.aggregation, { count: (await valuesOf('volume')).length, complete: true })
    }
  })

  it('one that is not there is told by a code of its own', async () => {
    const { status, body } = await get(`${path}/nothing/rows`)
    assert.equal(status, 404)
    assert.equal(Number(body['error']?.['code']), codeOf('counterTableNotFound'))
    const table = await get(`${path}/nothing?return_records=true&max_records=500`)
    assert.equal(table.status, 404)
    assert.equal(Number(table.body['error']?.['code']), codeOf('counterTableNotFound'))
  })

  it('show how busy processors, disks and network interfaces are, as the machine tells', async () => {
    const [row, ...more] = await valuesOf('system:node')
    assert.deepEqual(more, [])
    assert.deepEqual(
      ['cpu_elapsed_time', 'cpu_busy', 'average_processor_busy_percent', 'disk_data_read', 'network_data_sent'].map(
        (name) => row?.counters[name],
      ),
      [8_000_000, 3_000_000, 3_000_000, 2, 3],
    )
    const domains = recordsOf((await get(`${path}/system:node/rows?fields=counters`)).body)
      .flatMap(({ counters }) => counters as unknown as { name: string; labels?: unknown; values?: unknown }[])
      .find(({ name }) => name === 'domain_busy')
    assert.deepEqual(domains, { name: 'domain_busy', labels: ['idle', 'host'], values: [5_000_000, 3_000_000] })
    const processors = await valuesOf('processor')
    assert.deepEqual(
      processors.map(({ counters }) => [counters['elapsed_time'], counters['busy_percent']]),
      [
        [4_000_000, 1_000_000],
        [4_000_000, 2_000_000],
      ],
    )
    const ports = await valuesOf('nic_common')
    assert.deepEqual(
      ports.map(({ properties, counters }) => [
        properties['name'],
        properties['link_current_state'],
        counters['receive_bytes'],
      ]),
      [['eth0', 'up', 5000]],
    )
  })

  it('leave out what the machine does not tell', async () => {
    const silent = await startTestCluster({ machine: testMachine(TEST_PORTS) })
    for (const table of ['system:node', 'processor', 'nic_common']) {
      const { body } = await silent.call('GET', `${path}/${table}/rows`)
      assert.deepEqual(recordsOf(body), [], table)
    }
    await silent.close()
  })

  it('count what a QoS policy is about, and each volume, as workloads', async () => {
    const policy = { name: 'ceiling', svm: { name: 'svm1' }, fixed: { max_throughput_iops: 1000 } }
    assert.equal((await cluster.call('POST', '/api/storage/qos/policies', policy)).status, 201)
    const uuid = await volume('limited')
    const named = await cluster.call('PATCH', `/api/storage/volumes/${uuid}`, { 'qos.policy.name': 'ceiling' })
    assert.ok(named.status < 300)
    await cluster.cluster.catalog.commit([
      {
        do: 'count',
        table: 'volume',
        row: uuid,
        add: { read_ops: 3, read_latency: 4_000_000, total_ops: 3, bytes_read: 30 },
      },
    ])
    const workloads = recordsOf((await get('/api/storage/qos/workloads?fields=*&workload_class=user_defined')).body)
    assert.deepEqual(
      workloads.map((one) => [one['volume'], one['policy']?.['name'], one['svm']?.['name']]),
      [['limited', 'ceiling', 'svm1']],
    )
    const [row, ...more] = await valuesOf('qos')
    assert.deepEqual(more, [])
    assert.equal(row?.properties['uuid'], asText(workloads[0]?.['uuid']))
    assert.equal(row?.id, `${asText(workloads[0]?.['name'])}:${asText(workloads[0]?.['uuid'])}`)
    assert.deepEqual(
      ['ops', 'read_ops', 'read_latency', 'read_data', 'concurrency'].map((name) => row?.counters[name]),
      [3, 3, 4_000_000, 30, 4],
    )
    const automatic = recordsOf((await get('/api/storage/qos/workloads?workload_class=autovolume')).body)
    const volumes = await valuesOf('qos_volume')
    assert.equal(volumes.length, automatic.length + 1)
    assert.ok(volumes.some(({ properties }) => properties['uuid'] === asText(workloads[0]?.['uuid'])))
  })

  it('say by which port of the machine an interface is reached, and how long it has been up', async () => {
    const [lif] = await valuesOf('lif')
    assert.equal(lif?.properties['current_port'], 'lo')
    assert.ok(Number(lif?.counters['up_time']) >= 0)
  })

  it('tell packets and errors of an interface that has its port for itself', async () => {
    const lif = async () => (await valuesOf('lif')).find(({ properties }) => properties['name'] === 'alone')?.counters
    const make = async (name: string) => {
      const made = { name, svm: 'svm1', ip: { address: '192.0.2.7', netmask: '24' } }
      assert.equal((await cluster.call('POST', '/api/network/ip/interfaces', made)).status, 201)
      return cluster.uuidOf('/api/network/ip/interfaces', name)
    }
    const alone = await make('alone')
    const counters = await lif()
    assert.deepEqual(
      ['received_packets', 'sent_packets', 'received_errors', 'sent_errors'].map((name) => counters?.[name]),
      [50, 35, 0, 0],
    )
    const other = await make('beside')
    assert.deepEqual([(await lif())?.['received_packets'], (await lif())?.['received_data']], [undefined, 0])
    await cluster.call('PATCH', `/api/network/ip/interfaces/${alone}`, { enabled: false })
    assert.equal((await lif())?.['up_time'], 0)
    for (const uuid of [alone, other]) await cluster.call('DELETE', `/api/network/ip/interfaces/${uuid}`)
  })

  it('tell memory, and disks that spin from those that do not', async () => {
    const [node] = await valuesOf('system:node')
    assert.deepEqual(
      ['memory', 'hdd_data_read', 'ssd_data_read'].map((name) => node?.counters[name]),
      [8192, 1, 1],
    )
  })

  async function volume(name: string): Promise<string> {
    const size = 2 ** 20
    const { status } = await cluster.call('POST', '/api/storage/volumes?return_timeout=15', {
      name,
      size,
      svm: { name: 'svm1' },
      aggregates: [{ name: 'aggr1' }],
    })
    assert.equal(status, 201)
    return cluster.uuidOf('/api/storage/volumes', name)
  }
})

const PORT: PortTraffic = {
  receivedBytes: 5000,
  sentBytes: 3500,
  receivedPackets: 50,
  sentPackets: 35,
  receiveErrors: 0,
  receiveAlignmentErrors: 0,
  receiveCrcErrors: 0,
  receiveLengthErrors: 0,
  sendErrors: 0,
  sendHardwareErrors: 0,
  linkLosses: 0,
}

const TOLD: MachineTraffic = {
  processors: [
    { busyMs: 1000, wholeMs: 4000 },
    { busyMs: 2000, wholeMs: 4000 },
  ],
  disks: { readBytes: 2500, writtenBytes: 0, spinning: { readBytes: 1100, writtenBytes: 0 } },
  ports: new Map([['eth0', PORT]]),
}

interface Schema {
  readonly name: string
  readonly type: string
  readonly denominator?: { readonly name: string }
}

function named(list: unknown): Record<string, unknown> {
  return Object.fromEntries((list as { name: string; value: unknown }[]).map(({ name, value }) => [name, value]))
}
