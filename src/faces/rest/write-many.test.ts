/** PATCH and DELETE of all records that a query chooses. */
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { asList, asText, recordsOf } from '../../../test/support/body.ts'
import { NATIVE, startThings, THINGS } from './test-things.ts'
import { wireCode } from '../../../test/support/codes.ts'

const cluster = await startThings()
after(() => cluster.close())

const VOLUMES = '/api/storage/volumes'
const NAMES = ['a1', 'a2', 'a3', 'b1', 'b2']

beforeEach(async () => {
  await cluster.call('DELETE', `${THINGS}?name=*`, undefined, NATIVE)
  for (const [at, name] of NAMES.entries()) await cluster.call('POST', THINGS, { name, size: at }, NATIVE)
})

const call = (method: string, target: string, body?: unknown) => cluster.call(method, target, body, NATIVE)
const namesWith = async (query: string) =>
  recordsOf((await call('GET', `${THINGS}?${query}`)).body).map((record) => asText(record['name']))

test('a change by query is made to each record that it chooses, and to no other', async () => {
  const { status, body } = await call('PATCH', `${THINGS}?name=a*&size=>0`, { comment: 'x', 'space.used': '1k' })
  assert.equal(status, 200)
  assert.deepEqual([body['num_records'], body['jobs']], [2, undefined])
  assert.deepEqual(await namesWith('comment=x&space.used=1024'), ['a2', 'a3'])
})

test('a delete by query takes each record that it chooses, and shows their keys when it is asked to', async () => {
  const { status, body } = await call('DELETE', `${THINGS}?name=b*&return_records=true`)
  assert.deepEqual([status, body['num_records']], [200, 2])
  assert.deepEqual(
    recordsOf(body).map((record) => [asText(record['name']), asText(record['uuid']).length]),
    [
      ['b1', 36],
      ['b2', 36],
    ],
  )
  assert.deepEqual(await namesWith(''), ['a1', 'a2', 'a3'])
})

test('without a field in the query nothing is changed or deleted', async () => {
  for (const query of ['', '?return_timeout=0', '?max_records=1', '?order_by=name', '?continue_on_failure=true']) {
    for (const [method, sent] of [
      ['DELETE', undefined],
      ['DELETE', {}],
      ['PATCH', { comment: 'x' }],
    ] as const) {
      const { status, body } = await call(method, `${THINGS}${query}`, sent)
      assert.deepEqual([status, body['error']?.['code']], [400, wireCode('writeWithoutFilter')], `${method} ${query}`)
    }
  }
  for (const query of ['nothing=1', 'name=a*&offset=1', 'name=a*&fields=name', 'size=large']) {
    assert.equal((await call('DELETE', `${THINGS}?${query}`)).status, 400, query)
  }
  const { status } = await cluster.call('DELETE', THINGS, undefined, {
    headers: { ...NATIVE.headers, 'x-dot-svm-name': 'svm1' },
  })
  assert.equal(status, 400)
  assert.deepEqual(await namesWith(''), NAMES)
})

test('a query that chooses nothing does nothing, and says so', async () => {
  const { status, body } = await call('DELETE', `${THINGS}?name=nobody`)
  assert.deepEqual([status, body['num_records'], body['jobs']], [200, 0, undefined])
})

test('a change that names no field changes nothing, and says so of what the query chooses', async () => {
  const { status, body } = await call('PATCH', `${THINGS}?name=a*`, {})
  assert.deepEqual([status, body['num_records'], body['jobs']], [200, 3, undefined])
})

test('a change that names a wrong field is refused before any record is looked at', async () => {
  assert.equal((await call('PATCH', `${THINGS}?name=a*`, { nothing: 1 })).status, 400)
  assert.equal((await call('PATCH', `${THINGS}?name=a*`, { size: 'large' })).body['error']?.['target'], 'size')
})

test('so many records are changed at once as is said, and the next link leads to the others', async () => {
  const seen: string[][] = []
  let target: string | undefined = `${THINGS}?name=*&order_by=size desc&max_records=2&return_records=true`
  while (target !== undefined) {
    const { status, body } = await call('PATCH', target.replaceAll(' ', '%20'), { comment: 'walked' })
    assert.equal(status, 200, JSON.stringify(body))
    seen.push(recordsOf(body).map((record) => asText(record['name'])))
    const next: unknown = body['_links']?.['next']?.['href']
    target = typeof next === 'string' ? next : undefined
  }
  assert.deepEqual(seen, [['b2', 'b1'], ['a3', 'a2'], ['a1']])
  assert.deepEqual(await namesWith('comment=walked'), NAMES)
})

async function makeVolumes(names: readonly string[]): Promise<void> {
  for (const name of names) {
    const made = await call('POST', `${VOLUMES}?return_timeout=30`, { name, 'svm.name': 'svm1', size: '20m' })
    assert.equal(made.status, 201, JSON.stringify(made.body))
  }
}

