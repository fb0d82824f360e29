/** What commands answer when they made, changed or deleted something, and what the audit trail says of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf } from '../../../test/support/body.ts'
import { startTestCluster } from '../../../test/support/cluster.ts'
import { codeOf } from '../../model/failure.ts'

const CLI = '/api/private/cli'
const NATIVE = { headers: { 'user-agent': 'netapp-harvest' } }
const small = (volume: string) => ({
  vserver: 'svm1',
  volume,
  aggregate: 'aggr1',
  size: '20m',
  'space-guarantee': 'none',
})

test('what a command makes is answered as the interface answers it, when its job has ended', async () => {
  const cluster = await startTestCluster()
  const { status, headers, body } = await cluster.call('POST', `${CLI}/volume`, small('made'))
  const uuid = await cluster.uuidOf('/api/storage/volumes', 'made')
  assert.deepEqual([status, headers['location']], [201, `/api/storage/volumes/${uuid}`])
  const [record] = recordsOf(body)
  assert.deepEqual([record?.['uuid'], record?.['name'], record?.['svm']?.['name']], [uuid, 'made', 'svm1'])
  const job = asText(body['job']?.['uuid'])
  const { body: ended } = await cluster.call('GET', `/api/cluster/jobs/${job}?fields=state,description`)
  assert.deepEqual([ended['state'], ended['description']], ['success', 'POST /api/storage/volumes'])
  const native = await cluster.call('POST', `${CLI}/volume`, small('native'), NATIVE)
  assert.deepEqual([native.status, Object.keys(native.body)], [201, ['job']])
  const login = { user: 'x', vserver: 'svm1' }
  const user = await cluster.call('POST', `${CLI}/vserver/object-store-server/user`, login, NATIVE)
  assert.equal(user.status, 201)
  // Keys are shown once, to whoever made them.
  assert.ok(recordsOf(user.body)[0]?.['secret_key'] !== undefined)
  await cluster.close()
})

test('what a command changes and deletes is audited record by record', async () => {
  const cluster = await startTestCluster()
  for (const name of ['a', 'b']) assert.equal((await cluster.call('POST', `${CLI}/volume`, small(name))).status, 201)
  const uuids = [await cluster.uuidOf('/api/storage/volumes', 'a'), await cluster.uuidOf('/api/storage/volumes', 'b')]
  const both = `${CLI}/volume?vserver=svm1&volume=a|b`
  const changed = await cluster.call('PATCH', both, { comment: 'x' })
  assert.deepEqual([changed.status, changed.body], [200, { num_records: 2 }])
  // Nothing to do is no failure, and no work.
  const unchanged = await cluster.call('PATCH', both, {})
  assert.deepEqual([unchanged.status, unchanged.body], [200, { num_records: 2 }])
  const gone = await cluster.call('DELETE', `${CLI}/volume`, { vserver: 'svm1', volume: 'a' })
  assert.deepEqual([gone.status, gone.body], [200, { num_records: 1 }])
  assert.equal((await cluster.call('DELETE', `${CLI}/volume?volume=b`, {})).status, 200)
  const { body } = await cluster.call('GET', '/api/security/audit/messages?fields=input,state&max_records=10000')
  const inputs = new Set(recordsOf(body).map(({ input, state }) => `${asText(input)}: ${asText(state)}`))
  for (const uuid of uuids) {
    assert.ok(inputs.has(`PATCH /api/storage/volumes/${uuid}: success`))
    assert.ok(inputs.has(`DELETE /api/storage/volumes/${uuid}: success`))
  }
  await cluster.close()
})

test('a part of a record is made, changed and taken back, and is there once', async () => {
  const cluster = await startTestCluster()
  const engine = { vserver: 'svm1', 'engine-name': 'engine1', 'primary-servers': ['192.0.2.9'], port: 9876 }
  const steps: [string, string, object | undefined, number][] = [
    ['POST', 'vserver/fpolicy/policy/external-engine', engine, 201],
    [
      'POST',
      'vserver/fpolicy/policy/event',
      { vserver: 'svm1', 'event-name': 'event1', protocol: 'cifs', 'file-operations': ['open'] },
      201,
    ],
    [
      'POST',
      'vserver/fpolicy/policy',
      { vserver: 'svm1', 'policy-name': 'p', events: ['event1'], engine: 'engine1' },
      201,
    ],
    ['POST', 'vserver/fpolicy/policy/scope', { vserver: 'svm1', 'policy-name': 'none' }, 404],
    ['PATCH', 'vserver/fpolicy/policy/scope?policy-name=p', { 'volumes-to-include': ['v'] }, 404],
    ['POST', 'vserver/fpolicy/policy/scope', { vserver: 'svm1', 'policy-name': 'p' }, 201],
    ['POST', 'vserver/fpolicy/policy/scope', { vserver: 'svm1', 'policy-name': 'p' }, 409],
    ['PATCH', 'vserver/fpolicy/policy/scope?policy-name=p', { 'volumes-to-include': ['v'] }, 200],
    ['GET', 'vserver/fpolicy/policy/scope?fields=volumes-to-include', undefined, 200],
    ['DELETE', 'vserver/fpolicy/policy/scope?policy-name=p', undefined, 200],
    ['GET', 'vserver/fpolicy/policy/scope?fields=volumes-to-include', undefined, 200],
  ]
  const shown: unknown[] = []
  for (const [method, command, given, status] of steps) {
    const reply = await cluster.call(method, `${CLI}/${command}`, given)
    assert.equal(reply.status, status, `${method} ${command} ${JSON.stringify(reply.body)}`)
    if (method === 'GET') shown.push(recordsOf(reply.body))
    if (status === 409) assert.equal(reply.body['error']?.['code'], codeOf('partNameTaken'))
    if (command.endsWith('/scope') && status === 201) assert.deepEqual(reply.body, { num_records: 1 })
  }
  assert.deepEqual(shown, [[{ vserver: 'svm1', policy_name: 'p', volumes_to_include: ['v'] }], []])
  await cluster.close()
})

test('the one record of a setting is changed without being named', async () => {
  const cluster = await startTestCluster()
  const changed = await cluster.call('PATCH', `${CLI}/system/node/autosupport`, { state: 'enable' })
  assert.deepEqual([changed.status, changed.body], [200, { num_records: 1 }])
  await cluster.close()
})
