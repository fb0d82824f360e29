/**
 * Moves a volume to another aggregate while clients read and write: `PATCH /storage/volumes/{uuid}` with
 * `movement.destination_aggregate`.
 *
 *     make tree ─▶ copy blobs ─▶ switch ─▶ settle
 *                                  │
 *       readers and writers: old   │   new; what is not there yet is read in the old place
 *
 * Up to the switch, which is one commit, nothing has happened that anybody sees, and whatever fails is undone. From there on
 * there is no way back: what is left to be done is done, however long a disk or the catalog is away.
 */
import { alone } from '../../../core/grounds.ts'
import { aggregateOf } from '../../../storage/aggregate-of.ts'
import { type Acting, action } from '../../../core/action.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { blobsLock } from '../../../storage/blobs-lock.ts'
import { nextOf, placeOf, treeOf } from '../../../storage/tree-of.ts'
import { Interrupted, type Plan } from '../../../core/verb.ts'
import { Failure, failure } from '../../../model/failure.ts'
import { flag, printSize } from '../../../model/kinds/index.ts'
import type { Fields } from '../../../model/resource.ts'
import type { Change } from '../../../ports/catalog.ts'
import { VolumesFailure } from '../../../ports/volumes.ts'
import { AGGREGATES_LOCK, availableIn, isGuaranteed, neededByMove, placed, spareIn } from '../aggregates/space.ts'
import { clonesOf, insistOnNoneBeingCloned } from './clone-base.ts'
import { Copier } from './copier.ts'
import { changeVolume, type MoveInput, type MoveWork, noteOf } from './move-record.ts'
import { settle } from './move-settle.ts'
import {
  insistOnNoMove,
  isMoving,
  MOVE_ORDERS,
  movementFields,
  type MoveState,
  noteMove,
  orderMove,
  wishFor,
} from './movement.ts'
import type { Volume } from '../../../records/rows.ts'

const VOLUMES = 'storage/volumes'

/** Volumes that are moved at the same time. */
const MOVES_MAX = 64
/** Blobs copied between two notes of how far it is: what is copied again, or looked at, after a crash. */
const PAGE = 256
/** With no more than so many blobs to copy it switches. What comes later is copied afterwards. */
const FEW = 64
/** Pages of what writers added meanwhile. Who is slower than they are switches at last; then they write to the new place. */
const CHASES_MAX = 1000
/** The same once housekeeping waits. */
const LAST_CHASES_MAX = 4
const WATCH_MS = 1000
/** Blobs that are still to be copied at the switch, as far as they are counted. */
const OWED_COUNTED = 10_000

/** As it stands in the query of a change. */
export const validateOnly = {
  validate_only: {
    doc: 'Whether to check only if the volume can be moved, without moving it.',
    kind: flag(),
    default: false,
  },
} as const satisfies Fields

const moveArgs = {
  aggregate: { doc: 'The aggregate that the volume is moved to.', ref: 'storage/aggregates', required: true },
  state: {
    doc: 'How the move of the volume begins: `replicating`, or `cutover_wait` to delay the cutover. Default: `replicating`.',
    kind: movementFields['movement.state'].kind,
  },
  cutover_window: {
    doc: movementFields['movement.cutover_window'].doc,
    kind: movementFields['movement.cutover_window'].kind,
  },
  tiering_policy: {
    doc: movementFields['movement.tiering_policy'].doc,
    kind: movementFields['movement.tiering_policy'].kind,
  },
  ...validateOnly,
} as const satisfies Fields

