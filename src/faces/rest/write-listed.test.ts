/** POST, PATCH and DELETE of records that a body lists. */
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { BULK_RECORDS_MAX } from '../../core/jobs/bulk.ts'
import { JOBS } from '../../core/jobs/jobs.ts'
import { textAt } from '../../model/value.ts'
import type { Catalog } from '../../ports/catalog.ts'
import { asList, asText, recordsOf, type Body } from '../../../test/support/body.ts'
import { NATIVE, startThings, THINGS } from './test-things.ts'

const VOLUMES = '/api/storage/volumes'
const cluster = await startThings()
after(() => cluster.close())
beforeEach(async () => {
  await cluster.call('DELETE', `${THINGS}?name=*`, undefined, NATIVE)
})

const call = (method: string, target: string, body?: unknown) => cluster.call(method, target, body, NATIVE)
const names = async (query = '') =>
  recordsOf((await call('GET', `${THINGS}?${query}`)).body).map((record) => asText(record['name']))
const uuid = (name: string) => cluster.uuidOf(THINGS, name)

/** The answer, the job when it has ended, and what became of the records. */
async function bulk(method: string, records: readonly unknown[], query = '', collection = THINGS) {
  const reply = await call(method, `${collection}${query === '' ? '' : `?${query}`}`, { records })
  assert.equal(reply.status, 202, JSON.stringify(reply.body))
  const job = reply.body['job'] as Body
  assert.equal(Object.keys(reply.body).join(), 'job')
  const results = asText(job['_links']?.['results']?.['href'])
  assert.equal(results, `${collection}?job_results_uuid=${asText(job['uuid'])}`)
  assert.equal(reply.headers['location'], results)
  await cluster.jobs.wait(asText(job['uuid']), 30_000)
  const ended = (await call('GET', asText(job['_links']?.['self']?.['href']))).body
  return { state: asText(ended['state']), ended, results: (await call('GET', results)).body }
}

test('records of one body are made by one job, whose results name them', async () => {
  const { state, results } = await bulk('POST', [
    { name: 'a', size: '1k' },
    { name: 'b', 'space.used': 5 },
  ])
  assert.equal(state, 'success')
  assert.equal(results['num_records'], 2)
  assert.deepEqual(
    recordsOf(results).map((record) => [asText(record['name']), asText(record['uuid'])]),
    [
      ['a', await uuid('a')],
      ['b', await uuid('b')],
    ],
  )
  assert.deepEqual(await names('size=1024|null'), ['a', 'b'])
})

test('records are changed and deleted by their keys', async () => {
  await bulk('POST', [{ name: 'a' }, { name: 'b' }, { name: 'c' }])
  const changed = await bulk('PATCH', [
    { uuid: await uuid('a'), comment: 'x' },
    { uuid: await uuid('b'), comment: 'y', size: 7 },
  ])
  assert.deepEqual([changed.state, changed.results['num_records']], ['success', 2])
  assert.deepEqual(await names('comment=x|y'), ['a', 'b'])
  const deleted = await bulk('DELETE', [{ uuid: await uuid('a') }, { uuid: await uuid('c') }])
  assert.deepEqual([deleted.state, deleted.results['num_records']], ['success', 2])
  assert.deepEqual(await names(), ['b'])
})

test('where one cannot be made, those before it are taken back, and the job says why', async () => {
  const one = { name: 'v', 'svm.name': 'svm1', size: '20m' }
  const { state, ended, results } = await bulk(
    'POST',
    [
      { ...one, name: 'v1' },
      { ...one, name: 'v2' },
      { ...one, name: 'v1' },
      { ...one, name: 'v3' },
    ],
    'serial_records=true',
    VOLUMES,
  )
  assert.equal(state, 'failure')
  assert.match(asText(ended['message']), /duplicate entry/)
  assert.deepEqual(
    [results['num_records'], asList(results['errors']).length, results['rollback_errors']],
    [0, 1, undefined],
  )
  assert.equal((await call('GET', `${VOLUMES}?name=v1|v2|v3`)).body['num_records'], 0)
})

