import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startTestCluster } from '../../../test/support/cluster.ts'
import { CALLER, machine, run, startWith } from '../../../test/support/machine.ts'
import { partial } from '../../../test/support/partial.ts'
import { Failure } from '../../model/failure.ts'
import { type Row, textAt } from '../../model/value.ts'
import { CommitRefused } from '../../ports/catalog.ts'
import { VolumesFailure } from '../../ports/volumes.ts'
import { ENDED_KEPT_MAX, ENDED_KEPT_MS, failureOf, JOBS } from './jobs.ts'
import type { Step, Work } from '../verb.ts'

type Noting = Work<Row, { readonly note: number }>

test('a job runs its steps in order, passes notes between them and ends with success', async () => {
  const done: string[] = []
  const behaviour = machine([
    {
      name: 'one',
      run: (_cluster, { memo }: Noting) => {
        done.push('one')
        memo.note = 7
        return Promise.resolve()
      },
    },
    {
      name: 'two',
      run: (_cluster, { memo }: Noting) => {
        done.push(`two ${JSON.stringify(memo.note)}`)
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
      return fail
        ? Promise.reject(new Failure('invalid', 917534, 'It does not fit.', { target: 'size' }))
        : Promise.resolve()
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
      run: () => Promise.reject(new Failure('conflict', 8, 'No.')),
      undo: () => (++tries < 3 ? Promise.reject(new Error('not yet')) : Promise.resolve()),
    },
  ])
  const cluster = await startWith(behaviour)
  assert.equal((await run(cluster, behaviour))['state'], 'failure')
  assert.equal(tries, 3)
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

test('what a step commits and what it notes are done together, or neither', async () => {
  const memos: unknown[] = []
  const behaviour = machine([
    {
      name: 'one',
      async run(cluster, work) {
        const event = cluster.event('cluster.started', { release: '9.16.1' })
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
    await cluster.cluster.commit(rows.slice(at, at + 1000).map((row) => cluster.cluster.put(partial(JOBS), row)))
  }
  await cluster.jobs.prune()
  const left = new Set((await cluster.cluster.rows(JOBS)).map((row) => row['uuid']))
  assert.equal(left.size, ENDED_KEPT_MAX + 1)
  assert.equal(left.has(textAt(rows[0], 'uuid')), false)
  assert.equal(left.has(textAt(rows[1], 'uuid')), true)
  assert.equal(left.has(textAt(rows[2], 'uuid')), true)
  await cluster.close()
})

test('the input of a job holds no secret in the clear', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', '/api/storage/volumes', { name: 'v1', svm: 'svm1', size: '16m' })
  assert.doesNotMatch(JSON.stringify(await cluster.cluster.rows(JOBS)), /password|secret/i)
  await cluster.close()
})
