/** The copies of a snapshot policy: for each of its schedules, how the snapshots are called and how many are kept. */
import type { Cluster } from '../../../core/cluster.ts'
import { failure } from '../../../model/failure.ts'
import { count, each, group, text, uuid, type ValueOf } from '../../../model/kinds/index.ts'
import type { RowOf } from '../../../model/rows.ts'
import { isRecord } from '../../../model/value.ts'
import { SCHEDULES } from '../../cluster/schedules.ts'

export const SNAPSHOT_POLICIES = 'storage/snapshot-policies'

/** As it lies in the policy's record. The label and the period are there only when they were given. */
export type Copy = {
  readonly schedule: { readonly uuid: string }
  readonly prefix: string
  readonly count: number
  readonly snapmirror_label?: string
  readonly retention_period?: string
}

/** As requests give it. */
export type GivenCopy = ValueOf<ReturnType<typeof copiesKind>>[number]

const SCHEDULES_MAX = 5
/** What a volume can have of snapshots, so what one policy may keep in it. */
export const KEPT_MAX = 1023
/** A name is the prefix, a dot and 15 characters of time, and has 255 at most. */
const PREFIX_CHARACTERS_MAX = 239

/** How shipping systems write that there is no label, and that nothing is retained for longer. */
const NO_LABEL = '-'
const NO_PERIOD = 'PT0S'

/** The fields of one, in the list of its policy and as a row of its own. */
export const copyFields = {
  count: {
    doc: 'The number of snapshots of the schedule to keep. A further one replaces the oldest.',
    kind: count({ min: 1, max: KEPT_MAX }),
  },
  prefix: {
    doc: 'The prefix of the names of snapshots. Default: the name of the schedule.',
    kind: text({
      charactersMax: PREFIX_CHARACTERS_MAX,
      pattern: /^(?:[A-Za-z0-9_][A-Za-z0-9_.:+@-]*)?$/,
      patternDoc: 'letters, digits, "_", ".", ":", "+", "@" and "-"',
    }),
  },
  snapmirror_label: {
    doc: 'The SnapMirror label of snapshots of the schedule. `-`: no label.',
    kind: text({ charactersMax: 31 }),
  },
  retention_period: {
    doc: 'How long snapshots of the schedule are locked in volumes with snapshot locking: an ISO 8601 duration, or `infinite`.',
    since: '9.12.1',
    kind: text({
      charactersMax: 32,
      pattern: /^(?:infinite|P(?:\d{1,6}[YMWD]|T\d{1,6}[HMS])|)$/,
      patternDoc: '`infinite` or one ISO 8601 unit, such as PT12H, P30D or P1Y',
    }),
  },
} as const

export function copiesKind() {
  return each({
    schedule: { kind: scheduleKind(), doc: 'The schedule of the snapshots.', required: true },
    ...copyFields,
  })
}

/** A schedule by its name alone, or by name or uuid in an object. */
function scheduleKind() {
  return group({
    name: { kind: text({ charactersMax: 256 }), doc: 'The name of the schedule.' },
    uuid: { kind: uuid(), doc: 'The UUID of the schedule.', since: '9.14.1' },
  })
}

/** The copies of a policy's record. */
export function copiesOf(policy: Pick<RowOf<typeof SNAPSHOT_POLICIES>, 'copies'> | undefined): readonly Copy[] {
  return (policy?.copies ?? []) as readonly Copy[]
}

/**
 * Given copies as they are kept: schedules by uuid, prefixes filled in. Refuses what contradicts itself or exceeds the
 * limits. `svm` is that of the policy, whose own schedules come before those of the cluster.
 */
export async function settleCopies(
  cluster: Cluster,
  given: readonly GivenCopy[],
  svm: string,
): Promise<readonly Copy[]> {
  const settled: Copy[] = []
  for (const copy of given) {
    if (!isRecord(copy)) throw failure('snapshotCopyMalformed')
    settled.push(await settleCopy(cluster, copy, svm))
  }
  if (settled.length > SCHEDULES_MAX) {
    throw failure('snapshotPolicyScheduleLimit', { max: SCHEDULES_MAX })
  }
  if (new Set(settled.map(({ schedule }) => schedule.uuid)).size < settled.length) {
    throw failure('snapshotPolicyScheduleTwice')
  }
  if (new Set(settled.map(({ prefix }) => prefix)).size < settled.length) {
    throw failure('snapshotPrefixTwice')
  }
  if (settled.reduce((sum, each) => sum + each.count, 0) > KEPT_MAX) {
    throw failure('snapshotPolicyCountLimit', { max: KEPT_MAX })
  }
  return settled
}

async function settleCopy(cluster: Cluster, given: GivenCopy, svm: string): Promise<Copy> {
  const schedule = await scheduleNamed(cluster, isRecord(given.schedule) ? given.schedule : {}, svm)
  if (typeof given.count !== 'number') throw failure('fieldRequired', { field: 'copies.count' })
  const label = given.snapmirror_label ?? ''
  const period = given.retention_period ?? ''
  const prefix = given.prefix ?? ''
  return {
    schedule: { uuid: schedule['uuid'] },
    // Names of schedules may have blanks, those of snapshots not.
    prefix: prefix === '' ? schedule['name'].replaceAll(' ', '_') : prefix,
    count: given.count,
    ...(label === '' || label === NO_LABEL ? {} : { snapmirror_label: label }),
    ...(period === '' || period === NO_PERIOD ? {} : { retention_period: period }),
  }
}

async function scheduleNamed(
  cluster: Cluster,
  wanted: Partial<GivenCopy['schedule']>,
  svm: string,
): Promise<RowOf<typeof SCHEDULES>> {
  const { name, uuid: given } = wanted
  const named =
    typeof name !== 'string'
      ? undefined
      : ((await cluster.keyOfName(SCHEDULES, name, svm)) ?? (await cluster.keyOfName(SCHEDULES, name)))
  const key = named ?? (typeof name === 'string' || typeof given !== 'string' ? '' : given)
  const row = await cluster.find(SCHEDULES, key)
  const owner = row?.['svm.uuid'] ?? ''
  if (row === undefined || (owner !== '' && owner !== svm)) {
    const called = typeof name === 'string' ? name : typeof given === 'string' ? given : ''
    throw failure('snapshotScheduleUnknown', { name: called.slice(0, 80) })
  }
  if (typeof given === 'string' && given !== row['uuid']) {
    throw failure('snapshotScheduleMismatch')
  }
  return row
}

/** As clients see it, with the name that the schedule has now. */
export function shownCopy(copy: Copy, schedule: RowOf<typeof SCHEDULES> | undefined) {
  return {
    schedule: { uuid: copy.schedule.uuid, ...(schedule === undefined ? {} : { name: schedule['name'] }) },
    prefix: copy.prefix,
    count: copy.count,
    snapmirror_label: copy.snapmirror_label ?? NO_LABEL,
    retention_period: copy.retention_period ?? NO_PERIOD,
  }
}