test('with continue_on_failure the others are made, and the failures listed', async () => {
  const one = { name: 'v', 'svm.name': 'svm1', size: '20m' }
  const records = [
    { ...one, name: 'w1' },
    { ...one, name: 'w1' },
    { ...one, name: 'w2' },
  ]
  const { state, results } = await bulk('POST', records, 'continue_on_failure=true', VOLUMES)
  assert.equal(state, 'success')
  assert.equal(results['num_records'], 2)
  assert.deepEqual(
    recordsOf(results).map((record) => asText(record['name'])),
    ['w1', 'w2'],
  )
  assert.match(asText(asList(results['errors'])[0]?.['message']), /duplicate entry/)
})

test('where one cannot be changed, the others are as they were', async () => {
  await bulk('POST', [{ name: 'a', comment: 'old', owner: 'svm1', size: 5 }, { name: 'b' }])
  const nobody = '00000000-0000-4000-8000-000000000000'
  const { state, results } = await bulk('PATCH', [
    { uuid: await uuid('a'), comment: 'new', size: 6, owner: '', period: 'PT1H' },
    { uuid: nobody, comment: 'new' },
    { uuid: await uuid('b'), comment: 'new' },
  ])
  assert.equal(state, 'failure')
  assert.deepEqual([results['num_records'], results['rollback_errors']], [0, undefined])
  const { body } = await call('GET', `${THINGS}?name=a|b&fields=comment,size,owner.name,period`)
  const [a, b] = recordsOf(body)
  assert.deepEqual([a?.['comment'], a?.['size'], a?.['owner']?.['name'], a?.['period']], ['old', 5, 'svm1', undefined])
  assert.equal(b?.['comment'], undefined)
})

test('what was deleted stays deleted when a later one fails', async () => {
  await bulk('POST', [{ name: 'a' }, { name: 'b' }])
  const { state, results } = await bulk('DELETE', [
    { uuid: await uuid('a') },
    { uuid: 'nobody' },
    { uuid: await uuid('b') },
  ])
  assert.equal(state, 'failure')
  assert.equal(results['num_records'], 1)
  assert.deepEqual(await names(), ['b'])
})

test('a record that cannot be understood is refused with its place, before anything is done', async () => {
  for (const [method, records, target] of [
    ['POST', [{ name: 'a' }, { name: 'b', size: 'large' }], 'records[1].size'],
    ['POST', [{ name: 'a' }, 'b'], 'records[1]'],
    ['PATCH', [{ comment: 'x' }], 'records[0].uuid'],
    ['PATCH', [{ uuid: 'x', nothing: 1 }], 'records[0].nothing'],
    ['DELETE', [{ uuid: 'x', comment: 'y' }], 'records[0].comment'],
    ['DELETE', [{ name: 'a' }], 'records[0].uuid'],
    ['POST', [], 'records'],
    ['POST', Array.from({ length: BULK_RECORDS_MAX + 1 }, (_, at) => ({ name: `n${at}` })), 'records'],
  ] as const) {
    const { status, body } = await call(method, THINGS, { records })
    assert.deepEqual([status, body['error']?.['target']], [400, target])
  }
  assert.equal((await call('POST', THINGS, { records: [{ name: 'a' }], name: 'b' })).status, 400)
  assert.equal((await call('DELETE', `${THINGS}?name=a`, { records: [{ uuid: 'x' }] })).status, 400)
  assert.deepEqual(await names(), [])
})

test('what is shown once is not made many at a time', async () => {
  const svm = await cluster.uuidOf('/api/svm/svms', 'svm1')
  const { status } = await call('POST', `/api/protocols/s3/services/${svm}/users`, { records: [{ name: 'u1' }] })
  assert.equal(status, 400)
})

test('results are those of a bulk job of the collection', async () => {
  const { body } = await call('POST', VOLUMES, { name: 'plain', 'svm.name': 'svm1', size: '20m' })
  await cluster.jobs.wait(asText(body['job']?.['uuid']), 30_000)
  for (const job of [asText(body['job']?.['uuid']), 'nobody']) {
    assert.equal((await call('GET', `${VOLUMES}?job_results_uuid=${job}`)).status, 404)
  }
})

