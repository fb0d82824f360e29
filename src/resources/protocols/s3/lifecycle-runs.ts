import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { describe } from '../../../core/describe.ts'
import { untilAvailable } from '../../../core/jobs/until-available.ts'
import { Interrupted, job, type Work } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { count, oneOf, time, uuid } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import type { RowOf } from '../../../model/rows.ts'
import { CatalogUnavailable, type Change } from '../../../ports/catalog.ts'
import { dueBuckets, forgetGone, keepState, RETRY_MS, rulesDigest } from './lifecycle-due.ts'
import { countFields, readNotes } from './lifecycle-notes.ts'
import { afterWalk, walkBucket } from './lifecycle-walk.ts'
import { RULES } from '../../../records/lifecycle-rules.ts'
import { BUCKETS, LIFECYCLE_RUNS } from './types.ts'

/** Held by the run that is on: others wait, so buckets come one after another. */
export const LIFECYCLE_LOCK = 'lifecycle'

/** The newest runs that stay on record. */
export const RUNS_KEPT = 100
const lifecycleRunsResource = resource({
  path: '/protocols/s3/lifecycle-runs',
  noun: 'lifecycle run',
  doc: `Runs that applied the lifecycle rules of buckets. They begin by themselves; the newest ${RUNS_KEPT} are kept.`,
  since: '9.13.1',
  key: ['uuid'],
  nameWithin: false,
  columns: [
    'start_time',
    'end_time',
    'scope',
    'buckets',
    'examined',
    'expired_objects',
    'deleted_versions',
    'failed_buckets',
  ],
  fields: {
    uuid: { doc: 'The UUID of the run.', kind: uuid() },
    scope: {
      doc: 'The buckets of the run.',
      kind: oneOf({ due: 'Buckets that are due.', all: 'All buckets with lifecycle rules.' }),
      set: 'create',
      default: 'all',
    },
    start_time: { doc: 'When the run began.', kind: time() },
    end_time: { doc: 'When the run ended.', kind: time() },
    buckets: { doc: 'The number of buckets whose rules were applied.', kind: count() },
    failed_buckets: {
      doc: 'The number of buckets whose rules could not be applied. The cluster retries them in an hour.',
      kind: count(),
    },
    examined: { doc: 'The number of versions and open uploads that the run examined.', kind: count() },
    expired_objects: {
      doc: 'The number of objects that the run removed or, in buckets with versioning, hid with a delete marker.',
      kind: count(),
    },
    deleted_versions: { doc: 'The number of noncurrent versions that the run removed.', kind: count() },
    deleted_markers: {
      doc: 'The number of delete markers without older versions that the run removed.',
      kind: count(),
    },
    aborted_uploads: { doc: 'The number of multipart uploads that the run aborted.', kind: count() },
    kept_locked: { doc: 'The number of versions that the run kept because they are locked.', kind: count() },
    kept_changed: {
      doc: 'The number of versions that the run kept because clients changed them during the run.',
      kind: count(),
    },
  },
})

export const lifecycleRuns: Behaviour<typeof lifecycleRunsResource> = define(lifecycleRunsResource, {
  create: job({
    example: {},
    plan(cluster, { draft }) {
      const key = cluster.system.random.uuid()
      const input = { uuid: key, scope: draft['scope'] ?? ('all' as const), start_time: cluster.now() }
      return Promise.resolve({ key, input, locks: [LIFECYCLE_LOCK] })
    },
    // What was removed is not brought back when a run fails; the next one goes on.
    steps: [{ name: 'apply rules', isCancellable: true, isPausable: true, run: applyRules }],
  }),
})

type RunWork = Work<RowOf<typeof LIFECYCLE_RUNS>>

/** Each bucket once, in the order of uuids, beginning with the one it was in. What becomes due meanwhile is for the next. */
async function applyRules(cluster: Cluster, work: RunWork): Promise<void> {
  const { walk, last } = readNotes(work.memo)
  const due = await dueBuckets(cluster, work.input['scope'] === 'due' ? 'due' : 'all')
  const left = due.filter((bucket) => bucket > last && bucket !== walk?.bucket)
  if (walk !== undefined) left.unshift(walk.bucket)
  for (const [at, bucket] of left.entries()) {
    if (at > 0 && work.stopping.aborted) throw new Interrupted()
    await applyTo(cluster, work, bucket, left.length - at)
  }
  await untilAvailable(cluster, work, () => close(cluster, work))
  const { failed } = readNotes(work.memo)
  if (failed > 0) {
    throw failure('lifecycleRunFailed', { count: failed })
  }
}

/** A bucket that fails does not keep the others. */
async function applyTo(cluster: Cluster, work: Work, bucket: string, bucketsLeft: number): Promise<void> {
  try {
    await untilAvailable(cluster, work, () => walkBucket(cluster, work, bucket, bucketsLeft))
  } catch (failure) {
    if (failure instanceof Interrupted || failure instanceof CatalogUnavailable) throw failure
    await untilAvailable(cluster, work, () => setAside(cluster, work, bucket, failure))
  }
}

async function setAside(cluster: Cluster, work: Work, bucket: string, failure: unknown): Promise<void> {
  cluster.log.error('Lifecycle rules could not be applied.', { bucket, cause: describe(failure) })
  const row = await cluster.find(BUCKETS, bucket)
  const notes = readNotes(work.memo)
  const now = cluster.now()
  const state = { bucket, judgedMs: now, rules: rulesDigest(row?.[RULES]) ?? '', retryMs: now + RETRY_MS }
  await work.commit(
    [keepState(state), cluster.event('s3.lifecycle.failed', { bucket, bucket_name: row?.['name'] ?? '' })],
    afterWalk('failed', bucket, notes, notes.walk),
  )
}

/** Writes the record of the run, and tells of it. */
async function close(cluster: Cluster, { key, input, memo }: RunWork): Promise<void> {
  if ((await cluster.find(LIFECYCLE_RUNS, key)) !== undefined) return
  const { buckets, failed, counts } = readNotes(memo)
  const told = { buckets, failed_buckets: failed, ...countFields(counts) }
  await cluster.commit([
    cluster.put(LIFECYCLE_RUNS, { ...input, end_time: cluster.now(), ...told }),
    cluster.event('s3.lifecycle.ended', { run: key, ...told }),
    ...(await forgetOld(cluster)),
    ...(await forgetGone(cluster)),
  ])
}

async function forgetOld(cluster: Cluster): Promise<Change[]> {
  const newestFirst = (await cluster.rows(LIFECYCLE_RUNS)).toSorted(
    (a, b) => (b['start_time'] ?? 0) - (a['start_time'] ?? 0),
  )
  return newestFirst
    .slice(RUNS_KEPT - 1)
    .map((run) => ({ do: 'remove-record', type: LIFECYCLE_RUNS, key: run['uuid'] }))
}
