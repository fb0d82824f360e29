import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf, type Body } from '../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'
import { codeOf } from '../../model/failure.ts'

const APPS = '/api/application/applications'
const VOLUMES = '/api/storage/volumes'
/** As the modules of Ansible come. */
const TOOL = { headers: { 'x-dot-client-app': 'netapp.ontap' } }

const failed = ({ status, body }: { status: number; body: Body }) => [
  status,
  body['error']?.['code'],
  body['error']?.['target'],
]
const namesOf = async (cluster: TestCluster, path: string) =>
  recordsOf((await cluster.call('GET', `${path}?fields=name`)).body).map((row) => asText(row['name']))
const part = (name: string, more: object = {}) => ({ name, total_size: '64m', share_count: 1, ...more })
const make = (cluster: TestCluster, name: string, nas: object, more: object = {}) =>
  cluster.call('POST', `${APPS}?return_timeout=15`, { name, svm: 'svm1', smart_container: true, nas, ...more })

test('an application of the template nas makes its volumes, and knows them and how they are reached', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', '/api/storage/qos/policies?return_timeout=15', {
    name: 'ceiling',
    svm: 'svm1',
    fixed: { max_throughput_iops: 500 },
  })
  const made = await make(cluster, 'app1', {
    application_components: [
      part('web', { qos: { policy: { name: 'ceiling' } }, storage_service: { name: 'value' } }),
      part('data', { total_size: '128m', share_count: 2, tiering: { control: 'disallowed', policy: 'none' } }),
    ],
    nfs_access: [{ host: '192.0.2.0/24', access: 'ro' }, { access: 'rw' }],
    protection_type: { local_policy: 'none' },
  })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const { body } = await cluster.call('GET', `${VOLUMES}?fields=*,application,nas,qos&order_by=name&name=web|data*`)
  const volumes = recordsOf(body)
  assert.deepEqual(
    volumes.map((volume) => [
      volume['name'],
      volume['size'],
      volume['nas']?.['path'],
      volume['nas']?.['export_policy']?.['name'],
      volume['application']?.['name'],
      volume['guarantee']?.['type'],
      volume['snapshot_policy']?.['name'],
      volume['qos']?.['policy']?.['name'],
    ]),
    [
      ['data_1', 64 * 2 ** 20, '/data_1', 'app1', 'app1', 'none', 'none', undefined],
      ['data_2', 64 * 2 ** 20, '/data_2', 'app1', 'app1', 'none', 'none', undefined],
      ['web', 64 * 2 ** 20, '/web', 'app1', 'app1', 'none', 'none', 'ceiling'],
    ],
  )
  const uuid = await cluster.uuidOf(APPS, 'app1')
  const app = (await cluster.call('GET', `${APPS}/${uuid}?fields=*,statistics`)).body
  assert.equal(app['state'], 'online')
  assert.equal(app['template']?.['name'], 'nas')
  assert.equal(app['nas']?.['application_components']?.['0']?.['name'], 'web')
  assert.equal(app['statistics']?.['space']?.['provisioned'], 192 * 2 ** 20)
  const parts = recordsOf((await cluster.call('GET', `${APPS}/${uuid}/components?fields=*&order_by=name`)).body)
  assert.deepEqual(
    parts.map((one) => [
      one['name'],
      one['backing_storage']?.['volumes']?.['0']?.['name'],
      one['nfs_access']?.['0']?.['export_policy']?.['name'],
      one['nfs_access']?.['0']?.['path'],
    ]),
    [
      ['data', 'data_1', 'app1', '/data_1'],
      ['web', 'web', 'app1', '/web'],
    ],
  )
  const one = await cluster.call('GET', `${APPS}/${uuid}/components/${asText(parts[0]?.['uuid'])}`)
  assert.equal(one.body['application']?.['name'], 'app1')
  const { body: rules } = await cluster.call('GET', '/api/protocols/nfs/export-policies?name=app1&fields=rules')
  assert.equal(recordsOf(rules)[0]?.['rules']?.['0']?.['rw_rule']?.['0'], 'never')
  await cluster.close()
})

