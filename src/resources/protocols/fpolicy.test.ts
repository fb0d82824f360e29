import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asList, recordsOf, type Body } from '../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'
import { codeOf } from '../../model/failure.ts'

const CLI = '/api/private/cli/vserver/fpolicy/policy'
const ENGINE = { name: 'e1', primary_servers: ['192.0.2.10'], port: 9876 }

interface Fpolicy {
  readonly cluster: TestCluster
  readonly base: string
}

async function start(): Promise<Fpolicy> {
  const cluster = await startTestCluster()
  return { cluster, base: `/api/protocols/fpolicy/${await cluster.uuidOf('/api/svm/svms', 'svm1')}` }
}

const failed = ({ status, body }: { status: number; body: Body }) => [
  status,
  body['error']?.['code'],
  body['error']?.['target'],
]

/** The words under a field that are true. */
const onlyOf = (under: Body | undefined) =>
  Object.entries(under ?? {}).flatMap(([word, value]) => ((value as unknown) === true ? [word] : []))

async function made({ cluster, base }: Fpolicy, part: string, body: object): Promise<void> {
  const reply = await cluster.call('POST', `${base}/${part}`, body)
  assert.equal(reply.status, 201, JSON.stringify(reply.body))
}

test('an event watches what its protocol has, and reads as it was set', async () => {
  const { cluster, base } = await start()
  const event = {
    name: 'ev1',
    protocol: 'cifs',
    file_operations: { open: true, write: true, read: false },
    filters: { first_write: true, monitor_ads: true },
    volume_monitoring: true,
  }
  await made({ cluster, base }, 'events', event)
  const path = `${base}/events/ev1`
  const { body } = await cluster.call('GET', path)
  for (const [field, value] of Object.entries(event)) assert.deepEqual(body[field], value, field)
  assert.equal((await cluster.call('PATCH', path, { file_operations: { rename: true } })).status, 200)
  assert.deepEqual((await cluster.call('GET', path)).body['file_operations'], {
    open: true,
    write: true,
    read: false,
    rename: true,
  })
  assert.deepEqual(failed(await cluster.call('POST', `${base}/events`, event)), [409, 1, 'name'])
  for (const [bad, code] of [
    [{ protocol: 'nfsv3', file_operations: { open: true } }, codeOf('fpolicyOperationUnknown')],
    [
      { protocol: 'nfsv3', file_operations: { write: true }, filters: { monitor_ads: true } },
      codeOf('fpolicyFilterUnknown'),
    ],
    [
      { protocol: 'cifs', file_operations: { write: true }, filters: { first_read: true } },
      codeOf('fpolicyFilterNeedless'),
    ],
    [{ protocol: 'cifs' }, 9764946],
    [{ file_operations: { write: true } }, 9764946],
    [{ protocol: 'ftp' }, 262197],
  ] as const) {
    const reply = await cluster.call('POST', `${base}/events`, { name: 'bad', ...bad })
    assert.deepEqual([reply.status, reply.body['error']?.['code']], [422, code], JSON.stringify(bad))
  }
  await cluster.close()
})

test('an engine has servers, once each, and what they need', async () => {
  const { cluster, base } = await start()
  const engine = {
    ...ENGINE,
    secondary_servers: ['192.0.2.11', '2001:db8::1'],
    type: 'asynchronous',
    ssl_option: 'mutual_auth',
    certificate: { name: 'c1', serial_number: '8DDE112A114D1FBC', ca: 'ca1' },
    buffer_size: { recv_buffer: 400_000 },
    keep_alive_interval: 'PT5M',
    max_server_requests: 7,
    resiliency: { enabled: true, directory_path: '/dir' },
  }
  await made({ cluster, base }, 'engines', engine)
  const { body } = await cluster.call('GET', `${base}/engines/e1`)
  assert.deepEqual(
    [body['secondary_servers'], body['certificate'], body['keep_alive_interval'], body['max_server_requests']],
    [engine.secondary_servers, engine.certificate, 'PT5M', 7],
  )
  assert.deepEqual(body['buffer_size'], { recv_buffer: 400_000, send_buffer: 1_048_576 })
  for (const [bad, code] of [
    [{ name: 'native' }, codeOf('fpolicyEngineReserved')],
    [{ secondary_servers: ['192.0.2.10'] }, codeOf('fpolicyServerTwice')],
    [{ primary_servers: [] }, 262197],
    [{ primary_servers: ['not an address'] }, 262197],
    [{ port: 0 }, 262197],
    [{ ssl_option: 'mutual_auth' }, codeOf('fpolicyCertificateIncomplete')],
    [{ resiliency: { enabled: true } }, codeOf('fpolicyResiliencyFolderMissing')],
    [{ format: 'protobuf' }, 262197],
  ] as const) {
    const reply = await cluster.call('POST', `${base}/engines`, { ...ENGINE, name: 'bad', ...bad })
    assert.deepEqual([reply.status, reply.body['error']?.['code']], [422, code], JSON.stringify(bad))
  }
  await cluster.close()
})

