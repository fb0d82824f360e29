import { type Acting, type Action, action } from '../../core/action.ts'
import { type Behaviour, define } from '../../core/behaviour.ts'
import { isActive, JOB_ACTIONS, type JobAction } from '../../core/jobs/job-record.ts'
import { type ChangeRequest, inline } from '../../core/verb.ts'
import type { Danger } from '../../model/facts.ts'
import { failure } from '../../model/failure.ts'
import { count, oneOf, text, time, uuid, percent } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import type { RowOf } from '../../model/rows.ts'

const jobsResource = resource({
  path: '/cluster/jobs',
  noun: 'job',
  doc: 'Jobs carry out requests that take long. A finished job is kept for a day.',
  key: ['uuid'],
  nameWithin: false,
  columns: ['description', 'state', 'progress', 'start_time', 'end_time', 'message'],
  removal: 'harmless',
  fields: {
    uuid: { doc: 'The UUID of the job.', kind: uuid() },
    name: { isAlwaysSet: true, doc: 'The name of the job: its action and its object.', kind: text() },
    description: {
      isAlwaysSet: true,
      doc: 'The method and the path of the request that started the job.',
      kind: text(),
    },
    state: {
      isAlwaysSet: true,
      doc: 'The state of the job.',
      kind: oneOf({
        queued: 'The job waits for its turn.',
        running: 'The job is running.',
        paused: 'The job was paused.',
        success: 'The job succeeded.',
        failure: 'The job failed, and its changes were undone.',
      }),
    },
    message: { isAlwaysSet: true, doc: 'The current step of the job, or why the job failed.', kind: text() },
    code: { isAlwaysSet: true, doc: 'The error code of the job. 0: no error.', kind: count() },
    elapsed_time: {
      doc: 'The number of seconds since the start of the job, up to its end.',
      kind: count({ unit: 'seconds' }),
    },
    progress: { isAlwaysSet: true, doc: 'The progress of the job in percent.', kind: percent() },
    start_time: { isAlwaysSet: true, doc: 'When the job was created.', kind: time() },
    end_time: { doc: 'When the job ended.', kind: time() },
    error: { doc: 'Why the job failed.', isGroup: true },
    'error.message': { doc: 'The reason why the job failed.', since: '9.9.1' },
    'error.code': { doc: 'The error code of the job, as text.', since: '9.9.1' },
    svm: { doc: 'The SVM of the job.', ref: 'svm/svms' },
    node: { doc: 'The node that runs the job.', isGroup: true },
    'node.name': { doc: 'The name of the node that runs the job.', kind: text(), since: '9.11.1' },
  },
})

function asking(what: JobAction, danger: Danger, doc: string): Action<ChangeRequest<RowOf<'cluster/jobs'>>> {
  return action({
    doc,
    danger,
    example: {},
    needs: what === 'resume' ? 'a paused job' : 'a job that can halt',
    spelled: { asks: { action: [what] } },
    plan: (_cluster, { row }: Acting<'cluster/jobs'>) => Promise.resolve({ key: row['uuid'], input: {} }),
    step: { name: 'ask', run: (cluster, { key }) => cluster.jobOrders.ask(cluster, key, what) },
  })
}

export const jobs: Behaviour<typeof jobsResource> = define(jobsResource, {
  modify: inline({
    args: {
      action: {
        doc: 'The action on the job. Refused if the current step does not allow it.',
        kind: oneOf({
          cancel: 'Stops the job and undoes its changes; the job ends as `failure`.',
          pause: 'Pauses the job.',
          resume: 'Resumes the job.',
        }),
      },
    },
    exampleArgs: [{ action: 'pause' }],
    plan() {
      throw failure('jobActionUnknown', { actions: JOB_ACTIONS.join(', ') })
    },
    step: { name: 'nothing', run: () => Promise.resolve() },
  }),
  actions: {
    cancel: asking('cancel', 'destructive', 'Stops the job and undoes its changes. The job ends as `failure`.'),
    pause: asking('pause', 'undoable', 'Pauses the job, if its current step allows it.'),
    resume: asking('resume', 'harmless', 'Resumes a paused job.'),
  },
  derive: [
    {
      gives: ['node'],
      async from(cluster, rows) {
        const [node] = await cluster.rows('cluster/nodes')
        return rows.map(() => ({ 'node.name': node?.['name'] ?? null }))
      },
    },
    {
      gives: ['elapsed_time'],
      from: (cluster, rows) =>
        Promise.resolve(
          rows.map((row) => {
            const until = isActive(row) ? cluster.now() : (row['end_time'] ?? row['start_time'])
            return { elapsed_time: Math.max(0, Math.floor((until - row['start_time']) / 1000)) }
          }),
        ),
    },
  ],
})
