/**
 * Volumes that were deleted and can be had back for some hours. What makes a volume one of them is its record: it moves
 * from the volumes to the queue, so that its name is free and nobody reaches it. Its rows, snapshots and tree stay as they
 * are, until the record moves back or the volume is purged.
 *
 *     volumes ── delete ──▶ queue ── purge ──▶ tree owed its removal ──▶ nothing
 *        ▲                    │
 *        └───── recover ──────┘
 *
 * Each arrow is one commit. A guarantee is given up on the way in, and has to fit again on the way back.
 */
import { alone } from '../../../core/grounds.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { recordPages } from '../../../core/read/record-pages.ts'
import { treeChange } from '../../../storage/removed-trees.ts'
import { type InTree, treeOf } from '../../../storage/tree-of.ts'
import { Failure } from '../../../model/failure.ts'
import type { TypeName } from '../../../model/resource.ts'
import type { Row } from '../../../model/value.ts'
import type { Change, StoredRecord } from '../../../ports/catalog.ts'
import { SNAPSHOTS, whyKept } from './snapshot-changes.ts'
import { sharersOf, TREES_LOCK } from './tree-sharers.ts'
import type { QueuedVolume, Svm, Volume } from '../../../records/rows.ts'

export const RECOVERY_QUEUE = 'private/cli/volume/recovery-queue'

declare module '../../../model/rows.ts' {
  interface NoteTypes {
    readonly 'private/cli/volume/recovery-queue': {
      readonly $tree: string
      /** Its record as it was. */
      readonly $volume: Volume
      /** The types of what was put aside with it. Earlier releases kept the records themselves. */
      readonly $within?: readonly (string | { readonly type: TypeName; readonly body: Row })[]
      /** Moves of a volume end before it is deleted. */
      readonly $next?: never
      readonly $before?: never
    }
  }
}

/** How long volumes of an SVM stay in the queue where the SVM does not say. */
export const RETENTION_HOURS = 12
export const RETENTION_HOURS_MAX = 24 * 365

/** Why a volume left the queue for good: somebody asked, its time was over, its disk had no room, or there were too many. */
export type PurgeReason = 'asked' | 'expired' | 'space' | 'number'

/** For how long a volume of this SVM stays in the queue. 0: it does not get there. */
export function retentionHours(svm: Svm | undefined): number {
  return svm?.['volume_delete_retention_hours'] ?? RETENTION_HOURS
}

/** What records within a volume are while it is in the queue: there they stay, and nobody finds them. */
const queuedType = (type: string) => `internal/queued/${type}`

/**
 * The changes that put the volume of this record into the queue. The record goes in the same commit. What is within the
 * volume (qtrees, quota rules) is put aside, and comes back with it.
 */
export function queueChanges(cluster: Cluster, volume: Volume, hours: number, within: readonly string[]): Change[] {
  const uuid = volume['uuid']
  // Others may be deleted by the same name: a number that stays with the volume tells them apart.
  const number = Number.parseInt(uuid.replaceAll('-', '').slice(-8), 16)
  const { 'nas.path': _, ...kept } = volume
  const queued: QueuedVolume = {
    uuid,
    volume: `${volume['name']}_${number}`,
    'svm.uuid': volume['svm.uuid'],
    aggregates: volume['aggregates'] ?? [],
    size: volume['size'],
    deletion_request_time: cluster.now(),
    retention_hours: hours,
    $tree: treeOf(volume),
    // It comes back mounted nowhere: meanwhile another may be there.
    $volume: kept,
    $within: within,
  }
  return [
    cluster.put(RECOVERY_QUEUE, queued, { expect: 'absent' }),
    // It counts with no volumes of the aggregate any more, but by what it holds.
    { do: 'place-volume', volume: uuid, aggregate: '', isGuaranteed: false },
    ...within.map((type): Change => ({ do: 'retype-records', type, parent: uuid, to: queuedType(type) })),
  ]
}

/**
 * The changes that forget what a volume holds, and owe the removal of its tree. A tree that another volume shares stays:
 * the blobs that only this one needed go one by one. To be called with `TREES_LOCK` held.
 * `within` names the types of records that go with it, beside its snapshots.
 */
export async function forgetChanges(cluster: Cluster, volume: InTree, within: readonly string[]): Promise<Change[]> {
  const key = volume['uuid']
  const [counters, sharers, gone] = await Promise.all([
    cluster.catalog.volume(key),
    sharersOf(cluster, treeOf(volume), key),
    Promise.all([SNAPSHOTS, ...within].map((type) => removals(cluster, type, key))),
  ])
  return [
    { do: 'close-volume', volume: key, withBuckets: true },
    ...gone.flat(),
    ...(sharers.length > 0 ? [] : [treeChange(volume, counters?.usedBytes ?? 0)]),
  ]
}

/**
 * The changes that remove all records of a type under a parent: their keys alone are in memory together. The commit is
 * refused where another one has come meanwhile.
 */
async function removals(cluster: Cluster, type: string, parent: string): Promise<Change[]> {
  const changes: Change[] = []
  for await (const page of recordPages(cluster.catalog, type, parent)) {
    for (const { key } of page) changes.push({ do: 'remove-record', type, key })
  }
  return [...changes, { do: 'check-childless', type, parent }]
}

/** Refuses to let a volume go with snapshots that may not be deleted yet. */
export async function insistOnNothingKept(cluster: Cluster, volume: string): Promise<void> {
  for await (const page of recordPages(cluster.catalog, SNAPSHOTS, volume)) {
    for (const { body: snapshot } of page) {
      const why = whyKept(snapshot, cluster.now())
      if (why === undefined) continue
      throw new Failure(
        why.kind,
        why.code,
        `The volume cannot go before its snapshot "${snapshot['name']}". ${why.message}`,
        {},
        why.row,
      )
    }
  }
}

/** Lets a volume of the queue go for good, if it is still there. To be called with the volume's lock held. */
export async function purgeVolume(cluster: Cluster, key: string, reason: PurgeReason): Promise<void> {
  const record = await cluster.record(RECOVERY_QUEUE, key)
  if (record === undefined) return
  await insistOnNothingKept(cluster, key)
  await alone(cluster, [TREES_LOCK], async (cluster) => {
    await cluster.commit([
      { do: 'remove-record', type: RECOVERY_QUEUE, key, expect: record.revision },
      ...(await forgetChanges(cluster, record.body, typesWithin(record).map(queuedType))),
      cluster.event('volume.purged', { volume: record.body['volume'], reason }),
    ])
  })
}

/** The changes that bring back what was within a volume of the queue. */
export function broughtBack(cluster: Cluster, queued: StoredRecord<QueuedVolume>): Change[] {
  return [
    ...keptWithin(queued).flatMap((one) =>
      typeof one === 'string' ? [] : [cluster.put(one.type, one.body, { expect: 'absent' })],
    ),
    ...typesWithin(queued).map((type): Change => ({
      do: 'retype-records',
      type: queuedType(type),
      parent: queued.key,
      to: type,
    })),
  ]
}

const keptWithin = ({ body }: StoredRecord<QueuedVolume>) => body.$within ?? []

function typesWithin(queued: StoredRecord<QueuedVolume>): readonly string[] {
  return keptWithin(queued).filter((one) => typeof one === 'string')
}

/** The record of a volume as it was when it was deleted. */
export function volumeOf(queued: StoredRecord<QueuedVolume>): Volume {
  return queued.body.$volume
}