test('a bulk job that a restart interrupts takes back what it had made and what was under way', async () => {
  const one = { name: 'v', 'svm.name': 'svm1', size: '20m' }
  const first = cluster.cluster.behaviour('storage/volumes').create?.steps[0]?.name
  const { catalog, secrets } = cluster.cluster
  const second = Promise.withResolvers<void>()
  let begun = 0
  const reached = async (point: string) => {
    if (point !== `storage/volumes create: ${first}: before` || ++begun < 2) return
    second.resolve()
    // The process ends while the second volume is under way.
    await new Promise(() => undefined)
  }
  const ending = await startThings({ catalog, secrets, isUsed: true, hooks: { reached } })
  const records = ['r1', 'r2', 'r3'].map((name) => Object.assign({}, one, { name }))
  const reply = await ending.call('POST', `${VOLUMES}?serial_records=true`, { records }, NATIVE)
  const job = asText(reply.body['job']?.['uuid'])
  await second.promise
  assert.equal((await call('GET', `${VOLUMES}?name=r1`)).body['num_records'], 1)
  await ending.jobs.drain(0)
  ending.clock.stop()
  // The same catalog, and nothing in memory.
  const { jobs } = await startThings({ catalog, isUsed: true })
  await jobs.resume()
  const ended = await jobs.wait(job, 30_000)
  assert.equal(ended['state'], 'failure')
  assert.match(textAt(ended, 'message'), /started anew/)
  assert.equal((await call('GET', `${VOLUMES}?name=r*`)).body['num_records'], 0)
})

/** A catalog that is there until so many commits were done or, of the last one, only asked for; then it never answers. */
function mortal(catalog: Catalog, commits: number, isLastDone: boolean): { catalog: Catalog; died: Promise<void> } {
  const death = Promise.withResolvers<void>()
  let left = commits
  const commit: Catalog['commit'] = async (changes) => {
    left -= 1
    const outcomes = left > 0 || (left === 0 && isLastDone) ? await catalog.commit(changes) : []
    if (left > 0) return outcomes
    death.resolve()
    return new Promise(() => undefined)
  }
  const bound = (_: Catalog, name: keyof Catalog) => (name === 'commit' ? commit : catalog[name].bind(catalog))
  return { catalog: new Proxy(catalog, { get: bound as never }), died: death.promise }
}

test('a bulk job that a crash interrupts before or after any of its commits makes all or nothing', async () => {
  const { catalog, secrets } = cluster.cluster
  const forgetJobs = async () => {
    const records = await catalog.records(JOBS)
    await catalog.commit(records.map(({ key }) => ({ do: 'remove-record', type: JOBS, key })))
  }
  await forgetJobs()
  const made: string[][] = []
  for (const isLastDone of [false, true]) {
    for (let commits = 1, isOver = false; !isOver; commits++) {
      const dying = mortal(catalog, commits, isLastDone)
      const first = await startThings({ catalog: dying.catalog, isUsed: true, secrets })
      const run = async () => {
        const { body } = await first.call('POST', THINGS, { records: [{ name: 'a' }, { name: 'b' }] }, NATIVE)
        await first.jobs.wait(asText(body['job']?.['uuid']), 5000)
        return true
      }
      isOver = (await Promise.race([run(), dying.died])) === true
      first.clock.stop()
      const { jobs } = await startThings({ catalog, isUsed: true })
      await jobs.resume()
      await jobs.drain(30_000)
      const left = await names()
      const states = recordsOf((await call('GET', '/api/cluster/jobs?name=thing bulk*&fields=state')).body)
      const isDone = states.some((job) => asText(job['state']) === 'success')
      assert.deepEqual(left, isDone ? ['a', 'b'] : [], `${commits} commits, the last ${isLastDone ? 'done' : 'lost'}`)
      made.push(left)
      await call('DELETE', `${THINGS}?name=*`)
      await forgetJobs()
    }
  }
  assert.ok(made.filter((left) => left.length === 0).length > 10, `${made.length} crashes`)
})
