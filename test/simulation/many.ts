/** What the test of many requests at once asks for: very many, or that what is left goes on. */
import { explainFailure } from '../../src/core/explain.ts'
import { type Row, textAt } from '../../src/model/value.ts'
import { flatten } from '../../src/model/shape.ts'
import type { JobsCluster } from '../support/jobs-cluster.ts'

export interface ManyOrder {
  /** How they are asked for; `resume` only goes on. */
  readonly way: 'body' | 'requests' | 'resume'
  readonly type: string
  readonly path: Readonly<Record<string, string>>
  /** So many, named one after the other, with these fields. They are made here: an argument of a process is short. */
  readonly count: number
  readonly fields: Readonly<Record<string, unknown>>
}

/** Settles when no job goes on. Fails when something was refused. */
export async function askForMany(open: JobsCluster, order: ManyOrder): Promise<void> {
  const { cluster, actions, jobs } = open
  await jobs.resume()
  const behaviour = cluster.behaviour(order.type)
  const drafts = Array.from({ length: order.count }, (_, at): Row =>
    flatten(behaviour.resource, { name: `many${at}`, ...order.fields }, 'create', cluster.release),
  )
  const common = {
    path: order.path,
    args: {},
    caller: { user: 'admin', role: 'admin', from: 'test' },
    description: `POST ${behaviour.resource.path}`,
  }
  let refused = ''
  /** As clients do: repeated after a while where there are too many, and content with what is there already. */
  const request = async (draft: Row): Promise<void> => {
    for (;;) {
      try {
        await actions.perform(behaviour, 'create', { ...common, draft })
        return
      } catch (cause) {
        const { kind, message, retryAfterSeconds = 0 } = explainFailure(cause)
        if (kind === 'conflict') return
        if (kind !== 'limited') {
          refused = message
          return
        }
        await cluster.system.clock.sleep(retryAfterSeconds * 1000)
      }
    }
  }
  if (order.way === 'body') {
    const bulk = await actions.bulk.submit({
      ...common,
      behaviour,
      verb: 'create',
      records: drafts.map((draft) => ({ draft, instance: [], description: common.description })),
      continueOnFailure: false,
      isSerial: false,
      insistOn: () => Promise.resolve(),
    })
    const ended = await jobs.wait(textAt(bulk, 'uuid'), 3_600_000)
    if (ended['state'] !== 'success') refused = textAt(ended, 'message')
  }
  if (order.way === 'requests') await Promise.all(drafts.map(request))
  await open.ended()
  if (refused !== '') throw new Error(refused)
}
