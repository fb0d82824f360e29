import type {
  VolumeCounters,
  ChangedVolume,
  UntidyVolume,
  AggregateCounters,
  SnapshotRow,
  QuotaRoom,
  QuotaRow,
} from './rows.ts'

/** What volumes and aggregates hold, their snapshots and their quotas. */
export interface VolumeIndex {
  /** Counters of a volume's index: sizes and epoch, true as of the last commit. */
  volume(volume: string): Promise<VolumeCounters | undefined>
  volumes(): Promise<ReadonlyMap<string, VolumeCounters>>

  /** Volumes whose tree is this one, in the order of their names. Cost grows with their number alone. */
  volumesIn(tree: string): Promise<readonly string[]>

  /**
   * Volumes whose size, or what they hold, changed after a `change` that was read before (0: all), oldest first. Each has
   * the number of its last change alone.
   */
  changedVolumes(after: number, limit: number): Promise<readonly ChangedVolume[]>

  /** Volumes in which there is something to `reclaim`, or blobs that are not needed. Cost grows with their number alone. */
  untidyVolumes(): Promise<readonly UntidyVolume[]>

  /** Sums over the volumes that were placed in an aggregate. Constant time at any number of them. */
  aggregate(aggregate: string): Promise<AggregateCounters>

  /** All of a volume that limits hold for, their own or the default ones, in the order of their index. */
  quotas(volume: string): Promise<readonly QuotaRow[]>

  /** What is left to objects of an owner, by each hard limit that stands against them. Constant time. */
  quotaRoom(volume: string, owner: string): Promise<readonly QuotaRoom[]>

  /** Snapshots of a whole volume, oldest first. */
  snapshots(volume: string): Promise<readonly SnapshotRow[]>

  /** Snapshots of single buckets of a volume, or of the one named, oldest first. */
  bucketSnapshots(volume: string, bucket?: string): Promise<readonly SnapshotRow[]>

  /**
   * For each snapshot of a volume or of a bucket in it, the bytes that it sees and that neither the live index nor a later snapshot does:
   * what deleting it and all earlier ones would free of it. Cost grows with the rows that died, not with the volume.
   */
  snapshotBytes(volume: string): Promise<ReadonlyMap<string, number>>
}
