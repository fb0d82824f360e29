/** Section 2 of the specification: resources and their fields. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asNumber, asText, recordsOf } from '../support/body.ts'
import { fresh } from '../support/product.ts'
import { ended, Made, namesOf, openTargetHere, TB } from './target.ts'

const { api } = await openTargetHere()
const made = new Made(api)
const one = await made.server()

test('1.1 the interface speaks JSON over HTTPS', async () => {
  const { headers, status } = await api.get('/api/cluster')
  assert.equal(status, 200)
  assert.match(headers['content-type'] ?? '', /json/)
})

test('2.1 a collection has records and num_records', async () => {
  const { body } = await api.get('/api/svm/svms')
  assert.equal(recordsOf(body).length, asNumber(body['num_records']))
  assert.ok(recordsOf(body).length > 0)
})

test('2.1 a record is addressed by uuid, not by name', async () => {
  assert.equal((await api.get(one.data.path)).status, 200)
  assert.equal((await api.get(`/api/storage/volumes/${one.data.name}`)).status, 404)
})

test('2.1 a uuid stays valid when the object is renamed', async () => {
  const volume = await made.volume(one.svm.name)
  const name = fresh('renamed')
  assert.equal((await api.call('PATCH', volume.path, { name })).status, 200)
  assert.equal((await api.get(`${volume.path}?fields=name`)).body['name'], name)
})

test('2.1 sizes in answers are integers of bytes', async () => {
  const { body } = await api.get(`${one.data.path}?fields=size,space`)
  assert.equal(body['size'], 64 * 2 ** 20)
  for (const name of ['available', 'used', 'size']) assert.ok(Number.isSafeInteger(body['space']?.[name]), name)
})

test('2.1 a volume size is taken as text with a unit suffix, or as a number', async () => {
  for (const [size, bytes] of [
    ['1t', TB],
    ['20MB', 20 * 2 ** 20],
    ['1G', 2 ** 30],
    [33_554_432, 33_554_432],
    ['33554432', 33_554_432],
  ] as const) {
    const volume = await made.volume(one.svm.name, { size })
    assert.equal((await api.get(`${volume.path}?fields=size`)).body['size'], bytes, String(size))
  }
})

test('2.1 a bucket size is an integer of bytes', async () => {
  const bucket = await made.record(one.buckets, {
    name: fresh('bucket').replaceAll('_', '-'),
    volume: { name: one.data.name },
    size: 1_234_567,
  })
  assert.equal((await api.get(`${bucket.path}?fields=size`)).body['size'], 1_234_567)
})

test('2.2 cluster: name and version', async () => {
  const { body } = await api.get('/api/cluster?fields=name,version')
  assert.equal(typeof body['name'], 'string')
  assert.match(asText(body['version']?.['full']), /^\S+ Release \d+\.\d+/)
})

test('2.2 cluster version: full, generation, major and minor agree', async () => {
  const version = (await api.get('/api/cluster/version')).body['version']
  const { generation, major, minor } = version as unknown as Record<string, number>
  for (const part of [generation, major, minor]) assert.ok(Number.isSafeInteger(part))
  assert.match(asText(version?.['full']), new RegExp(` Release ${generation}\\.${major}(\\.${minor})?$`))
})

test('2.2 SVM: uuid and name', async () => {
  const { body } = await api.get(`/api/svm/svms?fields=uuid,name&name=${one.svm.name}`)
  assert.deepEqual(namesOf(recordsOf(body)[0]), ['name', 'uuid'])
  assert.equal(recordsOf(body)[0]?.['uuid'], one.svm.uuid)
})

test('2.2 volume: every field of the table', async () => {
  const name = fresh('vol')
  const draft = {
    name,
    'svm.name': one.svm.name,
    aggregates: [{ name: 'aggr1' }],
    size: '32m',
    type: 'rw',
    'guarantee.type': 'volume',
    'snapshot_policy.name': 'default',
  }
  const { uuid } = await made.record('/api/storage/volumes', draft)
  const fields =
    'uuid,name,state,size,type,svm.name,aggregates.name,guarantee.type,snapshot_policy.name,space.available,space.used,metric.iops.total'
  const { body } = await api.get(`/api/storage/volumes/${uuid}?fields=${fields}`)
  const { metric, space, _links, ...rest } = body
  assert.deepEqual(rest, {
    uuid,
    name,
    state: 'online',
    size: 32 * 2 ** 20,
    type: 'rw',
    svm: { name: one.svm.name },
    aggregates: [{ name: 'aggr1' }],
    guarantee: { type: 'volume' },
    snapshot_policy: { name: 'default' },
  })
  assert.ok(Number.isSafeInteger(metric?.['iops']?.['total']))
  assert.equal(space?.['used'], 0)
  assert.equal(space['available'], 32 * 2 ** 20)
})

test('2.2 snapshot: name, create_time and size, a child of its volume', async () => {
  const reply = await api.call('POST', `${one.data.path}/snapshots`, { name: 'snap1' })
  assert.equal(reply.status, 201, reply.text)
  const { body } = await api.get(`${one.data.path}/snapshots?fields=name,create_time,size`)
  const [snapshot] = recordsOf(body)
  assert.deepEqual(namesOf(snapshot), ['create_time', 'name', 'size'])
  assert.ok(Math.abs(Date.parse(asText(snapshot?.['create_time'])) - Date.now()) < 3_600_000)
  assert.equal(snapshot?.['size'], 0)
  assert.equal((await api.call('DELETE', `${one.data.path}/snapshots/snap1`)).status, 200)
})

test('2.2 aggregate: name, and a usable capacity under space', async () => {
  const { body } = await api.get('/api/storage/aggregates?fields=name,space')
  const [aggregate] = recordsOf(body)
  assert.equal(aggregate?.['name'], 'aggr1')
  const space = aggregate['space']?.['block_storage']
  assert.ok(asNumber(space?.['size']) > 0)
  assert.ok(asNumber(space?.['available']) <= asNumber(space?.['size']))
})

test('2.2 job: uuid, name, state, message, code and an integer elapsed_time', async () => {
  const reply = await api.call('PATCH', `${one.data.path}?return_timeout=0`, { comment: 'changed' })
  const job = await ended(api, asText(reply.headers['location'] as never))
  assert.deepEqual(namesOf(job), ['code', 'elapsed_time', 'message', 'name', 'state', 'uuid'])
  assert.ok(Number.isSafeInteger(job['elapsed_time']))
  assert.equal(job['code'], 0)
})

test('2.2 network interface: a collection', async () => {
  const { body } = await api.get('/api/network/interfaces')
  assert.equal(recordsOf(body).length, asNumber(body['num_records']))
})

test('2.2 counter table: name and description', async () => {
  const { body } = await api.get('/api/cluster/counter/tables?fields=name,description')
  assert.ok(recordsOf(body).length > 0)
  for (const table of recordsOf(body)) assert.deepEqual(namesOf(table), ['description', 'name'])
})

test('2.2 authentication key: the key is in the answer that makes it, and never again', async () => {
  const body = { user: { name: fresh('bot'), owner: { name: 'holdfast' } }, role: { name: 'readonly' } }
  const reply = await api.call('POST', '/api/security/authentication/keys', body)
  assert.equal(reply.status, 201, reply.text)
  const record = recordsOf(reply.body)[0]
  const key = asText(record?.['key'])
  assert.equal(record?.['user']?.['owner']?.['name'], 'holdfast')
  assert.equal(record['role']?.['name'], 'readonly')
  const path = `/api/security/authentication/keys/${asText(record['uuid'])}`
  for (const target of [path, `${path}?fields=**`, '/api/security/authentication/keys?fields=**']) {
    const { text } = await api.get(target)
    assert.ok(!text.includes(key), target)
  }
  assert.equal((await api.get(`${path}?fields=key`)).status, 400)
  assert.equal((await api.call('DELETE', path)).status, 200)
})

test('2.3 object store server: name, root_volume.name, data_volumes[].name, bucket_endpoint_style and uuid; ports 80 and 443', async () => {
  const { body } = await api.get(
    `${one.server.path}?fields=uuid,name,root_volume.name,data_volumes.name,bucket_endpoint_style,port,secure_port`,
  )
  const { _links, ...record } = body
  assert.deepEqual(record, {
    uuid: one.server.uuid,
    name: one.body.name,
    root_volume: { name: one.root.name },
    data_volumes: [{ name: one.data.name }],
    bucket_endpoint_style: 'path_style',
    port: 80,
    secure_port: 443,
  })
})

test('2.3 the ports of an object store server can be changed', async () => {
  assert.equal((await api.call('PATCH', one.server.path, { secure_port: 28_443 })).status, 200)
  assert.equal((await api.get(`${one.server.path}?fields=secure_port`)).body['secure_port'], 28_443)
  assert.equal((await api.call('PATCH', one.server.path, { secure_port: 443 })).status, 200)
})

test('2.3 the root volume is dedicated, empty and unshared', async () => {
  const [empty, data] = [await made.volume(one.svm.name), await made.volume(one.svm.name)]
  const put = (root: string, volumes: string[]) =>
    api.call('PUT', one.servers, {
      name: fresh('x').replaceAll('_', '-'),
      root_volume: { name: root },
      data_volumes: volumes.map((name) => ({ name })),
    })
  assert.equal((await put(one.root.name, [data.name])).status, 422, 'the root volume of another server')
  assert.equal((await put(one.data.name, [data.name])).status, 422, 'a data volume of another server')
  assert.equal((await put(empty.name, [empty.name])).status, 422, 'its own data volume')
})

test('2.3 a bucket lives in one of the data volumes of its server', async () => {
  const other = await made.volume(one.svm.name)
  const reply = await api.call('POST', one.buckets, {
    name: fresh('b').replaceAll('_', '-'),
    volume: { name: other.name },
    size: 1024,
  })
  assert.equal(reply.status, 422, reply.text)
  assert.equal(reply.body['error']?.['target'], 'volume.name')
})

test('2.3 bucket: name, volume.name and size', async () => {
  const name = fresh('bucket').replaceAll('_', '-')
  const bucket = await made.record(one.buckets, { name, volume: { name: one.data.name }, size: 4096 })
  const { body } = await api.get(`${bucket.path}?fields=name,volume.name,size`)
  assert.equal(body['name'], name)
  assert.equal(body['volume']?.['name'], one.data.name)
  assert.equal(body['size'], 4096)
})

test('2.3 object store user: name, comment and keys; the secret is shown once', async () => {
  const users = `/api/protocols/s3/services/${one.svm.uuid}/users`
  const name = fresh('user')
  const reply = await api.call('POST', users, { name, comment: 'for the test' })
  assert.equal(reply.status, 201, reply.text)
  const record = recordsOf(reply.body)[0]
  const secret = asText(record?.['secret_key'])
  assert.ok(asText(record?.['access_key']).length >= 16)
  const shown = await api.get(`${users}/${name}?fields=**`)
  assert.equal(shown.body['comment'], 'for the test')
  assert.ok(!shown.text.includes(secret))
  assert.equal((await api.call('DELETE', `${users}/${name}`)).status, 200)
})

test('2.3 access keys are unique in the cluster', async () => {
  const users = `/api/protocols/s3/services/${one.svm.uuid}/users`
  const keys = { access_key: fresh('AKIATEST').toUpperCase(), secret_key: 'a-secret-of-the-test' }
  assert.equal((await api.call('POST', users, { name: 'first', ...keys })).status, 201)
  const again = await api.call('POST', users, { name: 'second', ...keys })
  assert.equal(again.status, 409)
  assert.equal(again.body['error']?.['target'], 'access_key')
})

test('2.3 a policy is a named list of statements; one named default exists', async () => {
  const policies = `/api/protocols/s3/services/${one.svm.uuid}/policies`
  assert.equal((await api.get(`${policies}/default`)).status, 200)
  const statements = [
    {
      effect: 'allow',
      principals: ['first'],
      actions: ['s3:GetObject', 's3:ListBucket'],
      resources: ['arn:aws:s3:::bucket/*'],
    },
  ]
  assert.equal((await api.call('POST', policies, { name: 'p1', statements })).status, 201)
  assert.deepEqual((await api.get(`${policies}/p1?fields=statements`)).body['statements'], statements)
  assert.equal(
    (await api.call('POST', policies, { name: 'p2', statements: [{ effect: 'perhaps', actions: ['*'] }] })).status,
    422,
  )
})
