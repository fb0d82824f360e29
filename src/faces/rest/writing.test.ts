/** What writes answer, and in whose name they are. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { asList, asText, recordsOf } from '../../../test/support/body.ts'
import { NATIVE, startThings, THINGS } from './test-things.ts'
import { wireCode } from '../../../test/support/codes.ts'

const cluster = await startThings()
after(() => cluster.close())

const VOLUMES = '/api/storage/volumes'
const svm1 = await cluster.uuidOf('/api/svm/svms', 'svm1')
const made = await cluster.call('POST', '/api/svm/svms?return_timeout=30', { name: 'svm2' })
assert.equal(made.status, 201)
const svm2 = await cluster.uuidOf('/api/svm/svms', 'svm2')
const as = (headers: Readonly<Record<string, string>>) => ({ headers: { ...NATIVE.headers, ...headers } })

test('a create whose job has not run yet shows what it will make, when it is asked to, and where', async () => {
  const body = { name: 'early', 'svm.name': 'svm1', size: '20mb', aggregates: ['aggr1'], comment: 'x' }
  const reply = await cluster.call('POST', `${VOLUMES}?return_records=true`, body, NATIVE)
  assert.equal(reply.status, 202)
  const [record] = recordsOf(reply.body)
  const uuid = asText(record?.['uuid'])
  assert.equal(reply.body['num_records'], 1)
  assert.equal(record?.['name'], 'early')
  assert.equal(record['size'], 20 * 2 ** 20)
  assert.equal(record['svm']?.['uuid'], svm1)
  assert.equal(reply.headers['location'], `${VOLUMES}/${uuid}`)
  assert.match(asText(reply.body['job']?.['_links']?.['self']?.['href']), /^\/api\/cluster\/jobs\//)
  await cluster.jobs.wait(asText(reply.body['job']?.['uuid']), 30_000)
  assert.equal((await cluster.call('GET', `${VOLUMES}/${uuid}?fields=name`, undefined, NATIVE)).body['name'], 'early')
})

test('a create that shows nothing is an empty object, with the place of what it made', async () => {
  const reply = await cluster.call('POST', THINGS, { name: 'quiet' }, NATIVE)
  assert.equal(reply.status, 201)
  assert.deepEqual(reply.body, {})
  assert.match(reply.headers['location'] ?? '', /^\/api\/test\/things\/[0-9a-f-]{36}$/)
})

test('a change that changes nothing answers 200 and starts no job', async () => {
  const volume = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'vol1')}`
  for (const body of [{}, { svm: {} }, { svm: {}, space: { snapshot: {} } }]) {
    const reply = await cluster.call('PATCH', volume, body, NATIVE)
    assert.deepEqual([reply.status, reply.body], [200, {}], JSON.stringify(body))
  }
  assert.equal((await cluster.call('PATCH', '/api/cluster', {}, NATIVE)).status, 200)
  assert.equal((await cluster.call('PATCH', volume, { nothing: 1 }, NATIVE)).status, 400)
  assert.equal((await cluster.call('PATCH', `${VOLUMES}/none`, {}, NATIVE)).status, 404)
})

test('an array where one value is expected is refused as such', async () => {
  const { status, body } = await cluster.call('POST', THINGS, { name: 'x', size: [1, 2] }, NATIVE)
  assert.equal(status, 400)
  assert.deepEqual([body['error']?.['code'], body['error']?.['target']], [wireCode('fieldTakesOne'), 'size'])
})

test('plain JSON has no links but those of pages and jobs, HAL has them with everything that has a UUID', async () => {
  const body = { name: 'linked', owner: 'svm1', aggregates: 'aggr1' }
  await cluster.call('POST', THINGS, body, NATIVE)
  const get = (accept: string | undefined) =>
    cluster.call(
      'GET',
      `${THINGS}?fields=owner,aggregates.name&order_by=name&max_records=1`,
      undefined,
      as(accept === undefined ? {} : { accept }),
    )
  const json = await get('application/json')
  assert.equal(json.headers['content-type'], 'application/json')
  assert.deepEqual(Object.keys(json.body['_links'] ?? {}), ['next'])
  assert.equal(recordsOf(json.body)[0]?.['_links'], undefined)
  for (const accept of [undefined, '*/*']) {
    const [record] = recordsOf((await get(accept)).body)
    assert.match(asText(record?.['_links']?.['self']?.['href']), /^\/api\/test\/things\//)
    assert.equal(record?.['owner']?.['_links'], undefined)
  }
  const hal = await get('application/json, application/hal+json')
  assert.deepEqual(Object.keys(hal.body['_links'] ?? {}).toSorted(), ['next', 'self'])
  const [record] = recordsOf(hal.body)
  assert.deepEqual(record?.['owner'], {
    name: 'svm1',
    uuid: svm1,
    _links: { self: { href: `/api/svm/svms/${svm1}` } },
  })
  const [aggregate] = asList(record?.['aggregates'])
  const aggregates = '/api/storage/aggregates'
  const uuid = await cluster.uuidOf(aggregates, 'aggr1')
  assert.deepEqual(aggregate, { name: 'aggr1', _links: { self: { href: `${aggregates}/${uuid}` } } })
})

