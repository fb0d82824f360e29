import type { DatabaseSync } from 'node:sqlite'
import type {
  AggregateCounters,
  BlobRef,
  BucketCounters,
  Catalog,
  Change,
  ChangedVolume,
  KeptRecord,
  ListPage,
  ListQuery,
  LogEntry,
  LogName,
  ObjectRow,
  Outcome,
  PartRow,
  QuotaRoom,
  QuotaRow,
  RecordChange,
  RecordsWithin,
  ScanPage,
  SampleBlock,
  SnapshotAt,
  SnapshotRow,
  StoredBlob,
  StoredRecord,
  UntidyVolume,
  UploadPosition,
  UploadRow,
  VersionPosition,
  VersionsPage,
  VersionsQuery,
  VolumeCounters,
} from '../../ports/catalog.ts'
import { LocalCommitter, NoCommitter, SocketCommitter } from './committer.ts'
import type { Committer } from './committer.ts'
import { WriterLock } from './lock.ts'
import { reader } from '../../catalog/reads/reader.ts'
import type { Reader } from '../../catalog/reads/reader.ts'
import { openForReading } from '../../catalog/schema.ts'
import { Writer } from './writer.ts'

export interface SqliteCatalogOptions {
  /** The database file, or ':memory:' with a writer in this process. */
  readonly file: string
  /** Who writes: this process, the writer process that listens on a socket, or nobody. */
  readonly commit: 'in-process' | { readonly socket: string } | 'never'
  /** Pages that the reading connection keeps. */
  readonly cacheKib?: number | undefined
}

/** Opens a catalog. With a socket, the writer process must have been started before: it makes the tables. */
export function openSqliteCatalog({ file, commit, cacheKib }: SqliteCatalogOptions): SqliteCatalog {
  if (commit === 'never') {
    const db = openForReading(file)
    return new SqliteCatalog(db, new NoCommitter(), () => db.close())
  }
  if (commit !== 'in-process') {
    const db = openForReading(file, cacheKib)
    return new SqliteCatalog(db, new SocketCommitter(commit.socket), () => db.close())
  }
  if (file === ':memory:') {
    const writer = new Writer(file)
    return new SqliteCatalog(writer.db, new LocalCommitter(writer), () => writer.close())
  }
  const lock = new WriterLock(file)
  const opened: { close(): void }[] = [{ close: () => lock.release() }]
  const closeAll = () => {
    for (const part of opened.toReversed()) part.close()
  }
  try {
    const writer = new Writer(file)
    opened.push(writer)
    const db = openForReading(file)
    opened.push(db)
    return new SqliteCatalog(db, new LocalCommitter(writer), closeAll)
  } catch (failure) {
    closeAll()
    throw failure
  }
}

/**
 * Reads go straight to the database through this process's own connection, which sees every commit that was answered.
 * They take 10 to 50 microseconds from the page cache, less than a trip to another thread would; so the methods are
 * asynchronous by contract only. But for listings: a page takes a millisecond or two, so pages take turns.
 */
export class SqliteCatalog implements Catalog {
  readonly #read: Reader
  readonly #committer: Committer
  readonly #letGo: () => void
  /** What was read in this turn of the event loop, with the microtasks that follow it. */
  #state: { readonly revision: number; readonly changes: number } | undefined
  #closing: Promise<void> | undefined

  constructor(db: DatabaseSync, committer: Committer, letGo: () => void) {
    this.#read = reader(db)
    this.#committer = committer
    this.#letGo = letGo
  }

  async record(type: string, key: string): Promise<StoredRecord | undefined> {
    return this.#read.record(type, key)
  }

  async records(type: string, within?: RecordsWithin): Promise<StoredRecord[]> {
    return within !== undefined && 'after' in within
      ? this.#read.recordsAfter(type, within)
      : this.#read.records(type, within?.parent)
  }

  async recordsAt(
    type: string,
    of: { readonly volume: string; readonly snapshot: string },
    after: string,
    limit: number,
  ): Promise<readonly KeptRecord[]> {
    return this.#read.recordsAt(type, of, after, limit)
  }

  async holder(scope: string, value: string): Promise<{ readonly type: string; readonly key: string } | undefined> {
    return this.#read.holder(scope, value)
  }

  /**
   * A request asks a dozen times between two turns of the event loop. What somebody committed elsewhere and was told of
   * before he asks here arrives in a later turn, and so does the answer to an own commit: all that is asked in one turn
   * may be of its beginning.
   */
  revision(): number {
    return this.#stateNow().revision
  }

  changesMade(): number {
    return this.#stateNow().changes
  }

