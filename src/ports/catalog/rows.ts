/** What the catalog holds and gives back, and how it is asked for. What may be changed is in `catalog.ts`. */
/** Flat dotted fields, as the model has them: `{ name: 'vol1', 'svm.uuid': '…', size: 1073741824 }`. */
export type Fields = Readonly<Record<string, FieldValue>>
export type FieldValue =
  | string
  | number
  | boolean
  | null
  | readonly FieldValue[]
  | { readonly [name: string]: FieldValue }

export interface StoredRecord<Body extends Fields = Fields> {
  readonly type: string
  readonly key: string
  /** The key of the record this one lives under, or ''. */
  readonly parent: string
  /** The catalog revision that last wrote this record. */
  readonly revision: number
  readonly body: Body
}

/** Which records of a type are asked for: those under one parent, or a page of them or of all. */
export type RecordsWithin =
  | { readonly parent: string }
  | { readonly parent?: string; readonly after: string; readonly limit: number }

/** A record as a snapshot shows it. */
export type KeptRecord = Pick<StoredRecord, 'key' | 'body'>

export interface RecordChange {
  readonly revision: number
  readonly type: string
  readonly key: string
}

export interface VolumeCounters {
  readonly sizeBytes: number
  /** Of the size, what objects do not get. */
  readonly reserveBytes: number
  /**
   * Bytes that all blobs are stored in that some row needs: live objects, snapshots, parts of open uploads. A shared blob
   * counts once, and so do blobs that share a file. With what is saved it is the bytes of those blobs themselves.
   */
  readonly usedBytes: number
  /** Of those, bytes that only snapshots hold. */
  readonly snapshotBytes: number
  /** What needed blobs have more than they are stored in, each file once. */
  readonly savedByCompressionBytes: number
  /** The bytes of needed blobs for which another one's file stands. */
  readonly savedByDedupeBytes: number
  /** Bytes that a clone needs of blobs that came with it: its parent, or who was it, may need them too. */
  readonly inheritedBytes: number
  readonly epoch: number
  /** How many it has. */
  readonly snapshots: number
}

export interface ChangedVolume extends VolumeCounters {
  readonly volume: string
  /** Grows with every change of any volume's sums. */
  readonly change: number
}

export interface UntidyVolume {
  readonly volume: string
  /** There may be rows that no snapshot sees. */
  readonly mayReclaim: boolean
}

/**
 * Sums over volumes. They are kept exactly; one beyond `Number.MAX_SAFE_INTEGER` is given as that number, and exactly again
 * as soon as it is not.
 */
export interface AggregateCounters {
  /** How many lie in it. */
  readonly volumes: number
  /** Sum of their sizes. */
  readonly sizeBytes: number
  /** Sum of what they hold. */
  readonly usedBytes: number
  /** What guaranteed ones may still write: sum of size - used, where that is more than nothing. */
  readonly promisedBytes: number
}

export interface BucketCounters {
  readonly volume: string
  /** The most bytes its live objects and open parts may have. */
  readonly limitBytes: number
  /** Bytes of live objects, all their versions, and of parts of open uploads, as clients see them. */
  readonly usedBytes: number
  /** Keys whose current row is no delete marker. */
  readonly objects: number
  /** All other rows: those that are not current, and delete markers. */
  readonly versions: number
  readonly versioning: Versioning
}

/** 'off' until versions are enabled for the first time; it never comes back. */
export type Versioning = 'off' | 'enabled' | 'suspended'

export interface SnapshotRow {
  readonly snapshot: string
  readonly epoch: number
  readonly createdMs: number
  /** Set when it is of one bucket alone. */
  readonly bucket?: string
}

export type QuotaType = 'tree' | 'user' | 'group'

/** Who holds something of a volume: a qtree, or a user or group, in the whole volume or in one qtree. */
export interface QuotaTarget {
  readonly type: QuotaType
  /** The id of the qtree, 0 for the default one, in which objects of buckets lie. Absent of a tree: all without limits. */
  readonly tree?: number
  /** Of users and groups. '': all without limits of their own. */
  readonly name?: string
}

/** Absent: no limit. Hard ones hold; soft ones are for whoever watches. */
export interface QuotaLimits {
  readonly hardBytes?: number
  readonly softBytes?: number
  readonly hardFiles?: number
  readonly softFiles?: number
}

/** What one hard limit leaves; below 0 where more is held than it allows. */
export interface QuotaRoom {
  readonly type: QuotaType
  /** `Infinity` where the limit is on the other. */
  readonly bytes: number
  readonly files: number
}

