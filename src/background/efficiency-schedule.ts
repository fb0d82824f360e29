/**
 * Begins the runs that store what volumes hold in less: those that somebody asked for, and those that the volume's policy
 * demands. It asks what is owed, like the schedules of snapshots (docs/decisions/0014): of all that was missed, one run.
 * A policy that is new to a volume owes nothing from before.
 */
import { takenLocks } from '../core/jobs/lock-claims.ts'
import { onceEach, type Once } from '../core/behaviour.ts'
import { totalsOf } from '../core/metrics/totals.ts'
import { FIGURES } from '../core/metrics/figures.ts'
import type { Actions } from '../core/perform.ts'
import { Picked } from '../core/read/picked.ts'
import { Watch } from '../core/tasks/watch.ts'
import { doneUntil } from '../core/time/schedule.ts'
import { eachInTurns } from '../core/time/turns.ts'
import type { Row } from '../model/value.ts'
import { SCHEDULES } from '../resources/cluster/schedules.ts'
import { addBuiltInEfficiency } from '../resources/storage/volume-efficiency-policies/built-in.ts'
import { EFFICIENCY_POLICIES } from '../resources/storage/volume-efficiency-policies.ts'
import { compressionOf, dedupeOf, isEfficiencyOn, isInBackground } from '../resources/storage/volumes/efficiency.ts'
import {
  changeNotes,
  EFFICIENCY_NOTES,
  efficiencyLock,
  type EfficiencyNotes,
} from '../resources/storage/volumes/efficiency-notes.ts'
import { EFFICIENCY_RUNS } from '../resources/storage/volumes/efficiency-runs.ts'
import { owedSince, ruleOf } from '../resources/storage/volumes/owed-snapshots.ts'
import type { Volume } from '../records/rows.ts'
import type { RowOf } from '../model/rows.ts'

const LOOK_EVERY_MS = 1000
/** What was written is added up less often: the counters of all volumes are read for it. */
const WRITTEN_EVERY_MS = 60_000
/** Runs that policies begin at the same time. Who asks for one is not kept waiting by these. */
const RUNS_AT_ONCE = 2
const WRITTEN = FIGURES.indexOf('bytes_written')

export class EfficiencySchedule extends Watch {
  readonly #actions: Actions
  readonly #efficient = new Picked<Volume>(isEfficiencyOn)
  #written: ReadonlyMap<string, number> | undefined
  #addedUpMs = 0

  constructor(actions: Actions) {
    super(actions.cluster, {
      name: 'efficiency-schedule',
      doc: 'Starts storage efficiency operations on volumes whose policy demands one.',
      bound: `Reads the records of all volumes with efficiency. At most ${RUNS_AT_ONCE} operations run at the same time.`,
      scope: 'cluster',
      everyMs: LOOK_EVERY_MS,
      failed: 'Storage efficiency operations could not be started. It is retried.',
    })
    this.#actions = actions
  }

  /** Begins what is wanted or owed, and tells how many runs that were. */
  async look(): Promise<number> {
    const { cluster } = this.#actions
    await addBuiltInEfficiency(cluster)
    const notes = new Map((await cluster.rows(EFFICIENCY_NOTES)).map((row) => [row['volume'], row]))
    const volumes = await cluster.shortRows('storage/volumes')
    const isTaken = await takenLocks(cluster)
    const isOn = (volume: string) => isTaken(efficiencyLock(volume))
    const efficient = this.#efficient.of(volumes)
    let active = efficient.filter((row) => isOn(row['uuid'])).length
    let begun = 0
    const once = onceEach()
    for await (const row of eachInTurns(cluster.system, efficient)) {
      const volume = row['uuid']
      const noted = (notes.get(volume) ?? {}) as EfficiencyNotes
      notes.delete(volume)
      if (row['state'] !== 'online' || isOn(volume)) continue
      if (noted.isWanted === true) {
        await this.#begin(volume, { scan_old_data: noted.isOldWanted === true, qos_policy: 'best_effort' })
      } else {
        const policy = await this.#policyOf(row, once)
        if (policy === undefined || active >= RUNS_AT_ONCE || !(await this.#isOwed(volume, policy, noted, once)))
          continue
        await this.#begin(volume, {
          qos_policy: policy['qos_policy'] ?? 'background',
          duration: policy['duration'] ?? 0,
        })
      }
      active++
      begun++
    }
    if (notes.size > 0) for (const row of volumes) notes.delete(row['uuid'])
    for (const gone of notes.keys()) {
      await cluster.catalog.commit([{ do: 'remove-record', type: EFFICIENCY_NOTES, key: gone }])
    }
    return begun
  }

