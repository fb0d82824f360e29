/** What commands refuse, with which status, code and target, and what of it is in the audit trail. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf } from '../../../test/support/body.ts'
import { basic, startTestCluster, type CallOptions, type TestCluster } from '../../../test/support/cluster.ts'
import { codeOf } from '../../model/failure.ts'

const CLI = '/api/private/cli'
const PASSWORD = 'a password of somebody'

type Refusal = readonly [request: string, body: unknown, status: number, code: number, target?: string]

async function insistOnRefusals(cluster: TestCluster, refusals: readonly Refusal[], options: CallOptions = {}) {
  const told: unknown[] = []
  const expected = refusals.map((refusal) => [refusal[0].slice(0, 80), ...refusal.slice(2)])
  for (const [request, given] of refusals) {
    const [method = '', command = ''] = request.split(/ (.*)/s)
    const { body, ...reply } = await cluster.call(method, `${CLI}/${command}`, given, options)
    const error = body['error']
    const target = error?.['target']
    told.push([request.slice(0, 80), reply.status, Number(error?.['code']), ...(target === undefined ? [] : [target])])
  }
  assert.deepEqual(told, expected)
}

/** An account with a role of its own: what it may do beside reading nothing. */
async function userWith(cluster: TestCluster, name: string, privileges: Readonly<Record<string, string>>) {
  const role = {
    name: `role of ${name}`.replaceAll(' ', '-'),
    privileges: Object.entries(privileges).map(([path, access]) => ({ path, access })),
  }
  const made = await cluster.call('POST', '/api/security/roles', role)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const account = { name, role: { name: role.name }, password: PASSWORD }
  assert.equal((await cluster.call('POST', '/api/security/accounts', account)).status, 201)
  return { headers: { authorization: basic(name, PASSWORD) } }
}

/** The newest entries of the audit trail that are about a path, oldest first: what was asked, and what became of it. */
async function audited(cluster: TestCluster, path: string) {
  const { body } = await cluster.call('GET', '/api/security/audit/messages?fields=input,state,user&max_records=10000')
  return recordsOf(body)
    .filter(({ input }) => asText(input).includes(path))
    .map(({ input, state, user }) => `${asText(user)}: ${asText(input)}: ${asText(state)}`)
}

