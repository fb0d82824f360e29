import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startTestCluster, type TestCluster, type TestClusterOptions } from '../../test/support/cluster.ts'
import { Failure, failures } from '../model/failure.ts'
import { text, uuid } from '../model/kinds/index.ts'
import { type Row, textAt } from '../model/value.ts'
import { define, type Behaviour } from './behaviour.ts'
import { ENDED_KEPT_MAX, ENDED_KEPT_MS, failureOf, Jobs, JOBS } from './jobs.ts'
import { CatalogUnavailable, CommitRefused } from '../ports/catalog.ts'
import { VolumesFailure } from '../ports/volumes.ts'
import { Interrupted, job, type Step } from './verb.ts'

const CALLER = { user: 'admin', role: 'admin', from: 'test' }

/** A resource whose create runs the given steps. */
function machine(steps: readonly Step[], locks: readonly string[] = []): Behaviour {
  return define(
    {
      path: '/test/machines',
      noun: 'machine',
      doc: 'x',
      key: ['uuid'],
      nameWithin: false,
      fields: { uuid: { doc: 'x', kind: uuid() }, name: { doc: 'x', kind: text(), set: 'create' } },
    },
    {
      create: job({
        plan: (cluster, { draft }) =>
          Promise.resolve({ key: cluster.system.random.uuid(), input: { ...draft }, locks }),
        steps,
      }),
    },
  )
}

async function startWith(behaviour: Behaviour, options: TestClusterOptions = {}): Promise<TestCluster> {
  return startTestCluster({ isBare: true, ...options, extra: [behaviour] })
}

async function run(cluster: TestCluster, behaviour: Behaviour, draft: Row = {}, waitMs = 60_000): Promise<Row> {
  const performed = await cluster.actions.perform(behaviour, 'create', {
    caller: CALLER,
    draft,
    path: {},
    args: {},
    description: 'POST /api/test/machines',
  })
  return cluster.jobs.wait(textAt(performed.job, 'uuid'), waitMs)
}

test('a job runs its steps in order, passes notes between them and ends with success', async () => {
  const done: string[] = []
  const behaviour = machine([
    {
      name: 'one',
      run: (_cluster, { memo }) => {
        done.push('one')
        memo['note'] = 7
        return Promise.resolve()
      },
    },
    {
      name: 'two',
      run: (_cluster, { memo }) => {
        done.push(`two ${JSON.stringify(memo['note'])}`)
        return Promise.resolve()
      },
    },
  ])
  const cluster = await startWith(behaviour)
  const ended = await run(cluster, behaviour)
  assert.deepEqual(done, ['one', 'two 7'])
  assert.equal(ended['state'], 'success')
  assert.equal(ended['code'], 0)
  assert.equal(ended['progress'], 100)
  assert.ok(Number(ended['end_time']) >= Number(ended['start_time']))
  await cluster.close()
})

test('a failing step unwinds itself and those before it in reverse, and the job tells code and message', async () => {
  const done: string[] = []
  const step = (name: string, fail = false): Step => ({
    name,
    run: () => {
      done.push(name)
      return fail ? Promise.reject(failures.invalid('size', 'It does not fit.', 917534)) : Promise.resolve()
    },
    undo: () => {
      done.push(`undo ${name}`)
      return Promise.resolve()
    },
  })
  const behaviour = machine([step('one'), step('two'), step('three', true), step('four')])
  const cluster = await startWith(behaviour)
  const ended = await run(cluster, behaviour)
  assert.deepEqual(done, ['one', 'two', 'three', 'undo three', 'undo two', 'undo one'])
  assert.equal(ended['state'], 'failure')
  assert.equal(ended['message'], 'It does not fit.')
  assert.equal(ended['code'], 917534)
  const { body } = await cluster.call('GET', `/api/cluster/jobs/${textAt(ended, 'uuid')}?fields=**`)
  assert.equal(body['code'], 917534)
  assert.equal(body['error']?.['code'], '917534')
  await cluster.close()
})

