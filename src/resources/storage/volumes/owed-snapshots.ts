/**
 * The snapshots that the policy of a volume, or of a bucket, owes it: which they are, and taking them.
 *
 * What was done last is noted in a record for each of them, `{ done: { <uuid of the schedule>: <time it was due> } }`. A
 * snapshot, the note of it, and the deletion of those that it is one too many for are one commit. So a crash leaves all
 * of it or nothing, and neither doubles a snapshot nor loses one.
 */
import type { Cluster } from '../../../core/cluster.ts'
import { isOwed, lastDue, type Schedule } from '../../../core/time/schedule.ts'
import type { RowOf } from '../../../model/rows.ts'
import type { Change } from '../../../ports/catalog.ts'
import { scheduleOf, SCHEDULES } from '../../cluster/schedules.ts'
import { copiesOf, SNAPSHOT_POLICIES, type Copy } from '../snapshot-policies/copies.ts'
import { SNAPSHOTS_MAX, whyKept } from './snapshot-changes.ts'
import { findHolder, type Holder, type NewSnapshot, type ScheduledSnapshot } from './snapshot-holders.ts'

/** The type of the notes; their key is that of the volume or the bucket. */
export const NOTES = 'internal/scheduled-snapshots'

declare module '../../../model/rows.ts' {
  interface RowTypes {
    readonly 'internal/scheduled-snapshots': { readonly done: Notes }
  }
}

/** A snapshot taken later than this has the time of its making in its name, not that when it was due. */
export const LATE_MS = 60_000

/** For each schedule of the volume's policy, what was last due of it and done. */
export type Notes = Readonly<Record<string, number>>

export interface Rule {
  readonly schedule: Schedule
  /** Since when it says what it says. What was due before, by these words, was not owed. */
  readonly sinceMs: number
}

export function ruleOf(schedule: RowOf<'cluster/schedules'>): Rule {
  return { schedule: scheduleOf(schedule), sinceMs: schedule.$changed ?? 0 }
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
 * Takes what is owed to a volume or a bucket, and notes it. To be called with the volume's lock held. Gives the notes as
 * they are then, or nothing when it has gone.
 */
export async function takeOwed(cluster: Cluster, key: string): Promise<Notes | undefined> {
  const { catalog } = cluster
  const holder = await findHolder(cluster, key)
  if (holder === undefined) return undefined
  const noted = await cluster.record(NOTES, key)
  const before = noted?.body.done ?? {}
  if (noted === undefined || !holder.isOnline) return before
  const policy = await cluster.find(SNAPSHOT_POLICIES, holder.policy ?? '')
  if (policy?.['enabled'] !== true) return before

  const nowMs = cluster.now()
  const done: Record<string, number> = { ...before }
  const changes: Change[] = []
  let held: readonly ScheduledSnapshot[] | undefined
  for (const copy of copiesOf(policy)) {
    const schedule = await cluster.find(SCHEDULES, copy.schedule.uuid)
    const notedMs = before[copy.schedule.uuid]
    // Without a note it is new, and nothing is owed from before it was noted.
    if (schedule === undefined || notedMs === undefined) continue
    const dueMs = owedSince(ruleOf(schedule), notedMs, nowMs)
    if (dueMs === undefined) continue
    done[copy.schedule.uuid] = dueMs
    held ??= await holder.snapshotsByAge()
    const name = holder.nameOf(copy.prefix, nowMs - dueMs > LATE_MS ? nowMs : dueMs)
    if (name === undefined) {
      changes.push(holder.skipped(copy.prefix))
      continue
    }
    // The clock was put back, or a request was as quick: the snapshot of this minute is there.
    if (held.some((snapshot) => snapshot['name'] === name)) continue
    const fresh: NewSnapshot = {
      uuid: cluster.system.random.uuid(),
      name,
      create_time: nowMs,
      ...(copy.snapmirror_label === undefined ? {} : { snapmirror_label: copy.snapmirror_label }),
    }
    const excess = tooMany(holder, held, copy, nowMs)
    held = held.filter((snapshot) => !excess.includes(snapshot))
    changes.push(...excess.flatMap((snapshot) => holder.drop(snapshot)))
    if (held.length >= SNAPSHOTS_MAX) {
      changes.push(holder.skipped(name))
      continue
    }
    changes.push(...(await holder.take(fresh)))
    held = [...held, fresh]
  }
  if (Object.entries(done).every(([schedule, ms]) => before[schedule] === ms)) return before
  await catalog.commit([
    // Whatever was read of it still holds: it is there, online and has this policy.
    { do: 'check-record', type: holder.type, key, expect: holder.revision },
    ...changes,
    notesChange(key, done, noted.revision),
  ])
  return done
}

/** Those that must go so that one more of this prefix is not one too many. What may not be deleted stays. */
function tooMany(
  holder: Holder,
  held: readonly ScheduledSnapshot[],
  copy: Copy,
  nowMs: number,
): readonly ScheduledSnapshot[] {
  const own = held.filter((snapshot) => isNamedBy(holder, copy.prefix, snapshot.name))
  const excess = Math.max(0, own.length + 1 - copy.count)
  return own.filter((snapshot) => whyKept(snapshot, nowMs) === undefined).slice(0, excess)
}

/** Whether a snapshot is of this prefix, by its name: it is what the prefix makes of a time of that length. */
function isNamedBy(holder: Holder, prefix: string, name: string): boolean {
  const ofEpoch = holder.nameOf(prefix, 0)
  if (ofEpoch === undefined || name.length !== ofEpoch.length) return false
  const at = ofEpoch.length - TIME_CHARACTERS
  return name.slice(0, at) === ofEpoch.slice(0, at) && /^\d{4}-\d{2}-\d{2}[_-]\d{4}$/.test(name.slice(at))
}

const TIME_CHARACTERS = '2026-11-21_1805'.length
