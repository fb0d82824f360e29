import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { FAULT_DELAY_MS_MAX, type FaultRow, type FaultType } from '../../core/faults.ts'
import { inline, uuidOfNew } from '../../core/verb.ts'
import { codeOf, failure } from '../../model/failure.ts'
import { count, oneOf, text, time, uuid } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import { namesOf, withoutUnset } from '../../model/value.ts'

const CODE_MAX = 2 ** 31

type Path = keyof FaultRow

/** What each type needs, and what it takes beside. Others of these fields have no meaning for it, and are refused. */
const USES: Readonly<Record<FaultType, { readonly needs: readonly Path[]; readonly takes: readonly Path[] }>> = {
  error: { needs: [], takes: ['method', 'path', 'times', 'rate', 'seed', 'status', 'code', 'message', 'retry_after'] },
  delay: { needs: ['delay_ms'], takes: ['method', 'path', 'times', 'rate', 'seed'] },
  job_failure: { needs: ['code'], takes: ['method', 'path', 'times', 'rate', 'seed', 'message'] },
  job_delay: { needs: ['delay_ms'], takes: ['method', 'path', 'times', 'rate', 'seed'] },
  full_aggregate: { needs: ['aggregate.uuid'], takes: ['aggregate.name'] },
}

const faultsResource = resource({
  path: '/private/faults',
  noun: 'fault',
  doc: 'Injected faults test how automation reacts to failures of the cluster. A restart removes all faults.',
  key: ['uuid'],
  nameWithin: false,
  order: [{ path: 'create_time', isDescending: false }],
  columns: ['type', 'method', 'path', 'hits', 'remaining'],
  form: {
    Fault: ['type', 'times', 'rate', 'seed'],
    Requests: ['method', 'path', 'status', 'code', 'message', 'retry_after'],
    Delay: ['delay_ms'],
    Aggregate: ['aggregate.name'],
  },
  removal: 'undoable',
  fields: {
    uuid: {
      doc: 'The UUID of the fault. Responses to affected requests carry it in the header X-Holdfast-Fault.',
      kind: uuid(),
    },
    type: {
      doc: 'The kind of the fault.',
      kind: oneOf({
        error: 'Requests are answered with an error.',
        delay: 'Requests are answered late.',
        job_failure: 'Jobs fail.',
        job_delay: 'Jobs start late.',
        full_aggregate: 'An aggregate reports no free space.',
      } as const satisfies Readonly<Record<FaultType, string>>),
      set: 'create',
      required: true,
    },
    method: {
      doc: 'The method of the affected requests. `*`: any method. For a job, the method of the request that started it.',
      kind: oneOf({
        '*': 'Any method.',
        GET: 'Reads.',
        HEAD: 'Reads of headers alone.',
        POST: 'Requests that create.',
        PUT: 'Requests that create or replace.',
        PATCH: 'Requests that change.',
        DELETE: 'Requests that delete.',
        OPTIONS: 'Requests for the allowed methods.',
      }),
      set: 'always',
    },
    path: {
      doc: 'A pattern for the paths of affected requests: `*` matches text within one part, `**` any text. Default: all paths.',
      kind: text({ charactersMax: 1024, pattern: /^\/api(?:\/|$)/, patternDoc: 'a path that begins with "/api/"' }),
      set: 'always',
    },
    times: {
      doc: 'The maximum number of requests or jobs that the fault affects. Default: no limit.',
      kind: count({ min: 1, max: 1_000_000_000 }),
      set: 'always',
    },
    rate: {
      doc: 'The percentage of matching requests or jobs that the fault affects, chosen at random.',
      kind: count({ min: 1, max: 100 }),
      set: 'always',
    },
    seed: {
      doc: 'The seed of the random choice. Default: a random seed.',
      kind: count({ min: 0, max: 2 ** 32 - 1 }),
      set: 'always',
    },
    status: {
      when: { field: 'type', is: ['error'] },
      doc: 'The HTTP status of responses to affected requests. Default: 503.',
      kind: count({ min: 400, max: 599 }),
      set: 'always',
    },
    code: {
      doc: 'The error code of responses and jobs that the fault breaks.',
      kind: count({ min: 1, max: CODE_MAX }),
      set: 'always',
    },
    message: {
      doc: 'The error message of responses and jobs that the fault breaks.',
      kind: text({ charactersMax: 1024 }),
      set: 'always',
    },
    retry_after: {
      when: { field: 'type', is: ['error'] },
      doc: 'The value of the header Retry-After in seconds.',
      kind: count({ min: 0, max: 86_400, unit: 'seconds' }),
      set: 'always',
    },
    delay_ms: {
      when: { field: 'type', is: ['delay', 'job_delay'] },
      doc: 'The delay of requests, or of jobs before their first step, in milliseconds.',
      kind: count({ min: 1, max: FAULT_DELAY_MS_MAX, unit: 'milliseconds' }),
      set: 'always',
    },
    aggregate: {
      when: { field: 'type', is: ['full_aggregate'] },
      doc: 'The aggregate that reports no free space.',
      ref: 'storage/aggregates',
      set: 'create',
    },
    hits: { doc: 'The number of requests or jobs affected so far.', kind: count() },
    remaining: { doc: 'The number of requests or jobs that the fault can still affect.', kind: count() },
    create_time: { doc: 'When the fault was created.', kind: time() },
  },
})

