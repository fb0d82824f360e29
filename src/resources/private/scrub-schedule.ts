import { define } from '../../core/behaviour.ts'
import { singletonActs } from '../../core/singleton.ts'
import { bytes, count, flag } from '../../model/kinds/index.ts'

export const SCRUB_SCHEDULE = 'private/scrub-schedule'

/** What a scrub reads in a second: a disk of 4 TB takes a day. */
const RATE_BYTES = 50 * 2 ** 20
export const RATE_BYTES_MIN = 2 ** 20
const INTERVAL_HOURS = 7 * 24

export const scrubSchedule = define(
  {
    path: '/private/scrub-schedule',
    noun: 'schedule of scrubs',
    doc: 'When aggregates are scrubbed without being asked to.',
    key: [],
    nameWithin: false,
    fields: {
      enabled: { doc: 'Whether aggregates are scrubbed by themselves.', kind: flag(), set: 'modify', default: true },
      interval: {
        doc: 'The hours from the beginning of a scrub of an aggregate to that of the next one.',
        kind: count({ min: 1, max: 100_000 }),
        set: 'modify',
        default: INTERVAL_HOURS,
      },
      rate: {
        doc: 'The most bytes that the scrub of an aggregate reads in a second.',
        kind: bytes({ min: RATE_BYTES_MIN }),
        set: 'modify',
        default: RATE_BYTES,
      },
      unverified: {
        doc: 'How many stored bodies have no checksums yet, because an earlier release wrote them. Scrubs add the checksums.',
        kind: count(),
      },
    },
  },
  {
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
  },
)
