import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asNumber, recordsOf } from '../../test/support/body.ts'
import { startTestCluster } from '../../test/support/cluster.ts'

/** What every client may list, and no cluster here has. */
const EMPTY = [
  'network/ethernet/switch/ports',
  'private/cli/system/chassis/fru',
  'private/cli/system/controller/fru',
  'private/cli/system/health/subsystem',
  'private/support/alerts',
  'protocols/nfs/kerberos/interfaces',
  'protocols/san/igroups',
  'protocols/san/iscsi/credentials',
  'protocols/san/iscsi/services',
  'protocols/vscan',
  'protocols/vscan/server-status',
  'snapmirror/policies',
  'snapmirror/relationships',
  'storage/luns',
  'storage/namespaces',
]

test('a collection of what does not exist here is empty, and its fields can be asked for and filtered by', async () => {
  const cluster = await startTestCluster({ isBare: true })
  for (const type of EMPTY) {
    const path = `/api/${type}`
    const resource = cluster.cluster.registry.resource(type)
    const { status, body } = await cluster.call('GET', `${path}?fields=*&max_records=10`)
    assert.deepEqual([status, recordsOf(body), body['num_records']], [200, [], 0], path)
    for (const field of resource.fields.keys()) {
      assert.equal((await cluster.call('GET', `${path}?${field}=null&fields=${field}`)).status, 200, `${path} ${field}`)
    }
    assert.equal((await cluster.call('GET', `${path}?fields=colour`)).status, 400, path)
    assert.equal((await cluster.call('POST', path, {})).status, 405, path)
  }
  const path = '/api/snapmirror/relationships?list_destinations_only=true&fields=source.path'
  assert.deepEqual(recordsOf((await cluster.call('GET', path)).body), [])
  await cluster.close()
})

test('the software of the cluster is the release that it serves, and no update runs', async () => {
  const cluster = await startTestCluster({ isBare: true, release: '9.14.1' })
  const { body } = await cluster.call('GET', '/api/cluster/software')
  assert.deepEqual(
    [body['version'], body['nodes'], body['status_details'], body['update_details'], body['validation_results']],
    ['9.14.1', [{ name: 'node1', version: '9.14.1' }], [], [], []],
  )
  await cluster.close()
})

test('the storage of the cluster counts a disk once, however many aggregates lie on it', async () => {
  const cluster = await startTestCluster()
  const space = async () => (await cluster.call('GET', '/api/storage/cluster?fields=*')).body['block_storage']
  const before = await space()
  const aggregates = await cluster.call('GET', '/api/storage/aggregates?fields=space.block_storage')
  const [only] = recordsOf(aggregates.body)
  for (const field of ['size', 'used', 'available', 'physical_used'] as const) {
    assert.equal(asNumber(before?.[field]), asNumber(only?.['space']?.['block_storage']?.[field]), field)
  }
  const sizeWith = async (name: string) => {
    const aggregate = { name, block_storage: { path: `/elsewhere/${name}` } }
    assert.ok((await cluster.call('POST', '/api/storage/aggregates?return_timeout=15', aggregate)).status < 300)
    return asNumber((await space())?.['size'])
  }
  const size = asNumber(before?.['size'])
  assert.deepEqual(
    [await sizeWith('aggr2'), await sizeWith('aggr3')],
    [2 * size, 2 * size],
    'Both lie on another disk.',
  )
  await cluster.close()
})

test('no SSH server runs, so its settings accept nothing', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const { status, body } = await cluster.call('GET', '/api/security/ssh?fields=ciphers,mac_algorithms,max_instances')
  assert.equal(status, 200)
  assert.deepEqual([body['ciphers'], body['mac_algorithms'], body['max_instances']], [[], [], 0])
  await cluster.close()
})

test('the command of bucket policies shows a record for each statement', async () => {
  const cluster = await startTestCluster()
  const statements = [
    { effect: 'allow', actions: ['GetObject'], principals: ['demo'], resources: ['papers/*'] },
    { effect: 'deny', actions: ['*'], principals: ['*'], resources: ['papers', 'papers/*'] },
  ]
  const bucket = { name: 'papers', svm: { name: 'svm1' }, policy: { statements } }
  const made = await cluster.call('POST', '/api/protocols/s3/buckets?return_timeout=15', bucket)
  assert.ok(made.status < 300, JSON.stringify(made.body))
  const path = '/api/private/cli/vserver/object-store-server/bucket/policy'
  const { body } = await cluster.call('GET', `${path}?fields=vserver,bucket,index,effect,action,principal,resource`)
  assert.deepEqual(
    recordsOf(body).map(({ vserver, index, effect, action, principal, resource }) => [
      vserver,
      index,
      effect,
      action,
      principal,
      resource,
    ]),
    [
      ['svm1', 1, 'allow', ['GetObject'], ['demo'], ['papers/*']],
      ['svm1', 2, 'deny', ['*'], ['*'], ['papers', 'papers/*']],
    ],
  )
  assert.equal(recordsOf((await cluster.call('GET', `${path}?effect=deny&bucket=papers`)).body).length, 1)
  await cluster.close()
})