export const moveVolume = action({
  doc: 'Moves the volume to another aggregate without disrupting clients.',
  danger: 'undoable',
  args: moveArgs,
  example: { 'aggregate.name': 'aggr2' },
  needs: 'an aggregate "aggr2"',
  spelled: {
    asks: { 'movement.destination_aggregate.uuid': 'any' },
    args: {
      aggregate: 'movement.destination_aggregate',
      state: 'movement.state',
      cutover_window: 'movement.cutover_window',
      tiering_policy: 'movement.tiering_policy',
      validate_only: 'validate_only',
    },
    alone: () => failure('moveWithChanges'),
  },
  async plan(cluster, { row, args }: Acting<'storage/volumes', typeof moveArgs>): Promise<Plan<MoveInput>> {
    const { 'aggregate.uuid': aggregate, state: wish = 'replicating', cutover_window: window } = args
    if (wish !== 'cutover_wait' && wish !== 'replicating') throw failure('moveStartState')
    await insistOnDestination(cluster, row, aggregate)
    const key = row['uuid']
    return {
      key,
      input: {
        'svm.uuid': row['svm.uuid'],
        name: row['name'],
        $to: { aggregate, tree: cluster.system.random.uuid() },
        $wish: wish,
        ...(window === undefined ? {} : { $window: window }),
        $started: cluster.now(),
      },
      // Not that of the volume: a move may take hours, and nothing else is to wait for it.
      locks: [`volume-move:${key}`],
      isDone: args.validate_only,
    }
  },
  steps: [
    { name: 'make tree', isCancellable: true, run: begin, undo: giveUp },
    // It is paused by `movement.state`, which shows it there too.
    { name: 'copy blobs', isCancellable: true, run: copyBlobs },
    // From a switch there is no way back: what undoes it and what follows brings the move to its end.
    { name: 'switch', run: switchOver, undo: settle },
    { name: 'settle', run: settle, undo: settle },
  ],
})

async function insistOnDestination(cluster: Cluster, volume: Volume, aggregate: string): Promise<void> {
  if (aggregateOf(volume) === aggregate) {
    throw failure('moveToSameAggregate')
  }
  insistOnNoMove(volume)
  await insistOnNoneBeingCloned(cluster, volume['uuid'])
  if ((await cluster.rows(VOLUMES)).filter(isMoving).length >= MOVES_MAX) {
    throw failure('tooManyMoves', { max: MOVES_MAX })
  }
  const svm = await cluster.find('svm/svms', volume['svm.uuid'])
  const allowed = (svm?.['aggregates'] ?? []).map(({ uuid }) => uuid)
  if (allowed.length > 0 && !allowed.includes(aggregate)) {
    throw failure('moveSvmWithoutAggregate', { svm: svm?.['name'] ?? '' })
  }
  const [needed, available] = [await neededByMove(cluster, volume, aggregate), await availableIn(cluster, aggregate)]
  if (needed > available) {
    throw failure('moveAggregateTooSmall', { available: printSize(available), needed: printSize(needed) })
  }
}

/** From here on housekeeping and aggregates know of the move, and blobs that come to the volume are noted. */
async function begin(cluster: Cluster, work: MoveWork): Promise<void> {
  const to = work.input.$to
  // No aggregate is deleted between the look and the tree.
  await alone(cluster, [AGGREGATES_LOCK], async (cluster) => {
    // Files take no new places from here on: they are copied as they are.
    await alone(cluster, [blobsLock(work.key)], (cluster) =>
      changeVolume(cluster, work.key, async (volume) => {
        if (nextOf(volume)?.tree === to.tree) return undefined
        await insistOnDestination(cluster, volume, to.aggregate)
        return [
          { ...volume, $next: { ...to } },
          [
            { do: 'begin-move', volume: work.key },
            noteMove(noteOf(work, 'queued')),
            orderMove(work.key, work.input.$wish),
            cluster.event('volume.move.started', { volume: work.input['name'] ?? '' }),
          ],
        ]
      }),
    )
    await explained(async () => (await cluster.volumesOf(to.aggregate)).create(to.tree))
  })
}

/** Takes the move back, unless it has switched: then it is brought to its end. */
async function giveUp(cluster: Cluster, work: MoveWork): Promise<void> {
  const to = work.input.$to
  const volume = await cluster.find(VOLUMES, work.key)
  if (volume !== undefined && treeOf(volume) === to.tree) return settle(cluster, work)
  const aggregate = await cluster.find('storage/aggregates', to.aggregate)
  // While the record tells of it, the aggregate is not deleted.
  if (aggregate !== undefined) await cluster.engineOf(aggregate).remove(to.tree)
  let hasSwitched = false
  await changeVolume(cluster, work.key, (row) => {
    hasSwitched = treeOf(row) === to.tree
    // Refused before it began: what the record tells of is another move.
    if (nextOf(row)?.tree !== to.tree) return Promise.resolve(undefined)
    const { $next: _, ...rest } = row
    return Promise.resolve([
      rest,
      [
        { do: 'end-move', volume: work.key },
        noteMove(noteOf(work, work.memo['aborted'] === true ? 'aborted' : 'failed')),
        { do: 'remove-record', type: MOVE_ORDERS, key: work.key },
        cluster.event('volume.move.failed', { volume: work.input['name'] ?? '' }),
      ],
    ])
  }).catch((failure: unknown) => {
    // The volume is gone, and all notes of it.
    if (!(failure instanceof Failure) || failure.kind !== 'not-found') throw failure
  })
  if (hasSwitched) await settle(cluster, work)
}