test('what is a job gives a list of jobs: without time to wait 202, with time 200', async () => {
  await makeVolumes(['j1', 'j2', 'j3'])
  const at = await call('PATCH', `${VOLUMES}?name=j*&return_timeout=0`, { comment: 'x' })
  assert.deepEqual([at.status, at.body['num_records']], [202, 3])
  const jobs = asList(at.body['jobs']).map((job) => asText(job['uuid']))
  assert.equal(jobs.length, 3)
  for (const uuid of jobs) assert.equal((await cluster.jobs.wait(uuid, 30_000))['state'], 'success')
  const waited = await call('PATCH', `${VOLUMES}?name=j1`, { comment: 'y' })
  assert.deepEqual([waited.status, asList(waited.body['jobs']).length], [200, 1])
  for (const serial of ['false', 'true']) {
    const { status, body } = await call('PATCH', `${VOLUMES}?name=j*&serial_records=${serial}&return_timeout=30`, {
      comment: serial,
    })
    assert.deepEqual([status, body['num_records']], [200, 3])
  }
  const gone = await call('DELETE', `${VOLUMES}?name=j*&svm.name=svm1&force=true&return_timeout=30`)
  assert.deepEqual([gone.status, gone.body['num_records']], [200, 3], JSON.stringify(gone.body))
})

test('one after the other stops where time is over, and the next link goes on', async () => {
  await makeVolumes(['k1', 'k2'])
  const first = await call('PATCH', `${VOLUMES}?name=k*&serial_records=true&return_timeout=0`, { comment: 'x' })
  assert.deepEqual([first.status, first.body['num_records']], [202, 1])
  const second = await call('PATCH', asText(first.body['_links']?.['next']?.['href']), { comment: 'x' })
  assert.deepEqual([second.status, second.body['num_records'], second.body['_links']?.['next']], [202, 1, undefined])
})

test('the first failure ends it and is the answer, beside what was done; or it goes on and lists the failures', async () => {
  await makeVolumes(['m1', 'm2', 'm3'])
  const m2 = await cluster.uuidOf(VOLUMES, 'm2')
  // A volume of which somebody holds a clone cannot go.
  const clone = { name: 'child', 'svm.name': 'svm1', 'clone.is_flexclone': true, 'clone.parent_volume.name': 'm2' }
  assert.equal((await call('POST', `${VOLUMES}?return_timeout=30`, clone)).status, 201)
  const { status, body } = await call('DELETE', `${VOLUMES}?name=m*&force=true&serial_records=true&return_timeout=30`)
  assert.equal(status, 409, JSON.stringify(body))
  assert.ok(asText(body['error']?.['message']))
  assert.equal(body['num_records'], 1)
  assert.ok(asText(body['_links']?.['next']?.['href']))
  const left = async () => recordsOf((await call('GET', `${VOLUMES}?name=m*`)).body).map(({ name }) => asText(name))
  assert.deepEqual(await left(), ['m2', 'm3'])
  const all = await call('DELETE', `${VOLUMES}?name=m*&force=true&continue_on_failure=true&return_timeout=30`)
  assert.deepEqual([all.status, all.body['num_records'], asList(all.body['errors']).length], [200, 1, 1])
  assert.deepEqual(await left(), ['m2'])
  assert.ok(m2)
})

test('more jobs than run at once are done all the same', async () => {
  const records = Array.from({ length: 130 }, (_, at) => ({ name: `r${at}`, 'svm.name': 'svm1', size: '1m' }))
  const made = await call('POST', `${VOLUMES}?return_timeout=120`, { records })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const { status, body } = await call('DELETE', `${VOLUMES}?name=r*&force=true&return_timeout=120`)
  assert.deepEqual([status, body['num_records'], asList(body['jobs']).length], [200, 130, 130])
  assert.equal((await call('GET', `${VOLUMES}?name=r*&return_records=false`)).body['num_records'], 0)
})

test('in the name of an SVM only what is its own is changed', async () => {
  assert.equal((await call('POST', '/api/svm/svms?return_timeout=30', { name: 'other' })).status, 201)
  await makeVolumes(['n1'])
  const own = { headers: { ...NATIVE.headers, 'x-dot-svm-name': 'other' } }
  const { body } = await cluster.call('DELETE', `${VOLUMES}?name=n*`, undefined, own)
  assert.equal(body['num_records'], 0)
  assert.equal((await call('GET', `${VOLUMES}?name=n1`)).body['num_records'], 1)
})

test('each record that is changed is in the audit trail by its own path', async () => {
  await call('DELETE', `${THINGS}?name=a*`)
  const { body } = await call(
    'GET',
    '/api/security/audit/messages?fields=input,state&order_by=timestamp%20desc&max_records=20',
  )
  const inputs = recordsOf(body).map((record) => asText(record['input']))
  assert.equal(
    inputs.filter((input) => /^DELETE \/api\/test\/things\/[0-9a-f-]{36}$/.test(input)).length >= 3,
    true,
    inputs.join(),
  )
})
