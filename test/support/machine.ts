/** A resource of tests whose create is a job of the given steps. */
import { define, type Behaviour } from '../../src/core/behaviour.ts'
import { job, type Step } from '../../src/core/verb.ts'
import { text, uuid } from '../../src/model/kinds/index.ts'
import { resource } from '../../src/model/resource.ts'
import { type Row, textAt } from '../../src/model/value.ts'
import { startTestCluster, type TestCluster, type TestClusterOptions } from './cluster.ts'

export const CALLER = { user: 'admin', role: 'admin', from: 'test' }

/** A resource whose create runs the given steps. */
export function machine(steps: readonly Step[], locks: readonly string[] = []): Behaviour {
  return define(
    resource({
      path: '/test/machines',
      noun: 'machine',
      doc: 'x',
      key: ['uuid'],
      nameWithin: false,
      fields: { uuid: { doc: 'x', kind: uuid() }, name: { doc: 'x', kind: text(), set: 'create' } },
    }),
    {
      create: job({
        plan: (cluster, { draft }) =>
          Promise.resolve({ key: cluster.system.random.uuid(), input: { ...draft }, locks }),
        steps,
      }),
    },
  )
}

export async function startWith(behaviour: Behaviour, options: TestClusterOptions = {}): Promise<TestCluster> {
  return startTestCluster({ isBare: true, ...options, extra: [behaviour] })
}

/** Asks for one, and gives its job as it is when it has ended, or after the wait. */
export async function run(cluster: TestCluster, behaviour: Behaviour, draft: Row = {}, waitMs = 60_000): Promise<Row> {
  const performed = await cluster.actions.perform(behaviour, 'create', {
    caller: CALLER,
    draft,
    path: {},
    args: {},
    description: 'POST /api/test/machines',
  })
  return cluster.jobs.wait(textAt(performed.job, 'uuid'), waitMs)
}
