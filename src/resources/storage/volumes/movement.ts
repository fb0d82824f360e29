/**
 * What is known of the last move of each volume: how far it is, what became of it, and what was asked of it meanwhile.
 *
 * Two records, as two write them: the job tells in `MOVES` how far it is, and requests say in `MOVE_ORDERS` what it is to do.
 */
import type { Derivation } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { beforeOf, type InMove, nextOf } from '../../../storage/tree-of.ts'
import { failure } from '../../../model/failure.ts'
import { count, oneOf, time, percent } from '../../../model/kinds/index.ts'
import type { Fields } from '../../../model/resource.ts'
import type { Row } from '../../../model/value.ts'
import type { Change } from '../../../ports/catalog.ts'
import type { Volume } from '../../../records/rows.ts'

/** The types of the two records; their key is that of the volume. */
export const MOVES = 'internal/volume-moves'

declare module '../../../model/rows.ts' {
  interface RowTypes {
    readonly 'internal/volume-moves': MoveNote
    readonly 'internal/volume-move-orders': { readonly wish: MoveWish }
  }
}
export const MOVE_ORDERS = 'internal/volume-move-orders'

/** How far a move is, or what became of it. */
export type MoveNote = {
  readonly volume: string
  /** The aggregate it goes to. */
  readonly destination: string
  readonly state: MoveState
  readonly percent: number
  readonly copied: number
  readonly owed?: number
  readonly start_time?: number
  readonly cutover_window?: number
}

const VOLUMES = 'storage/volumes'
const WINDOW_SECONDS_MIN = 30
const WINDOW_SECONDS_MAX = 300

export type MoveState =
  | 'queued'
  | 'replicating'
  | 'paused'
  /** All is copied; it waits for the order to switch. */
  | 'cutover_pending'
  /** Clients use the new place; the rest of the old one is cleared. There is no way back. */
  | 'cutover'
  | 'success'
  | 'failed'
  | 'aborted'

/** What may be asked of a move that is under way. `cutover_wait`: to switch only when that is asked for. */
export const MOVE_WISHES = ['aborted', 'paused', 'replicating', 'cutover_wait', 'cutover'] as const
export type MoveWish = (typeof MOVE_WISHES)[number]

export const movementFields = {
  movement: { doc: 'A move of the volume to another aggregate.', isGroup: true },
  'movement.destination_aggregate': {
    doc: 'The aggregate that the volume is moved to, or was last moved to. Setting this field moves the volume without disrupting clients.',
    ref: 'storage/aggregates',
    set: 'modify',
    isExpensive: true,
  },
  'movement.state': {
    doc: 'The state of the last move of the volume. During a move, set `aborted` to cancel, `paused` to pause, `replicating` to resume, `cutover_wait` to delay the cutover, or `cutover` to allow it.',
    kind: oneOf({
      aborted: 'The move was canceled.',
      paused: 'The move is paused.',
      replicating: 'The move copies data.',
      cutover_wait: 'The move waits for permission to cut over.',
      cutover: 'The move cuts over to the destination.',
      queued: 'The move waits for its turn.',
      cutover_pending: 'The move is about to cut over.',
      success: 'The move succeeded.',
      failed: 'The move failed.',
    }),
    set: 'modify',
    isExpensive: true,
  },
  'movement.percent_complete': {
    doc: 'The part of the data that the move of the volume has copied, in percent.',
    kind: percent({ max: 100 }),
    isExpensive: true,
  },
  'movement.start_time': { doc: 'When the last move of the volume began.', kind: time(), isExpensive: true },
  'movement.cutover_window': {
    doc: 'The number of seconds that clients may have to wait during cutover. Stored without effect: clients do not wait.',
    kind: count({ min: WINDOW_SECONDS_MIN, max: WINDOW_SECONDS_MAX, unit: 'seconds' }),
    set: 'modify',
    isExpensive: true,
  },
  'movement.tiering_policy': {
    doc: 'Which data of the volume a move tiers to a cloud store. Always `none`.',
    kind: oneOf({ none: 'No data.' }),
    set: 'modify',
    isExpensive: true,
  },
} as const satisfies Fields

export const movement: Derivation<Volume> = {
  gives: ['movement'],
  async from(cluster, rows) {
    const moves = new Map((await cluster.rows(MOVES)).map((move) => [move['volume'], move]))
    const names = new Map<string, string>()
    const derived: Row[] = []
    for (const row of rows) {
      const move = moves.get(row['uuid'])
      if (move === undefined) {
        derived.push({})
        continue
      }
      const uuid = move['destination']
      const name = names.get(uuid) ?? (await cluster.find('storage/aggregates', uuid))?.['name'] ?? ''
      names.set(uuid, name)
      derived.push({
        // The aggregate may have been deleted since.
        ...(name === ''
          ? {}
          : { 'movement.destination_aggregate.uuid': uuid, 'movement.destination_aggregate.name': name }),
        'movement.state': move['state'] ?? null,
        'movement.percent_complete': move['percent'] ?? 0,
        'movement.start_time': move['start_time'] ?? null,
        'movement.tiering_policy': 'none',
        ...(move['cutover_window'] === undefined ? {} : { 'movement.cutover_window': move['cutover_window'] }),
      })
    }
    return derived
  },
}

export function isMoving(volume: InMove): boolean {
  return nextOf(volume) !== undefined || beforeOf(volume) !== undefined
}

/** For what cannot be done to a volume whose blobs are between two places. */
export function insistOnNoMove(volume: Volume): void {
  if (!isMoving(volume)) return
  throw failure('volumeBeingMoved')
}

/** The change that tells how far a move is. */
export function noteMove(note: MoveNote): Change {
  return { do: 'put-record', type: MOVES, key: note.volume, body: note }
}

export function orderMove(volume: string, wish: MoveWish): Change {
  return { do: 'put-record', type: MOVE_ORDERS, key: volume, body: { wish } }
}

/** What remains of moves when their volume is deleted. */
export function forgetMoves(volume: string): Change[] {
  return [MOVES, MOVE_ORDERS].map((type) => ({ do: 'remove-record', type, key: volume }))
}

export async function wishFor(cluster: Cluster, volume: string): Promise<MoveWish | undefined> {
  const wish = (await cluster.record(MOVE_ORDERS, volume))?.body['wish']
  return MOVE_WISHES.find((one) => one === wish)
}

/** Asks something of the move of a volume. Refused when there is none, or when it has switched. */
export async function steerMove(cluster: Cluster, volume: string, asked: string): Promise<void> {
  const record = await cluster.record(VOLUMES, volume)
  if (record === undefined) throw failure('volumeNotFound')
  await cluster.commit([
    // Else the switch may come in between, and what was promised would not happen.
    { do: 'check-record', type: VOLUMES, key: volume, expect: record.revision },
    orderMove(volume, wishOf(record.body, asked)),
  ])
}

/** What is asked of the move of a volume as it is now. */
export function wishOf(volume: Volume, asked: string): MoveWish {
  const wish = MOVE_WISHES.find((one) => one === asked)
  if (wish === undefined) throw failure('moveStateUnfit', { states: MOVE_WISHES.join(', ') })
  if (beforeOf(volume) !== undefined) {
    throw failure('moveClearing')
  }
  if (nextOf(volume) !== undefined) return wish
  throw failure('volumeNotMoving')
}