test('a policy names events and an engine that are there, and keeps them', async () => {
  const { cluster, base } = await start()
  const policy = { name: 'p1', events: [{ name: 'ev1' }], engine: { name: 'e1' }, mandatory: false }
  assert.deepEqual(failed(await cluster.call('POST', `${base}/policies`, policy)), [
    422,
    codeOf('fpolicyEventNotFound'),
    'events',
  ])
  await made({ cluster, base }, 'events', { name: 'ev1' })
  assert.deepEqual(failed(await cluster.call('POST', `${base}/policies`, policy)), [
    422,
    codeOf('fpolicyEngineNotFound'),
    'engine.name',
  ])
  await made({ cluster, base }, 'engines', ENGINE)
  await made({ cluster, base }, 'policies', { ...policy, scope: { include_volumes: ['v*'], exclude_shares: ['s1'] } })
  const { body } = await cluster.call('GET', `${base}/policies/p1`)
  assert.deepEqual(
    [body['events'], body['engine'], body['mandatory'], body['enabled'], body['scope']],
    [[{ name: 'ev1' }], { name: 'e1' }, false, false, { include_volumes: ['v*'], exclude_shares: ['s1'] }],
  )
  assert.deepEqual(failed(await cluster.call('DELETE', `${base}/events/ev1`)), [
    409,
    codeOf('fpolicyEventInUse'),
    'name',
  ])
  assert.deepEqual(failed(await cluster.call('DELETE', `${base}/engines/e1`)), [
    409,
    codeOf('fpolicyEngineInUse'),
    'name',
  ])
  assert.equal((await cluster.call('PATCH', `${base}/policies/p1`, { engine: { name: 'native' } })).status, 200)
  assert.equal((await cluster.call('DELETE', `${base}/engines/e1`)).status, 200)
  await cluster.close()
})

test('a policy is enabled with a priority of its own and a scope, and does not change or go while it is', async () => {
  const { cluster, base } = await start()
  await made({ cluster, base }, 'events', { name: 'ev1' })
  for (const name of ['p1', 'p2']) await made({ cluster, base }, 'policies', { name, events: [{ name: 'ev1' }] })
  const patch = (name: string, body: object) => cluster.call('PATCH', `${base}/policies/${name}`, body)
  assert.deepEqual(failed(await patch('p1', { enabled: true })), [422, codeOf('fpolicyPriorityMissing'), 'priority'])
  assert.deepEqual(failed(await patch('p1', { enabled: true, priority: 1 })), [
    422,
    codeOf('fpolicyScopeMissing'),
    'scope',
  ])
  for (const name of ['p1', 'p2']) await patch(name, { scope: { include_volumes: ['*'] } })
  assert.equal((await patch('p1', { enabled: true, priority: 1 })).status, 200)
  assert.deepEqual(failed(await patch('p2', { enabled: true, priority: 1 })), [
    422,
    codeOf('fpolicyPriorityTaken'),
    'priority',
  ])
  assert.deepEqual(failed(await patch('p1', { mandatory: false })), [
    409,
    codeOf('fpolicyPolicyEnabledChange'),
    'enabled',
  ])
  assert.equal((await patch('p1', { scope: { include_volumes: ['v1'] } })).status, 200)
  assert.deepEqual(failed(await cluster.call('DELETE', `${base}/policies/p1`)), [
    409,
    codeOf('fpolicyPolicyEnabledDelete'),
    'enabled',
  ])
  assert.deepEqual(failed(await cluster.call('DELETE', base)), [409, codeOf('fpolicyPolicyEnabled'), undefined])
  assert.deepEqual(failed(await patch('p1', { enabled: false, priority: 2 })), [
    422,
    codeOf('fpolicyPriorityNeedless'),
    'priority',
  ])
  assert.equal((await patch('p1', { enabled: false })).status, 200)
  assert.equal((await cluster.call('GET', `${base}/policies/p1`)).body['priority'], undefined)
  assert.equal((await cluster.call('DELETE', `${base}/policies/p1`)).status, 200)
  await cluster.close()
})

