import type { Ground } from '../../core/grounds.ts'
import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { nextTime, type Cron } from '../../core/time/cron.ts'
import type { Schedule } from '../../core/time/schedule.ts'
import { plainRemove } from '../../core/plain.ts'
import { inline, uuidOfNew } from '../../core/verb.ts'
import { failure } from '../../model/failure.ts'
import { count, duration, list, name, oneOf, uuid } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import type { DraftOf, RowOf } from '../../model/rows.ts'
import { without, withoutUnset } from '../../model/value.ts'

export const SCHEDULES = 'cluster/schedules'

/** Held while a schedule is removed and while a policy takes one up, so that no policy is left with what is gone. */
export const SCHEDULES_LOCK: Ground = {
  lock: 'schedules',
  types: [SCHEDULES, 'storage/snapshot-policies', 'storage/volume-efficiency-policies'],
}

/** Snapshots are named by the minute, so nothing is due more often. */
const INTERVAL_SECONDS_MIN = 60

declare module '../../model/rows.ts' {
  interface NoteTypes {
    readonly 'cluster/schedules': {
      /** When it was made, or last became due at other times. */
      readonly $changed?: number
      readonly $isBuiltIn?: boolean
    }
  }
}

const schedulesResource = resource({
  path: '/cluster/schedules',
  noun: 'schedule',
  doc: 'Schedules of recurring tasks, such as the snapshots of a snapshot policy. All times are UTC.',
  key: ['uuid'],
  alsoBy: 'name',
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  isShared: true,
  columns: ['name', 'type', 'cron.hours', 'cron.minutes', 'interval', 'svm.name'],
  form: {
    Schedule: ['name', 'svm.name', 'interval'],
    Cron: ['cron.minutes', 'cron.hours', 'cron.days', 'cron.months', 'cron.weekdays'],
  },
  removal: 'disruptive',
  fields: {
    uuid: { doc: 'The UUID of the schedule.', kind: uuid() },
    name: {
      doc: 'The name of the schedule.',
      kind: name({
        charactersMax: 256,
        pattern: /^[A-Za-z0-9_][A-Za-z0-9_ .:+-]*$/,
        patternDoc: 'letters, digits, blanks and "_.:+-", beginning with a letter, a digit or "_"',
      }),
      set: 'create',
      required: true,
    },
    type: {
      doc: 'How the schedule defines its times.',
      kind: oneOf({
        cron: 'By minutes, hours, days, months and weekdays.',
        interval:
          'The interval as an ISO 8601 duration of at least PT1M. The schedule is due at multiples of the interval since 1970.',
      }),
    },
    cron: { doc: 'When the schedule is due, as fields of cron.', isGroup: true },
    'cron.minutes': numbers('The minutes of the hour, 0 to 59. Empty: every minute.', 0, 59),
    'cron.hours': numbers('The hours of the day, 0 to 23. Default: every hour.', 0, 23),
    'cron.days': numbers(
      'The days of the month, 1 to 31. If weekdays are given too, either of them is sufficient.',
      1,
      31,
    ),
    'cron.months': numbers('The months of the year, 1 to 12. Default: every month.', 1, 12),
    'cron.weekdays': numbers('The days of the week, 0 (Sunday) to 6. Default: every day.', 0, 6),
    interval: {
      doc: 'The time from one to the next, ISO 8601, from PT1M on. It is due at its multiples since 1970.',
      kind: duration(),
      set: 'always',
    },
    svm: {
      doc: 'The SVM that owns the schedule. Without one, the schedule is for the whole cluster.',
      ref: 'svm/svms',
      set: 'create',
      since: '9.10.1',
    },
    scope: {
      doc: 'Whether the schedule belongs to an SVM or to the cluster.',
      kind: oneOf({ svm: 'The schedule belongs to an SVM.', cluster: 'The schedule is for the whole cluster.' }),
      since: '9.10.1',
    },
    cluster: { doc: 'The cluster that owns the schedule.', isGroup: true },
    'cluster.name': { doc: 'The name of the cluster that owns the schedule.', set: 'create' },
    'cluster.uuid': { doc: 'The UUID of the cluster that owns the schedule.', kind: uuid() },
  },
})

