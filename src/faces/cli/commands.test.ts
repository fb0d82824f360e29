import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf } from '../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'
import { fieldAt, resource } from '../../model/resource.ts'
import { text, uuid } from '../../model/kinds/index.ts'
import { release } from '../../model/release.ts'
import { commandTree } from './tree.ts'
import { spellings } from './spelling.ts'
import { draft, put } from '../../ports/catalog/fixtures.suite.ts'
import { codeOf } from '../../model/failure.ts'

const CLI = '/api/private/cli'
const SMALL = { size: '20m', 'space-guarantee': 'none' }

const show = async (cluster: TestCluster, command: string) =>
  recordsOf((await cluster.call('GET', `${CLI}/${command}`)).body)

test('every field that the command line spells otherwise is one of the model, and every resource has a command', async () => {
  const cluster = await startTestCluster()
  const { registry } = cluster.cluster
  const types = new Set<string>(registry.resources.map(({ type }) => type))
  for (const { command, type, names } of spellings) {
    // What there is nothing of here has a spelling for when there is.
    if (!types.has(type)) continue
    const resource = registry.resource(type)
    const isThere = (path: string) =>
      fieldAt(resource, path) !== undefined || [...resource.fields.keys()].some((one) => one.startsWith(`${path}.`))
    for (const [name, meaning] of Object.entries(names ?? {})) {
      const paths = typeof meaning === 'string' ? [meaning] : meaning.from
      for (const path of paths) assert.ok(isThere(path), `${command}: ${name} is made of ${path}`)
    }
  }
  const tree = commandTree(registry, cluster.cluster.release)
  const shown = new Set([...tree.values()].map(({ resource: { type } }) => type))
  for (const { type } of registry.resources) assert.ok(shown.has(type) || type.startsWith('private/'), type)
  await cluster.close()
})

test('a resource has its command, with names that follow from its fields', () => {
  const made = resource({
    path: '/cluster/ntp/servers/{svm.uuid}/old-policies',
    noun: 'policy',
    doc: '',
    key: ['uuid'],
    fields: {
      uuid: { doc: '', kind: uuid() },
      name: { doc: '', kind: text() },
      'space.used': { doc: '', kind: text() },
      svm: { doc: '', ref: 'svm/svms' },
      snapshot_policy: { doc: '', ref: 'storage/snapshot-policies' },
      aggregates: { doc: '', refs: 'storage/aggregates' },
    },
  })
  const registry = { resources: [made], resource: () => made, match: () => undefined }
  const command = commandTree(registry, release('9.16.1')).get('cluster ntp server old-policy')
  const paths = ['old-policy', 'space-used', 'space_used', 'vserver', 'snapshot-policy', 'aggregate', 'uuid', 'none']
  assert.deepEqual(
    paths.map((name) => command?.names.meaningOf(name)),
    ['name', 'space.used', 'space.used', 'svm.name', 'snapshot_policy.name', 'aggregates.name', 'uuid', undefined],
  )
  assert.deepEqual(command?.names.keys, [
    ['vserver', 'svm.name'],
    ['old_policy', 'name'],
  ])
})

