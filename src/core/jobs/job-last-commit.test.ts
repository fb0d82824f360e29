/** What is asked of a job in the moment in which it ends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CALLER, machine } from '../../../test/support/machine.ts'
import { startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'
import { openSqliteCatalog } from '../../engines/sqlite/catalog.ts'
import { type Row, textAt } from '../../model/value.ts'
import type { Catalog, Change } from '../../ports/catalog.ts'
import { JOB_ORDERS } from './job-orders.ts'
import { JOBS } from './jobs.ts'
import { codeOf } from '../../model/failure.ts'

const isOrder = (change: Change) => change.do === 'put-record' && change.type === JOB_ORDERS
const isSuccess = (change: Change) =>
  change.do === 'put-record' && change.type === JOBS && change.body['state'] === 'success'

/** Holds back the first commit with a change of one kind until one with a change of the other kind was settled. */
function reordering(
  catalog: Catalog,
  first: (change: Change) => boolean,
  second: (change: Change) => boolean,
): Catalog {
  const [atSecond, firstDone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const commit: Catalog['commit'] = async (changes) => {
    if (changes.some(second)) {
      atSecond.resolve()
      await firstDone.promise
    }
    if (!changes.some(first)) return catalog.commit(changes)
    await atSecond.promise
    return catalog.commit(changes).finally(() => firstDone.resolve())
  }
  return new Proxy(catalog, {
    get(target, name) {
      const value: unknown = name === 'commit' ? commit : Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

async function cancelledAtItsEnd(first: (change: Change) => boolean, second: (change: Change) => boolean) {
  const done: string[] = []
  const end = Promise.withResolvers<void>()
  const behaviour = machine([
    {
      name: 'only',
      isCancellable: true,
      run: () => end.promise,
      undo: () => Promise.resolve(void done.push('undone')),
    },
  ])
  const catalog = reordering(openSqliteCatalog({ file: ':memory:', commit: 'in-process' }), first, second)
  const cluster: TestCluster = await startTestCluster({ isBare: true, catalog, extra: [behaviour] })
  const call = { caller: CALLER, draft: {}, path: {}, args: {}, description: 'POST /api/test/machines' }
  const { job } = await cluster.actions.perform(behaviour, 'create', call)
  const uuid = textAt(job, 'uuid')
  const isRunning = async () => (await cluster.cluster.row(JOBS, uuid))['state'] === 'running'
  while (!(await isRunning())) await cluster.cluster.system.turn()
  const asking = cluster.call('PATCH', `/api/cluster/jobs/${uuid}?action=cancel`)
  // The order was begun by a job that runs, and is written while that ends.
  await cluster.cluster.system.turn()
  end.resolve()
  const { status, body } = await asking
  const ended: Row = await cluster.jobs.wait(uuid, 60_000)
  assert.deepEqual(await catalog.records(JOB_ORDERS), [])
  await cluster.close()
  return [status, body['error']?.['code'], ended['state'], ended['code'], done]
}

test('a job that is cancelled before its last commit is undone, though that was under way', async () => {
  assert.deepEqual(await cancelledAtItsEnd(isOrder, isSuccess), [
    200,
    undefined,
    'failure',
    codeOf('jobCancelled'),
    ['undone'],
  ])
})

test('who cancels a job whose last commit came before is told that it has ended, and it has', async () => {
  assert.deepEqual(await cancelledAtItsEnd(isSuccess, isOrder), [409, codeOf('jobEnded'), 'success', 0, []])
})
