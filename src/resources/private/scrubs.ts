import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { settingsOf } from '../../core/singleton.ts'
import { untilAvailable } from '../../core/jobs/until-available.ts'
import { job, uuidOfNew } from '../../core/verb.ts'
import { bytes, count, time, uuid } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import { type Change, CommitRefused } from '../../ports/catalog.ts'
import { changeScrubNotes, scrubLock, SCRUBS } from '../storage/scrub/notes.ts'
import { ScrubWalk, type ScrubWork } from '../storage/scrub/scrub-walk.ts'
import { SCRUB_SCHEDULE } from '../../records/set-aside.ts'
import { RATE_BYTES_MIN } from './scrub-schedule.ts'

/** The newest scrubs of an aggregate that stay on record. */
export const SCRUBS_KEPT = 10

const scrubsResource = resource({
  path: '/private/scrubs',
  noun: 'scrub',
  doc: `Completed scrubs. A scrub reads and verifies all stored objects of an aggregate, adds checksums to files of earlier releases, and looks for files that no object needs. The job of a scrub shows its progress. The newest ${SCRUBS_KEPT} scrubs of each aggregate are kept.`,
  key: ['uuid'],
  parent: 'aggregate.uuid',
  nameWithin: false,
  order: [{ path: 'start_time', isDescending: false }],
  columns: ['aggregate.name', 'start_time', 'end_time', 'examined_size', 'damaged', 'unexpected'],
  form: { Scrub: ['aggregate.name', 'rate'] },
  fields: {
    uuid: { doc: 'The UUID of the scrub.', kind: uuid() },
    aggregate: {
      doc: 'The aggregate that the scrub reads.',
      ref: 'storage/aggregates',
      set: 'create',
      required: true,
    },
    rate: {
      doc: 'The maximum number of bytes that the scrub reads per second. Default: the rate of the scrub schedule.',
      kind: bytes({ min: RATE_BYTES_MIN }),
      set: 'create',
    },
    start_time: { isAlwaysSet: true, doc: 'When the scrub began.', kind: time() },
    end_time: { doc: 'When the scrub ended.', kind: time() },
    examined: { doc: 'The number of stored bodies of objects and parts that the scrub verified.', kind: count() },
    examined_size: { doc: 'The total size in bytes of the bodies that the scrub verified.', kind: bytes() },
    damaged: {
      doc: 'The number of damaged bodies that the scrub found. They are listed as damaged objects.',
      kind: count(),
    },
    unexpected: { doc: 'The number of files that the scrub found and no object needs.', kind: count() },
    set_aside: {
      doc: 'The number of unneeded files that the scrub moved to the folder lost-and-found of the aggregate.',
      kind: count(),
    },
    upgraded: {
      doc: 'The number of files of earlier releases that the scrub rewrote with checksums.',
      kind: count(),
    },
  },
})

export const scrubs: Behaviour<typeof scrubsResource> = define(scrubsResource, {
  create: job({
    example: { aggregate: { name: 'aggr1' } },
    async plan(cluster, { draft }) {
      const aggregate = draft['aggregate.uuid']
      await cluster.row('storage/aggregates', aggregate)
      const key = uuidOfNew(cluster, draft)
      return { key, input: { ...draft, uuid: key }, locks: [scrubLock(aggregate)] }
    },
    // What was verified stays so when a scrub fails; the next one begins anew.
    steps: [{ name: 'verify', isPausable: true, isCancellable: true, run: verify }],
  }),
})

async function verify(cluster: Cluster, work: ScrubWork): Promise<void> {
  const aggregate = work.input['aggregate.uuid']
  if (work.memo.startMs === undefined) {
    const startMs = cluster.now()
    await untilAvailable(cluster, work, () =>
      work.commit([changeScrubNotes(aggregate, { begunMs: startMs })], { startMs }),
    )
  }
  const rate = work.input['rate'] ?? (await settingsOf(cluster, SCRUB_SCHEDULE))['rate'] ?? RATE_BYTES_MIN
  const walk = new ScrubWalk(cluster, work, aggregate, rate)
  await walk.go()
  await untilAvailable(cluster, work, () => close(cluster, work, aggregate, walk))
}

/** Writes the record of the scrub, and tells of it. Nothing of an aggregate that has gone. */
async function close(
  cluster: Cluster,
  { key, input, memo }: ScrubWork,
  aggregate: string,
  walk: ScrubWalk,
): Promise<void> {
  const record = await cluster.record('storage/aggregates', aggregate)
  if (record === undefined || (await cluster.find(SCRUBS, key)) !== undefined) return
  const { examined, examinedBytes, damaged, unexpected, setAside, upgraded } = walk.counts
  const told = { examined, examined_size: examinedBytes, damaged, unexpected, set_aside: setAside, upgraded }
  const older = (await cluster.rows(SCRUBS, aggregate)).toSorted((a, b) => b['start_time'] - a['start_time'])
  const changes = [
    cluster.put(SCRUBS, { ...input, ...told, start_time: memo.startMs ?? cluster.now(), end_time: cluster.now() }),
    cluster.event('aggregate.scrub.ended', { aggregate: record.body['name'] ?? '', ...told }),
    ...older.slice(SCRUBS_KEPT - 1).map((one): Change => {
      return { do: 'remove-record', type: SCRUBS, key: one['uuid'] }
    }),
  ]
  await cluster.catalog.commit(changes).catch((failure: unknown) => {
    if (!(failure instanceof CommitRefused) || failure.scope !== 'parent') throw failure
  })
}