test('values, filters, names and records that do not do are refused by status, code and field', async () => {
  const cluster = await startTestCluster()
  const volume = { vserver: 'svm1', volume: 'new', aggregate: 'aggr1' }
  const [wrong, unfit] = [codeOf('fieldInvalid'), codeOf('argumentInvalid')]
  await insistOnRefusals(cluster, [
    ['GET nothing', undefined, 404, codeOf('apiNotFound')],
    ['POST nothing', {}, 404, codeOf('apiNotFound')],
    ['PUT volume', {}, 405, codeOf('methodUnsupported')],
    ['POST storage/disk', {}, 405, codeOf('methodUnsupported')],
    ['GET volume?size=large', undefined, 400, unfit, 'size'],
    ['GET volume?size=%3E', undefined, 400, codeOf('filterLacksValue'), 'size'],
    ['GET volume?order_by=colour', undefined, 400, codeOf('argumentUnexpected'), 'colour'],
    ['GET volume?order_by=volume%20upwards', undefined, 400, codeOf('orderByUnfit'), 'order_by'],
    ['GET volume?order_by=nodes', undefined, 400, codeOf('orderByUnknown'), 'order_by'],
    ['GET volume?max_records=many', undefined, 400, unfit, 'max_records'],
    ['GET volume?max_records=10001', undefined, 400, unfit, 'max_records'],
    ['GET volume?offset=-1', undefined, 400, unfit, 'offset'],
    ['GET volume?start=elsewhere', undefined, 400, codeOf('pageUnknown'), 'start'],
    ['GET volume?start=~elsewhere', undefined, 400, codeOf('startUnknown'), 'start'],
    ['GET security/login?fields=password', undefined, 400, codeOf('fieldNeverShown'), 'fields'],
    ['GET security/login?password=secret', undefined, 400, codeOf('secretInAddress')],
    [`GET volume?volume=${'v'.repeat(9000)}`, undefined, 400, codeOf('filterTooLong'), 'volume'],
    [`GET volume?volume=${'v'.repeat(17_000)}`, undefined, 400, codeOf('addressTooLong'), 'query'],
    [`GET volume?${'volume=v&'.repeat(300)}`, undefined, 400, codeOf('tooManyArguments'), 'query'],
    ['POST volume', '[]', 400, codeOf('bodyNotObject')],
    ['POST volume', '{', 400, codeOf('bodyNotJson')],
    ['POST volume', { vserver: 'svm1', size: '20m' }, 422, codeOf('fieldRequired'), 'name'],
    ['POST volume', { ...volume, size: 'large' }, 422, wrong, 'size'],
    ['POST volume', { ...volume, size: ['1g'] }, 422, codeOf('fieldTakesOne'), 'size'],
    ['POST volume', { ...volume, colour: 'red' }, 400, codeOf('argumentUnexpected'), 'colour'],
    ['POST volume', { ...volume, size: '20m', vserver: 'none' }, 422, codeOf('svmUnknown'), 'svm.name'],
    ['POST volume', { ...volume, size: '20m', uuid: 'x' }, 422, codeOf('fieldNotCreatable'), 'uuid'],
    ['POST volume/snapshot', { volume: 'none', snapshot: 's' }, 404, codeOf('recordNotFound'), 'volume'],
    ['POST volume/snapshot', { snapshot: 's' }, 422, codeOf('fieldRequired'), 'volume'],
    ['POST vserver/object-store-server/user', { vserver: 'none', user: 'u' }, 404, codeOf('svmNotFound'), 'vserver'],
    ['PATCH volume', { comment: 'x' }, 400, codeOf('commandTargetMissing'), 'query'],
    ['PATCH volume?fields=size&max_records=5', { comment: 'x' }, 400, codeOf('commandTargetMissing'), 'query'],
    ['PATCH volume?volume=none', { comment: 'x' }, 404, codeOf('recordNotFound')],
    ['PATCH volume?volume=vol1', { colour: 'red' }, 400, codeOf('argumentUnexpected'), 'colour'],
    ['PATCH volume?volume=vol1', { size: 'large' }, 422, wrong, 'size'],
    ['PATCH volume?volume=vol1', { comment: { a: 5 } }, 422, wrong, 'comment'],
    ['PATCH volume?volume=vol1', { state: null }, 422, codeOf('fieldEmpty'), 'state'],
    ['PATCH volume?volume=vol1', { nodes: 'node1' }, 422, codeOf('fieldNotModifiable'), 'nodes'],
    ['PATCH volume?volume=vol1', { used: 5 }, 422, codeOf('fieldNotModifiable'), 'space.used'],
    ['PATCH volume?volume=vol1&size=large', { comment: 'x' }, 400, unfit, 'size'],
    ['PATCH version?version=*', {}, 405, codeOf('methodUnsupported')],
    ['DELETE volume', undefined, 400, codeOf('commandTargetMissing'), 'query'],
    ['DELETE volume?volume=none', undefined, 404, codeOf('recordNotFound')],
    ['DELETE volume', { volume: 'none' }, 404, codeOf('recordNotFound')],
    ['DELETE volume', { volume: '*' }, 404, codeOf('recordNotFound')],
    ['DELETE snapshot?volume=vol1&snapshot=none', undefined, 404, codeOf('recordNotFound')],
  ])
  assert.equal((await cluster.call('GET', '/api/storage/volumes')).body['num_records'], 2)
  await cluster.close()
})