test('what na_ontap_volume sends with nas_application_template makes a volume of its name in one job', async () => {
  const cluster = await startTestCluster()
  const body = {
    name: 'ansible',
    svm: { name: 'svm1' },
    smart_container: true,
    nas: {
      application_components: [{ name: 'ansible', total_size: 67_108_864, share_count: 1, scale_out: false }],
      protection_type: { local_policy: 'default' },
    },
  }
  const made = await cluster.call('POST', `${APPS}?return_records=true&return_timeout=30`, body, TOOL)
  assert.ok([201, 202].includes(made.status), JSON.stringify(made.body))
  const { body: found } = await cluster.call('GET', `${APPS}?svm.name=svm1&name=ansible`, undefined, TOOL)
  const uuid = asText(recordsOf(found)[0]?.['uuid'])
  const { body: app } = await cluster.call('GET', `${APPS}/${uuid}?fields=name,nas,statistics`, undefined, TOOL)
  assert.equal(app['nas']?.['application_components']?.['0']?.['total_size'], 67_108_864)
  const gone = await cluster.call('DELETE', `${APPS}/${uuid}?return_timeout=30`, undefined, TOOL)
  assert.ok([200, 202].includes(gone.status), JSON.stringify(gone.body))
  assert.equal((await namesOf(cluster, VOLUMES)).includes(body.name), false)
  await cluster.close()
})

test('an application that cannot be made whole leaves nothing of it', async () => {
  const cluster = await startTestCluster({
    hooks: {
      beforeStep: (point) =>
        point === 'application/applications create: write records'
          ? Promise.reject(new Error('no'))
          : Promise.resolve(),
    },
  })
  const before = await namesOf(cluster, VOLUMES)
  const made = await make(cluster, 'app1', {
    application_components: [part('a'), part('b')],
    nfs_access: [{ access: 'rw' }],
  })
  assert.equal(made.status, 500, JSON.stringify(made.body))
  assert.deepEqual(await namesOf(cluster, VOLUMES), before)
  assert.deepEqual(await namesOf(cluster, APPS), [])
  assert.deepEqual(await namesOf(cluster, '/api/protocols/nfs/export-policies'), ['default'])
  assert.equal((await namesOf(cluster, VOLUMES)).length, (await cluster.volumes.list()).length)
  await cluster.close()
})

test('a volume of a name that is taken keeps the whole application from being made', async () => {
  const cluster = await startTestCluster()
  const nas = { application_components: [part('fresh'), part('vol1')] }
  assert.deepEqual(failed(await make(cluster, 'app1', nas)), [409, codeOf('volumeNameTaken'), 'name'])
  assert.equal((await namesOf(cluster, VOLUMES)).includes('fresh'), false)
  assert.equal((await make(cluster, 'app1', { application_components: [part('fresh')] })).status, 201)
  const again = await make(cluster, 'app1', { application_components: [part('other')] })
  assert.deepEqual(failed(again), [409, 1, 'name'])
  await cluster.close()
})

test('an application goes with its volumes and its export policy, or leaves the volumes where that is asked for', async () => {
  const cluster = await startTestCluster()
  const nas = { application_components: [part('a', { share_count: 2 })], nfs_access: [{ access: 'rw' }] }
  assert.equal((await make(cluster, 'app1', nas)).status, 201)
  const gone = await cluster.call('DELETE', `${APPS}/${await cluster.uuidOf(APPS, 'app1')}?return_timeout=15`)
  assert.equal(gone.status, 200, JSON.stringify(gone.body))
  assert.deepEqual(await namesOf(cluster, APPS), [])
  assert.deepEqual(await namesOf(cluster, '/api/protocols/nfs/export-policies'), ['default'])
  assert.deepEqual(await namesOf(cluster, VOLUMES), ['svm1_s3_root', 'vol1'])

  assert.equal((await make(cluster, 'app2', { application_components: [part('kept')] })).status, 201)
  const kept = `${APPS}/${await cluster.uuidOf(APPS, 'app2')}?delete_data=false&return_timeout=15`
  assert.equal((await cluster.call('DELETE', kept)).status, 200)
  assert.deepEqual(await namesOf(cluster, APPS), [])
  const { body } = await cluster.call('GET', `${VOLUMES}?name=kept&fields=application`)
  assert.equal(recordsOf(body)[0]?.['application'], undefined)
  assert.equal(recordsOf(body).length, 1)
  await cluster.close()
})

