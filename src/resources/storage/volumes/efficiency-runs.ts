import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { describe } from '../../../core/describe.ts'
import { untilAvailable } from '../../../core/jobs/until-available.ts'
import { Interrupted, job } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { bytes, count, flag, oneOf, time, uuid } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { CatalogUnavailable, CommitRefused, type Change } from '../../../ports/catalog.ts'
import { isEfficiencyOn } from './efficiency.ts'
import { changeNotes, efficiencyLock } from './efficiency-notes.ts'
import { EfficiencyWalk, type RunWork, type WalkCounts } from './efficiency-walk.ts'

export const EFFICIENCY_RUNS = 'storage/volumes/{volume.uuid}/efficiency-runs'

/** The newest runs of a volume that stay on record. */
export const EFFICIENCY_RUNS_KEPT = 10

const efficiencyRunsResource = resource({
  path: '/storage/volumes/{volume.uuid}/efficiency-runs',
  noun: 'efficiency run',
  doc: `Runs that compress what a volume holds and store the same once. The newest ${EFFICIENCY_RUNS_KEPT} are kept.`,
  since: '9.9.1',
  key: ['uuid'],
  parent: 'volume.uuid',
  nameWithin: false,
  columns: ['start_time', 'end_time', 'state', 'examined', 'compressed', 'shared', 'saved'],
  fields: {
    uuid: { doc: 'The UUID of the run.', kind: uuid() },
    volume: { doc: 'The volume of the efficiency run.', ref: 'storage/volumes' },
    compression: {
      doc: 'Whether the run compresses data. Default: the setting of the volume.',
      kind: flag(),
      set: 'create',
    },
    dedupe: {
      doc: 'Whether the run deduplicates data. Default: the setting of the volume.',
      kind: flag(),
      set: 'create',
    },
    scan_old_data: {
      doc: 'Whether the run retries data that could not be reduced before.',
      kind: flag(),
      set: 'create',
      default: false,
    },
    qos_policy: {
      doc: 'The priority of the run compared with clients.',
      kind: oneOf({
        background: 'The run rests as long as it works.',
        best_effort: 'The run rests only to let clients have their turn.',
      }),
      set: 'create',
      default: 'background',
    },
    duration: {
      doc: 'The maximum duration of the run in hours. 0: no limit.',
      kind: count({ min: 0, max: 999 }),
      set: 'create',
      default: 0,
    },
    start_time: { isAlwaysSet: true, doc: 'When the run began.', kind: time() },
    end_time: { doc: 'When the run ended.', kind: time() },
    state: {
      doc: 'The result of the run.',
      kind: oneOf({ success: 'The run examined everything.', stopped: 'The run was stopped before its end.' }),
    },
    examined: { doc: 'The number of stored bodies that the run examined.', kind: count() },
    examined_size: { doc: 'Bytes of the stored bodies that the run examined.', kind: bytes() },
    compressed: { doc: 'The number of bodies that the run compressed.', kind: count() },
    shared: { doc: 'The number of bodies that the run stored together with identical ones.', kind: count() },
    failed: { doc: 'The number of bodies that could not be read or replaced. The log says why.', kind: count() },
    saved: { doc: 'Bytes of disk space that the run freed.', kind: bytes() },
  },
})

export const efficiencyRuns: Behaviour<typeof efficiencyRunsResource> = define(efficiencyRunsResource, {
  create: job({
    example: { compression: true, dedupe: true },
    async plan(cluster, { draft, path }) {
      const volume = path['volume.uuid'] ?? ''
      const row = await cluster.row('storage/volumes', volume)
      if (row['state'] === 'offline') throw failure('volumeOffline')
      const isAsked = draft['compression'] === true || draft['dedupe'] === true
      if (!isAsked && !isEfficiencyOn(row)) throw notOn()
      const key = cluster.system.random.uuid()
      const input = { ...draft, uuid: key, 'volume.uuid': volume, 'svm.uuid': row['svm.uuid'] ?? '' }
      return { key, input, locks: [efficiencyLock(volume)] }
    },
    // What is stored in less stays so when a run fails; the next one goes on.
    steps: [{ name: 'store in less', isPausable: true, run: storeInLess }],
  }),
})

export function notOn() {
  return failure('efficiencyOff')
}

async function storeInLess(cluster: Cluster, work: RunWork): Promise<void> {
  const volume = work.input['volume.uuid']
  if (work.memo.startMs === undefined) {
    const startMs = cluster.now()
    const begun = { isWanted: undefined, isOldWanted: undefined, mustStop: undefined, failure: undefined }
    const fresh = { progress: undefined, beginMs: startMs, endMs: undefined, sizeBytes: undefined, state: undefined }
    const doneMs = startMs
    await untilAvailable(cluster, work, () =>
      changeNotes(cluster, volume, { ...begun, ...fresh, doneMs }, (change) => work.commit([change], { startMs })),
    )
  }
  const walk = new EfficiencyWalk(cluster, work, volume)
  try {
    const state = await walk.go()
    await untilAvailable(cluster, work, () => close(cluster, work, volume, walk.counts, state))
  } catch (problem) {
    if (problem instanceof Interrupted || problem instanceof CatalogUnavailable) throw problem
    const message = problem instanceof Error ? problem.message : String(problem)
    cluster.log.error('What a volume holds could not be stored in less.', { volume, cause: describe(problem) })
    const end = {
      endMs: cluster.now(),
      sizeBytes: walk.counts.examinedBytes,
      state: 'failure',
      failure: message,
    } as const
    const event = cluster.event('volume.efficiency.failed', { volume, message })
    await changeNotes(cluster, volume, end, (change) => cluster.catalog.commit([change, event]))
    throw failure('efficiencyRunEndedEarly', { problem: message })
  }
}

/** Writes the record of the run, and tells of it. Nothing of a volume that has gone. */
async function close(
  cluster: Cluster,
  { key, input, memo }: Pick<RunWork, 'key' | 'input' | 'memo'>,
  volume: string,
  counts: WalkCounts,
  state: 'success' | 'stopped',
): Promise<void> {
  const record = await cluster.record('storage/volumes', volume)
  if (record === undefined || (await cluster.find(EFFICIENCY_RUNS, key)) !== undefined) return
  const { examined, examinedBytes, compressed, shared, failed, savedBytes } = counts
  const endMs = cluster.now()
  const told = { examined, examined_size: examinedBytes, compressed, shared, failed, saved: savedBytes }
  const row = { ...input, ...told, start_time: memo.startMs ?? endMs, end_time: endMs, state }
  const end = { endMs, sizeBytes: examinedBytes, state, progress: undefined, mustStop: undefined }
  const older = (await cluster.rows(EFFICIENCY_RUNS, volume)).toSorted((a, b) => b['start_time'] - a['start_time'])
  const forgotten = older.slice(EFFICIENCY_RUNS_KEPT - 1).map((one): Change => {
    return { do: 'remove-record', type: EFFICIENCY_RUNS, key: one['uuid'] }
  })
  try {
    await changeNotes(cluster, volume, end, (change) =>
      cluster.catalog.commit([
        // The notes and records of a volume go with it, and do not come back.
        { do: 'check-record', type: 'storage/volumes', key: volume, expect: record.revision },
        change,
        cluster.put(EFFICIENCY_RUNS, row),
        cluster.event('volume.efficiency.ended', { volume, run: key, state, ...told }),
        ...forgotten,
      ]),
    )
  } catch (failure) {
    if (!(failure instanceof CommitRefused)) throw failure
    // The volume was changed, or has gone.
    await close(cluster, { key, input, memo }, volume, counts, state)
  }
}