test('a command shows what it is asked for and what it is about, with names in place of references', async () => {
  const cluster = await startTestCluster()
  const [volume] = await show(cluster, 'volume?fields=size,state,aggregate,snapshot-policy,percent-used&volume=vol1')
  assert.deepEqual(Object.keys(volume ?? {}), [
    'vserver',
    'volume',
    'size',
    'state',
    'aggregate',
    'snapshot_policy',
    'percent_used',
  ])
  assert.deepEqual([volume?.['vserver'], volume?.['volume'], volume?.['aggregate']], ['svm1', 'vol1', 'aggr1'])
  assert.deepEqual(await show(cluster, 'vserver?type=data'), [{ vserver: 'svm1' }])
  // The cluster is administered as an SVM of its own.
  assert.deepEqual(await show(cluster, 'vserver?vserver=svm1'), [{ vserver: 'svm1' }])
  assert.deepEqual(await show(cluster, 'vserver?type=admin&fields=type'), [{ vserver: 'holdfast', type: 'admin' }])
  assert.deepEqual((await show(cluster, 'storage/volume?fields=space-size&volume=vol1')).length, 1)
  assert.match(asText((await show(cluster, 'version'))[0]?.['version']), /Release 9\./)
  const ran = await cluster.call('POST', `${CLI}/version?privilege_level=admin`)
  assert.deepEqual([ran.status, ran.body['num_records']], [200, 1])
  assert.equal(ran.body['cli_output'], `${asText(recordsOf(ran.body)[0]?.['version'])}\n`)
  assert.deepEqual(await show(cluster, 'volume?volume=none*'), [])
  const [node] = await show(cluster, 'cluster/date?fields=date')
  assert.deepEqual([node?.['node'], Number.isNaN(Date.parse(asText(node?.['date'])))], ['node1', false])
  await cluster.close()
})

test('a command makes, changes and deletes what its query names', async () => {
  const cluster = await startTestCluster()
  for (const volume of ['cli1', 'cli2', 'cli3']) {
    const body = { vserver: 'svm1', volume, aggregate: 'aggr1', ...SMALL, 'snapshot-policy': 'none' }
    assert.equal((await cluster.call('POST', `${CLI}/volume`, body)).status, 201)
  }
  const some = `${CLI}/volume?vserver=svm1&volume=cli1|cli2`
  const changed = await cluster.call('PATCH', some, { comment: 'changed by a command', 'junction-path': '' })
  assert.deepEqual([changed.status, changed.body['num_records']], [200, 2])
  const read = await show(cluster, 'volume?fields=comment&volume=cli*&order_by=volume%20desc')
  assert.deepEqual(
    read.map(({ volume, comment }) => [volume, comment]),
    [
      ['cli3', undefined],
      ['cli2', 'changed by a command'],
      ['cli1', 'changed by a command'],
    ],
  )
  assert.equal((await cluster.call('DELETE', some)).status, 200)
  assert.equal((await show(cluster, 'volume?volume=cli*')).length, 1)
  const gone = await cluster.call('DELETE', some)
  assert.deepEqual([gone.status, gone.body['error']?.['code']], [404, 4])
  await cluster.close()
})

test('what lies within something else is found within each, and made within the one that is named', async () => {
  const cluster = await startTestCluster()
  for (const volume of ['vol1', 'svm1_s3_root']) {
    const body = { vserver: 'svm1', volume, snapshot: `of_${volume}`, comment: 'by a command' }
    assert.equal((await cluster.call('POST', `${CLI}/volume/snapshot`, body)).status, 201)
  }
  const all = await show(cluster, 'volume/snapshot?fields=comment')
  assert.deepEqual(all.map(({ snapshot }) => asText(snapshot)).toSorted(), ['of_svm1_s3_root', 'of_vol1'])
  assert.deepEqual(await show(cluster, 'snapshot?vserver=svm1&volume=vol1'), [
    { vserver: 'svm1', volume: 'vol1', snapshot: 'of_vol1' },
  ])
  const nowhere = await cluster.call('POST', `${CLI}/volume/snapshot`, { snapshot: 'of_none' })
  assert.deepEqual([nowhere.status, nowhere.body['error']?.['target']], [422, 'volume'])
  assert.equal((await cluster.call('DELETE', `${CLI}/snapshot?volume=vol1&snapshot=of_vol1`)).status, 200)
  assert.equal((await show(cluster, 'snapshot')).length, 1)
  await cluster.close()
})

test('pages of a command follow one another', async () => {
  const cluster = await startTestCluster()
  const seen: string[] = []
  let path = `${CLI}/volume?fields=size&max_records=1`
  while (path !== '') {
    const { body } = await cluster.call('GET', path)
    seen.push(...recordsOf(body).map(({ volume }) => asText(volume)))
    const next = body['_links']?.['next']?.['href']
    path = next === undefined ? '' : asText(next)
    assert.ok(path === '' || path.startsWith(`${CLI}/volume?`))
  }
  assert.deepEqual(seen.toSorted(), ['svm1_s3_root', 'vol1'])
  await cluster.close()
})

