/**
 * What is kept of the runs that store what a volume holds in less, apart from the volume's record, which others rely on
 * not to change by itself. Several parts write it: who asks for a run or to stop one, the schedule, and the run. Each does
 * so under a lock, so that none undoes what another has just noted.
 */
import { isTaken } from '../../../core/jobs/lock-claims.ts'
import type { Cluster } from '../../../core/cluster.ts'
import type { Row } from '../../../model/value.ts'
import { type Change, CommitRefused, type FieldValue } from '../../../ports/catalog.ts'

/** The type of the notes; their key is that of the volume. */
export const EFFICIENCY_NOTES = 'internal/efficiency'

declare module '../../../model/rows.ts' {
  interface RowTypes {
    readonly 'internal/efficiency': EfficiencyNotes & { readonly volume: string }
  }
}

export type EfficiencyNotes = {
  /** Somebody has asked for a run. */
  readonly isWanted?: boolean
  readonly isOldWanted?: boolean
  /** Somebody has asked for the end of the run that is on. */
  readonly mustStop?: boolean
  /** The policy that is followed, and until when what it demands is done. */
  readonly policy?: string
  readonly doneMs?: number
  /** The bytes that were ever written to the volume, as the counters had it when the last run began. */
  readonly writtenBytes?: number
  readonly progress?: string
  readonly beginMs?: number
  readonly endMs?: number
  readonly sizeBytes?: number
  readonly state?: 'success' | 'stopped' | 'failure'
  readonly failure?: string
}

/** Held by the run that is on; another one waits. */
/** How often notes are changed anew because another process has changed some. */
const NOTES_TRIES_MAX = 20

export const efficiencyLock = (volume: string): string => `efficiency:${volume}`

export async function readNotes(cluster: Cluster, volume: string): Promise<EfficiencyNotes> {
  return (await cluster.find(EFFICIENCY_NOTES, volume)) ?? {}
}

/** Changes some notes, with whatever `commit` does beside it. `undefined` takes one away. */
export async function changeNotes(
  cluster: Cluster,
  volume: string,
  change: { readonly [Name in keyof EfficiencyNotes]: EfficiencyNotes[Name] | undefined },
  commit: (change: Change) => Promise<unknown> = (one) => cluster.catalog.commit([one]),
): Promise<void> {
  await cluster.locks.with([`${EFFICIENCY_NOTES}:${volume}`], async () => {
    for (let tries = 1; ; tries++) {
      const record = await cluster.record(EFFICIENCY_NOTES, volume)
      const notes: Record<string, FieldValue | undefined> = { ...record?.body, ...change, volume }
      const body = Object.fromEntries(Object.entries(notes).filter(([, value]) => value !== undefined)) as Row
      const expect = record?.revision ?? 'absent'
      try {
        await commit({ do: 'put-record', type: EFFICIENCY_NOTES, key: volume, body, expect })
        return
      } catch (refused) {
        // Another process has changed other notes meanwhile.
        const isRaced = refused instanceof CommitRefused && (refused.reason === 'stale' || refused.reason === 'exists')
        if (!isRaced || tries === NOTES_TRIES_MAX) throw refused
      }
    }
  })
}

/** Has a run begun soon. */
export async function startRun(cluster: Cluster, volume: string, isOldWanted: boolean): Promise<void> {
  await changeNotes(cluster, volume, { isWanted: true, isOldWanted, mustStop: undefined })
}

/** Has no run begun, and the one that is on stopped. */
export async function stopRun(cluster: Cluster, volume: string): Promise<void> {
  const mustStop = (await isTaken(cluster, efficiencyLock(volume))) ? true : undefined
  await changeNotes(cluster, volume, { isWanted: undefined, isOldWanted: undefined, mustStop })
}