test('the link to the next page is a header too', async () => {
  const { headers, body } = await cluster.call('GET', `${VOLUMES}?max_records=1`, undefined, NATIVE)
  assert.equal(headers['link'], `<${asText(body['_links']?.['next']?.['href'])}>; rel="next"`)
})

test('in the name of an SVM only what is its own, or shared by all, is there', async () => {
  for (const headers of [
    { 'x-dot-svm-name': 'svm1' },
    { 'x-dot-svm-uuid': svm1 },
    { 'x-dot-svm-name': 'svm1', 'x-dot-svm-uuid': svm1 },
  ]) {
    const { body } = await cluster.call('GET', `${VOLUMES}?fields=svm.name`, undefined, as(headers))
    assert.ok(recordsOf(body).length > 0)
    assert.ok(recordsOf(body).every((record) => asText(record['svm']?.['name']) === 'svm1'))
  }
  const own = as({ 'x-dot-svm-name': 'svm2' })
  assert.equal((await cluster.call('GET', VOLUMES, undefined, own)).body['num_records'], 0)
  assert.equal((await cluster.call('GET', '/api/svm/svms', undefined, own)).body['num_records'], 1)
  assert.notEqual((await cluster.call('GET', '/api/storage/snapshot-policies', undefined, own)).body['num_records'], 0)
  const other = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'early')}`
  for (const method of ['GET', 'DELETE']) assert.equal((await cluster.call(method, other, undefined, own)).status, 404)
  assert.equal((await cluster.call('PATCH', other, { comment: 'y' }, own)).status, 404)
  assert.equal((await cluster.call('GET', '/api/cluster', undefined, own)).status, 200)
})

test('what is made in the name of an SVM is its own, and another cannot be said', async () => {
  const own = as({ 'x-dot-svm-name': 'svm2' })
  const body = { name: 'scoped', size: '20m' }
  assert.equal((await cluster.call('POST', `${VOLUMES}?return_timeout=30`, body, own)).status, 201)
  const { body: shown } = await cluster.call('GET', `${VOLUMES}?name=scoped&fields=svm`, undefined, NATIVE)
  assert.equal(recordsOf(shown)[0]?.['svm']?.['uuid'], svm2)
  for (const svm of [{ 'svm.name': 'svm1' }, { 'svm.uuid': svm1 }]) {
    const refused = await cluster.call('POST', VOLUMES, { ...body, name: 'other', ...svm }, own)
    assert.equal(refused.status, 400, JSON.stringify(refused.body))
    assert.equal(refused.body['error']?.['code'], '2621706')
  }
  const same = { ...body, name: 'same', 'svm.name': 'svm2' }
  assert.equal((await cluster.call('POST', `${VOLUMES}?return_timeout=30`, same, own)).status, 201)
})

test('an SVM that is not there, or two at once, are refused', async () => {
  for (const [headers, code] of [
    [{ 'x-dot-svm-name': 'nobody' }, wireCode('scopeSvmUnknown')],
    [{ 'x-dot-svm-uuid': 'nobody' }, wireCode('scopeSvmUnknown')],
    [{ 'x-dot-svm-name': 'svm1', 'x-dot-svm-uuid': svm2 }, '2621706'],
  ] as const) {
    const { status, body } = await cluster.call('GET', VOLUMES, undefined, as(headers))
    assert.deepEqual([status, body['error']?.['code']], [400, code])
  }
})

test('a reference is let go of by null, by null as its name, and by no name', async () => {
  for (const none of [{ owner: null }, { 'owner.name': null }, { owner: { name: null } }, { owner: '' }]) {
    const body = { name: 'owned', owner: 'svm1' }
    const { headers } = await cluster.call('POST', THINGS, body, NATIVE)
    const path = headers['location'] ?? ''
    const reply = await cluster.call('PATCH', path, none, NATIVE)
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    const shown = await cluster.call('GET', `${path}?fields=owner`, undefined, NATIVE)
    assert.equal(shown.body['owner'], undefined, JSON.stringify(none))
  }
})
