import { isRecord, textAt, type Row, type Value } from '../model/value.ts'
import { aggregateOf } from './aggregate-of.ts'

/** A tree of blobs in an aggregate, both by UUID. */
export interface TreePlace {
  readonly aggregate: string
  readonly tree: string
}

/**
 * The tree in its aggregate that holds a volume's blobs. A volume begins with one of its own name; a clone shares that of
 * its parent, and a move makes a new one.
 */
export function treeOf(volume: Row): string {
  return textAt(volume, '$tree') || textAt(volume, 'uuid')
}

export function placeOf(volume: Row): TreePlace {
  return { aggregate: aggregateOf(volume), tree: treeOf(volume) }
}

/** Where a volume that is being moved goes, and is not yet: nobody reads or writes there but who moves it. */
export function nextOf(volume: Row): TreePlace | undefined {
  return readPlace(volume['$next'])
}

/** Where a volume that has just been moved was: what is not in its new place yet is still there. */
export function beforeOf(volume: Row): TreePlace | undefined {
  return readPlace(volume['$before'])
}

/** All trees that may hold something of a volume. */
export function placesOf(volume: Row): readonly TreePlace[] {
  return [placeOf(volume), nextOf(volume), beforeOf(volume)].filter((place) => place !== undefined)
}

/** A place as records and jobs keep it. */
export function readPlace(value: Value | undefined): TreePlace | undefined {
  if (!isRecord(value)) return undefined
  const { aggregate, tree } = value
  return typeof aggregate === 'string' && typeof tree === 'string' ? { aggregate, tree } : undefined
}