export const faults: Behaviour<typeof faultsResource> = define(faultsResource, {
  rows: (cluster) => Promise.resolve(cluster.faults.rows()),
  create: inline({
    example: { type: 'error', method: 'GET', path: '/api/storage/example', status: 429, retry_after: 1, times: 1 },
    plan(cluster, { draft }) {
      const key = uuidOfNew(cluster, draft)
      return Promise.resolve({ key, input: settled(cluster, { ...draft, uuid: key, create_time: cluster.now() }) })
    },
    step: {
      name: 'begin',
      async run(cluster, { key, input }) {
        cluster.faults.insistOnRoom(key)
        await tell(cluster, 'cluster.fault.begun', input)
        await cluster.faults.put(input)
      },
    },
  }),
  modify: inline({
    plan(cluster, { row, draft }) {
      const { hits: _, remaining: __, ...before } = row
      return Promise.resolve({ key: row['uuid'], input: settled(cluster, { ...before, ...draft }) })
    },
    step: {
      name: 'begin anew',
      async run(cluster, { input }) {
        await tell(cluster, 'cluster.fault.begun', input)
        await cluster.faults.put(input)
      },
    },
  }),
  remove: inline({
    plan: (_cluster, { row }) => Promise.resolve({ key: row['uuid'], input: { ...row } }),
    step: {
      name: 'end',
      async run(cluster, { key, input }) {
        await tell(cluster, 'cluster.fault.ended', input)
        await cluster.faults.remove(key)
      },
    },
  }),
})

/** The audit trail has the call; the log of events has what it means. What cannot be told is not done. */
async function tell(
  cluster: Cluster,
  name: 'cluster.fault.begun' | 'cluster.fault.ended',
  fault: FaultRow,
): Promise<void> {
  const { uuid, type, method = '', path = '' } = fault
  cluster.log.warn(name === 'cluster.fault.begun' ? 'A fault was begun.' : 'A fault was ended.', {
    uuid,
    type,
    method,
    path,
  })
  await cluster.commit([cluster.event(name, { fault: uuid, type, method, path })])
}

/** With what is not said, and without what means nothing for its type. */
function settled(cluster: Cluster, given: FaultRow): FaultRow {
  const fault = withoutUnset(given)
  const { type } = fault
  const { needs, takes } = USES[type]
  const missing = needs.find((path) => fault[path] === undefined)
  if (missing !== undefined) throw failure('fieldRequired', { field: missing.replace('.uuid', '.name') })
  const known = new Set<Path>([...needs, ...takes, 'uuid', 'type', 'create_time'])
  const odd = namesOf(fault).find((path) => !known.has(path))
  if (odd !== undefined) throw failure('faultFieldMeaningless', { type, field: odd })
  if (type === 'full_aggregate') return fault
  const { status = 503 } = fault
  return {
    method: '*',
    path: '/api/**',
    rate: 100,
    seed: cluster.system.random.bytes(4).readUInt32LE(),
    ...(type === 'error' ? { status, code: codeOf(status === 429 ? 'tooManyRequests' : 'stopping') } : {}),
    ...(type === 'error' || type === 'job_failure' ? { message: 'This is a fault on demand.' } : {}),
    ...fault,
  }
}