test('a defect in a step is a failure that tells nothing of the program, and the log has it', async () => {
  const behaviour = machine([{ name: 'one', run: () => Promise.reject(new TypeError('secret detail in /some/path')) }])
  const cluster = await startWith(behaviour)
  const ended = await run(cluster, behaviour)
  assert.equal(ended['state'], 'failure')
  assert.doesNotMatch(JSON.stringify(ended), /secret detail/)
  assert.match(JSON.stringify(cluster.logged), /secret detail/)
  await cluster.close()
})

test('an undo that fails is tried again', async () => {
  let tries = 0
  const behaviour = machine([
    {
      name: 'one',
      run: () => Promise.reject(failures.inUse('No.')),
      undo: () => (++tries < 3 ? Promise.reject(new Error('not yet')) : Promise.resolve()),
    },
  ])
  const cluster = await startWith(behaviour)
  assert.equal((await run(cluster, behaviour))['state'], 'failure')
  assert.equal(tries, 3)
  await cluster.close()
})

test('an undo that fails while the cluster stops is left for the next start', async () => {
  const tried = Promise.withResolvers<void>()
  let tries = 0
  const behaviour = machine([
    {
      name: 'one',
      run: () => Promise.reject(failures.inUse('No.')),
      undo: () => {
        tries++
        tried.resolve()
        return tries > 1 ? Promise.resolve() : Promise.reject(new Error('not yet'))
      },
    },
  ])
  const cluster = await startWith(behaviour)
  const running = run(cluster, behaviour)
  await tried.promise
  await cluster.jobs.drain(60_000)
  assert.equal((await running)['state'], 'running')
  assert.equal(tries, 1)
  const next = new Jobs(cluster.cluster)
  await next.resume()
  await next.drain(60_000)
  assert.deepEqual(
    (await cluster.cluster.rows(JOBS)).map(({ state }) => state),
    ['failure'],
  )
  await cluster.close()
})

test('progress can be read while a job runs, and only grows', async () => {
  const seen: number[] = []
  const messages: string[] = []
  const step = (name: string): Step => ({
    name,
    async run(cluster, work) {
      await work.progress(0.5)
      const [record] = await cluster.rows(JOBS)
      seen.push(Number(record?.['progress']))
      messages.push(textAt(record, 'message'))
      assert.equal(record?.['state'], 'running')
    },
  })
  const behaviour = machine([step('one'), step('two')])
  const cluster = await startWith(behaviour)
  const ended = await run(cluster, behaviour)
  assert.equal(ended['state'], 'success', textAt(ended, 'message'))
  assert.deepEqual(seen, [25, 75])
  assert.deepEqual(messages, ['Step 1 of 2: one.', 'Step 2 of 2: two.'])
  await cluster.close()
})

test('jobs of one lock run one after the other', async () => {
  let inside = 0
  const behaviour = machine(
    [
      {
        name: 'one',
        run: async () => {
          assert.equal(++inside, 1)
          await wait(2)
          inside--
        },
      },
    ],
    ['thing:1'],
  )
  const cluster = await startWith(behaviour)
  const ended = await Promise.all(Array.from({ length: 5 }, () => run(cluster, behaviour)))
  assert.deepEqual(
    ended.map((each) => each['state']),
    Array(5).fill('success'),
  )
  assert.equal(cluster.cluster.locks.isHeld('thing:1'), false)
  await cluster.close()
})