test('an SVM with anything of FPolicy is shown with all of it, and loses all of it at once', async () => {
  const { cluster, base } = await start()
  assert.deepEqual(recordsOf((await cluster.call('GET', '/api/protocols/fpolicy')).body), [])
  await made({ cluster, base }, 'events', { name: 'ev1', protocol: 'nfsv4', file_operations: { open: true } })
  await made({ cluster, base }, 'engines', ENGINE)
  await made({ cluster, base }, 'policies', { name: 'p1', events: [{ name: 'ev1' }], engine: { name: 'e1' } })
  const [row] = recordsOf((await cluster.call('GET', '/api//protocols/fpolicy?svm.name=svm1&fields=policies,svm')).body)
  const [policy] = asList(row?.['policies'])
  assert.deepEqual(
    [row?.['svm']?.['name'], policy?.['name'], policy?.['enabled'], policy?.['engine'], policy?.['events']],
    ['svm1', 'p1', false, { name: 'e1' }, [{ name: 'ev1' }]],
  )
  const { body } = await cluster.call('GET', `${base}?fields=events,engines.name`)
  const [event] = asList(body['events'])
  assert.deepEqual(
    [event?.['name'], event?.['file_operations'], body['engines']],
    ['ev1', { open: true }, [{ name: 'e1' }]],
  )
  assert.equal((await cluster.call('DELETE', base)).status, 200)
  assert.equal((await cluster.call('GET', base)).status, 404)
  assert.deepEqual(recordsOf((await cluster.call('GET', `${base}/policies`)).body), [])
  await cluster.close()
})

