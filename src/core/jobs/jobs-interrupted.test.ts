/** Jobs across a stop, a crash and a catalog that is away. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { CALLER, machine, run, startWith } from '../../../test/support/machine.ts'
import { partial } from '../../../test/support/partial.ts'
import { Failure } from '../../model/failure.ts'
import { type Row, textAt } from '../../model/value.ts'
import { CatalogUnavailable } from '../../ports/catalog.ts'
import { Jobs, JOBS } from './jobs.ts'
import { Interrupted, type Step, type Work } from '../verb.ts'

test('an undo that fails while the cluster stops is left for the next start', async () => {
  const tried = Promise.withResolvers<void>()
  let tries = 0
  const behaviour = machine([
    {
      name: 'one',
      run: () => Promise.reject(new Failure('conflict', 8, 'No.')),
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
    description: 'x',
    message: '',
    $user: 'x',
    $from: 'x',
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
  await cluster.cluster.commit([forward, back].map((row) => cluster.cluster.put(partial(JOBS), row)))
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
      async run(cluster, work: Work<Row, { readonly at: number }>) {
        seen.push(work.memo.at ?? 0)
        await work.commit([cluster.event('cluster.started', { release: '9.16.1' })], { at: 7 })
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
      cluster.clock.sleep = () => new Promise((resolve) => void setImmediate(resolve))
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
        async run(cluster, work: Work<Row, { readonly made: string }>) {
          if (work.memo.made !== undefined) return
          const made = cluster.system.random.uuid()
          await work.commit([{ do: 'put-record', type: 'test/machines', key: made, body: { name: 'made' } }], { made })
        },
      },
    ])
    const cluster = await startWith(behaviour)
    cluster.clock.sleep = () => new Promise((resolve) => void setImmediate(resolve))
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
  cluster.clock.sleep = () => new Promise((resolve) => void setImmediate(resolve))
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
