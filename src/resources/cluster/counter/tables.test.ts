import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { asText, recordsOf } from '../../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../../test/support/cluster.ts'

describe('counter tables', () => {
  let cluster: TestCluster
  before(async () => {
    cluster = await startTestCluster()
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

  it('say of each average what to divide it by, which is a counter of the same table', async () => {
    const { body } = await get(`${path}?fields=*`)
    const tables = recordsOf(body)
    assert.deepEqual(
      tables.map(({ name }) => name),
      ['lif', 'object_store_server', 'volume', 'volume:node', 'volume:svm'],
    )
    for (const table of tables) {
      const schemas = table['counter_schemas'] as unknown as Schema[]
      for (const { name, type, denominator } of schemas) {
        assert.equal(denominator !== undefined, type === 'average', `${name} of ${asText(table['name'])}`)
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
    const others = { total_write_ops: 0, write_latency: 0, total_other_ops: 0, other_latency: 0, bytes_written: 0 }
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
    assert.equal(Number(body['error']?.['code']), 8585320)
    assert.equal((await get(`${path}/nothing`)).status, 404)
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

interface Schema {
  readonly name: string
  readonly type: string
  readonly denominator?: { readonly name: string }
}

function named(list: unknown): Record<string, unknown> {
  return Object.fromEntries((list as { name: string; value: unknown }[]).map(({ name, value }) => [name, value]))
}