test('a job that a crash interrupted goes on at its step; one that was unwinding goes on unwinding', async () => {
  const done: string[] = []
  const step = (name: string): Step => ({
    name,
    run: () => {
      done.push(name)
      return Promise.resolve()
    },
    undo: () => {
      done.push(`undo ${name}`)
      return Promise.resolve()
    },
  })
  const behaviour = machine([step('one'), step('two'), step('three')])
  const cluster = await startWith(behaviour)
  const left = (changes: Row): Row => ({
    uuid: cluster.cluster.system.random.uuid(),
    name: 'machine create',
    state: 'running',
    start_time: 0,
    $type: 'test/machines',
    $verb: 'create',
    $key: 'x',
    $input: {},
    $memo: {},
    $locks: ['thing:1'],
    ...changes,
  })
  const forward = left({ $at: 1, $direction: 'forward' })
  const back = left({
    $at: 1,
    $direction: 'back',
    $failure: { code: 5, kind: 'invalid', message: 'It failed.', target: null },
  })
  await cluster.cluster.commit([forward, back].map((row) => cluster.cluster.put(JOBS, row)))
  const jobs = new Jobs(cluster.cluster)
  assert.equal(await jobs.resume(), 2)
  for (const row of [forward, back]) await jobs.wait(textAt(row, 'uuid'), 60_000)
  assert.deepEqual(done.toSorted(), ['two', 'three', 'undo one', 'undo two'].toSorted())
  const after = async (row: Row) => cluster.cluster.row(JOBS, textAt(row, 'uuid'))
  assert.equal((await after(forward))['state'], 'success')
  assert.equal((await after(back))['state'], 'failure')
  assert.equal((await after(back))['message'], 'It failed.')
  assert.equal(await new Jobs(cluster.cluster).resume(), 0)
  await cluster.close()
})

test('waiting for a job ends when it ends, or after the given time', async () => {
  const held = Promise.withResolvers<void>()
  const behaviour = machine([{ name: 'one', run: () => held.promise }])
  const cluster = await startWith(behaviour)
  const { job: submitted } = await cluster.actions.perform(behaviour, 'create', {
    caller: CALLER,
    draft: {},
    path: {},
    args: {},
    description: 'x',
  })
  const uuidOfJob = textAt(submitted, 'uuid')
  assert.equal((await cluster.jobs.wait(uuidOfJob, 30))['state'], 'running')
  assert.equal((await cluster.jobs.wait(uuidOfJob, 0))['state'], 'running')
  held.resolve()
  assert.equal((await cluster.jobs.wait(uuidOfJob, 60_000))['state'], 'success')
  await cluster.close()
})

test('waiting for a job that does not end is over when the cluster has stopped', { timeout: 20_000 }, async () => {
  const begun = Promise.withResolvers<void>()
  const stuck = () => {
    begun.resolve()
    return new Promise<never>(() => undefined)
  }
  const behaviour = machine([{ name: 'one', run: stuck }])
  const cluster = await startWith(behaviour)
  const waiting = run(cluster, behaviour, {}, 600_000)
  await begun.promise
  await cluster.jobs.drain(20)
  assert.equal((await waiting)['state'], 'running')
  const [left] = await cluster.cluster.rows(JOBS)
  assert.ok(left)
  assert.equal((await cluster.jobs.wait(textAt(left, 'uuid'), 600_000))['state'], 'running')
  await cluster.cluster.catalog.close()
})

test('a cluster that stops takes no new job and waits for those that run', async () => {
  let isDone = false
  const begun = Promise.withResolvers<void>()
  const behaviour = machine([
    {
      name: 'one',
      run: async () => {
        begun.resolve()
        await wait(30)
        isDone = true
      },
    },
  ])
  const cluster = await startWith(behaviour)
  const running = run(cluster, behaviour)
  await begun.promise
  await cluster.jobs.drain(60_000)
  assert.equal(isDone, true)
  await assert.rejects(
    run(cluster, behaviour),
    (failure) => failure instanceof Failure && failure.kind === 'unavailable',
  )
  await running
  await cluster.close()
})

