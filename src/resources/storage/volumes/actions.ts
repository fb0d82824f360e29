/**
 * What can be done with a volume beside changing and deleting it, in the order in which a request that asks for several
 * things does them.
 */
import { type Acting, action } from '../../../core/action.ts'
import { failure } from '../../../model/failure.ts'
import { flag, oneOf } from '../../../model/kinds/index.ts'
import type { Fields } from '../../../model/resource.ts'
import type { Volume } from '../../../records/rows.ts'
import { splitClone } from './clone.ts'
import { isClone } from './clone-fields.ts'
import { isEfficiencyOn } from './efficiency.ts'
import { startRun, stopRun } from './efficiency-notes.ts'
import { notOn } from './efficiency-runs.ts'
import { moveVolume } from './move.ts'
import { insistOnNoMove, steerMove, wishOf } from './movement.ts'
import { plannedRestore, restore, restoreActionArgs, restoreSpelling, undoRestore } from './restore.ts'

const steeringArgs = {
  state: {
    doc: 'How the move of the volume goes on.',
    kind: oneOf({
      aborted: 'The move is canceled.',
      paused: 'The move is paused.',
      replicating: 'The move is resumed.',
      cutover_wait: 'The move waits for permission to cut over.',
      cutover: 'The move may cut over.',
    }),
    required: true,
  },
} as const satisfies Fields

const runArgs = {
  scan_old_data: {
    doc: 'Whether the efficiency run retries data that could not be reduced before.',
    kind: flag(),
    default: false,
  },
} as const satisfies Fields

export const volumeActions = {
  move: moveVolume,
  steer_move: action({
    doc: 'Pauses, resumes, delays, completes or cancels the move of the volume.',
    danger: 'undoable',
    args: steeringArgs,
    example: { state: 'aborted' },
    needs: 'a volume that waits for its cutover',
    // What is refused is refused before anything else is changed.
    spelled: { asks: { 'movement.state': 'any' }, args: { state: 'movement.state' }, isFirst: true },
    plan: (_cluster, { row, args: { state } }: Acting<'storage/volumes', typeof steeringArgs>) =>
      Promise.resolve({ ...about(row), input: { ...named(row), state: wishOf(row, state) } }),
    steps: [{ name: 'steer', run: (cluster, { key, input }) => steerMove(cluster, key, input['state']) }],
  }),
  restore: action({
    doc: 'Restores the volume, or a part of it, from a snapshot. Where the whole volume is restored, newer snapshots are deleted.',
    danger: 'destructive',
    args: restoreActionArgs,
    example: { 'snapshot.name': 'snap_example' },
    needs: 'a volume with a snapshot "snap_example"',
    spelled: restoreSpelling,
    async plan(cluster, { row, args }: Acting<'storage/volumes', typeof restoreActionArgs>) {
      return { ...about(row), input: { ...named(row), ...(await plannedRestore(cluster, row, args)) } }
    },
    steps: [{ name: 'restore', run: restore, undo: undoRestore }],
  }),
  split: action({
    doc: 'Splits the clone from its parent. Afterwards, the parent and its snapshot can be deleted.',
    danger: 'irreversible',
    example: {},
    exampleOf: 'clone',
    spelled: { asks: { 'clone.split_initiated': [true] } },
    plan(_cluster, { row }: Acting<'storage/volumes'>) {
      if (!isClone(row)) throw failure('volumeNotClone', { volume: row['name'] })
      insistOnNoMove(row)
      return Promise.resolve({ ...about(row), input: { ...named(row), $split: true } as const })
    },
    steps: [{ name: 'split', run: splitClone }],
  }),
  start_efficiency: action({
    doc: 'Starts a run that compresses and deduplicates what the volume holds.',
    danger: 'harmless',
    args: runArgs,
    example: { scan_old_data: true },
    exampleOf: 'efficient',
    spelled: {
      asks: { 'efficiency.scanner.state': ['active'] },
      args: { scan_old_data: 'efficiency.scanner.scan_old_data' },
    },
    plan(_cluster, { row, args }: Acting<'storage/volumes', typeof runArgs>) {
      if (!isEfficiencyOn(row)) throw notOn()
      return Promise.resolve({ ...about(row), input: { ...named(row), isOldWanted: args.scan_old_data } })
    },
    steps: [{ name: 'ask for run', run: (cluster, { key, input }) => startRun(cluster, key, input['isOldWanted']) }],
  }),
  stop_efficiency: action({
    doc: 'Stops the efficiency run of the volume.',
    danger: 'undoable',
    example: {},
    exampleOf: 'efficient',
    needs: 'a volume whose efficiency run is about to start',
    spelled: { asks: { 'efficiency.scanner.state': ['idle'] } },
    plan: (_cluster, { row }: Acting<'storage/volumes'>) => Promise.resolve({ ...about(row), input: named(row) }),
    steps: [{ name: 'stop run', run: (cluster, { key }) => stopRun(cluster, key) }],
  }),
}

function about(row: Volume) {
  const key = row['uuid']
  return { key, locks: [`volume:${key}`] }
}

/** What every job of a volume knows of it. */
function named(row: Volume) {
  return { 'svm.uuid': row['svm.uuid'], name: row['name'] }
}