export interface QuotaRow extends QuotaTarget {
  /** The same as long as it holds something or has limits of its own. */
  readonly index: number
  /**
   * Bytes of objects, all their versions, and parts of open uploads, as clients see them. Snapshots count for nobody.
   * Kept and given as the sums of aggregates are: copies share their blobs, so a volume of any size may hold very many.
   */
  readonly usedBytes: number
  /** Objects and their versions, without delete markers. */
  readonly usedFiles: number
  /** Whether the limits are its own; otherwise they are the default ones. */
  readonly isRuled: boolean
  readonly limits: QuotaLimits
}

/** Keys of a bucket: those that begin with a prefix, which all do with an empty one, or one alone. */
export type KeyRange = { readonly prefix: Uint8Array } | { readonly key: Uint8Array }

/** A view of the index at a snapshot of the bucket or of its volume. */
export interface SnapshotAt {
  readonly epoch: number
}

export interface ObjectRow {
  readonly key: Uint8Array
  /** 'null' when it was written while the bucket's versioning was off or suspended. */
  readonly version: string
  readonly sizeBytes: number
  /** Hex MD5, or hex MD5 of the parts' MD5s, '-', and their number. Without quotes. */
  readonly etag: string
  readonly modifiedMs: number
  readonly checksum: ObjectChecksum
  /** In order; their bytes one after the other are the object. Empty for an object of 0 bytes. */
  readonly blobs: readonly BlobRef[]
  /** Present for an object that was completed from parts. */
  readonly parts: readonly ObjectPart[] | null
  /**
   * Content headers, user metadata, owner, tags: what the object store keeps for itself. At most 16 KiB as JSON. The one
   * that the catalog looks at is `owner`, text: the user whose quota the row counts to.
   */
  readonly details: Fields
  /** What clients call the way it is stored; absent: the usual one. */
  readonly storageClass?: string
  /** Until when nobody may remove the row. */
  readonly lock?: ObjectLock
  /** While set, nobody may remove the row. Absent: it was never said. */
  readonly legalHold?: boolean
  /** A delete marker: it has no bytes, blobs or ETag. The catalog tells it of each row it gives. */
  readonly isMarker?: boolean
  /** Whether it is the newest row of its key. The catalog tells it of each row it gives. */
  readonly isCurrent?: boolean
}

/** What listings show of a row. Blobs, details and locks are not read for it: a page costs what it shows. */
export type ListedRow = Pick<ObjectRow, 'key' | 'version' | 'sizeBytes' | 'etag' | 'modifiedMs' | 'storageClass'> & {
  readonly checksum: Pick<ObjectChecksum, 'algorithm' | 'type'>
  /** The key as text, where the catalog has it so. `key` is made from it then, anew for each look. */
  readonly keyText?: string
}

export interface ObjectLock {
  /** Governance gives way to a change that says `bypassGovernance`; compliance to nothing but time. */
  readonly mode: 'governance' | 'compliance'
  readonly untilMs: number
}

export interface ObjectChecksum {
  readonly algorithm: string
  readonly type: 'FULL_OBJECT' | 'COMPOSITE'
  /** Base64; for COMPOSITE followed by '-' and the number of parts. */
  readonly value: string
}

export interface BlobRef {
  readonly blob: string
  readonly sizeBytes: number
  /** The CRC-32 of its bytes. Missing for blobs from before it was kept, until the catalog is told. */
  readonly crc?: number
}

/** A blob that a change names for the first time: how it is stored. Rows do not say so, the index knows. */
export interface BlobDraft extends BlobRef {
  /** The bytes that it is stored in, where that is not its size. */
  readonly storedBytes?: number
  /** Hex MD5 of its bytes, by which twins are found. */
  readonly digest?: string
  /** The blob whose file it shares. It counts on its own when that one is not needed, or stored otherwise, by now. */
  readonly twin?: string
  readonly tried?: Tried
}

/** What need not be tried with a blob any more. */
export interface Tried {
  readonly compression?: boolean
  readonly dedupe?: boolean
}

/** How a blob that some row needs is stored. */
export interface StoredBlob extends BlobRef {
  readonly storedBytes: number
  readonly digest?: string
  /** The same for all blobs that share a file with it; absent when it has its own. */
  readonly group?: string
  readonly tried: Tried
  /** A clone, or what it is a clone of, has the same file. It stays as it is then. */
  readonly isShared?: boolean
}

/** No more blobs share one file. */
export const SHARING_BLOBS_MAX = 1000

export interface ObjectPart {
  readonly number: number
  readonly sizeBytes: number
  /** Base64 value of the object's checksum algorithm over this part. */
  readonly checksum: string
}

/** What is kept of a key before its row exists: everything but the key, and its place among the rows of the key. */
export type ObjectDraft = Omit<ObjectRow, 'key' | 'isMarker' | 'isCurrent' | 'blobs'> & {
  readonly blobs: readonly BlobDraft[]
}