  #stateNow(): { readonly revision: number; readonly changes: number } {
    if (this.#state === undefined) {
      this.#state = this.#read.state()
      // It runs when no microtask is left, before anything else arrives.
      process.nextTick(() => (this.#state = undefined))
    }
    return this.#state
  }

  async changes(after: number, limit: number): Promise<readonly RecordChange[] | undefined> {
    return this.#read.changes(after, limit)
  }

  commit(changes: readonly Change[]): Promise<readonly Outcome[]> {
    return this.#committer.commit(changes)
  }

  async volume(volume: string): Promise<VolumeCounters | undefined> {
    return this.#read.volume(volume)
  }

  async volumes(): Promise<ReadonlyMap<string, VolumeCounters>> {
    return this.#read.volumes()
  }

  async changedVolumes(after: number, limit: number): Promise<readonly ChangedVolume[]> {
    return this.#read.changedVolumes(after, limit)
  }

  async untidyVolumes(): Promise<readonly UntidyVolume[]> {
    return this.#read.untidyVolumes()
  }

  async aggregate(aggregate: string): Promise<AggregateCounters> {
    return this.#read.aggregate(aggregate)
  }

  async bucket(bucket: string): Promise<BucketCounters | undefined> {
    return this.#read.bucket(bucket)
  }

  async buckets(named?: readonly string[]): Promise<ReadonlyMap<string, BucketCounters>> {
    return this.#read.buckets(named)
  }

  async snapshots(volume: string): Promise<readonly SnapshotRow[]> {
    return this.#read.snapshots(volume)
  }

  async quotas(volume: string): Promise<readonly QuotaRow[]> {
    return this.#read.quotas(volume)
  }

  async quotaRoom(volume: string, owner: string): Promise<readonly QuotaRoom[]> {
    return this.#read.quotaRoom(volume, owner)
  }

  async bucketSnapshots(volume: string, bucket?: string): Promise<readonly SnapshotRow[]> {
    return this.#read.bucketSnapshots(volume, bucket)
  }

  snapshotBytes(volume: string): Promise<ReadonlyMap<string, number>> {
    return this.#read.snapshotBytes(volume)
  }

  async object(bucket: string, key: Uint8Array, at?: SnapshotAt, version?: string): Promise<ObjectRow | undefined> {
    return this.#read.object(bucket, key, at, version)
  }

  list(query: ListQuery): Promise<ListPage> {
    return this.#read.list(query)
  }

  versions(query: VersionsQuery): Promise<VersionsPage> {
    return this.#read.versions(query)
  }

  scan(bucket: string, after: VersionPosition | undefined, limit: number, at?: SnapshotAt): Promise<ScanPage> {
    return this.#read.scan(bucket, after, limit, at)
  }

  async upload(bucket: string, upload: string): Promise<UploadRow | undefined> {
    return this.#read.upload(bucket, upload)
  }

  async parts(bucket: string, upload: string, afterNumber: number, limit: number): Promise<readonly PartRow[]> {
    return this.#read.parts(bucket, upload, afterNumber, limit)
  }

  async uploads(bucket: string, after: UploadPosition | undefined, limit: number): Promise<readonly UploadRow[]> {
    return this.#read.uploads(bucket, after, limit)
  }

  async unneededBlobs(volume: string, limit: number): Promise<readonly string[]> {
    return this.#read.unneededBlobs(volume, limit)
  }

  async givenUpBlobs(volume: string, limit: number): Promise<readonly string[]> {
    return this.#read.givenUpBlobs(volume, limit)
  }

  async volumesIn(tree: string): Promise<readonly string[]> {
    return this.#read.volumesIn(tree)
  }

  async knownBlobs(volume: string, blobs: readonly string[], trees?: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#read.knownBlobs(volume, blobs, trees)
  }

  async blobs(volume: string, after: string, limit: number): Promise<readonly BlobRef[]> {
    return this.#read.blobs(volume, after, limit)
  }

  async arrivals(volume: string, limit: number): Promise<readonly BlobRef[]> {
    return this.#read.arrivals(volume, limit)
  }

  async storedBlobs(
    volume: string,
    after: string,
    limit: number,
  ): Promise<{ readonly blobs: readonly StoredBlob[]; readonly next?: string }> {
    return this.#read.storedBlobs(volume, after, limit)
  }

  async unverifiedBlobs(): Promise<number> {
    return this.#read.unverifiedBlobs()
  }

  async storedBlob(volume: string, blob: string): Promise<StoredBlob | undefined> {
    return this.#read.storedBlob(volume, blob)
  }

  async twins(
    volume: string,
    of: { readonly digest: string; readonly sizeBytes: number; readonly group?: string },
    limit: number,
  ): Promise<readonly StoredBlob[]> {
    return this.#read.twins(volume, of, limit)
  }

  log(name: LogName, query: { readonly before?: number; readonly limit: number }): Promise<readonly LogEntry[]> {
    return this.#read.log(name, query)
  }

  async counters(
    table: string,
    page?: { readonly after: string; readonly limit: number } | { readonly named: readonly string[] },
  ): Promise<ReadonlyMap<string, Readonly<Record<string, number>>>> {
    if (page === undefined) return this.#read.counters(table)
    return 'named' in page ? this.#read.countersNamed(table, page.named) : this.#read.countersAfter(table, page)
  }

  samples(step: number, block: number, after: string, limit: number): Promise<readonly SampleBlock[]> {
    return this.#read.samples.page(step, block, after, limit)
  }

  async samplesOf(step: number, row: string, blocks: readonly number[]): Promise<ReadonlyMap<number, Uint8Array>> {
    return this.#read.samples.of(step, row, blocks)
  }

  async lastSamples(step: number, before: number): Promise<number | undefined> {
    return this.#read.samples.last(step, before)
  }

  close(): Promise<void> {
    this.#closing ??= this.#committer.close().finally(() => this.#letGo())
    return this.#closing
  }
}