async function copyBlobs(cluster: Cluster, work: MoveWork): Promise<void> {
  await whileWanted(cluster, work, async (signal) => {
    const copier = await copierOf(cluster, work, signal)
    for (;;) {
      await obeyPause(cluster, work, signal)
      const blobs = await cluster.catalog.blobs(work.key, work.memo.after ?? '', PAGE)
      const last = blobs.at(-1)
      if (last === undefined) break
      await copier.copy(blobs)
      const bytes = blobs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
      await noteProgress(cluster, work, { after: last.blob, copied: (work.memo.copied ?? 0) + bytes })
    }
    for (let chases = 0; chases < CHASES_MAX; chases++) {
      await obeyPause(cluster, work, signal)
      if ((await chase(cluster, work.key, copier)) <= FEW) break
    }
    await obeyWait(cluster, work, signal, copier)
  })
}

/** Copies a page of what came since the move began. Gives how many that were. */
async function chase(cluster: Cluster, volume: string, copier: Copier): Promise<number> {
  const arrivals = await cluster.catalog.arrivals(volume, PAGE)
  if (arrivals.length === 0) return 0
  await copier.copy(arrivals)
  await cluster.catalog.commit([{ do: 'drop-arrivals', volume, blobs: arrivals.map(({ blob }) => blob) }])
  return arrivals.length
}

async function switchOver(cluster: Cluster, work: MoveWork): Promise<void> {
  const { key } = work
  await whileWanted(cluster, work, async (signal) => {
    // Unneeded blobs stay as they are meanwhile, so a copy is either needed or swept.
    await alone(cluster, [blobsLock(key)], async (cluster) => {
      const copier = await copierOf(cluster, work, signal)
      if (await hasSwitched(cluster, work)) return
      await copier.sweepCopies()
      for (let chases = 0; chases < LAST_CHASES_MAX; chases++) {
        if ((await chase(cluster, key, copier)) <= FEW) break
      }
      // What changes the volume as a whole ends first: a snapshot, a restore.
      await alone(cluster, [`volume:${key}`], (cluster) =>
        alone(cluster, [AGGREGATES_LOCK], (cluster) => commitSwitch(cluster, work)),
      )
    })
  })
}

async function commitSwitch(cluster: Cluster, work: MoveWork): Promise<void> {
  const to = work.input.$to
  await changeVolume(cluster, work.key, async (volume) => {
    if (treeOf(volume) === to.tree) return undefined
    const [orders, owed, clones] = await Promise.all([
      cluster.record(MOVE_ORDERS, work.key),
      cluster.catalog.arrivals(work.key, OWED_COUNTED),
      clonesOf(cluster, work.key),
    ])
    if (orders?.body['wish'] === 'aborted') throw aborted(work)
    await insistOnPromise(cluster, volume, to.aggregate)
    const { $next: _, ...rest } = volume
    return [
      { ...rest, aggregates: [{ uuid: to.aggregate }], $tree: to.tree, $before: { ...placeOf(volume) } },
      [
        // Whoever aborts it has been told that it is aborted.
        { do: 'check-record', type: MOVE_ORDERS, key: work.key, expect: orders?.revision ?? 'absent' },
        { do: 'move-volume', volume: work.key, tree: to.tree },
        // The files that they had from it are left to them.
        ...clones.map((clone): Change => ({ do: 'count-as-own', volume: clone['uuid'] })),
        placed({ ...rest, aggregates: [{ uuid: to.aggregate }] }),
        noteMove({ ...noteOf(work, 'cutover'), owed: owed.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) }),
      ],
    ]
  })
}

