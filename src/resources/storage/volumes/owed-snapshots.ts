/**
 * The snapshots that the policy of one volume owes it: which they are, and taking them.
 *
 * What was done last is noted in a record for each volume, `{ done: { <uuid of the schedule>: <time it was due> } }`. A
 * snapshot, the note of it, and the deletion of those that it is one too many for are one commit. So a crash leaves all
 * of it or nothing, and neither doubles a snapshot nor loses one.
 */
import type { Cluster } from '../../../core/cluster.ts'
import { isOwed, lastDue, type Schedule } from '../../../core/schedule.ts'
import { type Row, textAt } from '../../../model/value.ts'
import type { Change } from '../../../ports/catalog.ts'
import { scheduleOf, SCHEDULES } from '../../cluster/schedules.ts'
import { copiesOf, SNAPSHOT_POLICIES, type Copy } from '../snapshot-policies/copies.ts'
import { isReadOnly } from './types.ts'
import { dropChanges, SNAPSHOTS, SNAPSHOTS_MAX, takeChanges, whyKept } from './snapshot-changes.ts'

/** The type of the notes; their key is that of the volume. */
export const NOTES = 'internal/scheduled-snapshots'

/** A snapshot taken later than this has the time of its making in its name, not that when it was due. */
export const LATE_MS = 60_000

/** For each schedule of the volume's policy, what was last due of it and done. */
export type Notes = Readonly<Record<string, number>>

export interface Rule {
  readonly schedule: Schedule
  /** Since when it says what it says. What was due before, by these words, was not owed. */
  readonly sinceMs: number
}

export function ruleOf(schedule: Row): Rule {
  return { schedule: scheduleOf(schedule), sinceMs: Number(schedule['$changed'] ?? 0) }
}

/**
 * When it was due, if it is owed now. A rule from the future has come with a clock that was wrong. Who asks for many
 * volumes at once gives when it was due last.
 */
export function owedSince(
  rule: Rule,
  notedMs: number,
  nowMs: number,
  dueMs = lastDue(rule.schedule, nowMs),
): number | undefined {
  return isOwed(dueMs, Math.max(notedMs, rule.sinceMs > nowMs ? 0 : rule.sinceMs)) ? dueMs : undefined
}

export function notesChange(volume: string, done: Notes, expect?: number): Change {
  return Object.keys(done).length === 0
    ? { do: 'remove-record', type: NOTES, key: volume }
    : { do: 'put-record', type: NOTES, key: volume, body: { done }, ...(expect === undefined ? {} : { expect }) }
}

/**
 * Takes what is owed to a volume, and notes it. To be called with the volume's lock held. Gives the notes as they are
 * then, or nothing when the volume has gone.
 */
export async function takeOwed(cluster: Cluster, key: string): Promise<Notes | undefined> {
  const { catalog } = cluster
  const volume = await catalog.record('storage/volumes', key)
  if (volume === undefined) return undefined
  const noted = await catalog.record(NOTES, key)
  const before = (noted?.body['done'] ?? {}) as Notes
  if (noted === undefined || volume.body['state'] !== 'online' || isReadOnly(volume.body)) return before
  const policy = await cluster.find(SNAPSHOT_POLICIES, textAt(volume.body, 'snapshot_policy.uuid'))
  if (policy?.['enabled'] !== true) return before

  const nowMs = cluster.now()
  const done: Record<string, number> = { ...before }
  const changes: Change[] = []
  let held: readonly Row[] | undefined
  for (const copy of copiesOf(policy)) {
    const schedule = await cluster.find(SCHEDULES, copy.schedule.uuid)
    const notedMs = before[copy.schedule.uuid]
    // Without a note it is new, and nothing is owed from before it was noted.
    if (schedule === undefined || notedMs === undefined) continue
    const dueMs = owedSince(ruleOf(schedule), notedMs, nowMs)
    if (dueMs === undefined) continue
    done[copy.schedule.uuid] = dueMs
    held ??= await snapshotsByAge(cluster, key)
    const name = nameOf(copy.prefix, nowMs - dueMs > LATE_MS ? nowMs : dueMs)
    // The clock was put back, or a request was as quick: the snapshot of this minute is there.
    if (held.some((snapshot) => snapshot['name'] === name)) continue
    const fresh = snapshotOf(cluster, volume.body, copy, name, nowMs)
    const excess = tooMany(held, copy, nowMs)
    held = held.filter((snapshot) => !excess.includes(snapshot))
    changes.push(...excess.flatMap((snapshot) => dropChanges(cluster, snapshot)))
    if (held.length >= SNAPSHOTS_MAX) {
      changes.push(cluster.event('snapshot.scheduled.skipped', { volume: key, snapshot: name }))
      continue
    }
    changes.push(...(await takeChanges(cluster, fresh)))
    held = [...held, fresh]
  }
  if (Object.entries(done).every(([schedule, ms]) => before[schedule] === ms)) return before
  await catalog.commit([
    // Whatever was read of the volume still holds: it is there, online and has this policy.
    { do: 'check-record', type: volume.type, key, expect: volume.revision },
    ...changes,
    notesChange(key, done, noted.revision),
  ])
  return done
}

function snapshotOf(cluster: Cluster, volume: Row, copy: Copy, name: string, nowMs: number): Row {
  return {
    uuid: cluster.system.random.uuid(),
    name,
    'volume.uuid': textAt(volume, 'uuid'),
    'svm.uuid': textAt(volume, 'svm.uuid'),
    create_time: nowMs,
    ...(copy.snapmirror_label === undefined ? {} : { snapmirror_label: copy.snapmirror_label }),
  }
}

/** Oldest first by the order in which they were taken, which a clock that was wrong for a while does not disturb. */
async function snapshotsByAge(cluster: Cluster, volume: string): Promise<Row[]> {
  const records = await cluster.catalog.records(SNAPSHOTS, { parent: volume })
  const rows = new Map(records.map((record): [string, Row] => [record.key, record.body]))
  const order = (await cluster.catalog.snapshots(volume)).map(({ snapshot }) => rows.get(snapshot))
  return order.filter((row) => row !== undefined)
}

/** Those that must go so that one more of this prefix is not one too many. What may not be deleted stays. */
function tooMany(held: readonly Row[], copy: Copy, nowMs: number): readonly Row[] {
  const own = held.filter((snapshot) => isNamedBy(copy.prefix, textAt(snapshot, 'name')))
  const excess = Math.max(0, own.length + 1 - copy.count)
  return own.filter((snapshot) => whyKept(snapshot, nowMs) === undefined).slice(0, excess)
}

const TIME_CHARACTERS = '.2026-11-21_1805'.length

function isNamedBy(prefix: string, name: string): boolean {
  return (
    name.length === prefix.length + TIME_CHARACTERS &&
    name.startsWith(prefix) &&
    /^\.\d{4}-\d{2}-\d{2}_\d{4}$/.test(name.slice(prefix.length))
  )
}

/** `hourly.2026-11-21_1805`: the minute, in UTC. */
export function nameOf(prefix: string, ms: number): string {
  const time = new Date(ms).toISOString()
  return `${prefix}.${time.slice(0, 10)}_${time.slice(11, 13)}${time.slice(14, 16)}`
}
