import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf } from '../../../test/support/body.ts'
import {
  QuickSecrets,
  startTestCluster,
  type TestCluster,
  type TestClusterOptions,
} from '../../../test/support/cluster.ts'
import { machine } from '../../../test/support/machine.ts'
import { openSqliteCatalog } from '../../engines/sqlite/catalog.ts'
import { type Row, textAt } from '../../model/value.ts'
import type { Behaviour } from '../behaviour.ts'
import { JOB_ORDERS } from './job-orders.ts'
import { Interrupted, type Step, type Work } from '../verb.ts'
import { codeOf } from '../../model/failure.ts'

const JOBS = '/api/cluster/jobs'

/** Works until it is asked to halt, and then goes on at what it noted. */
function longStep(done: string[], more: Partial<Step> = {}): Step {
  return {
    name: 'long',
    isCancellable: true,
    isPausable: true,
    async run(cluster, work: Work<Row, { readonly at: number }>) {
      for (let at = work.memo.at ?? 0; at < 3; at++) {
        const isOn = () => at !== 1 || done.includes('go on')
        while (!isOn()) {
          await cluster.system.clock.sleep(5, work.stopping)
          if (work.stopping.aborted) throw new Interrupted()
        }
        done.push(`piece ${at}`)
        await work.commit([], { at: at + 1 })
      }
    },
    undo: () => {
      done.push('undo long')
      return Promise.resolve()
    },
    ...more,
  }
}

const first = (done: string[]): Step => ({
  name: 'first',
  run: () => {
    done.push('first')
    return Promise.resolve()
  },
  undo: () => {
    done.push('undo first')
    return Promise.resolve()
  },
})

async function begin(steps: readonly Step[], options: TestClusterOptions = {}, locks: readonly string[] = []) {
  const behaviour = machine(steps, locks)
  const cluster = await startTestCluster({ isBare: true, ...options, extra: [behaviour] })
  return { cluster, behaviour, path: await submitted(cluster, behaviour) }
}

