import { type Behaviour, define } from '../../core/behaviour.ts'
import { SCRUB_SCHEDULE, SET_ASIDE_HOURS } from '../../records/set-aside.ts'
import { singletonActs } from '../../core/singleton.ts'
import { bytes, count, flag } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'

/** What a scrub reads in a second: a disk of 4 TB takes a day. */
const RATE_BYTES = 50 * 2 ** 20
export const RATE_BYTES_MIN = 2 ** 20
const INTERVAL_HOURS = 7 * 24

const scrubScheduleResource = resource({
  path: '/private/scrub-schedule',
  noun: 'schedule of scrubs',
  doc: 'When the cluster scrubs its aggregates, how fast, and how long it keeps leftover files.',
  key: [],
  nameWithin: false,
  fields: {
    enabled: { doc: 'Whether the cluster starts scrubs by itself.', kind: flag(), set: 'modify', default: true },
    interval: {
      doc: 'The number of hours between the starts of two scrubs of an aggregate.',
      kind: count({ min: 1, max: 100_000, unit: 'hours' }),
      set: 'modify',
      default: INTERVAL_HOURS,
    },
    rate: {
      doc: 'The maximum number of bytes that a scrub reads per second.',
      kind: bytes({ min: RATE_BYTES_MIN }),
      set: 'modify',
      default: RATE_BYTES,
    },
    lost_and_found_retention: {
      doc: 'The number of hours that the leftovers of interrupted uploads stay in the folder lost-and-found. Files that may belong to a lost object stay until an administrator removes them.',
      kind: count({ min: 1, max: 100_000, unit: 'hours' }),
      set: 'modify',
      default: SET_ASIDE_HOURS,
    },
    unverified: {
      doc: 'The number of stored bodies without checksums, written by an earlier release. Scrubs add the checksums.',
      kind: count(),
    },
  },
})

export const scrubSchedule: Behaviour<typeof scrubScheduleResource> = define(scrubScheduleResource, {
  ...singletonActs(SCRUB_SCHEDULE, { example: { interval: 336 } }),
  derive: [
    {
      gives: ['unverified'],
      async from(cluster, rows) {
        const unverified = await cluster.catalog.unverifiedBlobs()
        return rows.map(() => ({ unverified }))
      },
    },
  ],
})