/** The disk must be there, and have what the volume was promised when the move began: it may have grown since. */
async function insistOnPromise(cluster: Cluster, volume: Volume, aggregate: string): Promise<void> {
  await (await cluster.volumesOf(aggregate)).space()
  if (!isGuaranteed(volume)) return
  const spare = await spareIn(cluster, aggregate)
  if (spare >= 0) return
  throw failure('moveAggregateOverpromised', { lacking: printSize(-spare) })
}

async function hasSwitched(cluster: Cluster, work: MoveWork): Promise<boolean> {
  const volume = await cluster.find(VOLUMES, work.key)
  return volume !== undefined && treeOf(volume) === work.input.$to.tree
}

async function copierOf(cluster: Cluster, work: MoveWork, signal: AbortSignal): Promise<Copier> {
  const volume = await cluster.row(VOLUMES, work.key)
  return Copier.open(cluster, work.key, { from: placeOf(volume), to: work.input.$to }, signal)
}

/** Runs what may be aborted: by the order to do so, or because the cluster stops. */
async function whileWanted(
  cluster: Cluster,
  work: MoveWork,
  act: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const ended = new AbortController()
  const given = new AbortController()
  const watch = async () => {
    while (!ended.signal.aborted) {
      if ((await wishFor(cluster, work.key).catch(() => undefined)) === 'aborted') given.abort()
      await cluster.system.clock.sleep(WATCH_MS, ended.signal)
    }
  }
  const watching = watch()
  try {
    await explained(() => act(AbortSignal.any([work.stopping, given.signal])))
  } catch (failure) {
    if (given.signal.aborted) throw aborted(work)
    if (work.stopping.aborted) throw new Interrupted()
    throw failure
  } finally {
    ended.abort()
    await watching
  }
}

function aborted(work: MoveWork): Failure {
  work.memo['aborted'] = true
  return failure('moveAborted')
}

/** What a failure of a disk means for the move. */
async function explained<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act()
  } catch (cause) {
    if (!(cause instanceof VolumesFailure)) throw cause
    if (cause.reason === 'no-space') {
      throw failure('moveDiskFull')
    }
    if (cause.reason === 'missing' || cause.reason === 'damaged') {
      throw failure('moveUnreadable', { problem: cause.message })
    }
    throw failure('moveDiskFailed', { problem: cause.message })
  }
}

async function obeyPause(cluster: Cluster, work: MoveWork, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  while ((await wishFor(cluster, work.key)) === 'paused') {
    await noteState(work, 'paused')
    await cluster.system.clock.sleep(WATCH_MS, signal)
    signal.throwIfAborted()
  }
  await noteState(work, 'replicating')
}

/** Where the switch is to wait for an order, writers are followed until it comes. */
async function obeyWait(cluster: Cluster, work: MoveWork, signal: AbortSignal, copier: Copier): Promise<void> {
  for (;;) {
    const wish = await wishFor(cluster, work.key)
    if (wish !== 'cutover_wait' && wish !== 'paused') return
    await noteState(work, wish === 'paused' ? 'paused' : 'cutover_pending')
    if (wish !== 'paused') await chase(cluster, work.key, copier)
    await cluster.system.clock.sleep(WATCH_MS, signal)
    signal.throwIfAborted()
  }
}

async function noteState(work: MoveWork, state: MoveState): Promise<void> {
  if (work.memo['state'] === state) return
  await work.commit([noteMove(noteOf(work, state))], { state })
}

async function noteProgress(cluster: Cluster, work: MoveWork, notes: { after: string; copied: number }): Promise<void> {
  const used = (await cluster.catalog.volume(work.key))?.usedBytes ?? 0
  const done = used === 0 ? 1 : Math.min(1, notes.copied / used)
  const percent = Math.min(99, Math.floor(done * 100))
  await work.commit([noteMove({ ...noteOf(work, 'replicating'), copied: notes.copied, percent })], {
    ...notes,
    percent,
    state: 'replicating',
  })
  await work.progress(done, `Copied ${printSize(notes.copied)}.`)
}
