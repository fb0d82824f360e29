/** What commands say that no field says. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf, type Body } from '../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'

const CLI = '/api/private/cli'

const show = async (cluster: TestCluster, command: string) =>
  recordsOf((await cluster.call('GET', `${CLI}/${command}`)).body)

test('what is made of several fields is shown and filtered by', async () => {
  const cluster = await startTestCluster()
  const [volume] = await show(cluster, 'volume?fields=nodes,total,size,snapshot_reserve_size&volume=vol1&nodes=node1')
  assert.deepEqual(volume?.['nodes'], ['node1'])
  const number = (name: string) => Number(volume?.[name])
  assert.equal(number('total'), number('size') - number('snapshot_reserve_size'))
  assert.deepEqual(await show(cluster, 'volume?nodes=node2'), [])
  assert.deepEqual(await show(cluster, 'node?health=false'), [])
  assert.deepEqual(await show(cluster, 'node?health=true&fields=health'), [{ node: 'node1', health: true }])
  assert.deepEqual(await show(cluster, 'volume?is_constituent=true'), [])
  assert.equal((await show(cluster, 'volume?is_constituent=*')).length, 2)
  await cluster.close()
})

test('what nothing is known of is left out, and what cannot be set is refused by its name', async () => {
  const cluster = await startTestCluster()
  assert.deepEqual(await show(cluster, 'storage/failover?fields=possible,state-description&possible=!true'), [
    { node: 'node1', state_description: 'Non-HA mode' },
  ])
  const refused = await cluster.call('PATCH', `${CLI}/volume?volume=vol1`, { nodes: 'node2' })
  assert.deepEqual(codeOf(refused.body), [262203, 'nodes'])
  const unsorted = await cluster.call('GET', `${CLI}/volume?order_by=nodes`)
  assert.equal(unsorted.status, 400)
  const wrong = await cluster.call('GET', `${CLI}/volume?is_constituent=perhaps`)
  assert.deepEqual([wrong.status, wrong.body['error']?.['target']], [400, 'is_constituent'])
  await cluster.close()
})

test('fixed and adaptive policies have a command each, with words for their numbers', async () => {
  const cluster = await startTestCluster()
  const make = async (command: string, body: object) => {
    const { status, body: reply } = await cluster.call('POST', `${CLI}/qos/${command}`, { vserver: 'svm1', ...body })
    assert.equal(status, 201, JSON.stringify(reply))
  }
  await make('policy-group', { 'policy-group': 'fixed1', 'max-throughput': '1000IOPS' })
  await make('adaptive-policy-group', {
    policy_group: 'adaptive1',
    'peak-iops': '500IOPS/TB',
    'expected-iops': '100',
    'peak-iops-allocation': 'used-space',
  })
  assert.deepEqual(await show(cluster, 'qos/policy-group?fields=throughput-policy,num-workloads'), [
    { vserver: 'svm1', policy_group: 'fixed1', throughput_policy: '0-1000IOPS', num_workloads: 0 },
  ])
  assert.deepEqual(
    await show(cluster, 'qos/adaptive-policy-group?fields=peak-iops,expected-iops,peak-iops-allocation'),
    [
      {
        vserver: 'svm1',
        policy_group: 'adaptive1',
        peak_iops: '500IOPS/TB',
        expected_iops: '100IOPS/TB',
        peak_iops_allocation: 'used-space',
      },
    ],
  )
  const wrong = await cluster.call('PATCH', `${CLI}/qos/adaptive-policy-group?policy_group=adaptive1`, {
    'peak-iops': 'many',
  })
  assert.deepEqual(wrong.body['error']?.['target'], 'adaptive.peak_iops')
  const gone = await cluster.call('DELETE', `${CLI}/qos/policy-group?policy_group=adaptive1`)
  assert.equal(gone.status, 404)
  await cluster.close()
})

test('pages of what lies within several things lead on through all of them', async () => {
  const cluster = await startTestCluster()
  for (const volume of ['vol1', 'svm1_s3_root']) {
    for (const snapshot of ['a', 'b', 'c']) {
      const { status } = await cluster.call('POST', `${CLI}/snapshot`, { vserver: 'svm1', volume, snapshot })
      assert.equal(status, 201)
    }
  }
  for (const size of [1, 2, 3, 4]) {
    const seen: string[] = []
    for (let path = `${CLI}/snapshot?max_records=${size}`; path !== '';) {
      const { body } = await cluster.call('GET', path)
      const records = recordsOf(body)
      assert.ok(records.length <= size)
      seen.push(...records.map(({ volume, snapshot }) => `${asText(volume)}/${asText(snapshot)}`))
      const next = body['_links']?.['next']?.['href']
      path = next === undefined ? '' : asText(next)
    }
    assert.equal(seen.length, 6, `in pages of ${size}`)
    assert.equal(new Set(seen).size, 6)
  }
  assert.equal((await cluster.call('GET', `${CLI}/snapshot?start=nowhere`)).status, 400)
  await cluster.close()
})

test('the settings of AutoSupport are those of the node that is named', async () => {
  const cluster = await startTestCluster()
  const path = `${CLI}/system/node/autosupport?node=node1`
  const changed = await cluster.call('PATCH', path, { state: 'enable', noteto: ['night@example.com'], nht: false })
  assert.equal(changed.status, 200)
  assert.deepEqual(await show(cluster, 'system/node/autosupport?node=node1&fields=state,noteto,nht,to'), [
    { state: true, noteto: ['night@example.com'], nht: false, to: [] },
  ])
  assert.equal((await cluster.call('PATCH', `${CLI}/system/node/autosupport?node=other`, { nht: true })).status, 404)
  assert.deepEqual(await show(cluster, 'system/node/autosupport?node=other&fields=state'), [])
  await cluster.close()
})

const codeOf = (body: Body) => [Number(body['error']?.['code']), body['error']?.['target']]