  /** The policy that may begin runs of a volume; none where nothing is to be done in the background. */
  async #policyOf(volume: Volume, once: Once): Promise<RowOf<typeof EFFICIENCY_POLICIES> | undefined> {
    if (!isInBackground(compressionOf(volume)) && !isInBackground(dedupeOf(volume))) return undefined
    const uuid = volume['efficiency.policy.uuid'] ?? ''
    const { cluster } = this.#actions
    const policy = uuid === '' ? undefined : await once(uuid, () => cluster.find(EFFICIENCY_POLICIES, uuid))
    return policy?.['enabled'] === true ? policy : undefined
  }

  async #isOwed(
    volume: string,
    policy: RowOf<typeof EFFICIENCY_POLICIES>,
    noted: EfficiencyNotes,
    once: Once,
  ): Promise<boolean> {
    const { cluster } = this.#actions
    const nowMs = cluster.now()
    if (noted.policy !== policy['uuid'] || noted.doneMs === undefined) {
      const writtenBytes = (await this.#writtenBytes(nowMs)).get(volume) ?? 0
      await changeNotes(cluster, volume, { policy: policy['uuid'], doneMs: nowMs, writtenBytes })
      return false
    }
    if (policy['type'] === 'threshold') return this.#isOverThreshold(volume, policy, noted, nowMs)
    const uuid = policy['schedule.uuid'] ?? ''
    const schedule = await once(uuid, () => cluster.find(SCHEDULES, uuid))
    if (schedule === undefined) return false
    return owedSince(ruleOf(schedule), doneUntil(noted.doneMs, nowMs), nowMs) !== undefined
  }

  async #isOverThreshold(
    volume: string,
    policy: RowOf<typeof EFFICIENCY_POLICIES>,
    noted: EfficiencyNotes,
    nowMs: number,
  ): Promise<boolean> {
    const { cluster } = this.#actions
    const written = (await this.#writtenBytes(nowMs)).get(volume) ?? 0
    const { usedBytes = 0 } = (await cluster.catalog.volume(volume)) ?? {}
    const since = written - (noted.writtenBytes ?? 0)
    const isOver = since > 0 && since >= (usedBytes / 100) * (policy['start_threshold_percent'] ?? 0)
    if (isOver) await changeNotes(cluster, volume, { writtenBytes: written })
    return isOver
  }

  async #writtenBytes(nowMs: number): Promise<ReadonlyMap<string, number>> {
    if (this.#written !== undefined && Math.abs(nowMs - this.#addedUpMs) < WRITTEN_EVERY_MS) return this.#written
    const written = new Map<string, number>()
    for await (const [row, totals] of totalsOf(this.#actions.cluster.catalog, 'volume')) {
      const volume = row.split(':')[0] ?? row
      written.set(volume, (written.get(volume) ?? 0) + (totals[WRITTEN] ?? 0))
    }
    this.#written = written
    this.#addedUpMs = nowMs
    return written
  }

  async #begin(volume: string, draft: Row): Promise<void> {
    await this.#actions.perform(this.#actions.cluster.behaviour(EFFICIENCY_RUNS), 'create', {
      caller: { user: 'cluster', role: 'admin', from: 'efficiency schedule' },
      draft,
      path: { 'volume.uuid': volume },
      args: {},
      description: 'Store what the volume holds in less',
    })
  }
}
