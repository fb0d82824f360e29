/** What the model knows of clones, of the files that volumes share, and of moves. */
import { allBlobs, blobsOf, dropSnapshots, rowsOf, sizeOf, takeSnapshot } from './model.ts'
import type { Bucket, Model, Snapshot, Volume } from './model.ts'

const NAME_CHARACTERS_MAX = 63

/** A volume that begins with what its parent has in the snapshot, or has now. */
export function cloneVolume(model: Model, parent: Volume, name: string, chosen: Snapshot | undefined): Volume {
  const base = chosen ?? takeSnapshot(parent, undefined)
  base.owners = [...base.owners, name]
  const clone: Volume = {
    name,
    aggregate: parent.aggregate,
    tree: parent.tree,
    base: { parent: parent.name, snapshot: base.identity, isTaken: chosen === undefined },
    inherited: blobsOf(rowsOf(base)),
    sizeBytes: parent.sizeBytes,
    isOnline: true,
    isServed: false,
    buckets: new Map(),
    snapshots: [],
    limbo: new Set(),
  }
  model.volumes.set(name, clone)
  for (const bucket of base.buckets) {
    const copy = cloneOfBucket(bucket, freeName(model, bucket.name, name))
    clone.buckets.set(copy.name, copy)
  }
  return clone
}

/** Uploads that were open stay with the original. */
function cloneOfBucket({ limitBytes, versioning, rows }: Bucket, name: string): Bucket {
  return { identity: {}, name, limitBytes, versioning, rows: new Map(rows), uploads: [], cameWithClone: true }
}

/** Names are cut where they become too long, and numbered where they are taken. */
function freeName(model: Model, bucket: string, clone: string): string {
  const taken = new Set(model.buckets().map((one) => one.bucket.name))
  const suffix = clone.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  for (let n = 1; ; n++) {
    const end = `-${suffix}${n === 1 ? '' : `-${n}`}`
    const name = bucket.slice(0, NAME_CHARACTERS_MAX - end.length).replace(/[-.]+$/, '') + end
    if (!taken.has(name)) return name
  }
}

/** It lets go of the snapshot that it began with, and counts what it has. The files stay shared. */
export function splitVolume(model: Model, clone: Volume): void {
  if (clone.base === undefined) return
  const { parent, snapshot, isTaken } = clone.base
  clone.base = undefined
  clone.inherited = new Set()
  const of = model.volume(parent)
  for (const base of of.snapshots.filter(({ identity }) => identity === snapshot)) {
    base.owners = base.owners.filter((owner) => owner !== clone.name)
    if (isTaken && base.owners.length === 0) dropSnapshots(of, [base])
  }
}

export function removeVolume(model: Model, volume: Volume): void {
  splitVolume(model, volume)
  model.volumes.delete(volume.name)
}

/** Its files are all its own from here on, and those in the old tree are its clones'. */
export function moveVolume(model: Model, volume: Volume, aggregate: string): void {
  for (const other of model.volumes.values()) if (other.base?.parent === volume.name) other.inherited = new Set()
  volume.aggregate = aggregate
  volume.tree = {}
  volume.inherited = new Set()
}

export function inheritedBytes(volume: Volume): number {
  return sizeOf(allBlobs(volume).intersection(volume.inherited))
}

export const hasClones = ({ snapshots }: Volume): boolean => snapshots.some(({ owners }) => owners.length > 0)
