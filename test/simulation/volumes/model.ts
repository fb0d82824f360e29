/**
 * What a cluster of volumes holds, said as plainly as it can be: maps and lists, no epochs, no counts of references. Sizes
 * are worked out from what is there each time they are asked for.
 *
 * Rows and blobs are objects that are the same wherever they are shown: a snapshot is a copy of the maps, a copy of an
 * object is another row with the same blobs. So "who needs this blob" is a matter of collecting them.
 */
import assert from 'node:assert/strict'

/** Bytes that lie on a disk once. There is none for no bytes. */
export interface Blob {
  readonly bytes: Buffer
}

export interface Row {
  /** Missing while nobody has seen it: the answer that told it was lost. */
  version: string | undefined
  readonly isMarker: boolean
  readonly etag: string
  readonly blobs: readonly Blob[]
}

/** The rows of each key, newest first. Lists are replaced and never changed. */
export type Rows = Map<string, readonly Row[]>

export interface Part {
  readonly etag: string
  readonly blobs: readonly Blob[]
}

export interface Upload {
  readonly key: string
  /** Missing while nobody has seen it. */
  readonly told: { id: string | undefined }
  readonly parts: Map<number, Part>
}

export interface Bucket {
  /** Tells a bucket from a later one of the same name. */
  readonly identity: object
  readonly name: string
  limitBytes: number
  versioning: 'off' | 'enabled' | 'suspended'
  rows: Rows
  uploads: Upload[]
  /** It goes with its volume, whatever it holds. */
  readonly cameWithClone: boolean
}

export interface Snapshot {
  /** Tells a snapshot from a later one of the same name. */
  readonly identity: object
  /** Missing while nobody has seen it: the clock names one that was taken for a clone. */
  name: string | undefined
  readonly rows: ReadonlyMap<object, Rows>
  /** What the buckets were. */
  readonly buckets: readonly Bucket[]
  /** The clones that began with it. */
  owners: readonly string[]
}

/** What a clone began with. */
export interface Base {
  readonly parent: string
  readonly snapshot: object
  /** Taken for the clone alone: it goes when nobody needs it any more. */
  readonly isTaken: boolean
}

export interface Volume {
  readonly name: string
  aggregate: string
  /** What its files lie in. A clone shares that of its parent. */
  tree: object
  /** Where it is a clone. */
  base: Base | undefined
  /** What it has from its parent, as long as that counts it as its own. */
  inherited: ReadonlySet<Blob>
  sizeBytes: number
  isOnline: boolean
  /** A data volume of the server, in which buckets can be made. */
  isServed: boolean
  readonly buckets: Map<string, Bucket>
  /** Oldest first. */
  snapshots: Snapshot[]
  /** What only dropped snapshots showed: it takes space until the housekeeping has been there. */
  limbo: Set<Row>
}

export class Model {
  readonly volumes = new Map<string, Volume>()

  /** Another with the same rows, which can be changed alone. */
  clone(): Model {
    const copy = new Model()
    for (const [name, volume] of this.volumes) {
      const buckets = new Map([...volume.buckets].map(([key, bucket]) => [key, cloneBucket(bucket)]))
      const snapshots = volume.snapshots.map((snapshot) => ({ ...snapshot }))
      copy.volumes.set(name, { ...volume, buckets, snapshots, limbo: new Set(volume.limbo) })
    }
    return copy
  }

  volume(name: string): Volume {
    const volume = this.volumes.get(name)
    assert.ok(volume, `The model has no volume ${name}.`)
    return volume
  }

  /** The bucket of this name with the volume it lives in. */
  bucket(name: string): { readonly bucket: Bucket; readonly volume: Volume } {
    const found = this.buckets().find(({ bucket }) => bucket.name === name)
    assert.ok(found, `The model has no bucket ${name}.`)
    return found
  }

  buckets(): { readonly bucket: Bucket; readonly volume: Volume }[] {
    return [...this.volumes.values()].flatMap((volume) =>
      [...volume.buckets.values()].map((bucket) => ({ bucket, volume })),
    )
  }
}

function cloneBucket(bucket: Bucket): Bucket {
  const uploads = bucket.uploads.map((upload) => ({ ...upload, parts: new Map(upload.parts) }))
  return { ...bucket, rows: new Map(bucket.rows), uploads }
}

export const isObject = (row: Row | undefined): row is Row => row !== undefined && !row.isMarker

export const bytesOf = ({ blobs }: { readonly blobs: readonly Blob[] }): Buffer =>
  Buffer.concat(blobs.map(({ bytes }) => bytes))