test('what a command does not know is refused by its name, and without credentials nothing is said', async () => {
  const cluster = await startTestCluster()
  for (const [method, path, status, code] of [
    ['GET', 'volume?fields=*', 400, codeOf('allFieldsRefused')],
    ['GET', 'volume?fields=colour', 400, codeOf('argumentUnexpected')],
    ['GET', 'volume?colour=red', 400, codeOf('argumentUnexpected')],
    ['GET', 'colour', 404, 3],
    ['PATCH', 'volume', 400, 262185],
    ['DELETE', 'volume', 400, 262185],
    ['DELETE', 'version', 405, 3],
  ] as const) {
    const body = method === 'PATCH' ? { comment: 'all of them' } : undefined
    const refused = await cluster.call(method, `${CLI}/${path}`, body)
    assert.deepEqual([refused.status, refused.body['error']?.['code']], [status, code], `${method} ${path}`)
  }
  const stranger = await cluster.call('GET', `${CLI}/volume`, undefined, { headers: { authorization: undefined } })
  assert.equal(stranger.status, 401)
  const { headers } = await cluster.call('OPTIONS', `${CLI}/volume`)
  assert.equal(headers['allow'], 'GET, HEAD, OPTIONS, POST, PATCH, DELETE')
  await cluster.close()
})

test('who may not see something by its path does not see it by its command', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', '/api/security/accounts', {
    name: 'watcher',
    role: 'readonly',
    password: 'look but no touch',
  })
  const headers = { authorization: `Basic ${Buffer.from('watcher:look but no touch').toString('base64')}` }
  assert.equal((await cluster.call('GET', `${CLI}/volume`, undefined, { headers })).status, 200)
  assert.equal((await cluster.call('GET', `${CLI}/security/login`, undefined, { headers })).status, 403)
  const refused = await cluster.call('PATCH', `${CLI}/volume?volume=vol1`, { comment: 'x' }, { headers })
  assert.equal(refused.status, 403)
  await cluster.close()
})

test('names in fields that nothing has are skipped where the caller asks for that, and filters never are', async () => {
  const cluster = await startTestCluster()
  const [volume] = await show(cluster, 'volume?fields=size,colour&ignore_unknown_fields=true&volume=vol1')
  assert.deepEqual(Object.keys(volume ?? {}), ['vserver', 'volume', 'size'])
  assert.deepEqual(await show(cluster, 'vserver?fields=colour&ignore_unknown_fields=true'), [
    { vserver: 'svm1' },
    { vserver: 'holdfast' },
  ])
  for (const query of [
    'fields=colour&ignore_unknown_fields=false',
    'fields=size&ignore_unknown_fields=perhaps',
    'colour=red&ignore_unknown_fields=true',
  ]) {
    assert.equal((await cluster.call('GET', `${CLI}/volume?${query}`)).status, 400, query)
  }
  await cluster.close()
})

test('workloads tell the limits of their policy', async () => {
  const cluster = await startTestCluster()
  const svm = { name: 'svm1' }
  const policy = { name: 'gold', svm, fixed: { max_throughput_iops: 1000, min_throughput_iops: 100 } }
  assert.ok((await cluster.call('POST', '/api/storage/qos/policies?return_timeout=15', policy)).status < 300)
  const vol1 = await cluster.uuidOf('/api/storage/volumes', 'vol1')
  const set = await cluster.call('PATCH', `/api/storage/volumes/${vol1}?return_timeout=15`, {
    qos: { policy: { name: 'gold' } },
  })
  assert.equal(set.status, 200)
  const fields = 'class,is_adaptive,max_throughput,min_throughput,policy_group,wid,volume'
  const shown = await show(cluster, `qos/workload?fields=${fields}&volume=vol1`)
  assert.equal(shown.length, 1)
  const { wid, workload, ...rest } = shown[0] ?? {}
  assert.equal(workload, `vol1-wid${Number(wid)}`)
  assert.deepEqual(rest, {
    vserver: 'svm1',
    class: 'user_defined',
    is_adaptive: false,
    max_throughput: '1000IOPS',
    min_throughput: '100IOPS',
    policy_group: 'gold',
    volume: 'vol1',
  })
  const [without] = await show(cluster, `qos/workload?fields=${fields}&volume=svm1_s3_root`)
  assert.deepEqual([without?.['class'], without?.['max_throughput']], ['autovolume', undefined])
  await cluster.close()
})

