import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { textAt } from '../../model/value.ts'
import { asText, recordsOf } from '../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'
import { seed } from '../../core/seed/apply.ts'
import { codeOf } from '../../model/failure.ts'

const FAULTS = '/api/private/faults'

describe('faults on demand', () => {
  let test: TestCluster
  before(async () => {
    test = await startTestCluster()
  })
  afterEach(async () => {
    for (const { uuid } of recordsOf((await test.call('GET', `${FAULTS}?fields=uuid&max_records=1000`)).body)) {
      await test.call('DELETE', `${FAULTS}/${asText(uuid)}`)
    }
  })
  after(() => test.close())

  async function begin(fault: Readonly<Record<string, unknown>>): Promise<string> {
    const { status, body } = await test.call('POST', FAULTS, fault)
    assert.equal(status, 201, JSON.stringify(body))
    return asText(recordsOf(body)[0]?.['uuid'])
  }

  const statuses = async (count: number, target: string, method = 'GET') => {
    const found: number[] = []
    for (let at = 0; at < count; at++) found.push((await test.call(method, target)).status)
    return found
  }

  it('a request is answered with 429 and Retry-After the next two times, and then as ever', async () => {
    const uuid = await begin({
      type: 'error',
      method: 'GET',
      path: '/api/storage/volumes',
      status: 429,
      retry_after: 7,
      times: 2,
    })
    const first = await test.call('GET', '/api/storage//volumes/?fields=name')
    assert.equal(first.status, 429)
    assert.equal(first.headers['retry-after'], '7')
    assert.equal(first.headers['x-holdfast-fault'], uuid)
    assert.deepEqual(first.body, { error: { message: 'This is a fault on demand.', code: 262160 } })
    assert.deepEqual(await statuses(3, '/api/storage/volumes'), [429, 200, 200])
    const { body } = await test.call('GET', `${FAULTS}/${uuid}`)
    assert.deepEqual([body['hits'], body['remaining']], [2, 0])
  })

  it('only the method and the path that were said are hit; * ends at a slash, ** does not', async () => {
    await begin({ type: 'error', method: 'GET', path: '/api/storage/*', status: 500 })
    assert.deepEqual(await statuses(1, '/api/storage/volumes'), [500])
    assert.deepEqual(await statuses(1, '/api/storage/quota/rules'), [200])
    assert.deepEqual(await statuses(1, '/api/storage/volumes', 'OPTIONS'), [200])
    await begin({ type: 'error', path: '/api/storage/**', status: 502 })
    assert.deepEqual(await statuses(1, '/api/storage/quota/rules'), [502])
    assert.deepEqual(await statuses(1, '/api/cluster'), [200])
  })

  it('a fault for everything can be ended nevertheless', async () => {
    const uuid = await begin({ type: 'error' })
    assert.deepEqual(await statuses(1, '/api/cluster'), [503])
    assert.equal((await test.call('DELETE', `${FAULTS}/${uuid}`)).status, 200)
    assert.deepEqual(await statuses(1, '/api/cluster'), [200])
  })

  it('a rate hits that part of the requests, and the same ones for the same seed', async () => {
    const hits: string[] = []
    for (let run = 0; run < 2; run++) {
      const uuid = await begin({ type: 'error', path: '/api/cluster', rate: 30, seed: 7 })
      hits.push((await statuses(200, '/api/cluster')).join(' '))
      await test.call('DELETE', `${FAULTS}/${uuid}`)
    }
    assert.equal(hits[0], hits[1])
    const count = hits[0]?.split(' ').filter((status) => status === '503').length ?? 0
    assert.ok(count > 40 && count < 80, `${count} of 200`)
  })

  it('a request is answered late, and then rightly', async () => {
    await begin({ type: 'delay', path: '/api/cluster', delay_ms: 300, times: 1 })
    const fromMs = performance.now()
    assert.deepEqual(await statuses(1, '/api/cluster'), [200])
    assert.ok(performance.now() - fromMs >= 290)
  })

  it('a job fails with the code that was said, and leaves nothing', async () => {
    await begin({
      type: 'job_failure',
      method: 'POST',
      path: '/api/storage/volumes',
      code: codeOf('qtreeVolumeUnknown'),
      message: 'no luck',
    })
    const volume = { name: 'unlucky', svm: 'svm1', size: '20m', guarantee: { type: 'none' } }
    const { status, body } = await test.call('POST', '/api/storage/volumes?return_timeout=0', volume)
    assert.equal(status, 202)
    const job = asText(body['job']?.['uuid'])
    await test.jobs.wait(job, 60_000)
    const ended = await test.call('GET', `/api/cluster/jobs/${job}?fields=state,code,message,error`)
    assert.equal(ended.body['state'], 'failure')
    assert.equal(ended.body['code'], codeOf('qtreeVolumeUnknown'))
    assert.equal(ended.body['message'], 'no luck')
    assert.equal((await test.call('GET', '/api/storage/volumes?name=unlucky')).body['num_records'], 0)
    const waited = await test.call('POST', '/api/storage/volumes?return_timeout=10', volume)
    assert.deepEqual(waited.body['error'], { message: 'no luck', code: codeOf('qtreeVolumeUnknown') })
  })

  it('a job takes long, and then succeeds', async () => {
    await begin({ type: 'job_delay', path: '/api/storage/volumes', delay_ms: 2000, times: 1 })
    const volume = { name: 'slow', svm: 'svm1', size: '20m', guarantee: { type: 'none' } }
    const { body } = await test.call('POST', '/api/storage/volumes?return_timeout=0', volume)
    const job = asText(body['job']?.['uuid'])
    assert.ok(['queued', 'running'].includes(textAt(await test.jobs.wait(job, 100), 'state')))
    assert.equal((await test.jobs.wait(job, 60_000))['state'], 'success')
  })

  it('an aggregate is full until the fault ends', async () => {
    const uuid = await begin({ type: 'full_aggregate', aggregate: 'aggr1' })
    const volume = { name: 'thick', svm: 'svm1', size: '20m', guarantee: { type: 'volume' } }
    const refused = await test.call('POST', '/api/storage/volumes?return_timeout=10', volume)
    assert.equal(refused.status, 422)
    assert.equal(refused.body['error']?.['code'], codeOf('aggregateTooSmall'))
    const { body } = await test.call('GET', '/api/storage/aggregates?fields=space.block_storage.available')
    assert.equal(recordsOf(body)[0]?.['space']?.['block_storage']?.['available'], 0)
    await test.call('DELETE', `${FAULTS}/${uuid}`)
    assert.equal((await test.call('POST', '/api/storage/volumes?return_timeout=10', volume)).status, 201)
  })

  it('are in the audit trail and the event log: when they begin and end, and which writes they hit', async () => {
    const uuid = await begin({ type: 'error', method: 'POST', path: '/api/svm/svms' })
    assert.deepEqual((await test.call('POST', '/api/svm/svms', { name: 'none' })).status, 503)
    await test.call('DELETE', `${FAULTS}/${uuid}`)
    const audit = await test.call('GET', '/api/security/audit/messages?fields=input,message&max_records=1000')
    const entries = new Set(recordsOf(audit.body).map(({ input, message }) => `${asText(input)}: ${asText(message)}`))
    assert.ok(entries.has(`POST ${FAULTS}: ${uuid}`))
    assert.ok(entries.has('POST /api/svm/svms: fault on demand: This is a fault on demand.'))
    assert.ok(entries.has(`DELETE ${FAULTS}/${uuid}: ${uuid}`))
    const events = await test.call('GET', '/api/support/ems/events?message.name=cluster.fault.*&fields=message.name')
    assert.ok(Number(events.body['num_records']) >= 2)
  })

  it('changed, a fault begins to count anew', async () => {
    const uuid = await begin({ type: 'error', path: '/api/cluster', times: 1 })
    assert.deepEqual(await statuses(2, '/api/cluster'), [503, 200])
    assert.equal((await test.call('PATCH', `${FAULTS}/${uuid}`, { status: 500 })).status, 200)
    assert.deepEqual(await statuses(2, '/api/cluster'), [500, 200])
  })

  it('are refused where they mean nothing, and when there are too many', async () => {
    for (const [fault, target] of [
      [{ type: 'error', delay_ms: 5 }, 'delay_ms'],
      [{ type: 'delay' }, 'delay_ms'],
      [{ type: 'job_failure' }, 'code'],
      [{ type: 'full_aggregate' }, 'aggregate.name'],
      [{ type: 'full_aggregate', aggregate: 'aggr1', rate: 5 }, 'rate'],
      [{ type: 'error', status: 200 }, 'status'],
      [{ type: 'error', path: '/etc' }, 'path'],
      [{ type: 'delay', delay_ms: 600_001 }, 'delay_ms'],
    ] as const) {
      const { status, body } = await test.call('POST', FAULTS, fault)
      assert.equal(status, 422, JSON.stringify(fault))
      assert.equal(body['error']?.['target'], target)
    }
    for (let at = 0; at < 100; at++) await begin({ type: 'error', path: '/api/never' })
    assert.equal((await test.call('POST', FAULTS, { type: 'error' })).status, 422)
  })

  it('can be in a seed file, and hit nothing of it', async () => {
    const text = [
      'private/faults:',
      '  - { type: error, method: POST, path: /api/svm/svms, status: 429, times: 1 }',
      '  - { type: job_failure, code: 4, path: /api/** }',
      'svm/svms: [{ name: seeded }]',
    ]
    const { made } = await seed(test.actions, { name: 'faults.yaml', text: text.join('\n') })
    assert.equal(made, 3)
    assert.deepEqual((await test.call('POST', '/api/svm/svms', { name: 'other' })).status, 429)
  })
})