export function sizeOf(blobs: Iterable<Blob>): number {
  let sum = 0
  for (const { bytes } of blobs) sum += bytes.length
  return sum
}

/** Adds the newest row of a key, in the way of the bucket's versions. Gives the row that went for it. */
export function addRow(bucket: Bucket, key: string, row: Row): Row | undefined {
  const rows = bucket.rows.get(key) ?? []
  if (bucket.versioning === 'enabled') {
    bucket.rows.set(key, [row, ...rows])
    return undefined
  }
  row.version = 'null'
  const replaced = nullRow(bucket, key)
  bucket.rows.set(key, [row, ...rows.filter((other) => other !== replaced)])
  return replaced
}

/** The row that a new one without a version would replace. */
export function nullRow(bucket: Bucket, key: string): Row | undefined {
  return bucket.rows.get(key)?.find((row) => row.version === 'null')
}

export function removeRow(bucket: Bucket, key: string, row: Row): void {
  const left = (bucket.rows.get(key) ?? []).filter((other) => other !== row)
  if (left.length === 0) bucket.rows.delete(key)
  else bucket.rows.set(key, left)
}

export function takeSnapshot(volume: Volume, name: string | undefined): Snapshot {
  const buckets = [...volume.buckets.values()].map(cloneBucket)
  const rows = new Map(buckets.map((bucket) => [bucket.identity, bucket.rows]))
  const snapshot = { identity: {}, name, rows, buckets, owners: [] }
  volume.snapshots.push(snapshot)
  return snapshot
}

/** Nothing shows these snapshots any more. What only they showed stays until the housekeeping comes. */
export function dropSnapshots(volume: Volume, dropped: readonly Snapshot[]): void {
  volume.snapshots = volume.snapshots.filter((one) => !dropped.includes(one))
  const needed = new Set([...liveRows(volume), ...volume.snapshots.flatMap(rowsOf)])
  for (const row of dropped.flatMap(rowsOf)) if (!needed.has(row)) volume.limbo.add(row)
}

/** Buckets made since are empty, and those deleted since stay deleted. Uploads stay. */
export function restore(volume: Volume, snapshot: Snapshot): void {
  dropSnapshots(volume, volume.snapshots.slice(volume.snapshots.indexOf(snapshot) + 1))
  const before = liveRows(volume)
  for (const bucket of volume.buckets.values()) bucket.rows = new Map(snapshot.rows.get(bucket.identity))
  // What lived until now goes at once, whoever had shown it.
  for (const row of before) volume.limbo.delete(row)
}

function liveRows({ buckets }: Volume): Row[] {
  return [...buckets.values()].flatMap((bucket) => [...bucket.rows.values()].flat())
}

export function rowsOf({ rows }: Snapshot): Row[] {
  return [...rows.values()].flatMap((bucket) => [...bucket.values()].flat())
}

export function blobsOf(rows: Iterable<{ readonly blobs: readonly Blob[] }>): Set<Blob> {
  const blobs = new Set<Blob>()
  for (const row of rows) for (const blob of row.blobs) blobs.add(blob)
  return blobs
}

/** What objects, versions and parts of open uploads need. */
export function liveBlobs(volume: Volume): Set<Blob> {
  const parts = [...volume.buckets.values()].flatMap(({ uploads }) => uploads.flatMap(partsOf))
  return blobsOf([...liveRows(volume), ...parts])
}

export const partsOf = ({ parts }: Upload): Part[] => [...parts.values()]

/** All that lies on the disk of a volume. */
export function allBlobs(volume: Volume): Set<Blob> {
  return liveBlobs(volume).union(blobsOf([...volume.snapshots.flatMap(rowsOf), ...volume.limbo]))
}

export function usedBytes(volume: Volume): number {
  return sizeOf(allBlobs(volume))
}

/** What clients see in a bucket, versions and open parts with it. */
export function bucketBytes({ rows, uploads }: Bucket): number {
  const all = [...[...rows.values()].flat(), ...uploads.flatMap(partsOf)]
  return all.reduce((sum, { blobs }) => sum + sizeOf(blobs), 0)
}

/** For each snapshot, what neither the volume nor a later snapshot shows. */
export function snapshotBytes(volume: Volume): number[] {
  const seen = liveBlobs(volume)
  const sizes = volume.snapshots.toReversed().map((snapshot) => {
    const only = blobsOf(rowsOf(snapshot)).difference(seen)
    for (const blob of only) seen.add(blob)
    return sizeOf(only)
  })
  return sizes.toReversed()
}
