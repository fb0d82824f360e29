import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf } from '../../test/support/body.ts'
import { ADMIN, basic, startTestCluster, type TestCluster } from '../../test/support/cluster.ts'
import { codeOf } from '../model/failure.ts'

const AUDIT = '/api/security/audit/messages?fields=*&order_by=index desc'

async function audited(cluster: TestCluster, act: () => Promise<unknown>) {
  const before = (await cluster.cluster.catalog.log('audit', { limit: 10_000 })).length
  await act()
  const { body } = await cluster.call('GET', AUDIT)
  const all = recordsOf(body)
  return all.slice(0, all.length - before)
}

test('each write leaves one entry in the audit trail: who, from where, what, and what became of it', async () => {
  const cluster = await startTestCluster()
  const [made, ...more] = await audited(cluster, () =>
    cluster.call('POST', '/api/svm/svms', { name: 'svm2' }, { from: '198.51.100.7' }),
  )
  assert.equal(more.length, 0)
  assert.equal(made?.['user'], 'admin')
  assert.equal(made['location'], '198.51.100.7')
  assert.equal(made['input'], 'POST /api/svm/svms')
  assert.equal(made['state'], 'success')
  assert.match(asText(made['timestamp']), /^\d{4}-.*Z$/)
  const [refused, ...others] = await audited(cluster, () => cluster.call('POST', '/api/svm/svms', { name: 'svm2' }))
  assert.equal(others.length, 0)
  assert.equal(refused?.['state'], 'error')
  assert.match(asText(refused['message']), /exists already/)
  await cluster.close()
})

test('reads leave none', async () => {
  const cluster = await startTestCluster()
  assert.deepEqual(await audited(cluster, () => cluster.call('GET', '/api/storage/volumes')), [])
  await cluster.close()
})

test('writes that are refused before they begin are in the audit trail too', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', '/api/security/accounts', {
    name: 'watcher',
    password: 'a long password',
    'role.name': 'readonly',
  })
  const entries = await audited(cluster, async () => {
    await cluster.call(
      'POST',
      '/api/svm/svms',
      { name: 'x' },
      { headers: { authorization: basic('watcher', 'a long password') } },
    )
    await cluster.call('POST', '/api/svm/svms', { nam: 'x' })
    await cluster.call('DELETE', '/api/svm/svms/00000000-0000-4000-8000-000000000000')
    await cluster.call('POST', '/api/svm/svms', '{')
  })
  assert.deepEqual(
    entries.map((entry) => [entry['user'], entry['state']]),
    [
      ['admin', 'error'],
      ['admin', 'error'],
      ['admin', 'error'],
      ['watcher', 'error'],
    ],
  )
  await cluster.close()
})

test('no secret gets into the audit trail, the events, the log or the catalog', async () => {
  const cluster = await startTestCluster()
  const svm = await cluster.uuidOf('/api/svm/svms', 'svm1')
  const secrets = ['pass-SECRET-word', 'SECRET-key-1234567890', 'SECRET-newpassword']
  await cluster.call('POST', '/api/security/accounts', { name: 'a1', password: secrets[0] })
  await cluster.call('POST', '/api/security/accounts', { name: 'a1', password: secrets[0] })
  await cluster.call('POST', '/api/security/accounts', { name: 'bad name', password: secrets[0] })
  await cluster.call('PATCH', await cluster.account('a1'), { password: secrets[2] })
  await cluster.call('POST', `/api/protocols/s3/services/${svm}/users`, {
    name: 'u1',
    access_key: 'AKSECRETNOT',
    secret_key: secrets[1],
  })
  const key = await cluster.call('POST', '/api/security/authentication/keys', {
    user: { name: 'a1' },
    role: { name: 'readonly' },
  })
  const token = asText(key.body['records']?.[0]?.['key'])
  assert.ok(token.length > 40)
  const { catalog } = cluster.cluster
  const kept = JSON.stringify([
    await catalog.log('audit', { limit: 1000 }),
    await catalog.log('events', { limit: 1000 }),
    cluster.logged,
    await Promise.all([...cluster.cluster.behaviours.keys()].map((type) => catalog.records(type))),
  ])
  for (const secret of [...secrets, token, token.split('.')[2] ?? '']) assert.ok(!kept.includes(secret), secret)
  await cluster.close()
})

test('a change and a deletion of one record at the same time leave no half record', async () => {
  const cluster = await startTestCluster()
  for (let round = 0; round < 20; round++) {
    await cluster.call('POST', '/api/svm/svms', { name: 'brief' })
    const uuid = await cluster.uuidOf('/api/svm/svms', 'brief')
    await Promise.all([
      cluster.call('DELETE', `/api/svm/svms/${uuid}`),
      cluster.call('PATCH', `/api/svm/svms/${uuid}`, { comment: 'x' }),
      cluster.call('PATCH', `/api/svm/svms/${uuid}`, { comment: 'y' }),
    ])
    assert.equal((await cluster.call('GET', `/api/svm/svms/${uuid}`)).status, 404)
  }
  await cluster.close()
})