export const schedules: Behaviour<typeof schedulesResource> = define(schedulesResource, {
  derive: [
    {
      gives: ['scope', 'cluster'],
      async from(cluster, rows) {
        const [self] = await cluster.rows('cluster')
        return rows.map((row) => ({
          scope: (row['svm.uuid'] ?? '') === '' ? 'cluster' : 'svm',
          'cluster.name': self?.['name'] ?? null,
          'cluster.uuid': self?.['uuid'] ?? null,
        }))
      },
    },
  ],
  create: inline({
    example: { name: 'schedule_example', cron: { minutes: [0, 30], hours: [6] } },
    async plan(cluster, { draft }) {
      const { 'cluster.name': owner, ...given } = draft
      await insistOnOwner(cluster, owner)
      const row = settled({ ...given, uuid: uuidOfNew(cluster, draft), $changed: cluster.now() })
      const holder = await cluster.keyOfName(SCHEDULES, row['name'], row['svm.uuid'] ?? '')
      if (holder !== undefined) {
        const isOther = (await cluster.find(SCHEDULES, holder))?.['type'] !== row['type']
        throw failure(isOther ? 'scheduleNameTakenByOtherType' : 'scheduleNameTaken', { name: row['name'] })
      }
      return { key: row['uuid'], input: row }
    },
    step: {
      name: 'write record',
      async run(cluster, { input }) {
        await cluster.commit([cluster.put(SCHEDULES, input, { expect: 'absent' })])
      },
    },
  }),
  modify: inline({
    plan(cluster, { row, draft }) {
      settled(changed(row, draft))
      const key = row['uuid']
      return Promise.resolve({ key, input: { ...draft, $changed: cluster.now() }, locks: [`${SCHEDULES}:${key}`] })
    },
    step: {
      name: 'write record',
      async run(cluster, { key, input }) {
        const record = await cluster.record(SCHEDULES, key)
        if (record === undefined) throw failure('scheduleNotFound')
        const row = settled(changed(record.body, input))
        await cluster.commit([cluster.put(SCHEDULES, row, { expect: record.revision })])
      },
    },
  }),
  remove: plainRemove(SCHEDULES, {
    inUse({ resource, name }) {
      const isOfSnapshots = resource.type === 'storage/snapshot-policies'
      if (isOfSnapshots) return failure('scheduleOfSnapshotPolicy', { policy: name })
      return failure('scheduleInUse', { noun: resource.noun, name })
    },
  }),
})

function numbers(doc: string, min: number, max: number) {
  return { doc, kind: list(count({ min, max }), { elementsMax: 64 }), set: 'always' } as const
}

const OTHER_CRON = ['cron.hours', 'cron.days', 'cron.months', 'cron.weekdays'] as const

type ScheduleRow = RowOf<typeof SCHEDULES>
type ScheduleDraft = DraftOf<typeof SCHEDULES>

/** The rule of a schedule's record. */
export function scheduleOf(row: ScheduleRow): Schedule {
  const { interval } = row
  return interval === undefined ? { cron: cronOf(row) } : { intervalMs: interval * 1000 }
}

function cronOf(row: ScheduleDraft): Cron {
  return {
    minutes: row['cron.minutes'] ?? [],
    hours: row['cron.hours'] ?? [],
    days: row['cron.days'] ?? [],
    months: row['cron.months'] ?? [],
    weekdays: row['cron.weekdays'] ?? [],
  }
}

/** A change names the whole cron, as tools send it: what it leaves out is every one. Minutes alone stay as they were. */
function changed(row: ScheduleRow, draft: ScheduleDraft): ScheduleRow {
  const isCron = ['cron.minutes' as const, ...OTHER_CRON].some((path) => draft[path] !== undefined)
  return { ...(isCron ? without(row, OTHER_CRON) : row), ...draft }
}

/** Insists that it says one thing and that it is due at all; spells what means "every" as shipping systems do. */
function settled(given: ScheduleRow): ScheduleRow {
  // Tools tell "every minute" by sixty of them, and every other "every" by the field's absence.
  const row = without(
    withoutUnset(given),
    OTHER_CRON.filter((path) => given[path]?.length === 0),
  )
  const { interval, 'cron.minutes': minutes } = row
  const isCron = ['cron.minutes' as const, ...OTHER_CRON].some((path) => row[path] !== undefined)
  if (interval !== undefined) {
    if (isCron) throw failure('scheduleCronAndInterval')
    if (interval < INTERVAL_SECONDS_MIN) throw failure('scheduleIntervalTooShort')
    return { ...row, type: 'interval' }
  }
  if (minutes === undefined) {
    throw failure('scheduleMinutesMissing')
  }
  if (nextTime(cronOf(row), 0) === undefined) throw failure('scheduleNeverDue')
  return { ...row, 'cron.minutes': minutes.length === 0 ? EVERY_MINUTE : minutes, type: 'cron' }
}

const EVERY_MINUTE = Array.from({ length: 60 }, (_, minute) => minute)

async function insistOnOwner(cluster: Cluster, owner: string | undefined): Promise<void> {
  if (owner === undefined || owner === (await cluster.rows('cluster'))[0]?.['name']) return
  throw failure('scheduleOfOtherCluster')
}