async function submitted(cluster: TestCluster, behaviour: Behaviour): Promise<string> {
  const { job: made } = await cluster.actions.perform(behaviour, 'create', {
    caller: { user: 'admin', role: 'admin', from: 'test' },
    draft: {},
    path: {},
    args: {},
    description: 'POST /api/test/machines',
  })
  return `${JOBS}/${textAt(made, 'uuid')}`
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + 60_000; !(await isSo());) {
    if (performance.now() > endMs) throw new Error('It did not come to that.')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const ask = async (cluster: TestCluster, path: string, action: string) => {
  const { status, body } = await cluster.call('PATCH', `${path}?action=${action}`)
  return [status, body['error']?.['code']]
}
const stateOf = async (cluster: TestCluster, path: string) =>
  asText((await cluster.call('GET', `${path}?fields=state`)).body['state'])
const ended = (cluster: TestCluster, path: string) => cluster.jobs.wait(path.slice(JOBS.length + 1), 60_000)

test('a job that is cancelled is undone, and tells that it was cancelled', async () => {
  const done: string[] = []
  const { cluster, path } = await begin([first(done), longStep(done)])
  await until(() => done.includes('piece 0'))
  assert.deepEqual(await ask(cluster, path, 'cancel'), [200, undefined])
  const job = await ended(cluster, path)
  assert.deepEqual(
    [job['state'], job['code'], job['message']],
    ['failure', codeOf('jobCancelled'), 'The job was cancelled.'],
  )
  assert.deepEqual(done, ['first', 'piece 0', 'undo long', 'undo first'])
  assert.deepEqual(await ask(cluster, path, 'cancel'), [409, codeOf('jobEnded')])
  assert.deepEqual(await cluster.cluster.catalog.records(JOB_ORDERS), [])
  await cluster.close()
})

test('a job halts and goes on where it was, and can be cancelled while it halts', async () => {
  const done: string[] = []
  const { cluster, path } = await begin([longStep(done)])
  await until(() => done.includes('piece 0'))
  assert.deepEqual(await ask(cluster, path, 'resume'), [409, codeOf('jobNotPaused')])
  assert.deepEqual(await ask(cluster, path, 'pause'), [200, undefined])
  await until(async () => (await stateOf(cluster, path)) === 'paused')
  assert.deepEqual(await ask(cluster, path, 'pause'), [409, 458776])
  done.push('go on')
  assert.deepEqual(await ask(cluster, path, 'resume'), [200, undefined])
  assert.equal((await ended(cluster, path))['state'], 'success')
  assert.deepEqual(done, ['piece 0', 'go on', 'piece 1', 'piece 2'])
  await cluster.close()

  const other: string[] = []
  const second = await begin([longStep(other)])
  await until(() => other.includes('piece 0'))
  await ask(second.cluster, second.path, 'pause')
  await until(async () => (await stateOf(second.cluster, second.path)) === 'paused')
  assert.deepEqual(await ask(second.cluster, second.path, 'cancel'), [200, undefined])
  assert.equal((await ended(second.cluster, second.path))['code'], codeOf('jobCancelled'))
  assert.deepEqual(other, ['piece 0', 'undo long'])
  await second.cluster.close()
})

test('a step that allows neither says so, and goes on', async () => {
  const done: string[] = []
  const { cluster, path } = await begin([longStep(done, { isCancellable: false, isPausable: false })])
  await until(() => done.includes('piece 0'))
  assert.deepEqual(await ask(cluster, path, 'pause'), [409, codeOf('jobNotPausable')])
  assert.deepEqual(await ask(cluster, path, 'cancel'), [409, codeOf('jobNotCancellable')])
  assert.deepEqual(await ask(cluster, path, 'explode'), [400, codeOf('jobActionUnknown')])
  assert.equal((await cluster.call('PATCH', path, {})).status, 200, 'A change of nothing is done.')
  done.push('go on')
  assert.equal((await ended(cluster, path))['state'], 'success')
  await cluster.close()
})

test('a job that waits for another is cancelled without having done anything', async () => {
  const done: string[] = []
  const { cluster, behaviour, path } = await begin([longStep(done)], {}, ['machine'])
  await until(() => done.includes('piece 0'))
  const waiting = await submitted(cluster, behaviour)
  assert.deepEqual(await ask(cluster, waiting, 'pause'), [409, 458776])
  assert.deepEqual(await ask(cluster, waiting, 'cancel'), [200, undefined])
  done.push('go on')
  assert.equal((await ended(cluster, path))['state'], 'success')
  assert.equal((await ended(cluster, waiting))['code'], codeOf('jobCancelled'))
  assert.deepEqual(done, ['piece 0', 'go on', 'piece 1', 'piece 2'])
  await cluster.close()
})

test('a restart knows of what was asked: a cancelled job is undone, a paused one stays so until it is to go on', async () => {
  for (const action of ['cancel', 'pause']) {
    const done: string[] = []
    const secrets = new QuickSecrets()
    const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
    // It hears nothing of what is asked, as a process that was killed.
    const deaf: Step = longStep(done, {
      async run(_cluster, work) {
        await work.commit([], { at: 1 })
        done.push('piece 0')
        await new Promise(() => undefined)
      },
    })
    const { cluster, path } = await begin([deaf], { catalog, secrets })
    await until(() => done.includes('piece 0'))
    assert.deepEqual(await ask(cluster, path, action), [200, undefined])
    await cluster.jobs.drain(0)

    const behaviour = machine([longStep(done)])
    const next = await startTestCluster({ isBare: true, isUsed: true, catalog, secrets, extra: [behaviour] })
    assert.equal(await next.jobs.resume(), 1)
    if (action === 'pause') {
      await until(async () => (await stateOf(next, path)) === 'paused')
      done.push('go on')
      assert.deepEqual(await ask(next, path, 'resume'), [200, undefined])
      assert.equal((await ended(next, path))['state'], 'success')
      assert.deepEqual(done, ['piece 0', 'go on', 'piece 1', 'piece 2'])
    } else {
      assert.equal((await ended(next, path))['code'], codeOf('jobCancelled'))
      assert.deepEqual(done, ['piece 0', 'undo long'])
    }
    assert.deepEqual(await catalog.records(JOB_ORDERS), [])
    await next.close()
  }
})

test('a volume that is being made is gone when its job is cancelled', async () => {
  const cluster = await startTestCluster()
  const fault = { type: 'job_delay', method: 'POST', path: '/api/storage/volumes', delay_ms: 60_000 }
  assert.equal((await cluster.call('POST', '/api/private/faults', fault)).status, 201)
  const made = await cluster.call('POST', '/api/storage/volumes?return_timeout=0', {
    name: 'late',
    svm: 'svm1',
    size: '20m',
  })
  const path = `${JOBS}/${asText(made.body['job']?.['uuid'])}`
  await until(async () => (await stateOf(cluster, path)) === 'running')
  assert.deepEqual(await ask(cluster, path, 'cancel'), [200, undefined])
  assert.equal((await ended(cluster, path))['code'], codeOf('jobCancelled'))
  assert.equal(recordsOf((await cluster.call('GET', '/api/storage/volumes?name=late')).body).length, 0)
  await cluster.close()
})

test('many records in one request are taken back when their job is cancelled, and wait while it halts', async () => {
  const cluster = await startTestCluster()
  const records: Row[] = Array.from({ length: 60 }, (_, at) => ({ name: `many${at}`, svm: 'svm1', size: '20m' }))
  const made = await cluster.call('POST', '/api/storage/volumes?return_timeout=0&serial_records=true', { records })
  const path = `${JOBS}/${asText(made.body['job']?.['uuid'])}`
  const count = async () => recordsOf((await cluster.call('GET', '/api/storage/volumes?name=many*')).body).length
  await until(async () => (await count()) > 2)
  assert.deepEqual(await ask(cluster, path, 'pause'), [200, undefined])
  await until(async () => (await stateOf(cluster, path)) === 'paused')
  const held = await count()
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.equal(await count(), held)
  assert.deepEqual(await ask(cluster, path, 'cancel'), [200, undefined])
  assert.equal((await ended(cluster, path))['code'], codeOf('jobCancelled'))
  assert.equal(await count(), 0)
  await cluster.close()
})

test('a job is given up, halts and goes on by what another process asks that does not run it', async () => {
  for (const action of ['cancel', 'pause'] as const) {
    const done: string[] = []
    const secrets = new QuickSecrets()
    const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
    const { cluster, behaviour, path } = await begin([first(done), longStep(done)], { catalog, secrets })
    const other = await startTestCluster({ isBare: true, isUsed: true, catalog, secrets, extra: [behaviour] })
    await until(() => done.includes('piece 0'))
    assert.deepEqual(await ask(other, path, 'resume'), [409, codeOf('jobNotPaused')])
    assert.deepEqual(await ask(other, path, action), [200, undefined])
    if (action === 'pause') {
      await until(async () => (await stateOf(other, path)) === 'paused')
      assert.deepEqual(await ask(other, path, 'pause'), [409, 458776])
      await other.cluster.jobOrders.prune()
      assert.equal((await catalog.records(JOB_ORDERS)).length, 1, 'the order is there as long as its job')
      done.push('go on')
      assert.deepEqual(await ask(other, path, 'resume'), [200, undefined])
      assert.equal((await ended(cluster, path))['state'], 'success')
      assert.deepEqual(done, ['first', 'piece 0', 'go on', 'piece 1', 'piece 2'])
    } else {
      assert.equal((await ended(cluster, path))['code'], codeOf('jobCancelled'))
      assert.deepEqual(done, ['first', 'piece 0', 'undo long', 'undo first'])
    }
    assert.deepEqual(await ask(other, path, 'cancel'), [409, codeOf('jobEnded')])
    assert.deepEqual(await catalog.records(JOB_ORDERS), [])
    other.clock.stop()
    await cluster.close()
  }
})

test('another process is refused what the step of a job does not allow', async () => {
  const done: string[] = []
  const secrets = new QuickSecrets()
  const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  const firm = longStep(done, { isCancellable: false, isPausable: false })
  const { cluster, behaviour, path } = await begin([firm], { catalog, secrets }, ['machine'])
  const other = await startTestCluster({ isBare: true, isUsed: true, catalog, secrets, extra: [behaviour] })
  await until(() => done.includes('piece 0'))
  const waiting = await submitted(cluster, behaviour)
  assert.deepEqual(await ask(other, path, 'pause'), [409, codeOf('jobNotPausable')])
  assert.deepEqual(await ask(other, path, 'cancel'), [409, codeOf('jobNotCancellable')])
  assert.deepEqual(await ask(other, waiting, 'pause'), [409, 458776])
  assert.deepEqual(await ask(other, waiting, 'cancel'), [200, undefined])
  done.push('go on')
  assert.equal((await ended(cluster, path))['state'], 'success')
  assert.equal((await ended(cluster, waiting))['code'], codeOf('jobCancelled'))
  other.clock.stop()
  await cluster.close()
})