test('a step that is interrupted because the cluster stops goes on at the next start, from what it noted', async () => {
  const begun = Promise.withResolvers<void>()
  const seen: unknown[] = []
  const behaviour = machine([
    {
      name: 'long',
      async run(cluster, work) {
        seen.push(work.memo['at'] ?? 0)
        await work.commit([cluster.event('cluster.started', {})], { at: 7 })
        begun.resolve()
        if (seen.length > 1) return
        await cluster.system.clock.sleep(10_000, work.stopping)
        throw new Interrupted()
      },
      undo: () => Promise.reject(new Error('Nothing is to be undone.')),
    },
  ])
  const cluster = await startWith(behaviour)
  const running = run(cluster, behaviour)
  await begun.promise
  await cluster.jobs.drain(60_000)
  assert.equal((await running)['state'], 'running')
  const next = new Jobs(cluster.cluster)
  assert.equal(await next.resume(), 1)
  await next.drain(60_000)
  assert.deepEqual(seen, [0, 7])
  const [ended] = await cluster.cluster.rows(JOBS)
  assert.equal(ended?.['state'], 'success')
  await cluster.close()
})

test('what a step commits and what it notes are done together, or neither', async () => {
  const memos: unknown[] = []
  const behaviour = machine([
    {
      name: 'one',
      async run(cluster, work) {
        const event = cluster.event('cluster.started', {})
        const check = { do: 'check-record', type: 'test/machines', key: 'x', expect: 1 } as const
        await assert.rejects(
          work.commit([event, check], { at: 1 }),
          (failure) => failure instanceof CommitRefused && failure.change === 1,
        )
        memos.push({ ...work.memo })
        await work.commit([event], { at: 2 })
        await work.progress(0.5, 'Half of it.')
        memos.push({ ...work.memo })
        const [record] = await cluster.catalog.records(JOBS)
        memos.push(record?.body['$memo'], record?.body['message'])
      },
    },
  ])
  const cluster = await startWith(behaviour)
  assert.equal((await run(cluster, behaviour))['state'], 'success')
  assert.deepEqual(memos, [{}, { at: 2 }, { at: 2 }, 'Half of it.'])
  await cluster.close()
})

test('a job whose commit was lost or not answered repeats its step, and undoes nothing of what may be done', async () => {
  const undone: string[] = []
  const behaviour = machine([
    {
      name: 'one',
      run: (cluster, { key }) =>
        cluster
          .commit([{ do: 'put-record', type: 'test/machines', key, body: { name: 'made' } }])
          .then(() => undefined),
      undo: () => Promise.resolve(void undone.push('one')),
    },
  ])
  // Of each of the job's commits, its own record's too, the answer is lost, or the commit itself.
  for (const when of ['before', 'after']) {
    for (let lost = 1; lost <= 4; lost++) {
      const cluster = await startWith(behaviour)
      cluster.clock.sleep = () => Promise.resolve()
      const { catalog } = cluster.cluster
      const commit = catalog.commit.bind(catalog)
      let commits = 0
      catalog.commit = async (changes) => {
        const isLost = ++commits === lost
        if (isLost && when === 'before') throw new CatalogUnavailable('Not done.')
        const outcomes = await commit(changes)
        if (isLost) throw new CatalogUnavailable('Done, and the answer was lost.')
        return outcomes
      }
      const performed = await cluster.actions.perform(behaviour, 'create', {
        caller: CALLER,
        draft: {},
        path: {},
        args: {},
        description: 'POST /api/test/machines',
      })
      while (cluster.jobs.activeCount > 0) await wait(1)
      const job = await cluster.cluster.row(JOBS, textAt(performed.job, 'uuid'))
      assert.equal(job['state'], 'success', `commit ${lost} lost ${when}: ${JSON.stringify(job)}`)
      assert.notEqual(await cluster.cluster.find('test/machines', performed.key), undefined)
      assert.deepEqual(undone, [])
      await cluster.close()
    }
  }
})