test('commands of hardware and protocols that are not here show nothing, and those of settings what is set', async () => {
  const cluster = await startTestCluster()
  for (const command of ['volume/snaplock', 'storage/failover?possible=!true&fields=mode&mode=ha']) {
    assert.deepEqual(await show(cluster, command), [], command)
  }
  assert.deepEqual(await show(cluster, 'storage/failover?fields=mode'), [{ node: 'node1', mode: 'non_ha' }])
  assert.deepEqual(await show(cluster, 'vserver?fields=operational_state'), [
    { vserver: 'svm1', operational_state: 'running' },
    { vserver: 'holdfast', operational_state: 'running' },
  ])
  const record = {
    uuid: '00000000-0000-4000-8000-000000000001',
    name: 'shown',
    type: 'server' as const,
    scope: 'cluster' as const,
    expiry_time: Date.UTC(2030, 0, 1),
    public_certificate: '-----BEGIN CERTIFICATE-----',
    serial_number: '0A1B2C',
  }
  await cluster.cluster.commit([cluster.cluster.put('security/certificates', record)])
  const [certificate] = await show(
    cluster,
    'security/certificate?fields=cert_name,expiration,public_cert,serial,type,uuid&cert_name=shown',
  )
  assert.equal(certificate?.['type'], 'server')
  assert.ok(!Number.isNaN(Date.parse(asText(certificate?.['expiration']))))
  assert.match(asText(certificate?.['public_cert']), /BEGIN CERTIFICATE/)
  assert.match(asText(certificate?.['serial']), /^[0-9A-Fa-f]+$/)
  await cluster.close()
})

test('volumes tell the limits of autosize that they would get, and how many objects they hold', async () => {
  const cluster = await startTestCluster()
  const limits = async () => {
    const [shown] = await show(cluster, 'volume?volume=vol1&fields=size,max_autosize,min_autosize,files_used')
    return [shown?.['size'], shown?.['max_autosize'], shown?.['min_autosize']].map(Number)
  }
  const [size = 0, maximum, minimum] = await limits()
  assert.deepEqual([maximum, minimum], [Math.ceil(size * 1.2), size])
  const path = `${CLI}/volume?volume=vol1`
  const set = { autosize_mode: 'grow', max_autosize: 2 * size }
  assert.equal((await cluster.call('PATCH', path, set)).status, 200)
  assert.deepEqual(await limits(), [size, 2 * size, size])
  const volume = await cluster.uuidOf('/api/storage/volumes', 'vol1')
  await cluster.cluster.catalog.commit([
    { do: 'open-bucket', bucket: 'bucket', volume, limitBytes: 2 ** 30 },
    { do: 'version-bucket', bucket: 'bucket', state: 'enabled' },
  ])
  const files = async () => (await show(cluster, 'volume?volume=vol1&fields=files_used'))[0]?.['files_used']
  assert.equal(Number(await files()), 0)
  for (const [at, key] of ['a', 'a', 'b'].entries()) {
    const object = { ...draft(`blob${at}`, 10), version: `v${at}` }
    await cluster.cluster.catalog.commit([put('bucket', key, object)])
  }
  assert.equal(Number(await files()), 3)
  await cluster.close()
})