test('two changes of different fields at the same time are both kept', async () => {
  const cluster = await startTestCluster()
  const svm = await cluster.uuidOf('/api/svm/svms', 'svm1')
  const lost: string[] = []
  const both = async (path: string, one: object, other: object) => {
    const answers = await Promise.all([cluster.call('PATCH', path, one), cluster.call('PATCH', path, other)])
    if (answers.some(({ status }) => status !== 200)) return
    const { body } = await cluster.call('GET', `${path}?fields=**`)
    for (const [field, value] of Object.entries({ ...one, ...other })) {
      if (JSON.stringify(body[field]) !== JSON.stringify(value)) lost.push(`${path} ${field}`)
    }
  }
  await both(`/api/svm/svms/${svm}`, { comment: 'kept' }, { state: 'stopped' })
  await both(`/api/protocols/s3/services/${svm}`, { comment: 'kept' }, { port: 8080 })
  await cluster.call('POST', '/api/security/accounts', { name: 'a1', password: 'a long password' })
  await both(await cluster.account('a1'), { comment: 'kept' }, { locked: true })
  await cluster.call('POST', '/api/protocols/s3/buckets', { name: 'bucket1', svm: 'svm1', size: 1024 })
  const bucket = await cluster.uuidOf('/api/protocols/s3/buckets', 'bucket1')
  await both(`/api/protocols/s3/buckets/${svm}/${bucket}`, { comment: 'kept' }, { size: 2048 })
  assert.deepEqual(lost, [])
  await cluster.close()
})

test('of many creates of one name at the same time, one wins and the others are told of the field', async () => {
  const cluster = await startTestCluster()
  const create = async (path: string, body: object) => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => cluster.call('POST', path, body)))
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [201, 409, 409, 409, 409, 409],
      path,
    )
    for (const { status, body: told } of answers)
      if (status === 409) assert.equal(told['error']?.['target'], 'name', path)
  }
  await create('/api/svm/svms', { name: 'same' })
  await create('/api/storage/volumes', { name: 'same', svm: 'svm1', size: '16m' })
  await create('/api/protocols/s3/buckets', { name: 'same', svm: 'svm1', size: 1024 })
  await create('/api/security/accounts', { name: 'same', password: 'a long password' })
  await cluster.close()
})

test('renaming an SVM shows at everything that belongs to it, and the old name is free', async () => {
  const cluster = await startTestCluster()
  const svm = await cluster.uuidOf('/api/svm/svms', 'svm1')
  assert.equal((await cluster.call('PATCH', `/api/svm/svms/${svm}`, { name: 'renamed' })).status, 200)
  for (const path of [
    '/api/storage/volumes',
    '/api/network/ip/interfaces',
    '/api/protocols/s3/services',
    `/api/protocols/s3/services/${svm}/users`,
  ]) {
    const { body } = await cluster.call('GET', `${path}?fields=svm.name`)
    assert.ok(recordsOf(body).length > 0, path)
    for (const record of recordsOf(body)) assert.equal(record['svm']?.['name'], 'renamed', path)
    assert.equal((await cluster.call('GET', `${path}?svm.name=svm1`)).body['num_records'], 0)
  }
  assert.equal((await cluster.call('POST', '/api/svm/svms', { name: 'svm1' })).status, 201)
  assert.equal(
    (await cluster.call('POST', '/api/storage/volumes', { name: 'v9', svm: 'renamed', size: '16m' })).status,
    201,
  )
  await cluster.close()
})

test('renaming the cluster shuts nobody out', async () => {
  const cluster = await startTestCluster()
  assert.equal((await cluster.call('PATCH', '/api/cluster', { name: 'other' })).status, 200)
  assert.equal(
    (await cluster.call('GET', '/api/cluster?fields=name', undefined, { headers: { authorization: ADMIN } })).body[
      'name'
    ],
    'other',
  )
  await cluster.close()
})

test('references by name and by uuid must agree and lead somewhere', async () => {
  const cluster = await startTestCluster()
  const svm = await cluster.uuidOf('/api/svm/svms', 'svm1')
  await cluster.call('POST', '/api/svm/svms', { name: 'svm2' })
  const create = async (owner: object) => {
    const { status, body } = await cluster.call('POST', '/api/storage/volumes', { name: 'v1', size: '16m', ...owner })
    return [status, body['error']?.['target'], body['error']?.['code']]
  }
  assert.deepEqual(await create({ svm: { name: 'nobody' } }), [422, 'svm.name', codeOf('svmUnknown')])
  assert.deepEqual(await create({ svm: { uuid: '00000000-0000-4000-8000-000000000000' } }), [
    422,
    'svm.uuid',
    codeOf('svmUnknown'),
  ])
  assert.deepEqual((await create({ svm: { name: 'svm2', uuid: svm } }))[0], 422)
  assert.deepEqual(await create({}), [422, 'svm.name', codeOf('fieldRequired')])
  assert.deepEqual((await create({ svm: { name: 'svm1', uuid: svm } }))[0], 201)
  await cluster.close()
})