test('who may only read is refused every change, and what of it is denied by a path is refused by its commands', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', '/api/security/accounts', { name: 'reader', role: 'readonly', password: PASSWORD })
  const denied = codeOf('roleDenies')
  const reader = { headers: { authorization: basic('reader', PASSWORD) } }
  const changes: Refusal[] = [
    ['POST volume', {}, 403, denied],
    ['PATCH volume?volume=vol1', { comment: 'x' }, 403, denied],
    ['DELETE volume?volume=vol1', undefined, 403, denied],
    ['GET security/login', undefined, 403, denied],
  ]
  await insistOnRefusals(cluster, changes, reader)
  const privileges = { '/api/private/cli': 'all', '/api/storage/volumes': 'readonly', '/api/storage/qtrees': 'all' }
  const operator = await userWith(cluster, 'operator', privileges)
  const vol1 = await cluster.uuidOf('/api/storage/volumes', 'vol1')
  await insistOnRefusals(cluster, changes, operator)
  await insistOnRefusals(
    cluster,
    [
      ['GET storage/aggregate', undefined, 403, denied],
      // A phrase looks into another collection.
      ['GET volume?fields=node', undefined, 403, denied],
      ['GET vserver', undefined, 403, denied],
      ['PATCH volume?volume=none', { comment: 'x' }, 404, codeOf('recordNotFound')],
      ['POST snapshot', { volume: 'vol1', snapshot: 's' }, 403, denied],
    ],
    operator,
  )
  assert.equal((await cluster.call('GET', `${CLI}/volume`, undefined, operator)).status, 200)
  assert.equal((await cluster.call('GET', `${CLI}/snapshot`, undefined, operator)).status, 200)
  assert.deepEqual(await audited(cluster, '/api/storage/volumes'), [
    'operator: POST /api/storage/volumes: error',
    `operator: PATCH /api/storage/volumes/${vol1}: error`,
    `operator: DELETE /api/storage/volumes/${vol1}: error`,
    `operator: POST /api/storage/volumes/${vol1}/snapshots: error`,
  ])
  assert.deepEqual(await audited(cluster, CLI), [
    'reader: POST /api/private/cli/volume: error',
    'reader: PATCH /api/private/cli/volume: error',
    'reader: DELETE /api/private/cli/volume: error',
    'operator: PATCH /api/private/cli/volume: error',
  ])
  const isolated = await userWith(cluster, 'isolated', { '/api/private/cli': 'all', '/api/svm': 'readonly' })
  await insistOnRefusals(cluster, [['GET snapshot', undefined, 403, denied]], isolated)
  await cluster.close()
})

test('a change by command that is refused before it reaches a record is in the audit trail as the command, once', async () => {
  const cluster = await startTestCluster()
  await insistOnRefusals(cluster, [
    ['POST volume', '{', 400, codeOf('bodyNotJson')],
    ['POST volume/snapshot', { snapshot: 's' }, 422, codeOf('fieldRequired'), 'volume'],
    ['PATCH volume', { comment: 'x' }, 400, codeOf('commandTargetMissing'), 'query'],
    ['PATCH volume?volume=none', { comment: 'x' }, 404, codeOf('recordNotFound')],
    ['DELETE snapshot?volume=vol1&snapshot=none', undefined, 404, codeOf('recordNotFound')],
    // As everywhere, what no resource has is no attempt to change one; a read changes nothing.
    ['PUT volume', {}, 405, codeOf('methodUnsupported')],
    ['GET volume?colour=red', undefined, 400, codeOf('argumentUnexpected'), 'colour'],
  ])
  assert.deepEqual(await audited(cluster, CLI), [
    'admin: POST /api/private/cli/volume: error',
    'admin: POST /api/private/cli/volume/snapshot: error',
    'admin: PATCH /api/private/cli/volume: error',
    'admin: PATCH /api/private/cli/volume: error',
    'admin: DELETE /api/private/cli/snapshot: error',
  ])
  await cluster.close()
})

