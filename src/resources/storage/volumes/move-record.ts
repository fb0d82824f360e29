/** What the steps of a move write: the record of the volume, and the notes of how far it is. */
import type { Cluster } from '../../../core/cluster.ts'
import type { TreePlace } from '../../../storage/tree-of.ts'
import type { Work } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { CatalogUnavailable, CommitRefused, type Change } from '../../../ports/catalog.ts'
import type { MoveNote, MoveState, MoveWish } from './movement.ts'
import type { Volume } from '../../../records/rows.ts'

const VOLUMES = 'storage/volumes'
/** The record may be changed by others between a look and the commit. */
const COMMITS_MAX = 20
/** Between two tries while the catalog's writer is away. */
const UNAVAILABLE_WAIT_MS = 1000

/** What the steps of a move are told, and what they note. */
export type MoveWork = Work<MoveInput, MoveMemo>

export type MoveInput = {
  readonly 'svm.uuid': string
  readonly name: string
  readonly $to: TreePlace
  readonly $wish: MoveWish
  readonly $window?: number
  readonly $started: number
}

export type MoveMemo = {
  readonly state: MoveState
  /** The last blob that was copied, in the first round; how many bytes that were, and how much of all. */
  readonly after: string
  readonly copied: number
  readonly percent: number
  readonly aborted: boolean
  /** When writes that began before the switch are given up. */
  readonly until: number
}

/** Commits a change of the volume's record with what belongs to it. `change` gives nothing when nothing is to be done. */
export async function changeVolume(
  cluster: Cluster,
  key: string,
  change: (volume: Volume) => Promise<readonly [volume: Volume, beside: readonly Change[]] | undefined>,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const record = await cluster.record(VOLUMES, key)
    if (record === undefined) throw failure('volumeNotFound')
    const changed = await change(record.body)
    if (changed === undefined) return
    const [volume, beside] = changed
    try {
      await cluster.catalog.commit([cluster.put(VOLUMES, volume, { expect: record.revision }), ...beside])
      return
    } catch (failure) {
      const isStale = failure instanceof CommitRefused && failure.reason === 'stale'
      // Whether it was done is unknown then, and seen at the next look.
      if (!isStale && !(failure instanceof CatalogUnavailable)) throw failure
      if (tries === COMMITS_MAX) throw failure
      if (!isStale) await cluster.system.clock.sleep(UNAVAILABLE_WAIT_MS)
    }
  }
}

/** What the record of the move tells. */
export function noteOf({ key, input, memo }: MoveWork, state: MoveState): MoveNote {
  const hasSwitched = state === 'cutover' || state === 'success'
  return {
    volume: key,
    destination: input.$to.aggregate,
    state,
    percent: hasSwitched ? 100 : (memo.percent ?? 0),
    copied: memo.copied ?? 0,
    start_time: input.$started,
    ...(input.$window === undefined ? {} : { cutover_window: input.$window }),
  }
}