test('the command line has the same engines, policies and scopes by other names', async () => {
  const { cluster, base } = await start()
  const post = async (path: string, body: object) => {
    const reply = await cluster.call('POST', `${CLI}${path}`, { vserver: 'svm1', ...body })
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
  }
  const engine = { 'engine-name': 'e1', 'primary-servers': ['192.0.2.10'], port: 9876, ssl_option: 'no_auth' }
  await post('/external-engine', { ...engine, extern_engine_type: 'asynchronous', recv_buffer_size: 1000 })
  await post('/event', { event_name: 'ev1', protocol: 'cifs', file_operations: ['open', 'rename'] })
  await post('', { 'policy-name': 'p1', events: ['ev1'], engine: 'e1', 'is-mandatory': false })
  const shown = (await cluster.call('GET', `${base}/engines/e1`)).body
  assert.deepEqual([shown['type'], shown['buffer_size']?.['recv_buffer'], shown['port']], ['asynchronous', 1000, 9876])
  const query = 'vserver=svm1&policy-name=p1&fields=events,engine,allow-privileged-access,is-mandatory'
  const [policy] = recordsOf((await cluster.call('GET', `${CLI}?${query}`)).body)
  assert.deepEqual(
    [policy?.['policy_name'] ?? 'p1', policy?.['events'], policy?.['engine'], policy?.['is_mandatory']],
    ['p1', ['ev1'], 'e1', false],
  )
  assert.deepEqual(recordsOf((await cluster.call('GET', `${CLI}/scope?vserver=svm1`)).body), [])
  await post('/scope', { 'policy-name': 'p1', 'volumes-to-include': ['*'] })
  const unchecked = { check_extensions_on_directories: false, object_monitoring_with_no_extension: false }
  assert.deepEqual((await cluster.call('GET', `${base}/policies/p1`)).body['scope'], {
    include_volumes: ['*'],
    ...unchecked,
  })
  const twice = await cluster.call('POST', `${CLI}/scope`, { vserver: 'svm1', policy_name: 'p1' })
  assert.equal(twice.status, 409)
  const scope = `${CLI}/scope?vserver=svm1&policy-name=p1`
  assert.equal((await cluster.call('PATCH', scope, { 'shares-to-exclude': ['s1'] })).status, 200)
  assert.deepEqual((await cluster.call('GET', `${base}/policies/p1`)).body['scope'], {
    include_volumes: ['*'],
    exclude_shares: ['s1'],
    ...unchecked,
  })
  const event = { protocol: 'nfsv4', file_operations: ['open'], filters: ['offline_bit'], 'volume-operation': true }
  assert.equal((await cluster.call('PATCH', `${CLI}/event?vserver=svm1&event-name=ev1`, event)).status, 200)
  const after = (await cluster.call('GET', `${base}/events/ev1`)).body
  assert.deepEqual([after['protocol'], after['volume_monitoring']], ['nfsv4', true])
  assert.deepEqual(onlyOf(after['file_operations']), ['open'])
  assert.deepEqual(onlyOf(after['filters']), ['offline_bit'])
  const [spelled] = recordsOf((await cluster.call('GET', `${CLI}/event?fields=file-operations,filters`)).body)
  assert.deepEqual([spelled?.['file_operations'], spelled?.['filters']], [['open'], ['offline_bit']])
  assert.equal((await cluster.call('DELETE', scope)).status, 200)
  assert.equal((await cluster.call('GET', `${base}/policies/p1`)).body['scope'], undefined)
  assert.equal((await cluster.call('DELETE', scope)).status, 404)
  assert.equal((await cluster.call('PATCH', scope, { 'shares-to-exclude': ['s1'] })).status, 404)
  for (const [path, name] of [
    ['', { 'policy-name': 'p1' }],
    ['/event', { event_name: 'ev1' }],
    ['/external-engine', { 'engine-name': 'e1' }],
  ] as const) {
    // As the vendor's Ansible collection names what it removes: in the body.
    const reply = await cluster.call('DELETE', `${CLI}${path}`, { vserver: 'svm1', ...name })
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
  }
  const nowhere = await cluster.call('POST', `${CLI}/event`, { vserver: 'svm9', event_name: 'x' })
  assert.deepEqual(failed(nowhere), [404, 4, 'vserver'])
  assert.deepEqual(recordsOf((await cluster.call('GET', '/api/protocols/fpolicy')).body), [])
  await cluster.close()
})

test('policies of an SVM have a bound together, whether they are made or grow', async () => {
  const { cluster, base } = await start()
  await made({ cluster, base }, 'events', { name: 'ev1', protocol: 'nfsv3', file_operations: { write: true } })
  const names = (letter: string) => Array.from({ length: 250 }, (_, at) => `${at}`.padEnd(256, letter))
  const scope = {
    include_shares: names('a'),
    exclude_shares: names('b'),
    include_volumes: names('c'),
    exclude_volumes: names('d'),
    include_export_policies: names('e'),
    exclude_export_policies: names('f'),
    include_extension: names('g'),
    exclude_extension: names('h'),
  }
  const policy = (name: string) => ({ name, events: [{ name: 'ev1' }], scope })
  for (let at = 0; at < 4; at += 1) await made({ cluster, base }, 'policies', policy(`whole${at}`))
  const tooLong = [422, codeOf('fpolicyPoliciesTooLong'), undefined]
  assert.deepEqual(failed(await cluster.call('POST', `${base}/policies`, policy('next'))), tooLong)
  await made({ cluster, base }, 'policies', { ...policy('small'), scope: { include_volumes: ['*'] } })
  assert.deepEqual(failed(await cluster.call('PATCH', `${base}/policies/small`, { scope })), tooLong)
  const { body } = await cluster.call('GET', base)
  assert.deepEqual(asList(body['policies']).length, 5)
  const listed = recordsOf((await cluster.call('GET', '/api/protocols/fpolicy?fields=svm.uuid')).body)
  assert.deepEqual(
    listed.map((record) => Object.keys(record).toSorted()),
    [['_links', 'svm']],
  )
})
