import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Task } from '../../core/tasks/background.ts'
import { count, duration, oneOf, text, time } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import type { Row } from '../../model/value.ts'

const backgroundTasksResource = resource({
  path: '/private/background-tasks',
  noun: 'background task',
  doc: 'Background tasks: the work that the cluster does beside requests. Each shows how often it runs, when it ran last, and its last failure.',
  key: ['name'],
  recordKey: ['name'],
  columns: ['name', 'scope', 'state', 'interval', 'last_run.start_time', 'next_run_time', 'last_error.message'],
  fields: {
    name: { doc: 'The name of the background task.', kind: text({ charactersMax: 64 }) },
    description: { doc: 'A sentence that says what the background task does.', kind: text({ charactersMax: 500 }) },
    bound: {
      doc: 'A sentence that says how the cost of a run of the background task is limited.',
      kind: text({ charactersMax: 500 }),
    },
    node: { doc: 'The node that runs the background task.', ref: 'cluster/nodes' },
    scope: {
      doc: 'Whether each node runs the background task, or one node for the cluster.',
      kind: oneOf({
        node: 'Every node runs the task for itself.',
        cluster:
          'One node at a time runs the task. It holds a claim, which another node takes over when the node is gone.',
      }),
    },
    state: {
      doc: 'Whether the background task waits for its next run, is running, is claimed by another node, or has stopped with the cluster.',
      kind: oneOf({
        waiting: 'The task waits for its next run.',
        running: 'A run is in progress.',
        elsewhere: 'Another node runs the task.',
        stopped: 'The task stopped with the cluster.',
      }),
    },
    interval: { doc: 'The shortest rest between two runs of the background task, in seconds.', kind: duration() },
    next_run_time: { doc: 'The time of the next run of the background task.', kind: time() },
    current_work: {
      doc: 'The current work of the background task, while it is running.',
      kind: text({ charactersMax: 500 }),
    },
    last_run: { doc: 'The run of the background task that was started last.', isGroup: true },
    'last_run.start_time': { doc: 'The start of the last run of the background task.', kind: time() },
    'last_run.end_time': { doc: 'The end of the last complete run of the background task.', kind: time() },
    statistics: { doc: 'The number of runs of the background task since the cluster was started.', isGroup: true },
    'statistics.runs': {
      doc: 'The number of complete runs of the background task since the cluster was started.',
      kind: count(),
    },
    'statistics.failures': {
      doc: 'The number of runs of the background task that failed since the cluster was started.',
      kind: count(),
    },
    last_error: { doc: 'The last failure of the background task since the cluster was started.', isGroup: true },
    'last_error.message': {
      doc: 'The message of the last failure of the background task.',
      kind: text({ charactersMax: 500 }),
    },
    'last_error.time': { doc: 'The time of the last failure of the background task.', kind: time() },
  },
})

export const backgroundTasks: Behaviour<typeof backgroundTasksResource> = define(backgroundTasksResource, {
  async rows(cluster) {
    const [node] = await cluster.rows('cluster/nodes')
    const own = { 'node.name': node?.['name'] ?? '', 'node.uuid': node?.['uuid'] ?? '' }
    return cluster.background.tasks.map((task) => {
      const { elsewhere } = task.status
      return { ...rowOf(task), ...(elsewhere === undefined ? own : { 'node.uuid': elsewhere }) }
    })
  },
})

function rowOf({ declared, status }: Task): Row {
  const { begunMs, endedMs, nextMs, work, lastError } = status
  return {
    name: declared.name,
    description: declared.doc,
    bound: declared.bound,
    scope: declared.scope,
    interval: Math.ceil(declared.everyMs / 1000),
    state: status.state,
    'statistics.runs': status.runs,
    'statistics.failures': status.failures,
    ...(nextMs === undefined ? {} : { next_run_time: nextMs }),
    ...(work === undefined ? {} : { current_work: work }),
    ...(begunMs === undefined ? {} : { 'last_run.start_time': begunMs }),
    ...(endedMs === undefined ? {} : { 'last_run.end_time': endedMs }),
    ...(lastError === undefined ? {} : { 'last_error.message': lastError.message, 'last_error.time': lastError.atMs }),
  }
}
