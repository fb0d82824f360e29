/** Jobs that an upgrade interrupts, after which their verb has other steps. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf } from '../../../test/support/body.ts'
import { QuickSecrets, startTestCluster } from '../../../test/support/cluster.ts'
import { machine, startWith } from '../../../test/support/machine.ts'
import { partial } from '../../../test/support/partial.ts'
import { type Row, textAt } from '../../model/value.ts'
import { failure } from '../../model/failure.ts'
import { Jobs, JOBS } from './jobs.ts'
import type { Step } from '../verb.ts'

const MACHINES = 'test/machines'
const NEVER = new Promise<never>(() => undefined)

function steps(done: string[], ...names: string[]): Step[] {
  return names.map((name) => ({
    name,
    run: () => Promise.resolve(void done.push(name)),
    undo: () => Promise.resolve(void done.push(`undo ${name}`)),
  }))
}

/** What becomes of a job that another release left, where its verb has the steps one, new and two; and what they did. */
async function takenUp(left: Row, isThere = false): Promise<{ readonly job: Row; readonly done: readonly string[] }> {
  const done: string[] = []
  const cluster = await startWith(machine(steps(done, 'one', 'new', 'two')))
  const { cluster: core } = cluster
  const key = core.system.random.uuid()
  const uuid = core.system.random.uuid()
  const usual = { name: 'machine create', description: 'x', state: 'running', start_time: 0, $user: 'x', $from: 'x' }
  const about = {
    $type: MACHINES,
    $verb: 'create',
    $key: key,
    $input: {},
    $memo: {},
    $locks: [],
    $direction: 'forward',
  }
  await core.commit([
    core.put(partial(JOBS), { ...usual, ...about, ...left, uuid }),
    ...(isThere ? [core.put(MACHINES, { uuid: key, name: 'm' })] : []),
  ])
  const jobs = new Jobs(core)
  await jobs.resume()
  const job = await jobs.wait(uuid, 60_000)
  assert.equal(await new Jobs(core).resume(), 0, 'it has ended')
  await cluster.close()
  return { job, done }
}

const told = ({ job, done }: Awaited<ReturnType<typeof takenUp>>) => [job['state'], job['message'], done]

test('a job goes on where its steps are those that it was made with', async () => {
  const same = { $steps: ['one', 'new', 'two'], $at: 1, message: 'Half of it is done.' }
  assert.deepEqual(told(await takenUp(same)), ['success', 'success', ['new', 'two']])
  const unnamed = { $at: 1, message: 'Step 2 of 3: new.' }
  assert.deepEqual(told(await takenUp(unnamed)), ['success', 'success', ['new', 'two']])
})

test('what a job was making in other steps is taken back, and the job says so', async () => {
  const undone = ['undo two', 'undo new', 'undo one']
  for (const left of [
    { $steps: ['one', 'two'], $at: 1, message: 'Half of it is done.' },
    { $at: 1, message: 'Step 2 of 2: two.' },
    { $at: 1, message: 'Half of it is done.' },
    { $at: 7, message: 'Step 8 of 9: other.' },
  ]) {
    assert.deepEqual(
      told(await takenUp(left)),
      ['failure', failure('jobStepsChanged').message, undone],
      JSON.stringify(left),
    )
  }
})

test('a job in other steps that had made its record is done', async () => {
  const left = { $steps: ['one', 'two'], $at: 1 }
  assert.deepEqual(told(await takenUp(left, true)), ['success', 'success', []])
})

test('a job in other steps that had not begun does nothing', async () => {
  assert.deepEqual(told(await takenUp({ $steps: ['one'], $at: 0, state: 'queued' })), [
    'failure',
    failure('jobStepsChanged').message,
    [],
  ])
})

test('a job that was being undone in other steps is undone, and keeps its failure', async () => {
  const $failure = { code: 5, kind: 'invalid', message: 'It failed.', target: null }
  const left = { $steps: ['one', 'two'], $at: 0, $direction: 'back', $failure }
  assert.deepEqual(told(await takenUp(left)), ['failure', 'It failed.', ['undo two', 'undo new', 'undo one']])
})

test('of a change in other steps, those that are still known are undone', async () => {
  const left = { $verb: 'modify', $steps: ['one', 'old', 'two'], $at: 1 }
  assert.deepEqual(
    told(await takenUp(left)),
    ['failure', failure('jobVerbUnknown').message, []],
    'machines cannot be changed at all',
  )
  const done: string[] = []
  const { create } = machine(steps(done, 'one', 'new', 'two'))
  const cluster = await startWith({ ...machine([]), ...(create === undefined ? {} : { modify: create }) })
  const uuid = cluster.cluster.system.random.uuid()
  const asked = { name: 'machine modify', description: 'x', $user: 'x', $from: 'x' }
  const about = { $type: MACHINES, $key: 'x', $input: {}, $memo: {} }
  const job = { ...left, ...asked, ...about, uuid, state: 'running', start_time: 0 }
  await cluster.cluster.commit([cluster.cluster.put(partial(JOBS), { ...job, $locks: [], $direction: 'forward' })])
  await cluster.jobs.resume()
  assert.equal((await cluster.jobs.wait(uuid, 60_000))['message'], failure('jobStepsChanged').message)
  assert.deepEqual(done, ['undo one'])
  await cluster.close()
})

test('a clone that an earlier release had half made is gone after the start, and its parent goes on', async () => {
  const reached = Promise.withResolvers<void>()
  let isClone = false
  const secrets = new QuickSecrets()
  const cluster = await startTestCluster({
    secrets,
    hooks: {
      reached: (point) => {
        if (!isClone || point !== 'storage/volumes create: name buckets: before') return Promise.resolve()
        reached.resolve()
        return NEVER
      },
    },
  })
  isClone = true
  const made = await cluster.call('POST', '/api/storage/volumes?return_timeout=0', {
    name: 'clone1',
    svm: { name: 'svm1' },
    clone: { is_flexclone: true, parent_volume: { name: 'vol1' } },
  })
  await reached.promise
  await cluster.jobs.drain(0)
  const uuid = asText(made.body['job']?.['uuid'])
  const left = await cluster.cluster.row(JOBS, uuid)
  const { $steps, ...earlier } = left
  assert.ok(Array.isArray($steps))
  // Those had no step that names buckets.
  const message = 'Step 3 of 4: copy rows of the parent.'
  await cluster.cluster.commit([cluster.cluster.put(JOBS, { ...earlier, $at: 2, message })])
  const next = await startTestCluster({ isUsed: true, catalog: cluster.cluster.catalog, secrets })
  await next.jobs.resume()
  const job = await next.jobs.wait(uuid, 60_000)
  assert.deepEqual([job['state'], job['message']], ['failure', failure('jobStepsChanged').message])
  assert.equal(await next.cluster.catalog.volume(textAt(left, '$key')), undefined)
  const volumes = await next.call('GET', '/api/storage/volumes?name=clone1')
  assert.equal(recordsOf(volumes.body).length, 0)
  const parent = await next.uuidOf('/api/storage/volumes', 'vol1')
  const snapshots = await next.call('GET', `/api/storage/volumes/${parent}/snapshots`)
  assert.equal(recordsOf(snapshots.body).length, 0, 'its snapshot for the clone has gone')
  await next.close()
})