test('a command in the name of an SVM is about what belongs to it', async () => {
  const cluster = await startTestCluster()
  assert.equal((await cluster.call('POST', '/api/svm/svms?return_timeout=15', { name: 'svm2' })).status, 201)
  const volume = { vserver: 'svm2', volume: 'theirs', aggregate: 'aggr1', size: '20m', 'space-guarantee': 'none' }
  assert.equal((await cluster.call('POST', `${CLI}/volume`, volume)).status, 201)
  const svm2 = { headers: { 'x-dot-svm-name': 'svm2' } }
  const shown = async (command: string) => {
    const { body } = await cluster.call('GET', `${CLI}/${command}`, undefined, svm2)
    return recordsOf(body)
  }
  assert.deepEqual(await shown('volume'), [{ vserver: 'svm2', volume: 'theirs' }])
  assert.deepEqual(await shown('vserver?type=data'), [{ vserver: 'svm2' }])
  const { vserver: _, ...own } = { ...volume, volume: 'own' }
  assert.equal((await cluster.call('POST', `${CLI}/volume`, own, svm2)).status, 201)
  const snapshots = { vserver: 'svm1', volume: 'vol1', snapshot: 's' }
  assert.equal((await cluster.call('POST', `${CLI}/snapshot`, snapshots)).status, 201)
  assert.deepEqual(await shown('snapshot'), [])
  await insistOnRefusals(
    cluster,
    [
      ['PATCH volume?volume=vol1', { comment: 'x' }, 404, codeOf('recordNotFound')],
      ['DELETE volume?volume=vol1', undefined, 404, codeOf('recordNotFound')],
      ['POST volume', { ...volume, vserver: 'svm1' }, 400, codeOf('scopeSvmMismatch'), 'svm'],
      ['POST snapshot', { ...snapshots, snapshot: 't' }, 404, codeOf('recordNotFound'), 'volume'],
    ],
    svm2,
  )
  await insistOnRefusals(
    cluster,
    [
      ['GET volume', undefined, 400, codeOf('scopeSvmUnknown'), 'svm'],
      ['GET volume?colour=red', undefined, 400, codeOf('argumentUnexpected'), 'colour'],
    ],
    { headers: { 'x-dot-svm-name': 'svm3' } },
  )
  await cluster.close()
})

test('faults of a path hit its commands, and a job that fails is told with its code', async () => {
  const cluster = await startTestCluster()
  const fault = async (body: object) => {
    const { status } = await cluster.call('POST', '/api/private/faults', body)
    assert.equal(status, 201)
  }
  const volume = (name: string) => ({
    vserver: 'svm1',
    volume: name,
    aggregate: 'aggr1',
    size: '20m',
    'space-guarantee': 'none',
  })
  for (const name of ['a', 'b', 'c']) {
    assert.equal((await cluster.call('POST', `${CLI}/volume`, volume(name))).status, 201)
  }
  await fault({ type: 'error', path: '/api/storage/volumes', times: 1, status: 503, code: 77, retry_after: 9 })
  const hit = await cluster.call('GET', `${CLI}/volume`)
  assert.deepEqual([hit.status, hit.body['error']?.['code'], hit.headers['retry-after']], [503, 77, '9'])
  assert.ok(hit.headers['x-holdfast-fault'] !== undefined)
  await fault({ type: 'error', path: '/api/private/cli/volume', times: 1, status: 500, code: 78 })
  await insistOnRefusals(cluster, [['GET volume', undefined, 500, 78]])
  await fault({ type: 'job_failure', method: 'POST', path: '/api/storage/volumes', times: 1, code: 79 })
  await insistOnRefusals(cluster, [['POST volume', volume('d'), 409, 79]])
  await fault({ type: 'job_failure', method: 'DELETE', path: '/api/storage/volumes/*', times: 1, code: 80 })
  const all = `volume?volume=a|b|c`
  await insistOnRefusals(cluster, [[`DELETE ${all}`, undefined, 409, 80]])
  // The first failure ends it.
  assert.equal((await cluster.call('GET', `${CLI}/${all}`)).body['num_records'], 3)
  const gone = await cluster.call('DELETE', `${CLI}/${all}`)
  assert.deepEqual([gone.status, gone.body], [200, { num_records: 3 }])
  await cluster.close()
})

test('fields and resources that the release does not have are not there for its commands', async () => {
  const cluster = await startTestCluster({ release: '9.6' })
  await insistOnRefusals(cluster, [
    ['GET network/ip/subnet', undefined, 404, codeOf('apiNotFound')],
    ['GET volume?fields=access_time_enabled', undefined, 400, codeOf('fieldsUnknown'), 'fields'],
    ['GET volume?access_time_enabled=5', undefined, 400, codeOf('argumentUnexpected'), 'access_time_enabled'],
    ['GET volume?order_by=access_time_enabled', undefined, 400, codeOf('orderByUnfit'), 'order_by'],
    ['PATCH volume?volume=vol1', { access_time_enabled: true }, 422, codeOf('fieldUnknown'), 'access_time_enabled'],
  ])
  await cluster.close()
})