export interface PartRow {
  readonly number: number
  readonly sizeBytes: number
  /** Hex MD5 of the part. */
  readonly etag: string
  readonly modifiedMs: number
  readonly checksum: ObjectChecksum
  readonly blobs: readonly BlobRef[]
}

export type PartDraft = Omit<PartRow, 'blobs'> & { readonly blobs: readonly BlobDraft[] }

export interface UploadRow {
  readonly upload: string
  readonly key: Uint8Array
  readonly startedMs: number
  /** Headers and metadata that the completed object will have, checksum algorithm and type, owner. */
  readonly details: Fields
}

export interface UploadPosition {
  readonly key: Uint8Array
  readonly upload: string
}

export interface ListQuery {
  readonly bucket: string
  readonly prefix: Uint8Array
  /** Keys that share what follows the prefix up to and including this become one common prefix. Empty: none. */
  readonly delimiter: Uint8Array
  /** Only what sorts after this key (exclusive). A common prefix equal to it, or beginning before it, is passed over. */
  readonly after: Uint8Array
  /** `after` is the `next` of a page that ended within a common prefix: that prefix is not passed over. */
  readonly within?: boolean
  /** Objects and common prefixes together. 1..1000. */
  readonly limit: number
  readonly at?: SnapshotAt
}

export interface ListPage {
  readonly objects: readonly ListedRow[]
  readonly prefixes: readonly Uint8Array[]
  /** The prefixes as text, where the catalog has them so. */
  readonly prefixTexts?: readonly string[]
  /** Set when there may be more: pass it as `after` for the next page. */
  readonly next?: Uint8Array
  /**
   * Set along with `next` when the page ended within a common prefix of which nothing but delete markers was seen so
   * far: pass it on as `within`. Without, the keys behind them in that prefix would not be looked at.
   */
  readonly within?: boolean
}

/** A place in the order of keys, and of the rows of a key from the newest on. */
export interface VersionPosition {
  readonly key: Uint8Array
  /** Absent: behind all rows of the key. */
  readonly version?: string
  /** Leads to the place when the row has gone meanwhile. Without, the rows of the key are then given again. */
  readonly order?: number
}

export interface VersionsQuery {
  readonly bucket: string
  readonly prefix: Uint8Array
  /** As for `list`. A common prefix of delete markers shows. */
  readonly delimiter: Uint8Array
  /** Only keys after this one, or with `afterVersion` also the older rows of this one. Empty: from the first on. */
  readonly afterKey: Uint8Array
  readonly afterVersion?: string
  /** The `order` of a position, where the caller has kept it. */
  readonly afterOrder?: number
  /** Rows and common prefixes together. 1..1000. */
  readonly limit: number
  readonly at?: SnapshotAt
}

/** The place of a row among those of its key. */
export interface VersionPlace {
  readonly isMarker: boolean
  readonly isCurrent: boolean
  /** When the next newer row of the key was modified; absent for the current one. */
  readonly noncurrentSinceMs?: number
}

/** A row as `versions` gives it. */
export type ListedVersion = ListedRow & VersionPlace
/** A row as `scan` gives it. */
export type VersionRow = ObjectRow & VersionPlace

export interface VersionsPage {
  readonly versions: readonly ListedVersion[]
  readonly prefixes: readonly Uint8Array[]
  /** Set when there is more: the last row of this page, or the last common prefix, then without a version. */
  readonly next?: VersionPosition
}

export interface ScanPage {
  readonly rows: readonly VersionRow[]
  readonly next?: VersionPosition
}

export type LogName = 'audit' | 'events'
export interface LogEntry {
  readonly id: number
  readonly timeMs: number
  readonly body: Fields
}

/** What one row has in a block of time of a step. */
export interface SampleBlock {
  readonly row: string
  readonly body: Uint8Array
}

/**
 * What must hold for the current object of a key. `etag` without quotes; '*' is any object. A key whose current row is a
 * delete marker has no object.
 */
export interface WriteCondition {
  /** One of these must be the current ETag. Refused `absent` when there is no object, else `condition`. */
  readonly ifMatch?: readonly string[]
  /** None of these may be the current ETag. Refused `condition`. */
  readonly ifNoneMatch?: readonly string[]
}

/** What must hold for the object to be deleted: the current one, or that of the version named. */
export interface DeleteCondition extends WriteCondition {
  /** Refused `absent` when there is no object, `condition` when its size is another. */
  readonly ifSizeBytes?: number
  /** The same of the time it was modified, to the second: clients see no more of it in headers. */
  readonly ifModifiedMs?: number
  /**
   * Of a version that is named, be it an object or a marker: refused `absent` when it is not there, `condition` when it
   * is the current one of its key, be it since a newer one went.
   */
  readonly ifNoncurrent?: boolean
}