test('a step that is repeated has the notes of a commit whose answer was lost, and makes nothing twice', async () => {
  for (const when of ['before', 'after']) {
    const behaviour = machine([
      {
        name: 'one',
        async run(cluster, work) {
          if (work.memo['made'] !== undefined) return
          const made = cluster.system.random.uuid()
          await work.commit([{ do: 'put-record', type: 'test/machines', key: made, body: { name: 'made' } }], { made })
        },
      },
    ])
    const cluster = await startWith(behaviour)
    cluster.clock.sleep = () => Promise.resolve()
    const { catalog } = cluster.cluster
    const commit = catalog.commit.bind(catalog)
    let isLost = false
    catalog.commit = async (changes) => {
      const isOfStep = !isLost && changes.some((change) => 'type' in change && change.type === 'test/machines')
      isLost ||= isOfStep
      if (isOfStep && when === 'before') throw new CatalogUnavailable('Not done.')
      const outcomes = await commit(changes)
      if (isOfStep) throw new CatalogUnavailable('Done, and the answer was lost.')
      return outcomes
    }
    const queued = await run(cluster, behaviour)
    while (cluster.jobs.activeCount > 0) await wait(1)
    assert.equal((await cluster.cluster.row(JOBS, textAt(queued, 'uuid')))['state'], 'success')
    assert.equal((await cluster.cluster.catalog.records('test/machines')).length, 1, when)
    await cluster.close()
  }
})

test('a job that the catalog stays away from is left for the next start, and not undone', async () => {
  let isAway = true
  const behaviour = machine([
    {
      name: 'one',
      run: () => (isAway ? Promise.reject(new CatalogUnavailable('away')) : Promise.resolve()),
      undo: () => assert.fail('Nothing is undone.'),
    },
  ])
  const cluster = await startWith(behaviour)
  cluster.clock.sleep = () => Promise.resolve()
  const uuid = textAt(await run(cluster, behaviour), 'uuid')
  while (cluster.jobs.activeCount > 0) await wait(1)
  assert.equal((await cluster.cluster.row(JOBS, uuid))['state'], 'running')
  isAway = false
  const next = new Jobs(cluster.cluster)
  assert.equal(await next.resume(), 1)
  while (next.activeCount > 0) await wait(1)
  assert.equal((await cluster.cluster.row(JOBS, uuid))['state'], 'success')
  await cluster.close()
})

test('a full disk and one that is away are told from a defect', async () => {
  for (const [reason, kind] of [
    ['no-space', 'full'],
    ['away', 'unavailable'],
    ['read-only', 'unavailable'],
    ['io', 'internal'],
  ] as const) {
    const behaviour = machine([{ name: 'one', run: () => Promise.reject(new VolumesFailure(reason, 'secret path')) }])
    const cluster = await startWith(behaviour)
    const failure = failureOf(await run(cluster, behaviour))
    assert.equal(failure.kind, kind)
    assert.doesNotMatch(failure.message, /secret/)
    await cluster.close()
  }
})

test('jobs that ended are kept for a day, and no more than so many', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const now = cluster.cluster.now()
  const ended = (age: number, state = 'success'): Row => ({
    uuid: cluster.cluster.system.random.uuid(),
    name: 'x',
    state,
    start_time: 0,
    end_time: now - age,
  })
  const rows = [
    ended(ENDED_KEPT_MS + 1),
    ended(0),
    ended(ENDED_KEPT_MS + 1, 'running'),
    ...Array.from({ length: ENDED_KEPT_MAX + 5 }, (_, at) => ended(1000 + at)),
  ]
  for (let at = 0; at < rows.length; at += 1000) {
    await cluster.cluster.commit(rows.slice(at, at + 1000).map((row) => cluster.cluster.put(JOBS, row)))
  }
  await cluster.jobs.prune()
  const left = new Set((await cluster.cluster.rows(JOBS)).map((row) => row['uuid']))
  assert.equal(left.size, ENDED_KEPT_MAX + 1)
  assert.equal(left.has(rows[0]?.['uuid'] ?? ''), false)
  assert.equal(left.has(rows[1]?.['uuid'] ?? ''), true)
  assert.equal(left.has(rows[2]?.['uuid'] ?? ''), true)
  await cluster.close()
})

test('the input of a job holds no secret in the clear', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', '/api/storage/volumes', { name: 'v1', svm: 'svm1', size: '16m' })
  assert.doesNotMatch(JSON.stringify(await cluster.cluster.rows(JOBS)), /password|secret/i)
  await cluster.close()
})
