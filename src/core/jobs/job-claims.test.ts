/** Several processes with management planes of their own, on one catalog. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QuickSecrets, startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'
import { CALLER, machine, run, startWith } from '../../../test/support/machine.ts'
import { openSqliteCatalog } from '../../engines/sqlite/catalog.ts'
import { Failure } from '../../model/failure.ts'
import { textAt } from '../../model/value.ts'
import type { Behaviour } from '../behaviour.ts'
import { JOB_CLAIMS } from './job-claims.ts'
import { JOBS } from './jobs.ts'
import type { Step } from '../verb.ts'

const NOTES = 'internal/test-notes'

/** A step that waits for each process that comes to it, and then commits a note of its own. */
function gated(): { readonly step: Step; readonly arrived: Promise<void>[]; readonly open: (() => void)[] } {
  const gates = Array.from({ length: 3 }, () => Promise.withResolvers<void>())
  const arrivals = Array.from({ length: 3 }, () => Promise.withResolvers<void>())
  let came = 0
  const step: Step = {
    name: 'gated',
    async run(cluster, work) {
      const at = came++
      arrivals[at]?.resolve()
      await gates[at]?.promise
      await cluster.catalog.commit([{ do: 'put-record', type: NOTES, key: `${at}`, body: { job: work.key } }])
    },
  }
  return {
    step,
    arrived: arrivals.map(({ promise }) => promise),
    open: gates.map(({ resolve }) => resolve),
  }
}

async function two(behaviour: Behaviour, nodes: readonly [string, string]) {
  const secrets = new QuickSecrets()
  const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  const [node, otherNode] = nodes
  const first = await startWith(behaviour, { catalog, secrets, node })
  const common = { isBare: true, isUsed: true, catalog, secrets, extra: [behaviour] }
  const second = await startTestCluster({ ...common, node: otherNode })
  return { catalog, first, second }
}

async function submit(cluster: TestCluster, behaviour: Behaviour): Promise<string> {
  const { job } = await cluster.actions.perform(behaviour, 'create', {
    caller: CALLER,
    draft: {},
    path: {},
    args: {},
    description: 'POST /api/test/machines',
  })
  return textAt(job, 'uuid')
}

test('a job that ends, well or not, leaves no claim', async () => {
  const fails: Step = { name: 'fails', run: () => Promise.reject(new Failure('conflict', 8, 'No.')) }
  for (const steps of [[], [fails]]) {
    const behaviour = machine([{ name: 'one', run: () => Promise.resolve() }, ...steps])
    const cluster = await startWith(behaviour)
    const job = await run(cluster, behaviour)
    assert.equal(job['state'], steps.length === 0 ? 'success' : 'failure')
    assert.deepEqual(await cluster.cluster.catalog.records(JOB_CLAIMS), [])
    await cluster.close()
  }
})

test('a job that another node runs is not taken up', async () => {
  const { step, arrived, open } = gated()
  const behaviour = machine([step])
  const { catalog, first, second } = await two(behaviour, ['n1', 'n2'])
  const job = await submit(first, behaviour)
  await arrived[0]
  assert.equal(await second.jobs.resume(), 0)
  open[0]?.()
  assert.equal((await first.jobs.wait(job, 60_000))['state'], 'success')
  assert.deepEqual(
    (await catalog.records(NOTES)).map(({ key }) => key),
    ['0'],
  )
  second.clock.stop()
  await first.close()
})

test('a process whose job a later one has taken commits nothing more, and the job ends once', async () => {
  const { step, arrived, open } = gated()
  const behaviour = machine([step])
  const { catalog, first, second } = await two(behaviour, ['n1', 'n1'])
  const job = await submit(first, behaviour)
  await arrived[0]
  assert.equal(await second.jobs.resume(), 1)
  await arrived[1]
  // The first was only thought to be gone.
  open[0]?.()
  while (first.jobs.activeCount > 0) await first.cluster.system.turn()
  assert.deepEqual(await catalog.records(NOTES), [])
  assert.equal((await second.cluster.row(JOBS, job)).state, 'running')
  open[1]?.()
  assert.equal((await second.jobs.wait(job, 60_000))['state'], 'success')
  assert.deepEqual(
    (await catalog.records(NOTES)).map(({ key }) => key),
    ['1'],
  )
  assert.deepEqual(await catalog.records(JOB_CLAIMS), [])
  const told = first.logged.filter(({ level }) => level === 'error')
  assert.deepEqual(told, [], 'it is no failure of the job')
  second.clock.stop()
  await first.close()
})

test('of several that take a job up at the same time one has it', async () => {
  const { step, arrived, open } = gated()
  const behaviour = machine([step])
  const { catalog, first, second } = await two(behaviour, ['n1', 'n1'])
  const job = await submit(first, behaviour)
  await arrived[0]
  const taken = await Promise.all([second.jobs.resume(), second.jobs.resume(), second.jobs.resume()])
  assert.deepEqual(taken.toSorted(), [0, 0, 1])
  await arrived[1]
  for (const each of open) each()
  assert.equal((await second.jobs.wait(job, 60_000))['state'], 'success')
  assert.equal((await catalog.records(NOTES)).length, 1)
  while (first.jobs.activeCount > 0) await first.cluster.system.turn()
  second.clock.stop()
  await first.close()
})

test('what a step is refused is still about its own change', async () => {
  const refused: number[] = []
  const behaviour = machine([
    {
      name: 'refused',
      async run(cluster) {
        const put = (key: string) => ({ do: 'put-record', type: NOTES, key, body: {}, expect: 'absent' }) as const
        const outcomes = await cluster.catalog.commit([put('a')])
        assert.equal(outcomes.length, 1)
        await cluster.catalog.commit([put('b'), put('a')]).catch((failure: { change: number }) => {
          refused.push(failure.change)
        })
      },
    },
  ])
  const cluster = await startWith(behaviour)
  assert.equal((await run(cluster, behaviour))['state'], 'success')
  assert.deepEqual(refused, [1])
  await cluster.close()
})
