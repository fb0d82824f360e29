/** Section 4 of the specification: endpoints. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asNumber, asText, recordsOf, type Body } from '../support/body.ts'
import { fresh } from '../support/product.ts'
import { ended, GB, Made, namesOf, NATIVE, openTargetHere, TB, uuidOf } from './target.ts'

const { api } = await openTargetHere()
const made = new Made(api)
const one = await made.server()
const svm = await made.svm()
const sizes = [5, 3, 9, 1, 7]
const volumes: string[] = []
for (const size of sizes) volumes.push((await made.volume(svm.name, { size: `${size * 20}m` })).name)
const VOLUMES = '/api/storage/volumes'
const mine = `svm.name=${svm.name}`
const values = (body: Body, field: string) => recordsOf(body).map((record) => record[field] as unknown)

test('4.1 fields: only the fields asked for are returned', async () => {
  const { body } = await api.get(`${VOLUMES}?fields=name,svm.name&${mine}`)
  for (const record of recordsOf(body)) assert.deepEqual(namesOf(record), ['name', 'svm'])
  for (const record of recordsOf(body)) assert.deepEqual(namesOf(record['svm']), ['name'])
})

test('4.1 fields: the uuid is returned only when asked for', async () => {
  assert.equal(recordsOf((await api.get(`${VOLUMES}?fields=name`)).body)[0]?.['uuid'], undefined)
  assert.equal((await api.get(`${one.data.path}?fields=name`)).body['uuid'], undefined)
  assert.equal((await api.get(`${one.data.path}?fields=uuid`)).body['uuid'], one.data.uuid)
})

test('4.1 fields: a dotted name, a group and an unknown one', async () => {
  assert.deepEqual(namesOf((await api.get(`${one.data.path}?fields=space.available`)).body['space']), ['available'])
  assert.ok(namesOf((await api.get(`${one.data.path}?fields=space`)).body['space']).length > 3)
  assert.equal((await api.get(`${one.data.path}?fields=nothing`)).status, 400)
})

test('4.1 filters: any property, dot paths, and on the server', async () => {
  const found = async (filter: string) =>
    values((await api.get(`${VOLUMES}?${mine}&fields=name&${filter}`)).body, 'name')
  assert.deepEqual(await found(`name=${volumes[0]}`), [volumes[0]])
  assert.deepEqual(await found('name=nobody'), [])
  assert.equal((await found('state=online')).length, sizes.length)
  assert.equal((await found('state=!online')).length, 0)
  assert.deepEqual((await found('size=>100m')).length, sizes.filter((size) => size * 20 > 100).length)
  assert.deepEqual((await found('size=60m..140m')).length, 3)
  assert.equal((await found('name=vol*')).length, sizes.length)
  assert.equal((await found(`name=${volumes[0]}|${volumes[1]}`)).length, 2)
  assert.equal((await found('aggregates.name=aggr1')).length, sizes.length)
  assert.equal((await found('space.used=0&guarantee.type=none')).length, sizes.length)
})

test('4.1 filters: two at once both hold, and one is not shown because it was filtered by', async () => {
  const { body } = await api.get(`${VOLUMES}?${mine}&name=${volumes[2]}&fields=name`)
  assert.deepEqual(namesOf(recordsOf(body)[0]), ['name'])
})

test('4.1 order_by sorts, either way', async () => {
  const by = async (order: string) =>
    values((await api.get(`${VOLUMES}?${mine}&fields=size&order_by=${order}`)).body, 'size').map(
      (size) => Number(size) / 20 / 2 ** 20,
    )
  assert.deepEqual(await by('size'), [1, 3, 5, 7, 9])
  assert.deepEqual(await by('size%20desc'), [9, 7, 5, 3, 1])
  assert.deepEqual(await by('size+desc'), [9, 7, 5, 3, 1])
  assert.equal((await api.get(`${VOLUMES}?order_by=nothing`)).status, 400)
})

for (const limit of ['limit', 'max_records']) {
  test(`4.1 ${limit}: a page of so many, and _links.next leads to the rest`, async () => {
    const seen: unknown[] = []
    let target: string | undefined = `${VOLUMES}?${mine}&fields=name&order_by=size&${limit}=2`
    const pages = []
    while (target !== undefined) {
      const { body }: { body: Body } = await api.get(target)
      pages.push(recordsOf(body).length)
      seen.push(...values(body, 'name'))
      const next = body['_links']?.['next']?.['href'] as unknown
      target = typeof next === 'string' ? next : undefined
    }
    assert.deepEqual(pages, [2, 2, 1])
    assert.deepEqual(
      seen,
      [3, 1, 0, 4, 2].map((at) => volumes[at]),
    )
  })
}

test('4.1 paging by offset', async () => {
  const { body } = await api.get(`${VOLUMES}?${mine}&fields=name&order_by=size&limit=2&offset=3`)
  assert.deepEqual(values(body, 'name'), [volumes[4], volumes[2]])
})

test('4.1 pages neither repeat nor miss a record while others come and go', async () => {
  const own = await made.svm()
  const names: string[] = []
  for (let at = 0; at < 6; at++) names.push((await made.volume(own.name, { name: `v${at}${fresh('x')}` })).name)
  const first = (await api.get(`${VOLUMES}?svm.name=${own.name}&fields=name&limit=3`)).body
  assert.equal((await api.call('DELETE', `${VOLUMES}/${await uuidOf(api, VOLUMES, names[0] ?? '')}`)).status, 200)
  await made.volume(own.name, { name: fresh('a_new') })
  const second = (await api.get(asText(first['_links']?.['next']?.['href']))).body
  assert.deepEqual([...values(first, 'name'), ...values(second, 'name')], names)
})

test('4.1 page sizes and offsets that are no numbers are 400', async () => {
  for (const query of [
    'limit=x',
    'limit=0',
    'limit=-1',
    'max_records=1.5',
    'offset=-1',
    'offset=x',
    'limit=99999999',
    'start=x',
    'start=e30',
  ]) {
    assert.equal((await api.get(`${VOLUMES}?${query}`)).status, 400, query)
  }
})

test('4.1 return_records: false omits what was made', async () => {
  const create = async (query: string) => {
    const name = fresh('svm')
    const reply = await api.call('POST', `/api/svm/svms?${query}`, { name })
    assert.equal(reply.status, 201, reply.text)
    await api.call('DELETE', `/api/svm/svms/${await uuidOf(api, '/api/svm/svms', name)}`)
    return reply.body
  }
  assert.equal((await create('return_records=false'))['records'], undefined)
  assert.equal(recordsOf(await create('return_records=true')).length, 1)
  assert.equal((await api.get('/api/svm/svms?return_records=maybe')).status, 400)
})

test('4.1 return_timeout: 0 returns at once with the job; without it, the write waits for it', async () => {
  const at = await api.call('PATCH', `${one.data.path}?return_timeout=0`, { comment: 'a' })
  assert.equal(at.status, 202)
  assert.match(at.headers['location'] ?? '', /^\/api\/cluster\/jobs\//)
  assert.match(asText(at.body['job']?.['uuid']), /^[0-9a-f-]{36}$/)
  await ended(api, at.headers['location'] ?? '')
  assert.equal((await api.call('PATCH', one.data.path, { comment: 'b' })).status, 200)
  for (const seconds of ['-1', '121', 'x', '1.5']) {
    assert.equal(
      (await api.call('PATCH', `${one.data.path}?return_timeout=${seconds}`, { comment: 'c' })).status,
      400,
      seconds,
    )
  }
})

test('4.2 a write that takes time is 202 with a Location of the shape /api/cluster/jobs/<uuid>: create, resize, delete', async () => {
  const name = fresh('vol')
  const created = await api.call('POST', `${VOLUMES}?return_timeout=0`, {
    name,
    svm: { name: svm.name },
    size: '64m',
    guarantee: { type: 'none' },
  })
  assert.equal(created.status, 202)
  assert.equal((await ended(api, created.headers['location'] ?? ''))['state'], 'success')
  const path = `${VOLUMES}/${await uuidOf(api, VOLUMES, name)}`
  for (const [method, body] of [
    ['PATCH', { size: '65m' }],
    ['DELETE', undefined],
  ] as const) {
    const reply = await api.call(method, `${path}?return_timeout=0`, body)
    assert.equal(reply.status, 202, method)
    assert.match(reply.headers['location'] ?? '', /^\/api\/cluster\/jobs\/[0-9a-f-]{36}$/)
    assert.equal((await ended(api, reply.headers['location'] ?? ''))['state'], 'success')
  }
  assert.equal((await api.get(path)).status, 404)
})

test('4.3 GET /api/cluster and /api/cluster/version', async () => {
  assert.deepEqual(namesOf((await api.get('/api/cluster?fields=name')).body), ['name'])
  assert.deepEqual(namesOf((await api.get('/api/cluster/version')).body['version']), [
    'full',
    'generation',
    'major',
    'minor',
  ])
})

test('4.3 GET /api/svm/svms: fields, filters, paging', async () => {
  const { body } = await api.get(`/api/svm/svms?fields=name&name=${svm.name}&max_records=1`)
  assert.deepEqual(values(body, 'name'), [svm.name])
})

test('4.3 GET /api/storage/volumes: the fields of the table are accepted', async () => {
  const { body, status } = await api.get(`${VOLUMES}?fields=name,svm,space,metric,size,state,space.available&${mine}`)
  assert.equal(status, 200)
  assert.deepEqual(namesOf(recordsOf(body)[0]), ['metric', 'name', 'size', 'space', 'state', 'svm'])
  for (const figure of ['iops', 'latency', 'throughput'])
    assert.ok(Number.isSafeInteger(recordsOf(body)[0]?.['metric']?.[figure]?.['total']))
})

test('4.3 POST /api/storage/volumes with every property shown', async () => {
  const name = fresh('vol')
  const body = {
    name,
    svm: { name: svm.name },
    aggregates: [{ name: 'aggr1' }],
    size: '32m',
    type: 'rw',
    guarantee: { type: 'volume' },
    snapshot_policy: { name: 'default' },
  }
  const reply = await api.call('POST', `${VOLUMES}?return_records=true&return_timeout=20`, body)
  assert.equal(reply.status, 201, reply.text)
  assert.equal(recordsOf(reply.body)[0]?.['name'], name)
  await api.call('DELETE', `${VOLUMES}/${asText(recordsOf(reply.body)[0]?.['uuid'])}`)
})

test('4.3 PATCH /api/storage/volumes/{uuid}: grow, and not below what it holds', async () => {
  const volume = await made.volume(svm.name)
  assert.equal((await api.call('PATCH', volume.path, { size: '2g' })).status, 200)
  assert.equal((await api.get(`${volume.path}?fields=size`)).body['size'], 2 * GB)
  assert.equal((await api.call('PATCH', volume.path, { size: 5 })).status, 422)
})

test('4.3 DELETE /api/storage/volumes/{uuid}: gone afterwards', async () => {
  const { path } = await made.volume(svm.name)
  assert.equal((await api.call('DELETE', path)).status, 200)
  assert.equal((await api.get(path)).status, 404)
  assert.equal((await api.call('DELETE', path)).status, 404)
})

test('4.3 snapshots: list, create, delete by name and by uuid', async () => {
  const snapshots = `${one.data.path}/snapshots`
  assert.deepEqual(recordsOf((await api.get(snapshots)).body), [])
  for (const name of ['one', 'two']) assert.equal((await api.call('POST', snapshots, { name })).status, 201)
  assert.equal((await api.call('POST', snapshots, { name: 'one' })).status, 409)
  assert.deepEqual(values((await api.get(`${snapshots}?fields=name,create_time,size`)).body, 'name'), ['one', 'two'])
  const uuid = await uuidOf(api, snapshots, 'two')
  const gone = await api.call('DELETE', `${snapshots}/one`)
  assert.equal(gone.status, 200)
  assert.equal((await api.call('DELETE', `${snapshots}/${uuid}`)).status, 200)
  assert.deepEqual(recordsOf((await api.get(snapshots)).body), [])
  assert.equal((await api.call('DELETE', `${snapshots}/one`)).status, 404)
})

test('4.3 GET /api/storage/aggregates: fields and order_by', async () => {
  const { body } = await api.get(
    '/api/storage/aggregates?fields=name,space&order_by=space.block_storage.available%20desc',
  )
  assert.deepEqual(namesOf(recordsOf(body)[0]), ['name', 'space'])
})

test('4.3 GET /api/cluster/jobs and /api/cluster/jobs/{uuid}', async () => {
  const { body } = await api.get('/api/cluster/jobs?fields=uuid,name,state&state=success&max_records=2')
  assert.equal(recordsOf(body).length, 2)
  const job = (await api.get(`/api/cluster/jobs/${asText(recordsOf(body)[0]?.['uuid'])}`)).body
  for (const field of ['name', 'state', 'message', 'code', 'elapsed_time'])
    assert.notEqual(job[field], undefined, field)
})

test('4.3 GET /api/network/interfaces: fields and filters', async () => {
  assert.equal((await api.get('/api/network/interfaces?fields=name,ip.address&svm.name=*')).status, 200)
  assert.equal((await api.get('/api/network/ip/interfaces?fields=name')).status, 200)
})

test('4.3 GET /api/cluster/counter/tables: paged with _links.next', async () => {
  const { body } = await api.get('/api/cluster/counter/tables?fields=name&limit=1')
  const next = await api.get(asText(body['_links']?.['next']?.['href']))
  assert.equal(next.status, 200)
  assert.notEqual(values(next.body, 'name')[0], values(body, 'name')[0])
})

test('4.3 PUT object-store/servers: makes one; the same again is the same, another of that name a conflict', async () => {
  const again = await api.call('PUT', one.servers, one.body)
  assert.equal(again.status, 200, again.text)
  assert.equal(
    (await api.call('PUT', one.servers, { ...one.body, bucket_endpoint_style: 'virtual_hosted_style' })).status,
    409,
  )
  const { body } = await api.get(`${one.servers}?fields=uuid,name`)
  assert.deepEqual(values(body, 'uuid'), [one.server.uuid])
})

test('4.3 POST buckets: makes one of the size asked for', async () => {
  const name = fresh('bucket').replaceAll('_', '-')
  const reply = await api.call('POST', `${one.buckets}?return_records=true`, {
    name,
    volume: { name: one.data.name },
    size: 2 * GB,
  })
  assert.equal(reply.status, 201, reply.text)
  const record = recordsOf(reply.body)[0]
  assert.equal(record?.['size'], 2 * GB)
  assert.equal((await api.call('POST', one.buckets, { name, volume: { name: one.data.name } })).status, 409)
  const path = `${one.buckets}/${asText(record['uuid'])}`
  assert.equal((await api.call('PATCH', path, { size: 3 * GB })).status, 200)
  assert.equal((await api.call('DELETE', path)).status, 200)
})

test('4.4 the API browser is at both stated paths, with the OpenAPI document', async () => {
  for (const path of ['/docs/swagger-ui/index.html', '/docs/api']) {
    const reply = await api.as(undefined).get(path)
    assert.equal(reply.status, 200, path)
    assert.match(reply.text, /swagger/i)
  }
  const document = (await api.as(undefined).get('/docs/api/openapi.json')).body
  assert.match(asText(document['openapi']), /^3\.1/)
  assert.ok(Object.keys(document['paths'] ?? {}).length > 20)
})

test('the native dialect: keys and what is filtered by in every record, only those by default, 202 at once, Location of the object', async () => {
  const { body } = await api.get(`${VOLUMES}?${mine}`, NATIVE)
  assert.deepEqual(namesOf(recordsOf(body)[0]), ['name', 'svm', 'uuid'])
  assert.deepEqual(namesOf(recordsOf((await api.get(`${VOLUMES}?${mine}&fields=size`, NATIVE)).body)[0]), [
    'name',
    'size',
    'svm',
    'uuid',
  ])
  const reply = await api.call(
    'POST',
    VOLUMES,
    { name: fresh('vol'), svm: { name: svm.name }, size: '32m', guarantee: { type: 'none' } },
    NATIVE,
  )
  assert.equal(reply.status, 202)
  assert.match(reply.headers['location'] ?? '', /^\/api\/storage\/volumes\/[0-9a-f-]{36}$/)
  const job = asText(reply.body['job']?.['uuid'])
  assert.equal((await ended(api, `/api/cluster/jobs/${job}`))['state'], 'success')
  await api.call('DELETE', reply.headers['location'] ?? '')
})

test('8 bucket size: 10 TB by default, 100 TB at most, and it shrinks down to what it holds', async () => {
  const create = (size?: number) =>
    api.call('POST', `${one.buckets}?return_records=true`, {
      name: fresh('b').replaceAll('_', '-'),
      volume: { name: one.data.name },
      ...(size === undefined ? {} : { size }),
    })
  const byDefault = await create()
  assert.equal(recordsOf(byDefault.body)[0]?.['size'], 10 * TB)
  const path = `${one.buckets}/${asText(recordsOf(byDefault.body)[0]?.['uuid'])}`
  assert.equal((await api.call('PATCH', path, { size: 100 * TB })).status, 200)
  assert.equal((await api.call('PATCH', path, { size: 100 * TB + 1 })).status, 422)
  assert.equal((await api.call('PATCH', path, { size: 1 })).status, 200)
  assert.equal((await create(100 * TB + 1)).status, 422)
  assert.equal((await api.call('DELETE', path)).status, 200)
})

test('8 collections are paged, with 50 records by default', async () => {
  const own = await made.svm()
  await Promise.all(Array.from({ length: 51 }, () => made.volume(own.name)))
  const { body } = await api.get(`${VOLUMES}?svm.name=${own.name}`)
  assert.equal(asNumber(body['num_records']), 50)
  const rest = await api.get(asText(body['_links']?.['next']?.['href']))
  assert.equal(asNumber(rest.body['num_records']), 1)
  assert.equal(rest.body['_links']?.['next'], undefined)
})

test('8 the bucket endpoint style is chosen once', async () => {
  assert.equal(
    (await api.call('PATCH', one.server.path, { bucket_endpoint_style: 'virtual_hosted_style' })).status,
    422,
  )
})

test('8 several object store servers in one SVM, from 9.11 on', async () => {
  const root = await made.volume(one.svm.name)
  const second = await made.record(
    one.servers,
    { name: fresh('s').replaceAll('_', '-'), root_volume: { name: root.name }, data_volumes: [] },
    'PUT',
  )
  assert.equal(recordsOf((await api.get(one.servers)).body).length, 2)
  assert.equal((await api.get(second.path)).status, 200)
})

test('9.1 the only prefix is /api/: /api/v1/ is 404', async () => {
  for (const path of ['/api/v1/cluster', '/api/v1/', '/v1/api/cluster', '/api/latest/cluster', '/cluster'])
    assert.equal((await api.get(path)).status, 404, path)
})

test('9.3 the version can be read at both places, and is the same', async () => {
  const [cluster, version] = [await api.get('/api/cluster?fields=version'), await api.get('/api/cluster/version')]
  assert.deepEqual(cluster.body['version'], version.body['version'])
})