test('an application whose last volume is deleted is gone, with what was made for it', async () => {
  const cluster = await startTestCluster()
  const nas = { application_components: [part('a'), part('b')], nfs_access: [{ access: 'rw' }] }
  assert.equal((await make(cluster, 'app1', nas)).status, 201)
  const drop = async (name: string) =>
    assert.equal(
      (await cluster.call('DELETE', `${VOLUMES}/${await cluster.uuidOf(VOLUMES, name)}?return_timeout=15`)).status,
      200,
    )
  await drop('a')
  const uuid = await cluster.uuidOf(APPS, 'app1')
  assert.deepEqual(await namesOf(cluster, `${APPS}/${uuid}/components`), ['b'])
  await drop('b')
  assert.deepEqual(await namesOf(cluster, APPS), [])
  assert.deepEqual(await namesOf(cluster, '/api/protocols/nfs/export-policies'), ['default'])
  await cluster.close()
})

test('access over SMB makes a share for each volume, and asks for a CIFS server', async () => {
  const cluster = await startTestCluster()
  const nas = {
    application_components: [part('shared')],
    cifs_access: [{ user_or_group: 'LAB\\staff', access: 'change' }],
  }
  assert.notEqual((await make(cluster, 'app1', nas)).status, 201)
  assert.equal((await namesOf(cluster, VOLUMES)).includes('shared'), false)
  const server = await cluster.call('POST', '/api/protocols/cifs/services?return_timeout=15', {
    svm: 'svm1',
    name: 'CIFS1',
    ad_domain: { fqdn: 'lab.example', user: 'admin', password: 'of the domain' },
  })
  assert.equal(server.status, 201, JSON.stringify(server.body))
  const made = await make(cluster, 'app1', nas)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const uuid = await cluster.uuidOf(APPS, 'app1')
  const { body } = await cluster.call('GET', `${APPS}/${uuid}/components?fields=cifs_access`)
  const [access] = [recordsOf(body)[0]?.['cifs_access']?.['0']]
  assert.deepEqual(
    [access?.['share']?.['name'], access?.['path'], access?.['permissions']?.['0']?.['access']],
    ['shared', '/shared', 'change'],
  )
  assert.equal((await cluster.call('DELETE', `${APPS}/${uuid}?return_timeout=15`)).status, 200)
  assert.deepEqual(await namesOf(cluster, '/api/protocols/cifs/shares'), [])
  await cluster.close()
})

test('templates that this cluster has nothing for are refused by name, and so is what the template nas cannot give', async () => {
  const cluster = await startTestCluster()
  for (const template of ['san', 'sql_on_san', 'oracle_on_nfs', 's3_bucket', 'nvme']) {
    const refused = await cluster.call('POST', APPS, {
      name: 'app1',
      svm: 'svm1',
      [template]: { application_components: [] },
    })
    assert.deepEqual(failed(refused), [422, codeOf('fieldInvalid'), template])
  }
  const withPart = (more: object) => make(cluster, 'app1', { application_components: [part('a', more)] })
  assert.equal((await withPart({ scale_out: true })).status, 422)
  assert.equal((await withPart({ tiering: { control: 'required' } })).status, 422)
  assert.equal((await withPart({ flexcache: {} })).status, 422)
  assert.equal((await make(cluster, 'app1', {})).status, 422)
  const { body: aggregates } = await cluster.call('GET', '/api/storage/aggregates?fields=name')
  const all = recordsOf(aggregates).map((row) => ({ name: row['name'] }))
  const nowhere = await make(cluster, 'app1', { application_components: [part('a')], exclude_aggregates: all })
  assert.deepEqual(failed(nowhere), [422, codeOf('aggregateMissing'), 'aggregates'])
  assert.deepEqual(await namesOf(cluster, '/api/application/templates'), ['nas'])
  assert.equal((await cluster.call('GET', '/api/application/templates/nas')).body['protocol'], 'nas')
  await cluster.close()
})
